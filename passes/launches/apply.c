#include "passes/fusion/reference_cuts.h"
#include "passes/fusion/superkernel_names.h"
#include "passes/launches/cutter.h"
#include "passes/launches/move_waits.h"

#include <string.h>

/* ------------------------------------------------------------------------- cuts ---- */

static void open_part(struct cutter *cutter, uint32_t superkernel, bool first, bool last)
{
    struct graph *graph = cutter->graph;
    struct block block = graph->blocks.at[superkernel];
    if (!first) {
        block.recv.count = 0;
        block.end_loc = NONE;
    }
    if (!last)
        block.send.count = 0;
    cutter->superkernel = cutter_open(cutter, block, block.parent);
    cutter->first = cutter->place;
}

static void close_part(struct cutter *cutter)
{
    cutter_close(cutter, &cutter->stream);
    cutter_close(cutter, &cutter->beside);
    cutter->graph->blocks.at[cutter->superkernel].name = cutter_part_name(cutter);
    cutter->part.count = 0;
    cutter_close(cutter, &cutter->superkernel);
}

/* Those of a run that go to one place, before or behind the launch. */
static void put_outside(struct cutter *cutter, const uint32_t *ops, uint32_t count,
                        const uint8_t *places, const uint32_t *models, enum ring_place place,
                        uint32_t block)
{
    for (uint32_t i = 0; i < count; i++)
        if (places[i] == place)
            cutter_put(cutter, ops[i], models[i], block);
    cutter_close(cutter, &cutter->stream);
}

/* A part is the ops from `first` to before `end`. What ran beside the whole runs beside the part if
 * it still is in a ring with that. */
static void put_part(struct cutter *cutter, uint32_t superkernel, uint32_t first, uint32_t end)
{
    const struct graph *graph = cutter->graph;
    uint32_t count = end - first, *ops = cutter->ops.at + first;
    uint8_t *places = mem_calloc(count, 1);
    uint32_t *models = mem_calloc(count, sizeof *models);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = graph->ops.at[ops[i]].block;
        models[i] = cutter_stream(graph, block);
        places[i] = graph_superkernel(graph, block) == superkernel ? RING_OWN : RING_BESIDE;
    }
    uint32_t parent = graph->blocks.at[superkernel].parent;
    rings_place(&cutter->rings, ops, count, places);
    put_outside(cutter, ops, count, places, models, RING_BEFORE, parent);
    open_part(cutter, superkernel, first == 0, end == cutter->ops.count);
    for (uint32_t i = 0; i < count; i++)
        if (places[i] == RING_OWN || places[i] == RING_BESIDE)
            cutter_put_inside(cutter, ops[i], models[i], places[i] == RING_BESIDE);
    close_part(cutter);
    put_outside(cutter, ops, count, places, models, RING_BEHIND, parent);
    mem_free(places);
    mem_free(models);
}

/* With these events, those are received that come with them. */
static void receive_ends(struct cutter *cutter, struct range recv, struct range *to)
{
    struct graph *graph = cutter->graph;
    for (uint32_t i = 0; i < recv.count; i++) {
        uint32_t at = id_map_find(&cutter->ends_of, graph->refs.at[recv.first + i]);
        for (uint32_t n = 0; at != NONE && n < cutter->ends.at[at].count; n++)
            cutter_add_event(graph, to, graph->refs.at[cutter->ends.at[at].first + n]);
    }
}

/* Ops with fixed slots get no events; their launch does. */
static void receive_all_ends(struct cutter *cutter)
{
    struct graph *graph = cutter->graph;
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        receive_ends(cutter, graph->blocks.at[b].recv, &graph->blocks.at[b].recv);
    for (uint32_t op = 0; op < graph->ops.count; op++) {
        uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
        struct clauses clauses = *op_clauses(graph, &graph->ops.at[op]);
        uint32_t count = clauses.recv.count;
        if (block != NONE &&
            attr_flag(cutter->module, graph->blocks.at[block].attrs, W_fixed_slots))
            receive_ends(cutter, clauses.recv, &graph->blocks.at[block].recv);
        else
            receive_ends(cutter, clauses.recv, &clauses.recv);
        if (clauses.recv.count > count)
            graph_set_clauses(graph, op, clauses);
    }
}

