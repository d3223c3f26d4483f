#include "passes/transform/inline/graph.h"

#include <ctype.h>
#include <string.h>

#include "ir/analysis/op_infer.h"
#include "ir/core/calls.h"
#include "ir/support/text.h"

/* The clauses of an op of the new graph. */
struct op_lists {
    struct vec_u32 after, send, recv;
    struct range forms; /* of `next` */
};

enum name_kind { NAME_STREAM, NAME_SCOPE, NAME_EVENT, NAME_KINDS };

/* Names of the graph at work. */
struct inline_names {
    struct id_map taken_values, taken[NAME_KINDS];
    struct id_map renamed[NAME_KINDS]; /* new names by old ones, of the call at work */
};

/* A new graph, with the ops of others in the place of calls. */
struct inline_builder {
    const struct inline_plan *plan;
    struct module *module;
    const struct graph *old;
    struct graph next;
    VEC(struct op_lists) lists;      /* by op of `next` */
    VEC(uint32_t) streams;           /* the same: its label, NONE on the default stream */
    VEC(uint8_t) passive;            /* the same */
    uint32_t *values, *ops, *blocks; /* of `next`, by those of `old` */
    struct inline_ends *ends;        /* by op of `old` that is replaced: ops of `next` */
    struct inline_names names;
    struct vec_u32 scratch;
};

/* A graph whose ops are added: that of a call which is replaced, or the graph itself. */
struct inline_source {
    const struct op *call; /* NULL: the graph itself */
    const struct graph *graph;
    uint32_t prefix;                 /* name id: of what its graph's names begin with */
    uint32_t block;                  /* of `next`: the innermost one around it, or NONE */
    uint32_t stream;                 /* label, or NONE */
    uint32_t *values, *ops, *blocks; /* of `next`, by those of the graph */
    uint32_t *names;                 /* by value of the graph: that of a result, or NONE */
};

void inline_ends_find(struct inline_ends *ends, const struct module *module,
                      const struct graph *graph, struct effects *effects)
{
    struct order order;
    uint32_t n = graph->ops.count;
    /* By op: one that executes something is before it, after it. */
    bool *before = mem_calloc(n, sizeof *before), *after = mem_calloc(n, sizeof *after);
    *ends = (struct inline_ends){{NULL, 0, 0}, {NULL, 0, 0}};
    order_init_with(&order, module, graph, effects);
    uint32_t *sorted = order_sorted(&order);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = order.first[sorted[i]]; e < order.first[sorted[i] + 1]; e++)
            before[sorted[i]] |= !order.passive[order.edges[e].from] | before[order.edges[e].from];
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t e = order.first[sorted[i]]; e < order.first[sorted[i] + 1]; e++)
            after[order.edges[e].from] |= !order.passive[sorted[i]] | after[sorted[i]];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = order.text[i];
        if (!order.passive[op] && !before[op])
            vec_push(&ends->first, op);
        if (!order.passive[op] && !after[op])
            vec_push(&ends->last, op);
    }
    order_free(&order);
    mem_free(sorted);
    mem_free(before);
    mem_free(after);
}

void inline_ends_free(struct inline_ends *ends)
{
    vec_free(&ends->first);
    vec_free(&ends->last);
}

/* The ops of the new graph, and what calls become. */

static uint32_t inline_unique_name(struct inline_builder *builder, struct id_map *taken,
                                   uint32_t wanted, const char *separator)
{
    uint32_t name = wanted;
    for (unsigned n = 1; id_map_find(taken, name) != NONE; n++)
        name = module_name_printf(builder->module, "%.*s%s%u", NAME(builder->module, wanted),
                                  separator, n);
    id_map_set(taken, name, 0);
    return name;
}

/* Events are words. */
static uint32_t inline_event_name(struct inline_builder *builder, uint32_t prefix, uint32_t name)
{
    struct text text = {NULL, 0, 0};
    text_printf(&text, "%.*s_%.*s", NAME(builder->module, prefix), NAME(builder->module, name));
    for (size_t i = 0; i < text.size; i++)
        if (!isalnum((unsigned char)text.at[i]))
            text.at[i] = '_';
    uint32_t word =
        module_name_printf(builder->module, "%s%.*s", isdigit((unsigned char)text.at[0]) ? "e" : "",
                           (int)text.size, text.at);
    text_free(&text);
    return word;
}

