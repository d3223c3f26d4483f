/* Ops outside of a scope that need a part of it, while another part needs them: they run beside its
 * super kernel, which tells them in the middle that the one part is complete, and waits there
 * before the other. So they go along with the scope. */
#include "ir/calls.h"
#include "passes/fusion/fusion_internal.h"
#include "ir/rings.h"

#include <assert.h>
#include <string.h>

/* Ops that are looked at to find what lies between those of scopes, in all; beyond, scopes break as
 * if nothing could run beside them. And how often scopes are scheduled anew. */
enum { BESIDE_SEARCH = 1 << 26, BESIDE_ROUNDS = 8 };

/* ------------------------------------------------------------------------- candidates ---- */

/* Where ops of a group stand, and the streams that its super kernel may be launched on. */
struct extent {
    uint32_t first, end;  /* in a sorted list of all ops */
    uint32_t stream;      /* the one that all of its ops are on, or that it is launched on */
    bool launched, mixed; /* an op of it executes something; they are on several streams */
};

static struct extent *find_extents(const struct fusion *f, const uint32_t *sorted)
{
    struct extent *extents = mem_calloc(f->groups.count, sizeof *extents);
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        uint32_t op = sorted[i];
        struct extent *extent = &extents[f->group_of[op]];
        if (extent->end == 0)
            extent->first = i;
        extent->end = i + 1;
        if (f->order->passive[op])
            continue;
        extent->mixed =
            extent->launched && (extent->mixed || extent->stream != f->order->stream[op]);
        extent->stream = f->order->stream[op];
        extent->launched = true;
    }
    return extents;
}

/* A super kernel of the input has a stream. */
static void fix_extent(const struct fusion *f, uint32_t group, struct extent *extent)
{
    const struct block *block = &f->graph->blocks.at[f->groups.at[group].block];
    if (f->mode != FUSION_COLLECT || block->kind != BLOCK_SUPERKERNEL)
        return;
    uint32_t label = attr_string(f->module, block->attrs, W_stream);
    extent->stream = label == NONE ? NONE : stream_label(label);
    extent->mixed = false;
}

bool fusion_is_alone(const struct fusion *f, uint32_t group)
{
    const struct fusion_group *g = &f->groups.at[group];
    struct sk_options options;
    return attr_flag(f->module, f->graph->blocks.at[g->block].attrs, W_fixed_slots) ||
           (fusion_options(f, g, &options) && options.of[SK_debug_per_op_max_core_num].number != 0);
}

/* An op that executes something runs on a stream of its own, and not by calling graphs. */
static bool may_be_beside(const struct fusion *f, const struct extent *extent, uint32_t op)
{
    if (f->group_of[op] != GROUP_NONE || f->barred[op])
        return false;
    return f->order->passive[op] || (op_call_kind(&f->graph->ops.at[op]) == CALL_NONE &&
                                     (extent->mixed || f->order->stream[op] != extent->stream));
}

/* Whether an op that executes nothing stands beside the super kernel in the input: it stays there,
 * though its order may have gone, as events are between others. */
static bool stands_beside(const struct fusion *f, uint32_t op, uint32_t group)
{
    const struct graph *graph = f->graph;
    uint32_t block = f->groups.at[group].block;
    return f->order->passive[op] && f->superkernel_of[op] == NONE &&
           graph->blocks.at[block].kind == BLOCK_SUPERKERNEL &&
           graph_enclosing(graph, graph->ops.at[op].block, BLOCK_SUPERKERNEL) == block;
}

static void join_group(struct fusion *f, struct rings *rings, const uint32_t *sorted,
                       uint32_t group, const struct extent *extent)
{
    uint32_t count = extent->end - extent->first;
    const uint32_t *ops = sorted + extent->first;
    uint8_t *places = mem_calloc(count, 1);
    for (uint32_t i = 0; i < count; i++)
        places[i] = f->group_of[ops[i]] == group ? RING_OWN : RING_BESIDE;
    rings_place(rings, ops, count, places);
    for (uint32_t i = 0; i < count; i++)
        if ((places[i] == RING_BESIDE || stands_beside(f, ops[i], group)) &&
            may_be_beside(f, extent, ops[i])) {
            f->beside[ops[i]] = 1;
            f->group_of[ops[i]] = group;
        }
    mem_free(places);
}

/* Groups that may not break come first where two want an op. */
static void join_all(struct fusion *f, const struct break_cost *costs, const uint32_t *sorted)
{
    struct extent *extents = find_extents(f, sorted);
    struct rings rings;
    uint64_t work = 0;
    rings_init(&rings, f->order);
    for (int rank = BREAK_FIXED; rank >= BREAK_FREELY; rank--)
        for (uint32_t i = 1; i < f->groups.count && work < BESIDE_SEARCH; i++) {
            if ((int)costs[i].rank != rank || !extents[i].launched ||
                extents[i].end - extents[i].first < 3 || fusion_is_alone(f, i))
                continue;
            work += extents[i].end - extents[i].first;
            fix_extent(f, i, &extents[i]);
            join_group(f, &rings, sorted, i, &extents[i]);
        }
    rings_free(&rings);
    mem_free(extents);
}

/* --------------------------------------------------------------------------- segments ---- */

