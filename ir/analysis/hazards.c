/* Ops that access the same bytes of addressed memory: a tree over pieces of memory keeps, for each,
 * the op that accessed it last, so that each access takes logarithmic time. Graphs that an op calls
 * are visited once for what they access. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/hazards.h"
#include "ir/analysis/launch_order.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/shapes/gears.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------- what called graphs access ---- */

/* What graphs that an op calls access at addresses of their own: buffers and addresses mean the
 * same in all graphs. Zero-initialised but for `module`. */
struct called_accesses {
    const struct module *module;
    struct effects *effects;
    struct op_effects of_op; /* scratch */
    struct accesses pool;
    struct id_map first, count; /* by index of a graph that is called: its part of the pool */
};

static int compare(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->address.buffer != y->address.buffer)
        return x->address.buffer < y->address.buffer ? -1 : 1;
    return (x->address.low > y->address.low) - (x->address.low < y->address.low);
}

/* Accesses of one kind that touch become one. */
static void merge(struct accesses *accesses, uint32_t first)
{
    uint32_t kept = first;
    if (first == accesses->count)
        return;
    qsort(accesses->at + first, accesses->count - first, sizeof *accesses->at, compare);
    for (uint32_t i = first + 1; i < accesses->count; i++) {
        struct access *last = &accesses->at[kept], *next = &accesses->at[i];
        if (last->kind != next->kind || last->address.buffer != next->address.buffer ||
            last->address.high < next->address.low)
            accesses->at[++kept] = *next;
        else if (last->address.high < next->address.high)
            last->address.high = next->address.high;
    }
    accesses->count = kept + 1;
}

/* The graph with all that it calls. Passive ops access nothing. */
static void find_called(struct called_accesses *called, uint32_t root)
{
    const struct module *module = called->module;
    uint32_t first = called->pool.count;
    uint8_t *reached = mem_calloc(module->graphs.count, 1);
    reached[root] = 1;
    graphs_mark_reached(module, reached);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        struct addresses addresses;
        if (!reached[g])
            continue;
        addresses_init(&addresses, module, graph);
        for (uint32_t i = 0; addresses.any && i < graph->ops.count; i++)
            if (!op_is_passive(module, graph, &graph->ops.at[i]))
                addresses_of_op(&addresses, &graph->ops.at[i], &called->pool);
        addresses_free(&addresses);
    }
    mem_free(reached);
    for (uint32_t i = first; i < called->pool.count; i++) {
        struct access *access = &called->pool.at[i];
        access->value = NONE;
        if (access->kind == ACCESS_UPDATE)
            access->kind = ACCESS_WRITE;
    }
    merge(&called->pool, first);
    id_map_set(&called->first, root, first);
    id_map_set(&called->count, root, called->pool.count - first);
}

/* Appends what the op accesses by graphs that it calls, if it does: their addresses, the buffers
 * that they name, and the operands that they write. */
static void called_accesses_of_op(struct called_accesses *called, const struct addresses *addresses,
                                  const struct op *op, struct accesses *accesses)
{
    struct op_effects *effects = &called->of_op;
    struct callee callee;
    if (op_call_kind(op) == CALL_NONE)
        return;
    for (uint32_t n = 0; op_callee(called->module, op, n, &callee); n++) {
        if (callee.graph == NONE)
            continue;
        if (id_map_find(&called->first, callee.graph) == NONE)
            find_called(called, callee.graph);
        uint32_t first = id_map_get(&called->first, callee.graph);
        for (uint32_t i = 0; i < id_map_get(&called->count, callee.graph); i++)
            vec_push(accesses, called->pool.at[first + i]);
    }
    if (!called->effects)
        called->effects = effects_new(called->module);
    effects_of_op(called->effects, op, effects);
    for (uint32_t i = 0; i < effects->written.count; i++) {
        uint32_t value = op_operands(addresses->graph, op)[effects->written.at[i]];
        const struct address *known = addresses->any ? addresses_find(addresses, value) : NULL;
        if (known)
            vec_push(accesses, ((struct access){*known, value, ACCESS_UPDATE}));
    }
    for (uint32_t i = 0; i < effects->shared.count; i++) {
        const struct shared_effect *shared = &effects->shared.at[i];
        if (!shared->variable)
            vec_push(accesses, ((struct access){{shared->name, 0, INT64_MAX},
                                                NONE,
                                                shared->write ? ACCESS_WRITE : ACCESS_READ}));
    }
}

