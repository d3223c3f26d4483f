/* Reading one object. libelf decodes headers and tables; whatever it lets through is checked
 * here, once, so that the rest of the module can index without fear. */
#include "backend/object/input_reader.h"

#include <assert.h>
#include <string.h>

static bool check_ident(struct input_reader *r)
{
    const unsigned char *p = r->image;
    if (r->size >= 4 && (memcmp(p, "BC\xc0\xde", 4) == 0 || memcmp(p, "\xde\xc0\x17\x0b", 4) == 0))
        return input_fail(r, "is LLVM bitcode, not an ELF object; compile it without LTO");
    if (r->size < SELFMAG || memcmp(p, ELFMAG, SELFMAG) != 0)
        return input_fail(r, "is not an ELF object");
    if (r->size < sizeof(Elf64_Ehdr))
        return input_fail(r, "is truncated: its ELF header is incomplete");
    if (p[EI_CLASS] != ELFCLASS64)
        return input_fail(r, "is not a 64-bit ELF object; only those are supported");
    if (p[EI_DATA] != ELFDATA2LSB)
        return input_fail(r, "is not little-endian; only little-endian objects are supported");
    if (p[EI_VERSION] != EV_CURRENT)
        return input_fail(r, "has an unknown ELF version");
    return true;
}

static bool check_type(struct input_reader *r, uint16_t type)
{
    switch (type) {
    case ET_REL: return true;
    case ET_EXEC: return input_fail(r, "is an executable, not a relocatable object");
    case ET_DYN: return input_fail(r, "is a shared object or executable, not a relocatable object");
    case ET_CORE: return input_fail(r, "is a core dump, not a relocatable object");
    }
    return input_fail(r, "is not a relocatable object");
}

static bool read_header(struct input_reader *r)
{
    const Elf64_Ehdr *header = elf64_getehdr(r->elf);
    if (!header)
        return input_fail(r, "has no readable ELF header");
    if (!check_type(r, header->e_type))
        return false;
    r->input->machine = header->e_machine;
    r->input->version = header->e_version;
    r->input->flags = header->e_flags;
    r->input->abi = header->e_ident[EI_OSABI];
    r->input->abi_version = header->e_ident[EI_ABIVERSION];
    size_t count = 0;
    if (header->e_shoff == 0)
        return input_fail(r, "has no sections");
    if (header->e_shentsize != sizeof(Elf64_Shdr))
        return input_fail(r, "has section headers of an unknown size");
    /* libelf drops a header table beyond the end without an error. */
    if (header->e_shoff > r->size || elf_getshdrnum(r->elf, &count) != 0 || count == 0 ||
        count > (r->size - header->e_shoff) / sizeof(Elf64_Shdr) || count >= OBJECT_COMMON)
        return input_fail(r, "is truncated or malformed: its section headers lie beyond its end");
    r->input->section_count = (uint32_t)count;
    return true;
}

static bool read_group(struct input_reader *r, uint32_t index)
{
    struct object_section *group = &r->input->sections[index];
    size_t count;
    const uint32_t *words = input_table(r, index, 4, &count);
    if (!words)
        return false;
    if (count == 0 || group->link != r->symtab || group->info == 0 ||
        group->info >= r->input->symbol_count)
        return input_fail_at(r, group, "is a group without flags or signature");
    /* From here on `entsize` holds the flags: the size of an entry is known. */
    group->entsize = words[0];
    for (size_t i = 1; i < count; i++) {
        if (words[i] == 0 || words[i] >= r->input->section_count || words[i] == index)
            return input_fail_at(r, group, "is a group with a member that does not exist");
        struct object_section *member = &r->input->sections[words[i]];
        if (member->group)
            return input_fail_at(r, member, "is a member of two groups");
        member->group = index;
    }
    return true;
}

