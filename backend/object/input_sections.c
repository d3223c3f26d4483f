/* Sections of an object that is read, and its tables of strings and other entries. */
#include "backend/object/input_reader.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool input_fail_at(struct input_reader *r, const struct object_section *section, const char *what)
{
    return object_fail(r->error, "%.300s: section '%.200s' (index %td) %s", r->input->name,
                       section->name, section - r->input->sections, what);
}

bool input_fail(struct input_reader *r, const char *what)
{
    return object_fail(r->error, "%.400s: %s", r->input->name, what);
}

/* ------------------------------------------------------------------------- tables ---- */

const char *input_string(struct input_reader *r, uint32_t table, uint64_t offset, uint64_t *budget)
{
    assert(table < r->input->section_count);
    const struct object_section *strings = &r->input->sections[table];
    assert(strings->data);
    if (offset >= strings->size)
        return NULL;
    uint64_t limit = strings->size - offset < *budget ? strings->size - offset : *budget;
    const char *text = (const char *)strings->data + offset;
    size_t length = strnlen(text, limit);
    if (length == limit)
        return NULL;
    *budget -= length;
    return text;
}

uint64_t input_name_budget(const struct object_section *strings, uint64_t count)
{
    return (strings->size + count) * 64;
}

const void *input_table(struct input_reader *r, uint32_t index, size_t entry_size, size_t *count)
{
    assert(index > 0 && index < r->input->section_count);
    struct object_section *section = &r->input->sections[index];
    *count = section->size / entry_size;
    if (section->size % entry_size || (section->entsize && section->entsize != entry_size)) {
        input_fail_at(r, section, "has entries of an unknown size");
        return NULL;
    }
    if (section->size == 0)
        return section->data;
    const Elf_Data *data = elf_getdata(elf_getscn(r->elf, index), NULL);
    if (!data || !data->d_buf || data->d_size != section->size) {
        input_fail_at(r, section, "cannot be decoded");
        return NULL;
    }
    /* libelf may leave an unaligned table where it is. */
    if ((uintptr_t)data->d_buf % _Alignof(Elf64_Xword) == 0)
        return data->d_buf;
    return object_copy(r->arena, data->d_buf, data->d_size);
}

/* -------------------------------------------------------------------------- roles ---- */

/* Newer than some elf.h. */
enum {
    TYPE_LLVM_CALL_GRAPH_PROFILE_OLD = 0x6fff4c02,
    TYPE_LLVM_ADDRSIG = 0x6fff4c03,
    TYPE_LLVM_CALL_GRAPH_PROFILE = 0x6fff4c09,
};

static const struct {
    uint32_t type;
    enum object_role role;
} type_roles[] = {
    {SHT_NULL, OBJECT_IGNORED},
    {SHT_SYMTAB, OBJECT_TABLE},
    {SHT_STRTAB, OBJECT_TABLE},
    {SHT_SYMTAB_SHNDX, OBJECT_TABLE},
    {SHT_RELA, OBJECT_RELOCATIONS},
    {SHT_REL, OBJECT_RELOCATIONS},
    {SHT_GROUP, OBJECT_GROUP},
    /* Hints to a linker that number symbols; none is needed for a correct program. */
    {TYPE_LLVM_ADDRSIG, OBJECT_IGNORED},
    {TYPE_LLVM_CALL_GRAPH_PROFILE, OBJECT_IGNORED},
    {TYPE_LLVM_CALL_GRAPH_PROFILE_OLD, OBJECT_IGNORED},
};

static const struct {
    const char *name;
    bool prefix;
    bool bytecode; /* beside the machine code of the same functions */
} ignored_names[] = {
    {".note.GNU-stack", false, false}, /* its meaning is kept: see place.c */
    {".note.gnu.property", false,
     false}, /* promises, such as CET; without them objects are sound */
    {".gnu.lto_", true, true},
    {".gnu.debuglto_", true, true},
    {".llvm.lto", false, true},
    {".llvmbc", false, true},
    {".llvmcmd", false, true},
};
enum { N_IGNORED = sizeof ignored_names / sizeof *ignored_names };

/* The row of a section's name; N_IGNORED: it has none. */
static size_t ignored_row(const struct object_section *section)
{
    for (size_t i = 0; i < N_IGNORED; i++) {
        const char *name = ignored_names[i].name;
        if (section->name[0] != name[0] || section->name[1] != name[1])
            continue;
        size_t size = strlen(name) + (ignored_names[i].prefix ? 0 : 1);
        if (strncmp(section->name, name, size) == 0)
            return i;
    }
    return N_IGNORED;
}

bool object_section_is_bytecode(const struct object_section *section)
{
    size_t row = ignored_row(section);
    return row < N_IGNORED && ignored_names[row].bytecode;
}

