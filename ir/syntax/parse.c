#include "ir/syntax/grammar.h"
#include "ir/syntax/parser.h"

/* ---------------------------------------------------------------------------- lists ---- */

void parse_push_dim(struct parser *parser, int64_t dim)
{
    vec_push(&parser->dims, dim);
}

int64_t parse_static_dim(struct parser *parser, struct span span, int64_t dim)
{
    if (dim >= 0)
        return dim;
    if (diag_at(parser->diags, DIAG_number_range, span, "a dimension cannot be %lld",
                (long long)dim))
        diag_help(parser->diags, "a dimension that is not known is '?'");
    return 0;
}

/* Remembers dictionaries of graphs, where most are spelled like many others. What is known was free
 * of errors, which would have to be reported each time. */
static void know_dict(struct parser *parser, struct span span, struct range attrs)
{
    if (!parser->scanner.in_body || parser->diags->counts[SEVERITY_ERROR] ||
        !scanner_is_plain_dict(&parser->scanner, span))
        return;
    scanner_know(&parser->scanner, span, parser->dicts.count);
    vec_push(&parser->dicts, (struct known_dict){attrs, span.begin});
}

struct range parse_take_dict(struct parser *parser, struct span span, uint32_t count)
{
    parser->attrs.count -= count;
    struct range attrs =
        module_add_attrs(parser->module, parser->attrs.at + parser->attrs.count, count);
    know_dict(parser, span, attrs);
    return attrs;
}

/* Lists are shared with the earlier one. Attributes are copied, as each has a position. */
struct range parse_known_dict(struct parser *parser, uint64_t dict)
{
    struct module *module = parser->module;
    struct known_dict known = parser->dicts.at[token_id(dict)];
    vec_reserve(&module->attrs, known.attrs.count);
    struct range attrs =
        module_add_attrs(module, module->attrs.at + known.attrs.first, known.attrs.count);
    for (uint32_t i = 0; i < attrs.count; i++)
        module->attrs.at[attrs.first + i].loc += token_begin(dict) - known.begin;
    return attrs;
}

void parse_push_list(struct parser *parser, uint32_t count)
{
    parser->values.count -= count;
    struct range range =
        module_add_values(parser->module, parser->values.at + parser->values.count, count);
    parse_push_value(parser,
                     (struct attr_value){.kind = ATTR_LIST, .count = count, .first = range.first});
}

uint32_t parse_take_type(struct parser *parser, struct span span, uint32_t dtype, uint32_t rank,
                         uint32_t format)
{
    parser->dims.count -= rank;
    if (rank > MAX_RANK)
        diag_at(parser->diags, DIAG_number_range, span, "a type has at most %d dimensions, not %u",
                MAX_RANK, rank);
    uint32_t type = module_type(parser->module, (enum dtype)(dtype - W_KEYWORD_END), format,
                                parser->dims.at + parser->dims.count, rank > MAX_RANK ? 0 : rank);
    scanner_know(&parser->scanner, span, type);
    return type;
}

/* --------------------------------------------------------------------- module items ---- */

void parse_version(struct parser *parser, uint32_t loc, struct span span, int64_t version)
{
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
    vec_push(&module->order, (uint64_t)module->targets.count << 2 | ORDER_TARGET);
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
}

/* --------------------------------------------------------------------------- graphs ---- */

void parse_graph_begin(struct parser *parser, uint32_t loc, uint32_t name)
{
    parser->graph = module_add_graph(parser->module, name);
    parser->graph->loc = loc;
    parser->block = NONE;
    parser->open_braces = 0;
}

static uint32_t define_value(struct parser *parser, uint32_t name, uint32_t type, uint32_t def)
{
    uint32_t id = graph_add_value(parser->graph, name, type, def);
    uint32_t *value = id_map_at(&parser->value_of_name, name);
    /* A duplicate keeps its first meaning; the verifier reports it. */
    if (*value == NONE || parser->graph->values.at[*value].def == DEF_MISSING)
        *value = id;
    return id;
}

/* The value of a name; one that is not defined yet gets a value marked as missing. */
static uint32_t use_value(struct parser *parser, uint32_t name)
{
    uint32_t *value = id_map_at(&parser->value_of_name, name);
    if (*value == NONE)
        *value = graph_add_value(parser->graph, name, NONE, DEF_MISSING);
    return *value;
}

/* Takes `count` names off the stack as a range of value ids. */
static struct range use_values(struct parser *parser, const uint32_t *names, uint32_t count)
{
    struct graph *graph = parser->graph;
    if (count == 0)
        return (struct range){0, 0};
    struct range range = {graph->refs.count, count};
    vec_reserve(&graph->refs, count);
    for (uint32_t i = 0; i < count; i++)
        graph->refs.at[graph->refs.count++] = use_value(parser, names[i]);
    return range;
}

void parse_param(struct parser *parser, uint32_t loc, uint32_t name, uint32_t type,
                 struct range attrs)
{
    vec_push(&parser->graph->params, (struct param){loc, attrs});
    define_value(parser, name, type, DEF_PARAM);
    parser->graph->n_params = parser->graph->values.count;
}

void parse_gear(struct parser *parser, uint32_t loc, uint32_t name, uint32_t count)
{
    struct graph *graph = parser->graph;
    struct gear gear = {name, loc, {graph->gear_values.count, count}};
    parser->values.count -= count;
    for (uint32_t i = 0; i < count; i++)
        vec_push(&graph->gear_values, parser->values.at[parser->values.count + i].i);
    vec_push(&graph->gears, gear);
}

