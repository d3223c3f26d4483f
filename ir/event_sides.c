#include "ir/event_sides.h"

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
