#include "ir/order_pairs.h"

/* The first and last op of one stream in one super kernel. */
struct ends {
    uint32_t block, stream, first, last;
};

/* One side of an event: an op, or (op NONE) a super kernel. */
struct side {
    uint32_t event, op, block;
};

struct walker {
    const struct module *module;
    const struct graph *graph;
    struct order_pairs *pairs;
    VEC(struct ends) ends;
    uint32_t *ends_of; /* per block: its first entry of `ends` + 1, those of a block adjoin */
    VEC(struct side) sends;
    uint32_t *sender_of; /* by event name id: index into sends + 1 */
};

static bool launch_has_events(const struct module *module, const struct block *block)
{
    return block->kind == BLOCK_SUPERKERNEL &&
           (attr_find(module, block->attrs, W_send) || attr_find(module, block->attrs, W_recv));
}

/* Ops of a super kernel adjoin in the text. */
static void find_ends(struct walker *walker, const uint32_t *text, uint32_t n_ops,
                      const uint32_t *stream)
{
    for (uint32_t i = 0; i < n_ops; i++) {
        uint32_t op = text[i];
        uint32_t block =
            graph_enclosing(walker->graph, walker->graph->ops.at[op].block, BLOCK_SUPERKERNEL);
        if (block == NONE || !launch_has_events(walker->module, &walker->graph->blocks.at[block]))
            continue;
        if (!walker->ends_of[block])
            walker->ends_of[block] = walker->ends.count + 1;
        uint32_t at = walker->ends_of[block] - 1;
        while (at < walker->ends.count && walker->ends.at[at].stream != stream[op])
            at++;
        if (at == walker->ends.count)
            vec_push(&walker->ends, (struct ends){block, stream[op], op, op});
        walker->ends.at[at].last = op;
    }
}

static void add_pairs(struct walker *walker, uint32_t to, const struct side *sender)
{
    if (sender->op != NONE) {
        vec_push(walker->pairs, (struct order_pair){to, sender->op, sender->event});
        return;
    }
    uint32_t at = walker->ends_of[sender->block];
    for (; at && at <= walker->ends.count && walker->ends.at[at - 1].block == sender->block; at++)
        vec_push(walker->pairs,
                 (struct order_pair){to, walker->ends.at[at - 1].last, sender->event});
}

static void receive(struct walker *walker, uint32_t event, uint32_t op, uint32_t block)
{
    if (!walker->sender_of[event])
        return;
    const struct side *sender = &walker->sends.at[walker->sender_of[event] - 1];
    if (op != NONE) {
        if (sender->op == NONE) /* between two ops ir/order.c has the edge itself */
            add_pairs(walker, op, sender);
        return;
    }
    uint32_t at = walker->ends_of[block];
    for (; at && at <= walker->ends.count && walker->ends.at[at - 1].block == block; at++)
        add_pairs(walker, walker->ends.at[at - 1].first, sender);
}

static void add_send(struct walker *walker, uint32_t event, uint32_t op, uint32_t block)
{
    vec_push(&walker->sends, (struct side){event, op, block});
    walker->sender_of[event] = walker->sends.count;
}

typedef void side_function(struct walker *walker, uint32_t event, uint32_t op, uint32_t block);

/* Calls the function for each send, or each receive, of ops and super kernels. */
static void each_side(struct walker *walker, uint32_t key, side_function *function)
{
    const struct graph *graph = walker->graph;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct clauses *clauses = op_clauses(graph, &graph->ops.at[i]);
        struct range events = key == W_send ? clauses->send : clauses->recv;
        for (uint32_t n = 0; n < events.count; n++)
            function(walker, graph->refs.at[events.first + n], i, NONE);
    }
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        const struct attr *attr =
            block->kind == BLOCK_SUPERKERNEL ? attr_find(walker->module, block->attrs, key) : NULL;
        for (uint32_t n = 0; attr && attr->value.kind == ATTR_LIST && n < attr->value.count; n++) {
            const struct attr_value *event = &walker->module->attr_values.at[attr->value.first + n];
            if (event->kind == ATTR_WORD)
                function(walker, event->id, NONE, b);
        }
    }
}

void launch_edges(struct order_pairs *pairs, const struct module *module, const struct graph *graph,
                  const uint32_t *text, uint32_t n_ops, const uint32_t *stream)
{
    bool any = false;
    for (uint32_t b = 0; b < graph->blocks.count && !any; b++)
        any = launch_has_events(module, &graph->blocks.at[b]);
    if (!any)
        return;
    struct walker walker = {.module = module, .graph = graph, .pairs = pairs};
    walker.ends_of = mem_calloc(graph->blocks.count, sizeof *walker.ends_of);
    walker.sender_of = mem_calloc(module->names.count, sizeof *walker.sender_of);
    find_ends(&walker, text, n_ops, stream);
    each_side(&walker, W_send, add_send);
    each_side(&walker, W_recv, receive);
    vec_free(&walker.ends);
    vec_free(&walker.sends);
    free(walker.ends_of);
    free(walker.sender_of);
}
