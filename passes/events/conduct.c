/* What passive ops conduct: they neither send nor wait, so who waits for one waits for what it
 * waits for, of which the last op on each stream is enough. */
#include "passes/events/inserter.h"

/* What an op waits for by passive ones, as edges: from the last op of each lane. */
static void take_conducted(struct inserter *in)
{
    for (uint32_t lane = 0; lane < in->n_lanes; lane++) {
        if (in->conducted[lane] == 0)
            continue;
        uint32_t from = inserter_ranked(in, lane, in->conducted[lane]);
        vec_push(&in->edges,
                 ((struct order_edge){.from = from, .name = NONE, .kind = ORDER_EVENT}));
        in->conducted[lane] = 0;
    }
}

void conduct_take_edges(struct inserter *in, uint32_t op)
{
    bool conducted = false;
    in->edges.count = 0;
    for (uint32_t e = in->order->first[op]; e < in->order->first[op + 1]; e++) {
        uint32_t from = in->order->edges[e].from;
        if (!in->passive[from]) {
            vec_push(&in->edges, in->order->edges[e]);
            continue;
        }
        inserter_join(in, in->conducted, inserter_know(in, BY_LAUNCHES, from));
        conducted = true;
    }
    if (conducted)
        take_conducted(in);
}

bool conduct_stays(const struct inserter *in, uint32_t op, const struct order_edge *edge)
{
    if (edge->by != NONE)
        return false;
    if (edge->kind == ORDER_AFTER)
        return in->launches.at[in->launch_of[op]].fixed;
    return edge->kind == ORDER_DATA || edge->kind == ORDER_MEMORY || edge->kind == ORDER_STREAM;
}

/* What a passive op conducts is known of those that it waits for. */
static void conduct(struct inserter *in, enum knowledge by, uint32_t op)
{
    uint32_t *know = inserter_know(in, by, op);
    for (uint32_t e = in->order->first[op]; e < in->order->first[op + 1]; e++) {
        uint32_t from = in->order->edges[e].from, lane = in->lane_of[from];
        if (by == BY_OPS && !conduct_stays(in, op, &in->order->edges[e]))
            continue;
        if (in->passive[from])
            inserter_join(in, know, inserter_know(in, by, from));
        else if (know[lane] < in->rank[from])
            know[lane] = in->rank[from];
    }
}

/* An event may be sent below where it is received, so text order may not do. */
void conduct_all(struct inserter *in)
{
    uint32_t n = in->order->n_ops;
    if (in->lane_first[in->n_lanes] == n) /* there are no passive ops */
        return;
    uint32_t *sorted = mem_calloc(n, sizeof *sorted);
    struct order_cycle cycle;
    bool acyclic = order_sort(in->order, sorted, &cycle);
    assert(acyclic); /* the verifier refuses circles */
    for (uint32_t i = 0; i < n && acyclic; i++)
        for (enum knowledge by = 0; in->passive[sorted[i]] && by < inserter_kinds(in); by++)
            conduct(in, by, sorted[i]);
    vec_free(&cycle.edges);
    mem_free(sorted);
}