static enum object_role section_role(const struct object_section *section)
{
    for (size_t i = 0; i < sizeof type_roles / sizeof *type_roles; i++)
        if (type_roles[i].type == section->type)
            return type_roles[i].role;
    return ignored_row(section) < N_IGNORED ? OBJECT_IGNORED : OBJECT_CONTENT;
}

/* ------------------------------------------------------------------------ headers ---- */

/* Takes over the header. The data pointer stays NULL where the file has no such bytes: names,
 * which messages need, are read before that is judged. */
static void read_section(struct input_reader *r, struct object_section *section,
                         const Elf64_Shdr *from)
{
    *section = (struct object_section){.input = r->input,
                                       .name = "",
                                       .flags = from->sh_flags,
                                       .size = from->sh_size,
                                       .align = from->sh_addralign ? from->sh_addralign : 1,
                                       .entsize = from->sh_entsize,
                                       .type = from->sh_type,
                                       .link = from->sh_link,
                                       .info = from->sh_info};
    if (section->type == SHT_NULL) {
        section->size = 0;
        section->align = 1;
        return;
    }
    if (section->type != SHT_NOBITS && from->sh_offset <= r->size &&
        section->size <= r->size - from->sh_offset)
        section->data = r->image + from->sh_offset;
}

static bool check_section(struct input_reader *r, const struct object_section *section)
{
    if (section->align & (section->align - 1))
        return input_fail_at(r, section, "has an alignment that is no power of two");
    if (section->align > OBJECT_MAX_ALIGN)
        return input_fail_at(r, section, "has an alignment above 16 MiB");
    if (section->size > OBJECT_MAX_SECTION)
        return input_fail_at(r, section, "is too large");
    if (section->type != SHT_NULL && section->type != SHT_NOBITS && !section->data)
        return input_fail_at(r, section, "lies beyond the end of the file");
    return true;
}

static int compare_data(const void *left, const void *right)
{
    const struct object_section *a = *(struct object_section *const *)left;
    const struct object_section *b = *(struct object_section *const *)right;
    if (a->data != b->data)
        return a->data < b->data ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Sections that share bytes would let a small file stand for an output of any size. */
static bool check_overlap(struct input_reader *r)
{
    struct object_input *input = r->input;
    struct object_section **order = object_alloc(r->arena, input->section_count, sizeof *order);
    size_t count = 0;
    for (uint32_t i = 1; i < input->section_count; i++)
        if (input->sections[i].data && input->sections[i].size > 0)
            order[count++] = &input->sections[i];
    qsort(order, count, sizeof *order, compare_data);
    for (size_t i = 1; i < count; i++)
        if (order[i - 1]->data + order[i - 1]->size > order[i]->data)
            return input_fail_at(r, order[i], "overlaps another section");
    return true;
}

/* A copy: libelf points into the file, where the header may be unaligned. */
static bool get_header(struct input_reader *r, uint32_t index, Elf64_Shdr *header)
{
    const void *from = elf64_getshdr(elf_getscn(r->elf, index));
    if (!from)
        return input_fail(r, "has an unreadable section header");
    memcpy(header, from, sizeof *header);
    return true;
}

static bool read_section_names(struct input_reader *r)
{
    size_t table;
    struct object_input *input = r->input;
    if (elf_getshdrstrndx(r->elf, &table) != 0 || table == 0 || table >= input->section_count ||
        input->sections[table].type != SHT_STRTAB || !input->sections[table].data)
        return input_fail(r, "has no table of section names");
    r->section_names = (uint32_t)table;
    uint64_t budget = input_name_budget(&input->sections[table], input->section_count);
    for (uint32_t i = 1; i < input->section_count; i++) {
        Elf64_Shdr header;
        if (!get_header(r, i, &header))
            return false;
        const char *name = input_string(r, (uint32_t)table, header.sh_name, &budget);
        if (!name)
            return input_fail_at(r, &input->sections[i], "has a bad name");
        input->sections[i].name = name;
        input->sections[i].role = section_role(&input->sections[i]);
    }
    return true;
}

bool input_read_sections(struct input_reader *r)
{
    struct object_input *input = r->input;
    input->sections = object_alloc(r->arena, input->section_count, sizeof *input->sections);
    for (uint32_t i = 0; i < input->section_count; i++) {
        input->sections[i].input = input;
        input->sections[i].name = "";
    }
    for (uint32_t i = 1; i < input->section_count; i++) {
        Elf64_Shdr header;
        if (!get_header(r, i, &header))
            return false;
        read_section(r, &input->sections[i], &header);
    }
    if (!read_section_names(r))
        return false;
    for (uint32_t i = 1; i < input->section_count; i++)
        if (!check_section(r, &input->sections[i]))
            return false;
    return check_overlap(r);
}
