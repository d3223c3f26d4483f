/* Which parts of groups are one launch.
 *
 * The list schedule (schedule.c) breaks groups as if launches could only run one after another. Its
 * segments, contracted, are an acyclic graph. To make two parts of a group one launch closes a
 * cycle where something between needs the one and is needed by the other: the merge makes a
 * strongly connected component. Its launches can still run in parallel, each on a stream of its
 * own, if no launch waits for itself by the order of ops and that of launches on streams
 * (ir/analysis/concurrency.h). So a greedy search does each merge whose component has such streams.
 *
 * Invariants: the schedule is a topological order of components, each of which is a consecutive
 * part of it; each component with several launches has streams. A merge changes only what is
 * between its parts: what does not need them moves before the component, what they do not need
 * moves after it.
 *
 * All parts of a group are tried at once, then each half of them, then neighbours; groups of higher
 * ranks first. A trial is linear in the ops between the parts, plus the search for streams, which
 * has a budget; so has the sum of all trials. */
#include "ir/analysis/concurrency.h"
#include "ir/core/calls.h"
#include "passes/partition/fusion_internal.h"

#include <string.h>

/* Ops and places that are looked at: in one search for streams, in a search for more than two parts
 * per op, and in all. */
enum { STREAM_SEARCH = 1 << 20, SHORT_SEARCH = 64, MERGE_SEARCH = 1 << 24 };

/* The group of a segment that is a component of several launches; a stream that is not known. */
#define MANY UINT32_MAX

/* ------------------------------------------------------- the stream of a super kernel ---- */

uint32_t fusion_same_superkernel(const struct fusion *f, const uint32_t *ops, uint32_t count)
{
    uint32_t block = f->superkernel_of[ops[0]];
    for (uint32_t i = 0; i < count && block != NONE; i++)
        if (f->superkernel_of[ops[i]] != block)
            return NONE;
    return block != NONE && f->sizes[block] == count ? block : NONE;
}

/* The number of the stream that an op is on: what assign-streams has written down, or else would if
 * no block said one. */
static int64_t stream_number(const struct fusion *f, uint32_t op)
{
    const struct graph *graph = f->graph;
    uint32_t label = f->order->stream[op];
    int64_t number = 0;
    struct id_map met = {NULL, 0, 0};
    for (uint32_t i = 0; i < graph->blocks.count && label != NONE; i++) {
        const struct block *block = &graph->blocks.at[i];
        if (block->kind != BLOCK_STREAM || block->name == W_0)
            continue;
        number += id_map_find(&met, block->name) == NONE;
        id_map_set(&met, block->name, i);
        if (block->name != label)
            continue;
        number = attr_int(f->module, block->attrs, W_id, number);
        break;
    }
    id_map_free(&met);
    return number;
}

/* After a collective, which would bring events with the stream of collectives: the op on the stream
 * of the lowest number that begins with another op; NONE: there is none. */
static uint32_t first_on_other(const struct fusion *f, const uint32_t *ops, uint32_t count)
{
    struct id_map met = {NULL, 0, 0}; /* by label */
    int64_t lowest = INT64_MAX;
    uint32_t found = NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t label = f->order->stream[ops[i]], key = label == NONE ? W_0 : label;
        if (f->order->passive[ops[i]] || id_map_find(&met, key) != NONE)
            continue;
        id_map_set(&met, key, i);
        if (op_is_marked_collective(f->module, &f->graph->ops.at[ops[i]]))
            continue;
        int64_t number = stream_number(f, ops[i]);
        if (number < lowest) {
            lowest = number;
            found = ops[i];
        }
    }
    id_map_free(&met);
    return found;
}

uint32_t fusion_stream(const struct fusion *f, const uint32_t *ops, uint32_t count)
{
    uint32_t same = fusion_same_superkernel(f, ops, count), first = 0, other = NONE;
    if (same != NONE)
        return fusion_given_stream(f, same);
    while (first + 1 < count && f->order->passive[ops[first]])
        first++;
    if (op_is_marked_collective(f->module, &f->graph->ops.at[ops[first]]))
        other = first_on_other(f, ops, count);
    return f->order->stream[other != NONE ? other : ops[first]];
}

