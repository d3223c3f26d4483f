/* The parser's part for what is not inside of a graph or an entry, and for what all constructs
 * have: lists, types, attributes. */
#include "ir/syntax/parser.h"

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
