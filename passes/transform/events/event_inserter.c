/* The parts of insert-events that look at one kind of thing each: what passive ops pass on, events
 * that keep their names, names of others, clauses. */
#define _GNU_SOURCE /* qsort_r */
#include "passes/transform/events/event_inserter.h"
#include "ir/support/text.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------- passive ops ---- */

/* Passive ops neither send nor wait. A dependence on one is a dependence on all that it waits for,
 * of which the last op on each stream is enough. */

/* Of passive ops, the last op of each lane that they conduct is a predecessor. */
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
    for (uint32_t lane = 0; conducted && lane < in->n_lanes; lane++) {
        if (in->conducted[lane] == 0)
            continue;
        uint32_t from = inserter_ranked(in, lane, in->conducted[lane]);
        vec_push(&in->edges,
                 ((struct order_edge){.from = from, .name = NONE, .kind = ORDER_EVENT}));
        in->conducted[lane] = 0;
    }
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
    uint32_t *sorted = order_sorted(in->order);
    for (uint32_t i = 0; i < n; i++)
        for (enum knowledge by = 0; in->passive[sorted[i]] && by < inserter_kinds(in); by++)
            conduct(in, by, sorted[i]);
    mem_free(sorted);
}

/* ------------------------------------------------------------------ events that stay ---- */

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
    for (uint32_t e = 0; e < module->entries.count; e++) {
        const struct entry *entry = &module->entries.at[e];
        for (uint32_t i = 0; i < entry->args.count; i++)
            if (entry->args.at[i].kind == ARG_SEND || entry->args.at[i].kind == ARG_RECV)
                id_map_set(&named, entry->args.at[i].id, 1);
        for (int core = 0; core < CORE_TYPES; core++)
            for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
                const struct instr *instr = &entry->programs[core].instrs.at[i];
                if (instr_info(instr->op)->effect == EFFECT_EVENT && !instr->word)
                    id_map_set(&named, instr->number[0], 1);
            }
    }
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