struct launch {
    uint32_t group, op; /* its first op, when it was made */
    uint32_t stream;    /* in a component of several launches; MANY: not known */
    uint32_t next;      /* the next part of its group, or NONE */
    uint32_t index;     /* in the component with the stamp */
    uint32_t stamp;
    bool merging; /* of those that are tried */
    bool gone;    /* another one has its ops */
};

struct merger {
    struct fusion *f;
    uint32_t *launch_of; /* per op, or NONE */
    VEC(struct launch) launches;
    uint32_t *first_of;     /* by group: its first part, or NONE */
    struct vec_u32 *labels; /* by group: the streams of its ops; NULL: not known yet */
    uint32_t *at;           /* per op: NONE, for concurrency_init */
    uint8_t *after;         /* per op: its segment needs one of the parts that are tried */
    uint8_t *before;        /* per op: one of them needs its segment */
    uint32_t *ops;          /* room for a schedule */
    uint32_t stamp;
    uint64_t *work;
};

static struct segment *segment_at(const struct merger *m, uint32_t i)
{
    return &m->f->schedule.segments.at[i];
}

static const uint32_t *ops_of(const struct merger *m, const struct segment *segment)
{
    return m->f->schedule.ops + segment->first;
}

/* ---------------------------------------------------------------------------- streams ---- */

static void add_stream(struct vec_u32 *streams, uint32_t label)
{
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->at[i] == label)
            return;
    vec_push(streams, label);
}

/* The streams that ops of each group are on. */
static void find_labels(struct merger *m)
{
    const struct fusion *f = m->f;
    m->labels = mem_calloc(f->groups.count, sizeof *m->labels);
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        uint32_t op = f->order->text[i];
        if (!f->order->passive[op] && f->group_of[op] != GROUP_NONE)
            add_stream(&m->labels[f->group_of[op]], f->order->stream[op]);
    }
}

/* The stream that the launch would have alone; then those of its ops, and of others of its group,
 * with which it may be merged later on. A super kernel of the text that is whole has its own. */
static void find_choices(struct merger *m, uint32_t group, const uint32_t *ops, uint32_t count,
                         struct vec_u32 *choices)
{
    const struct fusion *f = m->f;
    uint32_t block = f->groups.at[group].block;
    vec_push(choices, fusion_stream(f, ops, count));
    if (f->mode == FUSION_COLLECT && fusion_same_superkernel(f, ops, count) != NONE)
        return;
    if (f->graph->blocks.at[block].kind == BLOCK_SUPERKERNEL)
        add_stream(choices, fusion_given_stream(f, block));
    for (uint32_t i = 0; i < count; i++)
        if (!f->order->passive[ops[i]])
            add_stream(choices, f->order->stream[ops[i]]);
    for (uint32_t i = 0; i < m->labels[group].count; i++)
        add_stream(choices, m->labels[group].at[i]);
}

/* Gives choices to the launches of a component that have none; only to those whose stream is
 * unknown. */
static void add_choices(struct merger *m, struct concurrency *a, const struct vec_u32 *launches,
                        bool unknown)
{
    struct vec_u32 *ops = mem_calloc(a->n_launches, sizeof *ops);
    for (uint32_t i = 0; i < a->count; i++)
        if (a->launch[i] != NONE)
            vec_push(&ops[a->launch[i]], a->ops[i]);
    for (uint32_t i = 0; i < a->n_launches; i++) {
        const struct launch *launch = &m->launches.at[launches->at[i]];
        if (a->launches[i].choices.count == 0 && (!unknown || launch->stream == MANY))
            find_choices(m, launch->group, ops[i].at, ops[i].count, &a->launches[i].choices);
        vec_free(&ops[i]);
    }
    mem_free(ops);
}

/* Numbers the launches of some ops: by place, NONE where an op is of none. `launches` gets them.
 * The result is the caller's. */
