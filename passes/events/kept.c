/* Events of super kernels with fixed slots stay as they are, be it that the graph's order implies
 * them: a host fills their slots. Those that an entry names, which
 * is there already, keep their names where order needs them. */
#include "passes/events/inserter.h"

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
