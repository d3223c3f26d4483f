/* The verifier's part for order: events have partners, and nothing waits in a circle. */
#include "ir/order.h"
#include "ir/verify_internal.h"

static const struct span no_span = {0, 0};

/* Each event is sent by one op; the marks hold the sender. */
static void mark_senders(struct verifier *verifier, const struct graph *graph)
{
    marks_clear(verifier);
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        const struct op *op = &graph->ops.at[id];
        struct range send = op_clauses(graph, op)->send;
        for (uint32_t i = 0; i < send.count; i++) {
            uint32_t event = graph->refs.at[send.first + i], first;
            if (!marks_set(verifier, event, id, &first))
                continue;
            if (diag_at(verifier->diags, DIAG_duplicate,
                        locate_op(verifier->module, op, OP_SEND, i), "event '%.*s' is sent twice",
                        NAME(verifier->module, event)))
                diag_note(verifier->diags,
                          locate_op(verifier->module, &graph->ops.at[first], OP_WHOLE, 0),
                          "this op sends it too");
        }
    }
}

static void unknown_event(struct verifier *verifier, const struct graph *graph,
                          const struct op *op, uint32_t index, uint32_t event)
{
    if (!diag_at(verifier->diags, DIAG_event_partner,
                 locate_op(verifier->module, op, OP_RECV, index),
                 "event '%.*s' is received, but no op sends it", NAME(verifier->module, event)))
        return;
    struct suggest suggest = suggest_for(verifier->module, event);
    for (uint32_t i = 0; i < graph->ops.count && diag_wants_suggestion(verifier->diags); i++) {
        struct range send = op_clauses(graph, &graph->ops.at[i])->send;
        for (uint32_t j = 0; j < send.count; j++)
            suggest_name(&suggest, verifier->module, graph->refs.at[send.first + j]);
    }
    suggest_note(verifier->diags, &suggest, "");
}

static void verify_receive(struct verifier *verifier, const struct graph *graph,
                           const struct order *order, uint32_t id, uint32_t index, uint32_t event)
{
    const struct op *op = &graph->ops.at[id];
    struct mark mark = verifier->marks[event];
    if (mark.stamp != verifier->stamp) {
        unknown_event(verifier, graph, op, index, event);
        return;
    }
    struct span span = locate_op(verifier->module, op, OP_RECV, index);
    if (mark.id == id)
        diag_at(verifier->diags, DIAG_event_order, span, "an op cannot wait for its own event");
    else if (order->stream[mark.id] == order->stream[id] &&
             diag_at(verifier->diags, DIAG_event_order, span,
                     "event '%.*s' is sent and received on one stream",
                     NAME(verifier->module, event)))
        diag_note(verifier->diags, no_span, "ops of one stream run in their order; leave it out");
}

static void verify_receives(struct verifier *verifier, const struct graph *graph,
                            const struct order *order, uint8_t *received)
{
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        struct range recv = op_clauses(graph, &graph->ops.at[id])->recv;
        for (uint32_t i = 0; i < recv.count; i++) {
            uint32_t event = graph->refs.at[recv.first + i];
            received[event] = 1;
            verify_receive(verifier, graph, order, id, i, event);
        }
    }
}

static void verify_events(struct verifier *verifier, const struct graph *graph,
                          const struct order *order)
{
    uint8_t *received = mem_calloc(verifier->module->names.count, 1);
    mark_senders(verifier, graph);
    verify_receives(verifier, graph, order, received);
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        struct range send = op_clauses(graph, &graph->ops.at[id])->send;
        for (uint32_t i = 0; i < send.count; i++) {
            uint32_t event = graph->refs.at[send.first + i];
            if (!received[event] &&
                diag_at(verifier->diags, DIAG_event_partner,
                        locate_op(verifier->module, &graph->ops.at[id], OP_SEND, i),
                        "event '%.*s' is sent, but no op receives it",
                        NAME(verifier->module, event)))
                diag_note(verifier->diags, no_span, "add 'recv [%.*s]' to the op that waits",
                          NAME(verifier->module, event));
        }
    }
    free(received);
}

/* ------------------------------------------------------------------------- circles ---- */

static void report_step(struct verifier *verifier, const struct graph *graph,
                        const struct order *order, uint32_t op, uint32_t edge)
{
    const struct module *module = verifier->module;
    const struct order_edge *e = &order->edges[edge];
    struct span span = locate_op(module, &graph->ops.at[op], OP_TYPE_NAME, 0);
    const struct op *from = &graph->ops.at[e->from];
    switch (e->kind) {
    case ORDER_DATA:
    case ORDER_AFTER:
        diag_note(verifier->diags, span, "this waits for '%%%.*s' of the %.*s",
                  NAME(module, e->name), NAME(module, from->type));
        break;
    case ORDER_STREAM:
        diag_note(verifier->diags, span, "this follows the %.*s on its stream",
                  NAME(module, from->type));
        break;
    case ORDER_EVENT:
        diag_note(verifier->diags, span, "this waits for event '%.*s' of the %.*s",
                  NAME(module, e->name), NAME(module, from->type));
        break;
    }
}

enum { MAX_STEPS = 12 };

static void verify_acyclic(struct verifier *verifier, const struct graph *graph,
                           const struct order *order)
{
    uint32_t *sorted = mem_calloc(order->n_ops, sizeof *sorted);
    struct order_cycle cycle;
    if (!order_sort(order, sorted, &cycle) &&
        diag_at(verifier->diags, DIAG_cycle,
                locate_op(verifier->module, &graph->ops.at[cycle.op], OP_TYPE_NAME, 0),
                "this op waits for itself")) {
        uint32_t op = cycle.op;
        for (uint32_t i = 0; i < cycle.edges.count && i < MAX_STEPS; i++) {
            report_step(verifier, graph, order, op, cycle.edges.at[i]);
            op = order->edges[cycle.edges.at[i]].from;
        }
        if (cycle.edges.count > MAX_STEPS)
            diag_note(verifier->diags, no_span, "and %u steps more",
                      cycle.edges.count - MAX_STEPS);
    }
    vec_free(&cycle.edges);
    free(sorted);
}

static bool has_events(const struct graph *graph)
{
    for (uint32_t i = 1; i < graph->clauses.count; i++)
        if (graph->clauses.at[i].send.count || graph->clauses.at[i].recv.count)
            return true;
    return false;
}

/* Data, `after` and streams point backwards in the text: without events there is no circle. */
void verify_order(struct verifier *verifier, const struct graph *graph)
{
    struct order order;
    if (!has_events(graph))
        return;
    order_init(&order, verifier->module, graph);
    verify_events(verifier, graph, &order);
    verify_acyclic(verifier, graph, &order);
    order_free(&order);
}
