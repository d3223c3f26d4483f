#include "ir/analysis/op_infer.h"
#include "ir/core/calls.h"
#include "ir/core/operands.h"
#include "ir/optypes/op_rules.h"
#include "ir/optypes/op_types.h"

struct inferring {
    struct op_inference *in;
    struct module *module;
    struct graph *graph;
    const struct op *op;
    uint32_t first[MAX_OP_SLOTS]; /* tensor of a slot; NONE */
    struct arena *arena;
};

/* --------------------------------------------------------------------------- dtypes ---- */

/* That which an attribute says, whose numbers of nothing the verifier refuses; that of the slot
 * which it is like, though it may be others, too; or the only one that it may have. */
static bool infer_dtype(const struct inferring *i, uint32_t index, enum dtype *dtype)
{
    const struct op_call *call = &i->in->tensors.call;
    const struct op_slot *slot = &call->type->slots[index];
    int64_t number;
    if (op_slot_number(call, index, true, i->arena, &number))
        return ge_dtype_find(number, dtype) ? *dtype != DTYPE_UNKNOWN
                                            : op_slot_number(call, index, false, i->arena, &number);
    uint32_t like = slot->like == NONE ? NONE : i->first[slot->like];
    if (like != NONE) {
        const struct op_place *place = &i->in->tensors.places[like];
        uint32_t result = i->op->results.first + place->index;
        uint32_t type = place->result ? i->graph->values.at[result].type : place->type;
        *dtype = i->module->types.at[type].dtype;
        return true;
    }
    for (unsigned d = 0; d < DTYPE_COUNT; d++)
        if (slot->dtypes == UINT64_C(1) << d) {
            *dtype = (enum dtype)d;
            return true;
        }
    return false;
}

/* ----------------------------------------------------------------------------- ops ---- */

void op_infer(struct op_inference *in, struct module *module, struct graph *graph,
              const struct op *op, const struct op_type *type, const uint8_t *written,
              struct arena *arena)
{
    struct inferring i = {.in = in, .module = module, .graph = graph, .op = op, .arena = arena};
    struct known_contents known;
    struct op_fault fault;
    bool open = false; /* an operand has dimensions that are no integers */
    *in = (struct op_inference){.untold = OP_ALL_TOLD, .result = NONE, .slot = NONE};
    op_tensors_init(&in->tensors, module, graph, op, type, arena);
    if (in->tensors.misfit != OP_FITS)
        return;
    const struct op_call *call = &in->tensors.call;
    struct op_shape *shapes = arena_alloc(arena, (call->n_tensors + 1) * sizeof *shapes);
    for (uint32_t slot = 0; slot < MAX_OP_SLOTS; slot++)
        i.first[slot] = NONE;
    for (uint32_t n = call->n_tensors; n-- > 0;) {
        const struct op_tensor *tensor = &call->tensors[n];
        i.first[tensor->slot] = n;
        if (in->tensors.places[n].result)
            continue;
        open |= tensor->rank == RANK_UNKNOWN;
        for (uint32_t d = 0; !open && d < tensor->rank; d++)
            open = tensor->dims[d] < 0;
    }
    if (written && type->n_contents) {
        known_contents_use(&known, module, graph, op, &in->tensors);
        known.written = written;
    }
    in->impossible = !op_shapes_infer(call, module, arena, shapes, &fault);
    in->tensors.call.contents = NULL;
    for (uint32_t n = 0; n < call->n_tensors; n++) {
        const struct op_place *place = &in->tensors.places[n];
        const struct op_shape *shape = &shapes[n];
        enum op_untold untold = OP_ALL_TOLD;
        if (!place->result)
            continue;
        uint32_t slot = call->tensors[n].slot;
        uint32_t *id = &graph->values.at[op->results.first + place->index].type;
        struct type is = module->types.at[*id];
        const int64_t *dims = type_dims(module, *id);
        if (is.dtype == DTYPE_UNKNOWN && !infer_dtype(&i, slot, &is.dtype))
            untold = OP_NO_DTYPE;
        if (is.rank == RANK_UNKNOWN && !in->impossible) {
            is.rank = shape->rank;
            dims = shape->dims;
            if (shape->excess)
                in->n_dims = shape->excess;
            if (shape->rank == RANK_UNKNOWN && untold == OP_ALL_TOLD)
                untold = shape->excess            ? OP_MANY_DIMS
                         : !shape->ruled || !open ? OP_NO_SHAPE
                                                  : OP_ALL_TOLD;
        }
        if (in->untold == OP_ALL_TOLD && untold != OP_ALL_TOLD) {
            in->untold = untold;
            in->result = place->index;
            in->slot = slot;
        }
        *id = module_type(module, is.dtype, is.format, dims, is.rank);
    }
}

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

