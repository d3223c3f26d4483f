#include "passes/inline/graph.h"

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
