/* The order of a graph's ops is built in three steps: a walk over the text for the edges of single
 * ops, edges between ops that access one memory, and those by events of super kernels as a whole.
 * They are collected in one list, from which a stable counting sort places them by op. Passive ops
 * in super kernels then conduct edges to others, and overlapping addresses add edges: each adds to
 * the list, which is placed again. The time is linear in ops, operands and edges. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/hazards.h"
#include "ir/analysis/launch_order.h"
#include "ir/core/calls.h"
#include "ir/core/invariants.h"

#include <string.h>

struct op_edge {
    uint32_t to;
    struct order_edge edge;
};

struct op_edges {
    struct op_edge *at;
    uint32_t count, capacity;
};

struct builder {
    const struct module *module;
    const struct graph *graph;
    struct order *order;
    struct op_edges edges;         /* as they were found */
    struct id_map last_of_stream;  /* the last op so far, by label + 1, 0 for the default stream */
    struct id_map sender_of_event; /* op, by name */
    uint32_t *follower; /* per passive op that its stream waits for: the next op there that executes
                         * something, or NONE; NULL where there are none */
};

static void add_edge(struct builder *builder, uint32_t to, struct order_edge edge)
{
    assert(edge.from < builder->order->n_ops && to < builder->order->n_ops);
    vec_push(&builder->edges, ((struct op_edge){to, edge}));
}

/* An edge by a clause, which a passive op passes on to its stream. */
static void add_clause_edge(struct builder *builder, uint32_t to, uint32_t from,
                            enum order_kind kind, uint32_t name)
{
    add_edge(builder, to, (struct order_edge){from, name, kind, NONE});
    if (builder->follower && builder->follower[to] != NONE)
        add_edge(builder, builder->follower[to], (struct order_edge){from, name, kind, to});
}

/* ------------------------------------------------------------------------ events ---- */

static void add_sides(struct event_sides *sides, const struct graph *graph, struct range events,
                      uint32_t op, uint32_t block)
{
    for (uint32_t i = 0; i < events.count; i++)
        vec_push(sides, (struct event_side){graph->refs.at[events.first + i], op, block, i});
}

struct event_sides event_sides_find(const struct graph *graph, uint32_t key)
{
    struct event_sides sides = {NULL, 0, 0};
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        const struct clauses *clauses = op_clauses(graph, &graph->ops.at[id]);
        add_sides(&sides, graph, key == W_send ? clauses->send : clauses->recv, id, NONE);
    }
    for (uint32_t id = 0; id < graph->blocks.count; id++) {
        const struct block *block = &graph->blocks.at[id];
        add_sides(&sides, graph, key == W_send ? block->send : block->recv, NONE, id);
    }
    return sides;
}

/* ------------------------------------------------------------------------ memory ---- */

/* The accesses so far to one memory. */
struct memory {
    uint32_t writer; /* op of the last write, or NONE */
    uint32_t name;
    struct vec_u32 readers; /* since that write */
};

struct memory_walker {
    struct builder *builder;
    const struct module *module;
    const struct graph *graph;
    VEC(struct memory) memories;
    struct memories joined;
    struct id_map of_value;    /* by the value that stands for a memory which some op writes */
    struct id_map of_buffer;   /* memory by name */
    struct effects *effects;   /* of called graphs */
    bool calls;                /* some op calls one, and so the variables were looked for */
    struct op_effects called;  /* scratch */
    struct id_map variables;   /* by `shared_name`: the value that stands for its memory */
    struct id_map of_variable; /* memory by `shared_name`, of those without a value */
};

static void add_memory_edge(struct memory_walker *walker, uint32_t to, uint32_t from, uint32_t name)
{
    if (to != from)
        add_edge(walker->builder, to, (struct order_edge){from, name, ORDER_MEMORY, NONE});
}

