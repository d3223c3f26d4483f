/* The parser's part for graphs. */
#include "ir/core/attr.h"
#include "ir/optypes/op_types.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/parser.h"

void parse_graph_begin(struct parser *parser, uint32_t loc, uint32_t name)
{
    assert(!parser->graph && !parser->entry && parser_is_between(parser));
    parser->graph = module_add_graph(parser->module, name);
    parser->graph->loc = loc;
    /* The first graph gets room for all of the text, until there are others. */
    if (parser->module->graphs.count == 1) {
        enum { OP_BYTES = 64 }; /* about so many bytes bring an op */
        size_t bytes = (size_t)(parser->scanner.limit - parser->scanner.cursor);
        uint32_t ops = (uint32_t)(bytes / OP_BYTES);
        vec_reserve(&parser->graph->ops, ops);
        vec_reserve(&parser->graph->values, ops);
        vec_reserve(&parser->graph->body, ops);
        vec_reserve(&parser->graph->refs, 2 * (uint64_t)ops);
    } else if (parser->module->graphs.count == 2) {
        struct graph *first = &parser->module->graphs.at[0];
        vec_fit(&first->ops);
        vec_fit(&first->values);
        vec_fit(&first->body);
        vec_fit(&first->refs);
    }
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
    assert(parser->graph->n_params == parser->graph->params.count);
}

void parse_free_dim(struct parser *parser, uint32_t loc, uint32_t name)
{
    vec_push(&parser->graph->dims, (struct free_dim){name, loc});
}

/* Takes `count` integers off the stack. */
static struct range take_gear_values(struct parser *parser, uint32_t count)
{
    struct graph *graph = parser->graph;
    struct range range = {graph->gear_values.count, count};
    assert(count <= parser->values.count);
    parser->values.count -= count;
    for (uint32_t i = 0; i < count; i++)
        vec_push(&graph->gear_values, parser->values.at[parser->values.count + i].i);
    return range;
}

void parse_gear(struct parser *parser, uint32_t loc, uint32_t name, uint32_t count)
{
    struct range values = take_gear_values(parser, count);
    vec_push(&parser->graph->gears, (struct gear){name, loc, values});
}

void parse_case(struct parser *parser, uint32_t loc, uint32_t count, uint32_t graph)
{
    struct range values = take_gear_values(parser, count);
    vec_push(&parser->graph->cases, (struct gear_case){graph, loc, values});
}

void parse_graph_results(struct parser *parser, uint32_t count, struct range attrs)
{
    parser->graph->attrs = attrs;
    assert(count <= parser->ids.count);
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
    assert(count == parser->ids.count);
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
    for (uint32_t i = 0; i < parser->graph->blocks.count; i++)
        if (parser->graph->blocks.at[i].kind == BLOCK_SUPERKERNEL)
            id_map_unset(&parser->superkernels, parser->graph->blocks.at[i].name);
    parser->graph = NULL;
    parser->scanner.in_body = false;
}

void parse_graph_end(struct parser *parser, uint32_t end_loc)
{
    /* Behind a syntax error, a block may be left open. */
    assert(parser->block == NONE || parser->diags->counts[SEVERITY_ERROR]);
    assert(parser_is_between(parser));
    parser->graph->end_loc = end_loc;
    forget_values(parser);
    parser->open_braces = 0;
}

static void begin_block(struct parser *parser, const struct block *block)
{
    parser->block = graph_add_block(parser->graph, block);
    graph_add_item(parser->graph, ITEM_OPEN, parser->block);
    parser->open_braces++;
}

void parse_block_begin(struct parser *parser, uint32_t loc, enum block_kind kind, uint32_t name,
                       struct range attrs)
{
    struct block block = {.kind = kind,
                          .name = name,
                          .parent = parser->block,
                          .loc = loc,
                          .end_loc = NONE,
                          .attrs = attrs};
    begin_block(parser, &block);
}

