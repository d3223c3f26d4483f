/* How it is done, and what is proven of it, is in docs/passes.md, "insert-syncs". In short:
 *
 * 1. Flags, for the orders between the lists (placement.c).
 * 2. Barriers: before each flag that all senders must have come to, and for the orders within the
 *    lists that are not met otherwise; drains between calls (placement.c).
 * 3. Barriers are saved where another one, behind the wait of a flag or in place of a drain, can do
 *    their work.
 *
 * Every flag leads forward in time, so nothing can block for ever. */
#include "passes/sync/plan/placement.h"

#include <assert.h>

/* Saves barriers. A flag needs none of its senders where its receivers have one after the wait: it
 * gathers what each of them has learnt of its own AI core. Tried are, for each flag, in the order
 * of time, and kept where they save an instruction:
 *
 * - none at the senders, which leaves it to the receivers;
 * - setting later, where the senders have a barrier soon after;
 * - one in the gap of the wait, before what is set there;
 * - waiting earlier, where a barrier of the receivers comes before the wait.
 *
 * Then a barrier is tried in place of each drain between calls, which may spare the next barrier:
 * with waits for what that one spreads moved here. A barrier for the lock of a dynamic kernel,
 * which would come after all calls, is one between two calls then.
 *
 * All of them make flags shorter, so that no more releases are outstanding. At last, flags that
 * need not tell of a select are set before it, which changes no number of releases: nothing is
 * waited for between. */

enum {
    REACH = 8, /* gaps by which a set or wait may move */
    MANY = 64  /* flags that are waited for in one gap */
};

/* Of the other list's flags that are waited for in a gap, the last one. */
static const struct flag *last_awaited(const struct planner *planner, int core, uint32_t gap)
{
    const struct flags *flags = &planner->flags[1 - core];
    uint32_t i = planner->spots[core][gap].wait;
    assert(i < flags->count && flags->at[i].wait == gap);
    while (i + 1 < flags->count && flags->at[i + 1].wait == gap)
        i++;
    return &flags->at[i];
}

/* Whether what a gap waits for can come before what it sets: the other list must not wait for that
 * first. */
static bool may_wait_first(const struct planner *planner, int core, uint32_t gap)
{
    const struct flags *sent = &planner->flags[core];
    uint32_t first = planner->spots[core][gap].set;
    if (!sync_has_waits(planner, core, gap))
        return false;
    if (first == sent->count)
        return true;
    uint32_t set = last_awaited(planner, core, gap)->set, wait = sent->at[first].wait;
    return set < wait || (set == wait && !planner->spots[1 - core][set].first);
}

static bool is_allowed(const struct planner *planner, int core, uint32_t gap)
{
    return !planner->spots[core][gap].first || may_wait_first(planner, core, gap);
}

static void ask(struct planner *planner, int sender, struct flag *flag, bool barrier)
{
    struct spot *spot = &planner->spots[sender][flag->set];
    spot->asked += barrier;
    spot->asked -= flag->barrier;
    flag->barrier = barrier;
}

/* Whether the senders have a barrier for a flag alone. */
static bool is_costly(const struct planner *planner, int sender, const struct flag *flag)
{
    return flag->barrier && planner->spots[sender][flag->set].asked == 1;
}

static void widen(struct change *change, int core, uint32_t gap)
{
    if (gap < change->first[core])
        change->first[core] = gap;
    if (gap > change->last[core])
        change->last[core] = gap;
}

static const struct change no_change = {.first = {UINT32_MAX, UINT32_MAX}};

/* ---------------------------------------------------------------------------- barriers ---- */

/* The first gap with a barrier from one up to another, or NONE. */
static uint32_t next_barrier(const struct planner *planner, int core, uint32_t first, uint32_t last)
{
    uint32_t count = planner->plan->lists[core].count;
    for (uint32_t gap = first; gap <= last && gap <= count; gap++)
        if (planner->spots[core][gap].now.barrier)
            return gap;
    return NONE;
}

/* Does without the senders' barrier, where they know enough, or the receivers have one when they
 * need to know. */
static void drop_barrier(struct planner *planner, int sender, uint32_t index)
{
    struct flag *flag = &planner->flags[sender].at[index];
    struct change change = no_change;
    if (!is_costly(planner, sender, flag))
        return;
    widen(&change, sender, flag->set);
    ask(planner, sender, flag, false);
    if (!sync_refill_gaps(planner, &change))
        ask(planner, sender, flag, true);
}