static bool read_relocation(struct input_reader *r, const struct object_section *target,
                            const Elf64_Rela *from, struct object_relocation *to)
{
    *to = (struct object_relocation){from->r_offset, (uint64_t)from->r_addend,
                                     ELF64_R_TYPE(from->r_info), ELF64_R_SYM(from->r_info)};
    if (to->symbol >= r->input->symbol_count)
        return input_fail_at(r, target, "has a relocation against a symbol that does not exist");
    /* Type 0 is "none" on every machine; it may mark the end of a section. */
    if (to->offset > target->size || (to->offset == target->size && to->type != 0))
        return input_fail_at(r, target, "has a relocation beyond its end");
    return true;
}

static bool read_relocations(struct input_reader *r, uint32_t index)
{
    struct object_input *input = r->input;
    struct object_section *section = &input->sections[index];
    if (section->info == 0 || section->info >= input->section_count)
        return input_fail_at(r, section, "relocates a section that does not exist");
    struct object_section *target = &input->sections[section->info];
    if (target->role == OBJECT_IGNORED)
        return true;
    if (section->type == SHT_REL)
        return input_fail_at(r, section, "holds REL relocations; only RELA is supported");
    if (section->link != r->symtab)
        return input_fail_at(r, section, "does not refer to the symbol table");
    if (target->role != OBJECT_CONTENT)
        return input_fail_at(r, section, "relocates a section that has no code or data");
    if (target->relocated_by)
        return input_fail_at(r, target, "has two relocation sections");
    size_t count;
    const Elf64_Rela *table = input_table(r, index, sizeof *table, &count);
    if (!table)
        return false;
    if (count > 0 && !target->data)
        return input_fail_at(r, target, "has relocations but no contents");
    target->relocated_by = index;
    target->relocations = object_alloc(r->arena, count, sizeof *target->relocations);
    target->relocation_count = count;
    for (size_t i = 0; i < count; i++)
        if (!read_relocation(r, target, &table[i], &target->relocations[i]))
            return false;
    return true;
}

static bool read_contents(struct input_reader *r)
{
    struct object_input *input = r->input;
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (section->type == SHT_STRTAB && i != r->strings && i != r->section_names)
            section->role = OBJECT_CONTENT;
        if (section->role == OBJECT_GROUP && !read_group(r, i))
            return false;
        if (section->role == OBJECT_RELOCATIONS && !read_relocations(r, i))
            return false;
        if (section->flags & SHF_LINK_ORDER && section->link >= input->section_count)
            return input_fail_at(r, section, "links to a section that does not exist");
        if (strcmp(section->name, ".note.GNU-stack") == 0) {
            input->stack_note = true;
            input->stack_executable |= (section->flags & SHF_EXECINSTR) != 0;
        }
    }
    return true;
}

void object_elf_end(void *elf)
{
    elf_end(elf);
}

struct object_input *object_input_read(struct object_arena *arena, const char *name,
                                       const void *bytes, size_t size)
{
    struct object_input *input = object_alloc(arena, 1, sizeof *input);
    input->name = name;
    struct input_reader r = {arena, arena->error, input, NULL, bytes, size, 0, 0, 0, 0};
    if (!check_ident(&r))
        return NULL;
    /* A copy: the caller's bytes may be unaligned (archives) and do not outlive the call. */
    char *image = object_copy(arena, bytes, size);
    r.image = (unsigned char *)image;
    elf_version(EV_CURRENT);
    r.elf = elf_memory(image, size);
    struct mem_guard guard;
    mem_guard(&guard, object_elf_end, r.elf);
    bool ok = r.elf ? read_header(&r) && input_read_sections(&r) && input_decompress(&r) &&
                          input_read_symbols(&r) && read_contents(&r)
                    : input_fail(&r, "is not readable as an ELF object");
    mem_unguard(&guard);
    elf_end(r.elf);
    assert(!ok || (input->local_count > 0 && input->local_count <= input->symbol_count));
    return ok ? input : NULL;
}