static void access_memory(struct memory_walker *walker, uint32_t id, uint32_t op, bool write)
{
    struct memory *memory = &walker->memories.at[id];
    struct vec_u32 *readers = &memory->readers;
    if (!write) {
        /* It may read several values of one memory. */
        if (readers->count && readers->at[readers->count - 1] == op)
            return;
        if (memory->writer != NONE)
            add_memory_edge(walker, op, memory->writer, memory->name);
        vec_push(readers, op);
        return;
    }
    /* Readers have waited for the writer before them. */
    for (uint32_t i = 0; i < readers->count; i++)
        add_memory_edge(walker, op, readers->at[i], memory->name);
    if (readers->count == 0 && memory->writer != NONE)
        add_memory_edge(walker, op, memory->writer, memory->name);
    readers->count = 0;
    memory->writer = op;
}

/* The memory of a key, which gets its accesses where it has none. */
static uint32_t memory_at(struct memory_walker *walker, struct id_map *memories, uint32_t key,
                          uint32_t name)
{
    uint32_t *memory = id_map_at(memories, key);
    if (*memory == NONE) {
        *memory = walker->memories.count;
        vec_push(&walker->memories, (struct memory){.writer = NONE, .name = name});
    }
    return *memory;
}

/* That of a value. */
static uint32_t find_memory(struct memory_walker *walker, uint32_t value)
{
    uint32_t first = memory_of(&walker->joined, value);
    return memory_at(walker, &walker->of_value, first, walker->graph->values.at[first].name);
}

/* That of a variable that a called graph uses. This one may have it as a value. */
static uint32_t variable_memory(struct memory_walker *walker, uint32_t name)
{
    uint32_t value = id_map_find(&walker->variables, name);
    return value == NONE ? memory_at(walker, &walker->of_variable, name, name)
                         : find_memory(walker, value);
}

/* What the op does by graphs that it calls, which lasts until the next call; or NULL. Variables of
 * this graph are one memory with those of called graphs. */
static const struct op_effects *called_effects(struct memory_walker *walker, const struct op *op)
{
    const struct graph *graph = walker->graph;
    if (op_call_kind(op) == CALL_NONE)
        return NULL;
    for (uint32_t i = 0; !walker->calls && i < graph->ops.count; i++) {
        const struct op *variable = &graph->ops.at[i];
        uint32_t name = variable->attrs.count ? op_shared_name(walker->module, variable) : NONE;
        if (name != NONE && variable->results.count)
            id_map_set(&walker->variables, name, variable->results.first);
    }
    walker->calls = true;
    effects_of_op(walker->effects, op, &walker->called);
    return &walker->called;
}

/* Gives each memory that is written in place its accesses; returns whether any is shared. */
static bool find_memories(struct memory_walker *walker)
{
    const struct module *module = walker->module;
    bool any = false;
    for (uint32_t i = 0; i < walker->graph->ops.count; i++) {
        const struct op *op = &walker->graph->ops.at[i];
        struct op_write write = {0};
        any |= attr_find(module, op->attrs, W_reads) || attr_find(module, op->attrs, W_writes);
        while (op_next_write(module, walker->graph, op, &write)) {
            find_memory(walker, write.operand);
            any = true;
        }
        const struct op_effects *called = called_effects(walker, op);
        any |= called && (called->written.count || called->shared.count);
        for (uint32_t n = 0; called && n < called->written.count; n++)
            find_memory(walker, op_operands(walker->graph, op)[called->written.at[n]]);
        for (uint32_t n = 0; called && n < called->shared.count; n++)
            if (called->shared.at[n].variable)
                variable_memory(walker, called->shared.at[n].name);
    }
    return any;
}

