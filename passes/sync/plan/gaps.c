/* What comes of each gap, given the flags: what cores know there, and which barriers and drains
 * that takes. Gaps are done in the order of time. Needs within a list are intervals of gaps, of
 * which one must have a barrier: those without, and that no way by the other list satisfies, get
 * one at their right end.
 *
 * After a change, gaps are done again from the first one that it concerns, until all is as it was.
 */
#include "passes/sync/plan/planner.h"

#include <assert.h>
#include <string.h>

/* Gaps that are looked at before a trial is given up: beyond them it would change little. */
enum { TRIAL_GAPS = 96 };

static void raise_to(uint32_t *number, uint32_t at_least)
{
    if (*number < at_least)
        *number = at_least;
}

static bool same_known(const struct known *a, const struct known *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Whether a node needs nodes of a list that are not known to be complete. */
static bool lacks(const struct sync_node *node, const struct known *known, int core)
{
    return node->need[core] > known->all[core] || node->own[core] > known->own[core];
}

static bool lacks_any(const struct sync_node *node, const struct known *known)
{
    return lacks(node, known, CORE_AIC) || lacks(node, known, CORE_AIV);
}

/* Gaps below `gap` are to be done. */
static void raise_until(struct planner *planner, int core, uint32_t gap)
{
    raise_to(&planner->progress.until[core], gap);
}

/* ------------------------------------------------------------------------------ heads ---- */

/* All cores of the list are at the gap, and tell each other of their own AI cores. */
static void learn_from_barrier(struct known *known, int core, uint32_t gap)
{
    raise_to(&known->all[core], gap);
    raise_to(&known->own[core], gap);
    raise_to(&known->all[1 - core], known->own[1 - core]);
}

static void learn(struct known *known, const struct known *more)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        raise_to(&known->all[core], more->all[core]);
        raise_to(&known->own[core], more->own[core]);
    }
}

static void do_head(struct planner *planner, int core);

static void learn_from_waits(struct planner *planner, int core, uint32_t gap, struct known *known)
{
    int sender = 1 - core;
    const struct flags *flags = &planner->flags[sender];
    uint32_t i = planner->spots[core][gap].wait;
    for (; i < flags->count && flags->at[i].wait == gap; i++) {
        uint32_t set = flags->at[i].set;
        assert(set <= planner->progress.taken[sender]);
        if (set == planner->progress.taken[sender] && !planner->progress.headed[sender])
            do_head(planner, sender);
        learn(known, &planner->spots[sender][set].now.sent);
        raise_to(&known->own[sender], set);
    }
}

/* What is known behind the last gap. */
static struct known known_before(const struct planner *planner, int core, uint32_t gap)
{
    return gap ? planner->spots[core][gap - 1].now.start : (struct known){{0}, {0}};
}

/* Whether a gap has a barrier before its sets. One for the node behind it alone can be known here
 * only where no wait may still do instead. */
static bool is_early_barrier(const struct planner *planner, int core, uint32_t gap,
                             const struct known *known)
{
    const struct sync_list *list = &planner->plan->lists[core];
    const struct spot *spot = &planner->spots[core][gap];
    bool waited = spot->first || !sync_has_waits(planner, core, gap);
    return spot->asked || spot->gather || spot->replaces ||
           (waited && gap < list->count && lacks_any(&list->at[gap], known));
}

static void note(struct planner *planner, int core, uint32_t gap)
{
    if (planner->progress.trial)
        vec_push(&planner->progress.traces,
                 (struct trace){core, gap, planner->spots[core][gap].now});
}

/* The last gap in which something is waited for that is set in a gap. */
static uint32_t last_wait(const struct planner *planner, int core, uint32_t gap)
{
    const struct flags *flags = &planner->flags[core];
    uint32_t i = planner->spots[core][gap].set, last = 0;
    for (; i < flags->count && flags->at[i].set == gap; i++)
        last = flags->at[i].wait;
    return last;
}

static void do_head(struct planner *planner, int core)
{
    uint32_t gap = planner->progress.taken[core];
    struct spot *spot = &planner->spots[core][gap];
    struct known known = known_before(planner, core, gap);
    planner->progress.headed[core] = true;
    note(planner, core, gap);
    if (spot->first)
        learn_from_waits(planner, core, gap, &known);
    spot->now.early = is_early_barrier(planner, core, gap, &known);
    if (spot->now.early)
        learn_from_barrier(&known, core, gap);
    if (!same_known(&known, &spot->now.sent)) {
        raise_until(planner, core, gap + 1);
        if (sync_has_sets(planner, core, gap))
            raise_until(planner, 1 - core, last_wait(planner, core, gap) + 1);
    }
    spot->now.sent = known;
}

/* ------------------------------------------------------------------------------ gaps ---- */

/* The barrier that a node lacks behind the gap's waits: where it is for the other list's nodes,
 * behind the waits, and there must be no sets. */
static void add_barrier(struct planner *planner, int core, uint32_t gap, struct known *known)
{
    const struct sync_node *node = &planner->plan->lists[core].at[gap];
    struct outcome *now = &planner->spots[core][gap].now;
    bool spread = lacks(node, known, 1 - core);
    if (now->barrier || (spread && sync_has_sets(planner, core, gap))) {
        planner->progress.failed = true;
        return;
    }
    now->barrier = true;
    now->late = spread;
    if (spread) {
        learn_from_barrier(known, core, gap);
    } else {
        struct known before = now->sent;
        learn_from_barrier(&before, core, gap);
        learn(known, &before);
    }
    planner->progress.failed |= lacks(node, known, 1 - core);
}