/* What a stream, scope or event of a graph is named in the new one. */
static uint32_t inline_rename(struct inline_builder *builder, const struct inline_source *source,
                              enum name_kind kind, uint32_t name)
{
    if (!source->call)
        return name;
    uint32_t *next = id_map_at(&builder->names.renamed[kind], name);
    if (*next != NONE)
        return *next;
    uint32_t wanted = kind == NAME_EVENT ? inline_event_name(builder, source->prefix, name)
                                         : module_name_printf(builder->module, "%.*s.%.*s",
                                                              NAME(builder->module, source->prefix),
                                                              NAME(builder->module, name));
    *next = inline_unique_name(builder, &builder->names.taken[kind], wanted,
                               kind == NAME_EVENT ? "_" : ".");
    return *next;
}

/* ------------------------------------------------------------------------------ ops ---- */

static uint32_t result_name(struct inline_builder *builder, const struct inline_source *source,
                            uint32_t value)
{
    uint32_t name = source->graph->values.at[value].name;
    if (!source->call)
        return name;
    if (source->names[value] != NONE)
        return source->names[value];
    uint32_t wanted =
        module_name_printf(builder->module, "%.*s.%.*s", NAME(builder->module, source->prefix),
                           NAME(builder->module, name));
    return inline_unique_name(builder, &builder->names.taken_values, wanted, ".");
}

static void add_events(struct inline_builder *builder, const struct inline_source *source,
                       struct range events, struct vec_u32 *list)
{
    for (uint32_t i = 0; i < events.count; i++)
        vec_push(list, inline_rename(builder, source, NAME_EVENT,
                                     source->graph->refs.at[events.first + i]));
}

/* Adds the values that the new graph has for those of the source. */
static void add_values(const struct inline_source *source, struct range refs, struct vec_u32 *list)
{
    for (uint32_t i = 0; i < refs.count; i++) {
        uint32_t value = source->values[source->graph->refs.at[refs.first + i]];
        if (value != NONE)
            vec_push(list, value);
    }
}

/* Adds a copy of an op. */
static void inline_add_op(struct inline_builder *builder, const struct inline_source *source,
                          uint32_t id, uint32_t block)
{
    const struct graph *from = source->graph;
    const struct op *op = &from->ops.at[id];
    const struct clauses *clauses = op_clauses(from, op);
    struct graph *next = &builder->next;
    struct op copy = *op;
    struct op_lists lists = {.forms = clauses->forms};
    builder->scratch.count = 0;
    for (uint32_t i = 0; i < op->operands.count; i++)
        vec_push(&builder->scratch, source->values[op_operands(from, op)[i]]);
    copy.operands = graph_add_refs(next, builder->scratch.at, builder->scratch.count);
    if (lists.forms.count)
        lists.forms.first = next->forms.count;
    for (uint32_t i = 0; i < lists.forms.count; i++) {
        struct operand form = from->forms.at[clauses->forms.first + i];
        form.values.first += copy.operands.first - op->operands.first;
        vec_push(&next->forms, form);
    }
    add_values(source, clauses->after, &lists.after);
    add_events(builder, source, clauses->send, &lists.send);
    add_events(builder, source, clauses->recv, &lists.recv);
    copy.block = block;
    copy.clauses = 0;
    copy.results.first = next->values.count;
    for (uint32_t i = op->results.first; i < op->results.first + op->results.count; i++)
        source->values[i] = graph_add_value(next, result_name(builder, source, i),
                                            from->values.at[i].type, next->ops.count);
    source->ops[id] = graph_add_op(next, &copy);
    graph_add_item(next, ITEM_OP, source->ops[id]);
    vec_push(&builder->lists, lists);
    uint32_t stream = graph_enclosing(next, block, BLOCK_STREAM);
    vec_push(&builder->streams, stream == NONE ? NONE : stream_label(next->blocks.at[stream].name));
    vec_push(&builder->passive, op_is_passive(builder->module, from, op));
}

/* --------------------------------------------------------------------------- blocks ---- */