/* The first of these, written and not yet given, that the op waits for or its launch does. */
static uint32_t find_received(struct inserter *in, struct range sent, uint32_t to)
{
    const struct graph *graph = in->graph;
    struct range of_op = op_clauses(graph, &graph->ops.at[to])->recv;
    uint32_t block = in->launches.at[in->launch_of[to]].block;
    for (uint32_t i = 0; i < sent.count; i++) {
        uint32_t event = graph->refs.at[sent.first + i];
        if (id_map_find(in->written, event) == 1 &&
            (lists_event(graph, of_op, event) ||
             (block != NONE && lists_event(graph, graph->blocks.at[block].recv, event))))
            return event;
    }
    return NONE;
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

/* --------------------------------------------------------------------- words of memory ---- */

enum { MAX_CANDIDATES = 64 };

/* Whether the use of an outer event that the op `to` waits for is over when the op `from` starts:
 * the op that waited, and all of the launch that it is part of, which clears the event at its end,
 * are complete. */
static bool use_is_over(struct inserter *in, uint32_t to, uint32_t from)
{
    const struct outer_launch *receiver = &in->launches.at[in->launch_of[to]];
    const uint32_t *know = inserter_know(in, BY_LAUNCHES, from);
    if (receiver->block == NONE)
        return inserter_is_known(in, know, to);
    if (in->launch_of[from] == in->launch_of[to])
        return false;
    for (uint32_t i = 0; i < in->n_lanes; i++)
        if (know[i] < receiver->know[BY_LAUNCHES][i])
            return false;
    return true;
}

/* How many words of memory the outer events need: one is used again where its use before is over.
 * `last` has the op that waits for the last use of each. */
static uint32_t count_words(struct inserter *in)
{
    struct vec_u32 last = {NULL, 0, 0};
    for (uint32_t i = 0; i < in->events.count; i++) {
        const struct event *event = &in->events.at[i];
        if (event->inner || event->implied)
            continue;
        uint32_t id = 0, end = last.count < MAX_CANDIDATES ? last.count : MAX_CANDIDATES;
        while (id < end && !use_is_over(in, last.at[id], event->from))
            id++;
        if (id < end)
            last.at[id] = event->to;
        else
            vec_push(&last, event->to);
    }
    uint32_t count = last.count;
    vec_free(&last);
    return count;
}

/* --------------------------------------------------------------------------- names ---- */

/* Events have the names of their senders, so that a change at one op does not rename the events of
 * others. */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* As an integer prints, if it is surely one of 64 bits. */
static bool is_integer(const struct intern_name *name)
{
    for (uint32_t i = 0; i < name->size; i++)
        if (!is_digit(name->text[i]))
            return false;
    return name->size == 1 || (name->size < 19 && name->text[0] != '0');
}

/* A word that stands for a number. */
static bool is_number(const struct intern_name *name)
{
    return name->size == 3 &&
           (memcmp(name->text, "inf", 3) == 0 || memcmp(name->text, "nan", 3) == 0);
}

static bool is_word(const struct intern_name *name)
{
    for (uint32_t i = 0; i < name->size; i++)
        if (!is_letter(name->text[i]) && !is_digit(name->text[i]))
            return false;
    return is_letter(name->text[0]) && !is_number(name);
}

/* The name of an event that is nearest to any name: a word or an integer. */
static uint32_t event_word(struct module *module, uint32_t id)
{
    struct intern_name name = module->names.names[id];
    if (name.size > 0 && (is_word(&name) || is_integer(&name)))
        return id;
    struct text text = {NULL, 0, 0};
    if (name.size == 0 || is_digit(name.text[0]) || is_number(&name))
        text_char(&text, '_');
    for (uint32_t i = 0; i < name.size; i++)
        text_char(&text, is_letter(name.text[i]) || is_digit(name.text[i]) ? name.text[i] : '_');
    uint32_t word = intern_copy(&module->names, text.at, text.size);
    text_free(&text);
    return word;
}

/* The name itself, or that with the first number behind it that no event has yet. */
static uint32_t unused_name(struct inserter *in, uint32_t base)
{
    uint32_t n = id_map_find(in->names, base), name = base;
    const char *lead = is_digit(in->module->names.names[base].text[0]) ? "_" : "";
    if (n == NONE) {
        id_map_set(in->names, base, 1);
        return base;
    }
    while (id_map_find(in->names, name) != NONE)
        name = module_name_printf(in->module, "%s%.*s_%u", lead, NAME(in->module, base), n++);
    id_map_set(in->names, base, n);
    id_map_set(in->names, name, 1);
    return name;
}

static int compare_events(const void *a, const void *b, void *position)
{
    const uint32_t *place = position;
    const struct event *x = a, *y = b;
    if (place[x->from] != place[y->from])
        return place[x->from] < place[y->from] ? -1 : 1;
    return place[x->to] < place[y->to] ? -1 : place[x->to] > place[y->to];
}

uint32_t events_name(struct inserter *in)
{
    const struct graph *graph = in->graph;
    if (in->events.count) /* sorting nothing at NULL is undefined */
        qsort_r(in->events.at, in->events.count, sizeof *in->events.at, compare_events,
                in->order->position);
    for (uint32_t i = 0; i < in->events.count; i++) {
        struct event *event = &in->events.at[i];
        const struct op *from = &graph->ops.at[event->from];
        uint32_t block = in->launches.at[in->launch_of[event->from]].block;
        /* An event that an entry names and that has the two sides of this one gives it its name. */
        event->name = find_received(in, op_clauses(graph, from)->send, event->to);
        if (event->name == NONE && event->from_launch)
            event->name = find_received(in, graph->blocks.at[block].send, event->to);
        if (event->name != NONE) {
            id_map_set(in->written, event->name, 2);
            continue;
        }
        /* Else the sender: a super kernel, the first result of an op, or its type. */
        uint32_t sender = event->from_launch    ? graph->blocks.at[block].name
                          : from->results.count ? graph->values.at[from->results.first].name
                                                : from->type;
        event->name = unused_name(in, event_word(in->module, sender));
    }
    return count_words(in);
}

/* --------------------------------------------------------------------------- clauses ---- */

/* Event names per op or per block, gathered in the order of in->events. */
struct lists {
    uint32_t *first; /* per owner; one more at the end */
    uint32_t *names;
};

static void gather(struct lists *lists, const struct inserter *in, uint32_t n_owners, bool send,
                   bool of_launches)
{
    uint32_t *fill = NULL;
    lists->first = mem_calloc((size_t)n_owners + 1, sizeof *lists->first);
    lists->names = mem_calloc(in->events.count, sizeof *lists->names);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < in->events.count; i++) {
            const struct event *event = &in->events.at[i];
            if ((send ? event->from_launch : event->to_launch) != of_launches)
                continue;
            uint32_t owner = send ? event->from : event->to;
            if (of_launches)
                owner = in->launches.at[in->launch_of[owner]].block;
            if (round == 0)
                lists->first[owner + 1]++;
            else
                lists->names[fill[owner]++] = event->name;
        }
        if (round == 1)
            break;
        for (uint32_t i = 0; i < n_owners; i++)
            lists->first[i + 1] += lists->first[i];
        fill = mem_realloc(NULL, (size_t)n_owners + 1, sizeof *fill);
        memcpy(fill, lists->first, ((size_t)n_owners + 1) * sizeof *fill);
    }
    mem_free(fill);
}

