/* The order of time over both lists. */
#include "passes/sync/plan/planner.h"

int sync_next_list(const struct sync_plan *plan, const uint32_t *taken)
{
    const struct sync_list *aic = &plan->lists[CORE_AIC], *aiv = &plan->lists[CORE_AIV];
    if (taken[CORE_AIC] >= aic->count)
        return taken[CORE_AIV] < aiv->count ? CORE_AIV : CORE_TYPES;
    if (taken[CORE_AIV] >= aiv->count)
        return CORE_AIC;
    return aiv->at[taken[CORE_AIV]].time < aic->at[taken[CORE_AIC]].time ? CORE_AIV : CORE_AIC;
}

uint32_t sync_node_at(const struct sync_list *list, uint64_t time)
{
    uint32_t low;
    bisect(low, i, list->count, list->at[i].time < time);
    return low;
}
