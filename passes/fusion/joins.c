/* Parts of a scope that are one launch after all: where all that is between them can run beside it.
 * Which parts there are was decided as if none could; see beside.c for ops that go along with the
 * scope from the beginning. */
#include "ir/abreast.h"
#include "ir/calls.h"
#include "passes/fusion/joiner.h"

#include <string.h>

/* Ops that are looked at in all. */
enum { JOIN_SEARCH = 1 << 26 };

enum { NEAR = 1, FIRM = 2 };

static struct segment *segment_at(const struct join *j, uint32_t i)
{
    return &j->f->schedule.segments.at[i];
}

static uint32_t op_at(const struct join *j, const struct segment *segment, uint32_t i)
{
    return j->f->schedule.ops[segment->first + i];
}

/* Whether a segment has ops of the parts that are being joined. */
static bool is_own(const struct join *j, uint32_t s)
{
    const struct segment *segment = segment_at(j, s);
    for (uint32_t i = 0; i < segment->count; i++) {
        uint32_t part = j->part_of[op_at(j, segment, i)];
        if (part && j->parts.at[part - 1].joins)
            return true;
        if (part && segment->group != MANY)
            return false;
    }
    return false;
}

static uint8_t own_marks(const struct join *j, uint32_t op)
{
    return j->f->order->passive[op] || j->f->beside[op] ? NEAR : NEAR | FIRM;
}

/* Those of ops before it, and its own where its segment has some. */
static uint8_t marks_of(const struct join *j, uint32_t op, bool own)
{
    const struct order *order = j->f->order;
    uint8_t marks = own ? own_marks(j, op) : 0;
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
        marks |= j->behind[order->edges[e].from];
    return marks;
}

/* Marks what needs one of the parts: of other segments each as a whole. */
static void mark_behind(struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = first; s < last; s++) {
        const struct segment *segment = segment_at(j, s);
        bool own = is_own(j, s);
        uint8_t found = 0;
        for (uint32_t i = 0; i < segment->count; i++) {
            uint32_t op = op_at(j, segment, i);
            found |= j->behind[op] = marks_of(j, op, own);
        }
        for (uint32_t i = 0; i < segment->count && !own; i++)
            j->behind[op_at(j, segment, i)] = found;
        j->work += segment->count;
    }
}

static void pass_back(const struct join *j, uint32_t op)
{
    const struct order *order = j->f->order;
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
        j->before[order->edges[e].from] |= j->before[op];
}

/* The same of what they need. */
static void mark_before(struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = last + 1; s-- > first;) {
        const struct segment *segment = segment_at(j, s);
        bool own = is_own(j, s);
        uint8_t found = 0;
        for (uint32_t i = 0; i < segment->count && !own; i++)
            found |= j->before[op_at(j, segment, i)];
        for (uint32_t i = segment->count; i-- > 0 && (own || found);) {
            uint32_t op = op_at(j, segment, i);
            j->before[op] |= own ? own_marks(j, op) : found;
            pass_back(j, op);
        }
    }
}

/* Takes back all marks of the two. */
static void unmark(struct join *j, uint32_t first, uint32_t last)
{
    const struct order *order = j->f->order;
    const struct segment *end = segment_at(j, last);
    for (uint32_t i = segment_at(j, first)->first; i < end->first + end->count; i++) {
        uint32_t op = j->f->schedule.ops[i];
        j->behind[op] = j->before[op] = 0;
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            j->before[order->edges[e].from] = 0;
    }
}

static bool is_between(const struct join *j, uint32_t s)
{
    uint32_t op = j->f->schedule.ops[segment_at(j, s)->first];
    return j->behind[op] && j->before[op];
}

static bool has_call(const struct join *j, uint32_t s)
{
    const struct segment *segment = segment_at(j, s);
    for (uint32_t i = 0; i < segment->count; i++)
        if (op_call_kind(&j->f->graph->ops.at[op_at(j, segment, i)]) != CALL_NONE)
            return true;
    return false;
}

/* Whether the parts and all that is between can run side by side: no calls of graphs, and no
 * launches that nothing may run beside. */
