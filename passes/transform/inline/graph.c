#include "passes/transform/inline/graph.h"

#include <ctype.h>
#include <string.h>

#include "ir/analysis/op_infer.h"
#include "ir/core/calls.h"
#include "ir/support/text.h"

/* The clauses of an op of the new graph. */
struct op_lists {
    struct vec_u32 after, send, recv;
    struct range forms; /* of `next` */
};

enum name_kind { NAME_STREAM, NAME_SCOPE, NAME_EVENT, NAME_KINDS };

/* Names of the graph at work. */
struct inline_names {
    struct id_map taken_values, taken[NAME_KINDS];
    struct id_map renamed[NAME_KINDS]; /* new names by old ones, of the call at work */
};

/* A new graph, with the ops of others in the place of calls. */
struct inline_builder {
    const struct inline_plan *plan;
    struct module *module;
    const struct graph *old;
    struct graph next;
    VEC(struct op_lists) lists;      /* by op of `next` */
    VEC(uint32_t) streams;           /* the same: its label, NONE on the default stream */
    VEC(uint8_t) passive;            /* the same */
    uint32_t *values, *ops, *blocks; /* of `next`, by those of `old` */
    struct inline_ends *ends;        /* by op of `old` that is replaced: ops of `next` */
    struct inline_names names;
    struct vec_u32 scratch;
};

/* The call that is being replaced. */
struct inline_call {
    const struct op *op;
    const struct graph *graph;
    uint32_t prefix;                 /* name id: of what its graph's names begin with */
    uint32_t block;                  /* of `next`: the innermost one around it, or NONE */
    uint32_t stream;                 /* label, or NONE */
    uint32_t *values, *ops, *blocks; /* of `next`, by those of the graph */
    uint32_t *names;                 /* by value of the graph: that of a result, or NONE */
};

/* Marks what has an op of the kind that executes something before it, in an order that satisfies
 * the edges, and so what has one behind it. */
static void mark_inner(const struct order *order, const uint32_t *sorted, const uint8_t *active,
                       uint8_t *has_before, uint8_t *has_behind)
{
    uint32_t n = order->n_ops;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = order->first[sorted[i]]; e < order->first[sorted[i] + 1]; e++) {
            uint32_t from = order->edges[e].from;
            has_before[sorted[i]] |= active[from] | has_before[from];
        }
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t e = order->first[sorted[i]]; e < order->first[sorted[i] + 1]; e++)
            has_behind[order->edges[e].from] |= active[sorted[i]] | has_behind[sorted[i]];
}

void inline_ends_find(struct inline_ends *ends, const struct module *module,
                      const struct graph *graph, struct effects *effects)
{
    struct order order;
    struct order_cycle cycle;
    uint32_t n = graph->ops.count;
    uint32_t *sorted = mem_calloc(n, sizeof *sorted);
    uint8_t *marks = mem_calloc(n, 3), *active = marks, *before = marks + n, *behind = before + n;
    *ends = (struct inline_ends){{NULL, 0, 0}, {NULL, 0, 0}};
    order_init_with(&order, module, graph, effects);
    bool acyclic = order_sort(&order, sorted, &cycle);
    assert(acyclic);
    (void)acyclic;
    for (uint32_t i = 0; i < n; i++)
        active[i] = !op_is_passive(module, graph, &graph->ops.at[i]);
    mark_inner(&order, sorted, active, before, behind);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = order.text[i];
        if (active[op] && !before[op])
            vec_push(&ends->first, op);
        if (active[op] && !behind[op])
            vec_push(&ends->last, op);
    }
    order_free(&order);
    vec_free(&cycle.edges);
    mem_free(sorted);
    mem_free(marks);
}

void inline_ends_free(struct inline_ends *ends)
{
    vec_free(&ends->first);
    vec_free(&ends->last);
}

/* The ops of the new graph, and what calls become. */

static uint32_t inline_unique_name(struct inline_builder *builder, struct id_map *taken,
                                   uint32_t wanted, const char *separator)
{
    uint32_t name = wanted;
    for (unsigned n = 1; id_map_find(taken, name) != NONE; n++)
        name = module_name_printf(builder->module, "%.*s%s%u", NAME(builder->module, wanted),
                                  separator, n);
    id_map_set(taken, name, 0);
    return name;
}