/* Which of the flags that a gap waits for ask for a barrier, as bits; those that did. */
static uint64_t ask_awaited(struct planner *planner, int core, uint32_t gap, uint64_t barriers)
{
    struct flags *flags = &planner->flags[1 - core];
    uint32_t first = planner->spots[core][gap].wait;
    uint64_t were = 0;
    for (uint32_t i = first; i < flags->count && flags->at[i].wait == gap; i++) {
        were |= (uint64_t)flags->at[i].barrier << (i - first);
        ask(planner, 1 - core, &flags->at[i], barriers >> (i - first) & 1);
    }
    return were;
}

/* A barrier after the waits of a gap, in place of those of all senders. In place of one alone it is
 * worth it only if it also spares the next barrier. */
static void try_gather(struct planner *planner, int core, uint32_t gap)
{
    const struct flags *flags = &planner->flags[1 - core];
    struct spot *spot = &planner->spots[core][gap];
    struct change change = no_change;
    uint32_t end = spot->wait, costly = 0;
    for (; end < flags->count && flags->at[end].wait == gap; end++)
        costly += is_costly(planner, 1 - core, &flags->at[end]);
    if (spot->gather || !costly || end - spot->wait > MANY || !may_wait_first(planner, core, gap))
        return;
    uint32_t next = costly == 1 ? next_barrier(planner, core, gap, gap + REACH) : gap;
    if (next == NONE ||
        (next != gap && (planner->spots[core][next].asked || planner->spots[core][next].gather)))
        return;
    uint64_t were = ask_awaited(planner, core, gap, 0);
    bool first = spot->first;
    spot->first = spot->gather = true;
    widen(&change, core, gap);
    widen(&change, 1 - core, flags->at[spot->wait].set);
    widen(&change, 1 - core, flags->at[end - 1].set);
    if (sync_refill_gaps(planner, &change))
        return;
    spot->first = first;
    spot->gather = false;
    ask_awaited(planner, core, gap, were);
}

/* Waits before what is set, to pass on what the other list's cores of the same AI core know. */
static void try_relay(struct planner *planner, int core, uint32_t gap)
{
    struct spot *spot = &planner->spots[core][gap];
    struct change change = no_change;
    if (spot->first || !sync_has_sets(planner, core, gap) || !may_wait_first(planner, core, gap))
        return;
    widen(&change, core, gap);
    spot->first = true;
    spot->first = sync_refill_gaps(planner, &change);
}

/* ------------------------------------------------------------------------------ moves ---- */

static void move_wait(struct planner *planner, int sender, uint32_t index, uint32_t gap)
{
    struct spot *spots = planner->spots[1 - sender];
    struct flag *flag = &planner->flags[sender].at[index];
    for (uint32_t i = gap + 1; i <= flag->wait; i++)
        spots[i].wait = index + 1;
    for (uint32_t i = flag->wait + 1; i <= gap; i++)
        spots[i].wait = index;
    flag->wait = gap;
}

static void move_set(struct planner *planner, int sender, uint32_t index, uint32_t gap)
{
    struct spot *spots = planner->spots[sender];
    struct flag *flag = &planner->flags[sender].at[index];
    for (uint32_t i = gap + 1; i <= flag->set; i++)
        spots[i].set = index + 1;
    for (uint32_t i = flag->set + 1; i <= gap; i++)
        spots[i].set = index;
    spots[flag->set].asked -= flag->barrier;
    spots[gap].asked += flag->barrier;
    flag->set = gap;
}

/* Waits in an earlier gap, whose barrier then comes after its waits, and makes that of the senders
 * superfluous. */
static bool try_wait(struct planner *planner, int sender, uint32_t index, uint32_t gap)
{
    struct flag *flag = &planner->flags[sender].at[index];
    struct spot *spot = &planner->spots[1 - sender][gap];
    struct change change = no_change;
    uint32_t wait = flag->wait;
    bool first = spot->first;
    widen(&change, sender, flag->set);
    widen(&change, 1 - sender, gap);
    widen(&change, 1 - sender, wait);
    move_wait(planner, sender, index, gap);
    ask(planner, sender, flag, false);
    spot->first = spot->gather = true;
    if (is_allowed(planner, 1 - sender, gap) && is_allowed(planner, sender, flag->set) &&
        sync_refill_gaps(planner, &change))
        return true;
    spot->gather = false;
    spot->first = first;
    ask(planner, sender, flag, true);
    move_wait(planner, sender, index, wait);
    return false;
}

