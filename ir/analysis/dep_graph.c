/* The order of a graph's ops is built in three steps: edges between ops that access one memory,
 * those by events of super kernels as a whole, and a walk over the text for all others. Edges are
 * produced twice: to count them by op, and to place them. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/hazards.h"
#include "ir/analysis/launch_order.h"
#include "ir/core/calls.h"
#include "ir/core/invariants.h"

#include <string.h>

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
    const struct module *module;
    const struct graph *graph;
    struct order_pairs *pairs;
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

static void add(struct memory_walker *memory_walker, uint32_t to, uint32_t from, uint32_t name)
{
    if (to != from)
        vec_push(memory_walker->pairs, (struct order_pair){to, from, name});
}

static void access_memory(struct memory_walker *memory_walker, uint32_t id, uint32_t op, bool write)
{
    struct memory *memory = &memory_walker->memories.at[id];
    if (!write) {
        /* It may read several values of one memory. */
        if (memory->readers.count && memory->readers.at[memory->readers.count - 1] == op)
            return;
        if (memory->writer != NONE)
            add(memory_walker, op, memory->writer, memory->name);
        vec_push(&memory->readers, op);
        return;
    }
    /* Readers have waited for the writer before them. */
    for (uint32_t i = 0; i < memory->readers.count; i++)
        add(memory_walker, op, memory->readers.at[i], memory->name);
    if (memory->readers.count == 0 && memory->writer != NONE)
        add(memory_walker, op, memory->writer, memory->name);
    memory->readers.count = 0;
    memory->writer = op;
}

static uint32_t new_memory(struct memory_walker *memory_walker, uint32_t name)
{
    vec_push(&memory_walker->memories, (struct memory){.writer = NONE, .name = name});
    return memory_walker->memories.count - 1;
}

static uint32_t named_memory(struct memory_walker *memory_walker, struct id_map *memories,
                             uint32_t name)
{
    uint32_t *memory = id_map_at(memories, name);
    if (*memory == NONE)
        *memory = new_memory(memory_walker, name);
    return *memory;
}

/* What the op does by graphs that it calls, which goes on until the next call; or NULL. */
static const struct op_effects *called_effects(struct memory_walker *memory_walker,
                                               const struct op *op)
{
    if (op_call_kind(op) == CALL_NONE)
        return NULL;
    effects_of_op(memory_walker->effects, op, &memory_walker->called);
    return &memory_walker->called;
}

/* Gives a value that stands for a memory its accesses. */
static uint32_t find_memory(struct memory_walker *memory_walker, uint32_t value)
{
    uint32_t *memory = id_map_at(&memory_walker->of_value, value);
    if (*memory == NONE)
        *memory = new_memory(memory_walker, memory_walker->graph->values.at[value].name);
    return *memory;
}

/* The memory of a variable that a called graph uses. This one may have it as a value. */
static uint32_t variable_memory(struct memory_walker *memory_walker, uint32_t name)
{
    uint32_t value = id_map_find(&memory_walker->variables, name);
    if (value != NONE)
        return find_memory(memory_walker, value);
    return named_memory(memory_walker, &memory_walker->of_variable, name);
}

/* Variables of this graph, which those of called graphs are one memory with. */
static void find_variables(struct memory_walker *memory_walker)
{
    for (uint32_t i = 0; i < memory_walker->graph->ops.count; i++) {
        const struct op *op = &memory_walker->graph->ops.at[i];
        uint32_t name = op->attrs.count ? op_shared_name(memory_walker->module, op) : NONE;
        if (name != NONE && op->results.count)
            id_map_set(&memory_walker->variables, name,
                       memory_of(&memory_walker->joined, op->results.first));
    }
}

/* The same for what called graphs access; returns whether that is anything. */
static bool find_called(struct memory_walker *memory_walker, const struct op *op)
{
    if (op_call_kind(op) != CALL_NONE && !memory_walker->calls) {
        find_variables(memory_walker);
        memory_walker->calls = true;
    }
    const struct op_effects *called = called_effects(memory_walker, op);
    for (uint32_t i = 0; called && i < called->written.count; i++)
        find_memory(memory_walker,
                    memory_of(&memory_walker->joined,
                              op_operands(memory_walker->graph, op)[called->written.at[i]]));
    for (uint32_t i = 0; called && i < called->shared.count; i++)
        if (called->shared.at[i].variable)
            variable_memory(memory_walker, called->shared.at[i].name);
    return called && (called->written.count || called->shared.count);
}

