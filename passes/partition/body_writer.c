#include "passes/partition/body_writer.h"

#include <string.h>

/* Blocks that may be open, each within those before it. */
enum depth { DEPTH_SUPERKERNEL, DEPTH_SCOPE_NONE, DEPTH_STREAM, DEPTHS };

struct writer {
    struct graph *graph;
    const struct order *order;
    struct graph next;     /* blocks and body */
    uint32_t open[DEPTHS]; /* blocks of `next`, or NONE */
};

static uint32_t innermost(const struct writer *w)
{
    int depth = DEPTH_STREAM;
    while (depth > 0 && w->open[depth] == NONE)
        depth--;
    return w->open[depth];
}

static void close_from(struct writer *w, enum depth depth)
{
    for (int i = DEPTHS; i-- > (int)depth;) {
        if (w->open[i] != NONE)
            graph_add_item(&w->next, ITEM_CLOSE, w->open[i]);
        w->open[i] = NONE;
    }
}

static void open_block(struct writer *w, enum depth depth, struct block block)
{
    close_from(w, depth);
    block.parent = innermost(w);
    w->open[depth] = graph_add_block(&w->next, &block);
    graph_add_item(&w->next, ITEM_OPEN, w->open[depth]);
}

/* `inside`: in the text of a launch of which it is not. */
static void put_op(struct writer *w, uint32_t op, bool inside)
{
    static const struct block none = {
        .kind = BLOCK_SCOPE_NONE, .name = NONE, .loc = NONE, .end_loc = NONE};
    struct graph *graph = w->graph;
    if (inside && w->open[DEPTH_SCOPE_NONE] == NONE)
        open_block(w, DEPTH_SCOPE_NONE, none);
    else if (!inside && w->open[DEPTH_SCOPE_NONE] != NONE)
        close_from(w, DEPTH_SCOPE_NONE);
    uint32_t label = w->order->stream[op], stream = w->open[DEPTH_STREAM];
    if (label != (stream == NONE ? NONE : w->next.blocks.at[stream].name)) {
        close_from(w, DEPTH_STREAM);
        if (label != NONE)
            open_block(
                w, DEPTH_STREAM,
                graph->blocks.at[graph_enclosing(graph, graph->ops.at[op].block, BLOCK_STREAM)]);
    }
    graph_add_item(&w->next, ITEM_OP, op);
    graph->ops.at[op].block = innermost(w);
}

void body_write(struct graph *graph, const struct order *order, struct body_launch *launches,
                const struct body_op *text)
{
    struct writer w = {.graph = graph, .order = order, .open = {NONE, NONE, NONE}};
    uint32_t n = order->n_ops, open = NONE;
    uint32_t *next = mem_calloc(n, sizeof *next); /* by place: the next launch of the component */
    for (uint32_t i = n; i-- > 0;) {
        bool goes_on = i + 1 < n && text[i + 1].component == text[i].component;
        next[i] = text[i].launch != NONE ? text[i].launch : goes_on ? next[i + 1] : NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = text[i].op, launch = text[i].launch;
        bool inside = launch == NONE && open != NONE && next[i] == open &&
                      (order->passive[op] || order->stream[op] != launches[open].stream);
        if (launch != NONE && launch != open) {
            struct block block = launches[launch].block;
            if (launches[launch].opened != NONE)
                block = (struct block){.kind = BLOCK_SUPERKERNEL_REST,
                                       .name = NONE,
                                       .whole = launches[launch].opened,
                                       .loc = block.loc,
                                       .end_loc = NONE};
            open_block(&w, DEPTH_SUPERKERNEL, block);
            if (launches[launch].opened == NONE)
                launches[launch].opened = w.open[DEPTH_SUPERKERNEL];
        } else if (launch == NONE && !inside && open != NONE) {
            close_from(&w, DEPTH_SUPERKERNEL);
        }
        open = launch != NONE ? launch : inside ? open : NONE;
        put_op(&w, op, inside);
    }
    close_from(&w, DEPTH_SUPERKERNEL);
    mem_free(next);
    vec_free(&graph->blocks);
    vec_free(&graph->body);
    memcpy(&graph->blocks, &w.next.blocks, sizeof w.next.blocks);
    memcpy(&graph->body, &w.next.body, sizeof w.next.body);
}

bool body_is_nested(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        if (block->kind == BLOCK_SUPERKERNEL_REST ||
            (block->kind == BLOCK_SCOPE_NONE && graph_superkernel(graph, block->parent) != NONE))
            return true;
    }
    return false;
}
