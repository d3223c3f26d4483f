#include "frontend/exchange/writers/op_places.h"

void op_places_init(struct op_places *places, const struct graph *graph)
{
    *places = (struct op_places){0, mem_calloc(graph->ops.count, sizeof *places->of_op),
                                 mem_calloc(graph->blocks.count, sizeof *places->blocks)};
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        switch (item_kind(graph->body.at[i])) {
        case ITEM_OP: places->of_op[id] = places->count++; break;
        case ITEM_OPEN: places->blocks[id].first = places->count; break;
        case ITEM_CLOSE: places->blocks[id].count = places->count - places->blocks[id].first; break;
        }
    }
}

void op_places_free(struct op_places *places)
{
    mem_free(places->of_op);
    mem_free(places->blocks);
}