/* Calls are drained between, and before what they did is passed on. */
static void place_drain(struct planner *planner, int core, uint32_t gap)
{
    const struct sync_list *list = &planner->plan->lists[core];
    const struct sync_node *node = gap < list->count ? &list->at[gap] : NULL;
    struct outcome *now = &planner->spots[core][gap].now;
    bool busy = gap > 0 && planner->spots[core][gap - 1].now.busy;
    bool call = node && node->call;
    bool needed = sync_has_sets(planner, core, gap) || call || (node && node->drained);
    now->drain = busy && needed && !now->barrier;
    now->busy = (call && !node->settled) || (busy && !now->barrier && !now->drain);
}

static void do_gap(struct planner *planner, int core)
{
    struct progress *progress = &planner->progress;
    const struct sync_list *list = &planner->plan->lists[core];
    uint32_t gap = progress->taken[core];
    struct outcome *now = &planner->spots[core][gap].now;
    if (!progress->headed[core])
        do_head(planner, core);
    bool was_busy = now->busy;
    now->barrier = now->early;
    now->late = planner->spots[core][gap].first;
    struct known known = now->sent;
    if (!planner->spots[core][gap].first)
        learn_from_waits(planner, core, gap, &known);
    if (gap < list->count && lacks_any(&list->at[gap], &known))
        add_barrier(planner, core, gap, &known);
    place_drain(planner, core, gap);
    if (!same_known(&known, &now->start) || was_busy != now->busy)
        raise_until(planner, core, gap + 2);
    now->start = known;
    progress->taken[core]++;
    progress->headed[core] = false;
}

static bool has_gaps(const struct planner *planner, int core)
{
    uint32_t taken = planner->progress.taken[core];
    return taken < planner->progress.until[core] && taken <= planner->plan->lists[core].count;
}

/* The list whose gap comes next: those behind all nodes come last. CORE_TYPES where all are done
 * that must be. */
static int next_gap(const struct planner *planner)
{
    if (!has_gaps(planner, CORE_AIC) && !has_gaps(planner, CORE_AIV))
        return CORE_TYPES;
    int next = sync_next_list(planner->plan, planner->progress.taken);
    for (int core = 0; next == CORE_TYPES && core < CORE_TYPES; core++)
        if (planner->progress.taken[core] <= planner->plan->lists[core].count)
            next = core;
    return next;
}

void sync_fill_gaps(struct planner *planner)
{
    struct progress *progress = &planner->progress;
    *progress = (struct progress){.until = {UINT32_MAX, UINT32_MAX}};
    for (int core; (core = next_gap(planner)) != CORE_TYPES;)
        do_gap(planner, core);
    assert(!progress->failed);
}

/* ------------------------------------------------------------------------------ trials ---- */

/* Starts at the first gap of the change, in time: the node before it is the last one done. */
static void start_over(struct planner *planner, const struct change *change)
{
    const struct sync_list *lists = planner->plan->lists;
    struct progress *progress = &planner->progress;
    int first = CORE_TYPES;
    uint64_t time = 0;
    progress->failed = false;
    progress->traces.count = 0;
    progress->trial = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t gap = change->first[core];
        bool none = gap > change->last[core];
        uint64_t at = none || !gap ? 0 : lists[core].at[gap - 1].time + 1;
        progress->taken[core] = progress->until[core] = 0;
        progress->headed[core] = false;
        if (none)
            continue;
        progress->until[core] = change->last[core] + 1;
        if (first == CORE_TYPES || at < time)
            first = core, time = at;
    }
    if (time == 0)
        return;
    /* Of nodes at the same time, those of AICs come first. */
    progress->taken[first] = change->first[first];
    progress->taken[1 - first] =
        sync_node_at(&lists[1 - first], first == CORE_AIV ? time : time - 1);
}

static unsigned cost_of(const struct outcome *outcome)
{
    return 2u * outcome->barrier + outcome->drain;
}

/* What the gaps that were done cost more than before. */
static int64_t extra_cost(const struct planner *planner)
{
    const struct progress *progress = &planner->progress;
    int64_t extra = 0;
    for (uint32_t i = 0; i < progress->traces.count; i++) {
        const struct trace *trace = &progress->traces.at[i];
        extra += cost_of(&planner->spots[trace->core][trace->gap].now);
        extra -= cost_of(&trace->was);
    }
    return extra;
}

static void restore(struct planner *planner)
{
    for (uint32_t i = planner->progress.traces.count; i-- > 0;) {
        const struct trace *trace = &planner->progress.traces.at[i];
        planner->spots[trace->core][trace->gap].now = trace->was;
    }
}

bool sync_refill_gaps(struct planner *planner, const struct change *change)
{
    struct progress *progress = &planner->progress;
    start_over(planner, change);
    for (int core; !progress->failed && (core = next_gap(planner)) != CORE_TYPES;) {
        do_gap(planner, core);
        progress->failed |= progress->traces.count >= TRIAL_GAPS;
    }
    if (!progress->failed && extra_cost(planner) < change->even)
        return true;
    restore(planner);
    return false;
}
