/* The parser's part for files that include others. */
#include "ir/syntax/parser.h"

#include <string.h>

/* Each file is parsed while those that include it are; no sane program comes near. */
enum { MAX_INCLUDE_DEPTH = 64 };

static void report(struct parser *parser, struct span span, const char *path, const char *error)
{
    if (diag_at(parser->diags, DIAG_include, span, "%s", error) && *path != '/')
        diag_help(parser->diags, "the path is relative to the folder of the file that includes");
}

/* Reads and parses the file, unless that was done. */
static void follow(struct parser *parser, struct span span, const char *path)
{
    struct source *source = parser->module->source;
    char error[512];
    enum include_status status = source_include(source, span.begin, path, error, sizeof error);
    if (status == INCLUDE_FAILED)
        report(parser, span, path, error);
    if (status != INCLUDE_NEW)
        return;
    if (parser->depth >= MAX_INCLUDE_DEPTH)
        diag_at(parser->diags, DIAG_include, span, "files include each other more than %d deep",
                MAX_INCLUDE_DEPTH);
    else
        parser->parse_file(parser, source->files.at[source->files.count - 1]->begin);
}

void parse_include(struct parser *parser, struct span span, uint32_t path)
{
    struct module *module = parser->module;
    const struct intern_name *name = &module->names.names[path];
    struct arena scratch = {NULL, 0};
    assert(parser_is_between(parser));
    vec_push(&module->order, order_make(module->includes.count, ORDER_INCLUDE));
    vec_push(&module->includes, (struct include){path, span.begin});
    if (name->size == 0 || memchr(name->text, '\0', name->size))
        diag_at(parser->diags, DIAG_include, span, "this is not the path of a file");
    else if (module->source->reader)
        follow(parser, span, name_text(module, path, &scratch));
    arena_free(&scratch);
}

void parse_refuse_included(struct parser *parser, struct span span, const char *what)
{
    if (parser->depth && diag_at(parser->diags, DIAG_include, span,
                                 "%s cannot stand in a file that is included", what))
        diag_help(parser->diags,
                  "such a file has kernels, a target and includes; commands take several files");
}

/* The path in an attribute of a kernel. */
static void take_included_path(struct module *module, const struct kernel *kernel, uint32_t key)
{
    const struct attr *attr = attr_find(module, kernel->attrs, key);
    struct arena scratch = {NULL, 0};
    if (attr && attr->value.kind == ATTR_STRING) {
        const char *name = name_text(module, attr->value.id, &scratch);
        const char *path = source_file_path(module->source, attr->loc, name);
        if (path)
            module->attrs.at[attr - module->attrs.at].value.id = module_name(module, path);
    }
    arena_free(&scratch);
}

void parse_included_paths(struct module *module, const struct kernel *kernel)
{
    take_included_path(module, kernel, W_object);
    take_included_path(module, kernel, W__json);
}
