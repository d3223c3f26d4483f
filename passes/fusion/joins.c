/* Parts of a scope that are one launch after all: where all that is between them can run beside it.
 * Which parts there are was decided as if none could; see beside.c for ops that go along with the
 * scope from the beginning. */
#include "ir/calls.h"
#include "passes/fusion/fusion_internal.h"

#include <string.h>

/* Ops that are looked at in all. */
enum { JOIN_SEARCH = 1 << 26 };

enum { NEAR = 1, FIRM = 2 };

/* The schedule from one part to another one. */
struct join {
    struct fusion *f;
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

/* Whether all that is between can run beside: single ops, that do not call graphs, and not only
 * because of ops that execute nothing. */
static bool can_be_beside(const struct join *j, uint32_t first, uint32_t last)
{
    for (uint32_t s = first + 1; s < last; s++) {
        uint32_t op = op_at(j, segment_at(j, s), 0);
        if (is_between(j, s) && (segment_at(j, s)->group != GROUP_NONE ||
                                 op_call_kind(&j->f->graph->ops.at[op]) != CALL_NONE ||
                                 !(j->behind[op] & j->before[op] & FIRM)))
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
                        struct segment *segments)
{
    uint32_t at = segment_at(j, first)->first, count = 0, own;
    for (uint32_t s = first + 1; s < last; s++)
        if (!j->behind[j->f->schedule.ops[segment_at(j, s)->first]]) {
            segments[count] = (struct segment){segment_at(j, s)->group, at, 0};
            at = put(j, &segments[count++], at, s);
        }
    own = count++;
    segments[own] = (struct segment){segment_at(j, first)->group, at, 0};
    for (uint32_t s = first; s <= last; s++)
        if (s == first || s == last || is_between(j, s))
            at = put(j, &segments[own], at, s);
    for (uint32_t s = first + 1; s < last; s++)
        if (j->behind[j->f->schedule.ops[segment_at(j, s)->first]] && !is_between(j, s)) {
            segments[count] = (struct segment){segment_at(j, s)->group, at, 0};
            at = put(j, &segments[count++], at, s);
        }
    return own;
}

/* Whether the launch has a stream; then the schedule becomes the new one. */
static bool take(struct join *j, uint32_t first, uint32_t last, struct segment *segments,
                 uint32_t own)
{
    struct fusion *f = j->f;
    struct schedule *schedule = &f->schedule;
    uint32_t begin = segment_at(j, first)->first, stream;
    uint32_t end = segment_at(j, last)->first + segment_at(j, last)->count;
    for (uint32_t s = first + 1; s < last; s++)
        if (is_between(j, s))
            f->beside[schedule->ops[segment_at(j, s)->first]] = 1;
    bool ok = fusion_stream(f, &segments[own], j->ops + segments[own].first, &stream);
    for (uint32_t s = first + 1; s < last && !ok; s++)
        if (is_between(j, s))
            f->beside[schedule->ops[segment_at(j, s)->first]] = 0;
    if (!ok)
        return false;
    memcpy(schedule->ops + begin, j->ops + begin, (end - begin) * sizeof *j->ops);
    for (uint32_t i = begin; i < end; i++)
        schedule->place[schedule->ops[i]] = i;
    schedule->groups[segments[own].group].segments--;
    return true;
}

/* Puts the new segments in the place of the old ones, of which there were more. */
static void replace(struct segments *all, uint32_t first, uint32_t last,
                    const struct segment *segments, uint32_t count)
{
    memcpy(all->at + first, segments, count * sizeof *segments);
    memmove(all->at + first + count, all->at + last + 1, (all->count - last - 1) * sizeof *all->at);
    all->count -= last + 1 - first - count;
}

/* Makes two parts one. False, and all is as it was: they must be two. */
static bool join_parts(struct join *j, uint32_t first, uint32_t last)
{
    const struct fusion *f = j->f;
    struct segment *segments = mem_calloc(last - first + 1, sizeof *segments);
    memset(j->behind, 0, f->graph->ops.count);
    memset(j->before, 0, f->graph->ops.count);
    j->work += f->graph->ops.count / 16; /* which is less than to look at them */
    mark_behind(j, first, last);
    mark_before(j, first, last);
    bool ok = can_be_beside(j, first, last);
    if (ok) {
        uint32_t own = lay_out(j, first, last, segments), count = last - first;
        for (uint32_t s = first + 1; s < last; s++)
            count -= is_between(j, s);
        ok = take(j, first, last, segments, own);
        if (ok)
            replace(&j->f->schedule.segments, first, last, segments, count);
    }
    mem_free(segments);
    return ok;
}

void fusion_join_parts(struct fusion *f)
{
    uint32_t n = f->graph->ops.count;
    struct join j = {.f = f};
    j.behind = mem_calloc(n, 1);
    j.before = mem_calloc(n, 1);
    j.ops = mem_calloc(n, sizeof *j.ops);
    for (uint32_t last = 1; last < f->schedule.segments.count && j.work < JOIN_SEARCH; last++) {
        uint32_t group = segment_at(&j, last)->group, first = last;
        if (group == GROUP_NONE || f->schedule.groups[group].segments < 2)
            continue;
        while (first-- > 0 && segment_at(&j, first)->group != group)
            j.work++;
        if (first != NONE && !fusion_is_alone(f, group) && join_parts(&j, first, last))
            last = first; /* what comes next may be joined with it */
    }
    mem_free(j.behind);
    mem_free(j.before);
    mem_free(j.ops);
}
