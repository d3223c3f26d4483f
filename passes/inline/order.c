/* The order of the new graph. */
#include "passes/inline/builder.h"

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
    if (send->count == 0 || stamped_find(&builder->names->taken[NAME_EVENT], send->at[0]) != 1) {
        uint32_t event = inline_unique_name(builder, &builder->names->taken[NAME_EVENT],
                                            inline_event_name(builder, op->type, W_end), "_");
        stamped_set(&builder->names->taken[NAME_EVENT], event, 1); /* made here */
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

void inline_keep_order(struct inline_builder *builder)
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
void inline_settle_events(struct inline_builder *builder)
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