static bool may_be_abreast(const struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = first; s <= last; s++) {
        const struct segment *segment = segment_at(j, s);
        bool counts = segment->group != MANY && (s == first || s == last || is_between(j, s));
        if (counts && (has_call(j, s) ||
                       (segment->group != GROUP_NONE && fusion_is_alone(j->f, segment->group))))
            return false;
    }
    return true;
}

/* Whether it is only single ops, and not only because of ops that execute nothing. */
static bool is_one_launch(const struct join *j, uint32_t first, uint32_t last)
{
    if (segment_at(j, first)->group == MANY || segment_at(j, last)->group == MANY)
        return false;
    for (uint32_t s = first + 1; s < last; s++)
        if (is_between(j, s) && segment_at(j, s)->group != GROUP_NONE &&
            (segment_at(j, s)->group == MANY || !is_own(j, s)))
            return false;
    return true;
}

static bool is_firm(const struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = first + 1; s < last; s++) {
        uint32_t op = op_at(j, segment_at(j, s), 0);
        if (is_between(j, s) && !(j->behind[op] & j->before[op] & FIRM) && !is_own(j, s))
            return false;
    }
    return true;
}

static uint32_t put(const struct join *j, struct segment *to, uint32_t at, uint32_t s)
{
    const struct segment *segment = segment_at(j, s);
    memcpy(j->ops + at, j->f->schedule.ops + segment->first, segment->count * sizeof *j->ops);
    to->count += segment->count;
    return at + segment->count;
}

/* Lays the segments out anew, from the first to the last: what does not need the parts, those with
 * what is between, and what they do not need. The launch's segment is the one at the
 * place that is returned. */
static uint32_t lay_out(const struct join *j, uint32_t first, uint32_t last,
                        struct segment *segments, uint32_t *n)
{
    uint32_t at = segment_at(j, first)->first, count = 0, own;
    for (uint32_t s = first + 1; s < last; s++)
        if (!j->behind[j->f->schedule.ops[segment_at(j, s)->first]]) {
            segments[count] = (struct segment){.group = segment_at(j, s)->group, .first = at};
            at = put(j, &segments[count++], at, s);
        }
    own = count++;
    segments[own] = (struct segment){.group = segment_at(j, first)->group, .first = at};
    for (uint32_t s = first; s <= last; s++)
        if (s == first || s == last || is_between(j, s))
            at = put(j, &segments[own], at, s);
    for (uint32_t s = first + 1; s < last; s++)
        if (j->behind[j->f->schedule.ops[segment_at(j, s)->first]] && !is_between(j, s)) {
            segments[count] = (struct segment){.group = segment_at(j, s)->group, .first = at};
            at = put(j, &segments[count++], at, s);
        }
    *n = count;
    return own;
}

/* ------------------------------------------------------------------------------ joining ---- */

static void mark_beside(struct join *j, uint32_t first, uint32_t last, uint8_t beside)
{
    for (uint32_t s = first + 1; s < last; s++)
        if (is_between(j, s) && !is_own(j, s))
            j->f->beside[j->f->schedule.ops[segment_at(j, s)->first]] = beside;
}

/* The segments become the new ones. */
static void take(struct join *j, uint32_t first, uint32_t last, const struct segment *segments,
                 uint32_t count)
{
    struct schedule *schedule = &j->f->schedule;
    struct segments *all = &schedule->segments;
    uint32_t begin = segment_at(j, first)->first;
    uint32_t end = segment_at(j, last)->first + segment_at(j, last)->count;
    memcpy(schedule->ops + begin, j->ops + begin, (end - begin) * sizeof *j->ops);
    for (uint32_t i = begin; i < end; i++)
        schedule->place[schedule->ops[i]] = i;
    memcpy(all->at + first, segments, count * sizeof *segments);
    memmove(all->at + first + count, all->at + last + 1, (all->count - last - 1) * sizeof *all->at);
    all->count -= last + 1 - first - count;
}

/* Gives a part what those that are being joined have. */
static void give_part(struct join *j, const uint32_t *ops, uint32_t count, uint32_t to)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = j->part_of[ops[i]];
        if (part && j->parts.at[part - 1].joins)
            j->part_of[ops[i]] = to;
    }
}