/* Numbers of streams are those of labels of one graph. */
static struct range without_id(struct inline_builder *builder, struct range attrs)
{
    struct attr *kept = mem_calloc(attrs.count, sizeof *kept);
    uint32_t count = 0;
    for (uint32_t i = 0; i < attrs.count; i++)
        if (builder->module->attrs.at[attrs.first + i].key != W_id)
            kept[count++] = builder->module->attrs.at[attrs.first + i];
    struct range range = module_add_attrs(builder->module, kept, count);
    mem_free(kept);
    return range;
}

static struct range copy_events(struct inline_builder *builder, struct range events)
{
    const uint32_t *names = events.count ? builder->old->refs.at + events.first : NULL;
    return graph_add_refs(&builder->next, names, events.count);
}

static void inline_open_block(struct inline_builder *builder, const struct inline_source *source,
                              uint32_t id, uint32_t parent)
{
    struct block block = source->graph->blocks.at[id];
    block.parent = parent;
    if (block.kind == BLOCK_SCOPE)
        block.name = inline_rename(builder, source, NAME_SCOPE, block.name);
    if (!source->call) {
        block.send = copy_events(builder, block.send);
        block.recv = copy_events(builder, block.recv);
        if (block.kind == BLOCK_SUPERKERNEL_REST)
            block.whole = source->blocks[block.whole];
    } else if (block.kind == BLOCK_STREAM && stream_label(block.name) == NONE) {
        block.name = source->stream == NONE ? W_0 : source->stream;
        block.attrs = (struct range){0, 0};
    } else if (block.kind == BLOCK_STREAM) {
        block.name = inline_rename(builder, source, NAME_STREAM, block.name);
        block.attrs = without_id(builder, block.attrs);
    }
    source->blocks[id] = graph_add_block(&builder->next, &block);
    graph_add_item(&builder->next, ITEM_OPEN, source->blocks[id]);
}

/* ---------------------------------------------------------------------------- calls ---- */

static void inline_replace_call(struct inline_builder *builder, uint32_t id);

static void add_body(struct inline_builder *builder, const struct inline_source *source)
{
    const struct graph *graph = source->graph;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        enum item_kind kind = item_kind(graph->body.at[i]);
        const uint32_t around = kind == ITEM_OP     ? graph->ops.at[id].block
                                : kind == ITEM_OPEN ? graph->blocks.at[id].parent
                                                    : NONE;
        uint32_t block = around == NONE ? source->block : source->blocks[around];
        if (kind == ITEM_OPEN)
            inline_open_block(builder, source, id, block);
        else if (kind == ITEM_CLOSE)
            graph_add_item(&builder->next, ITEM_CLOSE, source->blocks[id]);
        else if (!source->call && builder->plan->callee[id] != NONE)
            inline_replace_call(builder, id);
        else
            inline_add_op(builder, source, id, block);
    }
}

/* Adds what an op of the old graph calls. A value that the graph returns has the name of the result
 * that it becomes. A token has no value in its place; keep_order makes what waits for it wait. */
static void inline_replace_call(struct inline_builder *builder, uint32_t id)
{
    const struct graph *old = builder->old;
    const struct op *op = &old->ops.at[id];
    uint32_t callee = builder->plan->callee[id];
    const struct graph *graph = &builder->module->graphs.at[callee];
    const struct inline_ends *ends = builder->plan->ends[callee];
    struct inline_source source = {
        .call = op,
        .graph = graph,
        .prefix = op->results.count ? old->values.at[op->results.first].name : graph->name,
        .block = op->block == NONE ? NONE : builder->blocks[op->block],
        .stream = builder->plan->order->stream[id],
        .values = mem_calloc(graph->values.count, sizeof *source.values),
        .ops = mem_calloc(graph->ops.count, sizeof *source.ops),
        .blocks = mem_calloc(graph->blocks.count, sizeof *source.blocks),
        .names = mem_calloc(graph->values.count, sizeof *source.names)};
    for (int kind = 0; kind < NAME_KINDS; kind++)
        id_map_free(&builder->names.renamed[kind]);
    for (uint32_t i = 0; i < graph->n_params; i++)
        source.values[i] = builder->values[op_operands(old, op)[i]];
    for (uint32_t i = 0; i < graph->values.count; i++)
        source.names[i] = NONE;
    for (uint32_t i = graph->returns.count; i-- > 0;)
        if (graph->returns.at[i] >= graph->n_params)
            source.names[graph->returns.at[i]] = old->values.at[op->results.first + i].name;
    add_body(builder, &source);
    for (uint32_t i = 0; i < op->results.count; i++)
        builder->values[op->results.first + i] = NONE;
    for (uint32_t i = 0; i < graph->returns.count; i++) {
        uint32_t returned = graph->returns.at[i], result = op->results.first + i;
        struct value *value = &builder->next.values.at[source.values[returned]];
        builder->values[result] = source.values[returned];
        if (returned >= graph->n_params)
            value->type = merged_type(builder->module, value->type, old->values.at[result].type);
    }
    for (uint32_t i = 0; i < ends->first.count; i++)
        vec_push(&builder->ends[id].first, source.ops[ends->first.at[i]]);
    for (uint32_t i = 0; i < ends->last.count; i++)
        vec_push(&builder->ends[id].last, source.ops[ends->last.at[i]]);
    mem_free(source.values);
    mem_free(source.ops);
    mem_free(source.blocks);
    mem_free(source.names);
}

