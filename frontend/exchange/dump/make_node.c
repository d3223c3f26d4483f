/* Nodes as ops, in their blocks: those of other dialects as what they are translated to. */
#include "frontend/exchange/dump/maker.h"

/* The version of the operator set that a graph's nodes have; 0. */
static int64_t version_of(const struct dump *dump, uint32_t graph)
{
    const struct dump_graph *at = &dump->graphs.at[graph];
    while (at->version == 0 && at->parent != NONE)
        at = &dump->graphs.at[at->parent];
    return at->version ? at->version : dump->version;
}

/* The data inputs, in maker->values. */
static void take_operands(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *graph = maker_graph(maker);
    maker->values.count = 0;
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        uint32_t value = graph->inputs.at[i].kind == DUMP_CONTROL
                             ? NONE
                             : maker_value(maker, &maker->links.inputs[i]);
        if (graph->inputs.at[i].kind != DUMP_CONTROL)
            vec_push(&maker->values, value);
    }
    while (maker->values.count && maker->values.at[maker->values.count - 1] == NONE)
        maker->values.count--;
}

/* What something takes, or else, of a node that nothing takes anything of, the first result. */
static void take_results(const struct dump_maker *maker, uint32_t n, struct translation *t)
{
    const struct dump_node *node = maker_node(maker, n);
    const struct dump_graph *graph = maker_graph(maker);
    bool all = graph->open && !(maker->links.used[n] & 1);
    for (uint32_t i = 0; i < t->n_results; i++) {
        bool taken = maker->links.taken[n] >> (i < 63 ? i : 63) & 1;
        uint32_t type = NONE;
        if (i < node->outputs.count)
            type = graph->outputs.at[node->outputs.first + i].type;
        t->results[i] =
            (struct translation_result){taken || all || maker->links.taken[n] == 0, type, NONE};
        if (maker->links.taken[n] == 0 && !all && i > 0)
            t->results[i].wanted = false;
    }
}

static bool is_result(const struct translation *t, uint32_t value)
{
    for (uint32_t i = 0; i < t->n_results; i++)
        if (t->results[i].value == value)
            return true;
    return false;
}

/* Results have the names of the node's outputs, others one that is made of the first of these. */
static void name_values(struct dump_maker *maker, const struct dump_node *node,
                        const struct translation *t)
{
    struct value *values = maker->out->values.at;
    uint32_t base = NONE;
    for (uint32_t i = 0; i < t->n_results; i++) {
        uint32_t value = t->results[i].value;
        if (value == NONE)
            continue;
        values[value].name = maker_output_name(maker, node, i);
        base = base == NONE ? values[value].name : base;
    }
    if (base == NONE)
        base = node->name == NONE ? node->type : node->name;
    for (uint32_t v = t->first_value; v < maker->out->values.count; v++)
        if (!is_result(t, v))
            values[v].name = maker_name(
                maker, module_name_printf(maker->module, "%.*s.%.*s", NAME(maker->module, base),
                                          NAME(maker->module, values[v].name)));
}

/* Whether no other op of the node comes before this one. */
static bool is_first(const struct graph *graph, const struct translation *t, const struct op *op)
{
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (graph->refs.at[op->operands.first + i] >= t->first_value)
            return false;
    return true;
}

/* Constants have no operands: those that are ordered are added to what the node follows. */
static void take_operands_order(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *dumped = maker_graph(maker);
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        uint32_t value = dumped->inputs.at[i].kind == DUMP_CONTROL
                             ? NONE
                             : maker_value(maker, &maker->links.inputs[i]);
        if (value != NONE && value < maker->ordered.count && maker->ordered.at[value])
            vec_push(&maker->values, value);
    }
}

/* All ops that a node becomes wait for what the node waits for. */
static void order_ops(struct dump_maker *maker, const struct dump_node *node,
                      const struct translation *t)
{
    struct graph *graph = maker->out;
    bool constants = true; /* nothing else: then they keep the order for those that wait for them */
    maker_take_order(maker, node);
    for (uint32_t id = t->first_op; id < graph->ops.count; id++)
        constants &= name_is(maker->module, graph->ops.at[id].type, "Const");
    if (constants && t->dialect == DIALECT_TF) /* in ONNX nothing has effects */
        take_operands_order(maker, node);
    for (uint32_t id = t->first_op; id < graph->ops.count; id++) {
        const struct op *op = &graph->ops.at[id];
        bool constant = name_is(maker->module, op->type, "Const") && !constants;
        struct clauses clauses = *op_clauses(graph, op);
        if (maker->values.count == 0 || constant || clauses.after.count || !is_first(graph, t, op))
            continue;
        clauses.after = graph_add_refs(graph, maker->values.at, maker->values.count);
        graph_set_clauses(graph, id, clauses);
    }
}

static bool is_private(const struct module *module, const struct attr *attr)
{
    const struct intern_name *key = &module->names.names[attr->key];
    return key->size > 0 && *key->text == '_';
}

/* The last op gets what skir or the user wants of the node's attributes that are not its
 * operator's. */
