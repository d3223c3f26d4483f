/* insert-events: order that crosses streams or super kernels becomes events.
 *
 * needs    super kernels
 * changes  `send`, `recv` and `after` of ops, `send` and `recv` of super kernels: all are made anew
 * keeps    the required order; everything else
 *
 * What runs without events in order: ops of one stream within one super kernel, and launches (super
 * kernels, and ops outside of them) on one stream. Everything else that the graph demands becomes
 * an event, unless it is implied by that and by other events; so no event can be dropped.
 *
 * An event between ops of one super kernel is inner: an order that insert-syncs enforces. Others
 * are outer: words in memory. The first op of a super kernel does not wait for one and the last
 * does not send one; the launch does it for them. Outer events are reused: eID_N is the N-th use of
 * event ID, and each use is over, with the launch that waited for it, before the next one begins.
 *
 * Passive ops neither send nor wait. They conduct: who waits for one waits for what it waits for,
 * of which the last op on each stream is enough.
 */
#define _GNU_SOURCE /* qsort_r */
#include "ir/order.h"
#include "ir/syntax/locate.h"
#include "passes/pass.h"

#include <assert.h>
#include <string.h>

/* A launch: a super kernel, or one op. */
struct outer_launch {
    uint32_t block;       /* of the super kernel, or NONE */
    uint32_t lane;        /* of the stream that it runs on */
    uint32_t first, last; /* ops, in list order, but for passive ones */
    uint32_t *know;       /* per lane: what is complete when the launch is; NULL for single ops */
};

struct event {
    uint32_t from, to;           /* ops */
    bool from_launch, to_launch; /* the launch of that op sends, receives */
    bool inner;
    uint32_t name;
};

/* Streams are lanes, numbered densely. What an op knows to be complete is, per lane, how many of
 * the lane's ops are: the graph demands the order of each stream, so whoever knows an op to be
 * complete knows all before it on its stream to be. */
struct inserter {
    struct pass_context *context;
    struct module *module;
    struct graph *graph;
    const struct order *order;
    VEC(struct order_edge) edges; /* of the op at hand */
    uint32_t n_lanes;
    uint8_t *passive;     /* per op: it executes nothing */
    uint32_t *lane_of;    /* per op */
    uint32_t *rank;       /* per op: its place on its lane, from 1 */
    uint32_t *lane_first; /* per lane: the place of its first op in `ranked` */
    uint32_t *ranked;     /* ops by lane and rank, but for passive ones */
    uint32_t *launch_of;  /* per op */
    uint32_t *know;       /* per op: n_lanes counts, known complete when it starts; of a passive
                           * one: what must be complete before whoever uses it */
    uint32_t *conducted; /* n_lanes counts, 0 between two ops: what one waits for by passive ones */
    uint32_t *lane_know; /* per lane of launches: the same for the launch before */
    uint32_t *start;     /* n_lanes counts: known when the current launch starts */
    uint32_t *last_inner; /* per lane: the last op on it in the current launch, or NONE */
    VEC(struct outer_launch) launches;
    VEC(struct event) events;
};

static uint32_t *op_know(struct inserter *in, uint32_t op)
{
    return in->know + (size_t)op * in->n_lanes;
}

static void join(const struct inserter *in, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < in->n_lanes; i++)
        if (to[i] < from[i])
            to[i] = from[i];
}

/* What is known behind the completion of an op. */
static void join_done(struct inserter *in, uint32_t *to, uint32_t op)
{
    join(in, to, op_know(in, op));
    if (to[in->lane_of[op]] < in->rank[op])
        to[in->lane_of[op]] = in->rank[op];
}

/* ------------------------------------------------------------------------- preparing ---- */

static uint32_t lane_of_label(uint32_t *lane_of_name, uint32_t n_names, uint32_t label,
                              uint32_t *n_lanes)
{
    uint32_t *lane = &lane_of_name[label == NONE ? n_names : label];
    if (!*lane)
        *lane = ++*n_lanes;
    return *lane - 1;
}

/* Passive ops are neither its first nor its last, unless it has no others. */
static void add_to_launch(const struct inserter *in, struct outer_launch *launch, uint32_t op)
{
    if (in->passive[op])
        return;
    if (in->passive[launch->first])
        launch->first = op;
    launch->last = op;
}

