/* Questions about one object or archive. */
#include "backend/object/object.h"

#include "backend/object/internal.h"

#include <stdio.h>
#include <string.h>

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
