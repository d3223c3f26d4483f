/* Reading one object. libelf decodes headers and tables; whatever it lets through is checked
 * here, once, so that the rest of the module can index without fear. */
#include "backend/object/internal.h"

#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* Newer than some elf.h. */
enum {
    TYPE_CREL = 0x40000014,
    TYPE_RELR = 19,
    TYPE_LLVM_CALL_GRAPH_PROFILE_OLD = 0x6fff4c02,
    TYPE_LLVM_ADDRSIG = 0x6fff4c03,
    TYPE_LLVM_CALL_GRAPH_PROFILE = 0x6fff4c09,
};

struct reader {
    struct object_arena *arena;
    struct object_error *error;
    struct object_input *input;
    Elf *elf;
    const unsigned char *image;
    size_t size;
    uint32_t symtab, strings, extended, section_names; /* section indices; 0: none */
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
} ignored_names[] = {
    {".note.GNU-stack", false},    /* its meaning is kept: see object_place.c */
    {".note.gnu.property", false}, /* promises, such as CET; an object without them is sound */
    {".gnu.lto_", true},           /* bytecode beside the machine code of the same functions */
    {".gnu.debuglto_", true},
};

static enum object_role section_role(const struct object_section *section)
{
    for (size_t i = 0; i < sizeof type_roles / sizeof *type_roles; i++)
        if (type_roles[i].type == section->type)
            return type_roles[i].role;
    for (size_t i = 0; i < sizeof ignored_names / sizeof *ignored_names; i++) {
        const char *name = ignored_names[i].name;
        size_t size = strlen(name) + (ignored_names[i].prefix ? 0 : 1);
        if (strncmp(section->name, name, size) == 0)
            return OBJECT_IGNORED;
    }
    return OBJECT_CONTENT;
}

static bool fail_at(struct reader *r, const struct object_section *section, const char *what)
{
    return object_fail(r->error, "%.300s: section '%.200s' (index %td) %s", r->input->name,
                       section->name, section - r->input->sections, what);
}

static bool fail(struct reader *r, const char *what)
{
    return object_fail(r->error, "%.400s: %s", r->input->name, what);
}

static bool check_ident(struct reader *r)
{
    const unsigned char *p = r->image;
    if (r->size >= 4 && (memcmp(p, "BC\xc0\xde", 4) == 0 || memcmp(p, "\xde\xc0\x17\x0b", 4) == 0))
        return fail(r, "is LLVM bitcode, not an ELF object; compile it without LTO");
    if (r->size < SELFMAG || memcmp(p, ELFMAG, SELFMAG) != 0)
        return fail(r, "is not an ELF object");
    if (r->size < sizeof(Elf64_Ehdr))
        return fail(r, "is truncated: its ELF header is incomplete");
    if (p[EI_CLASS] != ELFCLASS64)
        return fail(r, "is not a 64-bit ELF object; only those are supported");
    if (p[EI_DATA] != ELFDATA2LSB)
        return fail(r, "is not little-endian; only little-endian objects are supported");
    if (p[EI_VERSION] != EV_CURRENT)
        return fail(r, "has an unknown ELF version");
    return true;
}

static bool check_type(struct reader *r, uint16_t type)
{
    switch (type) {
    case ET_REL: return true;
    case ET_EXEC: return fail(r, "is an executable, not a relocatable object");
    case ET_DYN: return fail(r, "is a shared object or executable, not a relocatable object");
    case ET_CORE: return fail(r, "is a core dump, not a relocatable object");
    }
    return fail(r, "is not a relocatable object");
}

static bool read_header(struct reader *r)
{
    const Elf64_Ehdr *header = elf64_getehdr(r->elf);
    if (!header)
        return fail(r, "has no readable ELF header");
    if (!check_type(r, header->e_type))
        return false;
    r->input->machine = header->e_machine;
    r->input->flags = header->e_flags;
    r->input->abi = header->e_ident[EI_OSABI];
    r->input->abi_version = header->e_ident[EI_ABIVERSION];
    size_t count = 0;
    if (header->e_shoff == 0)
        return fail(r, "has no sections");
    if (header->e_shentsize != sizeof(Elf64_Shdr))
        return fail(r, "has section headers of an unknown size");
    /* libelf drops a header table beyond the end without an error. */
    if (header->e_shoff > r->size || elf_getshdrnum(r->elf, &count) != 0 || count == 0 ||
        count > (r->size - header->e_shoff) / sizeof(Elf64_Shdr) || count >= OBJECT_COMMON)
        return fail(r, "is truncated or malformed: its section headers lie beyond its end");
    r->input->section_count = (uint32_t)count;
    return true;
}

/* The string at `offset` in the table, counted against `budget`: names may share their tails,
 * and a hostile file could share so much that its names never fit in memory. */