/* ---------------------------------------------------------------------------- order ---- */

static bool has(const struct vec_u32 *list, uint32_t id)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i] == id)
            return true;
    return false;
}

static bool is_result_of(const struct inline_builder *builder, uint32_t value, uint32_t op)
{
    return builder->next.values.at[value].def == op;
}

/* Whether what is written of the two orders them already. */
static bool is_ordered(const struct inline_builder *builder, uint32_t from, uint32_t to)
{
    const struct graph *next = &builder->next;
    const struct op_lists *a = &builder->lists.at[from], *b = &builder->lists.at[to];
    if (builder->streams.at[from] == builder->streams.at[to] && !builder->passive.at[from] &&
        !builder->passive.at[to])
        return true;
    const struct op *op = &next->ops.at[to];
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (is_result_of(builder, op_operands(next, op)[i], from))
            return true;
    for (uint32_t i = 0; i < b->after.count; i++)
        if (is_result_of(builder, b->after.at[i], from))
            return true;
    for (uint32_t i = 0; i < b->recv.count; i++)
        if (has(&a->send, b->recv.at[i]))
            return true;
    return false;
}

/* By `after` where there is a value, else by an event, one for all that wait. */
static void add_order(struct inline_builder *builder, uint32_t from, uint32_t to)
{
    const struct op *op = &builder->next.ops.at[from];
    if (from == to || is_ordered(builder, from, to))
        return;
    if (op->results.count) {
        vec_push(&builder->lists.at[to].after, op->results.first);
        return;
    }
    struct vec_u32 *send = &builder->lists.at[from].send;
    if (send->count == 0 || id_map_find(&builder->names.taken[NAME_EVENT], send->at[0]) != 1) {
        uint32_t event = inline_unique_name(builder, &builder->names.taken[NAME_EVENT],
                                            inline_event_name(builder, op->type, W_end), "_");
        id_map_set(&builder->names.taken[NAME_EVENT], event, 1); /* made here */
        vec_push(send, event);
        uint32_t last = send->at[send->count - 1];
        send->at[send->count - 1] = send->at[0];
        send->at[0] = last;
    }
    vec_push(&builder->lists.at[to].recv, send->at[0]);
}

/* The ops of the new graph that are the first, or the last, of one of the old. */
static struct vec_u32 ends_of(const struct inline_builder *builder, uint32_t *op, bool last)
{
    const struct inline_plan *plan = builder->plan;
    if (plan->callee[*op] != NONE)
        return last ? builder->ends[*op].last : builder->ends[*op].first;
    *op = builder->ops[*op];
    return (struct vec_u32){op, 1, 1};
}

/* What executes nothing and waits for nothing need not be waited for. */
static bool is_leaf(const struct inline_builder *builder, uint32_t op)
{
    const struct order *order = builder->plan->order;
    return order->first[op] == order->first[op + 1] && order->passive[op];
}

/* Whether an edge holds in the new graph: by an event that a super kernel sends or receives, which
 * stays, or where others imply it, as without super kernels no launches order anything else. */
