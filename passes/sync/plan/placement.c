/* The flags of a plan, and what stands in its gaps with them. */
#include "passes/sync/plan/placement.h"

#include <assert.h>
#include <string.h>

/* ------------------------------------------------------------------------------- time ---- */

int sync_next_list(const struct sync_plan *plan, const uint32_t *taken)
{
    const struct sync_list *aic = &plan->lists[CORE_AIC], *aiv = &plan->lists[CORE_AIV];
    if (taken[CORE_AIC] >= aic->count)
        return taken[CORE_AIV] < aiv->count ? CORE_AIV : CORE_TYPES;
    if (taken[CORE_AIV] >= aiv->count)
        return CORE_AIC;
    return aiv->at[taken[CORE_AIV]].time < aic->at[taken[CORE_AIC]].time ? CORE_AIV : CORE_AIC;
}

/* The first node that is not before a point in time. */
static uint32_t sync_node_at(const struct sync_list *list, uint64_t time)
{
    uint32_t low;
    bisect(low, i, list->count, list->at[i].time < time);
    return low;
}

/* Which flags there are. What one list needs of the other is a staircase, as complete nodes of a
 * list are always a prefix of it: its corners, the Pareto frontier, are the orders that no other
 * implies, and each becomes a flag. Flags that can be one without waiting for what comes later in
 * time become one. Where the sender might run further ahead than a flag counts, the lists meet. */

enum {
    /* Releases that may be outstanding. A flag counts to 15; one is kept for a meeting. */
    FLAG_LIMIT = 14,
    /* Nodes that a flag may wait for beyond those that are asked for. */
    EXCESS_LIMIT = 2
};

/* Whether the last flag can wait for `need` nodes as well: for few that are not asked for, of which
 * selects do not count, and for none later than where it waits. */
static bool can_extend(const struct planner *planner, int sender, uint32_t need)
{
    const struct flags *flags = &planner->flags[sender];
    const struct sync_list *lists = planner->plan->lists;
    if (!flags->count || planner->plan->early_flags)
        return false;
    const struct flag *last = &flags->at[flags->count - 1];
    unsigned excess = 0;
    for (uint32_t i = last->demanded; i < need && excess <= EXCESS_LIMIT; i++)
        excess += !lists[sender].at[i].select;
    return excess <= EXCESS_LIMIT &&
           lists[sender].at[need - 1].time < lists[1 - sender].at[last->wait].time;
}

/* A node that needs more than is flagged. The flag is set after selects that follow, so that it
 * tells of them, too. */
static void add_flag(struct planner *planner, int sender, uint32_t need, uint32_t node)
{
    struct flags *flags = &planner->flags[sender];
    const struct sync_list *list = &planner->plan->lists[sender];
    if (can_extend(planner, sender, need))
        flags->at[flags->count - 1].set = need;
    else
        vec_push(flags, (struct flag){.set = need, .wait = node, .demanded = need});
    uint32_t *set = &flags->at[flags->count - 1].set;
    while (!planner->plan->early_flags && *set < list->count && list->at[*set].select)
        ++*set;
}

static void find_flags(struct planner *planner)
{
    struct sync_plan *plan = planner->plan;
    uint32_t taken[CORE_TYPES] = {0}, flagged[CORE_TYPES] = {0}, spread[CORE_TYPES] = {0};
    for (int core; (core = sync_next_list(plan, taken)) != CORE_TYPES;) {
        int other = 1 - core;
        uint32_t index = taken[core]++;
        const struct sync_node *node = &plan->lists[core].at[index];
        uint32_t all = node->need[other], need = all > node->own[other] ? all : node->own[other];
        struct flags *flags = &planner->flags[other];
        planner->narrow |= node->own[core] || node->own[other];
        if (need > flagged[other]) {
            add_flag(planner, other, need, index);
            flagged[other] = need;
        }
        if (all > spread[other]) {
            flags->at[flags->count - 1].barrier = true;
            spread[other] = flagged[other];
        }
    }
}

/* How many flags are waited for in gaps below `gap`, or set in gaps up to it. */
static uint32_t flags_waited(const struct flags *flags, uint32_t gap)
{
    uint32_t low;
    bisect(low, i, flags->count, flags->at[i].wait < gap);
    return low;
}

