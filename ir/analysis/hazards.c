/* Ops that access the same bytes of addressed memory: a tree over pieces of memory keeps, for each,
 * the op that accessed it last, so that each access takes logarithmic time. Graphs that an op calls
 * are visited once for what they access. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/hazards.h"
#include "ir/analysis/launch_order.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"

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
    struct vec_u32 stack;       /* scratch: graphs to look at */
    struct vec_u32 seen;        /* per graph: the last one whose parts it was counted among, + 1 */
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

static void push_graph(struct called_accesses *called, uint32_t graph, uint32_t root)
{
    if (called->seen.at[graph] == root + 1)
        return;
    called->seen.at[graph] = root + 1;
    vec_push(&called->stack, graph);
}

static void push_callees(struct called_accesses *called, const struct op *op, uint32_t root)
{
    struct callee callee;
    for (uint32_t n = 0; op_callee(called->module, op, n, &callee); n++)
        if (callee.graph != NONE)
            push_graph(called, callee.graph, root);
}

/* One graph's own ops. Passive ones access nothing. */
static void take_graph(struct called_accesses *called, uint32_t graph, uint32_t root)
{
    const struct graph *g = &called->module->graphs.at[graph];
    struct addresses addresses;
    addresses_init(&addresses, called->module, g);
    for (uint32_t i = 0; i < g->ops.count; i++) {
        if (addresses.any && !op_is_passive(called->module, g, &g->ops.at[i]))
            addresses_of_op(&addresses, &g->ops.at[i], &called->pool);
        push_callees(called, &g->ops.at[i], root);
    }
    addresses_free(&addresses);
}

/* The graph with all that it calls. */
static void find_called(struct called_accesses *called, uint32_t root)
{
    uint32_t first = called->pool.count;
    while (called->seen.count < called->module->graphs.count)
        vec_push(&called->seen, 0);
    push_graph(called, root, root);
    while (called->stack.count)
        take_graph(called, called->stack.at[--called->stack.count], root);
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

static void add_effects(struct called_accesses *called, const struct addresses *addresses,
                        const struct op *op, struct accesses *accesses)
{
    if (!called->effects)
        called->effects = effects_new(called->module);
    effects_of_op(called->effects, op, &called->of_op);
    for (uint32_t i = 0; i < called->of_op.written.count; i++) {
        uint32_t value = op_operands(addresses->graph, op)[called->of_op.written.at[i]];
        const struct address *known = addresses->any ? addresses_find(addresses, value) : NULL;
        if (known)
            vec_push(accesses, ((struct access){*known, value, ACCESS_UPDATE}));
    }
    for (uint32_t i = 0; i < called->of_op.shared.count; i++) {
        const struct shared_effect *shared = &called->of_op.shared.at[i];
        if (!shared->variable)
            vec_push(accesses, ((struct access){{shared->name, 0, INT64_MAX},
                                                NONE,
                                                shared->write ? ACCESS_WRITE : ACCESS_READ}));
    }
}

/* Appends what the op accesses by graphs that it calls, if it does: their addresses, the buffers
 * that they name, and the operands that they write. */
static void called_accesses_of_op(struct called_accesses *called, const struct addresses *addresses,
                                  const struct op *op, struct accesses *accesses)
{
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
    add_effects(called, addresses, op, accesses);
}

static void called_accesses_free(struct called_accesses *called)
{
    effects_free(called->effects);
    op_effects_free(&called->of_op);
    vec_free(&called->pool);
    id_map_free(&called->first);
    id_map_free(&called->count);
    vec_free(&called->stack);
    vec_free(&called->seen);
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
                           * the chain that an op there was found to be beside */
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

static bool meets(const struct access *a, const struct access *b)
{
    return (a->kind != ACCESS_READ || b->kind != ACCESS_READ) &&
           address_meets(&a->address, &b->address);
}

/* The access of an op that another one meets: a write, if there is one. */
static struct access met_by(const struct finder *finder, uint32_t op, const struct access *access)
{
    struct access met = {.value = NONE, .kind = ACCESS_READ};
    bool any = false;
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        const struct access *own = &finder->accesses.at[i];
        if (!meets(own, access) || (any && (met.kind != ACCESS_READ || own->kind == ACCESS_READ)))
            continue;
        met = *own;
        any = true;
    }
    assert(any);
    return met;
}

static void note_accesses(struct finder *finder, uint32_t op, uint32_t number)
{
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        pieces_set(&finder->accessed, finder->pieces_of[i], number);
        if (finder->accesses.at[i].kind != ACCESS_READ)
            pieces_set(&finder->written, finder->pieces_of[i], number);
    }
}