static bool is_kept(const struct inline_builder *builder, const struct order_edge *edge)
{
    if (edge->kind == ORDER_EVENT)
        return id_map_find(builder->plan->launch_sends, edge->name) != NONE ||
               id_map_find(builder->plan->launch_receives, edge->name) != NONE;
    bool any = edge->kind != ORDER_ADDRESS;
    for (uint32_t i = 0; i < builder->old->blocks.count && !any; i++)
        any = builder->old->blocks.at[i].kind == BLOCK_SUPERKERNEL;
    return !any;
}

/* A call of which nothing is executed is over as soon as what it waits for is. */
static void pass_on(struct inline_builder *builder, uint32_t op)
{
    const struct order *order = builder->plan->order;
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
        uint32_t from = order->edges[e].from;
        if (is_leaf(builder, from))
            continue;
        struct vec_u32 froms = ends_of(builder, &from, true);
        for (uint32_t i = 0; i < froms.count; i++)
            if (!has(&builder->ends[op].last, froms.at[i]))
                vec_push(&builder->ends[op].last, froms.at[i]);
    }
}

/* Makes the order of the new graph that of the old one. */
static void inline_keep_order(struct inline_builder *builder)
{
    const struct order *order = builder->plan->order;
    const uint32_t *callee = builder->plan->callee;
    uint32_t *sorted = order_sorted(order);
    for (uint32_t i = 0; i < order->n_ops; i++) {
        uint32_t op = sorted[i];
        if (callee[op] != NONE && builder->ends[op].first.count == 0)
            pass_on(builder, op);
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            const struct order_edge *edge = &order->edges[e];
            uint32_t from = edge->from, to = op;
            if ((callee[to] == NONE && callee[from] == NONE) || is_leaf(builder, from) ||
                is_kept(builder, edge))
                continue;
            struct vec_u32 froms = ends_of(builder, &from, true),
                           tos = ends_of(builder, &to, false);
            for (uint32_t n = 0; n < froms.count; n++)
                for (uint32_t k = 0; k < tos.count; k++)
                    add_order(builder, froms.at[n], tos.at[k]);
        }
    }
    mem_free(sorted);
}

/* --------------------------------------------------------------------------- events ---- */

/* Who is left of an event when calls are replaced. */
enum { EVENT_SENT = 1, EVENT_RECEIVED = 2 };

static uint32_t sides_of(const struct id_map *sides, uint32_t event)
{
    uint32_t found = id_map_find(sides, event);
    return found == NONE ? 0 : found;
}

static void add_side(struct id_map *sides, uint32_t event, uint32_t side)
{
    id_map_set(sides, event, sides_of(sides, event) | side);
}

static void mark_events(const struct inline_builder *builder, struct id_map *sides)
{
    const struct graph *old = builder->old;
    for (uint32_t i = 0; i < old->ops.count; i++) {
        const struct clauses *clauses = op_clauses(old, &old->ops.at[i]);
        if (builder->plan->callee[i] != NONE)
            continue;
        for (uint32_t n = 0; n < clauses->send.count; n++)
            add_side(sides, old->refs.at[clauses->send.first + n], EVENT_SENT);
        for (uint32_t n = 0; n < clauses->recv.count; n++)
            add_side(sides, old->refs.at[clauses->recv.first + n], EVENT_RECEIVED);
    }
    const struct id_map *sent = builder->plan->launch_sends;
    for (uint32_t i = id_map_next(sent, 0); i != NONE; i = id_map_next(sent, i + 1))
        add_side(sides, i, EVENT_SENT);
    const struct id_map *received = builder->plan->launch_receives;
    for (uint32_t i = id_map_next(received, 0); i != NONE; i = id_map_next(received, i + 1))
        add_side(sides, i, EVENT_RECEIVED);
}