static uint32_t *number_launches(struct merger *m, const uint32_t *ops, uint32_t count,
                                 struct vec_u32 *launches)
{
    uint32_t *numbers = mem_calloc(count, sizeof *numbers);
    m->stamp++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = m->launch_of[ops[i]];
        numbers[i] = NONE;
        if (id == NONE)
            continue;
        struct launch *launch = &m->launches.at[id];
        if (launch->stamp != m->stamp) {
            launch->stamp = m->stamp;
            launch->index = launches->count;
            vec_push(launches, id);
        }
        numbers[i] = launch->index;
    }
    return numbers;
}

/* Whether there are streams for all launches of a component; they are then theirs. Those that
 * launches have are tried first. The ops get an order in which launches of a stream do not overlap.
 */
static bool find_streams(struct merger *m, uint32_t *ops, uint32_t count, bool is_short)
{
    struct concurrency parallel;
    struct vec_u32 launches = {NULL, 0, 0};
    uint32_t *numbers = number_launches(m, ops, count, &launches);
    if (!m->labels)
        find_labels(m);
    concurrency_init(&parallel, m->f->order, m->at, ops, count, numbers, launches.count);
    parallel.budget = STREAM_SEARCH;
    if (is_short && count < STREAM_SEARCH / SHORT_SEARCH)
        parallel.budget = (uint64_t)count * SHORT_SEARCH;
    add_choices(m, &parallel, &launches, true);
    for (uint32_t i = 0; i < launches.count; i++) {
        struct concurrency_launch *launch = &parallel.launches[i];
        uint32_t known = m->launches.at[launches.at[i]].stream;
        launch->stream = known == MANY ? launch->choices.at[0] : known;
        launch->placed = true;
    }
    bool found = concurrency_fits(&parallel);
    if (!found) {
        add_choices(m, &parallel, &launches, false);
        found = concurrency_find(&parallel);
    }
    for (uint32_t i = 0; i < launches.count && found; i++)
        m->launches.at[launches.at[i]].stream = parallel.launches[i].stream;
    if (found)
        memcpy(ops, parallel.ran, count * sizeof *ops);
    *m->work += parallel.work;
    concurrency_free(&parallel);
    mem_free(numbers);
    vec_free(&launches);
    return found;
}

/* ------------------------------------------------------------------------- components ---- */

static bool is_merging(const struct merger *m, uint32_t op)
{
    return m->launch_of[op] != NONE && m->launches.at[m->launch_of[op]].merging;
}

/* Whether a segment has ops of the parts that are tried. */
static bool is_own(const struct merger *m, const struct segment *segment)
{
    for (uint32_t i = 0; i < segment->count; i++)
        if (is_merging(m, ops_of(m, segment)[i]))
            return true;
    return false;
}

/* Marks segments that need one of the parts, in the order of the schedule, and those that one of
 * them needs, in the other direction. */
static void mark(struct merger *m, uint32_t first, uint32_t last)
{
    const struct order *order = m->f->order;
    for (uint32_t s = first; s <= last; s++) {
        const struct segment *segment = segment_at(m, s);
        const uint32_t *ops = ops_of(m, segment);
        bool found = is_own(m, segment);
        for (uint32_t i = 0; i < segment->count && !found; i++)
            for (uint32_t e = order->first[ops[i]]; e < order->first[ops[i] + 1]; e++)
                found = found || m->after[order->edges[e].from];
        for (uint32_t i = 0; i < segment->count; i++)
            m->after[ops[i]] = found;
        *m->work += segment->count;
    }
    for (uint32_t s = last + 1; s-- > first;) {
        const struct segment *segment = segment_at(m, s);
        const uint32_t *ops = ops_of(m, segment);
        bool found = is_own(m, segment);
        for (uint32_t i = 0; i < segment->count && !found; i++)
            found = m->before[ops[i]];
        for (uint32_t i = 0; i < segment->count && found; i++) {
            m->before[ops[i]] = 1;
            for (uint32_t e = order->first[ops[i]]; e < order->first[ops[i] + 1]; e++)
                m->before[order->edges[e].from] = 1;
        }
    }
}

