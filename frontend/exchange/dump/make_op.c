/* Nodes as ops: operands as their types want them, attributes, results, what they wait for. */
#include "frontend/exchange/dump/maker.h"
#include "ir/attr_rows.h"
#include "ir/op_types.h"
#include "ir/verify/verify.h"

/* ------------------------------------------------------------------------- operands ---- */

/* The data inputs of a node as operands: values in maker->values, forms in maker->forms. */
static void take_inputs(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *graph = maker_graph(maker);
    maker->values.count = maker->forms.count = 0;
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        const struct dump_input *input = &graph->inputs.at[i];
        if (input->kind == DUMP_CONTROL)
            continue;
        uint32_t value = maker_value(maker, &maker->links.inputs[i]);
        struct operand form = {OPERAND_NONE, input->label, {maker->values.count, 0}};
        if (input->listed)
            form.kind = OPERAND_LIST;
        else if (value != NONE)
            form.kind = OPERAND_VALUE;
        if (value != NONE) {
            vec_push(&maker->values, value);
            form.values.count = 1;
        }
        vec_push(&maker->forms, form);
    }
}

/* Lists that stand next to each other under one label are one. */
static void join_lists(struct dump_maker *maker)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand form = maker->forms.at[i];
        struct operand *last = kept ? &maker->forms.at[kept - 1] : NULL;
        if (last && form.kind == OPERAND_LIST && last->kind == OPERAND_LIST &&
            form.label == last->label)
            last->values.count += form.values.count;
        else
            maker->forms.at[kept++] = form;
    }
    maker->forms.count = kept;
}

/* The only operand of the type that is a list, or NONE. */
static uint32_t only_list(const struct op_type *type)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < type->n_operands; i++) {
        if (type->slots[i].presence != OP_LISTED)
            continue;
        if (found != NONE)
            return NONE;
        found = i;
    }
    return found;
}

/* Operands from `first` on become one list; absent ones are not in it. */
static void make_list(struct dump_maker *maker, uint32_t first, uint32_t count)
{
    struct operand list = {OPERAND_LIST, NONE, {0, 0}};
    for (uint32_t i = first; i < first + count; i++) {
        if (i == first)
            list.values.first = maker->forms.at[i].values.first;
        list.values.count += maker->forms.at[i].values.count;
    }
    if (count == 0)
        list.values.first =
            first < maker->forms.count ? maker->forms.at[first].values.first : maker->values.count;
    vec_reserve(&maker->forms, 1);
    memmove(maker->forms.at + first + 1, maker->forms.at + first + count,
            (maker->forms.count - first - count) * sizeof *maker->forms.at);
    maker->forms.at[first] = list;
    maker->forms.count += 1 - count;
}

/* What a type has as a list, a dump has as so many inputs: those that are left over when the
 * operands before and behind the list have theirs. */
static void group_list(struct dump_maker *maker, const struct op_type *type)
{
    uint32_t at = only_list(type), n = maker->forms.count;
    for (uint32_t i = 0; i < n; i++)
        if (maker->forms.at[i].kind == OPERAND_LIST)
            return;
    if (at == NONE || at > n)
        return;
    uint32_t behind = type->n_operands - at - 1;
    make_list(maker, at, n - at > behind ? n - at - behind : 0);
}

/* The number of the form with a label, from `from` on; NONE. */
static uint32_t find_label(const struct dump_maker *maker, const char *label)
{
    for (uint32_t i = 0; i < maker->forms.count; i++)
        if (maker->forms.at[i].label != NONE &&
            name_is(maker->module, maker->forms.at[i].label, label))
            return i;
    return NONE;
}

/* Whether each operand has a label that is one of the type's. */
static bool is_labelled(const struct dump_maker *maker, const struct op_type *type)
{
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        if (maker->forms.at[i].label == NONE)
            return false;
        const struct intern_name *label = &maker->module->names.names[maker->forms.at[i].label];
        if (op_type_operand(type, label->text, label->size) == NONE)
            return false;
    }
    return maker->forms.count > 0;
}

/* Operands that the dump names are put into the order of the type, and what is not there becomes
 * `none`, but behind the last one that is. */
