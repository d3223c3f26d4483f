/* What is read, but cannot be combined with others. */
#include "backend/object/internal.h"

#include <string.h>

/* Newer than some elf.h. */
enum { TYPE_CREL = 0x40000014, TYPE_RELR = 19 };

static const char *unlinkable(const struct object_input *input,
                              const struct object_section *section)
{
    if (section->flags & SHF_COMPRESSED)
        return "is compressed, though it is loaded, which is not supported";
    if (section->flags & SHF_OS_NONCONFORMING)
        return "needs special treatment by its operating system, which is not supported";
    if (section->flags & SHF_INFO_LINK && section->role == OBJECT_CONTENT)
        return "refers to another section by its sh_info, which is not supported";
    if (section->flags & SHF_LINK_ORDER &&
        (input->sections[section->link].flags & SHF_LINK_ORDER ||
         (section->link && input->sections[section->link].role != OBJECT_CONTENT)))
        return "is ordered by a section that has no place of its own";
    if (section->type == SHT_STRTAB && section->role == OBJECT_CONTENT && section->size > 0)
        return "is a string table of an unsupported kind";
    switch (section->type) {
    case SHT_HASH:
    case SHT_DYNAMIC:
    case SHT_SHLIB:
    case SHT_DYNSYM:
    case SHT_GNU_HASH:
    case SHT_GNU_verdef:
    case SHT_GNU_verneed:
    case SHT_GNU_versym: return "belongs in a linked file, not in a relocatable object";
    case TYPE_CREL:
    case TYPE_RELR: return "holds relocations of an unsupported form; only RELA is supported";
    }
    return NULL;
}

/* What a compiler marks so, or what has nothing else that is loaded. */
static bool is_bytecode(const struct object_input *input)
{
    bool bytecode = false, loaded = false;
    for (uint32_t i = 1; i < input->symbol_count; i++)
        if (strcmp(input->symbols[i].name, "__gnu_lto_slim") == 0)
            return true;
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        bytecode |= object_section_is_bytecode(section);
        loaded |= section->flags & SHF_ALLOC && section->size > 0;
    }
    return bytecode && !loaded;
}

bool object_input_has_code(const struct object_input *input, struct object_error *error)
{
    return !is_bytecode(input) ||
           object_fail(error,
                       "%.300s: holds LTO bytecode instead of code; compile it without -flto or "
                       "with -ffat-lto-objects",
                       input->name);
}

bool object_input_linkable(const struct object_input *input, struct object_error *error)
{
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        const char *what = unlinkable(input, section);
        if (what)
            return object_fail(error, "%.300s: section '%.200s' %s", input->name, section->name,
                               what);
    }
    return object_input_has_code(input, error);
}