/* ------------------------------------------------------------------- equal sizes ---- */

/* The slot that has as many elements as this one, by a rule `size(y) == size(x)`; NONE. */
static uint32_t slot_of_size(const struct op_type *type, uint32_t slot)
{
    for (uint32_t i = 0; i < type->n_shape; i++) {
        const struct rule *rule = type->shape[i].value;
        uint32_t sides[2], n = 0;
        if (type->shape[i].slot != NONE || rule->kind != RULE_BINARY || rule->number != RULE_EQ)
            continue;
        for (; n < 2; n++) {
            const struct rule *side = rule->args[n];
            if (side->kind != RULE_CALL || side->number != RULE_FN_size ||
                side->args[0]->kind != RULE_SLOT)
                break;
            sides[n] = (uint32_t)side->args[0]->number;
        }
        if (n == 2 && (sides[0] == slot || sides[1] == slot))
            return sides[0] == slot ? sides[1] : sides[0];
    }
    return NONE;
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
    struct graph *graph = refiner->graph;
    struct value *results = graph->values.at + op->results.first;
    uint32_t *declared = arena_alloc(&refiner->scratch, op->results.count * sizeof *declared);
    struct op_inference found;
    for (uint32_t i = 0; i < op->results.count; i++) {
        declared[i] = results[i].type;
        struct type known = module->types.at[declared[i]];
        results[i].type = module_type(module, known.dtype, known.format, NULL, RANK_UNKNOWN);
    }
    if (type->n_contents && !refiner->written) {
        refiner->written = mem_calloc(graph->values.count + 1, 1);
        graph_mark_written(module, graph, refiner->written);
    }
    op_infer(&found, module, graph, op, type, type->n_contents ? refiner->written : NULL,
             &refiner->scratch);
    for (uint32_t i = 0; i < op->results.count; i++) {
        const struct type *was = &module->types.at[declared[i]];
        const struct type *follows = &module->types.at[results[i].type];
        bool agree = was->rank == RANK_UNKNOWN || was->rank == follows->rank;
        results[i].type = agree ? merged_type(module, declared[i], results[i].type) : declared[i];
        uint32_t slot = op_type_result(type, i), like = slot_of_size(type, slot);
        uint32_t n = slot == NONE || found.tensors.misfit != OP_FITS ? NONE : 0;
        uint64_t elements;
        while (n < found.tensors.call.n_tensors &&
               (found.tensors.places[n].result || found.tensors.call.tensors[n].slot != like))
            n++;
        if (n < found.tensors.call.n_tensors && found.tensors.places[n].type != NONE &&
            type_elements(module, found.tensors.places[n].type, &elements))
            results[i].type = with_elements(module, results[i].type, elements);
    }
    arena_clear(&refiner->scratch);
}

bool refine_result_types(struct module *module, struct graph *graph)
{
    bool any = false;
    struct refiner refiner = {.module = module, .graph = graph};
    for (uint32_t i = 0; i < module->types.count && !any; i++)
        any = i != module->token && type_has_unknown(module, i);
    if (!any)
        return false;
    any = false;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        const struct op *op = &graph->ops.at[item_id(graph->body.at[i])];
        const struct op_type *type = op_type_find(module, op->type);
        bool open = false; /* a result has a type that is not known in all */
        for (uint32_t n = 0; type && !open && n < op->results.count; n++) {
            uint32_t id = graph->values.at[op->results.first + n].type;
            open = id != NONE && id != module->token && type_has_unknown(module, id);
        }
        if (!open || op_call_kind(op) != CALL_NONE || op_is_unchecked(module, op))
            continue;
        any = true;
        refine(&refiner, op, type);
    }
    mem_free(refiner.written);
    arena_free(&refiner.scratch);
    return any;
}