static void called_accesses_free(struct called_accesses *called)
{
    effects_free(called->effects);
    op_effects_free(&called->of_op);
    vec_free(&called->pool);
    id_map_free(&called->first);
    id_map_free(&called->count);
}

/* ------------------------------------------------------------------------- pieces ---- */

/* For each piece of memory the number that was set there last, numbers never falling: a tree over
 * the pieces, `all` of a node being what was set for all of its pieces at once, `most` the greatest
 * of any. */
struct pieces {
    uint32_t n; /* a power of two */
    uint32_t *all, *most;
};

static void pieces_init(struct pieces *pieces, uint32_t count)
{
    pieces->n = 1;
    while (pieces->n < count)
        pieces->n *= 2;
    pieces->all = mem_calloc((size_t)pieces->n * 2, sizeof *pieces->all);
    pieces->most = mem_calloc((size_t)pieces->n * 2, sizeof *pieces->most);
}

static void pieces_clear(struct pieces *pieces)
{
    memset(pieces->all, 0, (size_t)pieces->n * 2 * sizeof *pieces->all);
    memset(pieces->most, 0, (size_t)pieces->n * 2 * sizeof *pieces->most);
}

static void pieces_free(struct pieces *pieces)
{
    mem_free(pieces->all);
    mem_free(pieces->most);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void raise_above(struct pieces *pieces, uint32_t at, uint32_t number)
{
    while (at /= 2)
        pieces->most[at] = number;
}

static void pieces_set(struct pieces *pieces, struct range range, uint32_t number)
{
    uint32_t low = range.first + pieces->n, high = low + range.count;
    if (range.count == 0)
        return;
    for (uint32_t l = low, h = high; l < h; l /= 2, h /= 2) {
        if (l & 1)
            pieces->all[l] = pieces->most[l] = number, l++;
        if (h & 1)
            h--, pieces->all[h] = pieces->most[h] = number;
    }
    raise_above(pieces, low, number);
    raise_above(pieces, high - 1, number);
}

static uint32_t pieces_most(const struct pieces *pieces, struct range range)
{
    uint32_t low = range.first + pieces->n, high = low + range.count, most = 0;
    if (range.count == 0)
        return 0;
    for (uint32_t l = low, h = high; l < h; l /= 2, h /= 2) {
        if (l & 1)
            most = larger(most, pieces->most[l++]);
        if (h & 1)
            most = larger(most, pieces->most[--h]);
    }
    for (uint32_t at = low; at /= 2;)
        most = larger(most, pieces->all[at]);
    for (uint32_t at = high - 1; at /= 2;)
        most = larger(most, pieces->all[at]);
    return most;
}

/* -------------------------------------------------------------------------- finding ---- */

/* Where an access begins or ends. */
struct border {
    uint32_t buffer;
    int64_t at;
};

struct finder {
    const struct module *module;
    const struct graph *graph;
    const struct order *order; /* nodes: the ops, then a gate for each super kernel */
    uint32_t *sorted;          /* nodes as they can follow one another */
    struct addresses addresses;
    struct accesses accesses;
    uint32_t *first;         /* per op: its accesses are first[op] .. first[op + 1] - 1 */
    struct range *pieces_of; /* per access: the pieces of memory that it meets */
    VEC(struct border) borders;
    struct pieces written, accessed;
    uint32_t *known;      /* per node: how many ops of the stream at hand are complete before it */
    uint32_t *done;       /* the same when it is complete */
    struct vec_u32 chain; /* the ops of the stream at hand so far */
    struct id_map told;   /* by the label of another stream + 1, 0 for the default one: the last of
                           * the chain that an op there was found to run concurrently with */
    struct id_map last;   /* by the value that stands for a memory: the last place in `sorted`, from
                           * 1, that wrote it as such */
    struct overlaps *found;
};

static int compare_borders(const void *a, const void *b)
{
    const struct border *x = a, *y = b;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint32_t find_border(const struct finder *finder, uint32_t buffer, int64_t at)
{
    uint32_t low;
    struct border wanted = {buffer, at};
    bisect(low, i, finder->borders.count, compare_borders(&finder->borders.at[i], &wanted) < 0);
    return low;
}

/* Memory is cut wherever an access begins or ends. */
static void cut_pieces(struct finder *finder)
{
    uint32_t n = finder->accesses.count, kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct address *a = &finder->accesses.at[i].address;
        vec_push(&finder->borders, ((struct border){a->buffer, a->low}));
        vec_push(&finder->borders, ((struct border){a->buffer, a->high}));
    }
    struct border *borders = finder->borders.at;
    qsort(borders, finder->borders.count, sizeof *borders, compare_borders);
    for (uint32_t i = 0; i < finder->borders.count; i++)
        if (kept == 0 || compare_borders(&borders[kept - 1], &borders[i]) != 0)
            borders[kept++] = borders[i];
    finder->borders.count = kept;
    finder->pieces_of = mem_calloc(n, sizeof *finder->pieces_of);
    for (uint32_t i = 0; i < n; i++) {
        const struct address *a = &finder->accesses.at[i].address;
        uint32_t low = find_border(finder, a->buffer, a->low);
        uint32_t high = find_border(finder, a->buffer, a->high);
        finder->pieces_of[i] = (struct range){low, high - low};
    }
}

static void find_accesses(struct finder *finder)
{
    const struct graph *graph = finder->graph;
    struct called_accesses called = {.module = finder->module};
    finder->first = mem_calloc((size_t)graph->ops.count + 1, sizeof *finder->first);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (!finder->order->passive[i]) {
            addresses_of_op(&finder->addresses, op, &finder->accesses);
            called_accesses_of_op(&called, &finder->addresses, op, &finder->accesses);
        }
        finder->first[i + 1] = finder->accesses.count;
    }
    called_accesses_free(&called);
}

