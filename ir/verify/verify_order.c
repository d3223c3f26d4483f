/* The verifier's part for order: events have partners, and nothing waits in a circle. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/hazards.h"
#include "ir/analysis/launch_order.h"
#include "ir/verify/verify_internal.h"

/* Events of a super kernel with fixed slots may come from outside of the module, and go there. */
static bool may_be_alone(const struct verifier *verifier, const struct graph *graph,
                         const struct event_side *side)
{
    uint32_t block =
        side->op == NONE ? NONE : graph_superkernel(graph, graph->ops.at[side->op].block);
    return block != NONE &&
           attr_flag(verifier->module, graph->blocks.at[block].attrs, W_fixed_slots);
}

/* Only ops with arguments have slots of events. */
static bool verify_slots(struct verifier *verifier, const struct graph *graph,
                         const struct order *order, const struct event_side *side,
                         enum op_part part)
{
    if (side->op == NONE || !order->passive[side->op] || !may_be_alone(verifier, graph, side))
        return true;
    if (diag_at(verifier->diags, DIAG_event_order,
                locate_event_side(verifier->module, graph, side, part),
                "an op that executes nothing has no slot for event '%.*s'",
                NAME(verifier->module, side->event)))
        diag_help(verifier->diags, "give the event to an op that executes something, or leave "
                                   "'fixed_slots' out");
    return false;
}

/* Ops of one stream run in their order, unless they are in different launches. */
static void verify_receive(struct verifier *verifier, const struct graph *graph,
                           const struct order *order, const struct event_side *side,
                           const struct event_sides *sends)
{
    const struct module *module = verifier->module;
    struct diags *diags = verifier->diags;
    if (!verify_slots(verifier, graph, order, side, OP_RECV))
        return;
    struct mark mark = verifier->marks[side->event];
    const struct event_side *sender = mark.stamp == verifier->stamp ? &sends->at[mark.id] : NULL;
    bool own = sender && sender->op == side->op && sender->block == side->block;
    bool stream = sender && sender->op != NONE && side->op != NONE &&
                  graph_superkernel(graph, graph->ops.at[sender->op].block) ==
                      graph_superkernel(graph, graph->ops.at[side->op].block) &&
                  order->stream[sender->op] == order->stream[side->op] &&
                  !order->passive[sender->op] && !order->passive[side->op];
    if (sender ? !own && !stream : may_be_alone(verifier, graph, side))
        return;
    /* diag_at looks for the place only where the error is shown. */
    if (own) {
        diag_at(diags, DIAG_event_order, locate_event_side(module, graph, side, OP_RECV),
                "%s cannot wait for its own event", side->op == NONE ? "a super kernel" : "an op");
    } else if (stream) {
        if (diag_at(diags, DIAG_event_order, locate_event_side(module, graph, side, OP_RECV),
                    "event '%.*s' is sent and received on one stream", NAME(module, side->event)))
            diag_help(diags, "ops of one stream run in their order; leave it out");
    } else if (diag_at(diags, DIAG_event_partner, locate_event_side(module, graph, side, OP_RECV),
                       "event '%.*s' is received, but no op sends it", NAME(module, side->event))) {
        struct suggest suggest = name_suggest(module, side->event);
        for (uint32_t i = 0; diag_wants_suggestion(diags) && i < sends->count; i++)
            name_offer(&suggest, module, sends->at[i].event);
        diag_suggest(diags, &suggest);
    }
}