/* Launches in text order, which satisfies the graph, and the lane of each op and launch. */
static void find_launches(struct inserter *in)
{
    const struct graph *graph = in->graph;
    uint32_t n_names = in->module->names.count;
    uint32_t *lane_of_name = mem_calloc((size_t)n_names + 1, sizeof *lane_of_name);
    uint32_t *ranks = mem_calloc((size_t)graph->ops.count + graph->blocks.count + 2, sizeof *ranks);
    for (uint32_t i = 0; i < in->order->n_ops; i++) {
        uint32_t op = in->order->text[i];
        uint32_t block = graph_enclosing(graph, graph->ops.at[op].block, BLOCK_SUPERKERNEL);
        uint32_t lane = lane_of_label(lane_of_name, n_names, in->order->stream[op], &in->n_lanes);
        in->lane_of[op] = lane;
        in->passive[op] = in->order->passive[op];
        in->rank[op] = ranks[lane] += !in->passive[op];
        struct outer_launch *before =
            in->launches.count ? &in->launches.at[in->launches.count - 1] : NULL;
        if (!before || block == NONE || before->block != block) {
            if (block != NONE) {
                uint32_t label = attr_string(in->module, graph->blocks.at[block].attrs, W_stream);
                lane = lane_of_label(lane_of_name, n_names, stream_label(label), &in->n_lanes);
            }
            vec_push(&in->launches, (struct outer_launch){block, lane, op, op, NULL});
        }
        add_to_launch(in, &in->launches.at[in->launches.count - 1], op);
        in->launch_of[op] = in->launches.count - 1;
    }
    mem_free(ranks);
    mem_free(lane_of_name);
}

static void rank_ops(struct inserter *in)
{
    uint32_t n = in->order->n_ops;
    in->lane_first = mem_calloc((size_t)in->n_lanes + 1, sizeof *in->lane_first);
    in->ranked = mem_calloc(n, sizeof *in->ranked);
    for (uint32_t op = 0; op < n; op++)
        in->lane_first[in->lane_of[op] + 1] += !in->passive[op];
    for (uint32_t lane = 0; lane < in->n_lanes; lane++)
        in->lane_first[lane + 1] += in->lane_first[lane];
    for (uint32_t op = 0; op < n; op++)
        if (!in->passive[op])
            in->ranked[in->lane_first[in->lane_of[op]] + in->rank[op] - 1] = op;
}

/* ------------------------------------------------------------------------- inserting ---- */

static bool is_known(struct inserter *in, const uint32_t *know, uint32_t op)
{
    assert(!in->passive[op]);
    return know[in->lane_of[op]] >= in->rank[op];
}

/* Makes an event for the order `from` before `to`, and gives `to` what it learns by it. */
static void add_event(struct inserter *in, uint32_t from, uint32_t to)
{
    const struct outer_launch *sender = &in->launches.at[in->launch_of[from]];
    const struct outer_launch *receiver = &in->launches.at[in->launch_of[to]];
    struct event event = {.from = from, .to = to, .inner = sender == receiver, .name = NONE};
    event.from_launch = !event.inner && sender->block != NONE && sender->last == from;
    event.to_launch = !event.inner && receiver->block != NONE && receiver->first == to;
    vec_push(&in->events, event);
    uint32_t *know = op_know(in, to);
    if (event.from_launch)
        join(in, know, sender->know);
    else
        join_done(in, know, from);
    if (event.to_launch)
        join(in, in->start, know);
}

/* Edges of an op, the latest `from` first: it may imply the others. */
static int compare_edges(const void *a, const void *b, void *position)
{
    const uint32_t *place = position;
    uint32_t x = place[((const struct order_edge *)a)->from];
    uint32_t y = place[((const struct order_edge *)b)->from];
    return x < y ? 1 : -(x > y);
}

/* What an op waits for by passive ones, as edges: from the last op of each lane. */
static void take_conducted(struct inserter *in)
{
    for (uint32_t lane = 0; lane < in->n_lanes; lane++) {
        if (in->conducted[lane] == 0)
            continue;
        uint32_t from = in->ranked[in->lane_first[lane] + in->conducted[lane] - 1];
        vec_push(&in->edges, ((struct order_edge){from, NONE, ORDER_EVENT}));
        in->conducted[lane] = 0;
    }
}