/* --------------------------------------------------------------------- of one stream ---- */

/* The access of an op that another one meets: a write, if there is one. */
static struct access met_by(const struct finder *finder, uint32_t op, const struct access *access)
{
    struct access met = {.value = NONE, .kind = ACCESS_READ};
    bool any = false;
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        const struct access *own = &finder->accesses.at[i];
        if ((own->kind == ACCESS_READ && (access->kind == ACCESS_READ || any)) ||
            met.kind != ACCESS_READ || !address_meets(&own->address, &access->address))
            continue;
        met = *own;
        any = true;
    }
    assert(any);
    return met;
}

/* An access meets the last of the stream's, counted from 1; 0: none. */
static void note_met(struct finder *finder, uint32_t op, uint32_t last, const struct access *access)
{
    const struct memories *memories = &finder->addresses.memories;
    uint32_t stream = finder->order->stream[op];
    if (last == 0)
        return;
    uint32_t from = finder->chain.at[last - 1];
    struct overlap overlap = {from, op, met_by(finder, from, access), *access};
    uint32_t a = overlap.first.value, b = overlap.later.value;
    if (last <= finder->known[op]) {
        if (a == NONE || b == NONE || memory_of(memories, a) != memory_of(memories, b))
            vec_push(&finder->found->ordered, overlap);
        return;
    }
    /* Of another stream the first op is enough, as those after it have the same reason. */
    uint32_t *told = id_map_at(&finder->told, stream == NONE ? 0 : stream + 1);
    if (*told != last)
        vec_push(&finder->found->unordered, overlap);
    *told = last;
}

/* A read meets writes alone; a write meets both, of which the last write is told, too. */
static void visit_op(struct finder *finder, uint32_t op, uint32_t stream)
{
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        const struct access *access = &finder->accesses.at[i];
        uint32_t wrote = pieces_most(&finder->written, finder->pieces_of[i]);
        uint32_t touched =
            access->kind == ACCESS_READ ? 0 : pieces_most(&finder->accessed, finder->pieces_of[i]);
        if (touched != wrote)
            note_met(finder, op, touched, access);
        note_met(finder, op, wrote, access);
    }
    if (finder->order->stream[op] != stream)
        return;
    vec_push(&finder->chain, op);
    finder->done[op] = finder->chain.count;
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        pieces_set(&finder->accessed, finder->pieces_of[i], finder->chain.count);
        if (finder->accesses.at[i].kind != ACCESS_READ)
            pieces_set(&finder->written, finder->pieces_of[i], finder->chain.count);
    }
}