/* Events are words. */
static uint32_t inline_event_name(struct inline_builder *builder, uint32_t prefix, uint32_t name)
{
    struct text text = {NULL, 0, 0};
    text_printf(&text, "%.*s_%.*s", NAME(builder->module, prefix), NAME(builder->module, name));
    for (size_t i = 0; i < text.size; i++)
        if (!isalnum((unsigned char)text.at[i]))
            text.at[i] = '_';
    uint32_t word =
        module_name_printf(builder->module, "%s%.*s", isdigit((unsigned char)text.at[0]) ? "e" : "",
                           (int)text.size, text.at);
    text_free(&text);
    return word;
}

/* What a stream, scope or event of a called graph is named in the new one. */
static uint32_t rename_in_call(struct inline_builder *builder, const struct inline_call *call,
                               enum name_kind kind, uint32_t name)
{
    struct id_map *renamed = &builder->names.renamed[kind];
    uint32_t next = id_map_find(renamed, name);
    if (next != NONE)
        return next;
    uint32_t wanted = kind == NAME_EVENT ? inline_event_name(builder, call->prefix, name)
                                         : module_name_printf(builder->module, "%.*s.%.*s",
                                                              NAME(builder->module, call->prefix),
                                                              NAME(builder->module, name));
    next = inline_unique_name(builder, &builder->names.taken[kind], wanted,
                              kind == NAME_EVENT ? "_" : ".");
    id_map_set(renamed, name, next);
    return next;
}

/* ------------------------------------------------------------------------------ ops ---- */

static uint32_t result_name(struct inline_builder *builder, const struct inline_call *call,
                            uint32_t value, uint32_t name)
{
    if (!call)
        return name;
    if (call->names[value] != NONE)
        return call->names[value];
    uint32_t wanted =
        module_name_printf(builder->module, "%.*s.%.*s", NAME(builder->module, call->prefix),
                           NAME(builder->module, name));
    return inline_unique_name(builder, &builder->names.taken_values, wanted, ".");
}

static void add_events(struct inline_builder *builder, const struct inline_call *call,
                       const struct graph *from, struct range events, struct vec_u32 *list)
{
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t event = from->refs.at[events.first + i];
        vec_push(list, call ? rename_in_call(builder, call, NAME_EVENT, event) : event);
    }
}

static void add_values(struct inline_builder *builder, const struct graph *from, struct range refs,
                       const uint32_t *values)
{
    builder->scratch.count = 0;
    for (uint32_t i = 0; i < refs.count; i++)
        vec_push(&builder->scratch, values[from->refs.at[refs.first + i]]);
}

static void add_results(struct inline_builder *builder, const struct inline_call *call,
                        const struct graph *from, const struct op *op, uint32_t *values,
                        struct op *copy)
{
    copy->results.first = builder->next.values.count;
    for (uint32_t i = 0; i < op->results.count; i++) {
        uint32_t old = op->results.first + i;
        const struct value *value = &from->values.at[old];
        values[old] = graph_add_value(&builder->next, result_name(builder, call, old, value->name),
                                      value->type, builder->next.ops.count);
    }
}

/* How the operands are written, which stand from `first` on. */
static struct range copy_forms(struct inline_builder *builder, const struct graph *from,
                               const struct op *op, uint32_t first)
{
    const struct range forms = op_clauses(from, op)->forms;
    struct range copy = {builder->next.forms.count, forms.count};
    for (uint32_t i = 0; i < forms.count; i++) {
        struct operand form = from->forms.at[forms.first + i];
        form.values.first = form.values.first - op->operands.first + first;
        vec_push(&builder->next.forms, form);
    }
    return forms.count ? copy : forms;
}

