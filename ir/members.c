#define _GNU_SOURCE /* qsort_r */
#include "ir/members.h"

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
