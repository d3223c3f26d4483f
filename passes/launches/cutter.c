#include "passes/fusion/superkernel_names.h"
#include "passes/launches/cutter.h"

/* ------------------------------------------------------------------------- names ---- */

struct part_names part_names_of(struct module *module, const struct block *block, bool reference)
{
    struct part_places places = {0, 0};
    uint32_t base = superkernel_part_of(module, block->name, &places),
             scope = attr_symbol(module, block->attrs, W_scope);
    return (struct part_names){base == NONE ? block->name : base, reference ? scope : NONE,
                               places.begin};
}

static void put_item(struct cutter *cutter, enum item_kind kind, uint32_t id)
{
    vec_push(&cutter->body, item_make(kind, id));
}

void cutter_close(struct cutter *cutter, uint32_t *block)
{
    if (*block != NONE)
        put_item(cutter, ITEM_CLOSE, *block);
    *block = NONE;
}

uint32_t cutter_open(struct cutter *cutter, struct block block, uint32_t parent)
{
    block.parent = parent;
    uint32_t id = graph_add_block(cutter->graph, &block);
    put_item(cutter, ITEM_OPEN, id);
    return id;
}

uint32_t cutter_stream(const struct graph *graph, uint32_t block)
{
    for (; block != NONE; block = graph->blocks.at[block].parent) {
        enum block_kind kind = graph->blocks.at[block].kind;
        if (kind == BLOCK_STREAM)
            return block;
        if (kind == BLOCK_SUPERKERNEL || kind == BLOCK_SUPERKERNEL_REST)
            return NONE;
    }
    return NONE;
}

void cutter_put(struct cutter *cutter, uint32_t op, uint32_t model, uint32_t block)
{
    struct graph *graph = cutter->graph;
    bool same = cutter->stream == NONE ? model == NONE
                                       : model != NONE && graph->blocks.at[model].name ==
                                                              graph->blocks.at[cutter->stream].name;
    if (!same) {
        cutter_close(cutter, &cutter->stream);
        if (model != NONE)
            cutter->stream = cutter_open(cutter, graph->blocks.at[model], block);
    }
    put_item(cutter, ITEM_OP, op);
    graph->ops.at[op].block = cutter->stream != NONE ? cutter->stream : block;
}

void cutter_put_inside(struct cutter *cutter, uint32_t op, uint32_t model, bool beside)
{
    static const struct block none = {
        .kind = BLOCK_SCOPE_NONE, .name = NONE, .loc = NONE, .end_loc = NONE};
    if (beside != (cutter->beside != NONE)) {
        cutter_close(cutter, &cutter->stream);
        if (beside)
            cutter->beside = cutter_open(cutter, none, cutter->superkernel);
        else
            cutter_close(cutter, &cutter->beside);
    }
    cutter_put(cutter, op, model, beside ? cutter->beside : cutter->superkernel);
    cutter->place += !beside && !cutter->order->passive[op];
    if (!beside)
        vec_push(&cutter->part, op);
}

uint32_t cutter_part_name(struct cutter *cutter)
{
    struct module *module = cutter->module;
    const struct part_names *names = &cutter->names;
    const struct vec_u32 *ops = &cutter->part;
    uint32_t last = cutter->place > cutter->first ? cutter->place - 1 : cutter->first, name;
    struct part_places places = {names->begin + cutter->first, names->begin + last};
    if (names->scope != NONE && ops->count) {
        places = superkernel_positions_around(ops->at, ops->count, cutter->position);
        name = superkernel_reference_name(module, cutter->graph, names->scope, &places, ops->at,
                                          ops->count, cutter->position);
    } else {
        name = superkernel_part_name(module, names->base, places);
    }
    return taken_symbols_take_free(&cutter->taken, module, name);
}

/* ------------------------------------------------------------------------ events ---- */

void cutter_add_event(struct graph *graph, struct range *events, uint32_t event)
{
    struct vec_u32 all = {NULL, 0, 0};
    for (uint32_t i = 0; i < events->count; i++)
        vec_push(&all, graph->refs.at[events->first + i]);
    vec_push(&all, event);
    *events = graph_add_refs(graph, all.at, all.count);
    vec_free(&all);
}