static void visit_stream(struct finder *finder, uint32_t stream)
{
    const struct order *order = finder->order;
    finder->chain.count = 0;
    id_map_clear(&finder->told);
    pieces_clear(&finder->written);
    pieces_clear(&finder->accessed);
    for (uint32_t i = 0; i < order->n_ops; i++) {
        uint32_t node = finder->sorted[i];
        finder->known[node] = 0;
        for (uint32_t e = order->first[node]; e < order->first[node + 1]; e++)
            finder->known[node] = larger(finder->known[node], finder->done[order->edges[e].from]);
        finder->done[node] = finder->known[node];
        if (node < finder->graph->ops.count && !order->passive[node] &&
            finder->first[node] < finder->first[node + 1])
            visit_op(finder, node, stream);
    }
}

/* ---------------------------------------------------------------------- contents ---- */

/* Ops follow one another as they are in `sorted`. A value that no op of the graph has written has
 * its contents from outside, by whatever name. */
static void check_read(struct finder *finder, uint32_t op, uint32_t index,
                       const struct access *read, struct range pieces)
{
    uint32_t wrote =
        id_map_find(&finder->last, memory_of(&finder->addresses.memories, read->value));
    uint32_t last = wrote == NONE ? 0 : pieces_most(&finder->written, pieces);
    if (wrote == NONE || last <= wrote)
        return;
    uint32_t writer = finder->sorted[last - 1];
    struct overwrite found = {op, writer, index, *read, met_by(finder, writer, read)};
    vec_push(&finder->found->overwritten, found);
}

static void read_and_write(struct finder *finder, uint32_t op, uint32_t number)
{
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        const struct access *access = &finder->accesses.at[i];
        if (access->kind != ACCESS_WRITE && access->value != NONE)
            check_read(finder, op, 0, access, finder->pieces_of[i]);
    }
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        const struct access *access = &finder->accesses.at[i];
        if (access->kind == ACCESS_READ)
            continue;
        pieces_set(&finder->written, finder->pieces_of[i], number);
        if (access->value != NONE)
            id_map_set(&finder->last, memory_of(&finder->addresses.memories, access->value),
                       number);
    }
}

static void visit_contents(struct finder *finder)
{
    const struct graph *graph = finder->graph;
    pieces_clear(&finder->written);
    for (uint32_t i = 0; i < finder->order->n_ops; i++)
        if (finder->sorted[i] < graph->ops.count)
            read_and_write(finder, finder->sorted[i], i + 1);
    for (uint32_t i = 0; i < graph->returns.count && finder->addresses.any; i++) {
        const struct address *address = addresses_find(&finder->addresses, graph->returns.at[i]);
        if (!address)
            continue;
        uint32_t low = find_border(finder, address->buffer, address->low);
        uint32_t high = find_border(finder, address->buffer, address->high);
        struct access read = {*address, graph->returns.at[i], ACCESS_READ};
        check_read(finder, NONE, i, &read, (struct range){low, high - low});
    }
    /* Ops that access bytes which a later op overwrites: what a kernel writes, it may read. */
    for (uint32_t place = 0; place < finder->order->n_ops; place++) {
        uint32_t op = finder->sorted[place];
        bool reused = false;
        if (op >= graph->ops.count)
            continue;
        for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++)
            reused |= pieces_most(&finder->written, finder->pieces_of[i]) > place + 1;
        if (reused)
            vec_push(&finder->found->reused, op);
    }
}

/* ---------------------------------------------------------------------------- driving ---- */

