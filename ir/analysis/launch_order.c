#define _GNU_SOURCE /* qsort_r */
#include "ir/analysis/launch_order.h"

/* ----------------------------------------------------------------------------- sorting ---- */

/* Depth-first: an op follows as soon as what it needs stands. Where text order satisfies the edges,
 * the result is text order. */
struct sorter {
    const struct order *order;
    uint32_t *next; /* per op: how many of its edges were looked at */
    uint8_t *state; /* 0 new, 1 on the stack, 2 placed */
    struct vec_u32 stack;
};

/* The edge by which an op of the stack needs the next one. */
static uint32_t current_edge(const struct sorter *sorter, uint32_t op)
{
    assert(sorter->next[op] > 0 && sorter->state[op] == 1);
    return sorter->order->first[op] + sorter->next[op] - 1;
}

/* The part of the stack from `op` to its top is the cycle. */
static void take_cycle(struct sorter *sorter, uint32_t op, struct order_cycle *cycle)
{
    uint32_t i = 0;
    while (sorter->stack.at[i] != op)
        i++;
    assert(i < sorter->stack.count); /* whose state is 1 is on the stack */
    cycle->op = op;
    for (; i < sorter->stack.count; i++)
        vec_push(&cycle->edges, current_edge(sorter, sorter->stack.at[i]));
}

static bool place_from(struct sorter *sorter, uint32_t root, uint32_t *sorted, uint32_t *count,
                       struct order_cycle *cycle)
{
    const struct order *order = sorter->order;
    vec_push(&sorter->stack, root);
    sorter->state[root] = 1;
    while (sorter->stack.count) {
        uint32_t op = sorter->stack.at[sorter->stack.count - 1];
        if (order->first[op] + sorter->next[op] == order->first[op + 1]) {
            sorter->state[op] = 2;
            sorted[(*count)++] = op;
            sorter->stack.count--;
            continue;
        }
        uint32_t from = order->edges[order->first[op] + sorter->next[op]++].from;
        if (sorter->state[from] == 1) {
            take_cycle(sorter, from, cycle);
            return false;
        }
        if (sorter->state[from] == 0) {
            sorter->state[from] = 1;
            vec_push(&sorter->stack, from);
        }
    }
    return true;
}

bool order_sort(const struct order *order, uint32_t *sorted, struct order_cycle *cycle)
{
    struct sorter sorter = {.order = order,
                            .next = mem_calloc(order->n_ops, sizeof(uint32_t)),
                            .state = mem_calloc(order->n_ops, 1)};
    bool acyclic = true;
    uint32_t count = 0;
    *cycle = (struct order_cycle){NONE, {NULL, 0, 0}};
    for (uint32_t i = 0; i < order->n_ops && acyclic; i++)
        if (sorter.state[order->text[i]] == 0)
            acyclic = place_from(&sorter, order->text[i], sorted, &count, cycle);
    assert(!acyclic || count == order->n_ops);
    mem_free(sorter.next);
    mem_free(sorter.state);
    vec_free(&sorter.stack);
    return acyclic;
}

/* ----------------------------------------------------------------------------- lists ---- */

/* All ops of the graph in list order. */
static uint32_t *sorted_ops(const struct order *order)
{
    struct order_cycle cycle;
    uint32_t *sorted = mem_calloc(order->n_ops, sizeof *sorted);
    bool acyclic = order_sort(order, sorted, &cycle);
    assert(acyclic); /* the verifier refuses cycles */
    (void)acyclic;
    vec_free(&cycle.edges);
    return sorted;
}

/* What says where places of a list stand in the text. */
struct places {
    const uint32_t *ops, *position;
};

static int compare_places(const void *a, const void *b, void *user)
{
    const struct places *places = user;
    uint32_t x = places->position[places->ops[*(const uint32_t *)a]];
    uint32_t y = places->position[places->ops[*(const uint32_t *)b]];
    return x < y ? -1 : x > y;
}

