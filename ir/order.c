#include "ir/order.h"
#include "ir/order_pairs.h"
#include "ir/overlaps.h"
#include "ir/sound.h"

#include <string.h>

static uint8_t *passive_of_ops(const struct module *module, const struct graph *graph)
{
    uint8_t *passive = mem_calloc(graph->ops.count, 1);
    for (uint32_t i = 0; i < graph->ops.count; i++)
        passive[i] = op_is_passive(module, graph, &graph->ops.at[i]);
    return passive;
}

/* What passive ops that stand in a super kernel, or in `scope none` in it, conduct to others of it:
 * `edge` is one of op `to`. */
struct conducted_edge {
    uint32_t to;
    struct order_edge edge;
};

struct conducted {
    struct conducted_edge *at;
    uint32_t count, capacity;
};

/* Edges are produced twice: once to count them per op, once to place them. */
struct builder {
    const struct graph *graph;
    struct order *order;
    uint32_t *fill;                /* per op: where its next edge goes; NULL while counting */
    struct id_map last_of_stream;  /* the last op so far, by label */
    uint32_t last_of_default;      /* the same of the default stream */
    struct id_map sender_of_event; /* op, by name */
    struct order_pairs memory, launches;
    struct conducted conducted;
    uint32_t *follower; /* per passive op that its stream waits for: the next op there that executes
                         * something, or NONE; NULL where there are none */
    uint32_t by;        /* of the edges at work */
    struct overlaps overlaps;
};

static void add_edge(struct builder *builder, uint32_t to, uint32_t from, enum order_kind kind,
                     uint32_t name)
{
    assert(from < builder->order->n_ops && to < builder->order->n_ops);
    if (builder->fill)
        builder->order->edges[builder->fill[to]++] =
            (struct order_edge){from, name, kind, builder->by};
    else
        builder->order->first[to + 1]++;
}

/* An edge by a clause, which a passive op passes on to its stream. */
static void add_clause_edge(struct builder *builder, uint32_t to, uint32_t from,
                            enum order_kind kind, uint32_t name)
{
    add_edge(builder, to, from, kind, name);
    if (!builder->follower || builder->follower[to] == NONE)
        return;
    builder->by = to;
    add_edge(builder, builder->follower[to], from, kind, name);
    builder->by = NONE;
}

static void add_values(struct builder *builder, uint32_t op, struct range refs,
                       enum order_kind kind)
{
    const struct graph *graph = builder->graph;
    for (uint32_t i = 0; i < refs.count; i++) {
        const struct value *value = &graph->values.at[graph->refs.at[refs.first + i]];
        if (value->def >= graph->ops.count)
            continue;
        if (kind == ORDER_AFTER)
            add_clause_edge(builder, op, value->def, kind, value->name);
        else
            add_edge(builder, op, value->def, kind, value->name);
    }
}

static void add_stream_edge(struct builder *builder, uint32_t id)
{
    uint32_t label = builder->order->stream[id];
    uint32_t *last =
        label == NONE ? &builder->last_of_default : id_map_at(&builder->last_of_stream, label);
    if (*last != NONE)
        add_edge(builder, id, *last, ORDER_STREAM, label);
    *last = id;
}

static void add_op(struct builder *builder, uint32_t id)
{
    const struct graph *graph = builder->graph;
    const struct op *op = &graph->ops.at[id];
    const struct clauses *clauses = op_clauses(graph, op);
    add_values(builder, id, op->operands, ORDER_DATA);
    add_values(builder, id, clauses->after, ORDER_AFTER);
    if (!builder->order->passive[id])
        add_stream_edge(builder, id);
    for (uint32_t i = 0; i < clauses->recv.count; i++) {
        uint32_t event = graph->refs.at[clauses->recv.first + i];
        uint32_t sender = id_map_find(&builder->sender_of_event, event);
        if (sender != NONE)
            add_clause_edge(builder, id, sender, ORDER_EVENT, event);
    }
}

static void add_all(struct builder *builder)
{
    id_map_clear(&builder->last_of_stream);
    builder->last_of_default = NONE;
    for (uint32_t i = 0; i < builder->order->n_ops; i++)
        add_op(builder, builder->order->text[i]);
    for (uint32_t i = 0; i < builder->memory.count; i++) {
        const struct order_pair *pair = &builder->memory.at[i];
        add_edge(builder, pair->to, pair->from, ORDER_MEMORY, pair->name);
    }
    for (uint32_t i = 0; i < builder->launches.count; i++) {
        const struct order_pair *pair = &builder->launches.at[i];
        add_clause_edge(builder, pair->to, pair->from, ORDER_EVENT, pair->name);
    }
    for (uint32_t i = 0; i < builder->conducted.count; i++) {
        const struct conducted_edge *c = &builder->conducted.at[i];
        builder->by = c->edge.by;
        add_edge(builder, c->to, c->edge.from, c->edge.kind, c->edge.name);
    }
    builder->by = NONE;
    for (uint32_t i = 0; i < builder->overlaps.ordered.count; i++) {
        const struct overlap *overlap = &builder->overlaps.ordered.at[i];
        add_edge(builder, overlap->to, overlap->from, ORDER_ADDRESS, i);
    }
}