static void verify_events(struct verifier *verifier, const struct graph *graph,
                          const struct order *order)
{
    const struct module *module = verifier->module;
    struct diags *diags = verifier->diags;
    struct event_sides sends = event_sides_find(graph, W_send);
    struct event_sides recvs = event_sides_find(graph, W_recv);
    struct id_map received = {NULL, 0, 0}; /* by event */
    marks_clear(verifier);                 /* by event, the index of its sender in `sends` */
    for (uint32_t i = 0; i < sends.count; i++) {
        uint32_t first;
        if (marks_set(verifier, sends.at[i].event, i, &first) &&
            diag_at(diags, DIAG_duplicate, locate_event_side(module, graph, &sends.at[i], OP_SEND),
                    "event '%.*s' is sent twice", NAME(module, sends.at[i].event)))
            diag_note(diags, locate_event_side(module, graph, &sends.at[first], OP_SEND),
                      "it is sent here too");
    }
    for (uint32_t i = 0; i < recvs.count; i++) {
        id_map_set(&received, recvs.at[i].event, i);
        verify_receive(verifier, graph, order, &recvs.at[i], &sends);
    }
    for (uint32_t i = 0; i < sends.count; i++)
        if (verify_slots(verifier, graph, order, &sends.at[i], OP_SEND) &&
            id_map_find(&received, sends.at[i].event) == NONE &&
            !may_be_alone(verifier, graph, &sends.at[i]) &&
            diag_at(diags, DIAG_event_partner,
                    locate_event_side(module, graph, &sends.at[i], OP_SEND),
                    "event '%.*s' is sent, but no op receives it", NAME(module, sends.at[i].event)))
            diag_help(diags, "add 'recv [%.*s]' to the op that waits",
                      NAME(module, sends.at[i].event));
    id_map_free(&received);
    vec_free(&sends);
    vec_free(&recvs);
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
    case ORDER_MEMORY:
        diag_note(verifier->diags, span, "this follows the %.*s, which accesses '%.*s' too",
                  NAME(module, from->type), NAME(module, e->name));
        break;
    case ORDER_ADDRESS: break; /* others imply it, which are on the circle */
    case ORDER_EVENT:
        if (e->by == NONE)
            diag_note(verifier->diags, span, "this waits for event '%.*s' of the %.*s",
                      NAME(module, e->name), NAME(module, from->type));
        else
            diag_note(verifier->diags, span,
                      "this waits for event '%.*s' of the %.*s, as the %.*s before it does",
                      NAME(module, e->name), NAME(module, from->type),
                      NAME(module, graph->ops.at[e->by].type));
        break;
    }
}

enum { MAX_STEPS = 12 };

/* Data, `after` and streams point backwards in the text: without events there is no circle. */
void verify_order(struct verifier *verifier, const struct graph *graph)
{
    const struct module *module = verifier->module;
    bool addresses = overlaps_can_be(module, graph), events = false;
    struct order_cycle cycle;
    struct order order;
    for (uint32_t i = 1; i < graph->clauses.count && !events; i++)
        events = graph->clauses.at[i].send.count || graph->clauses.at[i].recv.count;
    for (uint32_t i = 0; i < graph->blocks.count && !events; i++)
        events = block_has_events(&graph->blocks.at[i]);
    if (!events && !addresses)
        return;
    order_init_with(&order, module, graph, verifier->effects);
    verify_events(verifier, graph, &order);
    uint32_t *sorted = mem_calloc(order.n_ops, sizeof *sorted);
    if (!order_sort(&order, sorted, &cycle) &&
        diag_at(verifier->diags, DIAG_cycle,
                locate_op(module, &graph->ops.at[cycle.op], OP_TYPE_NAME, 0),
                "this op waits for itself")) {
        uint32_t op = cycle.op;
        for (uint32_t i = 0; i < cycle.edges.count && i < MAX_STEPS; i++) {
            report_step(verifier, graph, &order, op, cycle.edges.at[i]);
            op = order.edges[cycle.edges.at[i]].from;
        }
        if (cycle.edges.count > MAX_STEPS)
            diag_help(verifier->diags, "and %u more step%s", cycle.edges.count - MAX_STEPS,
                      cycle.edges.count == MAX_STEPS + 1 ? "" : "s");
    }
    vec_free(&cycle.edges);
    mem_free(sorted);
    if (addresses)
        verify_overlaps(verifier, graph, &order);
    order_free(&order);
}