/* The edges of an op, none of which is from a passive one. */
static void take_edges(struct inserter *in, uint32_t op)
{
    bool conducted = false;
    in->edges.count = 0;
    for (uint32_t e = in->order->first[op]; e < in->order->first[op + 1]; e++) {
        uint32_t from = in->order->edges[e].from;
        if (!in->passive[from]) {
            vec_push(&in->edges, in->order->edges[e]);
            continue;
        }
        join(in, in->conducted, op_know(in, from));
        conducted = true;
    }
    if (conducted)
        take_conducted(in);
}

/* What a passive op conducts is known of those that it waits for. */
static void conduct(struct inserter *in, uint32_t op)
{
    uint32_t *know = op_know(in, op);
    for (uint32_t e = in->order->first[op]; e < in->order->first[op + 1]; e++) {
        uint32_t from = in->order->edges[e].from, lane = in->lane_of[from];
        if (in->passive[from])
            join(in, know, op_know(in, from));
        else if (know[lane] < in->rank[from])
            know[lane] = in->rank[from];
    }
}

/* An event may be sent below where it is received, so text order may not do. */
static void conduct_all(struct inserter *in)
{
    uint32_t n = in->order->n_ops;
    if (in->lane_first[in->n_lanes] == n) /* there are no passive ops */
        return;
    uint32_t *sorted = mem_calloc(n, sizeof *sorted);
    struct order_cycle cycle;
    bool acyclic = order_sort(in->order, sorted, &cycle);
    assert(acyclic); /* the verifier refuses circles */
    for (uint32_t i = 0; i < n && acyclic; i++)
        if (in->passive[sorted[i]])
            conduct(in, sorted[i]);
    vec_free(&cycle.edges);
    mem_free(sorted);
}

static void insert_op(struct inserter *in, uint32_t op)
{
    assert(in->lane_of[op] < in->n_lanes);
    if (in->passive[op])
        return;
    uint32_t *know = op_know(in, op), *last = &in->last_inner[in->lane_of[op]];
    memcpy(know, in->start, in->n_lanes * sizeof *know);
    if (*last != NONE)
        join_done(in, know, *last);
    *last = op;
    take_edges(in, op);
    if (in->edges.count == 0)
        return;
    qsort_r(in->edges.at, in->edges.count, sizeof *in->edges.at, compare_edges,
            in->order->position);
    for (uint32_t i = 0; i < in->edges.count; i++)
        if (!is_known(in, know, in->edges.at[i].from))
            add_event(in, in->edges.at[i].from, op);
}

static void begin_launch(struct inserter *in, const struct outer_launch *launch)
{
    size_t size = in->n_lanes * sizeof *in->start;
    memcpy(in->start, in->lane_know + (size_t)launch->lane * in->n_lanes, size);
    memset(in->last_inner, 0xff, size); /* NONE */
}

static void end_launch(struct inserter *in, struct outer_launch *launch, uint32_t first,
                       uint32_t end)
{
    uint32_t *know = in->lane_know + (size_t)launch->lane * in->n_lanes;
    join(in, know, in->start);
    for (uint32_t i = first; i < end; i++)
        if (!in->passive[in->order->text[i]])
            join_done(in, know, in->order->text[i]);
    if (launch->block == NONE)
        return;
    launch->know = mem_calloc(in->n_lanes, sizeof *launch->know);
    memcpy(launch->know, know, in->n_lanes * sizeof *know);
}

static void insert_all(struct inserter *in)
{
    uint32_t i = 0, n = in->order->n_ops;
    while (i < n) {
        uint32_t first = i, launch = in->launch_of[in->order->text[i]];
        begin_launch(in, &in->launches.at[launch]);
        for (; i < n && in->launch_of[in->order->text[i]] == launch; i++)
            insert_op(in, in->order->text[i]);
        end_launch(in, &in->launches.at[launch], first, i);
    }
}

/* ---------------------------------------------------------------------------- naming ---- */

/* The uses of an outer event: the last one's receiver, and how many there were. */
struct use {
    uint32_t to, count;
};

enum { MAX_CANDIDATES = 64 };

/* Whether a use is over when the op `from` starts: the op that waited, and all of the launch that
 * it is part of, which clears the event at its end, are complete. */