static void find_grouped(struct members *members, const struct module *module,
                         const struct graph *graph, const struct order *order)
{
    uint32_t n_blocks = graph->blocks.count;
    members->grouped = mem_calloc(members->first[n_blocks], sizeof *members->grouped);
    for (uint32_t b = 0; b < n_blocks; b++) {
        uint32_t first = members->first[b], count = members->first[b + 1] - first;
        struct places places = {members->ops + first, order->position};
        for (uint32_t i = 0; i < count; i++)
            members->grouped[first + i] = i;
        if (count && attr_flag(module, graph->blocks.at[b].attrs, W_fixed_slots))
            qsort_r(members->grouped + first, count, sizeof *members->grouped, compare_places,
                    &places);
    }
}

void members_init(struct members *members, const struct module *module, const struct graph *graph,
                  const struct order *order)
{
    uint32_t n_blocks = graph->blocks.count, n_ops = order->n_ops;
    assert(n_ops == graph->ops.count);
    uint32_t *sorted = sorted_ops(order);
    uint32_t *block_of = mem_calloc(n_ops, sizeof *block_of);
    uint32_t *fill = mem_calloc(n_blocks, sizeof *fill);
    members->first = mem_calloc((size_t)n_blocks + 1, sizeof *members->first);
    members->ops = mem_calloc(n_ops, sizeof *members->ops);
    members->index = mem_calloc(n_ops, sizeof *members->index);
    for (uint32_t i = 0; i < n_ops; i++) {
        block_of[i] = order->passive[sorted[i]]
                          ? NONE
                          : graph_superkernel(graph, graph->ops.at[sorted[i]].block);
        members->index[sorted[i]] = block_of[i] == NONE ? NONE : fill[block_of[i]]++;
        if (block_of[i] != NONE)
            members->first[block_of[i] + 1]++;
    }
    for (uint32_t b = 0; b < n_blocks; b++)
        members->first[b + 1] += members->first[b];
    for (uint32_t i = 0; i < n_ops; i++)
        if (block_of[i] != NONE)
            members->ops[members->first[block_of[i]] + members->index[sorted[i]]] = sorted[i];
    assert(members->first[n_blocks] <= n_ops);
    find_grouped(members, module, graph, order);
    mem_free(fill);
    mem_free(block_of);
    mem_free(sorted);
}

void members_free(struct members *members)
{
    mem_free(members->first);
    mem_free(members->ops);
    mem_free(members->index);
    mem_free(members->grouped);
}

/* ----------------------------------------------------------------------------- gates ---- */

static uint32_t superkernel_of(const struct graph *graph, uint32_t op)
{
    return graph_superkernel(graph, graph->ops.at[op].block);
}

static void add_pair(struct gates *gates, uint32_t to, uint32_t from)
{
    vec_push(&gates->pairs, ((struct gates_pair){to, from}));
}

/* Gates stand before the first op of theirs that executes something. Among the ops of a super
 * kernel others may stand that run beside it. */
static void place_gates(struct gates *gates)
{
    const struct order *base = gates->base;
    struct order *order = &gates->order;
    for (uint32_t i = 0; i < base->n_ops; i++) {
        uint32_t block = superkernel_of(gates->graph, base->text[i]);
        bool passive = base->passive[base->text[i]];
        uint32_t *gate = block == NONE ? NULL : id_map_at(&gates->of_block, block);
        if (gate && *gate == NONE && !passive) {
            *gate = base->n_ops + gates->blocks.count;
            order->text[order->n_ops++] = *gate;
            gates->members[gates->blocks.count] = (struct range){i, 0};
            vec_push(&gates->blocks, block);
        }
        order->text[order->n_ops++] = base->text[i];
        if (gate && *gate != NONE) {
            struct range *members = &gates->members[*gate - base->n_ops];
            members->count = i + 1 - members->first;
        }
    }
}