/* Joins parts that run side by side with others. `segment` has all of them, `ops` are its ops,
 * those of the parts become of `part`. False, and all is as it was: there are no streams. */
static bool join_abreast(struct join *j, struct segment *segment, uint32_t *ops, uint32_t part)
{
    /* To tell them apart again they are another one until it is known. */
    struct part all = j->parts.at[part - 1];
    all.stream = MANY;
    vec_push(&j->parts, all);
    uint32_t trial = j->parts.count;
    uint32_t *old = mem_calloc(segment->count, sizeof *old);
    for (uint32_t i = 0; i < segment->count; i++)
        old[i] = j->part_of[ops[i]];
    give_part(j, ops, segment->count, trial);
    bool ok = join_find_streams(j, ops, segment->count);
    for (uint32_t i = 0; i < segment->count && !ok; i++)
        j->part_of[ops[i]] = old[i];
    if (ok) {
        j->parts.at[part - 1].stream = j->parts.at[trial - 1].stream;
        give_part(j, ops, segment->count, part);
        segment->group = MANY;
        for (uint32_t i = 0; i < segment->count; i++)
            j->f->beside[ops[i]] = 0;
    }
    j->parts.count--;
    mem_free(old);
    return ok;
}

/* The same where only single ops run beside. They do so on streams on which no op of the launch
 * need be. */
static bool join_alone(struct join *j, const struct segment *segment, const uint32_t *ops,
                       uint32_t first, uint32_t last, uint32_t part)
{
    uint32_t stream;
    mark_beside(j, first, last, 1);
    bool ok = fusion_stream(j->f, segment, ops, &stream);
    if (ok)
        give_part(j, ops, segment->count, part);
    else
        mark_beside(j, first, last, 0);
    return ok;
}

/* Joins parts in segments from the first to the last, and what is between. */
static bool join_segments(struct join *j, uint32_t first, uint32_t last, uint32_t part)
{
    struct segment *segments = mem_calloc(last - first + 1, sizeof *segments);
    uint32_t count;
    mark_behind(j, first, last);
    mark_before(j, first, last);
    bool ok = may_be_abreast(j, first, last);
    if (ok) {
        uint32_t own = lay_out(j, first, last, segments, &count);
        uint32_t *ops = j->ops + segments[own].first;
        ok = (is_one_launch(j, first, last) && is_firm(j, first, last) &&
              join_alone(j, &segments[own], ops, first, last, part)) ||
             join_abreast(j, &segments[own], ops, part);
    }
    unmark(j, first, last);
    if (ok)
        take(j, first, last, segments, count);
    mem_free(segments);
    return ok;
}

