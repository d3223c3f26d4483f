#include <assert.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linker/internal.h"

/* Reading one object: sections and their tables, what is compressed, then symbols. libelf decodes
 * headers and tables; whatever it lets through is checked here, once, so that the rest of the
 * module can index without fear. */

struct input_reader {
    struct object_arena *arena;
    struct object_error *error;
    struct object_input *input;
    Elf *elf;
    const unsigned char *image;
    size_t size;
    uint32_t symtab, strings, extended, section_names; /* section indices; 0: none */
};

/* Sections of an object that is read, and its tables of strings and other entries. */

static bool input_fail_at(struct input_reader *r, const struct object_section *section,
                          const char *what)
{
    return object_fail(r->error, "%.300s: section '%.200s' (index %td) %s", r->input->name,
                       section->name, section - r->input->sections, what);
}

/* Errors about the object, or one of its sections. Always false. */
static bool input_fail(struct input_reader *r, const char *what)
{
    return object_fail(r->error, "%.400s: %s", r->input->name, what);
}

/* ------------------------------------------------------------------------- tables ---- */

static const char *input_string(struct input_reader *r, uint32_t table, uint64_t offset,
                                uint64_t *budget)
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

static uint64_t input_name_budget(const struct object_section *strings, uint64_t count)
{
    return (strings->size + count) * 64;
}

/* The decoded entries of a table, `*count` of them, each of `entry_size` bytes. NULL on error. */
static const void *input_table(struct input_reader *r, uint32_t index, size_t entry_size,
                               size_t *count)
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
    bool bytecode; /* next to the machine code of the same functions */
} ignored_names[] = {
    {".note.GNU-stack", false, false}, /* its meaning is kept: see layout.c */
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

/* Sections that share bytes would let a small file make an output of any size. */
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

/* Reads the section headers, of which there are input->section_count, with names and roles. Data is
 * inside of the file then, and no two sections share any. */
static bool input_read_sections(struct input_reader *r)
{
    struct object_input *input = r->input;
    uint32_t count = input->section_count;
    Elf64_Shdr *headers = object_alloc(r->arena, count, sizeof *headers);
    size_t names;
    input->sections = object_alloc(r->arena, count, sizeof *input->sections);
    for (uint32_t i = 0; i < count; i++)
        input->sections[i] = (struct object_section){.input = input, .name = ""};
    for (uint32_t i = 1; i < count; i++) {
        const void *from = elf64_getshdr(elf_getscn(r->elf, i));
        if (!from)
            return input_fail(r, "has an unreadable section header");
        memcpy(&headers[i], from, sizeof *headers); /* it may be unaligned in the file */
        read_section(r, &input->sections[i], &headers[i]);
    }
    if (elf_getshdrstrndx(r->elf, &names) != 0 || names == 0 || names >= count ||
        input->sections[names].type != SHT_STRTAB || !input->sections[names].data)
        return input_fail(r, "has no table of section names");
    r->section_names = (uint32_t)names;
    uint64_t budget = input_name_budget(&input->sections[names], count);
    for (uint32_t i = 1; i < count; i++) {
        struct object_section *section = &input->sections[i];
        const char *name = input_string(r, r->section_names, headers[i].sh_name, &budget);
        if (!name)
            return input_fail_at(r, section, "has a bad name");
        section->name = name;
        section->role = section_role(section);
    }
    for (uint32_t i = 1; i < count; i++)
        if (!check_section(r, &input->sections[i]))
            return false;
    return check_overlap(r);
}

/* Compressed sections of an object that is read: what describes code for debuggers. */

/* What linkers of old compress by name alone: "ZLIB", the size as eight bytes of which the first is
 * the highest, and the data. */
static const char old_prefix[] = ".zdebug_";
enum { OLD_HEADER = 12 };

/* A file may be so many times as large when it is unpacked; small ones have a little more. Debug
 * information is three to ten times as large. */
enum { MOST_TIMES = 64, LITTLE = 1 << 20 };

static bool is_old(const struct object_section *section)
{
    return section->type == SHT_PROGBITS && !(section->flags & SHF_COMPRESSED) &&
           strncmp(section->name, old_prefix, sizeof old_prefix - 1) == 0;
}

/* False where the header is none. */
static bool read_size(const struct object_section *section, uint64_t *size, uint64_t *align)
{
    Elf64_Chdr header;
    if (!is_old(section)) {
        if (section->size < sizeof header)
            return false;
        memcpy(&header, section->data, sizeof header);
        *size = header.ch_size;
        *align = header.ch_addralign ? header.ch_addralign : 1;
        return true;
    }
    if (section->size < OLD_HEADER || memcmp(section->data, "ZLIB", 4) != 0)
        return false;
    *size = 0;
    for (unsigned i = 4; i < OLD_HEADER; i++)
        *size = *size << 8 | section->data[i];
    *align = section->align;
    return true;
}

static bool unpack(struct input_reader *r, struct object_section *section, uint64_t size)
{
    bool old = is_old(section);
    Elf_Scn *from = elf_getscn(r->elf, (size_t)(section - r->input->sections));
    int done = old ? elf_compress_gnu(from, 0, 0) : elf_compress(from, 0, 0);
    const Elf_Data *data = done < 0 ? NULL : elf_getdata(from, NULL);
    if (!data || data->d_size != size || (size && !data->d_buf))
        return input_fail_at(r, section,
                             "cannot be decompressed: it is damaged, or compressed in a way that "
                             "libelf does not know; compile with -gz=none");
    section->data = (const unsigned char *)object_copy(r->arena, data->d_buf, size);
    section->size = size;
    section->flags &= ~(uint64_t)SHF_COMPRESSED;
    if (old) /* ".zdebug_line" is ".debug_line" then */
        section->name = arena_printf(&r->arena->memory, ".%s", section->name + 2);
    return true;
}

/* Unpacks what is compressed and not loaded; no more than in proportion to the
 * file. */
static bool input_decompress(struct input_reader *r)
{
    uint64_t left = (uint64_t)r->size * MOST_TIMES + LITTLE;
    for (uint32_t i = 1; i < r->input->section_count; i++) {
        struct object_section *section = &r->input->sections[i];
        uint64_t size, align;
        if (section->role != OBJECT_CONTENT || section->flags & SHF_ALLOC || !section->data ||
            !(section->flags & SHF_COMPRESSED || is_old(section)))
            continue;
        if (!read_size(section, &size, &align) || align > OBJECT_MAX_ALIGN || align & (align - 1))
            return input_fail_at(r, section, "is compressed, but has no header that says how");
        if (size > left)
            return input_fail_at(r, section,
                                 "is compressed to less than 1/64 of its size, which is not "
                                 "supported; compile with -gz=none");
        left -= size;
        if (!unpack(r, section, size))
            return false;
        section->align = align;
    }
    return true;
}

/* What is read, but cannot be combined with others. */

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
        size_t row = ignored_row(section);
        bytecode |= row < N_IGNORED && ignored_names[row].bytecode;
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

/* Symbols of an object that is read. */

struct object_section *object_symbol_section(const struct object_input *input,
                                             const struct object_symbol *symbol)
{
    assert((size_t)(symbol - input->symbols) < input->symbol_count);
    if (symbol->section == OBJECT_UNDEFINED || symbol->section >= input->section_count)
        return NULL;
    return &input->sections[symbol->section];
}

static bool find_symbol_table(struct input_reader *r)
{
    struct object_input *input = r->input;
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (section->type != SHT_SYMTAB)
            continue;
        if (r->symtab)
            return input_fail_at(r, section, "is a second symbol table");
        if (section->link >= input->section_count ||
            input->sections[section->link].type != SHT_STRTAB)
            return input_fail_at(r, section, "links to no string table");
        r->symtab = i;
        r->strings = section->link;
    }
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (section->type != SHT_SYMTAB_SHNDX)
            continue;
        if (r->extended || !r->symtab || section->link != r->symtab)
            return input_fail_at(r, section, "belongs to no symbol table");
        r->extended = i;
    }
    return true;
}

