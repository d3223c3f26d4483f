/* Line tables: which lines of a source the code of an object's functions is of. DWARF, versions 2
 * to 4, section 6.2: a program for a machine that writes the table's rows. */
#include "backend/object/object.h"

#include "backend/object/internal.h"

#include <stdio.h>
#include <string.h>

/* The bytes of a section that are left. Reads behind the end give 0 and set `over`. */
struct cursor {
    const struct object_section *section;
    uint64_t at, end;
    bool over;
};

static uint64_t take(struct cursor *cursor, unsigned bytes)
{
    uint64_t value = 0;
    if (cursor->end - cursor->at < bytes) {
        cursor->over = true;
        cursor->at = cursor->end;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)cursor->section->data[cursor->at + i] << 8 * i;
    cursor->at += bytes;
    return value;
}

static uint64_t take_leb(struct cursor *cursor, bool sign)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)take(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && !cursor->over);
    if (sign && shift < 64 && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static const char *take_string(struct cursor *cursor)
{
    const char *text = (const char *)cursor->section->data + cursor->at;
    const char *end = memchr(text, '\0', cursor->end - cursor->at);
    if (!end) {
        cursor->over = true;
        return "";
    }
    cursor->at += (uint64_t)(end - text) + 1;
    return text;
}

/* ---- the machine ---- */

enum { MAX_OPCODE = 255, STANDARD_OPCODES = 12 };

enum {
    LNS_extended,
    LNS_copy,
    LNS_advance_pc,
    LNS_advance_line,
    LNS_set_file,
    LNS_const_add_pc = 8,
    LNS_fixed_advance_pc = 9,
};

enum { LNE_end_sequence = 1, LNE_set_address = 2 };

struct program {
    struct cursor cursor;
    uint8_t min_length, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[MAX_OPCODE + 1];
    struct cursor files;

    const struct object_section *home; /* of the address; NULL: it is not known */
    uint64_t address, file, line;      /* the line counts modulo 2^64 */

    object_line_visit *visit;
    void *user;
};

/* The n-th name of the header, from 1. */
static const char *file_name(const struct program *program, uint64_t n)
{
    struct cursor files = program->files;
    const char *name = "";
    for (uint64_t i = 0; i < n; i++) {
        name = take_string(&files);
        if (!*name || files.over)
            return "";
        for (int field = 0; field < 3; field++)
            take_leb(&files, false);
    }
    return name;
}

static const struct object_symbol *function_at(const struct object_section *home, uint64_t address)
{
    const struct object_input *input = home->input;
    for (uint32_t i = 1; i < input->symbol_count; i++) {
        const struct object_symbol *symbol = &input->symbols[i];
        if (symbol->type == STT_FUNC && object_symbol_section(input, symbol) == home &&
            address >= symbol->value && address - symbol->value < symbol->size)
            return symbol;
    }
    return NULL;
}

static void put_row(const struct program *program)
{
    const struct object_symbol *function =
        program->home ? function_at(program->home, program->address) : NULL;
    if (function && program->line > 0 && program->line <= UINT32_MAX)
        program->visit(program->user, function->name, program->address - function->value,
                       file_name(program, program->file), (uint32_t)program->line);
}

/* The address is a relocation's, whose place is that of the operand. */
static void set_address(struct program *program)
{
    const struct object_section *table = program->cursor.section;
    program->home = NULL;
    for (size_t i = 0; i < table->relocation_count; i++) {
        const struct object_relocation *relocation = &table->relocations[i];
        if (relocation->offset != program->cursor.at)
            continue;
        const struct object_symbol *symbol = &table->input->symbols[relocation->symbol];
        program->home = object_symbol_section(table->input, symbol);
        program->address = symbol->value + relocation->addend;
        return;
    }
}

static void begin_sequence(struct program *program)
{
    program->home = NULL;
    program->address = 0;
    program->file = program->line = 1;
}

static void extended(struct program *program)
{
    struct cursor *cursor = &program->cursor;
    uint64_t size = take_leb(cursor, false);
    if (cursor->over || size == 0 || size > cursor->end - cursor->at) {
        cursor->over = true;
        return;
    }
    uint64_t next = cursor->at + size;
    uint64_t opcode = take(cursor, 1);
    if (opcode == LNE_set_address)
        set_address(program);
    else if (opcode == LNE_end_sequence)
        begin_sequence(program);
    cursor->at = next;
}

static void special(struct program *program, unsigned opcode, bool row)
{
    unsigned adjusted = opcode - program->opcode_base;
    program->address += (uint64_t)(adjusted / program->line_range) * program->min_length;
    if (!row)
        return;
    program->line +=
        (uint64_t)((int64_t)program->line_base + (int64_t)(adjusted % program->line_range));
    put_row(program);
}

static void standard(struct program *program, unsigned opcode)
{
    struct cursor *cursor = &program->cursor;
    switch (opcode) {
    case LNS_extended: extended(program); break;
    case LNS_copy: put_row(program); break;
    case LNS_advance_pc: program->address += take_leb(cursor, false) * program->min_length; break;
    case LNS_advance_line: program->line += take_leb(cursor, true); break;
    case LNS_set_file: program->file = take_leb(cursor, false); break;
    case LNS_const_add_pc: special(program, MAX_OPCODE, false); break;
    case LNS_fixed_advance_pc: program->address += take(cursor, 2); break;
    default:
        for (unsigned i = 0; i < program->operands[opcode]; i++)
            take_leb(cursor, false);
    }
}

static void execute(struct program *program)
{
    begin_sequence(program);
    while (program->cursor.at < program->cursor.end && !program->cursor.over) {
        unsigned opcode = (unsigned)take(&program->cursor, 1);
        if (opcode >= program->opcode_base)
            special(program, opcode, true);
        else
            standard(program, opcode);
    }
}

/* ---- tables ---- */

/* What stands before a program. False where its form is another one. */
static bool read_header(struct program *program)
{
    struct cursor *cursor = &program->cursor;
    uint64_t version = take(cursor, 2), size = take(cursor, 4);
    if (cursor->over || version < 2 || version > 4 || size > cursor->end - cursor->at)
        return false;
    uint64_t begin = cursor->at + size;
    program->min_length = (uint8_t)take(cursor, 1);
    take(cursor,
         version >= 4 ? 2 : 1); /* operations per instruction, whether rows are statements */
    program->line_base = (int8_t)take(cursor, 1);
    program->line_range = (uint8_t)take(cursor, 1);
    program->opcode_base = (uint8_t)take(cursor, 1);
    for (unsigned i = 1; i < program->opcode_base; i++)
        program->operands[i] = (uint8_t)take(cursor, 1);
    while (*take_string(cursor) && !cursor->over)
        ; /* folders */
    program->files = *cursor;
    cursor->at = begin;
    return !cursor->over && program->line_range > 0 && program->opcode_base > 0;
}

struct reader {
    struct object_visitor visitor;
    object_line_visit *visit;
    void *user;
};

static void read_table(const struct reader *reader, const struct object_section *section)
{
    struct cursor rest = {section, 0, section->size, false};
    while (rest.at < rest.end) {
        uint64_t size = take(&rest, 4);
        if (rest.over || size > rest.end - rest.at)
            return;
        struct program program = {.cursor = {section, rest.at, rest.at + size, false},
                                  .visit = reader->visit,
                                  .user = reader->user};
        if (read_header(&program))
            execute(&program);
        rest.at += size;
    }
}

static bool read_tables(struct object_visitor *visitor, struct object_input *input,
                        const char *member)
{
    (void)member;
    for (uint32_t i = 1; i < input->section_count; i++)
        if (strcmp(input->sections[i].name, ".debug_line") == 0 && input->sections[i].data)
            read_table((struct reader *)visitor, &input->sections[i]);
    return true;
}

bool object_lines(const char *path, object_line_visit *visit, void *user, char *error,
                  size_t error_size)
{
    struct object_error failure = {.set = false};
    struct object_arena arena = {.error = &failure};
    struct reader reader = {{read_tables}, visit, user};
    bool ok = object_read_file(&arena, path, &reader.visitor);
    object_arena_free(&arena);
    if (!ok)
        snprintf(error, error_size, "%s", failure.text);
    return ok;
}
