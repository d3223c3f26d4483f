/* Parts of a scope that are one launch after all: where all that is between them can run beside it.
 * Which parts there are was decided as if none could; see beside.c for ops that go along with the
 * scope from the beginning. */
#include "ir/abreast.h"
#include "ir/calls.h"
#include "passes/fusion/fusion_internal.h"

#include <string.h>

/* Ops that are looked at in all, and for the streams of launches that run side by side. */
enum { JOIN_SEARCH = 1 << 26, STREAM_SEARCH = 1 << 20 };

enum { NEAR = 1, FIRM = 2 };

#define MANY UINT32_MAX

/* A launch: a part of a group, to which later parts may be added. */
struct part {
    uint32_t group, op; /* its first op, when it was made */
    uint32_t stream;    /* where it runs side by side with others */
    uint32_t index;     /* among those of a segment at hand, for the one with the stamp */
    uint32_t stamp;
};

/* The schedule from one part to another one. A segment that has several parts, and ops between
 * them, is of the group MANY. */
struct join {
    struct fusion *f;
    uint32_t *part_of; /* per op: from 1; 0: it is of no group */
    VEC(struct part) parts;
    uint32_t *at;           /* room for abreast_init */
    struct vec_u32 *labels; /* by group: the streams of its ops; NULL: not known yet */
    uint32_t stamp;
    /* Per op: it needs one of the first part (NEAR), one that executes something (FIRM); the last
     * part needs it. */
    uint8_t *behind, *before;
    uint32_t *ops; /* room for a schedule */
    uint64_t work;
};

static struct segment *segment_at(const struct join *j, uint32_t i)
{
    return &j->f->schedule.segments.at[i];
}

static uint32_t op_at(const struct join *j, const struct segment *segment, uint32_t i)
{
    return j->f->schedule.ops[segment->first + i];
}

/* Those of ops before it, and its own where it is of one of the two parts. */
static uint8_t marks_of(const struct join *j, uint32_t op, bool own)
{
    const struct order *order = j->f->order;
    uint8_t marks = own ? NEAR : 0;
    if (own && !order->passive[op] && !j->f->beside[op])
        marks |= FIRM;
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
        marks |= j->behind[order->edges[e].from];
    return marks;
}