/* Gives each memory that is written in place its accesses; returns whether any is shared. */
static bool find_memories(struct memory_walker *memory_walker)
{
    const struct module *module = memory_walker->module;
    bool any = false;
    memories_init(&memory_walker->joined, module, memory_walker->graph);
    for (uint32_t i = 0; i < memory_walker->graph->ops.count; i++) {
        const struct op *op = &memory_walker->graph->ops.at[i];
        struct op_write write = {0};
        any |= attr_find(module, op->attrs, W_reads) || attr_find(module, op->attrs, W_writes);
        while (op_next_write(module, memory_walker->graph, op, &write)) {
            find_memory(memory_walker, memory_of(&memory_walker->joined, write.operand));
            any = true;
        }
        any |= find_called(memory_walker, op);
    }
    return any;
}

static void access_buffer(struct memory_walker *memory_walker, uint32_t op,
                          const struct attr_value *name, bool write)
{
    if (name->kind == ATTR_STRING)
        access_memory(memory_walker,
                      named_memory(memory_walker, &memory_walker->of_buffer, name->id), op, write);
}

/* `reads` or `writes`: a string, or a list of strings. */
static void access_buffers(struct memory_walker *memory_walker, uint32_t id, uint32_t key)
{
    const struct attr *attr =
        attr_find(memory_walker->module, memory_walker->graph->ops.at[id].attrs, key);
    if (!attr)
        return;
    if (attr->value.kind != ATTR_LIST) {
        access_buffer(memory_walker, id, &attr->value, key == W_writes);
        return;
    }
    for (uint32_t i = 0; i < attr->value.count; i++)
        access_buffer(memory_walker, id,
                      &memory_walker->module->attr_values.at[attr->value.first + i],
                      key == W_writes);
}

static void access_values(struct memory_walker *memory_walker, uint32_t id)
{
    const struct op *op = &memory_walker->graph->ops.at[id];
    const uint32_t *operands = op_operands(memory_walker->graph, op);
    for (uint32_t i = 0; i < op->operands.count; i++) {
        uint32_t memory =
            id_map_find(&memory_walker->of_value, memory_of(&memory_walker->joined, operands[i]));
        if (memory != NONE)
            access_memory(memory_walker, memory, id, false);
    }
    struct op_write write = {0};
    while (op_next_write(memory_walker->module, memory_walker->graph, op, &write))
        access_memory(
            memory_walker,
            id_map_get(&memory_walker->of_value, memory_of(&memory_walker->joined, write.operand)),
            id, true);
}

static void access_shared(struct memory_walker *memory_walker, uint32_t op,
                          const struct shared_effect *shared)
{
    uint32_t memory = shared->variable
                          ? variable_memory(memory_walker, shared->name)
                          : named_memory(memory_walker, &memory_walker->of_buffer, shared->name);
    access_memory(memory_walker, memory, op, shared->write);
}

/* Reads come before writes: they wait for the write before, not for the op's own. */
static void access_called(struct memory_walker *memory_walker, uint32_t id)
{
    const struct op *op = &memory_walker->graph->ops.at[id];
    const struct op_effects *called = called_effects(memory_walker, op);
    if (!called)
        return;
    for (uint32_t i = 0; i < called->written.count; i++)
        access_memory(memory_walker,
                      find_memory(memory_walker, memory_of(&memory_walker->joined,
                                                           op_operands(memory_walker->graph,
                                                                       op)[called->written.at[i]])),
                      id, true);
    for (int write = 0; write <= 1; write++)
        for (uint32_t i = 0; i < called->shared.count; i++)
            if (called->shared.at[i].write == write)
                access_shared(memory_walker, id, &called->shared.at[i]);
}

/* The edges between ops (`text`: all of them in text order) that access one memory, at least one of
 * them writing: read after write, write after read, write after write. What these imply of each
 * other is left out. What called graphs do is asked of `effects`. Appends to `pairs`. */
static void memory_edges(struct order_pairs *pairs, const struct module *module,
                         const struct graph *graph, const uint32_t *text, uint32_t n_ops,
                         struct effects *effects)
{
    struct memory_walker memory_walker = {
        .module = module, .graph = graph, .pairs = pairs, .effects = effects};
    uint32_t n_accessing = find_memories(&memory_walker) ? n_ops : 0;
    for (uint32_t i = 0; i < n_accessing; i++) {
        access_values(&memory_walker, text[i]);
        access_buffers(&memory_walker, text[i], W_reads);
        access_buffers(&memory_walker, text[i], W_writes);
        access_called(&memory_walker, text[i]);
    }
    for (uint32_t i = 0; i < memory_walker.memories.count; i++)
        vec_free(&memory_walker.memories.at[i].readers);
    vec_free(&memory_walker.memories);
    memories_free(&memory_walker.joined);
    id_map_free(&memory_walker.of_value);
    id_map_free(&memory_walker.of_buffer);
    id_map_free(&memory_walker.of_variable);
    id_map_free(&memory_walker.variables);
    op_effects_free(&memory_walker.called);
}