static const char *get_string(struct reader *r, uint32_t table, uint64_t offset, uint64_t *budget)
{
    const struct object_section *strings = &r->input->sections[table];
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

static uint64_t name_budget(const struct object_section *strings, uint64_t count)
{
    return (strings->size + count) * 64;
}

/* Takes over the header. The data pointer stays NULL where the file has no such bytes: names,
 * which messages need, are read before that is judged. */
static void read_section(struct reader *r, struct object_section *section, const Elf64_Shdr *from)
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

static bool check_section(struct reader *r, const struct object_section *section)
{
    if (section->align & (section->align - 1))
        return fail_at(r, section, "has an alignment that is no power of two");
    if (section->align > OBJECT_MAX_ALIGN)
        return fail_at(r, section, "has an alignment above 16 MiB");
    if (section->size > OBJECT_MAX_SECTION)
        return fail_at(r, section, "is too large");
    if (section->type != SHT_NULL && section->type != SHT_NOBITS && !section->data)
        return fail_at(r, section, "lies beyond the end of the file");
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
static bool check_overlap(struct reader *r)
{
    struct object_input *input = r->input;
    struct object_section **order = object_alloc(r->arena, input->section_count, sizeof *order);
    if (!order)
        return false;
    size_t count = 0;
    for (uint32_t i = 1; i < input->section_count; i++)
        if (input->sections[i].data && input->sections[i].size > 0)
            order[count++] = &input->sections[i];
    qsort(order, count, sizeof *order, compare_data);
    for (size_t i = 1; i < count; i++)
        if (order[i - 1]->data + order[i - 1]->size > order[i]->data)
            return fail_at(r, order[i], "overlaps another section");
    return true;
}

/* A copy: libelf points into the file, where the header may be unaligned. */
static bool get_header(struct reader *r, uint32_t index, Elf64_Shdr *header)
{
    const void *from = elf64_getshdr(elf_getscn(r->elf, index));
    if (!from)
        return fail(r, "has an unreadable section header");
    memcpy(header, from, sizeof *header);
    return true;
}

static bool read_section_names(struct reader *r)
{
    size_t table;
    struct object_input *input = r->input;
    if (elf_getshdrstrndx(r->elf, &table) != 0 || table == 0 || table >= input->section_count ||
        input->sections[table].type != SHT_STRTAB || !input->sections[table].data)
        return fail(r, "has no table of section names");
    r->section_names = (uint32_t)table;
    uint64_t budget = name_budget(&input->sections[table], input->section_count);
    for (uint32_t i = 1; i < input->section_count; i++) {
        Elf64_Shdr header;
        if (!get_header(r, i, &header))
            return false;
        const char *name = get_string(r, (uint32_t)table, header.sh_name, &budget);
        if (!name)
            return fail_at(r, &input->sections[i], "has a bad name");
        input->sections[i].name = name;
        input->sections[i].role = section_role(&input->sections[i]);
    }
    return true;
}

static bool read_sections(struct reader *r)
{
    struct object_input *input = r->input;
    input->sections = object_alloc(r->arena, input->section_count, sizeof *input->sections);
    if (!input->sections)
        return false;
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

/* The decoded entries of a table, `*count` of them, each of `entry_size` bytes. */
static const void *get_table(struct reader *r, uint32_t index, size_t entry_size, size_t *count)
{
    struct object_section *section = &r->input->sections[index];
    *count = section->size / entry_size;
    if (section->size % entry_size || (section->entsize && section->entsize != entry_size)) {
        fail_at(r, section, "has entries of an unknown size");
        return NULL;
    }
    if (section->size == 0)
        return section->data;
    const Elf_Data *data = elf_getdata(elf_getscn(r->elf, index), NULL);
    if (!data || !data->d_buf || data->d_size != section->size) {
        fail_at(r, section, "cannot be decoded");
        return NULL;
    }
    /* libelf may leave an unaligned table where it is. */
    if ((uintptr_t)data->d_buf % _Alignof(Elf64_Xword) == 0)
        return data->d_buf;
    return object_copy(r->arena, data->d_buf, data->d_size);
}

static bool find_symbol_table(struct reader *r)
{
    struct object_input *input = r->input;
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (section->type != SHT_SYMTAB)
            continue;
        if (r->symtab)
            return fail_at(r, section, "is a second symbol table");
        if (section->link >= input->section_count ||
            input->sections[section->link].type != SHT_STRTAB)
            return fail_at(r, section, "links to no string table");
        r->symtab = i;
        r->strings = section->link;
    }
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (section->type != SHT_SYMTAB_SHNDX)
            continue;
        if (r->extended || !r->symtab || section->link != r->symtab)
            return fail_at(r, section, "belongs to no symbol table");
        r->extended = i;
    }
    return true;
}

static bool symbol_section(struct reader *r, uint32_t index, uint16_t section,
                           const uint32_t *extended, uint32_t *result)
{
    switch (section) {
    case SHN_ABS: *result = OBJECT_ABSOLUTE; return true;
    case SHN_COMMON: *result = OBJECT_COMMON; return true;
    case SHN_XINDEX:
        if (!extended)
            return object_fail(r->error, "%.300s: symbol %" PRIu32 " lacks its section index",
                               r->input->name, index);
        *result = extended[index];
        break;
    default:
        if (section >= SHN_LORESERVE)
            return object_fail(r->error,
                               "%.300s: symbol %" PRIu32
                               " is in the special section 0x%x, which is not supported",
                               r->input->name, index, (unsigned)section);
        *result = section;
    }
    if (*result >= r->input->section_count)
        return object_fail(
            r->error, "%.300s: symbol %" PRIu32 " is in section %" PRIu32 ", which does not exist",
            r->input->name, index, *result);
    return true;
}

static bool fail_symbol(struct reader *r, const struct object_symbol *symbol, const char *what)
{
    return object_fail(r->error, "%.300s: symbol '%.300s' (index %td) %s", r->input->name,
                       symbol->name, symbol - r->input->symbols, what);
}

static bool check_symbol(struct reader *r, const struct object_symbol *symbol)
{
    bool local = symbol - r->input->symbols < (ptrdiff_t)r->input->local_count;
    if (local != (symbol->binding == STB_LOCAL))
        return fail_symbol(r, symbol, "is on the wrong side of the border of local symbols");
    if (symbol->binding > STB_WEAK && symbol->binding != STB_GNU_UNIQUE)
        return fail_symbol(r, symbol, "has an unknown binding");
    if (symbol->type == STT_SECTION && !(local && object_symbol_section(r->input, symbol)))
        return fail_symbol(r, symbol, "should stand for a section and does not");
    if (local && (symbol->section == OBJECT_UNDEFINED || symbol->section == OBJECT_COMMON))
        return fail_symbol(r, symbol, "is local but not defined");
    if (symbol->section == OBJECT_COMMON) {
        if (symbol->value & (symbol->value - 1) || symbol->value > OBJECT_MAX_ALIGN)
            return fail_symbol(r, symbol, "has a bad alignment");
        if (symbol->size > OBJECT_MAX_SECTION)
            return fail_symbol(r, symbol, "is too large");
    }
    return true;
}

static bool read_symbol(struct reader *r, uint32_t index, const Elf64_Sym *from,
                        const uint32_t *extended, uint64_t *budget)
{
    struct object_symbol *symbol = &r->input->symbols[index];
    *symbol = (struct object_symbol){.name = get_string(r, r->strings, from->st_name, budget),
                                     .value = from->st_value,
                                     .size = from->st_size,
                                     .binding = ELF64_ST_BIND(from->st_info),
                                     .type = ELF64_ST_TYPE(from->st_info),
                                     .other = from->st_other};
    if (!symbol->name)
        return object_fail(r->error, "%.300s: symbol %" PRIu32 " has a bad name", r->input->name,
                           index);
    return symbol_section(r, index, from->st_shndx, extended, &symbol->section) &&
           check_symbol(r, symbol);
}

static bool read_symbols(struct reader *r)
{
    struct object_input *input = r->input;
    input->symbol_count = input->local_count = 1;
    size_t count = 0, extended_count = 0;
    const Elf64_Sym *table = NULL;
    const uint32_t *extended = NULL;
    if (!find_symbol_table(r))
        return false;
    if (r->symtab && !(table = get_table(r, r->symtab, sizeof *table, &count)))
        return false;
    if (r->extended && !(extended = get_table(r, r->extended, 4, &extended_count)))
        return false;
    if (r->extended && extended_count < count)
        return fail_at(r, &input->sections[r->extended], "is too short");
    if (count > UINT32_MAX || (r->symtab && (input->sections[r->symtab].info > count)))
        return fail_at(r, &input->sections[r->symtab], "has a bad number of local symbols");
    if (count > 0) {
        input->symbol_count = (uint32_t)count;
        input->local_count = input->sections[r->symtab].info;
    }
    input->symbols = object_alloc(r->arena, input->symbol_count, sizeof *input->symbols);
    if (!input->symbols)
        return false;
    input->symbols[0].name = "";
    uint64_t budget = count ? name_budget(&input->sections[r->strings], count) : 0;
    for (uint32_t i = 1; i < count; i++)
        if (!read_symbol(r, i, &table[i], extended, &budget))
            return false;
    return true;
}

static bool read_group(struct reader *r, uint32_t index)
{
    struct object_section *group = &r->input->sections[index];
    size_t count;
    const uint32_t *words = get_table(r, index, 4, &count);
    if (!words)
        return false;
    if (count == 0 || group->link != r->symtab || group->info == 0 ||
        group->info >= r->input->symbol_count)
        return fail_at(r, group, "is a group without flags or signature");
    /* From here on `entsize` holds the flags: the size of an entry is known. */
    group->entsize = words[0];
    for (size_t i = 1; i < count; i++) {
        if (words[i] == 0 || words[i] >= r->input->section_count || words[i] == index)
            return fail_at(r, group, "is a group with a member that does not exist");
        struct object_section *member = &r->input->sections[words[i]];
        if (member->group)
            return fail_at(r, member, "is a member of two groups");
        member->group = index;
    }
    return true;
}

static bool read_relocation(struct reader *r, const struct object_section *target,
                            const Elf64_Rela *from, struct object_relocation *to)
{
    *to = (struct object_relocation){from->r_offset, (uint64_t)from->r_addend,
                                     ELF64_R_TYPE(from->r_info), ELF64_R_SYM(from->r_info)};
    if (to->symbol >= r->input->symbol_count)
        return fail_at(r, target, "has a relocation against a symbol that does not exist");
    /* Type 0 is "none" on every machine; it may mark the end of a section. */
    if (to->offset > target->size || (to->offset == target->size && to->type != 0))
        return fail_at(r, target, "has a relocation beyond its end");
    return true;
}

static bool read_relocations(struct reader *r, uint32_t index)
{
    struct object_input *input = r->input;
    struct object_section *section = &input->sections[index];
    if (section->info == 0 || section->info >= input->section_count)
        return fail_at(r, section, "relocates a section that does not exist");
    struct object_section *target = &input->sections[section->info];
    if (target->role == OBJECT_IGNORED)
        return true;
    if (section->type == SHT_REL)
        return fail_at(r, section, "holds REL relocations; only RELA is supported");
    if (section->link != r->symtab)
        return fail_at(r, section, "does not refer to the symbol table");
    if (target->role != OBJECT_CONTENT)
        return fail_at(r, section, "relocates a section that has no code or data");
    if (target->relocated_by)
        return fail_at(r, target, "has two relocation sections");
    size_t count;
    const Elf64_Rela *table = get_table(r, index, sizeof *table, &count);
    if (!table)
        return false;
    if (count > 0 && !target->data)
        return fail_at(r, target, "has relocations but no contents");
    target->relocated_by = index;
    target->relocations = object_alloc(r->arena, count, sizeof *target->relocations);
    target->relocation_count = count;
    if (!target->relocations)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_relocation(r, target, &table[i], &target->relocations[i]))
            return false;
    return true;
}

