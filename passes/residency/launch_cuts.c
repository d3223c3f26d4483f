#include "passes/residency/launch_cuts.h"
#include "ir/analysis/concurrency.h"
#include "passes/partition/body_writer.h"
#include "passes/partition/reference_cuts.h"
#include "passes/partition/superkernel_names.h"

#include <string.h>

/* What becomes of a super kernel. */
enum { KEPT, CUT, DISSOLVED };

/* A super kernel, or a part of one that is cut. */
struct cut_part {
    uint32_t block;      /* the super kernel */
    uint32_t first, end; /* places among the ops of that which execute something */
    bool last;
    struct vec_u32 ops;
};

struct cutter {
    struct module *module;
    struct graph *graph;
    const struct order *order;
    uint8_t *before;  /* per op: its super kernel is cut before it */
    uint8_t *cut;     /* per block: KEPT, CUT, or DISSOLVED: its ops are launched alone */
    uint32_t *sorted; /* ops in the order of the graph, which is that of the text where it can */
    VEC(struct cut_part) parts;
    uint32_t *part_of;    /* per op, or NONE: it is launched alone */
    struct vec_u32 taken; /* symbols (passes/fusion/superkernel_names.h) */
    int64_t *position;    /* per op, by the reference; NULL: names are not its own */
};

static uint32_t superkernel_of(const struct cutter *c, uint32_t op)
{
    return graph_superkernel(c->graph, c->graph->ops.at[op].block);
}

/* ------------------------------------------------------------------------ events ---- */

static void add_event(struct graph *graph, struct range *events, uint32_t event)
{
    struct vec_u32 all = {NULL, 0, 0};
    if (events->count && events->first + events->count == graph->refs.count) {
        graph_add_refs(graph, &event, 1); /* many in turn for one list take linear time */
        events->count++;
        return;
    }
    for (uint32_t i = 0; i < events->count; i++)
        vec_push(&all, graph->refs.at[events->first + i]);
    vec_push(&all, event);
    *events = graph_add_refs(graph, all.at, all.count);
    vec_free(&all);
}

/* Adds events to what an op sends or receives. */
static void add_events(struct graph *graph, uint32_t op, struct range events, bool sends)
{
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[op]);
    for (uint32_t i = 0; i < events.count; i++)
        add_event(graph, sends ? &clauses.send : &clauses.recv, graph->refs.at[events.first + i]);
    graph_set_clauses(graph, op, clauses);
}

/* Events of a launch that is cut, or left unfused: what it waits for, the first op on each stream
 * does where it is left unfused. What it sends, its last op does, or its last part: after the last
 * op on each other stream that is not of that part. */
static void hand_over_events(struct cutter *c, uint32_t block)
{
    struct graph *graph = c->graph;
    const struct order *order = c->order;
    const struct range recv = graph->blocks.at[block].recv, send = graph->blocks.at[block].send;
    struct id_map last = {NULL, 0, 0}; /* by the label + 1, 0 for NONE */
    bool unfused = c->cut[block] == DISSOLVED;
    uint32_t final = NONE;
    for (uint32_t i = 0; i < order->n_ops; i++) {
        uint32_t op = c->sorted[i];
        if (order->passive[op] || superkernel_of(c, op) != block)
            continue;
        if (unfused && recv.count && id_map_find(&last, order->stream[op] + 1) == NONE)
            add_events(graph, op, recv, false);
        id_map_set(&last, order->stream[op] + 1, op);
        final = op;
    }
    for (uint32_t key = id_map_next(&last, 0); key != NONE && send.count;
         key = id_map_next(&last, key + 1)) {
        uint32_t op = id_map_find(&last, key);
        if (op == final || (!unfused && c->parts.at[c->part_of[op]].last))
            continue;
        uint32_t event = module_name_printf(c->module, "end.%u", op); /* no text has the name */
        struct range range = graph_add_refs(graph, &event, 1);
        add_events(graph, op, range, true);
        add_events(graph, final, range, false);
    }
    if (final != NONE && send.count && unfused)
        add_events(graph, final, send, true);
    id_map_free(&last);
}

/* ------------------------------------------------------------------------- parts ---- */

