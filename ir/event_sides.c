#include "ir/event_sides.h"

static void add_block_sides(struct event_sides *sides, const struct module *module,
                            const struct graph *graph, uint32_t id, uint32_t key)
{
    const struct block *block = &graph->blocks.at[id];
    const struct attr *attr =
        block->kind == BLOCK_SUPERKERNEL ? attr_find(module, block->attrs, key) : NULL;
    for (uint32_t i = 0; attr && attr->value.kind == ATTR_LIST && i < attr->value.count; i++) {
        const struct attr_value *event = &module->attr_values.at[attr->value.first + i];
        if (event->kind == ATTR_WORD)
            vec_push(sides, (struct event_side){event->id, NONE, id, i});
    }
}

struct event_sides event_sides_find(const struct module *module, const struct graph *graph,
                                    uint32_t key)
{
    struct event_sides sides = {NULL, 0, 0};
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        const struct clauses *clauses = op_clauses(graph, &graph->ops.at[id]);
        struct range events = key == W_send ? clauses->send : clauses->recv;
        for (uint32_t i = 0; i < events.count; i++)
            vec_push(&sides, (struct event_side){graph->refs.at[events.first + i], id, NONE, i});
    }
    for (uint32_t id = 0; id < graph->blocks.count; id++)
        add_block_sides(&sides, module, graph, id, key);
    return sides;
}
