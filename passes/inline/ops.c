/* The ops of the new graph, and what calls become. */
#include "ir/base/text.h"
#include "ir/calls.h"
#include "ir/refine_types.h"
#include "passes/inline/builder.h"

#include <ctype.h>

uint32_t inline_unique_name(struct inline_builder *builder, struct stamped *taken, uint32_t wanted,
                            const char *separator)
{
    uint32_t name = wanted;
    for (unsigned n = 1; stamped_find(taken, name) != NONE; n++)
        name = module_name_printf(builder->module, "%.*s%s%u", NAME(builder->module, wanted),
                                  separator, n);
    stamped_set(taken, name, 0);
    return name;
}

/* Events are words. */
uint32_t inline_event_name(struct inline_builder *builder, uint32_t prefix, uint32_t name)
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

/* What a stream, scope or event of a called graph is named in the new one. */
static uint32_t rename_in_call(struct inline_builder *builder, const struct inline_call *call,
                               enum name_kind kind, uint32_t name)
{
    struct stamped *renamed = &builder->names->renamed[kind];
    uint32_t next = stamped_find(renamed, name);
    if (next != NONE)
        return next;
    uint32_t wanted = kind == NAME_EVENT ? inline_event_name(builder, call->prefix, name)
                                         : module_name_printf(builder->module, "%.*s.%.*s",
                                                              NAME(builder->module, call->prefix),
                                                              NAME(builder->module, name));
    next = inline_unique_name(builder, &builder->names->taken[kind], wanted,
                              kind == NAME_EVENT ? "_" : ".");
    stamped_set(renamed, name, next);
    return next;
}

/* ------------------------------------------------------------------------------ ops ---- */

static uint32_t result_name(struct inline_builder *builder, const struct inline_call *call,
                            uint32_t value, uint32_t name)
{
    if (!call)
        return name;
    if (call->names[value] != NONE)
        return call->names[value];
    uint32_t wanted =
        module_name_printf(builder->module, "%.*s.%.*s", NAME(builder->module, call->prefix),
                           NAME(builder->module, name));
    return inline_unique_name(builder, &builder->names->taken_values, wanted, ".");
}

static void add_events(struct inline_builder *builder, const struct inline_call *call,
                       const struct graph *from, struct range events, struct vec_u32 *list)
{
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t event = from->refs.at[events.first + i];
        vec_push(list, call ? rename_in_call(builder, call, NAME_EVENT, event) : event);
    }
}

static void add_values(struct inline_builder *builder, const struct graph *from, struct range refs,
                       const uint32_t *values)
{
    builder->scratch.count = 0;
    for (uint32_t i = 0; i < refs.count; i++)
        vec_push(&builder->scratch, values[from->refs.at[refs.first + i]]);
}

static void add_results(struct inline_builder *builder, const struct inline_call *call,
                        const struct graph *from, const struct op *op, uint32_t *values,
                        struct op *copy)
{
    copy->results.first = builder->next.values.count;
    for (uint32_t i = 0; i < op->results.count; i++) {
        uint32_t old = op->results.first + i;
        const struct value *value = &from->values.at[old];
        values[old] = graph_add_value(&builder->next, result_name(builder, call, old, value->name),
                                      value->type, builder->next.ops.count);
    }
}

/* How the operands are written, which stand from `first` on. */
static struct range copy_forms(struct inline_builder *builder, const struct graph *from,
                               const struct op *op, uint32_t first)
{
    const struct range forms = op_clauses(from, op)->forms;
    struct range copy = {builder->next.forms.count, forms.count};
    for (uint32_t i = 0; i < forms.count; i++) {
        struct operand form = from->forms.at[forms.first + i];
        form.values.first = form.values.first - op->operands.first + first;
        vec_push(&builder->next.forms, form);
    }
    return forms.count ? copy : forms;
}

