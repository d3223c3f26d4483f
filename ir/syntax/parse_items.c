/* The parser's part for what is not inside of a graph or an entry, and for what all constructs
 * have: lists, types, attributes. */
#include "ir/syntax/parser.h"

#include <string.h>

/* ---------------------------------------------------------------- included files ---- */

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

/* The parser's part for what is not inside of a graph or an entry, and for what all constructs
 * have: lists, types, attributes. */

/* ---------------------------------------------------------------------------- lists ---- */

void parse_push_dim(struct parser *parser, int64_t dim)
{
    vec_push(&parser->dims, dim);
}

void parse_clear_dim(struct parser *parser)
{
    parser->dim.sum.count = 0;
    parser->dim.term = dim_one;
    parser->dim.begin = NONE;
    parser->dim.fault = DIM_FINE;
}

static void begin_factor(struct parser *parser, uint32_t begin)
{
    if (parser->dim.begin == NONE)
        parser->dim.begin = begin;
}

static void note_fault(struct parser *parser, enum dim_fault fault)
{
    if (parser->dim.fault == DIM_FINE)
        parser->dim.fault = fault;
}

void parse_number_factor(struct parser *parser, struct span span, int64_t number)
{
    begin_factor(parser, span.begin);
    if (number < 0) {
        if (diag_at(parser->diags, DIAG_number_range, span, "a dimension cannot be %lld",
                    (long long)number))
            diag_help(parser->diags, "a dimension that is not known is '?'");
        number = 0;
    }
    note_fault(parser, dim_term_multiply(&parser->dim.term, number));
}

void parse_name_factor(struct parser *parser, uint64_t name)
{
    begin_factor(parser, token_begin(name));
    note_fault(parser, dim_term_multiply_name(&parser->dim.term, parser->module, token_id(name)));
}

void parse_end_term(struct parser *parser)
{
    note_fault(parser, dim_sum_add(&parser->dim.sum, parser->module, &parser->dim.term));
    parser->dim.term = dim_one;
}

void parse_push_sum(struct parser *parser, uint32_t end)
{
    struct span span = {parser->dim.begin, end};
    bool fine = parser->dim.fault == DIM_FINE;
    if (!fine)
        diag_at(parser->diags, DIAG_number_range, span, "this dimension %s",
                dim_fault_text(parser->dim.fault));
    parse_push_dim(parser, fine ? dim_of_sum(parser->module, &parser->dim.sum) : DIM_UNKNOWN);
    parse_clear_dim(parser);
}

/* Remembers dictionaries of graphs, where most are spelled like many others. What is known was free
 * of errors, which would have to be reported each time. */
static void know_dict(struct parser *parser, struct span span, struct range attrs)
{
    if (!parser->scanner.in_body || parser->diags->counts[SEVERITY_ERROR] ||
        !scanner_is_plain_dict(&parser->scanner, span))
        return;
    scanner_know(&parser->scanner, span, parser->known.count);
    vec_push(&parser->known, (struct known_text){.attrs = attrs, .begin = span.begin});
}

struct range parse_take_dict(struct parser *parser, struct span span, uint32_t count)
{
    assert(count <= parser->attrs.count);
    parser->attrs.count -= count;
    struct range attrs =
        module_add_attrs(parser->module, parser->attrs.at + parser->attrs.count, count);
    know_dict(parser, span, attrs);
    return attrs;
}

/* Lists are shared with the earlier one. Attributes are copied, as each has a position. */
struct range parse_known_dict(struct parser *parser, uint64_t text)
{
    struct module *module = parser->module;
    expensive_assert(token_id(text) < parser->known.count);
    struct known_text known = parser->known.at[token_id(text)];
    parser->op.known_attrs = true;
    if (known.attrs.count == 0)
        return (struct range){0, 0};
    vec_reserve(&module->attrs, known.attrs.count);
    struct range attrs =
        module_add_attrs(module, module->attrs.at + known.attrs.first, known.attrs.count);
    for (uint32_t i = 0; i < attrs.count; i++)
        module->attrs.at[attrs.first + i].loc += token_begin(text) - known.begin;
    return attrs;
}

