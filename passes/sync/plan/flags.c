/* Which flags there are. What one list needs of the other is a staircase, as complete nodes of a
 * list are always a prefix of it: its corners, the Pareto frontier, are the orders that no other
 * implies, and each becomes a flag. Flags that can be one without waiting for what comes later in
 * time become one. Where the sender might run further ahead than a flag counts, the lists meet. */
#include "passes/sync/plan/planner.h"

#include <assert.h>
#include <string.h>

enum {
    /* Releases that may be outstanding. A flag counts to 15; one is kept for a meeting. */
    FLAG_LIMIT = 14,
    /* Nodes that a flag may wait for beyond those that are asked for. */
    EXCESS_LIMIT = 2
};

/* Whether more nodes than the limit allows stand between two gaps. Selects do not count. */
static bool is_excess(const struct sync_list *list, uint32_t demanded, uint32_t need)
{
    unsigned excess = 0;
    for (uint32_t i = demanded; i < need && excess <= EXCESS_LIMIT; i++)
        excess += !list->at[i].select;
    return excess > EXCESS_LIMIT;
}

/* Whether the last flag can wait for `need` nodes as well: it does not wait for what comes later
 * than where it waits. */
static bool can_extend(const struct planner *planner, int sender, uint32_t need)
{
    const struct flags *flags = &planner->flags[sender];
    const struct sync_list *lists = planner->plan->lists;
    if (!flags->count || planner->plan->early_flags)
        return false;
    const struct flag *last = &flags->at[flags->count - 1];
    return !is_excess(&lists[sender], last->demanded, need) &&
           lists[sender].at[need - 1].time < lists[1 - sender].at[last->wait].time;
}

/* The last flag is set behind selects that follow, so that it tells of them, too. */
static void skip_selects(struct planner *planner, int sender)
{
    struct flags *flags = &planner->flags[sender];
    const struct sync_list *list = &planner->plan->lists[sender];
    struct flag *last = &flags->at[flags->count - 1];
    while (!planner->plan->early_flags && last->set < list->count && list->at[last->set].select)
        last->set++;
}

/* A node that needs more than is flagged. */
static void add_flag(struct planner *planner, int sender, uint32_t need, uint32_t node)
{
    struct flags *flags = &planner->flags[sender];
    if (can_extend(planner, sender, need))
        flags->at[flags->count - 1].set = need;
    else
        vec_push(flags, (struct flag){.set = need, .wait = node, .demanded = need});
    skip_selects(planner, sender);
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

/* How many flags are set in gaps up to `gap`, or else (`waited`) waited for in gaps below it. */
static uint32_t count_flags(const struct flags *flags, uint32_t gap, bool waited)
{
    uint32_t low;
    bisect(low, i, flags->count, waited ? flags->at[i].wait < gap : flags->at[i].set <= gap);
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

/* Flags that are set before such a call and waited for behind it are waited for before it: the last
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

void sync_find_flags(struct planner *planner)
{
    find_flags(planner);
    clear_full_calls(planner);
    limit_flags(planner);
}
