/* The symbol table of the result: the null symbol, one symbol per section, each input's local
 * symbols followed by its definitions that became local, then the kept names, then what nobody
 * defines. */
#include "backend/object/internal.h"

#include <assert.h>
#include <string.h>

static bool count_symbols(struct object_writer *writer, uint64_t *count)
{
    *count = 1 + (uint64_t)writer->output_count;
    for (const struct object_input *input = writer->link->first_input; input; input = input->next)
        *count += input->local_count;
    for (const struct object_global *global = writer->first_global; global; global = global->next)
        *count += 1;
    return *count < UINT32_MAX || object_fail(writer->error, "the result has too many symbols");
}

static uint32_t add(struct object_writer *writer, Elf64_Sym symbol, const char *name,
                    uint32_t section)
{
    symbol.st_name = object_strings_add(&writer->names, writer->error, name);
    bool special = section == OBJECT_ABSOLUTE;
    symbol.st_shndx = special ? SHN_ABS : section < SHN_LORESERVE ? (uint16_t)section : SHN_XINDEX;
    writer->symbols[writer->symbol_count] = symbol;
    writer->symbol_sections[writer->symbol_count] = special ? 0 : section;
    return writer->symbol_count++;
}

static void add_sections(struct object_writer *writer)
{
    Elf64_Sym symbol = {.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION)};
    for (struct object_output *output = writer->first_output; output; output = output->next)
        output->symbol = add(writer, symbol, "", output->index);
}

/* Where an input's definition ended up; false if its section is not in the result. */
static bool locate(const struct object_input *input, const struct object_symbol *symbol,
                   uint64_t *value, uint32_t *section)
{
    const struct object_section *home = object_symbol_section(input, symbol);
    *value = symbol->value;
    *section = OBJECT_ABSOLUTE;
    if (!home)
        return true;
    if (!home->output || (home->frame && !object_frame_move(home->frame, value)))
        return false;
    assert(home->output->index > 0);
    *value += home->offset;
    *section = home->output->index;
    return true;
}

static void add_local(struct object_writer *writer, const struct object_input *input,
                      struct object_symbol *symbol)
{
    uint64_t value;
    uint32_t section;
    if (symbol->type == STT_SECTION || !locate(input, symbol, &value, &section))
        return;
    Elf64_Sym out = {.st_info = ELF64_ST_INFO(STB_LOCAL, symbol->type),
                     .st_other = symbol->other,
                     .st_value = value,
                     .st_size = symbol->size};
    symbol->index = add(writer, out, symbol->name, section);
}

static bool add_definition(struct object_writer *writer, struct object_global *global)
{
    const struct object_symbol *symbol = global->symbol;
    Elf64_Sym out = {.st_other = global->other, .st_size = symbol->size};
    uint32_t section;
    if (symbol->section == OBJECT_COMMON) {
        out.st_value = global->common_offset;
        out.st_size = global->common_size;
        section = global->common_output->index;
    } else if (!locate(global->input, symbol, &out.st_value, &section)) {
        return object_fail(writer->error,
                           "%.300s: '%.300s' is defined in a section that is not "
                           "in the result",
                           global->input->name, symbol->name);
    }
    out.st_info = ELF64_ST_INFO(global->kept ? symbol->binding : STB_LOCAL, global->type);
    if (global->kept)
        out.st_other |= global->visibility;
    global->index = add(writer, out, global->name, section);
    return true;
}

/* What is in no section, or in a shared one, is there already. */
static bool is_shared(const struct object_input *input, const struct object_symbol *symbol)
{
    const struct object_section *home = object_symbol_section(input, symbol);
    return input->original && (!home || home->shared);
}

static bool add_input(struct object_writer *writer, struct object_input *input)
{
    for (uint32_t i = 1; i < input->local_count; i++) {
        struct object_symbol *symbol = &input->symbols[i];
        if (is_shared(input, symbol))
            symbol->index = input->original->symbols[i].index;
        else
            add_local(writer, input, symbol);
    }
    for (uint32_t i = input->local_count; i < input->symbol_count; i++) {
        struct object_global *global = input->symbols[i].global;
        if (global->symbol == &input->symbols[i] && !global->kept &&
            !add_definition(writer, global))
            return false;
    }
    return true;
}

static void add_undefined(struct object_writer *writer, struct object_global *global)
{
    Elf64_Sym out = {.st_info = ELF64_ST_INFO(global->needed ? STB_GLOBAL : STB_WEAK, global->type),
                     .st_other = global->other | global->visibility};
    global->index = add(writer, out, global->name, OBJECT_UNDEFINED);
}

bool object_symbols_build(struct object_writer *writer)
{
    uint64_t most;
    if (!count_symbols(writer, &most))
        return false;
    writer->symbols = object_alloc(&writer->arena, most, sizeof *writer->symbols);
    writer->symbol_sections = object_alloc(&writer->arena, most, sizeof *writer->symbol_sections);
    add(writer, (Elf64_Sym){0}, "", OBJECT_UNDEFINED);
    add_sections(writer);
    for (struct object_input *input = writer->link->first_input; input; input = input->next)
        if (!add_input(writer, input))
            return false;
    writer->local_count = writer->symbol_count;
    assert(writer->local_count <= most);
    for (struct object_global *global = writer->first_global; global; global = global->next)
        if (global->kept && !add_definition(writer, global))
            return false;
    for (struct object_global *global = writer->first_global; global; global = global->next)
        if (global->strength == OBJECT_NONE && global->wanted && !global->target)
            add_undefined(writer, global);
    assert(writer->symbol_count <= most);
    return !writer->error->set;
}