static void find_parts(struct cutter *c)
{
    uint32_t *of_block = mem_calloc(c->graph->blocks.count, sizeof *of_block);
    memset(of_block, 0xff, c->graph->blocks.count * sizeof *of_block); /* NONE */
    for (uint32_t i = 0; i < c->order->n_ops; i++) {
        uint32_t op = c->sorted[i], block = superkernel_of(c, op);
        c->part_of[op] = NONE;
        if (block == NONE || c->cut[block] == DISSOLVED)
            continue;
        if (of_block[block] == NONE || c->before[op]) {
            struct cut_part part = {.block = block, .last = true};
            if (of_block[block] != NONE) {
                c->parts.at[of_block[block]].last = false;
                part.first = part.end = c->parts.at[of_block[block]].end;
            }
            of_block[block] = c->parts.count;
            vec_push(&c->parts, part);
        }
        struct cut_part *part = &c->parts.at[of_block[block]];
        c->part_of[op] = of_block[block];
        part->end += !c->order->passive[op];
        vec_push(&part->ops, op);
    }
    mem_free(of_block);
}

/* Parts are called as those of scopes. A super kernel that is a part already goes on from its own
 * place. */
static uint32_t part_name(struct cutter *c, const struct cut_part *part)
{
    const struct block *block = &c->graph->blocks.at[part->block];
    struct part_places places = {0, 0};
    uint32_t base = superkernel_part_of(c->module, block->name, &places), name,
             scope = attr_symbol(c->module, block->attrs, W_scope);
    if (c->position && scope != NONE) {
        places = superkernel_positions_around(part->ops.at, part->ops.count, c->position);
        name = superkernel_reference_name(c->module, c->graph, scope, &places, part->ops.at,
                                          part->ops.count, c->position);
    } else {
        places.end = places.begin + (part->end > part->first ? part->end - 1 : part->first);
        places.begin += part->first;
        name = superkernel_part_name(c->module, base == NONE ? block->name : base, places);
    }
    return taken_symbols_take_free(&c->taken, c->module, name);
}

/* What the super kernel as a whole waits for, its first part does; what it sends, its last. */
static struct block part_block(struct cutter *c, const struct cut_part *part)
{
    struct block block = c->graph->blocks.at[part->block];
    if (part->first > 0) {
        block.recv.count = 0;
        block.end_loc = NONE;
    }
    if (!part->last)
        block.send.count = 0;
    if (part->first > 0 || !part->last)
        block.name = part_name(c, part);
    return block;
}

/* ------------------------------------------------------------------------------- text ---- */

/* Ops in an order that is right for launches, too. */
static void arrange(const struct cutter *c, const struct body_launch *launches,
                    struct body_op *text)
{
    uint32_t n = c->order->n_ops, *at = mem_calloc(n, sizeof *at),
             *launch = mem_calloc(n, sizeof *launch), *ops = mem_calloc(n, sizeof *ops),
             *component = mem_calloc(n, sizeof *component);
    struct concurrency concurrency;
    memset(at, 0xff, n * sizeof *at); /* NONE */
    for (uint32_t i = 0; i < n; i++)
        launch[i] = c->part_of[c->sorted[i]];
    concurrency_init(&concurrency, c->order, at, c->sorted, n, launch, c->parts.count);
    for (uint32_t i = 0; i < c->parts.count; i++) {
        concurrency.launches[i].stream = launches[i].stream;
        concurrency.launches[i].placed = true;
    }
    bool fits = concurrency_fits(&concurrency);
    if (fits && memcmp(concurrency.ran, c->sorted, n * sizeof *ops) == 0)
        concurrency_arrange(&concurrency, ops, component);
    else /* what waits has been moved, or by hand nothing was put in order */
        memcpy(ops, fits ? concurrency.ran : c->sorted, n * sizeof *ops);
    for (uint32_t i = 0; i < n; i++)
        text[i] = (struct body_op){ops[i], c->part_of[ops[i]], component[i]};
    concurrency_free(&concurrency);
    mem_free(at);
    mem_free(launch);
    mem_free(ops);
    mem_free(component);
}

