/* insert-events: order that crosses streams or super kernels becomes events.
 *
 * needs    super kernels
 * changes  `send`, `recv` and `after` of ops, `send` and `recv` of super kernels: all are made anew
 * keeps    the required order; names of events that entries know; everything else
 *
 * What runs without events in order: ops of one stream within one super kernel, and launches (super
 * kernels, and ops outside of them) on one stream. Everything else that the graph demands becomes
 * an event, unless it is implied by that and by other events; so no event can be dropped.
 *
 * Who rearranges launches must still see what the graph demands. So what launches of one stream
 * imply, but nothing that the text says of ops, stays as `after`: as long as launches may be
 * rearranged. Behind that it is dropped (`final`).
 *
 * An event between ops of one super kernel is inner: an order that insert-syncs enforces. Others
 * are outer: words in memory. The first op of a super kernel does not wait for one and the last
 * does not send one; the launch does it for them. The word of an outer event may be used again when
 * its use is over, with the launch that waited for it: a target has so many (`events`).
 *
 * The slots of a super kernel with `fixed_slots` are a contract: events of its ops are kept as they
 * are, and no op of it gets others. What else is to come before or behind one of its ops does so
 * before or behind the launch; order inside needs no events.
 *
 * Passive ops neither send nor wait. They conduct: who waits for one waits for what it waits for,
 * of which the last op on each stream is enough.
 */
#define _GNU_SOURCE /* qsort_r */
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"
#include "passes/manager/pass.h"
#include "passes/residency/launch_report.h"
#include "passes/transform/events/event_inserter.h"
#include "passes/transform/events/insert_events.h"

#include <string.h>

/* ------------------------------------------------------------------------- preparing ---- */

/* `lanes`: by the label + 1, 0 for the default stream. */
static uint32_t lane_of_label(struct id_map *lanes, uint32_t label, uint32_t *n_lanes)
{
    uint32_t *lane = id_map_at(lanes, label == NONE ? 0 : label + 1);
    if (*lane == NONE)
        *lane = (*n_lanes)++;
    return *lane;
}

static uint32_t add_launch(struct inserter *in, struct id_map *lanes, uint32_t block, uint32_t op)
{
    uint32_t place = in->order->position[op];
    struct outer_launch launch = {.block = block,
                                  .lane = in->lane_of[op],
                                  .first = op,
                                  .last = op,
                                  .place = place,
                                  .end = place + 1};
    if (block != NONE) {
        struct range attrs = in->graph->blocks.at[block].attrs;
        uint32_t label = attr_string(in->module, attrs, W_stream);
        launch.lane = lane_of_label(lanes, stream_label(label), &in->n_lanes);
        launch.fixed = attr_flag(in->module, attrs, W_fixed_slots);
    }
    vec_push(&in->launches, launch);
    return in->launches.count - 1;
}

