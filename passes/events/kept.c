/* Events of super kernels with fixed slots stay as they are, be it that the graph's order implies
 * them: a host fills their slots. */
#include "passes/events/inserter.h"

static void keep(struct id_map *kept, struct id_map *names, const struct graph *graph,
                 struct range events)
{
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t event = graph->refs.at[events.first + i];
        id_map_set(kept, event, 1);
        if (id_map_find(names, event) == NONE)
            id_map_set(names, event, 1);
    }
}

void kept_find(struct id_map *kept, struct id_map *names, const struct module *module,
               const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        uint32_t block = op->clauses ? graph_enclosing(graph, op->block, BLOCK_SUPERKERNEL) : NONE;
        if (block == NONE || !attr_flag(module, graph->blocks.at[block].attrs, W_fixed_slots))
            continue;
        keep(kept, names, graph, op_clauses(graph, op)->send);
        keep(kept, names, graph, op_clauses(graph, op)->recv);
    }
}

void kept_find_senders(struct inserter *in)
{
    const struct graph *graph = in->graph;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        struct range send = op_clauses(graph, &graph->ops.at[i])->send;
        for (uint32_t n = 0; n < send.count; n++)
            if (inserter_keeps(in, graph->refs.at[send.first + n]))
                id_map_set(&in->sender, graph->refs.at[send.first + n], i);
    }
}

void kept_join(struct inserter *in, uint32_t *know, struct range events)
{
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t sender = id_map_find(&in->sender, in->graph->refs.at[events.first + i]);
        if (sender != NONE && !in->passive[sender])
            inserter_join_done(in, know, sender);
    }
}
