#include "passes/inline/graph.h"
#include "ir/refine_types.h"
#include "passes/inline/builder.h"

#include <string.h>

static void take_names(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    struct inline_names *names = builder->names;
    stamped_begin(&names->taken_values);
    for (int kind = 0; kind < NAME_KINDS; kind++)
        stamped_begin(&names->taken[kind]);
    for (uint32_t i = 0; i < old->values.count; i++)
        stamped_set(&names->taken_values, old->values.at[i].name, 0);
    for (uint32_t i = 0; i < old->blocks.count; i++) {
        const struct block *block = &old->blocks.at[i];
        if (block->kind == BLOCK_STREAM)
            stamped_set(&names->taken[NAME_STREAM], block->name, 0);
        else if (block->kind == BLOCK_SCOPE)
            stamped_set(&names->taken[NAME_SCOPE], block->name, 0);
    }
    for (uint32_t i = 1; i < old->clauses.count; i++) {
        struct range send = old->clauses.at[i].send;
        for (uint32_t n = 0; n < send.count; n++)
            stamped_set(&names->taken[NAME_EVENT], old->refs.at[send.first + n], 0);
    }
    const struct id_map *sends = builder->plan->launch_sends;
    for (uint32_t i = id_map_next(sends, 0); i != NONE; i = id_map_next(sends, i + 1))
        stamped_set(&names->taken[NAME_EVENT], i, 0);
}

static void begin(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    struct graph *next = &builder->next;
    vec_push(&next->clauses, (struct clauses){.after = {0, 0}});
    builder->values = mem_calloc(old->values.count, sizeof *builder->values);
    builder->ops = mem_calloc(old->ops.count, sizeof *builder->ops);
    builder->blocks = mem_calloc(old->blocks.count, sizeof *builder->blocks);
    builder->ends = mem_calloc(old->ops.count, sizeof *builder->ends);
    for (uint32_t i = 0; i < old->n_params; i++)
        builder->values[i] =
            graph_add_value(next, old->values.at[i].name, old->values.at[i].type, DEF_PARAM);
    take_names(builder);
}

static void add_items(struct inline_builder *builder)
{
    const struct graph *old = builder->old;
    for (uint32_t i = 0; i < old->body.count; i++) {
        uint32_t id = item_id(old->body.at[i]), parent;
        switch (item_kind(old->body.at[i])) {
        case ITEM_OP:
            if (builder->plan->callee[id] != NONE) {
                inline_replace_call(builder, id);
                break;
            }
            parent = old->ops.at[id].block;
            builder->ops[id] =
                inline_add_op(builder, NULL, old, &old->ops.at[id],
                              parent == NONE ? NONE : builder->blocks[parent], builder->values);
            break;
        case ITEM_OPEN:
            parent = old->blocks.at[id].parent;
            builder->blocks[id] =
                inline_open_block(builder, NULL, &old->blocks.at[id],
                                  parent == NONE ? NONE : builder->blocks[parent]);
            break;
        case ITEM_CLOSE: graph_add_item(&builder->next, ITEM_CLOSE, builder->blocks[id]); break;
        }
    }
}

/* The new ids of blocks that have ops, NONE for those of which calls have left nothing. */
static uint32_t *number_blocks(const struct graph *next)
{
    uint32_t *ids = mem_calloc(next->blocks.count, sizeof *ids), count = 0;
    for (uint32_t i = 0; i < next->ops.count; i++)
        for (uint32_t b = next->ops.at[i].block; b != NONE && !ids[b];
             b = next->blocks.at[b].parent)
            ids[b] = 1;
    for (uint32_t i = 0; i < next->blocks.count; i++)
        if (ids[i] && next->blocks.at[i].kind == BLOCK_SUPERKERNEL_REST)
            ids[next->blocks.at[i].whole] = 1;
    for (uint32_t i = 0; i < next->blocks.count; i++)
        ids[i] = ids[i] ? count++ : NONE;
    return ids;
}

static void drop_empty_blocks(struct graph *next)
{
    uint32_t *ids = number_blocks(next), n_blocks = 0, n_items = 0;
    for (uint32_t i = 0; i < next->blocks.count; i++) {
        struct block block = next->blocks.at[i];
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

/* Puts the new parts in the place of the old. */
static void finish(struct inline_builder *builder, struct graph *graph)
{
    struct graph *next = &builder->next, old = *graph;
    for (uint32_t i = 0; i < graph->returns.count; i++)
        graph->returns.at[i] = builder->values[graph->returns.at[i]];
    memcpy(&graph->values, &next->values, sizeof next->values);
    memcpy(&graph->ops, &next->ops, sizeof next->ops);
    memcpy(&graph->blocks, &next->blocks, sizeof next->blocks);
    memcpy(&graph->clauses, &next->clauses, sizeof next->clauses);
    memcpy(&graph->forms, &next->forms, sizeof next->forms);
    memcpy(&graph->body, &next->body, sizeof next->body);
    graph->refs = next->refs;
    vec_free(&old.values);
    vec_free(&old.ops);
    vec_free(&old.blocks);
    vec_free(&old.clauses);
    vec_free(&old.forms);
    vec_free(&old.body);
    vec_free(&old.refs);
}

static void release(struct inline_builder *builder, uint32_t n_old_ops)
{
    for (uint32_t i = 0; i < builder->lists.count; i++) {
        vec_free(&builder->lists.at[i].after);
        vec_free(&builder->lists.at[i].send);
        vec_free(&builder->lists.at[i].recv);
    }
    for (uint32_t i = 0; i < n_old_ops; i++)
        inline_ends_free(&builder->ends[i]);
    vec_free(&builder->lists);
    vec_free(&builder->streams);
    vec_free(&builder->passive);
    vec_free(&builder->scratch);
    mem_free(builder->values);
    mem_free(builder->ops);
    mem_free(builder->blocks);
    mem_free(builder->ends);
}

void inline_names_free(struct inline_names *names)
{
    stamped_free(&names->taken_values);
    for (int kind = 0; kind < NAME_KINDS; kind++) {
        stamped_free(&names->taken[kind]);
        stamped_free(&names->renamed[kind]);
    }
}

void inline_graph(const struct inline_plan *plan, struct graph *graph)
{
    struct inline_builder builder = {
        .plan = plan, .module = plan->module, .old = graph, .names = plan->names};
    uint32_t n_old_ops = graph->ops.count;
    begin(&builder);
    add_items(&builder);
    inline_settle_events(&builder);
    inline_keep_order(&builder);
    write_clauses(&builder);
    drop_empty_blocks(&builder.next);
    finish(&builder, graph);
    refine_result_types(builder.module, graph);
    release(&builder, n_old_ops);
}
