#include "passes/events/inserter.h"

/* What passive ops conduct: they neither send nor wait, so who waits for one waits for what it
 * waits for, of which the last op on each stream is enough. */

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

/* Events of super kernels with fixed slots stay as they are, be it that the graph's order implies
 * them: a host fills their slots. Those that an entry names, which
 * is there already, keep their names where order needs them. */

static void keep(struct id_map *kept, struct id_map *names, const struct graph *graph,
                 struct range events)
{
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t event = graph->refs.at[events.first + i];
        id_map_set(kept, event, 1);
        if (id_map_find(names, event) == NONE)
            id_map_set(names, event, 1);
    }
}

void kept_find(struct id_map *kept, struct id_map *names, const struct module *module,
               const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        uint32_t block = op->clauses ? graph_superkernel(graph, op->block) : NONE;
        if (block == NONE || !attr_flag(module, graph->blocks.at[block].attrs, W_fixed_slots))
            continue;
        keep(kept, names, graph, op_clauses(graph, op)->send);
        keep(kept, names, graph, op_clauses(graph, op)->recv);
    }
}

/* ------------------------------------------------------------------------ by entries ---- */

/* Events that an entry names, in arguments or instructions. */
static void find_named(struct id_map *named, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->args.count; i++)
        if (entry->args.at[i].kind == ARG_SEND || entry->args.at[i].kind == ARG_RECV)
            id_map_set(named, entry->args.at[i].id, 1);
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr_info(instr->op)->effect == EFFECT_EVENT && !instr->word)
                id_map_set(named, instr->number[0], 1);
        }
}

static void reserve(struct id_map *written, struct id_map *names, const struct id_map *named,
                    const struct graph *graph, struct range events)
{
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t event = graph->refs.at[events.first + i];
        if (id_map_find(named, event) == NONE || id_map_find(names, event) != NONE)
            continue;
        id_map_set(names, event, 1);
        id_map_set(written, event, 1);
    }
}

void kept_find_written(struct id_map *written, struct id_map *names, const struct module *module,
                       const struct graph *graph)
{
    struct id_map named = {NULL, 0, 0};
    for (uint32_t i = 0; i < module->entries.count; i++)
        find_named(&named, &module->entries.at[i]);
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        reserve(written, names, &named, graph, graph->blocks.at[b].send);
        reserve(written, names, &named, graph, graph->blocks.at[b].recv);
    }
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        reserve(written, names, &named, graph, op_clauses(graph, &graph->ops.at[i])->send);
        reserve(written, names, &named, graph, op_clauses(graph, &graph->ops.at[i])->recv);
    }
    id_map_free(&named);
}

static bool lists_event(const struct graph *graph, struct range events, uint32_t event)
{
    for (uint32_t i = 0; i < events.count; i++)
        if (graph->refs.at[events.first + i] == event)
            return true;
    return false;
}

/* The `send` or `recv` of what an op is launched as. */
static struct range launch_events(const struct inserter *in, uint32_t op, bool send)
{
    uint32_t block = in->launches.at[in->launch_of[op]].block;
    if (block == NONE)
        return (struct range){0, 0};
    return send ? in->graph->blocks.at[block].send : in->graph->blocks.at[block].recv;
}

/* The first of these, written and not yet given, that the op waits for or its launch does. */
static uint32_t find_received(struct inserter *in, struct range sent, uint32_t to)
{
    const struct graph *graph = in->graph;
    struct range of_op = op_clauses(graph, &graph->ops.at[to])->recv;
    for (uint32_t i = 0; i < sent.count; i++) {
        uint32_t event = graph->refs.at[sent.first + i];
        if (id_map_find(in->written, event) == 1 &&
            (lists_event(graph, of_op, event) ||
             lists_event(graph, launch_events(in, to, false), event)))
            return event;
    }
    return NONE;
}

uint32_t kept_name(struct inserter *in, const struct event *event)
{
    const struct graph *graph = in->graph;
    uint32_t name =
        find_received(in, op_clauses(graph, &graph->ops.at[event->from])->send, event->to);
    if (name == NONE && event->from_launch)
        name = find_received(in, launch_events(in, event->from, true), event->to);
    if (name != NONE)
        id_map_set(in->written, name, 2);
    return name;
}

/* -------------------------------------------------------------------- by fixed slots ---- */

void kept_find_senders(struct inserter *in)
{
    const struct graph *graph = in->graph;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        struct range send = op_clauses(graph, &graph->ops.at[i])->send;
        for (uint32_t n = 0; n < send.count; n++)
            if (inserter_keeps(in, graph->refs.at[send.first + n]))
                id_map_set(&in->sender, graph->refs.at[send.first + n], i);
    }
}

void kept_join(struct inserter *in, enum knowledge by, uint32_t *know, struct range events)
{
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t sender = id_map_find(&in->sender, in->graph->refs.at[events.first + i]);
        if (sender != NONE && !in->passive[sender])
            inserter_join_done(in, by, know, sender);
    }
}
