/* Tarjan's algorithm, without recursion. */
#include "ir/support/components.h"
#include "ir/support/memory.h"

#include <string.h>

void components_init(struct components *c, uint32_t n_nodes)
{
    *c = (struct components){.of = mem_calloc(n_nodes, sizeof *c->of),
                             .index = mem_calloc(n_nodes, sizeof *c->index),
                             .low = mem_calloc(n_nodes, sizeof *c->low)};
    for (uint32_t i = 0; i < n_nodes; i++)
        c->of[i] = NONE;
}

void components_free(struct components *c)
{
    mem_free(c->of);
    mem_free(c->index);
    mem_free(c->low);
    vec_free(&c->path);
    vec_free(&c->open);
}

static void meet(struct components *c, uint32_t node)
{
    c->index[node] = c->low[node] = ++c->met;
    vec_push(&c->path, node);
    vec_push(&c->open, node);
}

static void lower(struct components *c, uint32_t node, uint32_t to)
{
    if (c->low[node] > to)
        c->low[node] = to;
}

/* All that the last node of the path leads to has been met. */
static void leave(struct components *c)
{
    uint32_t node = c->path.at[--c->path.count], member = NONE;
    if (c->path.count > 0)
        lower(c, c->path.at[c->path.count - 1], c->low[node]);
    if (c->low[node] != c->index[node])
        return;
    for (; member != node; c->of[member] = c->count)
        member = c->open.at[--c->open.count];
    c->count++;
}

void components_find(struct components *c, uint32_t root,
                     uint32_t (*next)(void *context, uint32_t node), void *context)
{
    if (c->index[root])
        return;
    meet(c, root);
    while (c->path.count > 0) {
        uint32_t node = c->path.at[c->path.count - 1], to = next(context, node);
        if (to == NONE)
            leave(c);
        else if (!c->index[to])
            meet(c, to);
        else if (c->of[to] == NONE)
            lower(c, node, c->index[to]);
    }
}
