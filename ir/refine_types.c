#include "ir/refine_types.h"
#include "ir/calls.h"
#include "ir/op_infer.h"
#include "ir/operands.h"

struct refiner {
    struct module *module;
    struct graph *graph;
    struct arena scratch;
    uint8_t *written; /* of graph_mark_written; NULL: nobody has asked */
};

uint32_t merged_type(struct module *module, uint32_t a, uint32_t b)
{
    if (a == b || b == NONE)
        return a;
    int64_t dims[MAX_RANK];
    const struct type of_a = module->types.at[a], of_b = module->types.at[b];
    const struct type ranked = of_a.rank == RANK_UNKNOWN ? of_b : of_a;
    enum dtype dtype = of_a.dtype == DTYPE_UNKNOWN ? of_b.dtype : of_a.dtype;
    for (uint32_t i = 0; i < type_n_dims(&ranked); i++) {
        dims[i] = module->dims.at[ranked.dims + i];
        if (dims[i] == DIM_UNKNOWN && of_b.rank != RANK_UNKNOWN)
            dims[i] = type_dims(module, b)[i];
    }
    return module_type(module, dtype, of_a.format == W_ND ? of_b.format : of_a.format, dims,
                       ranked.rank);
}

bool type_has_unknown(const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    for (uint32_t i = 0; i < type_n_dims(type); i++)
        if (type_dims(module, id)[i] == DIM_UNKNOWN)
            return true;
    return type->rank == RANK_UNKNOWN || type->dtype == DTYPE_UNKNOWN;
}

static bool is_to_refine(const struct refiner *refiner, const struct op *op)
{
    const uint32_t token = refiner->module->token;
    for (uint32_t i = 0; i < op->results.count; i++) {
        uint32_t id = refiner->graph->values.at[op->results.first + i].type;
        if (id != NONE && id != token && type_has_unknown(refiner->module, id))
            return op_call_kind(op) == CALL_NONE && !op_is_unchecked(refiner->module, op);
    }
    return false;
}

static const uint8_t *written_in(struct refiner *refiner)
{
    if (!refiner->written) {
        refiner->written = mem_calloc(refiner->graph->values.count + 1, 1);
        graph_mark_written(refiner->module, refiner->graph, refiner->written);
    }
    return refiner->written;
}

/* The type that follows where nothing is known but the data type and the format. */
static void refine(struct refiner *refiner, const struct op *op, const struct op_type *type)
{
    struct module *module = refiner->module;
    struct value *results = refiner->graph->values.at + op->results.first;
    uint32_t *declared = arena_alloc(&refiner->scratch, op->results.count * sizeof *declared);
    struct op_inference found;
    for (uint32_t i = 0; i < op->results.count; i++) {
        declared[i] = results[i].type;
        struct type known = module->types.at[declared[i]];
        results[i].type = module_type(module, known.dtype, known.format, NULL, RANK_UNKNOWN);
    }
    op_infer(&found, module, refiner->graph, op, type,
             type->n_contents ? written_in(refiner) : NULL, &refiner->scratch);
    for (uint32_t i = 0; i < op->results.count; i++) {
        const struct type *was = &module->types.at[declared[i]];
        const struct type *follows = &module->types.at[results[i].type];
        bool agree = was->rank == RANK_UNKNOWN || was->rank == follows->rank;
        results[i].type = agree ? merged_type(module, declared[i], results[i].type) : declared[i];
    }
    arena_clear(&refiner->scratch);
}

void refine_result_types(struct module *module, struct graph *graph)
{
    struct refiner refiner = {.module = module, .graph = graph};
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        const struct op *op = &graph->ops.at[item_id(graph->body.at[i])];
        const struct op_type *type = op_type_find(module, op->type);
        if (type && is_to_refine(&refiner, op))
            refine(&refiner, op, type);
    }
    mem_free(refiner.written);
    arena_free(&refiner.scratch);
}
