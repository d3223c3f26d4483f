/* Events as clauses of ops and super kernels. */
#include "passes/events/inserter.h"

#include <string.h>

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
