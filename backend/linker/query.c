/* What objects have: the members of files, symbols and sections by name; and the lines of sources
 * that the code of their functions is of. */
#include <ar.h>
#include <errno.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "backend/linker/internal.h"
#include "backend/linker/object.h"
#include "ir/support/file.h"

/* Objects inside files: an object itself, or the members of a GNU `ar` archive. */

static const char thin_magic[] = "!<thin>\n";

/* Reads an object to the end of a list. */
static bool read_object(struct object_arena *arena, const char *name, const void *bytes,
                        size_t size, struct object_input ***tail)
{
    struct object_input *input = object_input_read(arena, name, bytes, size);
    if (!input)
        return false;
    **tail = input;
    *tail = &input->next;
    return true;
}

static bool read_member(struct object_arena *arena, const char *name, Elf *member,
                        struct object_input ***tail)
{
    const Elf_Arhdr *header = elf_getarhdr(member);
    if (!header || !header->ar_name || !header->ar_rawname)
        return object_fail(arena->error, "%.400s: malformed archive member", name);
    /* The symbol index and the table of long names. */
    if (strcmp(header->ar_name, "/") == 0 || strcmp(header->ar_name, "//") == 0 ||
        strcmp(header->ar_name, "/SYM64/") == 0)
        return true;
    char *label = arena_printf(&arena->memory, "%s(%s)", name, header->ar_name);
    if (strncmp(header->ar_rawname, "#1/", 3) == 0 || strcmp(header->ar_name, "__.SYMDEF") == 0)
        return object_fail(arena->error, "%.400s: BSD archives are not supported, only GNU ones",
                           label);
    size_t size;
    const char *bytes = elf_rawfile(member, &size);
    if (!bytes)
        return object_fail(arena->error, "%.400s: malformed archive member", label);
    return read_object(arena, label, bytes, size, tail);
}

static bool read_members(struct object_arena *arena, const char *name, Elf *archive,
                         size_t archive_size, struct object_input ***tail)
{
    size_t end = SARMAG;
    Elf *member;
    /* Members of an image in memory have no file; this mode does not look for one. */
    Elf_Cmd command = ELF_C_READ_MMAP;
    bool ok = true;
    while (ok && (member = elf_begin(-1, command, archive))) {
        const Elf_Arhdr *header = elf_getarhdr(member);
        size_t start = (size_t)elf_getbase(member);
        size_t size = header && header->ar_size > 0 ? (size_t)header->ar_size : 0;
        if (start > archive_size || size > archive_size - start)
            ok = object_fail(arena->error, "%.400s: truncated archive", name);
        else
            end = start + size;
        struct mem_guard guard;
        mem_guard(&guard, object_elf_end, member);
        ok = ok && read_member(arena, name, member, tail);
        mem_unguard(&guard);
        command = elf_next(member);
        elf_end(member);
    }
    /* libelf ends the walk in the same way at the end and at a header that it cannot read. */
    end += end & 1;
    if (ok && end < archive_size)
        return object_fail(arena->error, "%.400s: malformed archive member header at byte %zu",
                           name, end);
    return ok;
}

static bool read_archive(struct object_arena *arena, const char *name, const void *bytes,
                         size_t size, struct object_input ***tail)
{
    if (size == SARMAG)
        return true;
    elf_version(EV_CURRENT);
    /* libelf does not write to an image that it only reads. */
    Elf *archive = elf_memory((char *)bytes, size);
    struct mem_guard guard;
    mem_guard(&guard, object_elf_end, archive);
    bool ok = archive && elf_kind(archive) == ELF_K_AR
                  ? read_members(arena, name, archive, size, tail)
                  : object_fail(arena->error, "%.400s: malformed archive", name);
    mem_unguard(&guard);
    elf_end(archive);
    return ok;
}

bool object_read_bytes(struct object_arena *arena, const char *name, const void *bytes, size_t size,
                       struct object_input **first)
{
    struct object_input **tail = first;
    bool ok;
    *first = NULL;
    errno = 0;
    if (size >= SARMAG && memcmp(bytes, thin_magic, SARMAG) == 0)
        ok = object_fail(arena->error,
                         "%.400s: thin archives are not supported; make it without 'T'", name);
    else if (size >= SARMAG && memcmp(bytes, ARMAG, SARMAG) == 0)
        ok = read_archive(arena, name, bytes, size, &tail);
    else
        ok = read_object(arena, name, bytes, size, &tail);
    /* Without memory, libelf says what it says of a malformed file. */
    if (!ok && errno == ENOMEM)
        mem_exhausted();
    return ok;
}