/* Events of calls with super kernels become those of the ops that take their place. */
static void hand_on_events(struct inline_builder *builder, uint32_t op, struct id_map *sides)
{
    const struct graph *old = builder->old;
    const struct clauses *clauses = op_clauses(old, &old->ops.at[op]);
    const struct inline_ends *ends = &builder->ends[op];
    for (uint32_t n = 0; n < clauses->send.count; n++) {
        uint32_t event = old->refs.at[clauses->send.first + n];
        if (id_map_find(builder->plan->launch_receives, event) == NONE)
            continue;
        vec_push(&builder->lists.at[ends->last.at[0]].send, event);
        add_side(sides, event, EVENT_SENT);
    }
    for (uint32_t n = 0; n < clauses->recv.count; n++) {
        uint32_t event = old->refs.at[clauses->recv.first + n];
        if (id_map_find(builder->plan->launch_sends, event) == NONE)
            continue;
        for (uint32_t i = 0; i < ends->first.count; i++)
            vec_push(&builder->lists.at[ends->first.at[i]].recv, event);
        add_side(sides, event, EVENT_RECEIVED);
    }
}

static void drop_halves(struct vec_u32 *events, const struct id_map *sides)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < events->count; i++)
        if (sides_of(sides, events->at[i]) == (EVENT_SENT | EVENT_RECEIVED))
            events->at[kept++] = events->at[i];
    events->count = kept;
}

/* Events of the graph that calls sent or received are left out: keep_order makes what is needed. */
static void inline_settle_events(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    struct id_map sides = {NULL, 0, 0};
    mark_events(builder, &sides);
    for (uint32_t i = 0; i < old->ops.count; i++)
        if (builder->plan->callee[i] != NONE)
            hand_on_events(builder, i, &sides);
    for (uint32_t i = 0; i < old->ops.count; i++) {
        if (builder->plan->callee[i] != NONE)
            continue;
        drop_halves(&builder->lists.at[builder->ops[i]].send, &sides);
        drop_halves(&builder->lists.at[builder->ops[i]].recv, &sides);
    }
    id_map_free(&sides);
}

static void take_names(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    struct inline_names *names = &builder->names;
    for (uint32_t i = 0; i < old->values.count; i++)
        id_map_set(&names->taken_values, old->values.at[i].name, 0);
    for (uint32_t i = 0; i < old->blocks.count; i++) {
        const struct block *block = &old->blocks.at[i];
        if (block->kind == BLOCK_STREAM)
            id_map_set(&names->taken[NAME_STREAM], block->name, 0);
        else if (block->kind == BLOCK_SCOPE)
            id_map_set(&names->taken[NAME_SCOPE], block->name, 0);
    }
    for (uint32_t i = 1; i < old->clauses.count; i++) {
        struct range send = old->clauses.at[i].send;
        for (uint32_t n = 0; n < send.count; n++)
            id_map_set(&names->taken[NAME_EVENT], old->refs.at[send.first + n], 0);
    }
    const struct id_map *sends = builder->plan->launch_sends;
    for (uint32_t i = id_map_next(sends, 0); i != NONE; i = id_map_next(sends, i + 1))
        id_map_set(&names->taken[NAME_EVENT], i, 0);
}

/* Leaves out blocks of which calls have left nothing: those that have no ops. */
static void drop_empty_blocks(struct graph *next)
{
    uint32_t *ids = mem_calloc(next->blocks.count, sizeof *ids), n_blocks = 0, n_items = 0;
    for (uint32_t i = 0; i < next->ops.count; i++)
        for (uint32_t b = next->ops.at[i].block; b != NONE && !ids[b];
             b = next->blocks.at[b].parent)
            ids[b] = 1;
    for (uint32_t i = 0; i < next->blocks.count; i++)
        if (ids[i] && next->blocks.at[i].kind == BLOCK_SUPERKERNEL_REST)
            ids[next->blocks.at[i].whole] = 1;
    for (uint32_t i = 0; i < next->blocks.count; i++) {
        struct block block = next->blocks.at[i];
        ids[i] = ids[i] ? n_blocks : NONE;
        if (ids[i] == NONE)
            continue;
        block.parent = block.parent == NONE ? NONE : ids[block.parent];
        if (block.kind == BLOCK_SUPERKERNEL_REST)
            block.whole = ids[block.whole];
        next->blocks.at[n_blocks++] = block;
    }
    for (uint32_t i = 0; i < next->body.count; i++) {
        uint64_t item = next->body.at[i];
        if (item_kind(item) == ITEM_OP)
            next->body.at[n_items++] = item;
        else if (ids[item_id(item)] != NONE)
            next->body.at[n_items++] = item_make(item_kind(item), ids[item_id(item)]);
    }
    for (uint32_t i = 0; i < next->ops.count; i++)
        if (next->ops.at[i].block != NONE)
            next->ops.at[i].block = ids[next->ops.at[i].block];
    next->blocks.count = n_blocks;
    next->body.count = n_items;
    mem_free(ids);
}

