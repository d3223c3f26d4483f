#include "passes/launches/apply.h"
#include "ir/rings.h"
#include "passes/launches/move_waits.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------- names ---- */

/* What the parts of a super kernel are called: GRAPH_SCOPE_split_BEGIN_END, by the places of their
 * first and last op among those of the scope. One that is a part already goes on from its own. */
struct part_names {
    struct module *module;
    uint32_t base, begin; /* begin: the place of the first op of the super kernel */
};

static struct part_names part_names_of(struct module *module, const struct block *block)
{
    struct part_names names = {module, block->name, 0};
    struct arena arena = {NULL, 0};
    char *text = name_text(module, block->name, &arena), *split = NULL;
    unsigned begin, end;
    int size = 0;
    for (char *next = strstr(text, "_split_"); next; next = strstr(next + 1, "_split_"))
        split = next;
    if (split && sscanf(split, "_split_%u_%u%n", &begin, &end, &size) == 2 && !split[size]) {
        *split = '\0';
        names.base = module_name(module, text);
        names.begin = begin;
    }
    arena_free(&arena);
    return names;
}

/* Of a part from one place to before another one, counted from the super kernel's first op. */
static uint32_t part_name(const struct part_names *names, uint32_t first, uint32_t end)
{
    struct module *module = names->module;
    uint32_t base =
        module_name_printf(module, "%.*s_split_%u_%u", NAME(module, names->base),
                           names->begin + first, names->begin + (end > first ? end - 1 : first));
    return module_free_symbol(module, base, ".");
}

/* ------------------------------------------------------------------------- cuts ---- */

enum { CUT = 1, DISSOLVED };

/* The body is made anew. */
struct cutter {
    struct module *module;
    struct graph *graph;
    const struct order *order;
    struct rings rings;
    uint8_t *before; /* per op: its super kernel is cut before it */
    uint8_t *cut;    /* per block: it is cut, or (DISSOLVED) its ops are launched alone */
    VEC(uint64_t) body;
    uint32_t superkernel, beside, stream; /* that are open, or NONE; `beside` is a `scope none` */
    uint32_t first, place;                /* of the open part, and of the next op */
    struct part_names names;
    struct vec_u32 ops; /* of the super kernel at work, and beside it */
};

static void put_item(struct cutter *cutter, enum item_kind kind, uint32_t id)
{
    vec_push(&cutter->body, item_make(kind, id));
}

static void close_block(struct cutter *cutter, uint32_t *block)
{
    if (*block != NONE)
        put_item(cutter, ITEM_CLOSE, *block);
    *block = NONE;
}

static uint32_t open_block(struct cutter *cutter, struct block block, uint32_t parent)
{
    block.parent = parent;
    uint32_t id = graph_add_block(cutter->graph, &block);
    put_item(cutter, ITEM_OPEN, id);
    return id;
}

/* The stream around an op within its super kernel, or NONE. */
static uint32_t stream_inside(const struct graph *graph, uint32_t block)
{
    while (graph->blocks.at[block].kind != BLOCK_SUPERKERNEL) {
        if (graph->blocks.at[block].kind == BLOCK_STREAM)
            return block;
        block = graph->blocks.at[block].parent;
    }
    return NONE;
}

/* Puts an op into the block, on its stream. */
static void put_op(struct cutter *cutter, uint32_t op, uint32_t model, uint32_t block)
{
    struct graph *graph = cutter->graph;
    bool same = cutter->stream == NONE ? model == NONE
                                       : model != NONE && graph->blocks.at[model].name ==
                                                              graph->blocks.at[cutter->stream].name;
    if (!same) {
        close_block(cutter, &cutter->stream);
        if (model != NONE)
            cutter->stream = open_block(cutter, graph->blocks.at[model], block);
    }
    put_item(cutter, ITEM_OP, op);
    graph->ops.at[op].block = cutter->stream != NONE ? cutter->stream : block;
}

static void put_inside(struct cutter *cutter, uint32_t op, uint32_t model, bool beside)
{
    static const struct block none = {
        .kind = BLOCK_SCOPE_NONE, .name = NONE, .loc = NONE, .end_loc = NONE};
    if (beside != (cutter->beside != NONE)) {
        close_block(cutter, &cutter->stream);
        if (beside)
            cutter->beside = open_block(cutter, none, cutter->superkernel);
        else
            close_block(cutter, &cutter->beside);
    }
    put_op(cutter, op, model, beside ? cutter->beside : cutter->superkernel);
    cutter->place += !beside && !cutter->order->passive[op];
}

/* What the super kernel as a whole waits for, its first part does; what it sends, its last. */
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
    cutter->superkernel = open_block(cutter, block, block.parent);
    cutter->first = cutter->place;
}

static void close_part(struct cutter *cutter)
{
    close_block(cutter, &cutter->stream);
    close_block(cutter, &cutter->beside);
    cutter->graph->blocks.at[cutter->superkernel].name =
        part_name(&cutter->names, cutter->first, cutter->place);
    close_block(cutter, &cutter->superkernel);
}

