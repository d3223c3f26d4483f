/* Nodes as ops: operands as their types want them, attributes, results, what they wait for. */
#include "frontend/exchange/dump/maker.h"
#include "frontend/exchange/dump/rest.h"
#include "ir/attr_rows.h"
#include "ir/verify/verify.h"

/* -------------------------------------------------------------------------- clauses ---- */

/* The values that stand for the nodes that this one is behind, each once, in maker->values. */
static void take_order(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *graph = maker_graph(maker);
    maker->values.count = 0;
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        struct dump_link link = maker->links.inputs[i];
        link.output = 0;
        uint32_t value =
            graph->inputs.at[i].kind == DUMP_CONTROL ? maker_value(maker, &link) : NONE;
        if (value != NONE)
            vec_push(&maker->values, value);
    }
}

static struct range add_event(struct dump_maker *maker, uint32_t event)
{
    return event == NONE ? (struct range){0, 0} : graph_add_refs(maker->out, &event, 1);
}

static uint32_t add_clauses(struct dump_maker *maker, const struct dump_node *node,
                            uint32_t first_operand)
{
    struct clauses clauses = {.forms = maker_add_forms(maker, first_operand)};
    take_order(maker, node);
    clauses.after = graph_add_refs(maker->out, maker->values.at, maker->values.count);
    clauses.send = add_event(maker, node->send_event);
    clauses.recv = add_event(maker, node->recv_event);
    if (node->rest.count)
        maker_rest_clauses(maker, node, &clauses);
    if (clauses.forms.count + clauses.after.count + clauses.send.count + clauses.recv.count == 0)
        return 0;
    vec_push(&maker->out->clauses, clauses);
    return maker->out->clauses.count - 1;
}

/* ----------------------------------------------------------------------- attributes ---- */

/* Symbols of the value become the names that the graphs have in the module; those of graphs that
 * are not there, strings. Returns whether all are there. */
static bool settle_symbols(struct dump_maker *maker, struct attr_value *value)
{
    bool known = true;
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        known &= settle_symbols(maker, &maker->module->attr_values.at[value->first + i]);
    if (value->kind != ATTR_SYMBOL)
        return known;
    uint32_t graph = maker_named_graph(maker, value);
    if (graph != NONE)
        value->id = maker->dump->graphs.at[graph].name;
    else
        value->kind = ATTR_STRING;
    return graph != NONE;
}

/* Whether the dump means something else by the attribute than skir does. */
static bool is_misread(const struct dump_maker *maker, const struct attr *attr)
{
    const struct attr_row *row = attr_row_find(OWNER_OP, attr->key);
    return row && !attr_row_takes(maker->module, row, &attr->value);
}

/* Such attributes get a key of their own. */
static bool settle_attr(struct dump_maker *maker, const struct dump_node *node, struct attr *attr)
{
    bool known = settle_symbols(maker, &attr->value);
    if (!known)
        dump_drop(maker->dump, node->loc, "a graph that '%.*s' names and the dump does not have",
                  NAME(maker->module, attr->key));
    if (known && !is_misread(maker, attr))
        return false;
    attr->key = module_name_printf(maker->module, "_%.*s", NAME(maker->module, attr->key));
    return true;
}

/* The attributes of a node, and its name in the dump where none of its values has it. */
static struct range take_attrs(struct dump_maker *maker, const struct dump_node *node,
                               uint32_t shown_name)
{
    bool changed = node->name != NONE && node->name != shown_name;
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr attr = maker->module->attrs.at[node->attrs.first + i];
        changed |= settle_attr(maker, node, &attr);
        vec_push(&maker->attrs, attr);
    }
    if (node->rest.count) {
        changed |= maker_rest_attrs(maker, node, node->rest);
        if (maker_rest_unnamed(maker, node))
            shown_name = node->name;
    }
    if (!changed)
        return node->attrs;
    if (node->name != NONE && node->name != shown_name)
        vec_push(&maker->attrs,
                 (struct attr){module_name(maker->module, "_name"), node->loc,
                               (struct attr_value){.kind = ATTR_STRING, .id = node->name}});
    return module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count);
}

