#include "ir/event_sides.h"
#include "ir/order_pairs.h"

/* The first and last op of one stream in one super kernel. */
struct ends {
    uint32_t stream, first, last;
    uint32_t next; /* those of the same super kernel on another stream, or NONE */
};

struct walker {
    const struct module *module;
    const struct graph *graph;
    struct order_pairs *pairs;
    VEC(struct ends) ends;
    struct id_map ends_of; /* by block: the newest of its entries of `ends` */
    struct event_sides sends;
    struct id_map sender_of; /* index into sends, by event */
};

/* Passive ops are on no stream. */
static void find_ends(struct walker *walker, const uint32_t *text, uint32_t n_ops,
                      const uint32_t *stream, const uint8_t *passive)
{
    for (uint32_t i = 0; i < n_ops; i++) {
        uint32_t op = text[i];
        uint32_t block = graph_superkernel(walker->graph, walker->graph->ops.at[op].block);
        if (block == NONE || !block_has_events(&walker->graph->blocks.at[block]) || passive[op])
            continue;
        uint32_t *newest = id_map_at(&walker->ends_of, block), at = *newest;
        while (at != NONE && walker->ends.at[at].stream != stream[op])
            at = walker->ends.at[at].next;
        if (at == NONE) {
            at = walker->ends.count;
            vec_push(&walker->ends, (struct ends){stream[op], op, op, *newest});
            *newest = at;
        }
        walker->ends.at[at].last = op;
    }
}

static void add_pairs(struct walker *walker, uint32_t to, const struct event_side *sender)
{
    if (sender->op != NONE) {
        vec_push(walker->pairs, (struct order_pair){to, sender->op, sender->event});
        return;
    }
    uint32_t at = id_map_find(&walker->ends_of, sender->block);
    for (; at != NONE; at = walker->ends.at[at].next)
        vec_push(walker->pairs, (struct order_pair){to, walker->ends.at[at].last, sender->event});
}

static void receive(struct walker *walker, const struct event_side *receiver)
{
    uint32_t send = id_map_find(&walker->sender_of, receiver->event);
    if (send == NONE)
        return;
    const struct event_side *sender = &walker->sends.at[send];
    if (receiver->op != NONE) {
        if (sender->op == NONE) /* between two ops ir/order.c has the edge itself */
            add_pairs(walker, receiver->op, sender);
        return;
    }
    uint32_t at = id_map_find(&walker->ends_of, receiver->block);
    for (; at != NONE; at = walker->ends.at[at].next)
        add_pairs(walker, walker->ends.at[at].first, sender);
}

void launch_edges(struct order_pairs *pairs, const struct module *module, const struct graph *graph,
                  const uint32_t *text, uint32_t n_ops, const uint32_t *stream,
                  const uint8_t *passive)
{
    bool any = false;
    for (uint32_t b = 0; b < graph->blocks.count && !any; b++)
        any = block_has_events(&graph->blocks.at[b]);
    if (!any)
        return;
    struct walker walker = {.module = module, .graph = graph, .pairs = pairs};
    find_ends(&walker, text, n_ops, stream, passive);
    walker.sends = event_sides_find(graph, W_send);
    for (uint32_t i = 0; i < walker.sends.count; i++)
        id_map_set(&walker.sender_of, walker.sends.at[i].event, i);
    struct event_sides recvs = event_sides_find(graph, W_recv);
    for (uint32_t i = 0; i < recvs.count; i++)
        receive(&walker, &recvs.at[i]);
    vec_free(&recvs);
    vec_free(&walker.ends);
    vec_free(&walker.sends);
    id_map_free(&walker.ends_of);
    id_map_free(&walker.sender_of);
}