/* The schedule anew: what went along with a group, but is in no ring with the segment, comes before
 * or behind it, and so do ops that execute nothing and are in the way. */
struct settling {
    struct fusion *f;
    struct rings rings;
    uint32_t *ops, count;
    struct segments segments;
    bool again;
};

static void put_ops(struct settling *s, const struct segment *segment, const uint8_t *places,
                    enum ring_place place)
{
    const uint32_t *ops = s->f->schedule.ops + segment->first;
    for (uint32_t i = 0; i < segment->count; i++) {
        if (places[i] != place)
            continue;
        vec_push(&s->segments,
                 (struct segment){.group = GROUP_NONE, .first = s->count, .count = 1});
        s->f->beside[ops[i]] = 0;
        s->f->group_of[ops[i]] = GROUP_NONE;
        s->ops[s->count++] = ops[i];
    }
}

/* What stands in the way of a launch on any of the segment's streams is not to go along. */
static void check_stream(struct settling *s, const struct segment *segment)
{
    struct fusion *f = s->f;
    uint32_t stream;
    if (fusion_stream(f, segment, s->ops + segment->first, &stream))
        return;
    for (uint32_t i = 0; i < segment->count; i++) {
        uint32_t op = s->ops[segment->first + i];
        if (f->beside[op] && !f->order->passive[op] && f->order->stream[op] == stream)
            f->barred[op] = s->again = true;
    }
}

static void settle_segment(struct settling *s, const struct segment *segment)
{
    struct fusion *f = s->f;
    const uint32_t *ops = f->schedule.ops + segment->first;
    uint8_t *places = mem_calloc(segment->count, 1);
    for (uint32_t i = 0; i < segment->count; i++)
        places[i] =
            f->beside[ops[i]] && !stands_beside(f, ops[i], segment->group) ? RING_BESIDE : RING_OWN;
    rings_place(&s->rings, ops, segment->count, places);
    put_ops(s, segment, places, RING_BEFORE);
    struct segment settled = {.group = segment->group, .first = s->count};
    for (uint32_t i = 0; i < segment->count; i++)
        if (places[i] == RING_OWN || places[i] == RING_BESIDE)
            s->ops[s->count++] = ops[i];
    settled.count = s->count - settled.first;
    vec_push(&s->segments, settled);
    check_stream(s, &settled);
    put_ops(s, segment, places, RING_BEHIND);
    mem_free(places);
}

/* False: ops are barred that cannot go along. */
static bool settle(struct fusion *f)
{
    struct schedule *schedule = &f->schedule;
    struct settling s = {.f = f, .ops = mem_calloc(schedule->count, sizeof *s.ops)};
    rings_init(&s.rings, f->order);
    for (uint32_t i = 0; i < schedule->segments.count; i++) {
        const struct segment *segment = &schedule->segments.at[i];
        if (segment->group != GROUP_NONE) {
            settle_segment(&s, segment);
            continue;
        }
        uint32_t op = schedule->ops[segment->first];
        f->beside[op] = 0; /* it has left its group, if it went along with one */
        vec_push(&s.segments, (struct segment){.group = GROUP_NONE, .first = s.count, .count = 1});
        s.ops[s.count++] = op;
    }
    rings_free(&s.rings);
    vec_free(&schedule->segments);
    mem_free(schedule->ops);
    schedule->segments = s.segments;
    schedule->ops = s.ops;
    for (uint32_t i = 0; i < s.count; i++) {
        schedule->place[s.ops[i]] = i;
    }
    return !s.again;
}

/* ---------------------------------------------------------------------------- driving ---- */

/* With those ops that may go along, once. */
static bool schedule_once(struct fusion *f, const struct break_cost *costs, const uint32_t *sorted)
{
    uint32_t n = f->graph->ops.count;
    memset(f->beside, 0, n);
    if (sorted)
        join_all(f, costs, sorted);
    uint8_t *joined = mem_calloc(n, 1);
    memcpy(joined, f->beside, n);
    schedule_init(&f->schedule, f->order, f->group_of, joined, f->groups.count, costs);
    bool ok = settle(f);
    for (uint32_t i = 0; i < n; i++)
        if (joined[i])
            f->group_of[i] = GROUP_NONE;
    f->schedule.beside = NULL;
    mem_free(joined);
    return ok;
}

void fusion_schedule(struct fusion *f, const struct break_cost *costs)
{
    uint32_t n = f->graph->ops.count;
    uint32_t *sorted = mem_calloc(n, sizeof *sorted), *group_of = mem_calloc(n, sizeof *group_of);
    struct order_cycle cycle;
    bool acyclic = order_sort(f->order, sorted, &cycle);
    assert(acyclic); /* the verifier refuses cycles */
    (void)acyclic;
    vec_free(&cycle.edges);
    memcpy(group_of, f->group_of, n * sizeof *group_of);
    memset(f->barred, 0, n);
    for (unsigned round = 0; !schedule_once(f, costs, round < BESIDE_ROUNDS ? sorted : NULL);
         round++) {
        schedule_free(&f->schedule);
        memcpy(f->group_of, group_of, n * sizeof *group_of);
    }
    mem_free(group_of);
    mem_free(sorted);
}
