/* How it is done, and what is proven of it, is in docs/passes.md, "insert-syncs". In short:
 *
 * 1. Flags. Complete nodes of a list are always a prefix of it, so what one list needs of the other
 *    is a staircase: its corners, the Pareto frontier, are the orders that no other implies. Each
 *    becomes a flag.
 * 2. Flags count to 15 only. Where the sender might run further ahead, the lists meet: it waits
 *    for a flag of the other list, both at the same point in time, and one flag of its own replaces
 *    those that span this point.
 *    In the same way one flag replaces those that span a call that uses both flags itself.
 * 3. Barriers. Where a flag is set, all cores of the list must be known to be there. Needs within a
 *    list are intervals of gaps, of which one must have a barrier: those without, and that no way
 *    by the other list satisfies, get one at their right end.
 * 4. Where the receivers of a flag have a barrier of their own in the gap of the wait, and set
 *    nothing there, it can stand behind the wait and gather: the senders then need none. Both ways
 *    are tried.
 * 5. Between two calls without a barrier the pipes are drained.
 *
 * Every flag and meeting leads forward in time, so nothing can block for ever. */
#include "passes/sync/plan.h"

#include <assert.h>
#include <string.h>

/* Releases that may be outstanding. A flag counts to 15; one is kept for a meeting. */
enum { FLAG_LIMIT = 14 };

/* Set in a gap of the sender's list, waited for in one of the other. That all senders are there, a
 * barrier before the set tells, or (spread) one behind the wait: it gathers what the receivers
 * know, each of its own AI core. */
struct flag {
    uint32_t set, wait;
    bool spread;
};

/* In order: both numbers increase. */
struct flags {
    struct flag *at;
    uint32_t count, capacity;
};

struct planner {
    struct sync_plan *plan;
    struct flags flags[CORE_TYPES];            /* by the type of the sender */
    uint32_t (*known[CORE_TYPES])[CORE_TYPES]; /* per node: what is complete when it starts */
    bool gather;                               /* prefers gaps in which a barrier can be late */
};

/* ------------------------------------------------------------------------------ time ---- */

/* The list whose node comes next in time, given how many of each have been taken; CORE_TYPES where
 * there is none. */
static int next_list(const struct sync_plan *plan, const uint32_t *taken)
{
    int next = CORE_TYPES;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_list *list = &plan->lists[core];
        if (taken[core] < list->count &&
            (next == CORE_TYPES ||
             list->at[taken[core]].time < plan->lists[next].at[taken[next]].time))
            next = core;
    }
    return next;
}

/* The first node that is not before a point in time. */
static uint32_t node_at(const struct sync_list *list, uint64_t time)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->at[middle].time < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ----------------------------------------------------------------------------- flags ---- */

static void find_flags(struct planner *planner)
{
    struct sync_plan *plan = planner->plan;
    uint32_t taken[CORE_TYPES] = {0}, flagged[CORE_TYPES] = {0};
    for (int core; (core = next_list(plan, taken)) != CORE_TYPES;) {
        int other = 1 - core;
        uint32_t index = taken[core]++, need = plan->lists[core].at[index].need[other];
        if (need <= flagged[other])
            continue;
        vec_push(&planner->flags[other], (struct flag){need, index, false});
        flagged[other] = need;
    }
}

