#include "frontend/exchange/dump/infer.h"
#include "ir/op_tensors.h"

/* An op whose type has data. */
struct inference {
    struct module *module;
    struct graph *graph;
    const struct op *op;
    const struct op_type *type;
    struct op_tensors tensors;
};

static const struct type *type_at(const struct inference *in, uint32_t type)
{
    return &in->module->types.at[type];
}

static bool is_open(const struct type *type)
{
    return type->dtype == DTYPE_UNKNOWN || type->rank == RANK_UNKNOWN;
}

static bool has_open_result(const struct module *module, const struct graph *graph,
                            const struct op *op)
{
    for (uint32_t i = 0; i < op->results.count; i++)
        if (is_open(&module->types.at[graph->values.at[op->results.first + i].type]))
            return true;
    return false;
}

/* The dtype of the first tensor of a slot. */
static enum dtype slot_dtype(const struct inference *in, uint32_t slot)
{
    for (uint32_t i = 0; i < in->tensors.call.n_tensors; i++)
        if (in->tensors.call.tensors[i].slot == slot)
            return type_at(in, in->tensors.places[i].type)->dtype;
    return DTYPE_UNKNOWN;
}

/* That of a slot before it, or the only one that it may have. */
static enum dtype infer_dtype(const struct inference *in, const struct op_slot *slot)
{
    if (slot->like != NONE)
        return slot_dtype(in, slot->like);
    for (unsigned dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (slot->dtypes == (uint64_t)1 << dtype)
            return (enum dtype)dtype;
    return DTYPE_UNKNOWN;
}

/* Shapes follow from operands all of whose ranks are known. */
static bool knows_ranks(const struct inference *in)
{
    for (uint32_t i = 0; i < in->tensors.call.n_tensors; i++)
        if (!in->tensors.places[i].result && in->tensors.call.tensors[i].rank == RANK_UNKNOWN)
            return false;
    return true;
}

static void infer_result(const struct inference *in, uint32_t result)
{
    uint32_t *value = &in->graph->values.at[in->op->results.first + result].type;
    uint32_t slot = op_type_result(in->type, result);
    struct type type = *type_at(in, *value);
    int64_t inferred[MAX_RANK];
    const int64_t *dims = type.rank == RANK_UNKNOWN ? NULL : type_dims(in->module, *value);
    if (!is_open(&type) || slot == NONE)
        return;
    uint32_t nth = result - (slot - in->type->n_operands);
    if (type.dtype == DTYPE_UNKNOWN)
        type.dtype = infer_dtype(in, &in->type->slots[slot]);
    if (!dims && knows_ranks(in) &&
        op_shapes_infer(&in->tensors.call, slot, nth, inferred, &type.rank))
        dims = inferred;
    *value =
        module_type(in->module, type.dtype, type.format, dims, dims ? type.rank : RANK_UNKNOWN);
}

static void infer(struct module *module, struct graph *graph, const struct op *op,
                  const struct op_type *type, struct arena *scratch)
{
    struct inference in = {module, graph, op, type, {.misfit = OP_FITS}};
    for (uint32_t i = 0; in.tensors.misfit == OP_FITS && i < op->results.count; i++) {
        /* Anew for each result: a new type moves the dimensions of all. */
        op_tensors_init(&in.tensors, module, graph, op, type, scratch);
        if (in.tensors.misfit == OP_FITS)
            infer_result(&in, i);
    }
    arena_clear(scratch);
}

/* The op of this type that was asked for last. */
static struct dump_inferred *last_of(struct dump_inference *all, uint32_t type)
{
    uint32_t *index = id_map_at(&all->types, type);
    if (*index == NONE) {
        *index = all->last.count;
        vec_push(&all->last, (struct dump_inferred){.graph = NONE});
    }
    return &all->last.at[*index];
}

/* Gives the results the types of those of an op that was like this one. False where it was not. */
static bool repeat(const struct module *module, struct graph *graph, const struct op *op,
                   const struct dump_inferred *last)
{
    if (last->graph != graph->name || !dump_ops_alike(module, graph, &last->op, op))
        return false;
    struct value *values = graph->values.at + op->results.first;
    for (uint32_t i = 0; i < op->results.count; i++)
        if (values[i].type != last->before[i])
            return false;
    for (uint32_t i = 0; i < op->results.count; i++)
        values[i].type = last->after[i];
    return true;
}

static void copy_types(const struct graph *graph, const struct op *op, uint32_t *types)
{
    for (uint32_t i = 0; i < op->results.count && i < ALIKE_MOST; i++)
        types[i] = graph->values.at[op->results.first + i].type;
}

void dump_infer(struct dump_inference *all, struct module *module, struct graph *graph,
                const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    if (!type || !has_open_result(module, graph, op))
        return;
    struct dump_inferred *last = last_of(all, op->type);
    if (repeat(module, graph, op, last))
        return;
    *last = (struct dump_inferred){.graph = graph->name, .op = *op};
    copy_types(graph, op, last->before);
    infer(module, graph, op, type, &all->scratch);
    copy_types(graph, op, last->after);
}

void dump_inference_free(struct dump_inference *all)
{
    id_map_free(&all->types);
    vec_free(&all->last);
    arena_free(&all->scratch);
}
