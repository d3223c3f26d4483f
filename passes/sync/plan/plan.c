/* How it is done, and what is proven of it, is in docs/passes.md, "insert-syncs". In short:
 *
 * 1. Flags, for the orders between the lists (flags.c).
 * 2. Barriers: before each flag that all senders must have come to, and for the orders within the
 *    lists that are not met otherwise; drains between calls (gaps.c).
 * 3. Barriers are saved where another one, behind the wait of a flag or in place of a drain, can do
 *    their work (savings.c).
 *
 * Every flag leads forward in time, so nothing can block for ever. */
#include "passes/sync/plan/planner.h"

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