/* The segment that has an op. */
static uint32_t find_segment(const struct join *j, uint32_t op)
{
    uint32_t place = j->f->schedule.place[op], low = 0, high = j->f->schedule.segments.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (segment_at(j, middle)->first <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Makes the first one of some parts, of one group, have the ops of all. False: they must not be
 * one. */
static bool join_parts(struct join *j, const uint32_t *parts, uint32_t count)
{
    struct fusion *f = j->f;
    uint32_t group = j->parts.at[parts[0] - 1].group, first = NONE, last = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct part *part = &j->parts.at[parts[i] - 1];
        uint32_t s = find_segment(j, part->op);
        part->joins = true;
        first = s < first ? s : first;
        last = s > last ? s : last;
    }
    struct segment *segment = segment_at(j, first);
    bool ok = first == last ? join_abreast(j, segment, f->schedule.ops + segment->first, parts[0])
                            : join_segments(j, first, last, parts[0]);
    for (uint32_t i = 0; ok && first == last && i < segment->count; i++)
        f->schedule.place[f->schedule.ops[segment->first + i]] = segment->first + i;
    for (uint32_t i = 0; i < count; i++) {
        j->parts.at[parts[i] - 1].joins = false;
        j->parts.at[parts[i] - 1].gone |= ok && i > 0;
    }
    f->schedule.groups[group].segments -= ok ? count - 1 : 0;
    return ok;
}

/* ---------------------------------------------------------------------------- segments ---- */

/* Puts the ops of a segment of several parts in the order of their text. */
static void sort_segment(struct join *j, const struct segment *segment, const uint32_t *launch,
                         const struct vec_u32 *parts)
{
    struct fusion *f = j->f;
    struct abreast abreast;
    abreast_init(&abreast, f->order, j->at, f->schedule.ops + segment->first, segment->count,
                 launch, parts->count);
    for (uint32_t i = 0; i < parts->count; i++) {
        abreast.launches[i].stream = j->parts.at[parts->at[i] - 1].stream;
        abreast.launches[i].placed = true;
    }
    abreast_sort(&abreast, f->text + segment->first);
    abreast_free(&abreast);
    for (uint32_t i = 0; i < segment->count; i++)
        f->schedule.place[f->text[segment->first + i]] = segment->first + i;
}

/* How many ops each part has. */
static uint32_t *part_sizes(const uint32_t *launch, uint32_t count, uint32_t n_parts)
{
    uint32_t *sizes = mem_calloc(n_parts, sizeof *sizes);
    for (uint32_t i = 0; i < count; i++)
        if (launch[i] != NONE)
            sizes[launch[i]]++;
    return sizes;
}

/* A segment for each part, and for each op of none, in the order in which they begin. */
static void split_segment(struct join *j, const struct segment *segment, struct segments *segments)
{
    struct fusion *f = j->f;
    struct vec_u32 parts = {NULL, 0, 0};
    const uint32_t *text = f->text + segment->first;
    uint32_t *launch = join_number_parts(j, text, segment->count, &parts), at = segment->first;
    sort_segment(j, segment, launch, &parts);
    mem_free(launch);
    parts.count = 0;
    launch = join_number_parts(j, text, segment->count, &parts);
    uint32_t *sizes = part_sizes(launch, segment->count, parts.count);
    uint32_t *fill = mem_calloc(parts.count, sizeof *fill), begun = 0;
    for (uint32_t i = 0; i < segment->count; i++) {
        struct segment next = {.first = at, .count = 1, .abreast = segment->first + 1};
        bool begins = launch[i] == NONE || launch[i] == begun;
        if (launch[i] == NONE) {
            f->schedule.ops[at] = text[i];
        } else if (begins) {
            const struct part *part = &j->parts.at[parts.at[begun] - 1];
            next.group = part->group;
            next.stream = part->stream;
            next.count = sizes[begun];
            fill[begun++] = at;
        }
        if (launch[i] != NONE)
            f->schedule.ops[fill[launch[i]]++] = text[i];
        if (begins) {
            vec_push(segments, next);
            at += next.count;
        }
    }
    mem_free(launch);
    mem_free(sizes);
    mem_free(fill);
    vec_free(&parts);
}

static void split_segments(struct join *j)
{
    struct fusion *f = j->f;
    struct segments segments = {NULL, 0, 0};
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        if (segment_at(j, i)->group == MANY)
            split_segment(j, segment_at(j, i), &segments);
        else
            vec_push(&segments, *segment_at(j, i));
    }
    vec_free(&f->schedule.segments);
    f->schedule.segments = segments;
}

/* ----------------------------------------------------------------------------- driving ---- */

static void find_parts(struct join *j)
{
    struct fusion *f = j->f;
    for (uint32_t s = 0; s < f->schedule.segments.count; s++) {
        const struct segment *segment = segment_at(j, s);
        if (segment->group == GROUP_NONE)
            continue;
        vec_push(&j->parts, ((struct part){.group = segment->group, .op = NONE, .stream = MANY}));
        for (uint32_t i = 0; i < segment->count; i++) {
            uint32_t op = op_at(j, segment, i);
            if (f->beside[op])
                continue;
            if (j->parts.at[j->parts.count - 1].op == NONE)
                j->parts.at[j->parts.count - 1].op = op;
            j->part_of[op] = j->parts.count;
        }
    }
}

/* Joins all of some parts, or of each half of them. Pairs are for who comes behind. */
static void join_run(struct join *j, const uint32_t *parts, uint32_t count)
{
    if (count < 3 || j->work >= JOIN_SEARCH || join_parts(j, parts, count))
        return;
    join_run(j, parts, count / 2);
    join_run(j, parts + count / 2, count - count / 2);
}

