#include "ir/called_accesses.h"
#include "ir/calls.h"
#include "ir/order.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->address.buffer != y->address.buffer)
        return x->address.buffer < y->address.buffer ? -1 : 1;
    return (x->address.low > y->address.low) - (x->address.low < y->address.low);
}

/* Accesses of one kind that touch become one. */
static void merge(struct accesses *accesses, uint32_t first)
{
    uint32_t kept = first;
    if (first == accesses->count)
        return;
    qsort(accesses->at + first, accesses->count - first, sizeof *accesses->at, compare);
    for (uint32_t i = first + 1; i < accesses->count; i++) {
        struct access *last = &accesses->at[kept], *next = &accesses->at[i];
        if (last->kind != next->kind || last->address.buffer != next->address.buffer ||
            last->address.high < next->address.low)
            accesses->at[++kept] = *next;
        else if (last->address.high < next->address.high)
            last->address.high = next->address.high;
    }
    accesses->count = kept + 1;
}

static void push_graph(struct called_accesses *called, uint32_t graph, uint32_t root)
{
    if (called->seen.at[graph] == root + 1)
        return;
    called->seen.at[graph] = root + 1;
    vec_push(&called->stack, graph);
}

static void push_callees(struct called_accesses *called, const struct op *op, uint32_t root)
{
    struct callee callee;
    for (uint32_t n = 0; op_callee(called->module, op, n, &callee); n++)
        if (callee.graph != NONE)
            push_graph(called, callee.graph, root);
}

/* One graph's own ops. Passive ones access nothing. */
static void take_graph(struct called_accesses *called, uint32_t graph, uint32_t root)
{
    const struct graph *g = &called->module->graphs.at[graph];
    struct addresses addresses;
    addresses_init(&addresses, called->module, g);
    for (uint32_t i = 0; i < g->ops.count; i++) {
        if (addresses.any && !op_is_passive(called->module, g, &g->ops.at[i]))
            addresses_of_op(&addresses, &g->ops.at[i], &called->pool);
        push_callees(called, &g->ops.at[i], root);
    }
    addresses_free(&addresses);
}

/* The graph with all that it calls. */
static void find_accesses(struct called_accesses *called, uint32_t root)
{
    uint32_t first = called->pool.count;
    while (called->seen.count < called->module->graphs.count)
        vec_push(&called->seen, 0);
    push_graph(called, root, root);
    while (called->stack.count)
        take_graph(called, called->stack.at[--called->stack.count], root);
    for (uint32_t i = first; i < called->pool.count; i++) {
        struct access *access = &called->pool.at[i];
        access->value = NONE;
        if (access->kind == ACCESS_UPDATE)
            access->kind = ACCESS_WRITE;
    }
    merge(&called->pool, first);
    id_map_set(&called->first, root, first);
    id_map_set(&called->count, root, called->pool.count - first);
}

static void add_effects(struct called_accesses *called, const struct addresses *addresses,
                        const struct op *op, struct accesses *accesses)
{
    if (!called->effects)
        called->effects = effects_new(called->module);
    effects_of_op(called->effects, op, &called->of_op);
    for (uint32_t i = 0; i < called->of_op.written.count; i++) {
        uint32_t value = op_operands(addresses->graph, op)[called->of_op.written.at[i]];
        const struct address *known = addresses->any ? addresses_find(addresses, value) : NULL;
        if (known)
            vec_push(accesses, ((struct access){*known, value, ACCESS_UPDATE}));
    }
    for (uint32_t i = 0; i < called->of_op.shared.count; i++) {
        const struct shared_effect *shared = &called->of_op.shared.at[i];
        if (!shared->variable)
            vec_push(accesses, ((struct access){{shared->name, 0, INT64_MAX},
                                                NONE,
                                                shared->write ? ACCESS_WRITE : ACCESS_READ}));
    }
}

void called_accesses_of_op(struct called_accesses *called, const struct addresses *addresses,
                           const struct op *op, struct accesses *accesses)
{
    struct callee callee;
    if (op_call_kind(op) == CALL_NONE)
        return;
    for (uint32_t n = 0; op_callee(called->module, op, n, &callee); n++) {
        if (callee.graph == NONE)
            continue;
        if (id_map_find(&called->first, callee.graph) == NONE)
            find_accesses(called, callee.graph);
        uint32_t first = id_map_get(&called->first, callee.graph);
        for (uint32_t i = 0; i < id_map_get(&called->count, callee.graph); i++)
            vec_push(accesses, called->pool.at[first + i]);
    }
    add_effects(called, addresses, op, accesses);
}

void called_accesses_free(struct called_accesses *called)
{
    effects_free(called->effects);
    op_effects_free(&called->of_op);
    vec_free(&called->pool);
    id_map_free(&called->first);
    id_map_free(&called->count);
    vec_free(&called->stack);
    vec_free(&called->seen);
}