static bool read_contents(struct reader *r)
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
            return fail_at(r, section, "links to a section that does not exist");
        if (strcmp(section->name, ".note.GNU-stack") == 0) {
            input->stack_note = true;
            input->stack_executable |= (section->flags & SHF_EXECINSTR) != 0;
        }
    }
    return true;
}

struct object_input *object_input_read(struct object_arena *arena, const char *name,
                                       const void *bytes, size_t size)
{
    struct object_input *input = object_alloc(arena, 1, sizeof *input);
    if (!input)
        return NULL;
    input->name = name;
    struct reader r = {arena, arena->error, input, NULL, bytes, size, 0, 0, 0, 0};
    if (!check_ident(&r))
        return NULL;
    /* A copy: the caller's bytes may be unaligned (archives) and do not outlive the call. */
    char *image = object_copy(arena, bytes, size);
    if (!image)
        return NULL;
    r.image = (unsigned char *)image;
    elf_version(EV_CURRENT);
    r.elf = elf_memory(image, size);
    bool ok = r.elf ? read_header(&r) && read_sections(&r) && read_symbols(&r) && read_contents(&r)
                    : fail(&r, "is not readable as an ELF object");
    elf_end(r.elf);
    return ok ? input : NULL;
}

struct object_section *object_symbol_section(const struct object_input *input,
                                             const struct object_symbol *symbol)
{
    if (symbol->section == OBJECT_UNDEFINED || symbol->section >= input->section_count)
        return NULL;
    return &input->sections[symbol->section];
}

static const char *unlinkable(const struct object_input *input,
                              const struct object_section *section)
{
    if (section->flags & SHF_COMPRESSED || strncmp(section->name, ".zdebug_", 8) == 0)
        return "is compressed, which is not supported; compile with -gz=none";
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

bool object_input_linkable(const struct object_input *input, struct object_error *error)
{
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        const char *what = unlinkable(input, section);
        if (what)
            return object_fail(error, "%.300s: section '%.200s' %s", input->name, section->name,
                               what);
    }
    for (uint32_t i = 1; i < input->symbol_count; i++)
        if (strcmp(input->symbols[i].name, "__gnu_lto_slim") == 0)
            return object_fail(error,
                               "%.300s: holds LTO bytecode instead of code; compile it without "
                               "-flto or with -ffat-lto-objects",
                               input->name);
    return true;
}