/* The parts of groups of a rank, those of one group next to each other. */
static void find_runs(const struct join *j, int rank, struct vec_u32 *runs)
{
    uint32_t *next = mem_calloc(j->parts.count + 1, sizeof *next);
    uint32_t *head = mem_calloc(j->f->groups.count, sizeof *head);
    for (uint32_t part = j->parts.count; part > 0; part--) {
        uint32_t group = j->parts.at[part - 1].group;
        next[part] = head[group];
        head[group] = part;
    }
    for (uint32_t group = 1; group < j->f->groups.count; group++)
        for (uint32_t part = head[group];
             part && (int)j->f->schedule.groups[group].cost.rank == rank &&
             !fusion_is_alone(j->f, group);
             part = next[part])
            vec_push(runs, part);
    mem_free(next);
    mem_free(head);
}

/* Those of the groups of a rank: all of each at once. */
static void join_runs(struct join *j, int rank)
{
    struct vec_u32 runs = {NULL, 0, 0};
    find_runs(j, rank, &runs);
    for (uint32_t i = 0, end; i < runs.count; i = end) {
        for (end = i + 1; end < runs.count &&
                          j->parts.at[runs.at[end] - 1].group == j->parts.at[runs.at[i] - 1].group;)
            end++;
        join_run(j, runs.at + i, end - i);
    }
    vec_free(&runs);
}

/* Those of the groups of a rank: each part with the one before it, from the first one on, or from
 * the last one back. */
static void join_rank(struct join *j, int rank, bool backward)
{
    uint32_t *last = mem_calloc(j->f->groups.count, sizeof *last), n_parts = j->parts.count;
    for (uint32_t i = 1; i <= n_parts; i++) {
        uint32_t part = backward ? n_parts + 1 - i : i, group = j->parts.at[part - 1].group;
        if ((int)j->f->schedule.groups[group].cost.rank != rank || j->parts.at[part - 1].gone)
            continue;
        bool joined = last[group] && j->work < JOIN_SEARCH && !fusion_is_alone(j->f, group) &&
                      join_parts(j, (uint32_t[]){last[group], part}, 2);
        last[group] = joined ? last[group] : part; /* what comes next may be joined with it */
    }
    mem_free(last);
}

static void join_free(struct join *j)
{
    for (uint32_t i = 0; j->labels && i < j->f->groups.count; i++)
        vec_free(&j->labels[i]);
    mem_free(j->labels);
    mem_free(j->part_of);
    mem_free(j->at);
    mem_free(j->behind);
    mem_free(j->before);
    mem_free(j->ops);
    vec_free(&j->parts);
}

static bool any_breaks(const struct fusion *f)
{
    for (uint32_t i = 1; i < f->groups.count; i++)
        if (f->schedule.groups[i].segments > 1)
            return true;
    return false;
}

uint64_t fusion_join_parts(struct fusion *f, enum join_way way)
{
    uint32_t n = f->graph->ops.count;
    struct join j = {.f = f, .is_short = way == JOIN_ALL};
    mem_free(f->text);
    f->text = mem_calloc(n, sizeof *f->text);
    if (any_breaks(f)) {
        j.behind = mem_calloc(n, 1);
        j.before = mem_calloc(n, 1);
        j.ops = mem_calloc(n, sizeof *j.ops);
        j.part_of = mem_calloc(n, sizeof *j.part_of);
        j.at = mem_calloc(n, sizeof *j.at);
        memset(j.at, 0xff, n * sizeof *j.at); /* NONE */
        find_parts(&j);
        for (int rank = BREAK_FIXED; rank >= BREAK_FREELY; rank--) {
            if (way == JOIN_ALL)
                join_runs(&j, rank);
            join_rank(&j, rank, way == JOIN_BACKWARD);
        }
        memcpy(f->text, f->schedule.ops, n * sizeof *f->text);
        split_segments(&j);
        join_free(&j);
    } else {
        memcpy(f->text, f->schedule.ops, n * sizeof *f->text);
    }
    return j.work;
}