/* ------------------------------------------------------------ events of launches ---- */

/* The first and last op of one stream in one super kernel. */
struct ends {
    uint32_t stream, first, last;
    uint32_t next; /* those of the same super kernel on another stream, or NONE */
};

struct launch_walker {
    const struct module *module;
    const struct graph *graph;
    struct order_pairs *pairs;
    VEC(struct ends) ends;
    struct id_map ends_of; /* by block: the newest of its entries of `ends` */
    struct event_sides sends;
    struct id_map sender_of; /* index into sends, by event */
};

/* Passive ops are on no stream. */
static void find_ends(struct launch_walker *launch_walker, const uint32_t *text, uint32_t n_ops,
                      const uint32_t *stream, const uint8_t *passive)
{
    for (uint32_t i = 0; i < n_ops; i++) {
        uint32_t op = text[i];
        uint32_t block =
            graph_superkernel(launch_walker->graph, launch_walker->graph->ops.at[op].block);
        if (block == NONE || !block_has_events(&launch_walker->graph->blocks.at[block]) ||
            passive[op])
            continue;
        uint32_t *newest = id_map_at(&launch_walker->ends_of, block), at = *newest;
        while (at != NONE && launch_walker->ends.at[at].stream != stream[op])
            at = launch_walker->ends.at[at].next;
        if (at == NONE) {
            at = launch_walker->ends.count;
            vec_push(&launch_walker->ends, (struct ends){stream[op], op, op, *newest});
            *newest = at;
        }
        launch_walker->ends.at[at].last = op;
    }
}

static void add_pairs(struct launch_walker *launch_walker, uint32_t to,
                      const struct event_side *sender)
{
    if (sender->op != NONE) {
        vec_push(launch_walker->pairs, (struct order_pair){to, sender->op, sender->event});
        return;
    }
    uint32_t at = id_map_find(&launch_walker->ends_of, sender->block);
    for (; at != NONE; at = launch_walker->ends.at[at].next)
        vec_push(launch_walker->pairs,
                 (struct order_pair){to, launch_walker->ends.at[at].last, sender->event});
}

static void receive(struct launch_walker *launch_walker, const struct event_side *receiver)
{
    uint32_t send = id_map_find(&launch_walker->sender_of, receiver->event);
    if (send == NONE)
        return;
    const struct event_side *sender = &launch_walker->sends.at[send];
    if (receiver->op != NONE) {
        if (sender->op == NONE) /* between two ops ir/analysis/dep_graph.c has the edge itself */
            add_pairs(launch_walker, receiver->op, sender);
        return;
    }
    uint32_t at = id_map_find(&launch_walker->ends_of, receiver->block);
    for (; at != NONE; at = launch_walker->ends.at[at].next)
        add_pairs(launch_walker, launch_walker->ends.at[at].first, sender);
}

/* The edges by events that super kernels as a whole send (behind their last ops) or receive (before
 * their first ops): their attributes `send` and `recv`. Ops in between follow by the order of their
 * streams, in which `passive` ops have no part. Appends to `pairs`. */
static void launch_edges(struct order_pairs *pairs, const struct module *module,
                         const struct graph *graph, const uint32_t *text, uint32_t n_ops,
                         const uint32_t *stream, const uint8_t *passive)
{
    bool any = false;
    for (uint32_t b = 0; b < graph->blocks.count && !any; b++)
        any = block_has_events(&graph->blocks.at[b]);
    if (!any)
        return;
    struct launch_walker launch_walker = {.module = module, .graph = graph, .pairs = pairs};
    find_ends(&launch_walker, text, n_ops, stream, passive);
    launch_walker.sends = event_sides_find(graph, W_send);
    for (uint32_t i = 0; i < launch_walker.sends.count; i++)
        id_map_set(&launch_walker.sender_of, launch_walker.sends.at[i].event, i);
    struct event_sides recvs = event_sides_find(graph, W_recv);
    for (uint32_t i = 0; i < recvs.count; i++)
        receive(&launch_walker, &recvs.at[i]);
    vec_free(&recvs);
    vec_free(&launch_walker.ends);
    vec_free(&launch_walker.sends);
    id_map_free(&launch_walker.ends_of);
    id_map_free(&launch_walker.sender_of);
}

/* --------------------------------------------------------------------- all edges ---- */

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
                            .passive = passive_of_ops(module, graph),
                            .beyond = mem_calloc(n, 1)};
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
    find_beyond(order, graph);
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
    mem_free(order->beyond);
    mem_free(order->overlaps);
}
