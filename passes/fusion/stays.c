/* Text whose super kernels are right as they are stays. To arrange it anew would find the same
 * launches, but not always the same order: what an op that executes nothing is in a ring with may
 * be told by events between others, and what stands behind a launch may need it no longer. */
#include "passes/fusion/fusion_internal.h"

/* Where things stand in the text. */
struct placed {
    const struct fusion *f;
    uint32_t *last; /* by block: the place of the last op of a super kernel */
    uint32_t *end;  /* the same of the last that executes something */
    struct id_map
        busy; /* by stream + 1, 0 for the default one: the last place of what runs there */
};

/* Whether blocks are those that passes leave: super kernels, streams of a number other than 0 in
 * and beside them, and `scope none` in them. */
static bool is_canonical(const struct graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        uint32_t around = graph_enclosing(graph, block->parent, BLOCK_SUPERKERNEL);
        any = any || block->kind == BLOCK_SUPERKERNEL;
        if (block->kind == BLOCK_SCOPE || (block->kind == BLOCK_SCOPE_NONE && around == NONE) ||
            (block->kind == BLOCK_STREAM &&
             (block->name == W_0 || graph_enclosing(graph, block->parent, BLOCK_STREAM) != NONE)) ||
            ((block->kind == BLOCK_SUPERKERNEL || block->kind == BLOCK_SUPERKERNEL_REST) &&
             block->parent != NONE))
            return false;
    }
    return any;
}

/* Whether there is nothing to be collected, taken out or taken apart. */
static bool is_collected(const struct fusion *f)
{
    uint8_t *launched = mem_calloc(f->graph->blocks.count, 1);
    bool ok = true;
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        if (f->superkernel_of[i] == NONE)
            continue;
        ok = ok && !fusion_ignores(f, i);
        launched[f->superkernel_of[i]] |= !f->order->passive[i];
    }
    for (uint32_t b = 0; b < f->graph->blocks.count; b++)
        ok = ok && (f->graph->blocks.at[b].kind != BLOCK_SUPERKERNEL || launched[b]);
    for (uint32_t i = 1; i < f->groups.count; i++)
        ok = ok && f->groups.at[i].removed == 0 && !fusion_is_alone(f, i);
    mem_free(launched);
    return ok;
}

static uint32_t stream_of_launch(const struct fusion *f, uint32_t op, uint32_t block)
{
    if (block == NONE)
        return f->order->stream[op];
    return fusion_given_stream(f, block);
}

/* Whether what begins at a place does so when its stream is free. */
static bool begins_free(struct placed *placed, uint32_t place, uint8_t *begun)
{
    const struct fusion *f = placed->f;
    uint32_t op = f->order->text[place], block = f->superkernel_of[op];
    if (f->order->passive[op] || (block != NONE && begun[block]++))
        return true;
    uint32_t stream = stream_of_launch(f, op, block);
    uint32_t *busy = id_map_at(&placed->busy, stream == NONE ? 0 : stream + 1);
    bool is_free = *busy == NONE || *busy < place;
    *busy = block == NONE ? place : placed->end[block];
    return is_free;
}

/* Whether ops stand behind those that they need, and launches of a stream one behind the other. */
static bool is_in_order(struct placed *placed)
{
    const struct order *order = placed->f->order;
    uint8_t *begun = mem_calloc(placed->f->graph->blocks.count, 1);
    bool ok = true;
    for (uint32_t i = 0; i < order->n_ops && ok; i++) {
        uint32_t op = order->text[i];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            ok = ok && order->position[order->edges[e].from] < i;
        ok = ok && begins_free(placed, i, begun);
    }
    mem_free(begun);
    return ok;
}

/* ---------------------------------------------------------------------------- segments ---- */

/* The place behind the launches that overlap, of which the first begins at a place. */
static uint32_t end_of_run(const struct placed *placed, uint32_t place)
{
    const struct fusion *f = placed->f;
    uint32_t end = place + 1;
    for (uint32_t i = place; i < end; i++) {
        uint32_t block = f->superkernel_of[f->order->text[i]];
        if (block != NONE && placed->last[block] + 1 > end)
            end = placed->last[block] + 1;
    }
    return end;
}

static void add_op(struct schedule *schedule, uint32_t op)
{
    schedule->ops[schedule->count++] = op;
    schedule->segments.at[schedule->segments.count - 1].count++;
}

/* Launches that overlap: a segment for each, and for each op of none. */
static void add_run(struct fusion *f, uint32_t first, uint32_t end, uint8_t *added)
{
    const uint32_t *text = f->order->text;
    for (uint32_t i = first; i < end; i++) {
        uint32_t block = f->superkernel_of[text[i]];
        if (block != NONE && added[block]++)
            continue;
        uint32_t group = block == NONE ? GROUP_NONE : f->member_of[text[i]];
        vec_push(&f->schedule.segments,
                 ((struct segment){.group = group,
                                   .first = f->schedule.count,
                                   .abreast = end - first > 1 ? first + 1 : 0}));
        if (block == NONE)
            add_op(&f->schedule, text[i]);
        for (uint32_t k = i; block != NONE && k <= end - 1; k++)
            if (f->superkernel_of[text[k]] == block)
                add_op(&f->schedule, text[k]);
    }
}

/* The schedule that the text has. */
static void take_text(const struct placed *placed, struct fusion *f)
{
    uint32_t n = f->order->n_ops;
    uint8_t *added = mem_calloc(f->graph->blocks.count, 1);
    f->schedule = (struct schedule){.order = f->order, .group_of = f->group_of};
    f->schedule.ops = mem_calloc(n, sizeof *f->schedule.ops);
    f->schedule.place = mem_calloc(n, sizeof *f->schedule.place);
    f->text = mem_calloc(n, sizeof *f->text);
    for (uint32_t i = 0, end; i < n; i = end) {
        end = end_of_run(placed, i);
        add_run(f, i, end, added);
    }
    for (uint32_t i = 0; i < n; i++) {
        f->text[i] = f->order->text[i];
        f->schedule.place[f->text[i]] = i;
    }
    mem_free(added);
}

bool fusion_text_stays(struct fusion *f)
{
    struct placed placed = {.f = f};
    if (!is_canonical(f->graph) || !is_collected(f))
        return false;
    placed.last = mem_calloc(f->graph->blocks.count, sizeof *placed.last);
    placed.end = mem_calloc(f->graph->blocks.count, sizeof *placed.end);
    for (uint32_t i = 0; i < f->order->n_ops; i++) {
        uint32_t op = f->order->text[i], block = f->superkernel_of[op];
        if (block == NONE)
            continue;
        placed.last[block] = i;
        if (!f->order->passive[op])
            placed.end[block] = i;
    }
    bool stays = is_in_order(&placed);
    if (stays)
        take_text(&placed, f);
    mem_free(placed.last);
    mem_free(placed.end);
    id_map_free(&placed.busy);
    return stays;
}