bool overlaps_can_be(const struct module *module, const struct graph *graph)
{
    uint32_t i = 0;
    if (!module_may_have(module, W_address))
        return false;
    while (i < graph->ops.count && op_call_kind(&graph->ops.at[i]) == CALL_NONE)
        i++;
    if (i == graph->ops.count)
        return graph_has_addresses(module, graph);
    /* All graphs at once: this is asked for each of them. */
    for (i = 0; i < module->attrs.count; i++)
        if (module->attrs.at[i].key == W_address)
            return true;
    return false;
}

/* Sorts the nodes of an order; false where it has a cycle. */
static bool sort(struct finder *finder, const struct order *order)
{
    struct order_cycle cycle;
    finder->order = order;
    finder->sorted = mem_realloc(finder->sorted, order->n_ops, sizeof *finder->sorted);
    bool acyclic = order_sort(order, finder->sorted, &cycle);
    vec_free(&cycle.edges);
    return acyclic;
}

/* Each stream with ops that access addressed memory; then contents. */
static void visit_all(struct finder *finder)
{
    struct id_map seen = {NULL, 0, 0}; /* streams, by the label + 1, 0 for the default one */
    uint32_t n = finder->order->n_ops;
    finder->known = mem_calloc(n, sizeof *finder->known);
    finder->done = mem_calloc(n, sizeof *finder->done);
    cut_pieces(finder);
    pieces_init(&finder->written, finder->borders.count);
    pieces_init(&finder->accessed, finder->borders.count);
    for (uint32_t op = 0; op < finder->graph->ops.count; op++) {
        uint32_t stream = finder->order->stream[op];
        uint32_t *mark = id_map_at(&seen, stream == NONE ? 0 : stream + 1);
        if (finder->first[op] == finder->first[op + 1] || *mark != NONE)
            continue;
        *mark = 1;
        visit_stream(finder, stream);
    }
    id_map_free(&seen);
    visit_contents(finder);
}

void overlaps_find(struct overlaps *overlaps, const struct module *module,
                   const struct graph *graph, const struct order *order)
{
    struct finder finder = {.module = module, .graph = graph, .order = order, .found = overlaps};
    struct gates gates;
    *overlaps = (struct overlaps){.ordered = {NULL, 0, 0}};
    if (!overlaps_can_be(module, graph))
        return;
    addresses_init(&finder.addresses, module, graph);
    finder.addresses.any = true; /* its ops may name buffers that called graphs cut */
    find_accesses(&finder);
    gates_init(&gates, module, graph, order);
    if (sort(&finder, &gates.order) || sort(&finder, order))
        visit_all(&finder);
    gates_free(&gates);
    addresses_free(&finder.addresses);
    vec_free(&finder.accesses);
    mem_free(finder.first);
    mem_free(finder.pieces_of);
    vec_free(&finder.borders);
    pieces_free(&finder.written);
    pieces_free(&finder.accessed);
    mem_free(finder.sorted);
    mem_free(finder.known);
    mem_free(finder.done);
    vec_free(&finder.chain);
    id_map_free(&finder.told);
    id_map_free(&finder.last);
}

void overlaps_free(struct overlaps *overlaps)
{
    vec_free(&overlaps->ordered);
    vec_free(&overlaps->unordered);
    vec_free(&overlaps->overwritten);
    vec_free(&overlaps->reused);
}

void overlaps_take(struct overlaps *overlaps, struct order *order)
{
    for (uint32_t i = 0; i < overlaps->reused.count; i++)
        order->beyond[overlaps->reused.at[i]] |= BEYOND_READS;
    order->overlaps = overlaps->ordered.at;
    overlaps->ordered.at = NULL;
    overlaps_free(overlaps);
}

const struct overlap *order_overlap(const struct order *order, uint32_t from, uint32_t to)
{
    for (uint32_t e = order->first[to]; e < order->first[to + 1]; e++)
        if (order->edges[e].kind == ORDER_ADDRESS && order->edges[e].from == from)
            return &order->overlaps[order->edges[e].name];
    return NULL;
}

const char *access_text(const struct module *module, const struct graph *graph,
                        const struct access *access, struct arena *arena)
{
    const char *address = address_text(module, &access->address, arena);
    if (access->value == NONE)
        return address;
    return arena_printf(arena, "%s (%%%.*s)", address,
                        NAME(module, graph->values.at[access->value].name));
}
