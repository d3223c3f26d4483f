#include "ir/order.h"

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