/* Of a stream beside the one at hand, the first op is enough, as those behind it have the same
 * reason. */
static bool is_told(struct finder *finder, uint32_t op, uint32_t last)
{
    uint32_t stream = finder->order->stream[op];
    uint32_t *told = id_map_at(&finder->told, stream == NONE ? 0 : stream + 1);
    bool same = *told == last;
    *told = last;
    return same;
}

static bool is_one_memory(const struct finder *finder, const struct overlap *overlap)
{
    uint32_t a = overlap->first.value, b = overlap->later.value;
    return a != NONE && b != NONE &&
           memory_of(&finder->addresses.memories, a) == memory_of(&finder->addresses.memories, b);
}

/* An access meets the last of the stream's, counted from 1; 0: none. */
static void note_met(struct finder *finder, uint32_t op, uint32_t last, const struct access *access)
{
    if (last == 0)
        return;
    uint32_t from = finder->chain.at[last - 1];
    struct overlap overlap = {from, op, met_by(finder, from, access), *access};
    if (last <= finder->known[op]) {
        if (!is_one_memory(finder, &overlap))
            vec_push(&finder->found->ordered, overlap);
    } else if (!is_told(finder, op, last))
        vec_push(&finder->found->unordered, overlap);
}

/* Who reads meets writes alone; who writes meets both, of which the last write is told, too. */
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
    note_accesses(finder, op, finder->chain.count);
    finder->done[op] = finder->chain.count;
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

static void visit_streams(struct finder *finder)
{
    struct id_map seen = {NULL, 0, 0};
    bool default_seen = false;
    for (uint32_t op = 0; op < finder->graph->ops.count; op++) {
        uint32_t stream = finder->order->stream[op];
        if (finder->first[op] == finder->first[op + 1] ||
            (stream == NONE ? default_seen : id_map_find(&seen, stream) != NONE))
            continue;
        if (stream == NONE)
            default_seen = true;
        else
            id_map_set(&seen, stream, 1);
        visit_stream(finder, stream);
    }
    id_map_free(&seen);
}

/* ---------------------------------------------------------------------- contents ---- */

/* Who wrote what last, as all ops follow one another: numbers are places in `sorted`, from 1. */
struct reader {
    struct finder *finder;
    struct id_map last; /* by the value that stands for a memory: the last that wrote it as such */
};

static struct access write_at(const struct finder *finder, uint32_t writer,
                              const struct address *read)
{
    for (uint32_t i = finder->first[writer]; i < finder->first[writer + 1]; i++) {
        const struct access *access = &finder->accesses.at[i];
        if (access->kind != ACCESS_READ && address_meets(&access->address, read))
            return *access;
    }
    assert(!"nothing is written there");
    return (struct access){.value = NONE};
}

/* A value that no op of the graph has written has its contents from outside, by whatever name. */
static void check_read(struct reader *reader, uint32_t op, uint32_t index,
                       const struct access *read, struct range pieces)
{
    struct finder *finder = reader->finder;
    uint32_t wrote =
        id_map_find(&reader->last, memory_of(&finder->addresses.memories, read->value));
    uint32_t last = wrote == NONE ? 0 : pieces_most(&finder->written, pieces);
    if (wrote == NONE || last <= wrote)
        return;
    uint32_t writer = finder->sorted[last - 1];
    struct overwrite found = {op, writer, index, *read, write_at(finder, writer, &read->address)};
    vec_push(&finder->found->overwritten, found);
}

static void read_and_write(struct reader *reader, uint32_t op, uint32_t number)
{
    struct finder *finder = reader->finder;
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        const struct access *access = &finder->accesses.at[i];
        if (access->kind != ACCESS_WRITE && access->value != NONE)
            check_read(reader, op, 0, access, finder->pieces_of[i]);
    }
    for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++) {
        const struct access *access = &finder->accesses.at[i];
        if (access->kind == ACCESS_READ)
            continue;
        pieces_set(&finder->written, finder->pieces_of[i], number);
        if (access->value != NONE)
            id_map_set(&reader->last, memory_of(&finder->addresses.memories, access->value),
                       number);
    }
}

