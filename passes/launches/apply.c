#include "passes/launches/apply.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------- waits ---- */

/* The names of a range, but for one. */
static struct range without(struct graph *graph, struct range events, uint32_t event)
{
    struct vec_u32 left = {NULL, 0, 0};
    for (uint32_t i = 0; i < events.count; i++)
        if (graph->refs.at[events.first + i] != event)
            vec_push(&left, graph->refs.at[events.first + i]);
    struct range range = graph_add_refs(graph, left.at, left.count);
    vec_free(&left);
    return range;
}

static struct range with(struct graph *graph, struct range events, uint32_t event)
{
    struct vec_u32 all = {NULL, 0, 0};
    for (uint32_t i = 0; i < events.count; i++)
        vec_push(&all, graph->refs.at[events.first + i]);
    vec_push(&all, event);
    struct range range = graph_add_refs(graph, all.at, all.count);
    vec_free(&all);
    return range;
}

static void move_wait(struct graph *graph, uint32_t block, uint32_t op, uint32_t event)
{
    struct clauses *clauses = &graph->clauses.at[graph->ops.at[op].clauses];
    clauses->recv = without(graph, clauses->recv, event);
    graph->blocks.at[block].recv = with(graph, graph->blocks.at[block].recv, event);
}

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

/* The body is made anew. */
struct cutter {
    struct module *module;
    struct graph *graph;
    const struct order *order;
    uint8_t *before; /* per op: its super kernel is cut before it */
    uint8_t *cut;    /* per block: it is cut */
    VEC(uint64_t) body;
    uint32_t superkernel, stream; /* that are open, or NONE */
    uint32_t first, place;        /* of the open part, and of the next op */
    struct part_names names;
};

static void put_item(struct cutter *cutter, enum item_kind kind, uint32_t id)
{
    vec_push(&cutter->body, item_make(kind, id));
}

static void close_stream(struct cutter *cutter)
{
    if (cutter->stream != NONE)
        put_item(cutter, ITEM_CLOSE, cutter->stream);
    cutter->stream = NONE;
}

static uint32_t open_copy(struct cutter *cutter, uint32_t model, uint32_t parent)
{
    struct block block = cutter->graph->blocks.at[model];
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

static void end_part(struct cutter *cutter)
{
    struct block *block = &cutter->graph->blocks.at[cutter->superkernel];
    close_stream(cutter);
    put_item(cutter, ITEM_CLOSE, cutter->superkernel);
    block->name = part_name(&cutter->names, cutter->first, cutter->place);
}

/* What the super kernel as a whole waits for, its first part does; what it sends, its last. */
static void next_part(struct cutter *cutter)
{
    struct graph *graph = cutter->graph;
    uint32_t before = cutter->superkernel;
    end_part(cutter);
    cutter->superkernel = open_copy(cutter, before, graph->blocks.at[before].parent);
    cutter->first = cutter->place;
    graph->blocks.at[before].send.count = 0;
    graph->blocks.at[cutter->superkernel].recv.count = 0;
    graph->blocks.at[cutter->superkernel].end_loc = NONE;
}

static void place_op(struct cutter *cutter, uint32_t op)
{
    struct graph *graph = cutter->graph;
    uint32_t model = stream_inside(graph, graph->ops.at[op].block);
    if (cutter->before[op])
        next_part(cutter);
    bool same = cutter->stream == NONE ? model == NONE
                                       : model != NONE && graph->blocks.at[model].name ==
                                                              graph->blocks.at[cutter->stream].name;
    if (!same) {
        close_stream(cutter);
        if (model != NONE)
            cutter->stream = open_copy(cutter, model, cutter->superkernel);
    }
    put_item(cutter, ITEM_OP, op);
    graph->ops.at[op].block = cutter->stream != NONE ? cutter->stream : cutter->superkernel;
    cutter->place += !cutter->order->passive[op];
}

/* From the item that opens it on; returns the place of the one that closes it. */
static uint32_t cut_superkernel(struct cutter *cutter, uint32_t i)
{
    struct graph *graph = cutter->graph;
    uint32_t block = item_id(graph->body.at[i]);
    cutter->names = part_names_of(cutter->module, &graph->blocks.at[block]);
    cutter->superkernel = block;
    cutter->first = cutter->place = 0;
    put_item(cutter, ITEM_OPEN, block);
    for (i++; graph->body.at[i] != item_make(ITEM_CLOSE, block); i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            place_op(cutter, item_id(graph->body.at[i]));
    end_part(cutter);
    return i;
}

/* Numbers the blocks that stand in the body, in its order, and leaves out others. */
static void number_blocks(struct graph *graph)
{
    struct graph next = {.name = NONE};
    struct id_map now = {NULL, 0, 0};
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        enum item_kind kind = item_kind(graph->body.at[i]);
        if (kind == ITEM_OPEN) {
            struct block block = graph->blocks.at[id];
            if (block.parent != NONE)
                block.parent = id_map_get(&now, block.parent);
            id_map_set(&now, id, graph_add_block(&next, &block));
        }
        if (kind != ITEM_OP)
            graph->body.at[i] = item_make(kind, id_map_get(&now, id));
        else if (graph->ops.at[id].block != NONE)
            graph->ops.at[id].block = id_map_get(&now, graph->ops.at[id].block);
    }
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

void mends_apply(const struct mends *mends, const struct graph_launches *launches,
                 const struct order *order, struct module *module, struct graph *graph)
{
    struct cutter cutter = {.module = module,
                            .graph = graph,
                            .order = order,
                            .before = mem_calloc(graph->ops.count, 1),
                            .cut = mem_calloc(graph->blocks.count, 1),
                            .stream = NONE};
    bool any = false;
    for (uint32_t i = 0; i < mends->count; i++) {
        const struct launch_step *step = &launches->table.steps.at[mends->at[i].step];
        uint32_t block = launches->sources.at[mends->at[i].row].block;
        if (!mends->at[i].cut)
            move_wait(graph, block, step->user, launches->events.at[step->event]);
        else
            cutter.before[step->user] = cutter.cut[block] = any = true;
    }
    if (any)
        cut_all(&cutter);
    mem_free(cutter.before);
    mem_free(cutter.cut);
}