static bool use_is_over(struct inserter *in, const struct use *use, uint32_t from)
{
    const struct outer_launch *receiver = &in->launches.at[in->launch_of[use->to]];
    const uint32_t *know = op_know(in, from);
    if (receiver->block == NONE)
        return is_known(in, know, use->to);
    if (in->launch_of[from] == in->launch_of[use->to])
        return false;
    for (uint32_t i = 0; i < in->n_lanes; i++)
        if (know[i] < receiver->know[i])
            return false;
    return true;
}

static int compare_events(const void *a, const void *b, void *position)
{
    const uint32_t *place = position;
    const struct event *x = a, *y = b;
    if (place[x->from] != place[y->from])
        return place[x->from] < place[y->from] ? -1 : 1;
    return place[x->to] < place[y->to] ? -1 : place[x->to] > place[y->to];
}

/* i0, i1 and so on, but for those that are types (i8): an event cannot be called so. */
static uint32_t name_inner(struct inserter *in, uint32_t *number)
{
    uint32_t name;
    do
        name = module_name_printf(in->module, "i%u", (*number)++);
    while (name >= W_KEYWORD_END && name < W_DTYPE_END);
    return name;
}

/* Names the events in the order of their senders. Returns how many outer ones there are. */
static uint32_t name_events(struct inserter *in)
{
    VEC(struct use) uses = {NULL, 0, 0};
    uint32_t inner = 0;
    if (in->events.count) /* sorting nothing at NULL is undefined */
        qsort_r(in->events.at, in->events.count, sizeof *in->events.at, compare_events,
                in->order->position);
    for (uint32_t i = 0; i < in->events.count; i++) {
        struct event *event = &in->events.at[i];
        if (event->inner) {
            event->name = name_inner(in, &inner);
            continue;
        }
        uint32_t id = 0, end = uses.count < MAX_CANDIDATES ? uses.count : MAX_CANDIDATES;
        while (id < end && !use_is_over(in, &uses.at[id], event->from))
            id++;
        if (id == end) {
            id = uses.count;
            vec_push(&uses, (struct use){event->to, 0});
        }
        uses.at[id].to = event->to;
        uint32_t n = uses.at[id].count++;
        event->name = n ? module_name_printf(in->module, "e%u_%u", id, n)
                        : module_name_printf(in->module, "e%u", id);
    }
    uint32_t outer = uses.count;
    vec_free(&uses);
    return outer;
}

/* --------------------------------------------------------------------------- writing ---- */

/* Event names per op or per block, gathered in the order of in->events. */
struct lists {
    uint32_t *first; /* per owner; one more at the end */
    uint32_t *names;
};

static void gather(struct lists *lists, const struct inserter *in, uint32_t n_owners, bool send,
                   bool of_launches)
{
    uint32_t *fill = NULL;
    lists->first = mem_calloc((size_t)n_owners + 1, sizeof *lists->first);
    lists->names = mem_calloc(in->events.count, sizeof *lists->names);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < in->events.count; i++) {
            const struct event *event = &in->events.at[i];
            if ((send ? event->from_launch : event->to_launch) != of_launches)
                continue;
            uint32_t owner = send ? event->from : event->to;
            if (of_launches)
                owner = in->launches.at[in->launch_of[owner]].block;
            if (round == 0)
                lists->first[owner + 1]++;
            else
                lists->names[fill[owner]++] = event->name;
        }
        if (round == 1)
            break;
        for (uint32_t i = 0; i < n_owners; i++)
            lists->first[i + 1] += lists->first[i];
        fill = mem_realloc(NULL, (size_t)n_owners + 1, sizeof *fill);
        memcpy(fill, lists->first, ((size_t)n_owners + 1) * sizeof *fill);
    }
    mem_free(fill);
}

static void lists_free(struct lists *lists)
{
    mem_free(lists->first);
    mem_free(lists->names);
}

static struct range add_names(struct graph *graph, const struct lists *lists, uint32_t i)
{
    return graph_add_refs(graph, lists->names + lists->first[i],
                          lists->first[i + 1] - lists->first[i]);
}