static uint32_t flags_set(const struct flags *flags, uint32_t gap)
{
    uint32_t low;
    bisect(low, i, flags->count, flags->at[i].set <= gap);
    return low;
}

/* How many releases may be outstanding when the next flag is set in `gap`: all but those of which
 * the sender has learnt, by the last flag of the other direction, that they are waited for. */
static uint32_t flags_outstanding(const struct planner *planner, int sender, uint32_t gap)
{
    const struct flags *back = &planner->flags[1 - sender];
    uint32_t learnt = flags_waited(back, gap);
    uint32_t over = learnt ? flags_waited(&planner->flags[sender], back->at[learnt - 1].set) : 0;
    return planner->flags[sender].count + 1 - over;
}

/* Puts one flag in place of those that span its ends: set before it and waited for after it. Where
 * there are none, it is added only if `always` is set. */
static void flags_bridge(struct flags *flags, struct flag flag, bool always)
{
    uint32_t from = flags_waited(flags, flag.wait), to = flags_set(flags, flag.set);
    uint32_t behind = flags->count - to;
    if (from == to && !always)
        return;
    for (uint32_t i = from; i < to; i++)
        flag.barrier |= flags->at[i].barrier;
    vec_reserve(flags, 1);
    memmove(flags->at + from + 1, flags->at + to, behind * sizeof flag);
    flags->at[from] = flag;
    flags->count = from + 1 + behind;
}

/* At a point in time the sender learns how far the other list is, and one flag that it sets there
 * stands for all its flags that are still to be waited for then. No more than this one and those
 * that it sets from then on are outstanding. */
static void meet(struct planner *planner, int sender, uint64_t time)
{
    const struct sync_list *lists = planner->plan->lists;
    uint32_t here = sync_node_at(&lists[sender], time),
             there = sync_node_at(&lists[1 - sender], time);
    flags_bridge(&planner->flags[1 - sender], (struct flag){.set = there, .wait = here}, true);
    flags_bridge(&planner->flags[sender], (struct flag){.set = here, .wait = there}, false);
}

/* The next node of a list, from `index` on, that uses the flags itself. */
static uint32_t next_full(const struct sync_list *list, uint32_t index)
{
    while (index < list->count && !list->at[index].full)
        index++;
    return index;
}

/* Flags that are set before such a call and waited for after it are waited for before it: the last
 * one of them alone. */
static void clear_full(struct planner *planner, int sender, uint32_t set_before,
                       uint32_t wait_before)
{
    struct flags *flags = &planner->flags[sender];
    uint32_t set = flags_set(flags, set_before), over = flags_waited(flags, wait_before + 1);
    if (set <= over)
        return;
    flags_bridge(flags, (struct flag){.set = flags->at[set - 1].set, .wait = wait_before}, true);
}

static void clear_full_calls(struct planner *planner)
{
    const struct sync_list *lists = planner->plan->lists;
    uint32_t at[CORE_TYPES] = {next_full(&lists[CORE_AIC], 0), next_full(&lists[CORE_AIV], 0)};
    while (at[CORE_AIC] < lists[CORE_AIC].count && at[CORE_AIV] < lists[CORE_AIV].count) {
        clear_full(planner, CORE_AIC, at[CORE_AIC], at[CORE_AIV]);
        clear_full(planner, CORE_AIV, at[CORE_AIV], at[CORE_AIC]);
        for (int list = 0; list < CORE_TYPES; list++)
            at[list] = next_full(&lists[list], at[list] + 1);
    }
}

/* Sees to it that no flag can be set too often, going through all sets in the order of time. */
static void limit_flags(struct planner *planner)
{
    struct flags found[CORE_TYPES];
    uint32_t taken[CORE_TYPES] = {0};
    memcpy(found, planner->flags, sizeof found);
    memset(planner->flags, 0, sizeof planner->flags);
    for (;;) {
        int sender = CORE_TYPES;
        uint64_t time = UINT64_MAX;
        for (int core = 0; core < CORE_TYPES; core++) {
            if (taken[core] == found[core].count)
                continue;
            uint64_t at = planner->plan->lists[core].at[found[core].at[taken[core]].set - 1].time;
            if (sender == CORE_TYPES || at < time)
                sender = core, time = at;
        }
        if (sender == CORE_TYPES)
            break;
        struct flag flag = found[sender].at[taken[sender]++];
        if (flags_outstanding(planner, sender, flag.set) > FLAG_LIMIT)
            meet(planner, sender, time);
        assert(!planner->flags[sender].count ||
               (flag.set >= planner->flags[sender].at[planner->flags[sender].count - 1].set &&
                flag.wait >= planner->flags[sender].at[planner->flags[sender].count - 1].wait));
        vec_push(&planner->flags[sender], flag);
    }
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&found[core]);
}

