/* Files that are read once, and then asked and linked, by several links, too. */
#include "backend/object/object.h"

#include "backend/object/internal.h"

struct object_file {
    struct object_error error;
    struct object_arena arena;
    struct object_input *first, **tail;
};

struct file_reader {
    struct object_visitor visitor;
    struct object_file *file;
};

static bool keep_input(struct object_visitor *visitor, struct object_input *input,
                       const char *member)
{
    (void)member;
    struct object_file *file = ((struct file_reader *)visitor)->file;
    if (!object_input_has_code(input, &file->error))
        return false;
    *file->tail = input;
    file->tail = &input->next;
    return true;
}

struct object_file *object_file_read(const char *path)
{
    struct object_file *file = mem_calloc(1, sizeof *file);
    struct file_reader reader = {{keep_input}, file};
    file->arena.error = &file->error;
    file->tail = &file->first;
    object_read_file(&file->arena, path, &reader.visitor);
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
    object_arena_free(&file->arena);
    mem_free(file);
}

static void visit_functions(const struct object_input *input, object_function_visit *visit,
                            void *user)
{
    for (uint32_t i = input->local_count; i < input->symbol_count; i++) {
        const struct object_symbol *symbol = &input->symbols[i];
        const struct object_section *section = object_symbol_section(input, symbol);
        if (object_symbol_is_function(input, symbol))
            visit(user, symbol->name, section ? section->size : 0);
    }
}

void object_file_functions(const struct object_file *file, object_function_visit *visit, void *user)
{
    for (const struct object_input *input = file->first; input; input = input->next)
        visit_functions(input, visit, user);
}

bool object_link_add_read(struct object_link *link, unsigned group, const struct object_file *file)
{
    if (link->error.set)
        return false;
    if (file->error.set)
        return object_fail(&link->error, "%s", file->error.text);
    for (const struct object_input *input = file->first; input; input = input->next)
        if (!object_link_take(link, group, object_input_clone(&link->arena, input)))
            return false;
    return true;
}