/* What a super kernel says of itself stands where it begins; what is said of the block may stand
 * here. */
static void go_on(struct parser *parser, struct block *block, uint32_t whole)
{
    const struct block *first = &parser->graph->blocks.at[whole];
    const struct module *module = parser->module;
    bool says = !attrs_are_private(module, block->attrs) || block_has_events(block);
    if (says && diag_at(parser->diags, DIAG_duplicate, locate_name(module, block->loc),
                        "'@%.*s' goes on here: its attributes and events stand where it begins",
                        NAME(module, block->name))) {
        diag_note(parser->diags, locate_name(module, first->loc), "it begins here");
        diag_help(parser->diags, "another super kernel has another name");
    }
    *block = (struct block){.kind = BLOCK_SUPERKERNEL_REST,
                            .name = NONE,
                            .whole = whole,
                            .parent = block->parent,
                            .loc = block->loc,
                            .end_loc = NONE,
                            .attrs = says ? (struct range){0, 0} : block->attrs};
}

void parse_superkernel_begin(struct parser *parser, uint32_t loc, uint32_t name, struct range attrs)
{
    struct block block = {.kind = BLOCK_SUPERKERNEL,
                          .name = name,
                          .parent = parser->block,
                          .loc = loc,
                          .end_loc = NONE,
                          .attrs = attrs};
    const struct op_parts *parts = &parser->op;
    parser->ids.count -= parts->send + parts->recv;
    const uint32_t *events = parser->ids.at + parser->ids.count;
    block.send = graph_add_refs(parser->graph, events, parts->send);
    block.recv = graph_add_refs(parser->graph, events + parts->send, parts->recv);
    parser->op = (struct op_parts){0};
    uint32_t *whole = id_map_at(&parser->superkernels, name);
    if (*whole != NONE)
        go_on(parser, &block, *whole);
    else
        *whole = parser->graph->blocks.count;
    begin_block(parser, &block);
}

void parse_block_end(struct parser *parser, uint32_t end_loc)
{
    assert(parser->block != NONE && parser_is_between(parser));
    struct block *block = &parser->graph->blocks.at[parser->block];
    block->end_loc = end_loc;
    graph_add_item(parser->graph, ITEM_CLOSE, parser->block);
    parser->block = block->parent;
    parser->open_braces--;
}

/* How the operands are written, whose values begin at `first` in the graph's refs. */
static struct range take_forms(struct parser *parser, uint32_t first)
{
    struct graph *graph = parser->graph;
    struct range range = {graph->forms.count, parser->forms.count};
    for (uint32_t i = 0; i < range.count; i++) {
        struct form form = parser->forms.at[i];
        struct operand operand = {OPERAND_LIST, form.label, {first, form.count}};
        if (form.count == FORM_NONE || form.count == FORM_VALUE) {
            operand.kind = form.count == FORM_NONE ? OPERAND_NONE : OPERAND_VALUE;
            operand.values.count = form.count == FORM_VALUE;
        }
        vec_push(&graph->forms, operand);
        first += operand.values.count;
    }
    parser->forms.count = 0;
    return range;
}

/* Whether results have no types in the text, which then follow from the op. */
static bool omits_types(const struct op_parts *parts)
{
    return parts->types == 0 && parts->results > 0 && !parts->no_types;
}

static uint32_t op_add_clauses(struct parser *parser, const struct op_parts *parts,
                               uint32_t first_operand, const uint32_t *names)
{
    bool untyped = omits_types(parts);
    if (parts->after + parts->send + parts->recv + parser->forms.count + untyped == 0)
        return 0;
    struct graph *graph = parser->graph;
    struct clauses clauses = {.forms = take_forms(parser, first_operand), .untyped = untyped};
    graph->untyped |= untyped;
    clauses.after = use_values(parser, names, parts->after);
    clauses.send = graph_add_refs(graph, names + parts->after, parts->send);
    clauses.recv = graph_add_refs(graph, names + parts->after + parts->send, parts->recv);
    vec_push(&graph->clauses, clauses);
    return graph->clauses.count - 1;
}