/* The ops of a super kernel, and those beside it, without that. */
static void put_all(struct cutter *cutter, uint32_t superkernel)
{
    const struct graph *graph = cutter->graph;
    uint32_t parent = graph->blocks.at[superkernel].parent;
    cutter_hand_over_recv(cutter, superkernel);
    cutter_hand_over_send(cutter, superkernel);
    for (uint32_t i = 0; i < cutter->ops.count; i++) {
        uint32_t op = cutter->ops.at[i];
        cutter_put(cutter, op, cutter_stream(graph, graph->ops.at[op].block), parent);
    }
    cutter_close(cutter, &cutter->stream);
}

/* The ops of a super kernel, in parts: each begins with one that it is cut before, which waits for
 * what comes behind the first part, and so behind all that this waits for. */
static void put_parts(struct cutter *cutter, uint32_t superkernel)
{
    struct vec_u32 ends = {NULL, 0, 0};
    uint32_t first = 0;
    for (uint32_t n = 1; n <= cutter->ops.count; n++)
        if (n == cutter->ops.count || cutter->before[cutter->ops.at[n]])
            vec_push(&ends, n);
    cutter_hand_over_to_part(cutter, superkernel, ends.count > 1 ? ends.at[ends.count - 2] : 0);
    for (uint32_t i = 0; i < ends.count; i++) {
        put_part(cutter, superkernel, first, ends.at[i]);
        first = ends.at[i];
    }
    vec_free(&ends);
}

/* From the item that opens it on; returns the place of the one that closes it. */
static uint32_t cut_superkernel(struct cutter *cutter, uint32_t i)
{
    struct graph *graph = cutter->graph;
    uint32_t block = item_id(graph->body.at[i]);
    cutter->names =
        part_names_of(cutter->module, &graph->blocks.at[block], cutter->position != NULL);
    cutter->place = 0;
    cutter->ops.count = 0;
    for (i++; graph->body.at[i] != item_make(ITEM_CLOSE, block); i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            vec_push(&cutter->ops, item_id(graph->body.at[i]));
    if (cutter->cut[block] == DISSOLVED)
        put_all(cutter, block);
    else
        put_parts(cutter, block);
    return i;
}

/* Whether a block goes on with what the item before it closes: a stream's. */
static bool goes_on(const struct graph *next, const struct block *block, uint64_t before)
{
    if (item_kind(before) != ITEM_CLOSE || block->kind != BLOCK_STREAM)
        return false;
    const struct block *closed = &next->blocks.at[item_id(before)];
    return closed->kind == BLOCK_STREAM && closed->name == block->name &&
           closed->parent == block->parent;
}

/* Numbers the blocks that stand in the body, in its order, and leaves out others. Blocks of one
 * stream, one right behind the other, become one. */
static void number_blocks(struct graph *graph)
{
    struct graph next = {.name = NONE};
    struct id_map now = {NULL, 0, 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        enum item_kind kind = item_kind(graph->body.at[i]);
        if (kind == ITEM_OPEN) {
            struct block block = graph->blocks.at[id];
            if (block.parent != NONE)
                block.parent = id_map_get(&now, block.parent);
            if (block.kind == BLOCK_SUPERKERNEL_REST)
                block.whole = id_map_get(&now, block.whole);
            if (count > 0 && goes_on(&next, &block, graph->body.at[count - 1])) {
                id_map_set(&now, id, item_id(graph->body.at[--count]));
                continue;
            }
            id_map_set(&now, id, graph_add_block(&next, &block));
        }
        if (kind == ITEM_OP && graph->ops.at[id].block != NONE)
            graph->ops.at[id].block = id_map_get(&now, graph->ops.at[id].block);
        graph->body.at[count++] =
            kind == ITEM_OP ? graph->body.at[i] : item_make(kind, id_map_get(&now, id));
    }
    graph->body.count = count;
    vec_free(&graph->blocks);
    memcpy(&graph->blocks, &next.blocks, sizeof next.blocks);
    id_map_free(&now);
}

/* Whether launches stand side by side in the text. */
static bool has_abreast(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_SUPERKERNEL_REST)
            return true;
    return false;
}

