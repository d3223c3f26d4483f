/* A launch is a node, named by its first op; so is each op that executes nothing, for it conducts
 * order from launch to launch. Rings are strongly connected components of these. */
#include "passes/launches/ring_report.h"
#include "ir/base/components.h"
#include "ir/event_sides.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

enum { MAX_NAMED_LAUNCHES = 6, MAX_NAMED_WAITS = 6 }; /* of a ring; of one of its launches */

struct teller {
    struct diags *diags;
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    uint32_t *node;   /* per op: the first op of its launch */
    uint32_t *next;   /* per op: the next of its launch that executes something, or NONE */
    uint32_t *last;   /* per node */
    uint32_t *before; /* per node: the launch before it on its stream, or NONE */
    uint32_t *ring;   /* per node: its component */
    uint32_t *first;  /* per ring: its first launch in the text, or NONE */
    uint32_t *member; /* per launch: the next of its ring, or NONE */
    struct id_map node_of_block;
    struct event_sides sends;
    struct id_map sender_of;  /* index into sends, by event */
    uint32_t *used, *used_by; /* per op: an edge from it, to an op of the launch used_by */
};

/* ------------------------------------------------------------------------- launches ---- */

static uint32_t superkernel_of(const struct teller *t, uint32_t op)
{
    return graph_superkernel(t->graph, t->graph->ops.at[op].block);
}

/* The label of the stream that a node is launched on. */
static uint32_t stream_of(const struct teller *t, uint32_t node)
{
    uint32_t block = superkernel_of(t, node);
    if (block == NONE)
        return t->order->stream[node];
    return stream_label(attr_string(t->module, t->graph->blocks.at[block].attrs, W_stream));
}

static void find_nodes(struct teller *t)
{
    uint32_t n = t->order->n_ops;
    struct id_map on_stream = {NULL, 0, 0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = t->order->text[i], block = superkernel_of(t, op);
        t->node[op] = t->last[op] = op;
        t->next[op] = t->before[op] = t->ring[op] = t->used_by[op] = NONE;
        if (t->order->passive[op])
            continue;
        uint32_t *first = block == NONE ? NULL : id_map_at(&t->node_of_block, block);
        if (first && *first != NONE) {
            t->node[op] = *first;
            t->next[t->last[*first]] = op;
            t->last[*first] = op;
            continue;
        }
        if (first)
            *first = op;
        uint32_t *before = id_map_at(&on_stream, stream_of(t, op) + 1); /* NONE: 0 */
        t->before[op] = *before;
        *before = op;
    }
    id_map_free(&on_stream);
}

/* ------------------------------------------------------------------------- rings ---- */

/* How far the nodes' needs have been looked at. */
struct needs_walk {
    const struct teller *t;
    uint32_t *op, *edge; /* per node */
    uint8_t *begun;      /* per node: the launch before it on its stream has been looked at */
};

static uint32_t next_need(void *context, uint32_t node)
{
    struct needs_walk *walk = context;
    const struct teller *t = walk->t;
    if (!walk->begun[node]) {
        walk->begun[node] = 1;
        walk->op[node] = node;
        walk->edge[node] = t->order->first[node];
        if (t->before[node] != NONE)
            return t->before[node];
    }
    while (walk->edge[node] == t->order->first[walk->op[node] + 1]) {
        if (t->next[walk->op[node]] == NONE)
            return NONE;
        walk->op[node] = t->next[walk->op[node]];
        walk->edge[node] = t->order->first[walk->op[node]];
    }
    return t->node[t->order->edges[walk->edge[node]++].from];
}

static void find_rings(struct teller *t)
{
    uint32_t n = t->order->n_ops;
    struct components components;
    struct needs_walk walk = {.t = t};
    walk.op = mem_calloc(n, sizeof *walk.op);
    walk.edge = mem_calloc(n, sizeof *walk.edge);
    walk.begun = mem_calloc(n, 1);
    components_init(&components, n);
    for (uint32_t op = 0; op < n; op++)
        components_find(&components, t->node[op], next_need, &walk);
    memcpy(t->ring, components.of, n * sizeof *t->ring);
    components_free(&components);
    mem_free(walk.op);
    mem_free(walk.edge);
    mem_free(walk.begun);
}