/* `reads` or `writes`: a string, or a list of strings. */
static void access_buffers(struct memory_walker *walker, uint32_t id, uint32_t key)
{
    const struct module *module = walker->module;
    const struct attr *attr = attr_find(module, walker->graph->ops.at[id].attrs, key);
    bool list = attr && attr->value.kind == ATTR_LIST;
    const struct attr_value *names = list   ? module->attr_values.at + attr->value.first
                                     : attr ? &attr->value
                                            : NULL;
    for (uint32_t i = 0; names && i < (list ? attr->value.count : 1); i++)
        if (names[i].kind == ATTR_STRING)
            access_memory(walker, memory_at(walker, &walker->of_buffer, names[i].id, names[i].id),
                          id, key == W_writes);
}

static void access_values(struct memory_walker *walker, uint32_t id)
{
    const struct op *op = &walker->graph->ops.at[id];
    const uint32_t *operands = op_operands(walker->graph, op);
    struct op_write write = {0};
    for (uint32_t i = 0; i < op->operands.count; i++) {
        uint32_t memory = id_map_find(&walker->of_value, memory_of(&walker->joined, operands[i]));
        if (memory != NONE)
            access_memory(walker, memory, id, false);
    }
    while (op_next_write(walker->module, walker->graph, op, &write))
        access_memory(walker, find_memory(walker, write.operand), id, true);
}

/* Reads come before writes: they wait for the write before, not for the op's own. */
static void access_called(struct memory_walker *walker, uint32_t id)
{
    const struct op *op = &walker->graph->ops.at[id];
    const struct op_effects *called = called_effects(walker, op);
    for (uint32_t i = 0; called && i < called->written.count; i++) {
        uint32_t value = op_operands(walker->graph, op)[called->written.at[i]];
        access_memory(walker, find_memory(walker, value), id, true);
    }
    for (int write = 0; called && write <= 1; write++)
        for (uint32_t i = 0; i < called->shared.count; i++) {
            const struct shared_effect *shared = &called->shared.at[i];
            if (shared->write != write)
                continue;
            uint32_t memory = shared->variable ? variable_memory(walker, shared->name)
                                               : memory_at(walker, &walker->of_buffer, shared->name,
                                                           shared->name);
            access_memory(walker, memory, id, shared->write);
        }
}

/* The edges between ops that access one memory, at least one of them writing: read after write,
 * write after read, write after write. What these imply of each other is left out. What called
 * graphs do is asked of `effects`. */
static void add_memory_edges(struct builder *builder, struct effects *effects)
{
    const struct order *order = builder->order;
    struct memory_walker walker = {
        .builder = builder, .module = builder->module, .graph = builder->graph, .effects = effects};
    memories_init(&walker.joined, builder->module, builder->graph);
    uint32_t n_accessing = find_memories(&walker) ? order->n_ops : 0;
    for (uint32_t i = 0; i < n_accessing; i++) {
        access_values(&walker, order->text[i]);
        access_buffers(&walker, order->text[i], W_reads);
        access_buffers(&walker, order->text[i], W_writes);
        access_called(&walker, order->text[i]);
    }
    for (uint32_t i = 0; i < walker.memories.count; i++)
        vec_free(&walker.memories.at[i].readers);
    vec_free(&walker.memories);
    memories_free(&walker.joined);
    id_map_free(&walker.of_value);
    id_map_free(&walker.of_buffer);
    id_map_free(&walker.of_variable);
    id_map_free(&walker.variables);
    op_effects_free(&walker.called);
}

/* ------------------------------------------------------------ events of launches ---- */

/* The first and last op of one stream in one super kernel. */
struct ends {
    uint32_t stream, first, last;
    uint32_t next; /* those of the same super kernel on another stream, or NONE */
};

struct launch_walker {
    struct builder *builder;
    VEC(struct ends) ends;
    struct id_map ends_of; /* by block: the newest of its entries of `ends` */
    struct event_sides sends;
    struct id_map sender_of; /* index into sends, by event */
};

