/* Which ops a scope breaks before, where it must, is decided as if no launches could run side by
 * side; what can be joined then hangs on it, and on what is joined first. So where scopes are left
 * broken after a short try, other ways are tried: one by one, from either end, and where the
 * reference cuts them. */
#include "passes/fusion/fusion_internal.h"
#include "passes/fusion/reference_cuts.h"

#include <string.h>

/* Ops that ways may have looked at for another one to be tried. */
enum { ATTEMPT_SEARCH = 1 << 24 };

/* How good a schedule is: groups of higher ranks that break, then launches. */
struct outcome {
    uint32_t fixed, strict, launches;
};

static struct outcome outcome_of(const struct fusion *f, const struct break_cost *costs)
{
    struct outcome outcome = {0, 0, 0};
    for (uint32_t i = 1; i < f->groups.count; i++) {
        uint32_t segments = f->schedule.groups[i].segments;
        if (segments < 2)
            continue;
        outcome.fixed += costs[i].rank == BREAK_FIXED;
        outcome.strict += costs[i].rank == BREAK_STRICT;
        outcome.launches += costs[i].first + (segments - 2) * costs[i].more;
    }
    return outcome;
}

static bool is_better(struct outcome a, struct outcome b)
{
    if (a.fixed != b.fixed || a.strict != b.strict)
        return a.fixed != b.fixed ? a.fixed < b.fixed : a.strict < b.strict;
    return a.launches < b.launches;
}

/* What a schedule has decided. */
struct attempt {
    struct schedule schedule;
    uint32_t *text, *group_of;
    uint8_t *beside;
};

static struct attempt take_attempt(struct fusion *f)
{
    uint32_t n = f->graph->ops.count;
    struct attempt attempt = {.schedule = f->schedule, .text = f->text};
    attempt.group_of = mem_calloc(n, sizeof *attempt.group_of);
    attempt.beside = mem_calloc(n, 1);
    memcpy(attempt.group_of, f->group_of, n * sizeof *attempt.group_of);
    memcpy(attempt.beside, f->beside, n);
    memset(&f->schedule, 0, sizeof f->schedule);
    f->text = NULL;
    return attempt;
}

static void attempt_free(struct attempt *attempt)
{
    schedule_free(&attempt->schedule);
    mem_free(attempt->text);
    mem_free(attempt->group_of);
    mem_free(attempt->beside);
}

static void restore_attempt(struct fusion *f, struct attempt *attempt)
{
    uint32_t n = f->graph->ops.count;
    memcpy(f->group_of, attempt->group_of, n * sizeof *attempt->group_of);
    memcpy(f->beside, attempt->beside, n);
    schedule_free(&f->schedule);
    mem_free(f->text);
    f->schedule = attempt->schedule;
    f->text = attempt->text;
    mem_free(attempt->group_of);
    mem_free(attempt->beside);
}

/* Parts between the reference's cuts as groups of their own, behind the others. */
static void cut_groups(struct fusion *f, const struct reference_cuts *cuts)
{
    uint32_t first = f->groups.count;
    for (uint32_t i = 0; i < cuts->parts.count; i++)
        vec_push(&f->groups, f->groups.at[cuts->parts.at[i].scope]);
    for (uint32_t i = 0; i < f->graph->ops.count; i++)
        if (cuts->part[i] != NONE && f->group_of[i] != GROUP_NONE)
            f->group_of[i] = first + cuts->part[i];
}

/* The parts become of their groups again. */
static void join_groups(struct fusion *f, const struct reference_cuts *cuts, uint32_t n_groups)
{
    struct schedule *schedule = &f->schedule;
    for (uint32_t i = 0; i < f->graph->ops.count; i++)
        if (f->group_of[i] >= n_groups)
            f->group_of[i] = cuts->parts.at[f->group_of[i] - n_groups].scope;
    for (uint32_t i = 0; i < n_groups; i++)
        schedule->groups[i].segments = 0;
    for (uint32_t i = 0; i < schedule->segments.count; i++) {
        struct segment *segment = &schedule->segments.at[i];
        if (segment->group >= n_groups)
            segment->group = cuts->parts.at[segment->group - n_groups].scope;
        schedule->groups[segment->group].segments++;
    }
    f->groups.count = n_groups;
}

/* The scopes' ops, of which the cuts are, and what stands between them. Super kernels of the input
 * are not cut. */
static void find_roles(const struct fusion *f, const struct break_cost *costs,
                       const uint32_t *group_of, uint32_t *scope_of, uint8_t *roles)
{
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        bool fixed = costs[group_of[i]].rank == BREAK_FIXED;
        scope_of[i] = fixed ? GROUP_NONE : group_of[i];
        roles[i] = f->order->passive[i]        ? CUT_IGNORED
                   : group_of[i] == GROUP_NONE ? CUT_OTHER
                                               : CUT_MEMBER;
    }
}

static uint64_t schedule_cut(struct fusion *f, const struct break_cost *costs, enum join_way way)
{
    uint32_t n = f->graph->ops.count, n_groups = f->groups.count;
    uint32_t *scope_of = mem_calloc(n, sizeof *scope_of);
    uint8_t *roles = mem_calloc(n, 1);
    struct reference_cuts cuts;
    find_roles(f, costs, f->group_of, scope_of, roles);
    reference_cuts_init(&cuts, f->order, scope_of, n_groups, roles, f->graph->n_params);
    cut_groups(f, &cuts);
    struct break_cost *of_parts = mem_calloc(f->groups.count, sizeof *of_parts);
    for (uint32_t i = 0; i < f->groups.count; i++)
        of_parts[i] = costs[i < n_groups ? i : cuts.parts.at[i - n_groups].scope];
    fusion_schedule(f, of_parts);
    join_groups(f, &cuts, n_groups);
    uint64_t work = fusion_join_parts(f, way);
    reference_cuts_free(&cuts);
    mem_free(of_parts);
    mem_free(scope_of);
    mem_free(roles);
    return work;
}

static const struct {
    bool cuts; /* where the reference does */
    enum join_way join;
} ways[] = {{false, JOIN_ALL},
            {false, JOIN_FORWARD},
            {false, JOIN_BACKWARD},
            {true, JOIN_FORWARD},
            {true, JOIN_BACKWARD}};

/* Returns how many ops it has looked at to join parts. */
static uint64_t schedule_in(struct fusion *f, const struct break_cost *costs, unsigned way)
{
    if (ways[way].cuts)
        return schedule_cut(f, costs, ways[way].join);
    fusion_schedule(f, costs);
    return fusion_join_parts(f, ways[way].join);
}

void fusion_schedule_best(struct fusion *f, const struct break_cost *costs)
{
    uint32_t n = f->graph->ops.count, *group_of = mem_calloc(n, sizeof *group_of);
    memcpy(group_of, f->group_of, n * sizeof *group_of);
    uint64_t work = 0;
    schedule_in(f, costs, 0); /* a short one, which is for free */
    struct outcome best = outcome_of(f, costs);
    for (unsigned way = 1; way < sizeof ways / sizeof *ways && work < ATTEMPT_SEARCH &&
                           is_better((struct outcome){0, 0, 0}, best);
         way++) {
        struct attempt attempt = take_attempt(f);
        memcpy(f->group_of, group_of, n * sizeof *group_of);
        work += schedule_in(f, costs, way);
        if (is_better(outcome_of(f, costs), best))
            attempt_free(&attempt);
        else
            restore_attempt(f, &attempt);
        best = outcome_of(f, costs);
    }
    mem_free(group_of);
}