/* Adds a copy of an op; `call` is NULL for those of the graph itself. */
static uint32_t inline_add_op(struct inline_builder *builder, const struct inline_call *call,
                              const struct graph *from, const struct op *op, uint32_t block,
                              uint32_t *values)
{
    const struct clauses *clauses = op_clauses(from, op);
    struct op copy = *op;
    struct op_lists lists = {.forms = {0, 0}};
    add_values(builder, from, op->operands, values);
    copy.operands = graph_add_refs(&builder->next, builder->scratch.at, builder->scratch.count);
    lists.forms = copy_forms(builder, from, op, copy.operands.first);
    add_values(builder, from, clauses->after, values);
    for (uint32_t i = 0; i < builder->scratch.count; i++)
        if (builder->scratch.at[i] != NONE)
            vec_push(&lists.after, builder->scratch.at[i]);
    add_events(builder, call, from, clauses->send, &lists.send);
    add_events(builder, call, from, clauses->recv, &lists.recv);
    copy.block = block;
    copy.clauses = 0;
    add_results(builder, call, from, op, values, &copy);
    uint32_t id = graph_add_op(&builder->next, &copy);
    graph_add_item(&builder->next, ITEM_OP, id);
    vec_push(&builder->lists, lists);
    uint32_t stream = graph_enclosing(&builder->next, block, BLOCK_STREAM);
    vec_push(&builder->streams,
             stream == NONE ? NONE : stream_label(builder->next.blocks.at[stream].name));
    vec_push(&builder->passive, op_is_passive(builder->module, from, op));
    return id;
}

/* --------------------------------------------------------------------------- blocks ---- */

/* Numbers of streams are those of labels of one graph. */
static struct range without_id(struct inline_builder *builder, struct range attrs)
{
    struct attr *kept = mem_calloc(attrs.count, sizeof *kept);
    uint32_t count = 0;
    for (uint32_t i = 0; i < attrs.count; i++)
        if (builder->module->attrs.at[attrs.first + i].key != W_id)
            kept[count++] = builder->module->attrs.at[attrs.first + i];
    struct range range = module_add_attrs(builder->module, kept, count);
    mem_free(kept);
    return range;
}

static void rename_block(struct inline_builder *builder, const struct inline_call *call,
                         struct block *block)
{
    if (block->kind == BLOCK_SCOPE)
        block->name = rename_in_call(builder, call, NAME_SCOPE, block->name);
    if (block->kind != BLOCK_STREAM)
        return;
    if (stream_label(block->name) == NONE) {
        block->name = call->stream == NONE ? W_0 : call->stream;
        block->attrs = (struct range){0, 0};
        return;
    }
    block->name = rename_in_call(builder, call, NAME_STREAM, block->name);
    block->attrs = without_id(builder, block->attrs);
}

static struct range copy_events(struct inline_builder *builder, struct range events)
{
    const uint32_t *names = events.count ? builder->old->refs.at + events.first : NULL;
    return graph_add_refs(&builder->next, names, events.count);
}

static uint32_t inline_open_block(struct inline_builder *builder, const struct inline_call *call,
                                  const struct block *model, uint32_t parent)
{
    struct block block = *model;
    block.parent = parent;
    if (call) {
        rename_block(builder, call, &block);
    } else {
        block.send = copy_events(builder, block.send);
        block.recv = copy_events(builder, block.recv);
        if (block.kind == BLOCK_SUPERKERNEL_REST)
            block.whole = builder->blocks[block.whole];
    }
    uint32_t id = graph_add_block(&builder->next, &block);
    graph_add_item(&builder->next, ITEM_OPEN, id);
    return id;
}

/* ---------------------------------------------------------------------------- calls ---- */

/* A value that the graph returns has the name of the result that it becomes. */
static void name_results(struct inline_builder *builder, struct inline_call *call)
{
    for (uint32_t i = 0; i < call->graph->values.count; i++)
        call->names[i] = NONE;
    for (uint32_t i = 0; i < call->graph->returns.count; i++) {
        uint32_t value = call->graph->returns.at[i];
        if (value >= call->graph->n_params && call->names[value] == NONE)
            call->names[value] = builder->old->values.at[call->op->results.first + i].name;
    }
}