/* How many flags are set in gaps up to `gap`, or else (`waited`) waited for in gaps below it. */
static uint32_t count_flags(const struct flags *flags, uint32_t gap, bool waited)
{
    uint32_t low = 0, high = flags->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct flag *flag = &flags->at[middle];
        if (waited ? flag->wait < gap : flag->set <= gap)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t flags_waited(const struct flags *flags, uint32_t gap)
{
    return count_flags(flags, gap, true);
}

static uint32_t flags_set(const struct flags *flags, uint32_t gap)
{
    return count_flags(flags, gap, false);
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

/* Puts one flag in place of those that span its ends: set before it and waited for behind it. Where
 * there are none, it is added only if `always` is set. */
static void flags_bridge(struct flags *flags, struct flag flag, bool always)
{
    uint32_t from = flags_waited(flags, flag.wait), to = flags_set(flags, flag.set);
    uint32_t behind = flags->count - to;
    if (from == to && !always)
        return;
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
    uint32_t here = node_at(&lists[sender], time), there = node_at(&lists[1 - sender], time);
    flags_bridge(&planner->flags[1 - sender], (struct flag){there, here, false}, true);
    flags_bridge(&planner->flags[sender], (struct flag){here, there, false}, false);
}

/* The next node of a list, from `index` on, that uses the flags itself. */
static uint32_t next_full(const struct sync_list *list, uint32_t index)
{
    while (index < list->count && !list->at[index].full)
        index++;
    return index;
}

/* Flags that are set before such a call and waited for behind it are waited for before it: the last
 * one of them alone. */
static void clear_full(struct planner *planner, int sender, uint32_t set_before,
                       uint32_t wait_before)
{
    struct flags *flags = &planner->flags[sender];
    uint32_t set = flags_set(flags, set_before), over = flags_waited(flags, wait_before + 1);
    if (set <= over)
        return;
    flags_bridge(flags, (struct flag){flags->at[set - 1].set, wait_before, false}, true);
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

/* When the node before a flag's gap is complete, at the earliest. */
static uint64_t set_time(const struct planner *planner, int sender, struct flag flag)
{
    return planner->plan->lists[sender].at[flag.set - 1].time;
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
            uint64_t at = set_time(planner, core, found[core].at[taken[core]]);
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

/* Whether a flag's senders are told apart from one another: they are not where there is one. */
static bool needs_barrier(const struct planner *planner, struct flag flag)
{
    return flag.set > 0 && !planner->plan->one_ai_core;
}

static bool can_be_late(const struct sync_gap *gap)
{
    return gap->waits && !gap->sets;
}

static void place_flags(struct planner *planner)
{
    struct sync_plan *plan = planner->plan;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < planner->flags[core].count; i++) {
            struct flag flag = planner->flags[core].at[i];
            struct sync_gap *sender = &plan->lists[core].gaps[flag.set];
            struct sync_gap *receiver = &plan->lists[1 - core].gaps[flag.wait];
            sender->sets++;
            receiver->waits++;
            if (needs_barrier(planner, flag) && !flag.spread)
                sender->barrier = true;
            else
                sender->drain = true;
            if (flag.spread)
                receiver->barrier = receiver->late = true;
        }
}

/* -------------------------------------------------------------------------- barriers ---- */

static void raise_to(uint32_t *number, uint32_t at_least)
{
    if (*number < at_least)
        *number = at_least;
}

/* What a core learns by a flag: all that its senders knew, and that they are where it is set. */
static void learn(const struct planner *planner, int sender, struct flag flag, uint32_t *known)
{
    raise_to(&known[sender], flag.set);
    for (int core = 0; flag.set && core < CORE_TYPES; core++)
        raise_to(&known[core], planner->known[sender][flag.set - 1][core]);
}

/* Where a barrier stands that a node needs: directly before it; or, to gather, in the last gap
 * before that can have a late one, if none of the nodes soon behind would miss it. */
static uint32_t choose_gap(const struct planner *planner, int core, uint32_t index)
{
    enum { SOON = 16 };
    const struct sync_list *list = &planner->plan->lists[core];
    uint32_t gap = index, end = list->count - index > SOON ? index + SOON : list->count;
    if (!planner->gather || can_be_late(&list->gaps[gap]))
        return index;
    while (gap > list->at[index].need[core] && !can_be_late(&list->gaps[gap]))
        gap--;
    if (!can_be_late(&list->gaps[gap]))
        return index;
    for (uint32_t i = index + 1; i < end; i++)
        if (list->at[i].need[core] > gap && list->at[i].need[core] <= index)
            return index;
    return gap;
}

/* Puts a barrier before each node that needs one of its list and does not know it otherwise. */
static void place_barriers(struct planner *planner)
{
    struct sync_plan *plan = planner->plan;
    uint32_t taken[CORE_TYPES] = {0}, waited[CORE_TYPES] = {0};
    for (int core; (core = next_list(plan, taken)) != CORE_TYPES;) {
        struct sync_list *list = &plan->lists[core];
        const struct flags *flags = &planner->flags[1 - core];
        uint32_t index = taken[core]++, *known = planner->known[core][index];
        if (index > 0)
            memcpy(known, planner->known[core][index - 1], sizeof *planner->known[core]);
        else
            memset(known, 0, sizeof *planner->known[core]);
        for (; waited[core] < flags->count && flags->at[waited[core]].wait == index; waited[core]++)
            learn(planner, 1 - core, flags->at[waited[core]], known);
        if (list->gaps[index].barrier)
            raise_to(&known[core], index);
        if (!list->one_core && list->at[index].need[core] > known[core]) {
            uint32_t gap = choose_gap(planner, core, index);
            list->gaps[gap].barrier = true;
            raise_to(&known[core], gap);
        }
    }
}

/* Keeps the drains that are needed, and adds those between calls. */
static void place_drains(struct sync_list *list)
{
    bool busy = false;
    for (uint32_t i = 0; i <= list->count; i++) {
        struct sync_gap *gap = &list->gaps[i];
        bool call = i < list->count && list->at[i].call;
        bool needed = gap->drain || call || (i < list->count && list->at[i].drained);
        gap->drain = needed && busy && !gap->barrier;
        busy = call || (busy && !gap->barrier && !gap->drain);
    }
}

/* ----------------------------------------------------------------------- late barriers ---- */

/* Makes gaps for the flags as they are; the number of barriers, twice, and of drains. */
static uint64_t fill_gaps(struct planner *planner)
{
    uint64_t cost = 0;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_list *list = &planner->plan->lists[core];
        memset(list->gaps, 0, ((size_t)list->count + 1) * sizeof *list->gaps);
    }
    place_flags(planner);
    place_barriers(planner);
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_list *list = &planner->plan->lists[core];
        place_drains(list);
        for (uint32_t i = 0; i <= list->count; i++)
            cost += 2u * list->gaps[i].barrier + list->gaps[i].drain;
    }
    return cost;
}

/* Spreads flags at receivers that have a barrier anyway; whether there are any more. */
static bool spread_flags(struct planner *planner)
{
    bool any = false;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < planner->flags[core].count; i++) {
            struct flag *flag = &planner->flags[core].at[i];
            const struct sync_gap *receiver = &planner->plan->lists[1 - core].gaps[flag->wait];
            if (flag->spread || !needs_barrier(planner, *flag) || !receiver->barrier ||
                !can_be_late(receiver))
                continue;
            flag->spread = true;
            any = true;
        }
    return any;
}