static void order_labelled(struct dump_maker *maker, const struct op_type *type)
{
    uint32_t given = maker->forms.count, end = 0;
    for (uint32_t slot = 0; slot < type->n_operands; slot++) {
        uint32_t at = find_label(maker, type->slots[slot].name);
        bool listed = type->slots[slot].presence == OP_LISTED;
        struct operand form = {listed ? OPERAND_LIST : OPERAND_NONE, NONE, {0, 0}};
        if (at != NONE && at < given) {
            form = maker->forms.at[at];
            form.kind = listed ? OPERAND_LIST : form.kind;
            end = given + slot + 1;
        }
        vec_push(&maker->forms, form);
    }
    if (end == 0)
        end = given;
    memmove(maker->forms.at, maker->forms.at + given, (end - given) * sizeof *maker->forms.at);
    maker->forms.count = end - given;
}

/* Values stand in the order of their operands. */
static void gather_values(struct dump_maker *maker)
{
    uint32_t count = maker->values.count;
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand *form = &maker->forms.at[i];
        uint32_t first = form->values.first;
        form->values.first = maker->values.count - count;
        for (uint32_t k = 0; k < form->values.count; k++) {
            uint32_t value = maker->values.at[first + k];
            vec_push(&maker->values, value);
        }
    }
    uint32_t n = maker->values.count - count;
    if (n) /* else there may be no memory */
        memmove(maker->values.at, maker->values.at + count, n * sizeof *maker->values.at);
    maker->values.count = n;
}

static void spread_lists(struct dump_maker *maker)
{
    for (uint32_t i = 0; i < maker->forms.count; i++)
        if (maker->forms.at[i].kind == OPERAND_LIST)
            maker->forms.at[i].kind =
                maker->forms.at[i].values.count ? OPERAND_VALUE : OPERAND_NONE;
}

static void shape_operands(struct dump_maker *maker, uint32_t name)
{
    const struct op_type *type = op_type_find(maker->module, name);
    if (type && op_type_spreads(type))
        spread_lists(maker);
    else
        join_lists(maker);
    if (type && is_labelled(maker, type) && !op_type_spreads(type))
        order_labelled(maker, type);
    else if (type && !op_type_spreads(type))
        group_list(maker, type);
    gather_values(maker);
}

static bool is_plain(const struct dump_maker *maker)
{
    for (uint32_t i = 0; i < maker->forms.count; i++)
        if (maker->forms.at[i].kind != OPERAND_VALUE)
            return false;
    return true;
}

/* How the operands are written, whose values begin at `first` in the graph's refs. Their labels are
 * not: kernels decide about those. */
static struct range add_forms(struct dump_maker *maker, uint32_t first)
{
    struct graph *graph = maker->out;
    struct range range = {graph->forms.count, 0};
    if (is_plain(maker))
        return (struct range){0, 0};
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand form = maker->forms.at[i];
        form.label = NONE;
        form.values.first += first;
        vec_push(&graph->forms, form);
    }
    range.count = maker->forms.count;
    return range;
}

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
    struct clauses clauses = {.forms = add_forms(maker, first_operand)};
    take_order(maker, node);
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
        uint32_t name = output_name(maker, node, i);
        graph_add_value(maker->out, name, output_type(maker, node, i), op);
    }
    if (count == 0 && maker->links.used[n] & 2) {
        graph_add_value(maker->out, output_name(maker, node, 0), module_token(maker->module), op);
        results.count = 1;
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
    maker_enter(maker, node);
    uint32_t block = maker->stream_block != NONE ? maker->stream_block : maker->scope_block;
    struct op op = {.type = node->type, .loc = node->loc, .block = block, .kernel = NONE};
    for (uint32_t i = 0; i < node->attrs.count; i++)
        type_captures(maker, &maker->module->attrs.at[node->attrs.first + i].value);
    take_inputs(maker, node);
    shape_operands(maker, node->type);
    op.operands = graph_add_refs(maker->out, maker->values.at, maker->values.count);
    op.clauses = add_clauses(maker, node, op.operands.first);
    op.results = add_results(maker, n, node);
    uint32_t shown = op.results.count ? maker->out->values.at[op.results.first].name : NONE;
    op.attrs =
        take_attrs(maker, node, has_own_names(maker_graph(maker), node) ? node->name : shown);
    maker->node_values[n] = op.results.count ? op.results.first : NONE;
    uint32_t id = graph_add_op(maker->out, &op);
    graph_add_item(maker->out, ITEM_OP, id);
}