/* Puts a node after all of a launch. */
static void follow(struct gates *gates, uint32_t node, const struct gates_launch *launch)
{
    const struct order *base = gates->base;
    if (launch->op != NONE) {
        add_pair(gates, node, launch->op);
        return;
    }
    struct range members = gates->members[launch->gate - base->n_ops];
    uint32_t block = gates->blocks.at[launch->gate - base->n_ops];
    add_pair(gates, node, launch->gate);
    for (uint32_t i = members.first; i < members.first + members.count; i++)
        if (!base->passive[base->text[i]] && superkernel_of(gates->graph, base->text[i]) == block)
            add_pair(gates, node, base->text[i]);
}

static void add_launch(struct gates *gates, uint32_t node, uint32_t stream,
                       struct gates_launch launch)
{
    uint32_t *last = id_map_at(&gates->last, stream == NONE ? 0 : stream + 1);
    if (*last != NONE)
        follow(gates, node, &gates->launches.at[*last]);
    *last = gates->launches.count;
    vec_push(&gates->launches, launch);
}

static void link_node(struct gates *gates, uint32_t node)
{
    const struct order *base = gates->base;
    if (node >= base->n_ops) {
        uint32_t block = gates->blocks.at[node - base->n_ops];
        uint32_t label = attr_string(gates->module, gates->graph->blocks.at[block].attrs, W_stream);
        add_launch(gates, node, label == NONE ? NONE : stream_label(label),
                   (struct gates_launch){NONE, node});
        return;
    }
    uint32_t block = superkernel_of(gates->graph, node);
    if (base->passive[node])
        return;
    if (block == NONE)
        add_launch(gates, node, base->stream[node], (struct gates_launch){node, NONE});
    else
        add_pair(gates, node, id_map_get(&gates->of_block, block));
}

/* The edges of the base, and the pairs. */
static void join_edges(struct gates *gates)
{
    const struct order *base = gates->base;
    struct order *order = &gates->order;
    uint32_t n = order->n_ops, *fill = mem_calloc((size_t)n + 1, sizeof *fill);
    for (uint32_t i = 0; i < n; i++)
        order->first[i + 1] = i < base->n_ops ? base->first[i + 1] - base->first[i] : 0;
    for (uint32_t i = 0; i < gates->pairs.count; i++)
        order->first[gates->pairs.at[i].to + 1]++;
    for (uint32_t i = 0; i < n; i++)
        order->first[i + 1] += order->first[i];
    order->edges = mem_calloc(order->first[n], sizeof *order->edges);
    for (uint32_t i = 0; i < base->n_ops; i++)
        for (uint32_t e = base->first[i]; e < base->first[i + 1]; e++)
            order->edges[order->first[i] + fill[i]++] = base->edges[e];
    for (uint32_t i = 0; i < gates->pairs.count; i++) {
        uint32_t to = gates->pairs.at[i].to;
        order->edges[order->first[to] + fill[to]++].from = gates->pairs.at[i].from;
    }
    mem_free(fill);
}

void gates_init(struct gates *gates, const struct module *module, const struct graph *graph,
                const struct order *base)
{
    size_t room = (size_t)base->n_ops + graph->blocks.count + 1;
    *gates = (struct gates){.base = base, .module = module, .graph = graph};
    gates->order.first = mem_calloc(room + 1, sizeof(uint32_t));
    gates->order.text = mem_calloc(room, sizeof(uint32_t));
    gates->members = mem_calloc(room, sizeof *gates->members);
    gates->order.stream = base->stream;
    gates->order.passive = base->passive;
    place_gates(gates);
    for (uint32_t i = 0; i < gates->order.n_ops; i++)
        link_node(gates, gates->order.text[i]);
    join_edges(gates);
}

void gates_free(struct gates *gates)
{
    mem_free(gates->order.first);
    mem_free(gates->order.text);
    mem_free(gates->order.edges);
    mem_free(gates->members);
    id_map_free(&gates->of_block);
    id_map_free(&gates->last);
    vec_free(&gates->blocks);
    vec_free(&gates->pairs);
    vec_free(&gates->launches);
}