static void find_senders(struct builder *builder)
{
    const struct graph *graph = builder->graph;
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        struct range send = op_clauses(graph, &graph->ops.at[id])->send;
        for (uint32_t i = 0; i < send.count; i++)
            id_map_set(&builder->sender_of_event, graph->refs.at[send.first + i], id);
    }
}

/* Whether later ops of its stream wait for what the clauses of a passive op name. */
static bool holds_stream(const struct builder *builder, const struct module *module, uint32_t id)
{
    const struct op *op = &builder->graph->ops.at[id];
    const struct clauses *clauses = op_clauses(builder->graph, op);
    return builder->order->passive[id] && clauses->after.count + clauses->recv.count > 0 &&
           !attr_flag(module, op->attrs, W_off_stream);
}

static void find_followers(struct builder *builder, const struct module *module)
{
    const struct order *order = builder->order;
    struct id_map next = {NULL, 0, 0}; /* by the label + 1, 0 for the default stream */
    bool any = false;
    for (uint32_t i = 0; i < order->n_ops && !any; i++)
        any = holds_stream(builder, module, i);
    if (!any)
        return;
    builder->follower = mem_calloc(order->n_ops, sizeof *builder->follower);
    for (uint32_t i = order->n_ops; i-- > 0;) {
        uint32_t op = order->text[i], label = order->stream[op];
        uint32_t *at = id_map_at(&next, label == NONE ? 0 : label + 1);
        builder->follower[op] = holds_stream(builder, module, op) ? *at : NONE;
        if (!order->passive[op])
            *at = op;
    }
    id_map_free(&next);
}

/* Text order, and the stream of every op, in one walk over the body. */
static void walk_body(struct order *order, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t id = item_id(graph->body.at[i]);
        uint32_t block = graph_enclosing(graph, graph->ops.at[id].block, BLOCK_STREAM);
        order->stream[id] = block == NONE ? NONE : stream_label(graph->blocks.at[block].name);
        order->position[id] = order->n_ops;
        order->text[order->n_ops++] = id;
    }
    assert(order->n_ops == graph->ops.count); /* each op stands in the body once */
}

/* Whether the edges that were counted for each op are those that were placed. */
static bool all_placed(const struct builder *builder)
{
    for (uint32_t i = 0; i < builder->order->n_ops; i++)
        if (builder->fill[i] != builder->order->first[i + 1])
            return false;
    return true;
}

static void build(struct builder *builder)
{
    struct order *order = builder->order;
    uint32_t n = order->n_ops;
    memset(order->first, 0, ((size_t)n + 2) * sizeof *order->first);
    builder->fill = NULL;
    add_all(builder);
    for (uint32_t i = 0; i < n; i++)
        order->first[i + 1] += order->first[i];
    mem_free(order->edges);
    order->edges = mem_calloc(order->first[n], sizeof *order->edges);
    builder->fill = mem_realloc(NULL, n, sizeof(uint32_t));
    memcpy(builder->fill, order->first, n * sizeof(uint32_t));
    add_all(builder);
    expensive_assert(all_placed(builder));
    mem_free(builder->fill);
}

/* ---------------------------------------------------------------------- conducted order ---- */

/* Of the passive ops that stand in super kernels. */
struct conductor {
    const struct order *order;
    struct conducted *conducted;
    uint8_t *inside;             /* per op: it is such a one */
    struct conducted of_passive; /* the edges of such ops from others, `to` being the passive one */
    struct range *range;         /* per op: its part of that */
    struct id_map seen;          /* by op: the last one that has an edge from it */
};

static void conduct_edge(struct conductor *c, struct conducted *to, uint32_t op,
                         const struct order_edge *edge)
{
    uint32_t *seen = id_map_at(&c->seen, edge->from);
    if (*seen != op && edge->from != op)
        vec_push(to, ((struct conducted_edge){op, *edge}));
    *seen = op;
}

/* Appends the edges that an op has by passive ones inside, which come before it. */
static void conduct_to(struct conductor *c, struct conducted *to, uint32_t op)
{
    for (uint32_t e = c->order->first[op]; e < c->order->first[op + 1]; e++) {
        uint32_t from = c->order->edges[e].from;
        if (!c->inside[from])
            continue;
        for (uint32_t i = 0; i < c->range[from].count; i++) {
            struct order_edge edge = c->of_passive.at[c->range[from].first + i].edge;
            edge.by = from;
            conduct_edge(c, to, op, &edge);
        }
    }
}