void sync_find_flags(struct planner *planner)
{
    find_flags(planner);
    clear_full_calls(planner);
    limit_flags(planner);
}

/* What comes of each gap, given the flags: what cores know there, and which barriers and drains
 * that takes. Gaps are done in the order of time. Needs within a list are intervals of gaps, of
 * which one must have a barrier: those without, and that no way by the other list satisfies, get
 * one at their right end.
 *
 * After a change, gaps are done again from the first one that it concerns, until all is as it was.
 */

/* Gaps that are looked at before a trial is given up: beyond them it would change little. */
enum { TRIAL_GAPS = 96 };

static void raise_to(uint32_t *number, uint32_t at_least)
{
    if (*number < at_least)
        *number = at_least;
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

static void do_head(struct planner *planner, int core)
{
    const struct flags *flags = &planner->flags[core];
    struct progress *progress = &planner->progress;
    uint32_t gap = progress->taken[core];
    struct spot *spot = &planner->spots[core][gap];
    struct known known = gap ? spot[-1].now.start : (struct known){{0}, {0}};
    progress->headed[core] = true;
    if (progress->trial)
        vec_push(&progress->traces, (struct trace){core, gap, spot->now});
    if (spot->first)
        learn_from_waits(planner, core, gap, &known);
    spot->now.early = is_early_barrier(planner, core, gap, &known);
    if (spot->now.early)
        learn_from_barrier(&known, core, gap);
    if (memcmp(&known, &spot->now.sent, sizeof known) != 0) {
        raise_to(&progress->until[core], gap + 1);
        for (uint32_t i = spot->set; i < flags->count && flags->at[i].set == gap; i++)
            raise_to(&progress->until[1 - core], flags->at[i].wait + 1);
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

static void do_gap(struct planner *planner, int core)
{
    struct progress *progress = &planner->progress;
    const struct sync_list *list = &planner->plan->lists[core];
    uint32_t gap = progress->taken[core];
    const struct sync_node *node = gap < list->count ? &list->at[gap] : NULL;
    struct spot *spot = &planner->spots[core][gap];
    struct outcome *now = &spot->now;
    if (!progress->headed[core])
        do_head(planner, core);
    now->barrier = now->early;
    now->late = spot->first;
    struct known known = now->sent;
    if (!spot->first)
        learn_from_waits(planner, core, gap, &known);
    if (node && lacks_any(node, &known))
        add_barrier(planner, core, gap, &known);
    /* Calls are drained between, and before what they did is passed on. */
    bool was_busy = now->busy, busy = gap > 0 && spot[-1].now.busy, call = node && node->call;
    bool needed = sync_has_sets(planner, core, gap) || call || (node && node->drained);
    now->drain = busy && needed && !now->barrier;
    now->busy = (call && !node->settled) || (busy && !now->barrier && !now->drain);
    if (memcmp(&known, &now->start, sizeof known) != 0 || was_busy != now->busy)
        raise_to(&progress->until[core], gap + 2);
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

bool sync_refill_gaps(struct planner *planner, const struct change *change)
{
    struct progress *progress = &planner->progress;
    int64_t extra = 0; /* what the gaps that are done cost more than before */
    start_over(planner, change);
    for (int core; !progress->failed && (core = next_gap(planner)) != CORE_TYPES;) {
        do_gap(planner, core);
        progress->failed |= progress->traces.count >= TRIAL_GAPS;
    }
    for (uint32_t i = 0; i < progress->traces.count; i++) {
        const struct trace *trace = &progress->traces.at[i];
        extra += cost_of(&planner->spots[trace->core][trace->gap].now);
        extra -= cost_of(&trace->was);
    }
    if (!progress->failed && extra < change->even)
        return true;
    for (uint32_t i = progress->traces.count; i-- > 0;) {
        const struct trace *trace = &progress->traces.at[i];
        planner->spots[trace->core][trace->gap].now = trace->was;
    }
    return false;
}