bool object_read_file(struct object_arena *arena, const char *path, struct object_input **first)
{
    struct file_bytes bytes;
    char text[sizeof arena->error->text];
    bool standard = strcmp(path, "-") == 0;
    if (!(standard ? file_read : file_read_regular)(path, &bytes, text, sizeof text))
        return object_fail(arena->error, "%s", text);
    char *name = arena_strndup(&arena->memory, path, strlen(path));
    bool ok = object_read_bytes(arena, name, bytes.data, bytes.size, first);
    file_bytes_free(&bytes);
    return ok;
}

/* ---- files ---- */

struct object_file *object_file_read(const char *path)
{
    struct object_file *file = mem_calloc(1, sizeof *file);
    file->arena.error = &file->error;
    if (object_read_file(&file->arena, path, &file->first))
        for (struct object_input *input = file->first; input; input = input->next)
            if (!object_input_has_code(input, &file->error))
                break;
    return file;
}

const char *object_file_error(const struct object_file *file)
{
    return file->error.set ? file->error.text : NULL;
}

void object_file_free(struct object_file *file)
{
    if (!file)
        return;
    arena_free(&file->arena.memory);
    mem_free(file);
}

void object_file_functions(const struct object_file *file, object_function_visit *visit, void *user)
{
    for (const struct object_input *input = file->first; input; input = input->next)
        for (uint32_t i = input->local_count; i < input->symbol_count; i++) {
            const struct object_symbol *symbol = &input->symbols[i];
            const struct object_section *section = object_symbol_section(input, symbol);
            if (object_symbol_is_function(input, symbol))
                visit(user, symbol->name, section ? section->size : 0);
        }
}

void object_file_code(const struct object_file *file, object_code_visit *visit, void *user)
{
    for (const struct object_input *input = file->first; input; input = input->next) {
        /* Where each section of code begins. */
        uint64_t *begins = mem_calloc(input->section_count, sizeof *begins), size = 0;
        for (uint32_t i = 1; i < input->section_count; i++) {
            const struct object_section *section = &input->sections[i];
            if (!(section->flags & SHF_EXECINSTR))
                continue;
            begins[i] = (size + section->align - 1) / section->align * section->align;
            size = begins[i] + section->size;
        }
        for (uint32_t i = 1; i < input->symbol_count; i++) {
            const struct object_symbol *symbol = &input->symbols[i];
            const struct object_section *section = object_symbol_section(input, symbol);
            if (symbol->type == STT_FUNC && section && section->flags & SHF_EXECINSTR)
                visit(user, symbol->name, begins[symbol->section] + symbol->value, symbol->size);
        }
        mem_free(begins);
    }
}

bool object_code_relocations(const char *path, uint64_t *count, char *symbol, size_t symbol_size,
                             char *error, size_t error_size)
{
    Elf64_Ehdr header;
    FILE *stream = fopen(path, "rb");
    bool read = stream && fread(&header, sizeof header, 1, stream) == 1;
    if (stream)
        fclose(stream);
    *count = 0;
    *symbol = '\0';
    if (read && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type != ET_REL)
        return true;
    struct object_file *file = object_file_read(path);
    bool ok = !file->error.set;
    if (!ok)
        snprintf(error, error_size, "%s", file->error.text);
    for (const struct object_input *input = file->first; ok && input; input = input->next)
        for (uint32_t i = 1; i < input->section_count; i++) {
            const struct object_section *section = &input->sections[i];
            if (!(section->flags & SHF_EXECINSTR) || section->relocation_count == 0)
                continue;
            if (*count == 0)
                snprintf(symbol, symbol_size, "%s",
                         input->symbols[section->relocations[0].symbol].name);
            *count += section->relocation_count;
        }
    object_file_free(file);
    return ok;
}

/* Line tables: which lines of a source the code of an object's functions is of. DWARF, versions 2
 * to 4, section 6.2: a program for a machine that writes the table's rows. */

/* The bytes of a section that are left. Reads past the end give 0 and set `over`. */
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

/* What precedes a program. False where its form is another one. */
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

void object_file_lines(const struct object_file *file, object_line_visit *visit, void *user)
{
    for (const struct object_input *input = file->first; input; input = input->next)
        for (uint32_t i = 1; i < input->section_count; i++) {
            const struct object_section *section = &input->sections[i];
            struct cursor rest = {section, 0, section->data ? section->size : 0, false};
            while (strcmp(section->name, ".debug_line") == 0 && rest.at < rest.end) {
                uint64_t size = take(&rest, 4);
                if (rest.over || size > rest.end - rest.at)
                    break;
                struct program program = {.cursor = {section, rest.at, rest.at + size, false},
                                          .visit = visit,
                                          .user = user};
                if (read_header(&program))
                    execute(&program);
                rest.at += size;
            }
        }
}