static void conduct_op(struct conductor *c, uint32_t op)
{
    if (!c->inside[op]) {
        conduct_to(c, c->conducted, op);
        return;
    }
    /* In a chain each has what the one before it has. */
    uint32_t first = c->order->first[op];
    if (c->order->first[op + 1] == first + 1 && c->inside[c->order->edges[first].from]) {
        c->range[op] = c->range[c->order->edges[first].from];
        return;
    }
    c->range[op].first = c->of_passive.count;
    for (uint32_t e = c->order->first[op]; e < c->order->first[op + 1]; e++)
        if (!c->inside[c->order->edges[e].from])
            conduct_edge(c, &c->of_passive, op, &c->order->edges[e]);
    conduct_to(c, &c->of_passive, op);
    c->range[op].count = c->of_passive.count - c->range[op].first;
}

static bool find_inside(struct conductor *c, const struct graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < c->order->n_ops; i++) {
        if (!c->order->passive[i] ||
            graph_enclosing(graph, graph->ops.at[i].block, BLOCK_SUPERKERNEL) == NONE)
            continue;
        c->inside[i] = 1;
        any = true;
    }
    return any;
}

/* Finds what is conducted, from the edges so far; returns whether there is anything. */
static bool conduct(struct builder *builder)
{
    uint32_t n = builder->order->n_ops;
    struct conductor c = {
        .order = builder->order, .conducted = &builder->conducted, .inside = mem_calloc(n, 1)};
    if (find_inside(&c, builder->graph)) {
        struct order_cycle cycle;
        uint32_t *sorted = mem_calloc(n, sizeof *sorted);
        c.range = mem_calloc(n, sizeof *c.range);
        if (order_sort(c.order, sorted, &cycle)) /* else the verifier refuses it */
            for (uint32_t i = 0; i < n; i++)
                conduct_op(&c, sorted[i]);
        vec_free(&cycle.edges);
        vec_free(&c.of_passive);
        id_map_free(&c.seen);
        mem_free(c.range);
        mem_free(sorted);
    }
    mem_free(c.inside);
    return builder->conducted.count > 0;
}

void order_init(struct order *order, const struct module *module, const struct graph *graph)
{
    struct effects *effects = effects_new(module);
    order_init_with(order, module, graph, effects);
    effects_free(effects);
}

void order_init_with(struct order *order, const struct module *module, const struct graph *graph,
                     struct effects *effects)
{
    uint32_t n = graph->ops.count;
    expensive_assert(graph_is_sound(module, graph));
    *order = (struct order){.first = mem_calloc((size_t)n + 2, sizeof(uint32_t)),
                            .stream = mem_calloc(n, sizeof(uint32_t)),
                            .position = mem_calloc(n, sizeof(uint32_t)),
                            .text = mem_calloc(n, sizeof(uint32_t)),
                            .passive = passive_of_ops(module, graph)};
    walk_body(order, graph);
    struct builder builder = {.graph = graph, .order = order, .by = NONE};
    find_senders(&builder);
    find_followers(&builder, module);
    memory_edges(&builder.memory, module, graph, order->text, order->n_ops, effects);
    launch_edges(&builder.launches, module, graph, order->text, order->n_ops, order->stream,
                 order->passive);
    build(&builder);
    if (conduct(&builder))
        build(&builder);
    overlaps_find(&builder.overlaps, module, graph, order);
    if (builder.overlaps.ordered.count)
        build(&builder);
    overlaps_take(&builder.overlaps, order);
    id_map_free(&builder.last_of_stream);
    id_map_free(&builder.sender_of_event);
    vec_free(&builder.memory);
    vec_free(&builder.launches);
    vec_free(&builder.conducted);
    mem_free(builder.follower);
}

bool order_follows(const struct order *order, uint32_t from, uint32_t to)
{
    assert(from < order->n_ops && to < order->n_ops);
    if (order->stream[from] == order->stream[to])
        return true;
    for (uint32_t e = order->first[to]; e < order->first[to + 1]; e++)
        if (order->edges[e].from == from)
            return true;
    return false;
}

bool order_is_chain(const struct order *order, const uint32_t *ops, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (!order_follows(order, ops[i - 1], ops[i]))
            return false;
    return true;
}

void order_free(struct order *order)
{
    mem_free(order->first);
    mem_free(order->edges);
    mem_free(order->stream);
    mem_free(order->position);
    mem_free(order->text);
    mem_free(order->passive);
    mem_free(order->overlaps);
}