static void unmark(struct merger *m, uint32_t first, uint32_t last)
{
    const struct order *order = m->f->order;
    const struct segment *end = segment_at(m, last);
    for (uint32_t i = segment_at(m, first)->first; i < end->first + end->count; i++) {
        uint32_t op = m->f->schedule.ops[i];
        m->after[op] = m->before[op] = 0;
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            m->before[order->edges[e].from] = 0;
    }
}

/* Where a segment goes: before the component, into it, or after it. */
enum side { BEFORE, INSIDE, AFTER, SIDES };

static enum side side_of(const struct merger *m, const struct segment *segment)
{
    uint32_t op = ops_of(m, segment)[0];
    return !m->after[op] ? BEFORE : m->before[op] ? INSIDE : AFTER;
}

bool fusion_is_alone(const struct fusion *f, uint32_t group)
{
    const struct fusion_group *g = &f->groups.at[group];
    return attr_flag(f->module, f->graph->blocks.at[g->block].attrs, W_fixed_slots) ||
           fusion_is_per_op(f, g);
}

/* Whether all of the component can run in parallel: no calls of graphs, and no launches that
 * nothing may run in parallel with. */
static bool may_be_parallel(const struct merger *m, uint32_t first, uint32_t last)
{
    for (uint32_t s = first; s <= last; s++) {
        const struct segment *segment = segment_at(m, s);
        if (segment->group == MANY || side_of(m, segment) != INSIDE)
            continue;
        if (segment->group != GROUP_NONE && fusion_is_alone(m->f, segment->group))
            return false;
        for (uint32_t i = 0; i < segment->count; i++)
            if (op_call_kind(&m->f->graph->ops.at[ops_of(m, segment)[i]]) != CALL_NONE)
                return false;
    }
    return true;
}

/* Finds the order of the segments with the component. Returns the place of that. */
static uint32_t lay_out(const struct merger *m, uint32_t first, uint32_t last,
                        struct segments *segments)
{
    uint32_t at = segment_at(m, first)->first, component = NONE;
    for (enum side side = BEFORE; side < SIDES; side++)
        for (uint32_t s = first; s <= last; s++) {
            struct segment segment = *segment_at(m, s);
            if (side_of(m, &segment) != side)
                continue;
            memcpy(m->ops + at, ops_of(m, &segment), segment.count * sizeof *m->ops);
            segment.first = at;
            at += segment.count;
            if (side == INSIDE && component != NONE) {
                segments->at[component].count += segment.count;
                continue;
            }
            if (side == INSIDE) {
                component = segments->count;
                segment.group = MANY;
            }
            vec_push(segments, segment);
        }
    return component;
}

/* The new segments take the place of the old ones. */
static void replace_segments(struct merger *m, uint32_t first, uint32_t last,
                             const struct segments *segments)
{
    struct schedule *schedule = &m->f->schedule;
    struct segments *all = &schedule->segments;
    uint32_t begin = segment_at(m, first)->first, count = segments->count;
    uint32_t end = segment_at(m, last)->first + segment_at(m, last)->count;
    memcpy(schedule->ops + begin, m->ops + begin, (end - begin) * sizeof *m->ops);
    for (uint32_t i = begin; i < end; i++)
        schedule->place[schedule->ops[i]] = i;
    memcpy(all->at + first, segments->at, count * sizeof *all->at);
    memmove(all->at + first + count, all->at + last + 1, (all->count - last - 1) * sizeof *all->at);
    all->count -= last + 1 - first - count;
}

/* ---------------------------------------------------------------------------- merging ---- */