/* A token has no value in its place; keep_order makes what waits for it wait. */
static void take_results(struct inline_builder *builder, const struct inline_call *call)
{
    for (uint32_t i = 0; i < call->op->results.count; i++)
        builder->values[call->op->results.first + i] = NONE;
    for (uint32_t i = 0; i < call->graph->returns.count; i++) {
        uint32_t returned = call->graph->returns.at[i], value = call->values[returned];
        uint32_t result = call->op->results.first + i;
        builder->values[result] = value;
        if (returned >= call->graph->n_params)
            builder->next.values.at[value].type =
                merged_type(builder->module, builder->next.values.at[value].type,
                            builder->old->values.at[result].type);
    }
}

static void add_body(struct inline_builder *builder, struct inline_call *call)
{
    const struct graph *graph = call->graph;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        enum item_kind kind = item_kind(graph->body.at[i]);
        const uint32_t around = kind == ITEM_OP     ? graph->ops.at[id].block
                                : kind == ITEM_OPEN ? graph->blocks.at[id].parent
                                                    : NONE;
        uint32_t block = around == NONE ? call->block : call->blocks[around];
        if (kind == ITEM_OP)
            call->ops[id] =
                inline_add_op(builder, call, graph, &graph->ops.at[id], block, call->values);
        else if (kind == ITEM_OPEN)
            call->blocks[id] = inline_open_block(builder, call, &graph->blocks.at[id], block);
        else
            graph_add_item(&builder->next, ITEM_CLOSE, call->blocks[id]);
    }
}

static void map_ends(struct inline_builder *builder, const struct inline_call *call, uint32_t op)
{
    const struct inline_ends *ends = builder->plan->ends[builder->plan->callee[op]];
    for (uint32_t i = 0; i < ends->first.count; i++)
        vec_push(&builder->ends[op].first, call->ops[ends->first.at[i]]);
    for (uint32_t i = 0; i < ends->last.count; i++)
        vec_push(&builder->ends[op].last, call->ops[ends->last.at[i]]);
}

/* Adds what an op of the old graph calls. */
static void inline_replace_call(struct inline_builder *builder, uint32_t id)
{
    const struct op *op = &builder->old->ops.at[id];
    const struct graph *graph = &builder->module->graphs.at[builder->plan->callee[id]];
    const uint32_t *operands = op_operands(builder->old, op);
    struct inline_call call = {
        .op = op,
        .graph = graph,
        .prefix = op->results.count ? builder->old->values.at[op->results.first].name : graph->name,
        .block = op->block == NONE ? NONE : builder->blocks[op->block],
        .stream = builder->plan->order->stream[id],
        .values = mem_calloc(graph->values.count, sizeof *call.values),
        .ops = mem_calloc(graph->ops.count, sizeof *call.ops),
        .blocks = mem_calloc(graph->blocks.count, sizeof *call.blocks),
        .names = mem_calloc(graph->values.count, sizeof *call.names)};
    for (int kind = 0; kind < NAME_KINDS; kind++)
        id_map_free(&builder->names.renamed[kind]);
    for (uint32_t i = 0; i < graph->n_params; i++)
        call.values[i] = builder->values[operands[i]];
    name_results(builder, &call);
    add_body(builder, &call);
    take_results(builder, &call);
    map_ends(builder, &call, id);
    mem_free(call.values);
    mem_free(call.ops);
    mem_free(call.blocks);
    mem_free(call.names);
}

/* The order of the new graph. */

/* ---------------------------------------------------------------------------- order ---- */

static bool has(const struct vec_u32 *list, uint32_t id)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i] == id)
            return true;
    return false;
}

static bool is_result_of(const struct inline_builder *builder, uint32_t value, uint32_t op)
{
    return builder->next.values.at[value].def == op;
}

/* Whether what is written of the two orders them already. */
static bool is_ordered(const struct inline_builder *builder, uint32_t from, uint32_t to)
{
    const struct graph *next = &builder->next;
    const struct op_lists *a = &builder->lists.at[from], *b = &builder->lists.at[to];
    if (builder->streams.at[from] == builder->streams.at[to] && !builder->passive.at[from] &&
        !builder->passive.at[to])
        return true;
    const struct op *op = &next->ops.at[to];
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (is_result_of(builder, op_operands(next, op)[i], from))
            return true;
    for (uint32_t i = 0; i < b->after.count; i++)
        if (is_result_of(builder, b->after.at[i], from))
            return true;
    for (uint32_t i = 0; i < b->recv.count; i++)
        if (has(&a->send, b->recv.at[i]))
            return true;
    return false;
}