/* Makes gaps with late barriers, and without where `spread` is not set. */
static uint64_t try_gaps(struct planner *planner, bool spread, bool gather)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < planner->flags[core].count; i++)
            planner->flags[core].at[i].spread = false;
    planner->gather = gather;
    uint64_t cost = fill_gaps(planner);
    return spread && spread_flags(planner) ? fill_gaps(planner) : cost;
}

static void choose_late_barriers(struct planner *planner)
{
    bool spread = false;
    uint64_t best = try_gaps(planner, false, false), cost;
    if (planner->plan->early_flags)
        return;
    if ((cost = try_gaps(planner, true, false)) < best)
        best = cost, spread = true;
    if (try_gaps(planner, true, true) >= best)
        try_gaps(planner, spread, false);
}

void sync_plan_make(struct sync_plan *plan)
{
    struct planner planner = {.plan = plan};
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_list *list = &plan->lists[core];
        list->gaps = mem_calloc((size_t)list->count + 1, sizeof *list->gaps);
        planner.known[core] = mem_calloc(list->count, sizeof *planner.known[core]);
    }
    find_flags(&planner);
    clear_full_calls(&planner);
    limit_flags(&planner);
    choose_late_barriers(&planner);
    for (int core = 0; core < CORE_TYPES; core++) {
        vec_free(&planner.flags[core]);
        mem_free(planner.known[core]);
    }
}

void sync_plan_free(struct sync_plan *plan)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        vec_free(&plan->lists[core]);
        mem_free(plan->lists[core].gaps);
    }
}
