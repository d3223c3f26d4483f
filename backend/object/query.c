#include <ar.h>
#include <errno.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "backend/object/internal.h"
#include "backend/object/object.h"
#include "ir/base/file.h"

/* Objects inside files: an object itself, or the members of a GNU `ar` archive. */

static const char thin_magic[] = "!<thin>\n";

static bool visit_member(struct object_arena *arena, const char *name, Elf *member,
                         struct object_visitor *visitor)
{
    const Elf_Arhdr *header = elf_getarhdr(member);
    if (!header || !header->ar_name || !header->ar_rawname)
        return object_fail(arena->error, "%.400s: malformed archive member", name);
    /* The symbol index and the table of long names. */
    if (strcmp(header->ar_name, "/") == 0 || strcmp(header->ar_name, "//") == 0 ||
        strcmp(header->ar_name, "/SYM64/") == 0)
        return true;
    char *label = object_format(arena, "%s(%s)", name, header->ar_name);
    if (strncmp(header->ar_rawname, "#1/", 3) == 0 || strcmp(header->ar_name, "__.SYMDEF") == 0)
        return object_fail(arena->error, "%.400s: BSD archives are not supported, only GNU ones",
                           label);
    size_t size;
    const char *bytes = elf_rawfile(member, &size);
    if (!bytes)
        return object_fail(arena->error, "%.400s: malformed archive member", label);
    struct object_input *input = object_input_read(arena, label, bytes, size);
    return input && visitor->visit(visitor, input, label + strlen(name));
}

static bool read_members(struct object_arena *arena, const char *name, Elf *archive,
                         size_t archive_size, struct object_visitor *visitor)
{
    size_t end = SARMAG;
    Elf *member;
    /* Members of an image in memory have no file behind them; this mode does not look for one. */
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
        ok = ok && visit_member(arena, name, member, visitor);
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
                         size_t size, struct object_visitor *visitor)
{
    if (size == SARMAG)
        return true;
    elf_version(EV_CURRENT);
    /* libelf does not write to an image that it only reads. */
    Elf *archive = elf_memory((char *)bytes, size);
    struct mem_guard guard;
    mem_guard(&guard, object_elf_end, archive);
    bool ok = archive && elf_kind(archive) == ELF_K_AR
                  ? read_members(arena, name, archive, size, visitor)
                  : object_fail(arena->error, "%.400s: malformed archive", name);
    mem_unguard(&guard);
    elf_end(archive);
    return ok;
}

static bool read_any(struct object_arena *arena, const char *name, const void *bytes, size_t size,
                     struct object_visitor *visitor)
{
    if (size >= SARMAG && memcmp(bytes, thin_magic, SARMAG) == 0)
        return object_fail(arena->error,
                           "%.400s: thin archives are not supported; make it without 'T'", name);
    if (size >= SARMAG && memcmp(bytes, ARMAG, SARMAG) == 0)
        return read_archive(arena, name, bytes, size, visitor);
    struct object_input *input = object_input_read(arena, name, bytes, size);
    return input && visitor->visit(visitor, input, NULL);
}

bool object_read_each(struct object_arena *arena, const char *name, const void *bytes, size_t size,
                      struct object_visitor *visitor)
{
    errno = 0;
    bool ok = read_any(arena, name, bytes, size, visitor);
    /* Without memory, libelf says what it says of a malformed file. */
    if (!ok && errno == ENOMEM)
        mem_exhausted();
    return ok;
}

bool object_read_file(struct object_arena *arena, const char *path, struct object_visitor *visitor)
{
    struct file_bytes bytes;
    char text[sizeof arena->error->text];
    bool standard = strcmp(path, "-") == 0;
    if (!(standard ? file_read : file_read_regular)(path, &bytes, text, sizeof text))
        return object_fail(arena->error, "%s", text);
    char *name = object_copy(arena, path, strlen(path) + 1);
    bool ok = object_read_each(arena, name, bytes.data, bytes.size, visitor);
    file_bytes_free(&bytes);
    return ok;
}

/* Questions about one object or archive. */

struct query {
    struct object_visitor visitor;
    const char *symbol;
    uint64_t text_size;
    bool defined;
    uint64_t relocations;
    char *name; /* of the first one's symbol */
    size_t name_size;
    object_code_visit *visit_code;
    void *user;
};