static void add_events(struct graph *graph, uint32_t op, struct range send, struct range recv)
{
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[op]);
    for (uint32_t i = 0; i < send.count; i++)
        cutter_add_event(graph, &clauses.send, graph->refs.at[send.first + i]);
    for (uint32_t i = 0; i < recv.count; i++)
        cutter_add_event(graph, &clauses.recv, graph->refs.at[recv.first + i]);
    graph_set_clauses(graph, op, clauses);
}

/* The first or last ops on each stream, of those of the super kernel at work that execute
 * something, in their order or from the last on: as indices of cutter->ops. */
static void find_ends(const struct cutter *cutter, uint32_t superkernel, bool last,
                      struct vec_u32 *ends)
{
    struct id_map seen = {NULL, 0, 0};
    uint32_t count = cutter->ops.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = last ? count - 1 - i : i, op = cutter->ops.at[at];
        uint32_t stream = cutter->order->stream[op] == NONE ? 0 : cutter->order->stream[op] + 1;
        if (cutter->order->passive[op] || id_map_find(&seen, stream) != NONE ||
            graph_superkernel(cutter->graph, cutter->graph->ops.at[op].block) != superkernel)
            continue;
        id_map_set(&seen, stream, 1);
        vec_push(ends, at);
    }
    id_map_free(&seen);
}

/* An event that the op sends, of a name that no text has. */
static uint32_t add_end(struct cutter *cutter, uint32_t op)
{
    uint32_t event = module_name_printf(cutter->module, "end.%u", op);
    struct range range = graph_add_refs(cutter->graph, &event, 1);
    add_events(cutter->graph, op, range, (struct range){0, 0});
    return event;
}

void cutter_hand_over_recv(struct cutter *cutter, uint32_t superkernel)
{
    struct vec_u32 first = {NULL, 0, 0};
    struct range recv = cutter->graph->blocks.at[superkernel].recv;
    find_ends(cutter, superkernel, false, &first);
    for (uint32_t i = 0; i < first.count && recv.count; i++)
        add_events(cutter->graph, cutter->ops.at[first.at[i]], (struct range){0, 0}, recv);
    vec_free(&first);
}

void cutter_hand_over_to_part(struct cutter *cutter, uint32_t superkernel, uint32_t last_part)
{
    struct vec_u32 last = {NULL, 0, 0}, ends = {NULL, 0, 0};
    if (cutter->graph->blocks.at[superkernel].send.count)
        find_ends(cutter, superkernel, true, &last);
    for (uint32_t i = 1; i < last.count; i++)
        if (last.at[i] < last_part)
            vec_push(&ends, add_end(cutter, cutter->ops.at[last.at[i]]));
    if (ends.count)
        add_events(cutter->graph, cutter->ops.at[last.at[0]], (struct range){0, 0},
                   graph_add_refs(cutter->graph, ends.at, ends.count));
    vec_free(&last);
    vec_free(&ends);
}

void cutter_hand_over_send(struct cutter *cutter, uint32_t superkernel)
{
    struct graph *graph = cutter->graph;
    struct vec_u32 last = {NULL, 0, 0}, ends = {NULL, 0, 0};
    struct range send = graph->blocks.at[superkernel].send;
    if (send.count)
        find_ends(cutter, superkernel, true, &last);
    for (uint32_t i = 1; i < last.count; i++)
        vec_push(&ends, add_end(cutter, cutter->ops.at[last.at[i]]));
    for (uint32_t i = 0; i < send.count && ends.count; i++) {
        id_map_set(&cutter->ends_of, graph->refs.at[send.first + i], cutter->ends.count);
        vec_push(&cutter->ends, graph_add_refs(graph, ends.at, ends.count));
    }
    if (last.count)
        add_events(graph, cutter->ops.at[last.at[0]], send, (struct range){0, 0});
    vec_free(&last);
    vec_free(&ends);
}