void parse_graph_results(struct parser *parser, uint32_t count)
{
    for (uint32_t i = parser->ids.count - count; i < parser->ids.count; i++)
        vec_push(&parser->graph->result_types, parser->ids.at[i]);
    parser->ids.count -= count;
    parser->open_braces = 1;
}

void parse_body_begin(struct parser *parser)
{
    parser->open_braces = 1;
    parser->scanner.in_body = true;
}

void parse_return(struct parser *parser, uint32_t loc, uint32_t count)
{
    struct graph *graph = parser->graph;
    graph->return_loc = loc;
    parser->ids.count -= count;
    for (uint32_t i = 0; i < count; i++)
        vec_push(&graph->returns, use_value(parser, parser->ids.at[parser->ids.count + i]));
}

static void forget_values(struct parser *parser)
{
    if (!parser->graph)
        return;
    for (uint32_t i = 0; i < parser->graph->values.count; i++)
        id_map_unset(&parser->value_of_name, parser->graph->values.at[i].name);
    parser->graph = NULL;
    parser->scanner.in_body = false;
}

void parse_graph_end(struct parser *parser, uint32_t end_loc)
{
    parser->graph->end_loc = end_loc;
    forget_values(parser);
    parser->open_braces = 0;
}

void parse_block_begin(struct parser *parser, uint32_t loc, enum block_kind kind, uint32_t name,
                       struct range attrs)
{
    struct block block = {kind, name, parser->block, loc, NONE, attrs};
    parser->block = graph_add_block(parser->graph, &block);
    graph_add_item(parser->graph, ITEM_OPEN, parser->block);
    parser->open_braces++;
}

void parse_block_end(struct parser *parser, uint32_t end_loc)
{
    struct block *block = &parser->graph->blocks.at[parser->block];
    block->end_loc = end_loc;
    graph_add_item(parser->graph, ITEM_CLOSE, parser->block);
    parser->block = block->parent;
    parser->open_braces--;
}

static uint32_t op_add_clauses(struct parser *parser, const struct op_parts *parts,
                               const uint32_t *names)
{
    if (parts->after + parts->send + parts->recv == 0)
        return 0;
    struct graph *graph = parser->graph;
    struct clauses clauses;
    clauses.after = use_values(parser, names, parts->after);
    clauses.send = graph_add_refs(graph, names + parts->after, parts->send);
    clauses.recv = graph_add_refs(graph, names + parts->after + parts->send, parts->recv);
    vec_push(&graph->clauses, clauses);
    return graph->clauses.count - 1;
}

static void report_type_count(struct parser *parser, const char *end)
{
    const struct op_parts *parts = &parser->op;
    struct span span = {parts->loc, (uint32_t)(end - parser->scanner.source->text)};
    if (diag_at(parser->diags, DIAG_result_count, span, "%u result%s, but %u type%s",
                parts->results, parts->results == 1 ? "" : "s", parts->types,
                parts->types == 1 ? "" : "s"))
        diag_help(parser->diags,
                  "write one type for each result behind ':', in parentheses if there are several");
}

void parse_op(struct parser *parser, const char *end)
{
    const struct op_parts *parts = &parser->op;
    parser->ids.count -=
        parts->results + parts->operands + parts->types + parts->after + parts->send + parts->recv;
    const uint32_t *results = parser->ids.at + parser->ids.count;
    const uint32_t *operands = results + parts->results;
    const uint32_t *types = operands + parts->operands;

    struct op op = {.type = parts->type,
                    .loc = parts->loc,
                    .block = parser->block,
                    .attrs = parts->attrs,
                    .kernel = parts->kernel ? parts->kernel - 1 : NONE};
    op.operands = use_values(parser, operands, parts->operands);
    op.clauses = op_add_clauses(parser, parts, types + parts->types);
    op.results = (struct range){parser->graph->values.count, parts->results};
    uint32_t id = parser->graph->ops.count;
    for (uint32_t i = 0; i < parts->results; i++)
        define_value(parser, results[i], i < parts->types ? types[i] : NONE, id);
    if (parts->types != parts->results)
        report_type_count(parser, end);
    graph_add_op(parser->graph, &op);
    graph_add_item(parser->graph, ITEM_OP, id);
    parser->op = (struct op_parts){0};
}

/* -------------------------------------------------------------------------- driving ---- */

void parse_recover(struct parser *parser)
{
    parser->ids.count = 0;
    parser->attrs.count = 0;
    parser->values.count = 0;
    parser->dims.count = 0;
    parser->op = (struct op_parts){0};
    /* A broken graph header leaves its graph open. */
    if (parser->open_braces == 0)
        forget_values(parser);
}

static void parser_free(struct parser *parser)
{
    scanner_free(&parser->scanner);
    vec_free(&parser->ids);
    id_map_free(&parser->value_of_name);
    vec_free(&parser->attrs);
    vec_free(&parser->values);
    vec_free(&parser->dims);
    vec_free(&parser->dicts);
}

struct module *parse_module(struct source *source, struct diags *diags, struct spans *comments)
{
    struct parser parser = {.module = module_new(source), .diags = diags, .block = NONE};
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    scanner_init(&parser.scanner, source, parser.module, diags);
    /* No list on a stack, even an empty one, is at NULL. */
    vec_reserve(&parser.ids, 1);
    vec_reserve(&parser.attrs, 1);
    vec_reserve(&parser.values, 1);
    vec_reserve(&parser.dims, 1);
    skir_yyparse(&parser);
    if (comments) {
        *comments = parser.scanner.comments;
        parser.scanner.comments = (struct spans){NULL, 0, 0};
    }
    parser_free(&parser);
    if (diags->counts[SEVERITY_ERROR] == errors)
        return parser.module;
    module_free(parser.module);
    if (comments)
        vec_free(comments);
    return NULL;
}