static bool run(struct query *query, const char *path, char *error, size_t error_size)
{
    struct object_error failure = {.set = false};
    struct object_arena arena = {.error = &failure};
    bool ok = object_read_file(&arena, path, &query->visitor);
    object_arena_free(&arena);
    if (!ok)
        snprintf(error, error_size, "%s", failure.text);
    return ok;
}

static bool add_text(struct object_visitor *visitor, struct object_input *input, const char *member)
{
    (void)member;
    struct query *query = (struct query *)visitor;
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        if (section->type == SHT_PROGBITS &&
            (strcmp(section->name, ".text") == 0 || strncmp(section->name, ".text.", 6) == 0))
            query->text_size += section->size;
    }
    return true;
}

bool object_text_size(const char *path, uint64_t *size, char *error, size_t error_size)
{
    struct query query = {.visitor = {add_text}};
    bool ok = run(&query, path, error, error_size);
    *size = ok ? query.text_size : 0;
    return ok;
}

static bool count_relocations(struct object_visitor *visitor, struct object_input *input,
                              const char *member)
{
    (void)member;
    struct query *query = (struct query *)visitor;
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        if (!(section->flags & SHF_EXECINSTR) || section->relocation_count == 0)
            continue;
        if (query->relocations == 0)
            snprintf(query->name, query->name_size, "%s",
                     input->symbols[section->relocations[0].symbol].name);
        query->relocations += section->relocation_count;
    }
    return true;
}

/* Whether a file says of itself that it is a relocatable object, or cannot be read. */
static bool is_relocatable(const char *path)
{
    Elf64_Ehdr header;
    FILE *file = fopen(path, "rb");
    bool read = file && fread(&header, sizeof header, 1, file) == 1;
    if (file)
        fclose(file);
    return !read || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type == ET_REL;
}

bool object_code_relocations(const char *path, uint64_t *count, char *symbol, size_t symbol_size,
                             char *error, size_t error_size)
{
    struct query query = {.visitor = {count_relocations}, .name = symbol, .name_size = symbol_size};
    *symbol = '\0';
    bool ok = !is_relocatable(path) || run(&query, path, error, error_size);
    *count = query.relocations;
    return ok;
}

static bool find_definition(struct object_visitor *visitor, struct object_input *input,
                            const char *member)
{
    (void)member;
    struct query *query = (struct query *)visitor;
    for (uint32_t i = input->local_count; i < input->symbol_count && !query->defined; i++)
        query->defined = object_symbol_is_function(input, &input->symbols[i]) &&
                         strcmp(input->symbols[i].name, query->symbol) == 0;
    return true;
}

bool object_defines(const char *path, const char *symbol, bool *defined, char *error,
                    size_t error_size)
{
    struct query query = {.visitor = {find_definition}, .symbol = symbol};
    bool ok = run(&query, path, error, error_size);
    *defined = ok && query.defined;
    return ok;
}

static uint64_t align_up(uint64_t size, uint64_t align)
{
    return (size + align - 1) / align * align;
}

/* Where each section begins in the code; of others nothing is said. */
static uint64_t *place_code(struct object_arena *arena, const struct object_input *input)
{
    uint64_t *begins = object_alloc(arena, input->section_count, sizeof *begins), size = 0;
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        if (!(section->flags & SHF_EXECINSTR))
            continue;
        begins[i] = align_up(size, section->align);
        size = begins[i] + section->size;
    }
    return begins;
}

struct code_query {
    struct query query;
    struct object_arena arena;
};

static bool visit_code(struct object_visitor *visitor, struct object_input *input,
                       const char *member)
{
    (void)member;
    struct code_query *code = (struct code_query *)visitor;
    uint64_t *begins = place_code(&code->arena, input);
    for (uint32_t i = 1; i < input->symbol_count; i++) {
        const struct object_symbol *symbol = &input->symbols[i];
        const struct object_section *section = object_symbol_section(input, symbol);
        if (symbol->type == STT_FUNC && section && section->flags & SHF_EXECINSTR)
            code->query.visit_code(code->query.user, symbol->name,
                                   begins[symbol->section] + symbol->value, symbol->size);
    }
    return true;
}

bool object_code(const char *path, object_code_visit *visit, void *user, char *error,
                 size_t error_size)
{
    struct object_error failure = {.set = false};
    struct code_query code = {{.visitor = {visit_code}, .visit_code = visit, .user = user},
                              {.error = &failure}};
    bool ok = run(&code.query, path, error, error_size);
    object_arena_free(&code.arena);
    return ok;
}