static void keep_attrs(struct dump_maker *maker, const struct dump_node *node, uint32_t shown)
{
    struct op *op = &maker->out->ops.at[maker->out->ops.count - 1];
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < op->attrs.count; i++)
        vec_push(&maker->attrs, maker->module->attrs.at[op->attrs.first + i]);
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr attr = maker->module->attrs.at[node->attrs.first + i];
        if (is_private(maker->module, &attr) && dump_keeps(maker->dump, op->type, &attr))
            vec_push(&maker->attrs, attr);
    }
    if (node->name != NONE && node->name != shown)
        vec_push(&maker->attrs,
                 (struct attr){module_name(maker->module, "_name"), node->loc,
                               (struct attr_value){.kind = ATTR_STRING, .id = node->name}});
    if (maker->attrs.count > op->attrs.count)
        op->attrs = module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count);
}

/* A token where something waits for a node that gives nothing. */
static void add_token(struct dump_maker *maker, const struct dump_node *node, uint32_t n)
{
    uint32_t id = maker->out->ops.count - 1;
    if (maker->links.n_outputs[n] > 0 || !(maker->links.used[n] & 2))
        return;
    uint32_t value = graph_add_value(maker->out, maker_output_name(maker, node, 0),
                                     module_token(maker->module), id);
    struct op *op = &maker->out->ops.at[id];
    op->results =
        (struct range){op->results.count ? op->results.first : value, op->results.count + 1};
    maker_give(maker, n, (struct range){value, 1});
}

static void finish(struct dump_maker *maker, uint32_t n, const struct translation *t)
{
    const struct dump_node *node = maker_node(maker, n);
    const struct dump_graph *graph = maker_graph(maker);
    name_values(maker, node, t);
    order_ops(maker, node, t);
    maker->outputs[n] = (struct range){maker->given.count, t->n_results};
    for (uint32_t i = 0; i < t->n_results; i++)
        vec_push(&maker->given, t->results[i].value);
    bool own = node->outputs.count && graph->outputs.at[node->outputs.first].name != NONE;
    uint32_t first = t->n_results ? t->results[0].value : NONE;
    keep_attrs(maker, node,
               own             ? node->name
               : first == NONE ? NONE
                               : maker->out->values.at[first].name);
    add_token(maker, node, n);
    for (uint32_t id = t->first_op; id < maker->out->ops.count; id++) {
        graph_add_item(maker->out, ITEM_OP, id);
        maker_note_order(maker, id, false);
        if (maker->links.used[n] & 4)
            dump_mark_written(&maker->inference, maker->out, &maker->out->ops.at[id]);
    }
}

static bool translate(struct dump_maker *maker, uint32_t n, uint32_t block)
{
    const struct dump_node *node = maker_node(maker, n);
    take_operands(maker, node);
    struct translation t = {
        .translator = &maker->translator,
        .graph = maker->out,
        .written = &maker->inference.written,
        .dialect = (enum dialect)node->dialect,
        .type = node->type,
        .version = version_of(maker->dump, maker->index),
        .loc = node->loc,
        .block = block,
        .attrs = maker_settled_attrs(maker, node),
        .operands = maker->values.at,
        .n_operands = maker->values.count,
        .n_results = maker->links.n_outputs[n],
    };
    t.results = mem_calloc(t.n_results + 1, sizeof *t.results);
    take_results(maker, n, &t);
    bool done = translate_node(&t);
    uint32_t type = done ? NONE : dump_foreign_type(maker->dump, node);
    if (done)
        finish(maker, n, &t);
    else
        diag_at(maker->dump->diags, DIAG_not_translated,
                source_token(maker->dump->source, node->loc), "%.*s is not translated: %.*s",
                NAME(maker->module, type), (int)t.reason.size, t.reason.at);
    mem_free(t.results);
    translation_free(&t);
    return done;
}

/* ------------------------------------------------------------------ graphs in a node ---- */

/* The parameters of a graph within this one that stand for values of this one get their types. */
static void type_captures(struct dump_maker *maker, const struct attr_value *value)
{
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        type_captures(maker, &maker->module->attr_values.at[value->first + i]);
    uint32_t held = maker_named_graph(maker, value);
    if (held == NONE || maker->dump->graphs.at[held].parent != maker->index)
        return;
    struct dump_graph *graph = &maker->dump->graphs.at[held];
    for (uint32_t i = 0; i < graph->params.count; i++) {
        const struct dump_name *outer =
            dump_names_find(&maker->linker.values, graph->params.at[i].name);
        if (graph->params.at[i].type != NONE || !outer)
            continue;
        struct dump_link link = {outer->id == NONE ? LINK_PARAM : LINK_NODE,
                                 outer->id == NONE ? outer->output : outer->id, outer->output};
        uint32_t taken = maker_value(maker, &link);
        if (taken != NONE)
            graph->params.at[i].type = maker->out->values.at[taken].type;
    }
}

void maker_add_node(struct dump_maker *maker, uint32_t n)
{
    const struct dump_node *node = maker_node(maker, n);
    maker_enter(maker, node);
    uint32_t block = maker->stream_block != NONE ? maker->stream_block : maker->scope_block;
    for (uint32_t i = 0; i < node->attrs.count; i++)
        type_captures(maker, &maker->module->attrs.at[node->attrs.first + i].value);
    if (node->dialect == DIALECT_GE || !translate(maker, n, block))
        maker_add_op(maker, n, block);
}
