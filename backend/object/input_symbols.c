/* Symbols of an object that is read. */
#include "backend/object/input_reader.h"

#include <assert.h>
#include <inttypes.h>

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

bool input_read_symbols(struct input_reader *r)
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