/* Launches in text order, which satisfies the graph, and the lane of each op and launch. */
static void find_launches(struct inserter *in)
{
    const struct graph *graph = in->graph;
    struct id_map lanes = {NULL, 0, 0}, of_block = {NULL, 0, 0};
    uint32_t *ranks = mem_calloc((size_t)graph->ops.count + graph->blocks.count + 2, sizeof *ranks);
    for (uint32_t i = 0; i < in->order->n_ops; i++) {
        uint32_t op = in->order->text[i];
        uint32_t block = graph_superkernel(graph, graph->ops.at[op].block), single = NONE;
        uint32_t lane = lane_of_label(&lanes, in->order->stream[op], &in->n_lanes);
        uint32_t *launch = block == NONE ? &single : id_map_at(&of_block, block);
        in->lane_of[op] = lane;
        in->passive[op] = in->order->passive[op];
        in->rank[op] = ranks[lane] += !in->passive[op];
        if (*launch == NONE)
            *launch = add_launch(in, &lanes, block, op);
        in->launch_of[op] = *launch;
        if (in->passive[op])
            continue;
        /* Passive ops are neither its first nor its last, unless it has no others. */
        struct outer_launch *of = &in->launches.at[*launch];
        if (in->passive[of->first]) {
            of->first = op;
            of->place = i;
        }
        of->last = op;
        of->end = i + 1;
    }
    mem_free(ranks);
    id_map_free(&lanes);
    id_map_free(&of_block);
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

/* Makes an event for the order `from` before `to`, and gives `to` what it learns by it. */
static void add_event(struct inserter *in, uint32_t from, uint32_t to, bool implied)
{
    const struct outer_launch *sender = &in->launches.at[in->launch_of[from]];
    const struct outer_launch *receiver = &in->launches.at[in->launch_of[to]];
    struct event event = {
        .from = from, .to = to, .inner = sender == receiver, .implied = implied, .name = NONE};
    event.from_launch =
        !event.inner && sender->block != NONE && (sender->last == from || sender->fixed);
    event.to_launch =
        !event.inner && receiver->block != NONE && (receiver->first == to || receiver->fixed);
    if (!event.inner || !sender->fixed)
        vec_push(&in->events, event);
    for (enum knowledge by = 0; by < inserter_kinds(in); by++) {
        uint32_t *start = in->frame->start[by], *of_op = inserter_know(in, by, to);
        uint32_t *know = event.to_launch ? start : of_op;
        if (event.from_launch && sender->know[by])
            inserter_join(in, know, sender->know[by]);
        else
            inserter_join_done(in, by, know, from);
        if (event.to_launch)
            inserter_join(in, of_op, start);
    }
}

/* Edges of an op, the latest `from` first: it may imply the others. */
static int compare_edges(const void *a, const void *b, void *position)
{
    const uint32_t *place = position;
    uint32_t x = place[((const struct order_edge *)a)->from];
    uint32_t y = place[((const struct order_edge *)b)->from];
    return x < y ? 1 : -(x > y);
}

/* What an op knows by its launch, the ops before it there, and events that are kept. */
static void begin_op(struct inserter *in, uint32_t op)
{
    uint32_t *last = &in->frame->last_inner[in->lane_of[op]];
    struct range recv = op_clauses(in->graph, &in->graph->ops.at[op])->recv;
    for (enum knowledge by = 0; by < inserter_kinds(in); by++) {
        uint32_t *know = inserter_know(in, by, op);
        if (by == BY_LAUNCHES || *last == NONE)
            memcpy(know, in->frame->start[by], in->n_lanes * sizeof *know);
        if (*last != NONE)
            inserter_join_done(in, by, know, *last);
        kept_join(in, by, know, recv);
    }
    *last = op;
}

/* What it knows by the edges that stay. */
static void take_staying(struct inserter *in, uint32_t op)
{
    uint32_t *know = inserter_know(in, BY_OPS, op);
    for (uint32_t e = in->order->first[op]; e < in->order->first[op + 1]; e++) {
        uint32_t from = in->order->edges[e].from;
        if (!conduct_stays(in, op, &in->order->edges[e]))
            continue;
        if (!in->passive[from])
            inserter_join_done(in, BY_OPS, know, from);
        for (uint32_t lane = 0; in->passive[from] && lane < in->n_lanes; lane++)
            if (inserter_know(in, BY_OPS, from)[lane])
                inserter_join_done(
                    in, BY_OPS, know,
                    inserter_ranked(in, lane, inserter_know(in, BY_OPS, from)[lane]));
    }
}

/* What it knows by launches of one stream alone is said by `after`, or an event where that can
 * not: of senders without results, and of launches with fixed slots, which wait as wholes. */
static void keep_implied(struct inserter *in, uint32_t op)
{
    uint32_t *know = inserter_know(in, BY_OPS, op);
    in->after_of[op].first = in->afters.count;
    for (uint32_t i = 0; i < in->edges.count; i++) {
        uint32_t from = in->edges.at[i].from;
        struct range results = in->graph->ops.at[from].results;
        if (inserter_is_known(in, know, from))
            continue;
        if (results.count == 0 || in->launches.at[in->launch_of[op]].fixed) {
            add_event(in, from, op, true);
            continue;
        }
        vec_push(&in->afters, results.first);
        inserter_join_done(in, BY_OPS, know, from);
    }
    in->after_of[op].count = in->afters.count - in->after_of[op].first;
}

static void insert_op(struct inserter *in, uint32_t op)
{
    assert(in->lane_of[op] < in->n_lanes);
    if (in->passive[op])
        return;
    uint32_t *know = inserter_know(in, BY_LAUNCHES, op);
    begin_op(in, op);
    conduct_take_edges(in, op);
    if (in->edges.count == 0)
        return;
    qsort_r(in->edges.at, in->edges.count, sizeof *in->edges.at, compare_edges,
            in->order->position);
    if (!in->final)
        take_staying(in, op);
    for (uint32_t i = 0; i < in->edges.count; i++)
        if (!inserter_is_known(in, know, in->edges.at[i].from))
            add_event(in, in->edges.at[i].from, op, false);
    if (!in->final)
        keep_implied(in, op);
}

static struct launch_frame *take_frame(struct inserter *in)
{
    if (in->frames.count)
        return in->frames.at[--in->frames.count];
    struct launch_frame *frame = mem_calloc(1, sizeof *frame);
    for (enum knowledge by = 0; by < KNOWLEDGE; by++)
        frame->start[by] = mem_calloc(in->n_lanes, sizeof *frame->start[by]);
    frame->last_inner = mem_calloc(in->n_lanes, sizeof *frame->last_inner);
    return frame;
}

static void begin_launch(struct inserter *in, struct outer_launch *launch)
{
    struct launch_frame *frame = in->frame = launch->frame = take_frame(in);
    size_t size = in->n_lanes * sizeof *frame->last_inner;
    memcpy(frame->start[BY_LAUNCHES], in->lane_know + (size_t)launch->lane * in->n_lanes, size);
    memset(frame->start[BY_OPS], 0, size);
    memset(frame->last_inner, 0xff, size); /* NONE */
    for (enum knowledge by = 0; launch->block != NONE && by < inserter_kinds(in); by++)
        kept_join(in, by, frame->start[by], in->graph->blocks.at[launch->block].recv);
}

/* What is known behind all ops of a launch. */
static void join_launch(struct inserter *in, enum knowledge by, uint32_t *know,
                        const struct outer_launch *launch)
{
    for (uint32_t i = launch->place; i < launch->end; i++) {
        uint32_t op = in->order->text[i];
        if (!in->passive[op] && &in->launches.at[in->launch_of[op]] == launch)
            inserter_join_done(in, by, know, op);
    }
}

static void end_launch(struct inserter *in, struct outer_launch *launch)
{
    uint32_t *know = in->lane_know + (size_t)launch->lane * in->n_lanes;
    inserter_join(in, know, in->frame->start[BY_LAUNCHES]);
    join_launch(in, BY_LAUNCHES, know, launch);
    vec_push(&in->frames, launch->frame);
    launch->frame = NULL;
    if (launch->block == NONE)
        return;
    for (enum knowledge by = 0; by < inserter_kinds(in); by++)
        launch->know[by] = mem_calloc(in->n_lanes, sizeof *know);
    memcpy(launch->know[BY_LAUNCHES], know, in->n_lanes * sizeof *know);
    if (!in->final)
        join_launch(in, BY_OPS, launch->know[BY_OPS], launch);
}

/* Between the first and the last op of a super kernel others may stand, of launches beside it. */
static void insert_all(struct inserter *in)
{
    for (uint32_t i = 0; i < in->order->n_ops; i++) {
        uint32_t op = in->order->text[i];
        struct outer_launch *launch = &in->launches.at[in->launch_of[op]];
        in->frame = launch->frame;
        if (launch->place == i)
            begin_launch(in, launch);
        insert_op(in, op);
        if (launch->end == i + 1)
            end_launch(in, launch);
    }
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

/* A launch with fixed slots, which waits as a whole, may wait for itself then. */
static bool check_cycle(struct inserter *in)
{
    struct order order;
    struct order_cycle cycle;
    bool fixed = false;
    for (uint32_t i = 0; i < in->launches.count; i++)
        fixed |= in->launches.at[i].fixed;
    if (!fixed)
        return true;
    uint32_t *sorted = mem_calloc(in->graph->ops.count, sizeof *sorted);
    order_init(&order, in->module, in->graph);
    bool acyclic = order_sort(&order, sorted, &cycle);
    if (!acyclic &&
        diag_at(in->context->diags, DIAG_cycle,
                locate_op(in->module, &in->graph->ops.at[cycle.op], OP_TYPE_NAME, 0),
                "this op waits for itself where launches with fixed slots wait as wholes"))
        diag_help(in->context->diags, "leave 'fixed_slots' out: then ops can wait by events");
    vec_free(&cycle.edges);
    order_free(&order);
    mem_free(sorted);
    return acyclic;
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
    for (enum knowledge by = 0; by < inserter_kinds(in); by++)
        in->know[by] = mem_calloc((size_t)n * in->n_lanes, sizeof *in->know[by]);
    in->after_of = mem_calloc(n, sizeof *in->after_of);
    in->lane_know = mem_calloc((size_t)in->n_lanes * in->n_lanes, sizeof *in->lane_know);
    in->conducted = mem_calloc(in->n_lanes, sizeof *in->conducted);
    rank_ops(in);
    conduct_all(in);
    kept_find_senders(in);
    insert_all(in);
    if (!check_limit(in, events_name(in)))
        return false;
    events_write(in);
    return check_cycle(in);
}

static void inserter_free(struct inserter *in)
{
    for (enum knowledge by = 0; by < KNOWLEDGE; by++) {
        for (uint32_t i = 0; i < in->launches.count; i++)
            mem_free(in->launches.at[i].know[by]);
        mem_free(in->know[by]);
    }
    vec_free(&in->afters);
    mem_free(in->after_of);
    vec_free(&in->launches);
    vec_free(&in->events);
    mem_free(in->passive);
    mem_free(in->lane_of);
    mem_free(in->rank);
    mem_free(in->lane_first);
    mem_free(in->ranked);
    mem_free(in->conducted);
    mem_free(in->launch_of);
    mem_free(in->lane_know);
    for (uint32_t i = 0; i < in->frames.count; i++) {
        for (enum knowledge by = 0; by < KNOWLEDGE; by++)
            mem_free(in->frames.at[i]->start[by]);
        mem_free(in->frames.at[i]->last_inner);
        mem_free(in->frames.at[i]);
    }
    vec_free(&in->frames);
    vec_free(&in->edges);
    id_map_free(&in->sender);
}

bool insert_events(struct pass_context *context, bool final)
{
    bool ok = true;
    struct id_map names = {NULL, 0, 0}, kept = {NULL, 0, 0}, written = {NULL, 0, 0};
    analyses_make_orders(context->analyses, context->module);
    for (uint32_t i = 0; i < context->module->graphs.count; i++)
        kept_find(&kept, &names, context->module, &context->module->graphs.at[i]);
    for (uint32_t i = 0; context->module->entries.count && i < context->module->graphs.count; i++)
        kept_find_written(&written, &names, context->module, &context->module->graphs.at[i]);
    for (uint32_t i = 0; i < context->module->graphs.count; i++) {
        struct inserter in = {.context = context,
                              .module = context->module,
                              .graph = &context->module->graphs.at[i],
                              .names = &names,
                              .kept = &kept,
                              .written = &written,
                              .final = final};
        in.order = analyses_order(context->analyses, context->module, in.graph);
        gears_tell_copy(context->diags, context->module, in.graph);
        ok = insert_graph(&in) && ok;
        inserter_free(&in);
    }
    gears_tell_copy(context->diags, context->module, NULL);
    id_map_free(&names);
    id_map_free(&kept);
    id_map_free(&written);
    return ok;
}

bool pass_insert_events(struct pass_context *context)
{
    bool ok = insert_events(context, false);
    if (ok && context->diags->remarks) {
        analyses_drop(context->analyses);
        report_rings(context->diags, context->module, context->analyses);
    }
    return ok;
}