/* Adds a copy of an op; `call` is NULL for those of the graph itself. */
uint32_t inline_add_op(struct inline_builder *builder, const struct inline_call *call,
                       const struct graph *from, const struct op *op, uint32_t block,
                       uint32_t *values)
{
    const struct clauses *clauses = op_clauses(from, op);
    struct op copy = *op;
    struct op_lists lists = {.forms = {0, 0}};
    add_values(builder, from, op->operands, values);
    copy.operands = graph_add_refs(&builder->next, builder->scratch.at, builder->scratch.count);
    lists.forms = copy_forms(builder, from, op, copy.operands.first);
    add_values(builder, from, clauses->after, values);
    for (uint32_t i = 0; i < builder->scratch.count; i++)
        if (builder->scratch.at[i] != NONE)
            vec_push(&lists.after, builder->scratch.at[i]);
    add_events(builder, call, from, clauses->send, &lists.send);
    add_events(builder, call, from, clauses->recv, &lists.recv);
    copy.block = block;
    copy.clauses = 0;
    add_results(builder, call, from, op, values, &copy);
    uint32_t id = graph_add_op(&builder->next, &copy);
    graph_add_item(&builder->next, ITEM_OP, id);
    vec_push(&builder->lists, lists);
    uint32_t stream = graph_enclosing(&builder->next, block, BLOCK_STREAM);
    vec_push(&builder->streams,
             stream == NONE ? NONE : stream_label(builder->next.blocks.at[stream].name));
    vec_push(&builder->passive, op_is_passive(builder->module, from, op));
    return id;
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

static void rename_block(struct inline_builder *builder, const struct inline_call *call,
                         struct block *block)
{
    if (block->kind == BLOCK_SCOPE)
        block->name = rename_in_call(builder, call, NAME_SCOPE, block->name);
    if (block->kind != BLOCK_STREAM)
        return;
    if (stream_label(block->name) == NONE) {
        block->name = call->stream == NONE ? W_0 : call->stream;
        block->attrs = (struct range){0, 0};
        return;
    }
    block->name = rename_in_call(builder, call, NAME_STREAM, block->name);
    block->attrs = without_id(builder, block->attrs);
}

static struct range copy_events(struct inline_builder *builder, struct range events)
{
    const uint32_t *names = events.count ? builder->old->refs.at + events.first : NULL;
    return graph_add_refs(&builder->next, names, events.count);
}

uint32_t inline_open_block(struct inline_builder *builder, const struct inline_call *call,
                           const struct block *model, uint32_t parent)
{
    struct block block = *model;
    block.parent = parent;
    if (call) {
        rename_block(builder, call, &block);
    } else {
        block.send = copy_events(builder, block.send);
        block.recv = copy_events(builder, block.recv);
        if (block.kind == BLOCK_SUPERKERNEL_REST)
            block.whole = builder->blocks[block.whole];
    }
    uint32_t id = graph_add_block(&builder->next, &block);
    graph_add_item(&builder->next, ITEM_OPEN, id);
    return id;
}

/* ---------------------------------------------------------------------------- calls ---- */

/* A value that the graph returns has the name of the result that it becomes. */
static void name_results(struct inline_builder *builder, struct inline_call *call)
{
    for (uint32_t i = 0; i < call->graph->values.count; i++)
        call->names[i] = NONE;
    for (uint32_t i = 0; i < call->graph->returns.count; i++) {
        uint32_t value = call->graph->returns.at[i];
        if (value >= call->graph->n_params && call->names[value] == NONE)
            call->names[value] = builder->old->values.at[call->op->results.first + i].name;
    }
}

/* A token has no value in its place; keep_order makes what waits for it wait. */
static void take_results(struct inline_builder *builder, const struct inline_call *call)
{
    for (uint32_t i = 0; i < call->op->results.count; i++)
        builder->values[call->op->results.first + i] = NONE;
    for (uint32_t i = 0; i < call->graph->returns.count; i++) {
        uint32_t returned = call->graph->returns.at[i], value = call->values[returned];
        uint32_t result = call->op->results.first + i;
        builder->values[result] = value;
        if (returned >= call->graph->n_params)
            builder->next.values.at[value].type =
                merged_type(builder->module, builder->next.values.at[value].type,
                            builder->old->values.at[result].type);
    }
}

static void add_body(struct inline_builder *builder, struct inline_call *call)
{
    const struct graph *graph = call->graph;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        enum item_kind kind = item_kind(graph->body.at[i]);
        const uint32_t around = kind == ITEM_OP     ? graph->ops.at[id].block
                                : kind == ITEM_OPEN ? graph->blocks.at[id].parent
                                                    : NONE;
        uint32_t block = around == NONE ? call->block : call->blocks[around];
        if (kind == ITEM_OP)
            call->ops[id] =
                inline_add_op(builder, call, graph, &graph->ops.at[id], block, call->values);
        else if (kind == ITEM_OPEN)
            call->blocks[id] = inline_open_block(builder, call, &graph->blocks.at[id], block);
        else
            graph_add_item(&builder->next, ITEM_CLOSE, call->blocks[id]);
    }
}

static void map_ends(struct inline_builder *builder, const struct inline_call *call, uint32_t op)
{
    const struct inline_ends *ends = builder->plan->ends[builder->plan->callee[op]];
    for (uint32_t i = 0; i < ends->first.count; i++)
        vec_push(&builder->ends[op].first, call->ops[ends->first.at[i]]);
    for (uint32_t i = 0; i < ends->last.count; i++)
        vec_push(&builder->ends[op].last, call->ops[ends->last.at[i]]);
}

void inline_replace_call(struct inline_builder *builder, uint32_t id)
{
    const struct op *op = &builder->old->ops.at[id];
    const struct graph *graph = &builder->module->graphs.at[builder->plan->callee[id]];
    const uint32_t *operands = op_operands(builder->old, op);
    struct inline_call call = {
        .op = op,
        .graph = graph,
        .prefix = op->results.count ? builder->old->values.at[op->results.first].name : graph->name,
        .block = op->block == NONE ? NONE : builder->blocks[op->block],
        .stream = builder->plan->order->stream[id],
        .values = mem_calloc(graph->values.count, sizeof *call.values),
        .ops = mem_calloc(graph->ops.count, sizeof *call.ops),
        .blocks = mem_calloc(graph->blocks.count, sizeof *call.blocks),
        .names = mem_calloc(graph->values.count, sizeof *call.names)};
    for (int kind = 0; kind < NAME_KINDS; kind++)
        stamped_begin(&builder->names->renamed[kind]);
    for (uint32_t i = 0; i < graph->n_params; i++)
        call.values[i] = builder->values[operands[i]];
    name_results(builder, &call);
    add_body(builder, &call);
    take_results(builder, &call);
    map_ends(builder, &call, id);
    mem_free(call.values);
    mem_free(call.ops);
    mem_free(call.blocks);
    mem_free(call.names);
}