/* By `after` where there is a value, else by an event, one for all that wait. */
static void add_order(struct inline_builder *builder, uint32_t from, uint32_t to)
{
    const struct op *op = &builder->next.ops.at[from];
    if (from == to || is_ordered(builder, from, to))
        return;
    if (op->results.count) {
        vec_push(&builder->lists.at[to].after, op->results.first);
        return;
    }
    struct vec_u32 *send = &builder->lists.at[from].send;
    if (send->count == 0 || id_map_find(&builder->names.taken[NAME_EVENT], send->at[0]) != 1) {
        uint32_t event = inline_unique_name(builder, &builder->names.taken[NAME_EVENT],
                                            inline_event_name(builder, op->type, W_end), "_");
        id_map_set(&builder->names.taken[NAME_EVENT], event, 1); /* made here */
        vec_push(send, event);
        uint32_t last = send->at[send->count - 1];
        send->at[send->count - 1] = send->at[0];
        send->at[0] = last;
    }
    vec_push(&builder->lists.at[to].recv, send->at[0]);
}

/* The ops of the new graph that are the first, or the last, of one of the old. */
static struct vec_u32 ends_of(const struct inline_builder *builder, uint32_t *op, bool last)
{
    const struct inline_plan *plan = builder->plan;
    if (plan->callee[*op] != NONE)
        return last ? builder->ends[*op].last : builder->ends[*op].first;
    *op = builder->ops[*op];
    return (struct vec_u32){op, 1, 1};
}

/* Whether the edge is by an event that a super kernel sends or receives, which stays. */
static bool is_of_launch(const struct inline_builder *builder, const struct order_edge *edge)
{
    return edge->kind == ORDER_EVENT &&
           (id_map_find(builder->plan->launch_sends, edge->name) != NONE ||
            id_map_find(builder->plan->launch_receives, edge->name) != NONE);
}

/* What executes nothing and waits for nothing need not be waited for. */
static bool is_leaf(const struct inline_builder *builder, uint32_t op)
{
    const struct order *order = builder->plan->order;
    return order->first[op] == order->first[op + 1] &&
           op_is_passive(builder->module, builder->old, &builder->old->ops.at[op]);
}

/* Whether other edges imply it: without super kernels no launches order anything beside them. */
static bool is_implied(const struct inline_builder *builder, const struct order_edge *edge)
{
    if (edge->kind != ORDER_ADDRESS)
        return false;
    for (uint32_t i = 0; i < builder->old->blocks.count; i++)
        if (builder->old->blocks.at[i].kind == BLOCK_SUPERKERNEL)
            return false;
    return true;
}

static void keep_edge(struct inline_builder *builder, const struct order_edge *edge, uint32_t to)
{
    uint32_t from_op = edge->from, to_op = to;
    struct vec_u32 froms = ends_of(builder, &from_op, true), tos = ends_of(builder, &to_op, false);
    if (is_of_launch(builder, edge) || is_leaf(builder, edge->from) || is_implied(builder, edge))
        return;
    for (uint32_t i = 0; i < froms.count; i++)
        for (uint32_t j = 0; j < tos.count; j++)
            add_order(builder, froms.at[i], tos.at[j]);
}

/* A call of which nothing is executed is over as soon as what it waits for is. */
static void pass_on(struct inline_builder *builder, uint32_t op)
{
    const struct order *order = builder->plan->order;
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
        uint32_t from = order->edges[e].from;
        if (is_leaf(builder, from))
            continue;
        struct vec_u32 froms = ends_of(builder, &from, true);
        for (uint32_t i = 0; i < froms.count; i++)
            if (!has(&builder->ends[op].last, froms.at[i]))
                vec_push(&builder->ends[op].last, froms.at[i]);
    }
}