/* Passive ops are on no stream. */
static void find_ends(struct launch_walker *walker)
{
    const struct graph *graph = walker->builder->graph;
    const struct order *order = walker->builder->order;
    for (uint32_t i = 0; i < order->n_ops; i++) {
        uint32_t op = order->text[i], stream = order->stream[op];
        uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
        if (block == NONE || !block_has_events(&graph->blocks.at[block]) || order->passive[op])
            continue;
        uint32_t *newest = id_map_at(&walker->ends_of, block), at = *newest;
        while (at != NONE && walker->ends.at[at].stream != stream)
            at = walker->ends.at[at].next;
        if (at == NONE) {
            at = walker->ends.count;
            vec_push(&walker->ends, (struct ends){stream, op, op, *newest});
            *newest = at;
        }
        walker->ends.at[at].last = op;
    }
}

/* From the op that sends, or the last ones of the super kernel. */
static void add_launch_edges_to(struct launch_walker *walker, uint32_t to,
                                const struct event_side *sender)
{
    uint32_t at = sender->op == NONE ? id_map_find(&walker->ends_of, sender->block) : NONE;
    if (sender->op != NONE)
        add_clause_edge(walker->builder, to, sender->op, ORDER_EVENT, sender->event);
    for (; at != NONE; at = walker->ends.at[at].next)
        add_clause_edge(walker->builder, to, walker->ends.at[at].last, ORDER_EVENT, sender->event);
}

/* The edges by events that super kernels as a whole send (after their last ops) or receive (before
 * their first ops): their attributes `send` and `recv`. Ops in between follow by the order of their
 * streams, in which passive ops have no part. */
static void add_launch_edges(struct builder *builder)
{
    const struct graph *graph = builder->graph;
    struct launch_walker walker = {.builder = builder};
    bool any = false;
    for (uint32_t b = 0; b < graph->blocks.count && !any; b++)
        any = block_has_events(&graph->blocks.at[b]);
    if (!any)
        return;
    find_ends(&walker);
    walker.sends = event_sides_find(graph, W_send);
    for (uint32_t i = 0; i < walker.sends.count; i++)
        id_map_set(&walker.sender_of, walker.sends.at[i].event, i);
    struct event_sides recvs = event_sides_find(graph, W_recv);
    for (uint32_t i = 0; i < recvs.count; i++) {
        const struct event_side *receiver = &recvs.at[i];
        uint32_t send = id_map_find(&walker.sender_of, receiver->event);
        const struct event_side *sender = send == NONE ? NULL : &walker.sends.at[send];
        if (sender && receiver->op != NONE && sender->op == NONE)
            add_launch_edges_to(&walker, receiver->op, sender);
        if (!sender || receiver->op != NONE) /* between two ops add_op has the edge */
            continue;
        uint32_t at = id_map_find(&walker.ends_of, receiver->block);
        for (; at != NONE; at = walker.ends.at[at].next)
            add_launch_edges_to(&walker, walker.ends.at[at].first, sender);
    }
    vec_free(&recvs);
    vec_free(&walker.ends);
    vec_free(&walker.sends);
    id_map_free(&walker.ends_of);
    id_map_free(&walker.sender_of);
}

/* --------------------------------------------------------------- edges of single ops ---- */

static void add_op(struct builder *builder, uint32_t id)
{
    const struct graph *graph = builder->graph;
    const struct op *op = &graph->ops.at[id];
    const struct clauses *clauses = op_clauses(graph, op);
    uint32_t label = builder->order->stream[id];
    for (uint32_t i = 0; i < op->operands.count; i++) {
        const struct value *value = &graph->values.at[op_operands(graph, op)[i]];
        if (value->def < graph->ops.count)
            add_edge(builder, id, (struct order_edge){value->def, value->name, ORDER_DATA, NONE});
    }
    for (uint32_t i = 0; i < clauses->after.count; i++) {
        const struct value *value = &graph->values.at[graph->refs.at[clauses->after.first + i]];
        if (value->def < graph->ops.count)
            add_clause_edge(builder, id, value->def, ORDER_AFTER, value->name);
    }
    if (!builder->order->passive[id]) {
        uint32_t *last = id_map_at(&builder->last_of_stream, label == NONE ? 0 : label + 1);
        if (*last != NONE)
            add_edge(builder, id, (struct order_edge){*last, label, ORDER_STREAM, NONE});
        *last = id;
    }
    for (uint32_t i = 0; i < clauses->recv.count; i++) {
        uint32_t event = graph->refs.at[clauses->recv.first + i];
        uint32_t sender = id_map_find(&builder->sender_of_event, event);
        if (sender != NONE)
            add_clause_edge(builder, id, sender, ORDER_EVENT, event);
    }
}

