#include "ir/analysis/launch_order.h"

/* ----------------------------------------------------------------------------- sorting ---- */

/* Depth-first: an op follows as soon as what it needs is placed. Where text order satisfies the
 * edges, the result is text order. */
bool order_sort(const struct order *order, uint32_t *sorted, struct order_cycle *cycle)
{
    enum { NEW, ON_STACK, PLACED };
    uint32_t n = order->n_ops, count = 0;
    uint32_t *next = mem_calloc(n, sizeof *next); /* per op: how many of its edges were looked at */
    uint8_t *state = mem_calloc(n, 1);
    struct vec_u32 stack = {NULL, 0, 0};
    *cycle = (struct order_cycle){NONE, {NULL, 0, 0}};
    for (uint32_t i = 0; i < n && cycle->op == NONE; i++) {
        if (state[order->text[i]] != NEW)
            continue;
        vec_push(&stack, order->text[i]);
        while (stack.count && cycle->op == NONE) {
            uint32_t op = stack.at[stack.count - 1], edge = order->first[op] + next[op];
            state[op] = ON_STACK;
            if (edge == order->first[op + 1]) {
                state[op] = PLACED;
                sorted[count++] = op;
                stack.count--;
                continue;
            }
            uint32_t from = order->edges[edge].from;
            next[op]++;
            if (state[from] == NEW)
                vec_push(&stack, from);
            else if (state[from] == ON_STACK)
                cycle->op = from;
        }
    }
    assert(cycle->op != NONE || count == n);
    /* The part of the stack from the op to its top is the cycle. */
    uint32_t at = stack.count;
    while (cycle->op != NONE && stack.at[--at] != cycle->op)
        ;
    for (; at < stack.count; at++)
        vec_push(&cycle->edges, order->first[stack.at[at]] + next[stack.at[at]] - 1);
    mem_free(next);
    mem_free(state);
    vec_free(&stack);
    return cycle->op == NONE;
}

uint32_t *order_sorted(const struct order *order)
{
    struct order_cycle cycle;
    uint32_t *sorted = mem_calloc(order->n_ops, sizeof *sorted);
    bool acyclic = order_sort(order, sorted, &cycle);
    assert(acyclic);
    (void)acyclic;
    vec_free(&cycle.edges);
    return sorted;
}

/* ----------------------------------------------------------------------------- lists ---- */

/* The places of each list, where slots are fixed in the order of the text. */
static void find_grouped(struct members *members, const struct module *module,
                         const struct graph *graph, const struct order *order)
{
    uint32_t n_blocks = graph->blocks.count, *fill = mem_calloc(n_blocks, sizeof *fill);
    members->grouped = mem_calloc(members->first[n_blocks], sizeof *members->grouped);
    for (uint32_t b = 0; b < n_blocks; b++)
        for (uint32_t i = members->first[b]; i < members->first[b + 1]; i++)
            members->grouped[i] = i - members->first[b];
    for (uint32_t i = 0; i < order->n_ops; i++) {
        uint32_t op = order->text[i], block = graph_superkernel(graph, graph->ops.at[op].block);
        if (members->index[op] != NONE &&
            attr_flag(module, graph->blocks.at[block].attrs, W_fixed_slots))
            members->grouped[members->first[block] + fill[block]++] = members->index[op];
    }
    mem_free(fill);
}

void members_init(struct members *members, const struct module *module, const struct graph *graph,
                  const struct order *order)
{
    uint32_t n_blocks = graph->blocks.count, n_ops = order->n_ops;
    assert(n_ops == graph->ops.count);
    uint32_t *sorted = order_sorted(order);
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