/* -------------------------------------------------------------------------- results ---- */

/* The name of an output: its own, or the node's, with its number behind the first. */
static uint32_t output_name(struct dump_maker *maker, const struct dump_node *node, uint32_t output)
{
    const struct dump_graph *graph = maker_graph(maker);
    uint32_t own =
        output < node->outputs.count ? graph->outputs.at[node->outputs.first + output].name : NONE;
    uint32_t said = node->rest.count ? maker_rest_name(maker, node, output) : NONE;
    own = said == NONE ? own : said;
    uint32_t base = node->name == NONE ? node->type : node->name;
    if (own == NONE && output > 0)
        own = module_name_printf(maker->module, "%.*s.%u", NAME(maker->module, base), output);
    return maker_name(maker, own == NONE ? base : own);
}

static uint32_t output_type(struct dump_maker *maker, const struct dump_node *node, uint32_t output)
{
    uint32_t said = node->rest.count ? maker_rest_type(maker, node->rest, output) : NONE;
    if (said != NONE)
        return said;
    if (output >= node->outputs.count)
        return maker_type(maker, NONE);
    return maker_type(maker, maker_graph(maker)->outputs.at[node->outputs.first + output].type);
}

/* A token where others wait for an op that gives nothing. */
static struct range add_results(struct dump_maker *maker, uint32_t n, const struct dump_node *node)
{
    uint32_t count = maker->links.n_outputs[n], op = maker->out->ops.count;
    struct range results = {maker->out->values.count, count};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = output_name(maker, node, i);
        graph_add_value(maker->out, name, output_type(maker, node, i), op);
    }
    uint32_t token = node->rest.count ? maker_rest_token(maker, node) : NONE;
    if (token == NONE && count == 0 && maker->links.used[n] & 2)
        token = output_name(maker, node, 0);
    else if (token != NONE)
        token = maker_name(maker, token);
    if (token != NONE) {
        graph_add_value(maker->out, token, module_token(maker->module), op);
        results.count++;
    }
    return results;
}

/* Whether the dump's names of the outputs count, not that of the node. */
static bool has_own_names(const struct dump_graph *graph, const struct dump_node *node)
{
    return node->outputs.count && graph->outputs.at[node->outputs.first].name != NONE;
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

void maker_add_op(struct dump_maker *maker, uint32_t n)
{
    const struct dump_node *node = maker_node(maker, n);
    uint32_t block;
    if (maker_rest_has_block(maker, node)) {
        maker_leave_marks(maker);
        block = maker_rest_enter(maker, node);
    } else {
        maker_enter(maker, node);
        block = maker->stream_block != NONE ? maker->stream_block : maker->scope_block;
    }
    struct op op = {.type = node->type, .loc = node->loc, .block = block, .kernel = NONE};
    for (uint32_t i = 0; i < node->attrs.count; i++)
        type_captures(maker, &maker->module->attrs.at[node->attrs.first + i].value);
    maker_take_operands(maker, node);
    op.kernel = maker_rest_kernel(maker, node);
    op.operands = graph_add_refs(maker->out, maker->values.at, maker->values.count);
    op.clauses = add_clauses(maker, node, op.operands.first);
    op.results = add_results(maker, n, node);
    uint32_t shown = op.results.count ? maker->out->values.at[op.results.first].name : NONE;
    op.attrs =
        take_attrs(maker, node, has_own_names(maker_graph(maker), node) ? node->name : shown);
    maker->node_values[n] = op.results.count ? op.results.first : NONE;
    uint32_t id = graph_add_op(maker->out, &op);
    graph_add_item(maker->out, ITEM_OP, id);
    if (!dump_is_exported(maker->dump)) /* they say all types */
        dump_infer(&maker->inference, maker->module, maker->out, &op);
    if (maker->links.used[n] & 4)
        dump_mark_written(&maker->inference, maker->out, &op);
}