/* Those of a run that go to one place, before or behind the launch. */
static void put_outside(struct cutter *cutter, const uint32_t *ops, uint32_t count,
                        const uint8_t *places, const uint32_t *models, enum ring_place place,
                        uint32_t block)
{
    for (uint32_t i = 0; i < count; i++)
        if (places[i] == place)
            put_op(cutter, ops[i], models[i], block);
    close_block(cutter, &cutter->stream);
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
        models[i] = stream_inside(graph, block);
        places[i] = graph_superkernel(graph, block) == superkernel ? RING_OWN : RING_BESIDE;
    }
    uint32_t parent = graph->blocks.at[superkernel].parent;
    rings_place(&cutter->rings, ops, count, places);
    put_outside(cutter, ops, count, places, models, RING_BEFORE, parent);
    open_part(cutter, superkernel, first == 0, end == cutter->ops.count);
    for (uint32_t i = 0; i < count; i++)
        if (places[i] == RING_OWN || places[i] == RING_BESIDE)
            put_inside(cutter, ops[i], models[i], places[i] == RING_BESIDE);
    close_part(cutter);
    put_outside(cutter, ops, count, places, models, RING_BEHIND, parent);
    mem_free(places);
    mem_free(models);
}

/* A block of the stream that a super kernel is launched on, or NONE: the default stream. */
static uint32_t launch_stream(struct cutter *cutter, uint32_t superkernel)
{
    struct graph *graph = cutter->graph;
    uint32_t label = attr_string(cutter->module, graph->blocks.at[superkernel].attrs, W_stream);
    if (label == NONE || stream_label(label) == NONE)
        return NONE;
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_STREAM && graph->blocks.at[i].name == label)
            return i;
    return graph_add_block(
        graph,
        &(struct block){
            .kind = BLOCK_STREAM, .name = label, .parent = NONE, .loc = NONE, .end_loc = NONE});
}

static struct range joined(struct graph *graph, struct range events, struct range more)
{
    struct vec_u32 all = {NULL, 0, 0};
    for (uint32_t i = 0; i < events.count + more.count; i++)
        vec_push(
            &all,
            graph->refs.at[i < events.count ? events.first + i : more.first + i - events.count]);
    struct range range = graph_add_refs(graph, all.at, all.count);
    vec_free(&all);
    return range;
}

/* What the launch waits for and sends, its first op and its last do. */
static void hand_over(struct graph *graph, uint32_t superkernel, uint32_t first, uint32_t last)
{
    const struct block *block = &graph->blocks.at[superkernel];
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[first]);
    clauses.recv = joined(graph, clauses.recv, block->recv);
    graph_set_clauses(graph, first, clauses);
    clauses = *op_clauses(graph, &graph->ops.at[last]);
    clauses.send = joined(graph, clauses.send, block->send);
    graph_set_clauses(graph, last, clauses);
}

/* The ops of a super kernel, and those beside it, without that. Its own stay on its stream, one
 * after the other: the launch's place there may be all that orders them and what others run. */
static void put_all(struct cutter *cutter, uint32_t superkernel)
{
    struct graph *graph = cutter->graph;
    uint32_t stream = launch_stream(cutter, superkernel), first = NONE, last = NONE;
    uint32_t parent = graph->blocks.at[superkernel].parent;
    for (uint32_t i = 0; i < cutter->ops.count; i++) {
        uint32_t op = cutter->ops.at[i], block = graph->ops.at[op].block;
        bool own = graph_superkernel(graph, block) == superkernel;
        put_op(cutter, op, own ? stream : stream_inside(graph, block), parent);
        if (own && !cutter->order->passive[op]) {
            first = first == NONE ? op : first;
            last = op;
        }
    }
    close_block(cutter, &cutter->stream);
    if (first != NONE)
        hand_over(graph, superkernel, first, last);
}

/* From the item that opens it on; returns the place of the one that closes it. */
static uint32_t cut_superkernel(struct cutter *cutter, uint32_t i)
{
    struct graph *graph = cutter->graph;
    uint32_t block = item_id(graph->body.at[i]), first = 0;
    cutter->names = part_names_of(cutter->module, &graph->blocks.at[block]);
    cutter->place = 0;
    cutter->ops.count = 0;
    for (i++; graph->body.at[i] != item_make(ITEM_CLOSE, block); i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            vec_push(&cutter->ops, item_id(graph->body.at[i]));
    if (cutter->cut[block] == DISSOLVED) {
        put_all(cutter, block);
        return i;
    }
    for (uint32_t n = 1; n <= cutter->ops.count; n++) {
        if (n < cutter->ops.count && !cutter->before[cutter->ops.at[n]])
            continue;
        put_part(cutter, block, first, n);
        first = n;
    }
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

static void cut_all(struct cutter *cutter)
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
static void apply_waits(const struct mends *mends, const struct graph_launches *launches,
                        struct graph *graph)
{
    VEC(struct moved_wait) waits = {NULL, 0, 0};
    for (uint32_t i = 0; i < mends->count; i++) {
        const struct launch_step *step = &launches->table.steps.at[mends->at[i].step];
        if (!mends->at[i].cut)
            vec_push(&waits, (struct moved_wait){step->user, launches->events.at[step->event]});
    }
    move_waits(graph, waits.at, waits.count);
    vec_free(&waits);
}

void mends_apply(const struct mends *mends, const struct graph_launches *launches,
                 const struct order *order, struct module *module, struct graph *graph)
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
        rings_init(&cutter.rings, order);
        cut_all(&cutter);
        rings_free(&cutter.rings);
    }
    apply_waits(mends, launches, graph);
    vec_free(&cutter.ops);
    mem_free(cutter.before);
    mem_free(cutter.cut);
}