/* By ring: its launches, in text order. */
static void find_members(struct teller *t)
{
    uint32_t n = t->order->n_ops;
    uint32_t *last = mem_calloc(n, sizeof *last);
    for (uint32_t op = 0; op < n; op++)
        t->member[op] = t->first[op] = NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = t->order->text[i], ring = t->ring[op];
        if (t->node[op] != op || t->order->passive[op])
            continue;
        if (t->first[ring] == NONE)
            t->first[ring] = op;
        else
            t->member[last[ring]] = op;
        last[ring] = op;
    }
    mem_free(last);
}

/* ------------------------------------------------------------------------- texts ---- */

static const char *op_name(const struct teller *t, uint32_t op)
{
    return op_text(t->module, t->graph, &t->graph->ops.at[op], &t->diags->arena);
}

static struct span op_span(const struct teller *t, uint32_t op)
{
    return locate_op(t->module, &t->graph->ops.at[op], OP_TYPE_NAME, 0);
}

static const char *launch_name(const struct teller *t, uint32_t node)
{
    uint32_t block = superkernel_of(t, node);
    if (block == NONE)
        return op_name(t, node);
    return arena_printf(&t->diags->arena, "'@%.*s'",
                        NAME(t->module, t->graph->blocks.at[block].name));
}

/* What is waited for: an op, or the end of a super kernel. */
static const char *sender_text(const struct teller *t, const struct event_side *sender,
                               uint32_t node)
{
    struct arena *arena = &t->diags->arena;
    if (sender->op == NONE)
        return arena_printf(arena, "the end of %s", launch_name(t, node));
    if (superkernel_of(t, node) == NONE)
        return op_name(t, node);
    return arena_printf(arena, "%s of %s", op_name(t, sender->op), launch_name(t, node));
}

/* Why. */
static const char *reason_text(const struct teller *t, uint32_t node, uint32_t from, uint32_t event)
{
    struct arena *arena = &t->diags->arena;
    const struct order_edge *edge = &t->order->edges[t->used[from]];
    if (t->used_by[from] != node)
        return arena_printf(arena, "event '%.*s'", NAME(t->module, event));
    return arena_printf(arena, edge->kind == ORDER_DATA ? "it uses %%%.*s" : "both access '%.*s'",
                        NAME(t->module, edge->name));
}

/* ------------------------------------------------------------------------- waits ---- */

static bool says_more(const struct order_edge *edge, const struct order_edge *than)
{
    return edge->kind == ORDER_DATA && than->kind != ORDER_DATA;
}

/* Which values and memory of others a launch accesses. */
static void find_uses(struct teller *t, uint32_t node)
{
    for (uint32_t op = node; op != NONE; op = t->next[op])
        for (uint32_t e = t->order->first[op]; e < t->order->first[op + 1]; e++) {
            const struct order_edge *edge = &t->order->edges[e];
            bool says = edge->kind == ORDER_DATA || edge->kind == ORDER_MEMORY;
            if (!says || (t->used_by[edge->from] == node &&
                          !says_more(edge, &t->order->edges[t->used[edge->from]])))
                continue;
            t->used[edge->from] = e;
            t->used_by[edge->from] = node;
        }
}

/* A wait of a launch, or (`op` is not NONE) of an op in the middle of one. */
static void tell_wait(struct teller *t, uint32_t node, uint32_t op, uint32_t event, uint32_t *count)
{
    uint32_t send = id_map_find(&t->sender_of, event);
    if (send == NONE)
        return;
    const struct event_side *sender = &t->sends.at[send];
    uint32_t by =
        sender->op != NONE ? t->node[sender->op] : id_map_find(&t->node_of_block, sender->block);
    if (by == NONE || by == node || t->ring[by] != t->ring[node] || (*count)++ >= MAX_NAMED_WAITS)
        return;
    const char *how = superkernel_of(t, node) == NONE ? "" : " as a whole";
    if (op != NONE)
        how = arena_printf(&t->diags->arena, " in the middle, before %s,", op_name(t, op));
    diag_note(t->diags, op_span(t, op != NONE ? op : node), "%s waits%s for %s: %s",
              launch_name(t, node), how, sender_text(t, sender, by),
              reason_text(t, node, sender->op != NONE ? sender->op : t->last[by], event));
}

