#include "passes/entry/outer_events.h"
#include "ir/event_sides.h"

/* The super kernel that a side is an op of, or NONE. */
static uint32_t place_of(const struct graph *graph, const struct event_side *side)
{
    return side->op == NONE ? NONE : graph_superkernel(graph, graph->ops.at[side->op].block);
}

void outer_events_init(struct outer_events *events, const struct graph *graph)
{
    struct id_map waiters = {NULL, 0, 0}; /* block, by event */
    struct event_sides sends = event_sides_find(graph, W_send);
    struct event_sides recvs = event_sides_find(graph, W_recv);
    *events = (struct outer_events){.shared = NONE};
    for (uint32_t i = 0; i < sends.count; i++)
        id_map_set(&events->sender, sends.at[i].event, place_of(graph, &sends.at[i]));
    for (uint32_t i = 0; i < sends.count; i++)
        id_map_set(&events->outside, sends.at[i].event, 1);
    for (uint32_t i = 0; i < recvs.count; i++)
        id_map_set(&events->outside, recvs.at[i].event, 0);
    for (uint32_t i = 0; i < recvs.count; i++) {
        uint32_t event = recvs.at[i].event, place = place_of(graph, &recvs.at[i]);
        if (place == id_map_find(&events->sender, event) && place != NONE)
            continue;
        id_map_set(&events->outside, event, 1);
        if (place == NONE)
            continue;
        uint32_t *waiter = id_map_at(&waiters, event);
        if (*waiter != NONE && *waiter != place)
            events->shared = event;
        *waiter = place;
    }
    id_map_free(&waiters);
    vec_free(&sends);
    vec_free(&recvs);
}

void outer_events_free(struct outer_events *events)
{
    id_map_free(&events->sender);
    id_map_free(&events->outside);
}

bool outer_events_waits(const struct outer_events *events, uint32_t block, uint32_t event)
{
    return id_map_find(&events->sender, event) != block;
}

bool outer_events_notifies(const struct outer_events *events, uint32_t event)
{
    return id_map_find(&events->outside, event) == 1;
}
