#include "ir/core/graph.h"
#include "ir/support/memory.h"

#include <string.h>

uint32_t graph_add_value(struct graph *graph, uint32_t name, uint32_t type, uint32_t def)
{
    expensive_assert(name != NONE && (def >= DEF_PARAM || def <= graph->ops.count));
    vec_push(&graph->values, (struct value){name, type, def});
    return graph->values.count - 1;
}

uint32_t graph_add_op(struct graph *graph, const struct op *op)
{
    expensive_assert(op->type != NONE && op->clauses < graph->clauses.count);
    expensive_assert(op->block == NONE || op->block < graph->blocks.count);
    expensive_assert(op->results.first <= graph->values.count - op->results.count);
    vec_push(&graph->ops, *op);
    return graph->ops.count - 1;
}

uint32_t graph_add_block(struct graph *graph, const struct block *block)
{
    assert(block->parent == NONE || block->parent < graph->blocks.count);
    assert((block->name == NONE) ==
           (block->kind == BLOCK_SCOPE_NONE || block->kind == BLOCK_SUPERKERNEL_REST));
    assert(block->kind != BLOCK_SUPERKERNEL_REST || block->whole < graph->blocks.count);
    vec_push(&graph->blocks, *block);
    return graph->blocks.count - 1;
}

void graph_set_clauses(struct graph *graph, uint32_t id, struct clauses clauses)
{
    struct op *op = &graph->ops.at[id];
    if (op->clauses) {
        graph->clauses.at[op->clauses] = clauses;
        return;
    }
    op->clauses = graph->clauses.count;
    vec_push(&graph->clauses, clauses);
}

struct range graph_add_refs(struct graph *graph, const uint32_t *refs, uint32_t count)
{
    if (count == 0)
        return (struct range){0, 0};
    struct range range = {graph->refs.count, count};
    assert(bytes_are_apart(refs, count * sizeof *refs, graph->refs.at,
                           graph->refs.capacity * sizeof *refs));
    vec_reserve(&graph->refs, count);
    memcpy(graph->refs.at + range.first, refs, count * sizeof *refs);
    graph->refs.count += count;
    return range;
}

void graph_add_item(struct graph *graph, enum item_kind kind, uint32_t id)
{
    vec_push(&graph->body, item_make(kind, id));
}

uint32_t graph_enclosing(const struct graph *graph, uint32_t block, enum block_kind kind)
{
    for (; block != NONE; block = graph->blocks.at[block].parent) {
        expensive_assert(block < graph->blocks.count);
        enum block_kind found = graph->blocks.at[block].kind;
        if (found == kind || (kind == BLOCK_SCOPE && found == BLOCK_SCOPE_NONE))
            return block;
        if (kind == BLOCK_SUPERKERNEL && found == BLOCK_SUPERKERNEL_REST)
            return graph->blocks.at[block].whole;
    }
    return NONE;
}

uint32_t graph_superkernel(const struct graph *graph, uint32_t block)
{
    for (; block != NONE; block = graph->blocks.at[block].parent) {
        expensive_assert(block < graph->blocks.count);
        enum block_kind kind = graph->blocks.at[block].kind;
        if (kind == BLOCK_SUPERKERNEL)
            return block;
        if (kind == BLOCK_SUPERKERNEL_REST)
            return graph->blocks.at[block].whole;
        if (kind == BLOCK_SCOPE_NONE)
            return NONE;
    }
    return NONE;
}

void graph_free(struct graph *graph)
{
    vec_free(&graph->params);
    vec_free(&graph->dims);
    vec_free(&graph->gears);
    vec_free(&graph->gear_values);
    vec_free(&graph->cases);
    vec_free(&graph->result_types);
    vec_free(&graph->returns);
    vec_free(&graph->values);
    vec_free(&graph->ops);
    vec_free(&graph->blocks);
    vec_free(&graph->clauses);
    vec_free(&graph->forms);
    vec_free(&graph->body);
    vec_free(&graph->refs);
}

struct graph graph_copy(const struct graph *graph)
{
    struct graph copy = *graph;
    vec_own(&copy.params);
    vec_own(&copy.dims);
    vec_own(&copy.gears);
    vec_own(&copy.gear_values);
    vec_own(&copy.cases);
    vec_own(&copy.result_types);
    vec_own(&copy.returns);
    vec_own(&copy.values);
    vec_own(&copy.ops);
    vec_own(&copy.blocks);
    vec_own(&copy.clauses);
    vec_own(&copy.forms);
    vec_own(&copy.body);
    vec_own(&copy.refs);
    return copy;
}

void graph_clear_body(struct graph *graph)
{
    graph->values.count = graph->n_params;
    graph->returns.count = graph->ops.count = graph->blocks.count = 0;
    graph->clauses.count = 1; /* the empty one */
    graph->forms.count = graph->body.count = graph->refs.count = 0;
    graph->return_loc = NONE;
}

bool graph_declares_dim(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->dims.count; i++)
        if (graph->dims.at[i].name == name)
            return true;
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].name == name)
            return true;
    return false;
}