static void report_type_count(struct parser *parser, const char *end)
{
    const struct op_parts *parts = &parser->op;
    struct span span = {parts->loc, scanner_offset(&parser->scanner, end)};
    if (diag_at(parser->diags, DIAG_result_count, span, "%u result%s, but %u type%s",
                parts->results, parts->results == 1 ? "" : "s", parts->types,
                parts->types == 1 ? "" : "s"))
        diag_help(parser->diags,
                  "write one type for each result behind ':', in parentheses if there are several");
}

/* Without quotes, an op type begins with a capital letter. */
void parse_small_op_type(struct parser *parser, uint64_t type)
{
    const struct intern_name *name = &parser->module->names.names[token_id(type)];
    struct span span = {token_begin(type), token_begin(type) + name->size};
    if (!diag_at(parser->diags, DIAG_syntax, span,
                 "an op type that begins with a small letter needs quotes"))
        return;
    struct suggest suggest = {.wanted = name->text, .wanted_size = name->size};
    op_types_offer(op_types_of(parser->module), &suggest);
    if (suggest.best && suggest.distance == 0) /* the same but for the letters' case */
        diag_help(parser->diags, "write '%.*s(...)'", (int)suggest.best_size, suggest.best);
    else
        diag_help(parser->diags, "write '\"%.*s\"(...)'", SHOWN_NAME(name));
}

void parse_rest(struct parser *parser, uint64_t rest)
{
    struct range types = parser->known.at[token_id(rest)].types;
    parser->op.attrs = parse_known_dict(parser, rest);
    parser->op.types = types.count;
    for (uint32_t i = 0; i < types.count; i++)
        parse_push_id(parser, parser->known_types.at[types.first + i]);
}

/* Remembers what follows the operands where it ends with types, nothing stands behind them, and the
 * attributes have come before: those that differ in each op are not worth it. */
static void know_rest(struct parser *parser, const uint32_t *types, const char *end)
{
    const struct op_parts *parts = &parser->op;
    struct span span = {parts->close, scanner_offset(&parser->scanner, end)};
    if (parts->types == 0 || parts->kernel || parts->after + parts->send + parts->recv ||
        !(parts->known_attrs || parts->attrs.count == 0) || parser->diags->counts[SEVERITY_ERROR] ||
        !scanner_is_plain_rest(&parser->scanner, span))
        return;
    struct known_text known = {.attrs = parts->attrs,
                               .types = {parser->known_types.count, parts->types},
                               .begin = span.begin};
    for (uint32_t i = 0; i < parts->types; i++)
        vec_push(&parser->known_types, types[i]);
    scanner_know(&parser->scanner, span, parser->known.count);
    vec_push(&parser->known, known);
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
    op.clauses = op_add_clauses(parser, parts, op.operands.first, types + parts->types);
    expensive_assert(parser_is_between(parser));
    op.results = (struct range){parser->graph->values.count, parts->results};
    uint32_t id = parser->graph->ops.count;
    for (uint32_t i = 0; i < parts->results; i++)
        define_value(parser, results[i], i < parts->types ? types[i] : NONE, id);
    if (parts->types != parts->results && !omits_types(parts))
        report_type_count(parser, end);
    if (parts->close)
        know_rest(parser, types, end);
    graph_add_op(parser->graph, &op);
    graph_add_item(parser->graph, ITEM_OP, id);
    parser->op = (struct op_parts){0};
}

void parse_recover(struct parser *parser)
{
    parser->ids.count = 0;
    parser->attrs.count = 0;
    parser->values.count = 0;
    parser->dims.count = 0;
    parser->forms.count = 0;
    parser->op = (struct op_parts){0};
    parse_clear_dim(parser);
}

void parse_recover_item(struct parser *parser)
{
    parse_recover(parser);
    forget_values(parser);
    parse_entry_leave(parser);
}