/* Marks segments between that need one of the first part, each as a whole. */
static void mark_behind(struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = first; s < last; s++) {
        const struct segment *segment = segment_at(j, s);
        uint8_t found = 0;
        for (uint32_t i = 0; i < segment->count; i++) {
            uint32_t op = op_at(j, segment, i);
            found |= j->behind[op] = marks_of(j, op, s == first);
        }
        for (uint32_t i = 0; i < segment->count && s != first; i++)
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

/* The same of those that the last part needs. */
static void mark_before(struct join *j, uint32_t first, uint32_t last)
{
    const struct segment *end = segment_at(j, last);
    for (uint32_t i = end->count; i-- > 0;) {
        uint32_t op = op_at(j, end, i);
        bool firm = !j->f->order->passive[op] && !j->f->beside[op];
        j->before[op] |= firm ? NEAR | FIRM : NEAR;
        pass_back(j, op);
    }
    for (uint32_t s = last; s-- > first;) {
        const struct segment *segment = segment_at(j, s);
        uint8_t found = 0;
        for (uint32_t i = 0; i < segment->count; i++)
            found |= j->before[op_at(j, segment, i)];
        for (uint32_t i = 0; i < segment->count && found; i++) {
            j->before[op_at(j, segment, i)] = found;
            pass_back(j, op_at(j, segment, i));
        }
    }
}

static bool is_between(const struct join *j, uint32_t s)
{
    uint32_t op = j->f->schedule.ops[segment_at(j, s)->first];
    return j->behind[op] && j->before[op];
}

/* Whether all that is between can run beside a launch: no calls of graphs, and no launches that
 * nothing may run beside. */
static bool may_be_abreast(const struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = first + 1; s < last; s++) {
        const struct segment *segment = segment_at(j, s);
        if (!is_between(j, s) || segment->group == MANY)
            continue;
        if (segment->group == GROUP_NONE
                ? op_call_kind(&j->f->graph->ops.at[op_at(j, segment, 0)]) != CALL_NONE
                : fusion_is_alone(j->f, segment->group))
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
        if (is_between(j, s) && segment_at(j, s)->group != GROUP_NONE)
            return false;
    return true;
}

static bool is_firm(const struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = first + 1; s < last; s++) {
        uint32_t op = op_at(j, segment_at(j, s), 0);
        if (is_between(j, s) && !(j->behind[op] & j->before[op] & FIRM))
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

/* Lays the segments out anew, from the first to the last: what does not need the first part, the
 * two with what is between, and what the last does not need. The launch's segment is the one at the
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

/* ---------------------------------------------------------------------------- streams ---- */

/* The streams that ops of each group are on. */
static void find_labels(struct join *j)
{
    const struct fusion *f = j->f;
    j->labels = mem_calloc(f->groups.count, sizeof *j->labels);
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        uint32_t op = f->order->text[i], label = f->order->stream[op], n = 0;
        struct vec_u32 *labels = &j->labels[f->group_of[op]];
        if (f->order->passive[op] || f->group_of[op] == GROUP_NONE)
            continue;
        while (n < labels->count && labels->at[n] != label)
            n++;
        if (n == labels->count)
            vec_push(labels, label);
    }
}

static void add_choice(struct vec_u32 *choices, uint32_t label)
{
    for (uint32_t i = 0; i < choices->count; i++)
        if (choices->at[i] == label)
            return;
    vec_push(choices, label);
}

/* The stream that the part would have alone; then those of its ops, and of others of its group,
 * with which it may be joined later on. A super kernel of the text that is whole has its own. */
static void find_choices(struct join *j, const struct abreast *abreast, uint32_t index,
                         uint32_t part, struct vec_u32 *choices)
{
    const struct fusion *f = j->f;
    struct vec_u32 ops = {NULL, 0, 0};
    uint32_t stream, group = j->parts.at[part - 1].group;
    for (uint32_t i = 0; i < abreast->count; i++)
        if (abreast->launch[i] == index)
            vec_push(&ops, abreast->ops[i]);
    fusion_stream(f, &(struct segment){.group = group, .count = ops.count}, ops.at, &stream);
    vec_push(choices, stream);
    if (f->mode == FUSION_FILTER || fusion_same_superkernel(f, ops.at, ops.count) == NONE) {
        uint32_t block = f->groups.at[group].block;
        if (f->graph->blocks.at[block].kind == BLOCK_SUPERKERNEL)
            add_choice(choices, fusion_given_stream(f, block));
        for (uint32_t i = 0; i < ops.count; i++)
            if (!f->order->passive[ops.at[i]])
                add_choice(choices, f->order->stream[ops.at[i]]);
        for (uint32_t i = 0; i < j->labels[group].count; i++)
            add_choice(choices, j->labels[group].at[i]);
    }
    vec_free(&ops);
}

/* Numbers the parts of some ops. */
static uint32_t *number_parts(struct join *j, const uint32_t *ops, uint32_t count,
                              struct vec_u32 *parts)
{
    uint32_t *launch = mem_calloc(count, sizeof *launch);
    j->stamp++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = j->part_of[ops[i]];
        launch[i] = NONE;
        if (!part)
            continue;
        struct part *p = &j->parts.at[part - 1];
        if (p->stamp != j->stamp) {
            p->stamp = j->stamp;
            p->index = parts->count;
            vec_push(parts, part);
        }
        launch[i] = p->index;
    }
    return launch;
}

/* Whether there are streams for all parts among some ops; they are then theirs. Those that parts
 * have are tried first. The ops get an order in which launches of a stream do not overlap. */
static bool find_streams(struct join *j, uint32_t *ops, uint32_t count)
{
    struct abreast abreast;
    struct vec_u32 parts = {NULL, 0, 0};
    uint32_t *launch = number_parts(j, ops, count, &parts);
    if (!j->labels)
        find_labels(j);
    abreast_init(&abreast, j->f->order, j->at, ops, count, launch, parts.count);
    abreast.budget = STREAM_SEARCH;
    for (uint32_t i = 0; i < parts.count; i++) {
        struct abreast_launch *l = &abreast.launches[i];
        uint32_t known = j->parts.at[parts.at[i] - 1].stream;
        if (known == MANY)
            find_choices(j, &abreast, i, parts.at[i], &l->choices);
        l->stream = known == MANY ? l->choices.at[0] : known;
        l->placed = true;
    }
    bool found = abreast_fits(&abreast);
    for (uint32_t i = 0; i < parts.count && !found; i++)
        if (abreast.launches[i].choices.count == 0)
            find_choices(j, &abreast, i, parts.at[i], &abreast.launches[i].choices);
    found = found || abreast_find(&abreast);
    for (uint32_t i = 0; i < parts.count && found; i++)
        j->parts.at[parts.at[i] - 1].stream = abreast.launches[i].stream;
    if (found)
        memcpy(ops, abreast.ran, count * sizeof *ops);
    j->work += abreast.work;
    abreast_free(&abreast);
    mem_free(launch);
    vec_free(&parts);
    return found;
}

/* ------------------------------------------------------------------------------ joining ---- */