/* Makes the order of the new graph that of the old one. */
static void inline_keep_order(struct inline_builder *builder)
{
    const struct order *order = builder->plan->order;
    const uint32_t *callee = builder->plan->callee;
    uint32_t *sorted = mem_calloc(order->n_ops, sizeof *sorted);
    struct order_cycle cycle;
    bool acyclic = order_sort(order, sorted, &cycle);
    assert(acyclic);
    (void)acyclic;
    for (uint32_t i = 0; i < order->n_ops; i++) {
        uint32_t op = sorted[i];
        if (callee[op] != NONE && builder->ends[op].first.count == 0)
            pass_on(builder, op);
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            if (callee[op] != NONE || callee[order->edges[e].from] != NONE)
                keep_edge(builder, &order->edges[e], op);
    }
    vec_free(&cycle.edges);
    mem_free(sorted);
}

/* --------------------------------------------------------------------------- events ---- */

/* Who is left of an event when calls are replaced. */
enum { EVENT_SENT = 1, EVENT_RECEIVED = 2 };

static uint32_t sides_of(const struct id_map *sides, uint32_t event)
{
    uint32_t found = id_map_find(sides, event);
    return found == NONE ? 0 : found;
}

static void add_side(struct id_map *sides, uint32_t event, uint32_t side)
{
    id_map_set(sides, event, sides_of(sides, event) | side);
}

static void mark_events(const struct inline_builder *builder, struct id_map *sides)
{
    const struct graph *old = builder->old;
    for (uint32_t i = 0; i < old->ops.count; i++) {
        const struct clauses *clauses = op_clauses(old, &old->ops.at[i]);
        if (builder->plan->callee[i] != NONE)
            continue;
        for (uint32_t n = 0; n < clauses->send.count; n++)
            add_side(sides, old->refs.at[clauses->send.first + n], EVENT_SENT);
        for (uint32_t n = 0; n < clauses->recv.count; n++)
            add_side(sides, old->refs.at[clauses->recv.first + n], EVENT_RECEIVED);
    }
    const struct id_map *sent = builder->plan->launch_sends;
    for (uint32_t i = id_map_next(sent, 0); i != NONE; i = id_map_next(sent, i + 1))
        add_side(sides, i, EVENT_SENT);
    const struct id_map *received = builder->plan->launch_receives;
    for (uint32_t i = id_map_next(received, 0); i != NONE; i = id_map_next(received, i + 1))
        add_side(sides, i, EVENT_RECEIVED);
}

/* Events of calls with super kernels become those of the ops that take their place. */
static void hand_on_events(struct inline_builder *builder, uint32_t op, struct id_map *sides)
{
    const struct graph *old = builder->old;
    const struct clauses *clauses = op_clauses(old, &old->ops.at[op]);
    const struct inline_ends *ends = &builder->ends[op];
    for (uint32_t n = 0; n < clauses->send.count; n++) {
        uint32_t event = old->refs.at[clauses->send.first + n];
        if (id_map_find(builder->plan->launch_receives, event) == NONE)
            continue;
        vec_push(&builder->lists.at[ends->last.at[0]].send, event);
        add_side(sides, event, EVENT_SENT);
    }
    for (uint32_t n = 0; n < clauses->recv.count; n++) {
        uint32_t event = old->refs.at[clauses->recv.first + n];
        if (id_map_find(builder->plan->launch_sends, event) == NONE)
            continue;
        for (uint32_t i = 0; i < ends->first.count; i++)
            vec_push(&builder->lists.at[ends->first.at[i]].recv, event);
        add_side(sides, event, EVENT_RECEIVED);
    }
}

static void drop_halves(struct vec_u32 *events, const struct id_map *sides)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < events->count; i++)
        if (sides_of(sides, events->at[i]) == (EVENT_SENT | EVENT_RECEIVED))
            events->at[kept++] = events->at[i];
    events->count = kept;
}

/* Events of the graph that calls sent or received are left out: keep_order makes what is needed. */
static void inline_settle_events(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    struct id_map sides = {NULL, 0, 0};
    mark_events(builder, &sides);
    for (uint32_t i = 0; i < old->ops.count; i++)
        if (builder->plan->callee[i] != NONE)
            hand_on_events(builder, i, &sides);
    for (uint32_t i = 0; i < old->ops.count; i++) {
        if (builder->plan->callee[i] != NONE)
            continue;
        drop_halves(&builder->lists.at[builder->ops[i]].send, &sides);
        drop_halves(&builder->lists.at[builder->ops[i]].recv, &sides);
    }
    id_map_free(&sides);
}

