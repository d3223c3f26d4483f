#include <string.h>

#include "backend/object/internal.h"
#include "backend/object/object.h"
#include "ir/base/file.h"

/* Files that are read once, and then asked and linked, by several links, too. */

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

/* The link as its users see it: inputs and wishes are gathered here, object_write does the rest. */

struct object_link *object_link_new(void)
{
    struct object_link *link = mem_calloc(1, sizeof *link);
    link->arena.error = &link->error;
    link->input_tail = &link->first_input;
    link->export_tail = &link->first_export;
    link->keep_tail = &link->first_keep;
    return link;
}

void object_link_free(struct object_link *link)
{
    if (!link)
        return;
    object_map_free(&link->groups);
    object_arena_free(&link->arena);
    mem_free(link);
}

const char *object_link_error(const struct object_link *link)
{
    return link->error.set ? link->error.text : NULL;
}

static const char *machine_text(const struct object_input *input)
{
    const char *name = object_machine_name(input->machine);
    return name ? name : "another machine";
}

/* The GNU ABI is the generic one with additions, so that these two mix. */
static bool abi_mixes(uint8_t a, uint8_t b)
{
    return a == b ||
           ((a == ELFOSABI_NONE || a == ELFOSABI_GNU) && (b == ELFOSABI_NONE || b == ELFOSABI_GNU));
}

static bool check_against_first(struct object_link *link, const struct object_input *input)
{
    const struct object_input *first = link->first_input;
    if (!first)
        return true;
    if (input->machine != first->machine)
        return object_fail(&link->error,
                           "%.300s is for %s (machine %u), but %.300s is for %s (machine %u)",
                           input->name, machine_text(input), input->machine, first->name,
                           machine_text(first), first->machine);
    if (input->flags != first->flags)
        return object_fail(
            &link->error, "%.300s has ELF flags 0x%x, but %.300s has 0x%x; they do not mix",
            input->name, (unsigned)input->flags, first->name, (unsigned)first->flags);
    if (!abi_mixes(input->abi, first->abi) || input->abi_version != first->abi_version)
        return object_fail(&link->error, "%.300s and %.300s are for different ABIs", input->name,
                           first->name);
    return true;
}

struct adder {
    struct object_visitor visitor;
    struct object_link *link;
    unsigned group;
};

bool object_link_take(struct object_link *link, unsigned group, struct object_input *input)
{
    if (!object_input_linkable(input, &link->error) || !check_against_first(link, input))
        return false;
    input->group = group;
    link->gnu_abi |= input->abi == ELFOSABI_GNU;
    return object_group_add(link, input);
}

static bool add_input(struct object_visitor *visitor, struct object_input *input,
                      const char *member)
{
    (void)member;
    struct adder *adder = (struct adder *)visitor;
    return object_link_take(adder->link, adder->group, input);
}

bool object_link_add(struct object_link *link, unsigned group, const char *name, const void *bytes,
                     size_t size)
{
    if (link->error.set)
        return false;
    struct adder adder = {{add_input}, link, group};
    char *label = object_copy(&link->arena, name, strlen(name) + 1);
    return object_read_each(&link->arena, label, bytes, size, &adder.visitor);
}

bool object_link_add_file(struct object_link *link, unsigned group, const char *path)
{
    if (link->error.set)
        return false;
    struct adder adder = {{add_input}, link, group};
    return object_read_file(&link->arena, path, &adder.visitor);
}

bool object_link_export(struct object_link *link, unsigned group, const char *symbol,
                        const char *as)
{
    if (link->error.set)
        return false;
    struct object_export *export = object_alloc(&link->arena, 1, sizeof *export);
    export->group = group;
    export->symbol = object_copy(&link->arena, symbol, strlen(symbol) + 1);
    export->as = object_copy(&link->arena, as, strlen(as) + 1);
    *link->export_tail = export;
    link->export_tail = &export->next;
    return true;
}

bool object_link_keep(struct object_link *link, const char *as)
{
    if (link->error.set)
        return false;
    struct object_keep *keep = object_alloc(&link->arena, 1, sizeof *keep);
    keep->as = object_copy(&link->arena, as, strlen(as) + 1);
    *link->keep_tail = keep;
    link->keep_tail = &keep->next;
    return true;
}

bool object_link_bytes(struct object_link *link, void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    if (link->error.set)
        return false;
    if (!link->first_input)
        return object_fail(&link->error, "there is nothing to link");
    return object_write(link, bytes, size);
}

bool object_link_write(struct object_link *link, const char *path)
{
    void *bytes;
    size_t size;
    char text[sizeof link->error.text];
    if (!object_link_bytes(link, &bytes, &size))
        return false;
    bool ok =
        file_write(path, bytes, size, text, sizeof text) || object_fail(&link->error, "%s", text);
    mem_free(bytes);
    return ok;
}