static void check_return(struct reader *reader, uint32_t index)
{
    struct finder *finder = reader->finder;
    uint32_t value = finder->graph->returns.at[index];
    const struct address *address = addresses_find(&finder->addresses, value);
    if (!address)
        return;
    uint32_t low = find_border(finder, address->buffer, address->low);
    uint32_t high = find_border(finder, address->buffer, address->high);
    struct access read = {*address, value, ACCESS_READ};
    check_read(reader, NONE, index, &read, (struct range){low, high - low});
}

static void visit_contents(struct finder *finder)
{
    struct reader reader = {.finder = finder};
    pieces_clear(&finder->written);
    for (uint32_t i = 0; i < finder->order->n_ops; i++)
        if (finder->sorted[i] < finder->graph->ops.count)
            read_and_write(&reader, finder->sorted[i], i + 1);
    for (uint32_t i = 0; i < finder->graph->returns.count && finder->addresses.any; i++)
        check_return(&reader, i);
    id_map_free(&reader.last);
}

/* Ops that access bytes which a later op overwrites, by the last writers that visit_contents has
 * found. What a kernel writes, it may read again. */
static void find_reused(struct finder *finder)
{
    for (uint32_t place = 0; place < finder->order->n_ops; place++) {
        uint32_t op = finder->sorted[place];
        bool reused = false;
        if (op >= finder->graph->ops.count)
            continue;
        for (uint32_t i = finder->first[op]; i < finder->first[op + 1]; i++)
            reused |= pieces_most(&finder->written, finder->pieces_of[i]) > place + 1;
        if (reused)
            vec_push(&finder->found->reused, op);
    }
}

/* ---------------------------------------------------------------------------- driving ---- */

static bool sort(struct finder *finder, const struct order *order)
{
    struct order_cycle cycle;
    finder->order = order;
    finder->sorted = mem_realloc(finder->sorted, order->n_ops, sizeof *finder->sorted);
    bool acyclic = order_sort(order, finder->sorted, &cycle);
    vec_free(&cycle.edges);
    return acyclic;
}

static void find_all(struct finder *finder, const struct order *order)
{
    struct gates gates;
    gates_init(&gates, finder->module, finder->graph, order);
    if (sort(finder, &gates.order) || sort(finder, order)) {
        uint32_t n = finder->order->n_ops;
        finder->known = mem_calloc(n, sizeof *finder->known);
        finder->done = mem_calloc(n, sizeof *finder->done);
        cut_pieces(finder);
        pieces_init(&finder->written, finder->borders.count);
        pieces_init(&finder->accessed, finder->borders.count);
        visit_streams(finder);
        visit_contents(finder);
        find_reused(finder);
    }
    gates_free(&gates);
}

static void finder_free(struct finder *finder)
{
    addresses_free(&finder->addresses);
    vec_free(&finder->accesses);
    mem_free(finder->first);
    mem_free(finder->pieces_of);
    vec_free(&finder->borders);
    pieces_free(&finder->written);
    pieces_free(&finder->accessed);
    mem_free(finder->sorted);
    mem_free(finder->known);
    mem_free(finder->done);
    vec_free(&finder->chain);
    id_map_free(&finder->told);
}

static bool has_calls(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (op_call_kind(&graph->ops.at[i]) != CALL_NONE)
            return true;
    return false;
}

bool overlaps_can_be(const struct module *module, const struct graph *graph)
{
    if (!module_may_have(module, W_address))
        return false;
    if (!has_calls(graph))
        return graph_has_addresses(module, graph);
    /* All graphs at once: this is asked for each of them. */
    for (uint32_t i = 0; i < module->attrs.count; i++)
        if (module->attrs.at[i].key == W_address)
            return true;
    return false;
}

void overlaps_find(struct overlaps *overlaps, const struct module *module,
                   const struct graph *graph, const struct order *order)
{
    struct finder finder = {.module = module, .graph = graph, .order = order, .found = overlaps};
    *overlaps = (struct overlaps){.ordered = {NULL, 0, 0}};
    if (overlaps_can_be(module, graph)) {
        addresses_init(&finder.addresses, module, graph);
        finder.addresses.any = true; /* its ops may name buffers that called graphs cut */
        find_accesses(&finder);
        find_all(&finder, order);
    }
    finder_free(&finder);
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