/* Whether later ops of its stream wait for what the clauses of a passive op name. */
static bool holds_stream(const struct builder *builder, uint32_t id)
{
    const struct op *op = &builder->graph->ops.at[id];
    const struct clauses *clauses = op_clauses(builder->graph, op);
    return builder->order->passive[id] && clauses->after.count + clauses->recv.count > 0 &&
           !attr_flag(builder->module, op->attrs, W_off_stream);
}

static void find_followers(struct builder *builder)
{
    const struct order *order = builder->order;
    struct id_map next = {NULL, 0, 0}; /* by the label + 1, 0 for the default stream */
    bool any = false;
    for (uint32_t i = 0; i < order->n_ops && !any; i++)
        any = holds_stream(builder, i);
    if (!any)
        return;
    builder->follower = mem_calloc(order->n_ops, sizeof *builder->follower);
    for (uint32_t i = order->n_ops; i-- > 0;) {
        uint32_t op = order->text[i], label = order->stream[op];
        uint32_t *at = id_map_at(&next, label == NONE ? 0 : label + 1);
        builder->follower[op] = holds_stream(builder, op) ? *at : NONE;
        if (!order->passive[op])
            *at = op;
    }
    id_map_free(&next);
}

/* Edges by op, those of one in the order in which they were found. */
static void place_edges(struct builder *builder)
{
    struct order *order = builder->order;
    const struct op_edges *edges = &builder->edges;
    memset(order->first, 0, ((size_t)order->n_ops + 2) * sizeof *order->first);
    for (uint32_t i = 0; i < edges->count; i++)
        order->first[edges->at[i].to + 2]++;
    for (uint32_t i = 0; i < order->n_ops; i++)
        order->first[i + 2] += order->first[i + 1];
    order->edges = mem_realloc(order->edges, edges->count, sizeof *order->edges);
    for (uint32_t i = 0; i < edges->count; i++)
        order->edges[order->first[edges->at[i].to + 1]++] = edges->at[i].edge;
}

/* ---------------------------------------------------------------------- conducted order ---- */

/* Passive ops in super kernels, or in `scope none` in them, conduct edges to others. */
struct conductor {
    const struct order *order;
    struct op_edges *conducted;
    uint8_t *inside;            /* per op: it is such a one */
    struct op_edges of_passive; /* the edges of such ops from others, `to` being the passive one */
    struct range *range;        /* per op: its part of that */
    struct id_map seen;         /* by op: the last one that has an edge from it */
};

static void conduct_edge(struct conductor *c, struct op_edges *to, uint32_t op,
                         const struct order_edge *edge)
{
    uint32_t *seen = id_map_at(&c->seen, edge->from);
    if (*seen != op && edge->from != op)
        vec_push(to, ((struct op_edge){op, *edge}));
    *seen = op;
}

/* Appends the edges that an op has by passive ones inside, which come before it. */
static void conduct_to(struct conductor *c, struct op_edges *to, uint32_t op)
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