/* Looks for the last barrier of the receivers before a flag's wait. */
static void wait_earlier(struct planner *planner, int sender, uint32_t index)
{
    const struct flags *flags = &planner->flags[sender];
    const struct flag *flag = &flags->at[index];
    const struct sync_list *lists = planner->plan->lists;
    const struct spot *spots = planner->spots[1 - sender];
    uint32_t low = index ? flags->at[index - 1].wait : 0, wait = flag->wait;
    uint64_t time = flag->set ? lists[sender].at[flag->set - 1].time : 0;
    if (!is_costly(planner, sender, flag))
        return;
    for (uint32_t gap = wait; gap-- > low && wait - gap <= REACH;) {
        if (lists[1 - sender].at[gap].time <= time)
            return;
        if (gap + 1 < wait && spots[gap + 1].now.barrier)
            return;
        if (spots[gap].now.barrier && !spots[gap].gather && try_wait(planner, sender, index, gap))
            return;
    }
}

/* Sets a flag in another gap; where that is not allowed, or does not save anything, as before.
 * `even`: it need not save anything. */
static void try_set(struct planner *planner, int sender, uint32_t index, uint32_t gap, bool even)
{
    const struct flag *flag = &planner->flags[sender].at[index];
    struct change change = no_change;
    uint32_t set = flag->set;
    change.even = even;
    widen(&change, sender, set);
    widen(&change, sender, gap);
    widen(&change, 1 - sender, flag->wait);
    move_set(planner, sender, index, gap);
    if (!is_allowed(planner, sender, set) || !is_allowed(planner, sender, gap) ||
        !is_allowed(planner, 1 - sender, flag->wait) || !sync_refill_gaps(planner, &change))
        move_set(planner, sender, index, set);
}

/* Sets after the next barrier of the senders. */
static void set_later(struct planner *planner, int sender, uint32_t index)
{
    const struct flags *flags = &planner->flags[sender];
    const struct flag *flag = &flags->at[index];
    const struct sync_list *lists = planner->plan->lists;
    uint32_t last = flag->set + REACH;
    if (!is_costly(planner, sender, flag))
        return;
    if (index + 1 < flags->count && flags->at[index + 1].set < last)
        last = flags->at[index + 1].set;
    uint32_t gap = next_barrier(planner, sender, flag->set + 1, last);
    if (gap != NONE && lists[sender].at[gap - 1].time < lists[1 - sender].at[flag->wait].time)
        try_set(planner, sender, index, gap, false);
}

/* Sets before the selects that a flag comes after, where that costs nothing: the receivers need
 * not wait for a tiling then. */
static void set_earlier(struct planner *planner, int sender, uint32_t index)
{
    const struct flags *flags = &planner->flags[sender];
    const struct sync_list *list = &planner->plan->lists[sender];
    uint32_t low = index ? flags->at[index - 1].set : 0, set = flags->at[index].set, gap = set;
    while (gap > low && gap > 0 && list->at[gap - 1].select)
        gap--;
    if (gap != set && gap != 0)
        try_set(planner, sender, index, gap, true);
}

/* ------------------------------------------------------------------------------ drains ---- */

static bool try_replace(struct planner *planner, int core, uint32_t gap,
                        const struct change *change)
{
    struct spot *spot = &planner->spots[core][gap];
    spot->replaces = true;
    spot->replaces = is_allowed(planner, core, gap) && sync_refill_gaps(planner, change);
    return spot->replaces;
}

/* A barrier in place of a drain between calls, which spares the next barrier. If that spreads what
 * is waited for after the drain, the wait moves here, too, where all is set before that in time.
 * Before a notification a drain stays: there a barrier would delay the receivers. */
static void replace_drain(struct planner *planner, int core, uint32_t gap)
{
    const struct sync_list *lists = planner->plan->lists;
    const struct flags *flags = &planner->flags[1 - core];
    struct spot *spot = &planner->spots[core][gap];
    struct change change = no_change;
    uint32_t barrier = next_barrier(planner, core, gap + 1, gap + REACH);
    if (!spot->now.drain || barrier == NONE || !lists[core].at[gap].call)
        return;
    widen(&change, core, gap);
    if (try_replace(planner, core, gap, &change))
        return;
    uint32_t first = planner->spots[core][gap + 1].wait, end = first, waits[REACH];
    for (; end < flags->count && flags->at[end].wait <= barrier && end - first < REACH; end++) {
        uint32_t set = flags->at[end].set;
        if (set && lists[1 - core].at[set - 1].time >= lists[core].at[gap].time)
            return;
        waits[end - first] = flags->at[end].wait;
    }
    if (first == end)
        return;
    struct spot *later = &planner->spots[core][barrier];
    bool was_first = spot->first, later_first = later->first, later_gather = later->gather;
    bool allowed = true;
    for (uint32_t i = first; i < end; i++) {
        widen(&change, 1 - core, flags->at[i].set);
        widen(&change, core, flags->at[i].wait);
        move_wait(planner, 1 - core, i, gap);
    }
    for (uint32_t i = first; i < end; i++)
        allowed = allowed && is_allowed(planner, 1 - core, flags->at[i].set);
    spot->first = true;
    if (!sync_has_waits(planner, core, barrier))
        later->first = later->gather = false;
    if (allowed && try_replace(planner, core, gap, &change))
        return;
    spot->first = was_first;
    later->first = later_first;
    later->gather = later_gather;
    for (uint32_t i = end; i-- > first;)
        move_wait(planner, 1 - core, i, waits[i - first]);
}