static bool symbol_section(struct input_reader *r, uint32_t index, uint16_t section,
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

static bool fail_symbol(struct input_reader *r, const struct object_symbol *symbol,
                        const char *what)
{
    return object_fail(r->error, "%.300s: symbol '%.300s' (index %td) %s", r->input->name,
                       symbol->name, symbol - r->input->symbols, what);
}

static bool check_symbol(struct input_reader *r, const struct object_symbol *symbol)
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

static bool read_symbol(struct input_reader *r, uint32_t index, const Elf64_Sym *from,
                        const uint32_t *extended, uint64_t *budget)
{
    struct object_symbol *symbol = &r->input->symbols[index];
    *symbol = (struct object_symbol){.name = input_string(r, r->strings, from->st_name, budget),
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

/* Reads the symbol table, if there is one, after the sections. */
static bool input_read_symbols(struct input_reader *r)
{
    struct object_input *input = r->input;
    input->symbol_count = input->local_count = 1;
    size_t count = 0, extended_count = 0;
    const Elf64_Sym *table = NULL;
    const uint32_t *extended = NULL;
    if (!find_symbol_table(r))
        return false;
    if (r->symtab && !(table = input_table(r, r->symtab, sizeof *table, &count)))
        return false;
    if (r->extended && !(extended = input_table(r, r->extended, 4, &extended_count)))
        return false;
    if (r->extended && extended_count < count)
        return input_fail_at(r, &input->sections[r->extended], "is too short");
    /* The null symbol is local. */
    uint32_t locals = r->symtab ? input->sections[r->symtab].info : 0;
    if (count > UINT32_MAX || locals > count || (count > 0 && locals == 0))
        return input_fail_at(r, &input->sections[r->symtab], "has a bad number of local symbols");
    if (count > 0) {
        input->symbol_count = (uint32_t)count;
        input->local_count = locals;
    }
    input->symbols = object_alloc(r->arena, input->symbol_count, sizeof *input->symbols);
    input->symbols[0].name = "";
    uint64_t budget = count ? input_name_budget(&input->sections[r->strings], count) : 0;
    for (uint32_t i = 1; i < count; i++)
        if (!read_symbol(r, i, &table[i], extended, &budget))
            return false;
    return true;
}

bool object_symbol_is_function(const struct object_input *input, const struct object_symbol *symbol)
{
    const struct object_section *section = object_symbol_section(input, symbol);
    if (symbol->binding == STB_LOCAL || symbol->section == OBJECT_UNDEFINED)
        return false;
    if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
        return true;
    return symbol->type == STT_NOTYPE && section && section->flags & SHF_EXECINSTR;
}

/* ---- The object ---- */

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
    assert(ok == !arena->error->set);
    assert(!ok || (input->local_count > 0 && input->local_count <= input->symbol_count));
    return ok ? input : NULL;
}