static void take_names(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    struct inline_names *names = &builder->names;
    for (uint32_t i = 0; i < old->values.count; i++)
        id_map_set(&names->taken_values, old->values.at[i].name, 0);
    for (uint32_t i = 0; i < old->blocks.count; i++) {
        const struct block *block = &old->blocks.at[i];
        if (block->kind == BLOCK_STREAM)
            id_map_set(&names->taken[NAME_STREAM], block->name, 0);
        else if (block->kind == BLOCK_SCOPE)
            id_map_set(&names->taken[NAME_SCOPE], block->name, 0);
    }
    for (uint32_t i = 1; i < old->clauses.count; i++) {
        struct range send = old->clauses.at[i].send;
        for (uint32_t n = 0; n < send.count; n++)
            id_map_set(&names->taken[NAME_EVENT], old->refs.at[send.first + n], 0);
    }
    const struct id_map *sends = builder->plan->launch_sends;
    for (uint32_t i = id_map_next(sends, 0); i != NONE; i = id_map_next(sends, i + 1))
        id_map_set(&names->taken[NAME_EVENT], i, 0);
}

static void begin(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    struct graph *next = &builder->next;
    vec_push(&next->clauses, (struct clauses){.after = {0, 0}});
    builder->values = mem_calloc(old->values.count, sizeof *builder->values);
    builder->ops = mem_calloc(old->ops.count, sizeof *builder->ops);
    builder->blocks = mem_calloc(old->blocks.count, sizeof *builder->blocks);
    builder->ends = mem_calloc(old->ops.count, sizeof *builder->ends);
    for (uint32_t i = 0; i < old->n_params; i++)
        builder->values[i] =
            graph_add_value(next, old->values.at[i].name, old->values.at[i].type, DEF_PARAM);
    take_names(builder);
}

static void add_items(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    for (uint32_t i = 0; i < old->body.count; i++) {
        uint32_t id = item_id(old->body.at[i]), parent;
        switch (item_kind(old->body.at[i])) {
        case ITEM_OP:
            if (builder->plan->callee[id] != NONE) {
                inline_replace_call(builder, id);
                break;
            }
            parent = old->ops.at[id].block;
            builder->ops[id] =
                inline_add_op(builder, NULL, old, &old->ops.at[id],
                              parent == NONE ? NONE : builder->blocks[parent], builder->values);
            break;
        case ITEM_OPEN:
            parent = old->blocks.at[id].parent;
            builder->blocks[id] =
                inline_open_block(builder, NULL, &old->blocks.at[id],
                                  parent == NONE ? NONE : builder->blocks[parent]);
            break;
        case ITEM_CLOSE: graph_add_item(&builder->next, ITEM_CLOSE, builder->blocks[id]); break;
        }
    }
}

/* The new ids of blocks that have ops, NONE for those of which calls have left nothing. */
static uint32_t *number_blocks(const struct graph *next)
{
    uint32_t *ids = mem_calloc(next->blocks.count, sizeof *ids), count = 0;
    for (uint32_t i = 0; i < next->ops.count; i++)
        for (uint32_t b = next->ops.at[i].block; b != NONE && !ids[b];
             b = next->blocks.at[b].parent)
            ids[b] = 1;
    for (uint32_t i = 0; i < next->blocks.count; i++)
        if (ids[i] && next->blocks.at[i].kind == BLOCK_SUPERKERNEL_REST)
            ids[next->blocks.at[i].whole] = 1;
    for (uint32_t i = 0; i < next->blocks.count; i++)
        ids[i] = ids[i] ? count++ : NONE;
    return ids;
}

