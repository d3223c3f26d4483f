/* Nodes as ops: operands as their types want them, attributes, results, what they wait for. */
#include "frontend/exchange/dump/maker.h"
#include "ir/attrs.h"
#include "ir/calls.h"
#include "ir/contents.h"
#include "ir/op_types.h"
#include "ir/verify/verify.h"

/* -------------------------------------------------------------------------- clauses ---- */

static uint32_t definer(const struct dump_maker *maker, uint32_t value)
{
    return maker->out->values.at[value].def;
}

/* Adds the values that are there when a node is done: the first of each op that gives some of what
 * the node does. */
static void take_completion(struct dump_maker *maker, const struct dump_link *link)
{
    struct range given = {0, 0};
    uint32_t param = link->kind == LINK_PARAM ? maker_value(maker, link) : NONE;
    uint32_t first = maker->values.count;
    if (link->kind == LINK_NODE)
        given = maker->outputs[link->id];
    for (uint32_t i = 0; i < given.count; i++) {
        uint32_t value = maker->given.at[given.first + i];
        bool seen = value == NONE;
        for (uint32_t k = first; k < maker->values.count && !seen; k++)
            seen = definer(maker, maker->values.at[k]) == definer(maker, value);
        if (!seen)
            vec_push(&maker->values, value);
    }
    if (param != NONE)
        vec_push(&maker->values, param);
}

/* The values of the nodes that this one follows, in maker->values. */
void maker_take_order(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *graph = maker_graph(maker);
    maker->values.count = 0;
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        if (graph->inputs.at[i].kind == DUMP_CONTROL)
            take_completion(maker, &maker->links.inputs[i]);
    }
}

static bool is_ordered(const struct dump_maker *maker, uint32_t value)
{
    return value < maker->ordered.count && maker->ordered.at[value];
}

/* Whether something may write to the value, or to what it is a view of. */
static bool is_written(const struct dump_maker *maker, uint32_t value)
{
    const struct written_marks *written = &maker->inference.written;
    value = viewed_value(maker->module, maker->out, value);
    return value < written->count && written->at[value];
}

void maker_note_order(struct dump_maker *maker, uint32_t id, bool effects)
{
    const struct graph *graph = maker->out;
    const struct op *op = &graph->ops.at[id];
    bool ordered = effects || op_clauses(graph, op)->after.count > 0;
    for (uint32_t i = 0; i < op->operands.count && !ordered; i++) {
        uint32_t operand = graph->refs.at[op->operands.first + i];
        ordered = is_ordered(maker, operand) || is_written(maker, operand);
    }
    for (uint32_t i = 0; i < op->results.count && ordered; i++) {
        while (maker->ordered.count <= op->results.first + i)
            vec_push(&maker->ordered, false);
        maker->ordered.at[op->results.first + i] = true;
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
    maker_take_order(maker, node);
    clauses.after = graph_add_refs(maker->out, maker->values.at, maker->values.count);
    clauses.send = add_event(maker, node->send_event);
    clauses.recv = add_event(maker, node->recv_event);
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

static bool names_graph(const struct dump_maker *maker, const struct attr_value *value)
{
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        if (names_graph(maker, &maker->module->attr_values.at[value->first + i]))
            return true;
    return value->kind == ATTR_SYMBOL;
}

struct range maker_settled_attrs(struct dump_maker *maker, const struct dump_node *node)
{
    bool changed = false;
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr attr = maker->module->attrs.at[node->attrs.first + i];
        changed |= names_graph(maker, &attr.value);
        settle_symbols(maker, &attr.value);
        vec_push(&maker->attrs, attr);
    }
    return changed ? module_add_attrs(maker->module, maker->attrs.at, maker->attrs.count)
                   : node->attrs;
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

/* Of an operator that is not translated, its own attributes stay, unless the user wants others. */
static bool keeps(const struct dump_maker *maker, const struct dump_node *node,
                  const struct attr *attr)
{
    bool own = *maker->module->names.names[attr->key].text != '_';
    return node->dialect == DIALECT_GE || (own && maker->dump->options->keep == DUMP_KEEP_KNOWN) ||
           dump_keeps(maker->dump, NONE, attr);
}

/* The attributes of a node, and its name in the dump where none of its values has it. */
static struct range take_attrs(struct dump_maker *maker, const struct dump_node *node,
                               uint32_t shown_name)
{
    bool changed = node->name != NONE && node->name != shown_name;
    maker->attrs.count = 0;
    for (uint32_t i = 0; i < node->attrs.count; i++) {
        struct attr attr = maker->module->attrs.at[node->attrs.first + i];
        if (!keeps(maker, node, &attr)) {
            changed = true;
            continue;
        }
        changed |= settle_attr(maker, node, &attr);
        vec_push(&maker->attrs, attr);
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

uint32_t maker_output_name(struct dump_maker *maker, const struct dump_node *node, uint32_t output)
{
    const struct dump_graph *graph = maker_graph(maker);
    uint32_t own =
        output < node->outputs.count ? graph->outputs.at[node->outputs.first + output].name : NONE;
    uint32_t base = node->name == NONE ? node->type : node->name;
    if (own == NONE && output > 0)
        own = module_name_printf(maker->module, "%.*s.%u", NAME(maker->module, base), output);
    return maker_name(maker, own == NONE ? base : own);
}

static uint32_t output_type(struct dump_maker *maker, const struct dump_node *node, uint32_t output)
{
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
        uint32_t name = maker_output_name(maker, node, i);
        graph_add_value(maker->out, name, output_type(maker, node, i), op);
    }
    if (count == 0 && maker->links.used[n] & 2) {
        graph_add_value(maker->out, maker_output_name(maker, node, 0), module_token(maker->module),
                        op);
        results.count++;
    }
    return results;
}

/* Whether the dump's names of the outputs count, not that of the node. */
static bool has_own_names(const struct dump_graph *graph, const struct dump_node *node)
{
    return node->outputs.count && graph->outputs.at[node->outputs.first].name != NONE;
}

/* ------------------------------------------------------------------------------ ops ---- */

void maker_add_op(struct dump_maker *maker, uint32_t n, uint32_t block)
{
    const struct dump_node *node = maker_node(maker, n);
    struct op op = {.type = dump_foreign_type(maker->dump, node),
                    .loc = node->loc,
                    .block = block,
                    .kernel = NONE};
    maker_take_operands(maker, node);
    op.operands = graph_add_refs(maker->out, maker->values.at, maker->values.count);
    op.clauses = add_clauses(maker, node, op.operands.first);
    op.results = add_results(maker, n, node);
    uint32_t shown = op.results.count ? maker->out->values.at[op.results.first].name : NONE;
    op.attrs =
        take_attrs(maker, node, has_own_names(maker_graph(maker), node) ? node->name : shown);
    maker_give(maker, n, op.results);
    uint32_t id = graph_add_op(maker->out, &op);
    graph_add_item(maker->out, ITEM_OP, id);
    maker_note_order(maker, id,
                     op_call_kind(&op) != CALL_NONE || !op_type_find(maker->module, op.type));
    dump_infer(&maker->inference, maker->module, maker->out, &op);
    if (maker->links.used[n] & 4)
        dump_mark_written(&maker->inference, maker->out, &op);
}