static void change_flags(struct planner *planner, int core, uint32_t gap,
                         void change(struct planner *planner, int sender, uint32_t index))
{
    const struct flags *flags = &planner->flags[1 - core];
    uint32_t i = planner->spots[core][gap].wait;
    for (; i < flags->count && flags->at[i].wait == gap; i++)
        change(planner, 1 - core, i);
}

/* Changes what saves barriers. */
static void sync_save_barriers(struct planner *planner)
{
    uint32_t taken[CORE_TYPES] = {0};
    for (int core; (core = sync_next_list(planner->plan, taken)) != CORE_TYPES;) {
        uint32_t gap = taken[core]++;
        if (!sync_has_waits(planner, core, gap))
            continue;
        change_flags(planner, core, gap, drop_barrier);
        change_flags(planner, core, gap, set_later);
        try_gather(planner, core, gap);
        if (planner->narrow)
            try_relay(planner, core, gap);
        change_flags(planner, core, gap, wait_earlier);
    }
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t gap = 0; gap < planner->plan->lists[core].count; gap++)
            replace_drain(planner, core, gap);
    for (int sender = 0; sender < CORE_TYPES; sender++)
        for (uint32_t i = 0; i < planner->flags[sender].count; i++)
            set_earlier(planner, sender, i);
}

/* -------------------------------------------------------------------------------- plan ---- */

/* Indexes the flags by gap. */
static void find_spots(struct planner *planner, int core)
{
    const struct flags *sent = &planner->flags[core], *awaited = &planner->flags[1 - core];
    uint32_t set = 0, wait = 0;
    for (uint32_t gap = 0; gap <= planner->plan->lists[core].count; gap++) {
        struct spot *spot = &planner->spots[core][gap];
        spot->set = set, spot->wait = wait;
        for (; set < sent->count && sent->at[set].set == gap; set++)
            spot->asked += sent->at[set].barrier;
        while (wait < awaited->count && awaited->at[wait].wait == gap)
            wait++;
    }
}

static void write_gaps(const struct planner *planner, int core)
{
    struct sync_list *list = &planner->plan->lists[core];
    list->gaps = mem_calloc((size_t)list->count + 1, sizeof *list->gaps);
    for (uint32_t gap = 0; gap <= list->count; gap++) {
        const struct outcome *now = &planner->spots[core][gap].now;
        list->gaps[gap].barrier = now->barrier;
        list->gaps[gap].drain = now->drain;
        list->gaps[gap].late = now->late;
    }
    for (uint32_t i = 0; i < planner->flags[core].count; i++)
        list->gaps[planner->flags[core].at[i].set].sets++;
    for (uint32_t i = 0; i < planner->flags[1 - core].count; i++)
        list->gaps[planner->flags[1 - core].at[i].wait].waits++;
}

void sync_plan_make(struct sync_plan *plan)
{
    struct planner planner = {.plan = plan};
    sync_find_flags(&planner);
    for (int core = 0; core < CORE_TYPES; core++) {
        planner.spots[core] =
            mem_calloc((size_t)plan->lists[core].count + 1, sizeof *planner.spots[core]);
        find_spots(&planner, core);
    }
    sync_fill_gaps(&planner);
    if (!plan->early_flags)
        sync_save_barriers(&planner);
    for (int core = 0; core < CORE_TYPES; core++)
        write_gaps(&planner, core);
    for (int core = 0; core < CORE_TYPES; core++) {
        vec_free(&planner.flags[core]);
        mem_free(planner.spots[core]);
    }
    vec_free(&planner.progress.traces);
}

void sync_plan_free(struct sync_plan *plan)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        vec_free(&plan->lists[core]);
        mem_free(plan->lists[core].gaps);
    }
}
