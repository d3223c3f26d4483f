#include "ir/refine_types.h"
#include "ir/calls.h"
#include "ir/op_infer.h"
#include "ir/op_rules.h"
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

/* ------------------------------------------------------------------- equal sizes ---- */

static bool is_size(const struct rule *rule, uint32_t *slot)
{
    bool is =
        rule->kind == RULE_CALL && rule->number == RULE_FN_size && rule->args[0]->kind == RULE_SLOT;
    if (is)
        *slot = (uint32_t)rule->args[0]->number;
    return is;
}

/* The slot that has as many elements as this one, by a rule `size(y) == size(x)`; NONE. */
static uint32_t slot_of_size(const struct op_type *type, uint32_t slot)
{
    uint32_t one, other;
    for (uint32_t i = 0; i < type->n_shape; i++) {
        const struct rule *rule = type->shape[i].value;
        if (type->shape[i].slot != NONE || rule->kind != RULE_BINARY || rule->number != RULE_EQ ||
            !is_size(rule->args[0], &one) || !is_size(rule->args[1], &other))
            continue;
        if (one == slot || other == slot)
            return one == slot ? other : one;
    }
    return NONE;
}

/* How many elements the operand of a slot has; false where that is not known. */
static bool operand_elements(const struct module *module, const struct op_tensors *tensors,
                             uint32_t slot, uint64_t *elements)
{
    for (uint32_t i = 0; tensors->misfit == OP_FITS && i < tensors->call.n_tensors; i++)
        if (!tensors->places[i].result && tensors->call.tensors[i].slot == slot)
            return tensors->places[i].type != NONE &&
                   type_elements(module, tensors->places[i].type, elements);
    return false;
}

/* The type with the one dimension that it does not know, so that it has so many elements, or as
 * nearly so as it can: then the verifier says that it has not. */
static uint32_t with_elements(struct module *module, uint32_t id, uint64_t elements)
{
    int64_t dims[MAX_RANK];
    const struct type type = module->types.at[id];
    uint32_t unknown = NONE, count = 0;
    uint64_t known = 1;
    for (uint32_t i = 0; i < type_n_dims(&type); i++) {
        dims[i] = type_dims(module, id)[i];
        if (dims[i] == DIM_UNKNOWN) {
            unknown = i;
            count++;
        } else if (dims[i] <= 0 || __builtin_mul_overflow(known, (uint64_t)dims[i], &known)) {
            return id;
        }
    }
    if (count != 1 || type.rank == RANK_UNKNOWN || elements / known > INT64_MAX)
        return id;
    dims[unknown] = (int64_t)(elements / known);
    return module_type(module, type.dtype, type.format, dims, type.rank);
}

/* -------------------------------------------------------------------------- ops ---- */

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
        uint32_t slot = op_type_result(type, i), like = slot_of_size(type, slot);
        uint64_t elements;
        if (slot != NONE && operand_elements(module, &found.tensors, like, &elements))
            results[i].type = with_elements(module, results[i].type, elements);
    }
    arena_clear(&refiner->scratch);
}

static bool any_type_has_unknown(const struct module *module)
{
    for (uint32_t i = 0; i < module->types.count; i++)
        if (i != module->token && type_has_unknown(module, i))
            return true;
    return false;
}

bool refine_result_types(struct module *module, struct graph *graph)
{
    bool any = false;
    if (!any_type_has_unknown(module))
        return false;
    struct refiner refiner = {.module = module, .graph = graph};
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        const struct op *op = &graph->ops.at[item_id(graph->body.at[i])];
        const struct op_type *type = op_type_find(module, op->type);
        if (!type || !is_to_refine(&refiner, op))
            continue;
        any = true;
        refine(&refiner, op, type);
    }
    mem_free(refiner.written);
    arena_free(&refiner.scratch);
    return any;
}