static void lists_free(struct lists *lists)
{
    mem_free(lists->first);
    mem_free(lists->names);
}

/* The names of `old` that are kept, and those of the list. */
static struct range merge_names(struct inserter *in, struct range old, const struct lists *lists,
                                uint32_t i)
{
    struct graph *graph = in->graph;
    struct vec_u32 names = {NULL, 0, 0};
    for (uint32_t n = 0; n < old.count; n++)
        if (inserter_keeps(in, graph->refs.at[old.first + n]))
            vec_push(&names, graph->refs.at[old.first + n]);
    for (uint32_t n = lists->first[i]; n < lists->first[i + 1]; n++)
        vec_push(&names, lists->names[n]);
    struct range range = graph_add_refs(graph, names.at, names.count);
    vec_free(&names);
    return range;
}

/* Order within a super kernel with fixed slots is not made events of. Other ops name what they
 * must, in the order of the text: it was found from the last on. */
static struct range after_of(struct inserter *in, uint32_t op, struct range old)
{
    struct vec_u32 values = {NULL, 0, 0};
    if (in->launches.at[in->launch_of[op]].fixed)
        return old;
    for (uint32_t i = in->after_of[op].count; i-- > 0;)
        vec_push(&values, in->afters.at[in->after_of[op].first + i]);
    struct range range = graph_add_refs(in->graph, values.at, values.count);
    vec_free(&values);
    return range;
}

static void write_ops(struct inserter *in)
{
    struct graph *graph = in->graph;
    struct lists send, recv;
    uint32_t n = graph->ops.count;
    gather(&send, in, n, true, false);
    gather(&recv, in, n, false, false);
    uint32_t n_old = graph->clauses.count - 1; /* the new ones stand behind them, for a while */
    for (uint32_t op = 0; op < n; op++) {
        const struct clauses old = *op_clauses(graph, &graph->ops.at[op]);
        struct clauses clauses = {.forms = old.forms, .after = after_of(in, op, old.after)};
        clauses.send = merge_names(in, old.send, &send, op);
        clauses.recv = merge_names(in, old.recv, &recv, op);
        graph->ops.at[op].clauses = 0;
        if (clauses.send.count + clauses.recv.count + clauses.forms.count + clauses.after.count ==
            0)
            continue;
        graph->ops.at[op].clauses = graph->clauses.count - n_old;
        vec_push(&graph->clauses, clauses);
    }
    graph->clauses.count -= n_old;
    memmove(graph->clauses.at + 1, graph->clauses.at + 1 + n_old,
            (graph->clauses.count - 1) * sizeof *graph->clauses.at);
    lists_free(&send);
    lists_free(&recv);
}

static void write_blocks(struct inserter *in)
{
    struct graph *graph = in->graph;
    struct lists send, recv;
    gather(&send, in, graph->blocks.count, true, true);
    gather(&recv, in, graph->blocks.count, false, true);
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        graph->blocks.at[b].send = merge_names(in, graph->blocks.at[b].send, &send, b);
        graph->blocks.at[b].recv = merge_names(in, graph->blocks.at[b].recv, &recv, b);
    }
    lists_free(&send);
    lists_free(&recv);
}

void events_write(struct inserter *in)
{
    write_ops(in);
    write_blocks(in);
}