/* Finds what is conducted, from the edges so far. */
static void conduct(struct builder *builder)
{
    const struct graph *graph = builder->graph;
    uint32_t n = builder->order->n_ops;
    struct conductor c = {
        .order = builder->order, .conducted = &builder->edges, .inside = mem_calloc(n, 1)};
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        c.inside[i] = c.order->passive[i] &&
                      graph_enclosing(graph, graph->ops.at[i].block, BLOCK_SUPERKERNEL) != NONE;
        any |= c.inside[i];
    }
    if (any) {
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
}

/* Marks ops of super kernels by their edges from and to ops outside; blocks[b] has the words for
 * the ops of super kernel b that may depend on what goes on outside while it runs. */
static void find_beyond(struct order *order, const struct graph *graph)
{
    uint8_t *blocks = mem_calloc(graph->blocks.count, 1);
    uint32_t *block_of = mem_calloc(order->n_ops, sizeof *block_of);
    for (uint32_t i = 0; i < order->n_ops; i++) {
        const struct clauses *clauses = op_clauses(graph, &graph->ops.at[i]);
        block_of[i] = graph_superkernel(graph, graph->ops.at[i].block);
        if (block_of[i] != NONE)
            blocks[block_of[i]] |=
                (clauses->recv.count ? BEYOND_START : 0) | (clauses->send.count ? BEYOND_READS : 0);
    }
    for (uint32_t to = 0; to < order->n_ops; to++)
        for (uint32_t e = order->first[to]; e < order->first[to + 1]; e++) {
            uint32_t from = order->edges[e].from;
            enum order_kind kind = order->edges[e].kind;
            if (block_of[from] == block_of[to])
                continue;
            if (block_of[to] != NONE && (order_is_memory(kind) || kind == ORDER_DATA))
                order->beyond[to] |= blocks[block_of[to]] & BEYOND_START;
            if (block_of[from] != NONE && order_is_memory(kind))
                order->beyond[from] |= blocks[block_of[from]] & BEYOND_READS;
        }
    mem_free(block_of);
    mem_free(blocks);
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
                            .passive = mem_calloc(n, 1),
                            .beyond = mem_calloc(n, 1)};
    struct builder builder = {.module = module, .graph = graph, .order = order};
    struct overlaps overlaps;
    for (uint32_t id = 0; id < n; id++) {
        struct range send = op_clauses(graph, &graph->ops.at[id])->send;
        order->passive[id] = op_is_passive(module, graph, &graph->ops.at[id]);
        for (uint32_t i = 0; i < send.count; i++)
            id_map_set(&builder.sender_of_event, graph->refs.at[send.first + i], id);
    }
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t id = item_id(graph->body.at[i]);
        uint32_t block = graph_enclosing(graph, graph->ops.at[id].block, BLOCK_STREAM);
        order->stream[id] = block == NONE ? NONE : stream_label(graph->blocks.at[block].name);
        order->position[id] = order->n_ops;
        order->text[order->n_ops++] = id;
    }
    assert(order->n_ops == n); /* each op is in the body once */
    find_followers(&builder);
    for (uint32_t i = 0; i < n; i++)
        add_op(&builder, order->text[i]);
    add_memory_edges(&builder, effects);
    add_launch_edges(&builder);
    place_edges(&builder);
    uint32_t placed = builder.edges.count;
    conduct(&builder);
    if (builder.edges.count > placed)
        place_edges(&builder);
    overlaps_find(&overlaps, module, graph, order);
    for (uint32_t i = 0; i < overlaps.ordered.count; i++) {
        const struct overlap *overlap = &overlaps.ordered.at[i];
        add_edge(&builder, overlap->to, (struct order_edge){overlap->from, i, ORDER_ADDRESS, NONE});
    }
    if (overlaps.ordered.count)
        place_edges(&builder);
    overlaps_take(&overlaps, order);
    find_beyond(order, graph);
    vec_free(&builder.edges);
    id_map_free(&builder.last_of_stream);
    id_map_free(&builder.sender_of_event);
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
    mem_free(order->beyond);
    mem_free(order->overlaps);
}