static void write_body(struct cutter *c)
{
    uint32_t n = c->order->n_ops;
    c->sorted = order_sorted(c->order);
    c->part_of = mem_calloc(n, sizeof *c->part_of);
    find_parts(c);
    for (uint32_t b = 0; b < c->graph->blocks.count; b++)
        if (c->cut[b] != KEPT && block_has_events(&c->graph->blocks.at[b]))
            hand_over_events(c, b);
    struct body_launch *launches = mem_calloc(c->parts.count, sizeof *launches);
    struct body_op *text = mem_calloc(n, sizeof *text);
    for (uint32_t i = 0; i < c->parts.count; i++) {
        struct block block = part_block(c, &c->parts.at[i]);
        uint32_t stream = stream_label(attr_string(c->module, block.attrs, W_stream));
        launches[i] = (struct body_launch){block, stream, NONE};
    }
    arrange(c, launches, text);
    body_write(c->graph, c->order, launches, text);
    for (uint32_t i = 0; i < c->parts.count; i++)
        vec_free(&c->parts.at[i].ops);
    vec_free(&c->parts);
    mem_free(launches);
    mem_free(text);
    mem_free(c->sorted);
    mem_free(c->part_of);
}

/* ------------------------------------------------------------------------- changes ---- */

enum sk_strict fix_strictness(const struct fix *fix, const struct graph_launches *launches)
{
    uint32_t block = launches->sources.at[fix->row].block;
    if (!fix->cut)
        return SK_STRICT_unset;
    const struct sk_options *options =
        block_options(launches->module, &launches->graph->blocks.at[block]);
    return (enum sk_strict)options->of[SK_strict_scope_check].number;
}

/* The op no longer receives the event: its super kernel does, before it starts. */
static void move_wait(struct graph *graph, uint32_t op, uint32_t event)
{
    uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[op]);
    struct vec_u32 left = {NULL, 0, 0};
    if (block == NONE)
        return;
    for (uint32_t i = 0; i < clauses.recv.count; i++)
        if (graph->refs.at[clauses.recv.first + i] != event)
            vec_push(&left, graph->refs.at[clauses.recv.first + i]);
    clauses.recv = graph_add_refs(graph, left.at, left.count);
    graph_set_clauses(graph, op, clauses);
    add_event(graph, &graph->blocks.at[block].recv, event);
    vec_free(&left);
}

void fixes_apply(const struct fixes *fixes, const struct graph_launches *launches,
                 const struct order *order, struct module *module, struct graph *graph,
                 bool reference_names)
{
    struct cutter c = {.module = module,
                       .graph = graph,
                       .order = order,
                       .before = mem_calloc(graph->ops.count, 1),
                       .cut = mem_calloc(graph->blocks.count, 1)};
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < fixes->count; i++) {
        const struct fix *fix = &fixes->at[i];
        if (!fix->cut)
            continue;
        cuts++;
        c.before[launches->table.steps.at[fix->step].user] = 1;
        c.cut[launches->sources.at[fix->row].block] =
            fix_strictness(fix, launches) == SK_STRICT_bypass ? DISSOLVED : CUT;
    }
    if (cuts) {
        taken_symbols_init(&c.taken, module);
        if (reference_names)
            c.position = reference_positions(order, graph->n_params);
        write_body(&c);
    }
    /* What is not cut waits as a whole: the super kernel that the op is of by now, a part where it
     * has been cut; none where it is left unfused. */
    for (uint32_t i = 0; i < fixes->count; i++) {
        const struct launch_step *step = &launches->table.steps.at[fixes->at[i].step];
        if (!fixes->at[i].cut)
            move_wait(graph, step->user, launches->events.at[step->event]);
    }
    /* A launch that now waits as a whole may have what it waits for below it, or in its text. */
    if (cuts < fixes->count && body_is_nested(graph)) {
        struct order moved;
        order_init(&moved, module, graph);
        c.order = &moved;
        memset(c.before, 0, graph->ops.count);
        mem_free(c.cut);
        c.cut = mem_calloc(graph->blocks.count, 1);
        write_body(&c);
        order_free(&moved);
    }
    vec_free(&c.taken);
    mem_free(c.position);
    mem_free(c.before);
    mem_free(c.cut);
}
