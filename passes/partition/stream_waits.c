/* What passive ops have their streams wait for, as clauses of the ops that wait. */
#include "ir/analysis/dep_graph.h"
#include "ir/core/attr.h"
#include "passes/partition/fusion.h"

/* A passive op of which the ops that wait for its clauses are not met yet. */
struct held {
    uint32_t op;
    uint32_t before; /* the one before it on its stream, in `at`, or NONE */
};

struct spelling {
    struct module *module;
    struct graph *graph;
    const struct order *order;
    struct id_map sender; /* by event: the op that sends it; NONE: a super kernel does */
    struct id_map held;   /* by the label + 1, 0 for the default stream: the newest of `at` */
    VEC(struct held) at;
};

static bool holds_stream(const struct spelling *s, uint32_t id)
{
    const struct op *op = &s->graph->ops.at[id];
    const struct clauses *clauses = op_clauses(s->graph, op);
    return clauses->after.count + clauses->recv.count > 0 &&
           op_is_passive(s->module, s->graph, op) && !attr_flag(s->module, op->attrs, W_off_stream);
}

static uint32_t fixed_block(const struct spelling *s, uint32_t op)
{
    uint32_t block = graph_superkernel(s->graph, s->graph->ops.at[op].block);
    return block != NONE && attr_flag(s->module, s->graph->blocks.at[block].attrs, W_fixed_slots)
               ? block
               : NONE;
}

/* Whether the order of their stream has `from` before `to`. */
static bool is_in_order(const struct spelling *s, uint32_t from, uint32_t to)
{
    return !s->order->passive[from] && s->order->stream[from] == s->order->stream[to];
}

/* The clauses of a passive op, as the one that waits needs them; `has`: what that one has. */
static void take_clauses(const struct spelling *s, uint32_t passive, uint32_t to,
                         struct vec_u32 *after, struct vec_u32 *recv, struct id_map has[2])
{
    const struct graph *graph = s->graph;
    const struct clauses *clauses = op_clauses(graph, &graph->ops.at[passive]);
    for (uint32_t i = 0; i < clauses->after.count; i++) {
        uint32_t value = graph->refs.at[clauses->after.first + i];
        uint32_t def = graph->values.at[value].def, *seen = id_map_at(&has[0], value);
        if (def < graph->ops.count && *seen == NONE && !is_in_order(s, def, to))
            vec_push(after, value);
        *seen = 1;
    }
    for (uint32_t i = 0; i < clauses->recv.count; i++) {
        uint32_t event = graph->refs.at[clauses->recv.first + i];
        uint32_t sender = id_map_find(&s->sender, event), *seen = id_map_at(&has[1], event);
        if (*seen == NONE && (sender == NONE || !is_in_order(s, sender, to)))
            vec_push(recv, event);
        *seen = 1;
    }
}

static void add_refs(struct graph *graph, struct range *range, const struct vec_u32 *more)
{
    struct vec_u32 all = {NULL, 0, 0};
    for (uint32_t i = 0; i < range->count; i++)
        vec_push(&all, graph->refs.at[range->first + i]);
    for (uint32_t i = 0; i < more->count; i++)
        vec_push(&all, more->at[i]);
    if (more->count)
        *range = graph_add_refs(graph, all.at, all.count);
    vec_free(&all);
}

static void note(struct id_map *has, const struct graph *graph, struct range refs)
{
    for (uint32_t i = 0; i < refs.count; i++)
        id_map_set(has, graph->refs.at[refs.first + i], 1);
}

/* Gives an op what the passive ones before it on its stream have it wait for. A launch with fixed
 * slots receives events for its ops; in it, the text keeps its order. */
static void give(struct spelling *s, uint32_t op, uint32_t held)
{
    struct graph *graph = s->graph;
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[op]);
    struct vec_u32 after = {NULL, 0, 0}, recv = {NULL, 0, 0};
    struct id_map has[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
    uint32_t fixed = fixed_block(s, op);
    struct range *received = fixed == NONE ? &clauses.recv : &graph->blocks.at[fixed].recv;
    note(&has[0], graph, clauses.after);
    note(&has[1], graph, *received);
    for (; held != NONE; held = s->at.at[held].before)
        if (fixed == NONE || fixed_block(s, s->at.at[held].op) != fixed)
            take_clauses(s, s->at.at[held].op, op, &after, &recv, has);
    if (after.count + recv.count > 0) {
        add_refs(graph, &clauses.after, &after);
        add_refs(graph, received, &recv);
        graph_set_clauses(graph, op, clauses);
    }
    vec_free(&after);
    vec_free(&recv);
    id_map_free(&has[0]);
    id_map_free(&has[1]);
}

static void spell_graph(struct spelling *s)
{
    const struct order *order = s->order;
    struct event_sides sends = event_sides_find(s->graph, W_send);
    for (uint32_t i = 0; i < sends.count; i++)
        if (sends.at[i].op != NONE)
            id_map_set(&s->sender, sends.at[i].event, sends.at[i].op);
    vec_free(&sends);
    for (uint32_t i = 0; i < order->n_ops; i++) {
        uint32_t op = order->text[i], label = order->stream[op];
        uint32_t *newest = id_map_at(&s->held, label == NONE ? 0 : label + 1);
        if (holds_stream(s, op)) {
            vec_push(&s->at, ((struct held){op, *newest}));
            *newest = s->at.count - 1;
        } else if (!order->passive[op] && *newest != NONE) {
            give(s, op, *newest);
            *newest = NONE;
        }
    }
    for (uint32_t i = 0; i < s->at.count; i++) {
        struct op *op = &s->graph->ops.at[s->at.at[i].op];
        if (fixed_block(s, s->at.at[i].op) == NONE)
            op->attrs = attrs_with(s->module, op->attrs,
                                   (struct attr){W_off_stream, NONE, {.kind = ATTR_BOOL, .i = 1}});
    }
}

void fusion_free_passive(struct pass_context *context)
{
    bool any = false;
    for (uint32_t i = 0; i < context->module->graphs.count; i++) {
        struct graph *graph = &context->module->graphs.at[i];
        struct spelling s = {.module = context->module, .graph = graph};
        bool holds = false;
        for (uint32_t op = 0; op < graph->ops.count && !holds; op++)
            holds = holds_stream(&s, op);
        if (holds) {
            s.order = analyses_order(context->analyses, context->module, graph);
            spell_graph(&s);
            any = true;
        }
        id_map_free(&s.sender);
        id_map_free(&s.held);
        vec_free(&s.at);
    }
    if (any)
        analyses_drop(context->analyses);
}