static void write_ops(struct inserter *in)
{
    struct graph *graph = in->graph;
    struct lists send, recv;
    uint32_t n = graph->ops.count;
    gather(&send, in, n, true, false);
    gather(&recv, in, n, false, false);
    uint32_t n_old = graph->clauses.count - 1; /* the new ones stand behind them, for a while */
    for (uint32_t op = 0; op < n; op++) {
        struct clauses clauses = {.forms = op_clauses(graph, &graph->ops.at[op])->forms};
        clauses.send = add_names(graph, &send, op);
        clauses.recv = add_names(graph, &recv, op);
        graph->ops.at[op].clauses = 0;
        if (clauses.send.count + clauses.recv.count + clauses.forms.count == 0)
            continue;
        graph->ops.at[op].clauses = graph->clauses.count - n_old;
        vec_push(&graph->clauses, clauses);
    }
    graph->clauses.count -= n_old;
    memmove(graph->clauses.at + 1, graph->clauses.at + 1 + n_old,
            (graph->clauses.count - 1) * sizeof *graph->clauses.at);
    lists_free(&send);
    lists_free(&recv);
}

static void write_blocks(struct inserter *in)
{
    struct graph *graph = in->graph;
    struct lists send, recv;
    gather(&send, in, graph->blocks.count, true, true);
    gather(&recv, in, graph->blocks.count, false, true);
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        graph->blocks.at[b].send = add_names(graph, &send, b);
        graph->blocks.at[b].recv = add_names(graph, &recv, b);
    }
    lists_free(&send);
    lists_free(&recv);
}

/* --------------------------------------------------------------------------- driving ---- */

static bool check_limit(struct inserter *in, uint32_t events)
{
    const struct module *module = in->module;
    if (module->targets.count == 0)
        return true;
    int64_t limit = attr_int(module, module->targets.at[0].attrs, W_events, -1);
    if (limit < 0 || events <= limit)
        return true;
    if (diag_at(in->context->diags, DIAG_event_limit, locate_name(module, in->graph->loc),
                "the graph needs %u events at a time, but the target has %lld", events,
                (long long)limit))
        diag_help(in->context->diags,
                  "use fewer streams, or fewer orders between them and from scope to scope");
    return false;
}

/* What the ops know takes room for each stream: enough for any real graph. */
static bool check_size(struct inserter *in)
{
    if ((uint64_t)in->order->n_ops * in->n_lanes <= UINT32_C(1) << 28)
        return true;
    diag_at(in->context->diags, DIAG_unsupported, locate_name(in->module, in->graph->loc),
            "%u ops on %u streams are more than can be analysed", in->order->n_ops, in->n_lanes);
    return false;
}

static bool insert_graph(struct inserter *in)
{
    uint32_t n = in->graph->ops.count;
    in->passive = mem_calloc(n, 1);
    in->lane_of = mem_calloc(n, sizeof *in->lane_of);
    in->rank = mem_calloc(n, sizeof *in->rank);
    in->launch_of = mem_calloc(n, sizeof *in->launch_of);
    find_launches(in);
    if (!check_size(in))
        return false;
    in->know = mem_calloc((size_t)n * in->n_lanes, sizeof *in->know);
    in->lane_know = mem_calloc((size_t)in->n_lanes * in->n_lanes, sizeof *in->lane_know);
    in->start = mem_calloc(in->n_lanes, sizeof *in->start);
    in->last_inner = mem_calloc(in->n_lanes, sizeof *in->last_inner);
    in->conducted = mem_calloc(in->n_lanes, sizeof *in->conducted);
    rank_ops(in);
    conduct_all(in);
    insert_all(in);
    if (!check_limit(in, name_events(in)))
        return false;
    write_ops(in);
    write_blocks(in);
    return true;
}

static void inserter_free(struct inserter *in)
{
    for (uint32_t i = 0; i < in->launches.count; i++)
        mem_free(in->launches.at[i].know);
    vec_free(&in->launches);
    vec_free(&in->events);
    mem_free(in->passive);
    mem_free(in->lane_of);
    mem_free(in->rank);
    mem_free(in->lane_first);
    mem_free(in->ranked);
    mem_free(in->conducted);
    mem_free(in->launch_of);
    mem_free(in->know);
    mem_free(in->lane_know);
    mem_free(in->start);
    mem_free(in->last_inner);
    vec_free(&in->edges);
}

bool pass_insert_events(struct pass_context *context)
{
    bool ok = true;
    for (uint32_t i = 0; i < context->module->graphs.count; i++) {
        struct inserter in = {
            .context = context, .module = context->module, .graph = &context->module->graphs.at[i]};
        in.order = analyses_order(context->analyses, context->module, in.graph);
        ok = insert_graph(&in) && ok;
        inserter_free(&in);
    }
    return ok;
}