static void cut_each(struct cutter *cutter)
{
    struct graph *graph = cutter->graph;
    uint32_t n_blocks = graph->blocks.count;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint64_t item = graph->body.at[i];
        if (item_kind(item) == ITEM_OPEN && item_id(item) < n_blocks && cutter->cut[item_id(item)])
            i = cut_superkernel(cutter, i);
        else
            vec_push(&cutter->body, item);
    }
}

static void cut_all(struct cutter *cutter)
{
    struct graph *graph = cutter->graph;
    if (has_abreast(graph))
        cut_abreast(cutter);
    else
        cut_each(cutter);
    vec_free(&graph->body);
    memcpy(&graph->body, &cutter->body, sizeof cutter->body);
    number_blocks(graph);
}

enum sk_strict mend_strictness(const struct mend *mend, const struct graph_launches *launches)
{
    uint32_t block = launches->sources.at[mend->row].block;
    struct range attrs = launches->graph->blocks.at[block].attrs;
    struct sk_options options;
    if (!mend->cut ||
        !sk_options_of(&options, launches->module, attr_string(launches->module, attrs, W_options)))
        return SK_STRICT_unset;
    return (enum sk_strict)options.of[SK_strict_scope_check].number;
}

/* What is not cut waits as a whole: the super kernel that the op is of by now, a part where it has
 * been cut; none where it is left unfused. */
static uint32_t apply_waits(const struct mends *mends, const struct graph_launches *launches,
                            struct graph *graph)
{
    VEC(struct moved_wait) waits = {NULL, 0, 0};
    for (uint32_t i = 0; i < mends->count; i++) {
        const struct launch_step *step = &launches->table.steps.at[mends->at[i].step];
        if (!mends->at[i].cut)
            vec_push(&waits, (struct moved_wait){step->user, launches->events.at[step->event]});
    }
    uint32_t count = waits.count;
    move_waits(graph, waits.at, count);
    vec_free(&waits);
    return count;
}

/* A launch that stands side by side with others, and now waits as a whole, may stand above what it
 * waits for. */
static void arrange(struct module *module, struct graph *graph)
{
    struct order order;
    order_init(&order, module, graph);
    struct cutter cutter = {.module = module,
                            .graph = graph,
                            .order = &order,
                            .before = mem_calloc(graph->ops.count, 1),
                            .cut = mem_calloc(graph->blocks.count, 1),
                            .superkernel = NONE,
                            .beside = NONE,
                            .stream = NONE};
    cut_all(&cutter);
    vec_free(&cutter.ops);
    vec_free(&cutter.part);
    mem_free(cutter.before);
    mem_free(cutter.cut);
    order_free(&order);
}

void mends_apply(const struct mends *mends, const struct graph_launches *launches,
                 const struct order *order, struct module *module, struct graph *graph,
                 bool reference_names)
{
    struct cutter cutter = {.module = module,
                            .graph = graph,
                            .order = order,
                            .before = mem_calloc(graph->ops.count, 1),
                            .cut = mem_calloc(graph->blocks.count, 1),
                            .superkernel = NONE,
                            .beside = NONE,
                            .stream = NONE};
    bool any = false;
    for (uint32_t i = 0; i < mends->count; i++) {
        const struct launch_step *step = &launches->table.steps.at[mends->at[i].step];
        uint32_t block = launches->sources.at[mends->at[i].row].block;
        if (!mends->at[i].cut)
            continue;
        cutter.before[step->user] = 1;
        any = true;
        cutter.cut[block] =
            mend_strictness(mends->at + i, launches) == SK_STRICT_bypass ? DISSOLVED : CUT;
    }
    if (any) {
        taken_symbols_init(&cutter.taken, module);
        rings_init(&cutter.rings, order);
        if (reference_names)
            cutter.position = reference_positions(order, graph->n_params);
        cut_all(&cutter);
        if (cutter.ends.count)
            receive_all_ends(&cutter);
        rings_free(&cutter.rings);
    }
    if (apply_waits(mends, launches, graph) > 0 && has_abreast(graph))
        arrange(module, graph);
    id_map_free(&cutter.ends_of);
    vec_free(&cutter.ends);
    vec_free(&cutter.ops);
    vec_free(&cutter.part);
    vec_free(&cutter.taken);
    mem_free(cutter.position);
    mem_free(cutter.before);
    mem_free(cutter.cut);
}