static void write_clauses(struct inline_builder *builder)
{
    struct graph *next = &builder->next;
    for (uint32_t i = 0; i < next->ops.count; i++) {
        struct op_lists *lists = &builder->lists.at[i];
        if (lists->after.count + lists->send.count + lists->recv.count + lists->forms.count == 0)
            continue;
        struct clauses clauses = {.after =
                                      graph_add_refs(next, lists->after.at, lists->after.count),
                                  .send = graph_add_refs(next, lists->send.at, lists->send.count),
                                  .recv = graph_add_refs(next, lists->recv.at, lists->recv.count),
                                  .forms = lists->forms};
        next->ops.at[i].clauses = next->clauses.count;
        vec_push(&next->clauses, clauses);
    }
}

static void release(struct inline_builder *builder, struct graph *old)
{
    for (uint32_t i = 0; i < builder->lists.count; i++) {
        vec_free(&builder->lists.at[i].after);
        vec_free(&builder->lists.at[i].send);
        vec_free(&builder->lists.at[i].recv);
    }
    for (uint32_t i = 0; i < old->ops.count; i++)
        inline_ends_free(&builder->ends[i]);
    vec_free(&builder->lists);
    vec_free(&builder->streams);
    vec_free(&builder->passive);
    vec_free(&builder->scratch);
    id_map_free(&builder->names.taken_values);
    for (int kind = 0; kind < NAME_KINDS; kind++) {
        id_map_free(&builder->names.taken[kind]);
        id_map_free(&builder->names.renamed[kind]);
    }
    mem_free(builder->values);
    mem_free(builder->ops);
    mem_free(builder->blocks);
    mem_free(builder->ends);
    vec_free(&old->values);
    vec_free(&old->ops);
    vec_free(&old->blocks);
    vec_free(&old->clauses);
    vec_free(&old->forms);
    vec_free(&old->body);
    vec_free(&old->refs);
}

void inline_graph(const struct inline_plan *plan, struct graph *graph)
{
    struct inline_builder builder = {.plan = plan, .module = plan->module, .old = graph};
    struct graph *next = &builder.next, old = *graph;
    vec_push(&next->clauses, (struct clauses){.after = {0, 0}});
    builder.values = mem_calloc(graph->values.count, sizeof *builder.values);
    builder.ops = mem_calloc(graph->ops.count, sizeof *builder.ops);
    builder.blocks = mem_calloc(graph->blocks.count, sizeof *builder.blocks);
    builder.ends = mem_calloc(graph->ops.count, sizeof *builder.ends);
    for (uint32_t i = 0; i < graph->n_params; i++)
        builder.values[i] =
            graph_add_value(next, graph->values.at[i].name, graph->values.at[i].type, DEF_PARAM);
    take_names(&builder);
    add_body(&builder, &(struct inline_source){.graph = graph,
                                               .block = NONE,
                                               .values = builder.values,
                                               .ops = builder.ops,
                                               .blocks = builder.blocks});
    inline_settle_events(&builder);
    inline_keep_order(&builder);
    write_clauses(&builder);
    drop_empty_blocks(next);
    for (uint32_t i = 0; i < graph->returns.count; i++)
        graph->returns.at[i] = builder.values[graph->returns.at[i]];
    memcpy(&graph->values, &next->values, sizeof next->values);
    memcpy(&graph->ops, &next->ops, sizeof next->ops);
    memcpy(&graph->blocks, &next->blocks, sizeof next->blocks);
    memcpy(&graph->clauses, &next->clauses, sizeof next->clauses);
    memcpy(&graph->forms, &next->forms, sizeof next->forms);
    memcpy(&graph->body, &next->body, sizeof next->body);
    graph->refs = next->refs;
    refine_result_types(builder.module, graph);
    release(&builder, &old);
}