static void mark_beside(struct join *j, uint32_t first, uint32_t last, uint8_t beside)
{
    for (uint32_t s = first + 1; s < last; s++)
        if (is_between(j, s))
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

static void give_part(struct join *j, const uint32_t *ops, uint32_t count, uint32_t from,
                      uint32_t to)
{
    for (uint32_t i = 0; i < count; i++)
        if (j->part_of[ops[i]] == from)
            j->part_of[ops[i]] = to;
}

/* Joins two parts that run side by side with others. `segment` has all of them, `ops` are its ops,
 * those of `moved` become of `part`. False, and all is as it was: there are no streams. */
static bool join_abreast(struct join *j, struct segment *segment, uint32_t *ops, uint32_t part,
                         uint32_t moved)
{
    /* To tell them apart again they are a third one until it is known. */
    struct part both = j->parts.at[part - 1];
    both.stream = MANY;
    vec_push(&j->parts, both);
    uint32_t trial = j->parts.count;
    uint32_t *old = mem_calloc(segment->count, sizeof *old);
    for (uint32_t i = 0; i < segment->count; i++)
        old[i] = j->part_of[ops[i]];
    give_part(j, ops, segment->count, part, trial);
    give_part(j, ops, segment->count, moved, trial);
    bool ok = find_streams(j, ops, segment->count);
    for (uint32_t i = 0; i < segment->count && !ok; i++)
        j->part_of[ops[i]] = old[i];
    if (ok) {
        j->parts.at[part - 1].stream = j->parts.at[trial - 1].stream;
        give_part(j, ops, segment->count, trial, part);
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
                       uint32_t first, uint32_t last, uint32_t part, uint32_t moved)
{
    uint32_t stream;
    mark_beside(j, first, last, 1);
    bool ok = fusion_stream(j->f, segment, ops, &stream);
    if (ok)
        give_part(j, ops, segment->count, moved, part);
    else
        mark_beside(j, first, last, 0);
    return ok;
}

/* Joins two parts, in different segments, and what is between. */
static bool join_segments(struct join *j, uint32_t first, uint32_t last, uint32_t part,
                          uint32_t moved)
{
    struct segment *segments = mem_calloc(last - first + 1, sizeof *segments);
    uint32_t count;
    memset(j->behind, 0, j->f->graph->ops.count);
    memset(j->before, 0, j->f->graph->ops.count);
    j->work += j->f->graph->ops.count / 16; /* which is less than to look at them */
    mark_behind(j, first, last);
    mark_before(j, first, last);
    bool ok = may_be_abreast(j, first, last);
    if (ok) {
        uint32_t own = lay_out(j, first, last, segments, &count);
        uint32_t *ops = j->ops + segments[own].first;
        ok = (is_one_launch(j, first, last) && is_firm(j, first, last) &&
              join_alone(j, &segments[own], ops, first, last, part, moved)) ||
             join_abreast(j, &segments[own], ops, part, moved);
    }
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

/* Makes two parts one. False: they must be two. */
static bool join_parts(struct join *j, uint32_t part, uint32_t moved)
{
    struct fusion *f = j->f;
    uint32_t group = j->parts.at[part - 1].group;
    uint32_t first = find_segment(j, j->parts.at[part - 1].op);
    uint32_t last = find_segment(j, j->parts.at[moved - 1].op);
    struct segment *segment = segment_at(j, first);
    bool ok = first == last
                  ? join_abreast(j, segment, f->schedule.ops + segment->first, part, moved)
              : first < last ? join_segments(j, first, last, part, moved)
                             : join_segments(j, last, first, part, moved);
    for (uint32_t i = 0; ok && first == last && i < segment->count; i++)
        f->schedule.place[f->schedule.ops[segment->first + i]] = segment->first + i;
    f->schedule.groups[group].segments -= ok;
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
    uint32_t *launch = number_parts(j, text, segment->count, &parts), at = segment->first;
    sort_segment(j, segment, launch, &parts);
    mem_free(launch);
    parts.count = 0;
    launch = number_parts(j, text, segment->count, &parts);
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
        vec_push(&j->parts, ((struct part){segment->group, NONE, MANY, 0, 0}));
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

/* Those of the groups of a rank: each part with the one before it, from the first one on, or from
 * the last one back. */
static void join_rank(struct join *j, int rank, bool backward)
{
    uint32_t *last = mem_calloc(j->f->groups.count, sizeof *last), n_parts = j->parts.count;
    for (uint32_t i = 1; i <= n_parts; i++) {
        uint32_t part = backward ? n_parts + 1 - i : i, group = j->parts.at[part - 1].group;
        if ((int)j->f->schedule.groups[group].cost.rank != rank)
            continue;
        bool joined = last[group] && j->work < JOIN_SEARCH && !fusion_is_alone(j->f, group) &&
                      join_parts(j, last[group], part);
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

uint64_t fusion_join_parts(struct fusion *f, bool backward)
{
    uint32_t n = f->graph->ops.count;
    struct join j = {.f = f};
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
        for (int rank = BREAK_FIXED; rank >= BREAK_FREELY; rank--)
            join_rank(&j, rank, backward);
        memcpy(f->text, f->schedule.ops, n * sizeof *f->text);
        split_segments(&j);
        join_free(&j);
    } else {
        memcpy(f->text, f->schedule.ops, n * sizeof *f->text);
    }
    return j.work;
}