/* Makes the parts that are tried one launch, if the component has streams for it then. */
static bool merge_launches(struct merger *m, uint32_t *ops, uint32_t count, uint32_t into,
                           bool is_short)
{
    uint32_t *old = mem_calloc(count, sizeof *old), *old_ops = mem_calloc(count, sizeof *old_ops);
    uint32_t stream = m->launches.at[into].stream;
    memcpy(old_ops, ops, count * sizeof *old_ops);
    m->launches.at[into].stream = MANY;
    for (uint32_t i = 0; i < count; i++) {
        old[i] = m->launch_of[ops[i]];
        if (is_merging(m, ops[i]))
            m->launch_of[ops[i]] = into;
    }
    bool ok = find_streams(m, ops, count, is_short);
    for (uint32_t i = 0; i < count && !ok; i++)
        m->launch_of[old_ops[i]] = old[i];
    if (!ok)
        m->launches.at[into].stream = stream;
    mem_free(old);
    mem_free(old_ops);
    return ok;
}

/* The segment that has an op. */
static uint32_t find_segment(const struct merger *m, uint32_t op)
{
    uint32_t place = m->f->schedule.place[op], low = 0, high = m->f->schedule.segments.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (segment_at(m, middle)->first <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Makes some parts of one group one launch, the first of them. False: they must not be one. */
static bool merge(struct merger *m, const uint32_t *parts, uint32_t count)
{
    uint32_t first = NONE, last = 0;
    struct segments segments = {NULL, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = find_segment(m, m->launches.at[parts[i]].op);
        m->launches.at[parts[i]].merging = true;
        first = s < first ? s : first;
        last = s > last ? s : last;
    }
    mark(m, first, last);
    bool ok = may_be_parallel(m, first, last);
    if (ok) {
        uint32_t component = lay_out(m, first, last, &segments);
        ok = merge_launches(m, m->ops + segments.at[component].first, segments.at[component].count,
                            parts[0], count > 2);
    }
    unmark(m, first, last);
    if (ok)
        replace_segments(m, first, last, &segments);
    vec_free(&segments);
    for (uint32_t i = 0; i < count; i++) {
        m->launches.at[parts[i]].merging = false;
        m->launches.at[parts[i]].gone |= ok && i > 0;
    }
    m->f->schedule.groups[m->launches.at[parts[0]].group].segments -= ok ? count - 1 : 0;
    return ok;
}

/* Merges all of some parts, or of each half of them. */
static void merge_halves(struct merger *m, const uint32_t *parts, uint32_t count)
{
    if (count < 3 || *m->work >= MERGE_SEARCH || merge(m, parts, count))
        return;
    merge_halves(m, parts, count / 2);
    merge_halves(m, parts + count / 2, count - count / 2);
}

static void merge_group(struct merger *m, uint32_t group)
{
    struct vec_u32 parts = {NULL, 0, 0};
    for (uint32_t i = m->first_of[group]; i != NONE; i = m->launches.at[i].next)
        vec_push(&parts, i);
    merge_halves(m, parts.at, parts.count);
    for (uint32_t i = 1, last = 0; i < parts.count && *m->work < MERGE_SEARCH; i++)
        if (!m->launches.at[parts.at[i]].gone &&
            !merge(m, (uint32_t[]){parts.at[last], parts.at[i]}, 2))
            last = i;
    vec_free(&parts);
}

/* --------------------------------------------------------------------------- segments ---- */

/* Puts the ops of a component in the order of their text, and makes a segment of each launch, and
 * of each op of none, in the order in which they begin. */
static void split_component(struct merger *m, const struct segment *component,
                            struct segments *segments)
{
    struct fusion *f = m->f;
    struct vec_u32 launches = {NULL, 0, 0};
    uint32_t *text = f->text + component->first, at = component->first;
    uint32_t *numbers = number_launches(m, ops_of(m, component), component->count, &launches);
    struct concurrency parallel;
    concurrency_init(&parallel, f->order, m->at, ops_of(m, component), component->count, numbers,
                     launches.count);
    for (uint32_t i = 0; i < launches.count; i++) {
        parallel.launches[i].stream = m->launches.at[launches.at[i]].stream;
        parallel.launches[i].placed = true;
    }
    concurrency_sort(&parallel, text);
    concurrency_free(&parallel);
    mem_free(numbers);
    launches.count = 0;
    numbers = number_launches(m, text, component->count, &launches);
    struct segment *of_launch = mem_calloc(launches.count, sizeof *of_launch);
    for (uint32_t i = 0; i < component->count; i++)
        if (numbers[i] != NONE)
            of_launch[numbers[i]].count++;
    for (uint32_t i = 0; i < component->count; i++) {
        struct segment alone = {.first = at, .count = 1}, *segment = &alone;
        f->schedule.place[text[i]] = component->first + i;
        if (numbers[i] != NONE)
            segment = &of_launch[numbers[i]];
        bool begins = numbers[i] == NONE || !segment->component;
        segment->component = component->first + 1;
        if (begins && numbers[i] != NONE) {
            const struct launch *launch = &m->launches.at[launches.at[numbers[i]]];
            segment->group = launch->group;
            segment->stream = launch->stream;
            segment->first = at;
        }
        if (begins) {
            vec_push(segments, *segment);
            at += segment->count;
        }
        f->schedule.ops[segment->first++] = text[i];
    }
    mem_free(of_launch);
    mem_free(numbers);
    vec_free(&launches);
}

static void split_components(struct merger *m)
{
    struct fusion *f = m->f;
    struct segments segments = {NULL, 0, 0};
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        if (segment_at(m, i)->group == MANY)
            split_component(m, segment_at(m, i), &segments);
        else
            vec_push(&segments, *segment_at(m, i));
    }
    vec_free(&f->schedule.segments);
    f->schedule.segments = segments;
}

/* ----------------------------------------------------------------------------- starts ---- */

static void find_launches(struct merger *m)
{
    for (uint32_t s = 0; s < m->f->schedule.segments.count; s++) {
        const struct segment *segment = segment_at(m, s);
        if (segment->group == GROUP_NONE)
            continue;
        for (uint32_t i = 0; i < segment->count; i++)
            m->launch_of[ops_of(m, segment)[i]] = m->launches.count;
        vec_push(&m->launches,
                 ((struct launch){
                     .group = segment->group, .op = ops_of(m, segment)[0], .stream = MANY}));
    }
}

/* Merges the parts of all groups, in the order of the schedule, those of higher ranks first. */
static void merge_groups(struct merger *m)
{
    struct fusion *f = m->f;
    memset(m->first_of, 0xff, f->groups.count * sizeof *m->first_of); /* NONE */
    for (uint32_t i = f->schedule.count; i-- > 0;) {
        uint32_t op = f->schedule.ops[i], id = m->launch_of[op];
        if (id == NONE || m->launches.at[id].op != op)
            continue;
        struct launch *launch = &m->launches.at[id];
        launch->next = m->first_of[launch->group];
        m->first_of[launch->group] = id;
    }
    for (int rank = BREAK_FIXED; rank >= BREAK_FREELY; rank--)
        for (uint32_t i = 1; i < f->groups.count; i++)
            if ((int)f->schedule.groups[i].cost.rank == rank &&
                f->schedule.groups[i].segments > 1 && !fusion_is_alone(f, i))
                merge_group(m, i);
}

static void forget_labels(struct merger *m)
{
    for (uint32_t i = 0; m->labels && i < m->f->groups.count; i++)
        vec_free(&m->labels[i]);
    mem_free(m->labels);
    m->labels = NULL;
}

/* Groups become parts of those that they were cut from. */
static void join_groups(struct merger *m, const uint32_t *whole, uint32_t n_groups)
{
    struct fusion *f = m->f;
    forget_labels(m);
    f->groups.count = n_groups;
    for (uint32_t i = 0; i < f->graph->ops.count; i++)
        f->group_of[i] = whole[f->group_of[i]];
    for (uint32_t s = 0; s < f->schedule.segments.count; s++)
        if (segment_at(m, s)->group != MANY)
            segment_at(m, s)->group = whole[segment_at(m, s)->group];
    for (uint32_t i = 0; i < n_groups; i++)
        f->schedule.groups[i].segments = 0;
    for (uint32_t i = 0; i < m->launches.count; i++) {
        struct launch *launch = &m->launches.at[i];
        launch->group = whole[launch->group];
        f->schedule.groups[launch->group].segments += !launch->gone;
    }
}

/* Schedules the groups, merges their parts, and finds the order of the text. `cut`: the parts
 * between the reference's cuts are groups at first, and merged as these. */
static void schedule_from(struct fusion *f, const struct break_cost *costs, bool cut,
                          uint64_t *work)
{
    uint32_t n = f->graph->ops.count, n_groups = f->groups.count;
    uint32_t *whole = cut ? fusion_cut_groups(f, costs) : NULL;
    struct break_cost *all_costs = mem_calloc(f->groups.count, sizeof *all_costs);
    for (uint32_t i = 0; i < f->groups.count; i++)
        all_costs[i] = costs[whole ? whole[i] : i];
    schedule_init(&f->schedule, f->order, f->group_of, f->groups.count, all_costs);
    mem_free(all_costs);
    f->text = mem_calloc(n, sizeof *f->text);
    bool breaks = cut;
    for (uint32_t i = 1; i < f->groups.count; i++)
        breaks = breaks || f->schedule.groups[i].segments > 1;
    if (!breaks) {
        memcpy(f->text, f->schedule.ops, n * sizeof *f->text);
        return;
    }
    struct merger m = {.f = f, .work = work};
    m.after = mem_calloc(n, 1);
    m.before = mem_calloc(n, 1);
    m.ops = mem_calloc(n, sizeof *m.ops);
    m.launch_of = mem_calloc(n, sizeof *m.launch_of);
    m.at = mem_calloc(n, sizeof *m.at);
    m.first_of = mem_calloc(f->groups.count, sizeof *m.first_of);
    memset(m.launch_of, 0xff, n * sizeof *m.launch_of); /* NONE */
    memset(m.at, 0xff, n * sizeof *m.at);
    find_launches(&m);
    merge_groups(&m);
    if (cut) {
        join_groups(&m, whole, n_groups);
        merge_groups(&m);
    }
    memcpy(f->text, f->schedule.ops, n * sizeof *f->text);
    split_components(&m);
    forget_labels(&m);
    mem_free(whole);
    mem_free(m.launch_of);
    mem_free(m.first_of);
    mem_free(m.at);
    mem_free(m.after);
    mem_free(m.before);
    mem_free(m.ops);
    vec_free(&m.launches);
}

/* What the breaks of a schedule cost: groups of higher ranks that break, then launches. */
static uint64_t cost_of_breaks(const struct fusion *f, const struct break_cost *costs)
{
    static const uint64_t of_rank[BREAK_RANKS] = {
        [BREAK_STRICT] = UINT64_C(1) << 32, [BREAK_FIXED] = UINT64_C(1) << 48};
    uint64_t sum = 0;
    for (uint32_t i = 1; i < f->groups.count; i++) {
        uint32_t segments = f->schedule.groups[i].segments;
        if (segments > 1)
            sum += of_rank[costs[i].rank] + costs[i].first + (segments - 2) * costs[i].more;
    }
    return sum;
}

/* What a schedule has decided. */
struct decision {
    struct schedule schedule;
    uint32_t *text, *group_of;
};

static void exchange(struct fusion *f, struct decision *other)
{
    struct decision mine = {f->schedule, f->text, f->group_of};
    f->schedule = other->schedule;
    f->text = other->text;
    f->group_of = other->group_of;
    *other = mine;
}

void fusion_schedule(struct fusion *f, const struct break_cost *costs)
{
    uint32_t n = f->graph->ops.count;
    struct decision other = {.group_of = mem_calloc(n, sizeof *other.group_of)};
    uint64_t work = 0;
    memcpy(other.group_of, f->group_of, n * sizeof *other.group_of);
    schedule_from(f, costs, false, &work);
    uint64_t cost = cost_of_breaks(f, costs);
    if (cost > 0 && work < MERGE_SEARCH) {
        exchange(f, &other);
        schedule_from(f, costs, true, &work);
        if (cost_of_breaks(f, costs) >= cost)
            exchange(f, &other);
        schedule_free(&other.schedule);
        mem_free(other.text);
    }
    mem_free(other.group_of);
}