static void tell_waits(struct teller *t, uint32_t node)
{
    const struct graph *graph = t->graph;
    uint32_t block = superkernel_of(t, node), count = 0, before = t->before[node];
    find_uses(t, node);
    if (before != NONE && t->ring[before] == t->ring[node])
        diag_note(t->diags, op_span(t, node), "%s follows %s on its stream", launch_name(t, node),
                  launch_name(t, before));
    struct range recv = block == NONE ? (struct range){0, 0} : graph->blocks.at[block].recv;
    for (uint32_t i = 0; i < recv.count; i++)
        tell_wait(t, node, NONE, graph->refs.at[recv.first + i], &count);
    for (uint32_t op = node; op != NONE; op = t->next[op]) {
        recv = op_clauses(graph, &graph->ops.at[op])->recv;
        for (uint32_t i = 0; i < recv.count; i++)
            tell_wait(t, node, block == NONE ? NONE : op, graph->refs.at[recv.first + i], &count);
    }
    if (count > MAX_NAMED_WAITS)
        diag_help(t->diags, "%s waits for %u more", launch_name(t, node), count - MAX_NAMED_WAITS);
}

/* ------------------------------------------------------------------------- graphs ---- */

static void list_launch(const struct teller *t, uint32_t node)
{
    uint32_t block = superkernel_of(t, node);
    diag_listed(t->diags, "launches",
                block == NONE ? op_name(t, node)
                              : arena_printf(&t->diags->arena, "@%.*s",
                                             NAME(t->module, t->graph->blocks.at[block].name)));
}

static void tell_ring(struct teller *t, uint32_t first)
{
    struct text names = {NULL, 0, 0};
    uint32_t count = 0, node;
    for (node = first; node != NONE; node = t->member[node]) {
        if (count < MAX_NAMED_LAUNCHES)
            text_printf(&names, "%s%s",
                        count == 0                ? ""
                        : t->member[node] == NONE ? " and "
                                                  : ", ",
                        launch_name(t, node));
        count++;
    }
    if (count > MAX_NAMED_LAUNCHES)
        text_printf(&names, " and %u more", count - MAX_NAMED_LAUNCHES);
    if (diag_at(t->diags, DIAG_ring, op_span(t, first),
                "%.*s run side by side, as none of them can come before the others as a whole",
                (int)names.size, names.at))
        for (node = first; node != NONE; node = t->member[node]) {
            list_launch(t, node);
            tell_waits(t, node);
        }
    text_free(&names);
}

static void tell_graph(struct teller *t)
{
    uint32_t n = t->order->n_ops;
    uint32_t **arrays[] = {&t->node,  &t->next,   &t->last, &t->before, &t->ring,
                           &t->first, &t->member, &t->used, &t->used_by};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = mem_calloc(n, sizeof **arrays[i]);
    find_nodes(t);
    find_rings(t);
    find_members(t);
    t->sends = event_sides_find(t->graph, W_send);
    for (uint32_t i = 0; i < t->sends.count; i++)
        id_map_set(&t->sender_of, t->sends.at[i].event, i);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = t->order->text[i];
        if (t->node[first] == first && t->first[t->ring[first]] == first &&
            t->member[first] != NONE)
            tell_ring(t, first);
    }
    vec_free(&t->sends);
    id_map_free(&t->sender_of);
    id_map_free(&t->node_of_block);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        mem_free(*arrays[i]);
}

static bool has_superkernels(const struct graph *graph)
{
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL)
            return true;
    return false;
}

void report_rings(struct diags *diags, const struct module *module, struct analyses *analyses)
{
    if (!diags->remarks)
        return;
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].id == DIAG_ring)
            diags_take_back_one(diags, i);
    diags_settle(diags);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        struct teller teller = {.diags = diags, .module = module, .graph = graph};
        if (graph->ops.count == 0 || !has_superkernels(graph))
            continue;
        teller.order = analyses_order(analyses, module, graph);
        gears_tell_copy(diags, module, graph);
        tell_graph(&teller);
    }
    gears_tell_copy(diags, module, NULL);
}