void parse_push_list(struct parser *parser, uint32_t count)
{
    assert(count <= parser->values.count);
    parser->values.count -= count;
    struct range range =
        module_add_values(parser->module, parser->values.at + parser->values.count, count);
    parse_push_value(parser,
                     (struct attr_value){.kind = ATTR_LIST, .count = count, .first = range.first});
}

void parse_push_empty(struct parser *parser, struct span span, uint32_t word)
{
    static const uint32_t words[] = {W_int, W_float, W_bool, W_string, W_type, W_list};
    struct attr_value empty = {.kind = ATTR_LIST};
    struct suggest suggest = name_suggest(parser->module, word);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        name_offer(&suggest, parser->module, words[i]);
        if (word == words[i])
            empty.first = word;
    }
    if (!empty.first &&
        diag_at(parser->diags, DIAG_syntax, span, "an empty list cannot be of '%.*s'",
                NAME(parser->module, word)) &&
        !diag_suggest(parser->diags, &suggest))
        diag_help(parser->diags, "it may be of int, float, bool, string, type or list");
    parse_push_value(parser, empty);
}

uint32_t parse_take_type(struct parser *parser, struct span span, uint32_t dtype, uint32_t rank,
                         uint32_t format)
{
    uint32_t n_dims = rank == RANK_UNKNOWN ? 0 : rank;
    assert(n_dims <= parser->dims.count);
    parser->dims.count -= n_dims;
    if (n_dims > MAX_RANK) {
        diag_at(parser->diags, DIAG_number_range, span, "a type has at most %d dimensions, not %u",
                MAX_RANK, rank);
        rank = 0;
    }
    uint32_t type =
        module_type(parser->module, dtype == NONE ? DTYPE_UNKNOWN : dtype - W_KEYWORD_END, format,
                    parser->dims.at + parser->dims.count, rank);
    scanner_know(&parser->scanner, span, type);
    return type;
}

/* --------------------------------------------------------------------- module items ---- */

void parse_version(struct parser *parser, uint32_t loc, struct span span, int64_t version)
{
    parser->versioned = true;
    if (parser->depth == 0)
        parser->module->loc = loc;
    if (version == 1)
        return;
    if (diag_at(parser->diags, DIAG_version, span, "version %lld of the language is not known",
                (long long)version))
        diag_help(parser->diags, "this skirc reads version 1");
}

void parse_target(struct parser *parser, uint32_t loc, uint32_t name, struct range attrs)
{
    struct module *module = parser->module;
    assert(parser_is_between(parser));
    vec_push(&module->order, order_make(module->targets.count, ORDER_TARGET));
    vec_push(&module->targets, (struct target){name, loc, attrs});
}

enum kernel_type parse_kernel_type(struct parser *parser, struct span span, uint32_t word)
{
    struct suggest suggest = name_suggest(parser->module, word);
    for (int type = 0; type < KERNEL_TYPE_COUNT; type++) {
        const char *text = kernel_type_info(type)->name;
        if (name_is(parser->module, word, text))
            return type;
        suggest_offer_text(&suggest, text);
    }
    if (!diag_at(parser->diags, DIAG_unknown_kernel_type, span, "unknown kernel type '%.*s'",
                 NAME(parser->module, word)))
        return KERNEL_aiv_only;
    if (!diag_suggest(parser->diags, &suggest))
        diag_help(parser->diags,
                  "kernel types are aiv_only, aic_only, mix_aiv_1_0, mix_aic_1_0, mix_aic_1_1 and "
                  "mix_aic_1_2");
    return KERNEL_aiv_only;
}

void parse_kernel(struct parser *parser, struct span span, uint32_t name, struct span type_span,
                  uint32_t type, struct range attrs)
{
    struct kernel *kernel =
        module_add_kernel(parser->module, name, parse_kernel_type(parser, type_span, type));
    kernel->loc = span.begin;
    kernel->end_loc = span.end - 1;
    kernel->attrs = attrs;
    if (parser->depth)
        parse_included_paths(parser->module, kernel);
    assert(parser_is_between(parser));
}