static void drop_empty_blocks(struct graph *next)
{
    uint32_t *ids = number_blocks(next), n_blocks = 0, n_items = 0;
    for (uint32_t i = 0; i < next->blocks.count; i++) {
        struct block block = next->blocks.at[i];
        if (ids[i] == NONE)
            continue;
        block.parent = block.parent == NONE ? NONE : ids[block.parent];
        if (block.kind == BLOCK_SUPERKERNEL_REST)
            block.whole = ids[block.whole];
        next->blocks.at[n_blocks++] = block;
    }
    for (uint32_t i = 0; i < next->body.count; i++) {
        uint64_t item = next->body.at[i];
        if (item_kind(item) == ITEM_OP)
            next->body.at[n_items++] = item;
        else if (ids[item_id(item)] != NONE)
            next->body.at[n_items++] = item_make(item_kind(item), ids[item_id(item)]);
    }
    for (uint32_t i = 0; i < next->ops.count; i++)
        if (next->ops.at[i].block != NONE)
            next->ops.at[i].block = ids[next->ops.at[i].block];
    next->blocks.count = n_blocks;
    next->body.count = n_items;
    mem_free(ids);
}

static void write_clauses(struct inline_builder *builder)
{
    struct graph *next = &builder->next;
    for (uint32_t i = 0; i < next->ops.count; i++) {
        struct op_lists *lists = &builder->lists.at[i];
        if (lists->after.count + lists->send.count + lists->recv.count + lists->forms.count == 0)
            continue;
        struct clauses clauses = {.after =
                                      graph_add_refs(next, lists->after.at, lists->after.count),
                                  .send = graph_add_refs(next, lists->send.at, lists->send.count),
                                  .recv = graph_add_refs(next, lists->recv.at, lists->recv.count),
                                  .forms = lists->forms};
        next->ops.at[i].clauses = next->clauses.count;
        vec_push(&next->clauses, clauses);
    }
}

/* Puts the new parts in the place of the old. */
static void finish(struct inline_builder *builder, struct graph *graph)
{
    struct graph *next = &builder->next, old = *graph;
    for (uint32_t i = 0; i < graph->returns.count; i++)
        graph->returns.at[i] = builder->values[graph->returns.at[i]];
    memcpy(&graph->values, &next->values, sizeof next->values);
    memcpy(&graph->ops, &next->ops, sizeof next->ops);
    memcpy(&graph->blocks, &next->blocks, sizeof next->blocks);
    memcpy(&graph->clauses, &next->clauses, sizeof next->clauses);
    memcpy(&graph->forms, &next->forms, sizeof next->forms);
    memcpy(&graph->body, &next->body, sizeof next->body);
    graph->refs = next->refs;
    vec_free(&old.values);
    vec_free(&old.ops);
    vec_free(&old.blocks);
    vec_free(&old.clauses);
    vec_free(&old.forms);
    vec_free(&old.body);
    vec_free(&old.refs);
}

static void release(struct inline_builder *builder, uint32_t n_old_ops)
{
    for (uint32_t i = 0; i < builder->lists.count; i++) {
        vec_free(&builder->lists.at[i].after);
        vec_free(&builder->lists.at[i].send);
        vec_free(&builder->lists.at[i].recv);
    }
    for (uint32_t i = 0; i < n_old_ops; i++)
        inline_ends_free(&builder->ends[i]);
    vec_free(&builder->lists);
    vec_free(&builder->streams);
    vec_free(&builder->passive);
    vec_free(&builder->scratch);
    id_map_free(&builder->names.taken_values);
    for (int kind = 0; kind < NAME_KINDS; kind++) {
        id_map_free(&builder->names.taken[kind]);
        id_map_free(&builder->names.renamed[kind]);
    }
    mem_free(builder->values);
    mem_free(builder->ops);
    mem_free(builder->blocks);
    mem_free(builder->ends);
}

void inline_graph(const struct inline_plan *plan, struct graph *graph)
{
    struct inline_builder builder = {.plan = plan, .module = plan->module, .old = graph};
    uint32_t n_old_ops = graph->ops.count;
    begin(&builder);
    add_items(&builder);
    inline_settle_events(&builder);
    inline_keep_order(&builder);
    write_clauses(&builder);
    drop_empty_blocks(&builder.next);
    finish(&builder, graph);
    refine_result_types(builder.module, graph);
    release(&builder, n_old_ops);
}
