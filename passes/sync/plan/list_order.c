/* The order of time over both lists. */
#include "passes/sync/plan/planner.h"

int sync_next_list(const struct sync_plan *plan, const uint32_t *taken)
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

uint32_t sync_node_at(const struct sync_list *list, uint64_t time)
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
