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
    bool open;                    /* an operand has dimensions that are no integers */
    struct arena *arena;
};

static uint32_t result_value(const struct inferring *i, uint32_t tensor)
{
    assert(i->in->tensors.places[tensor].result);
    return i->op->results.first + i->in->tensors.places[tensor].index;
}

/* The type that a tensor has by now. */
static uint32_t type_of(const struct inferring *i, uint32_t tensor)
{
    const struct op_place *place = &i->in->tensors.places[tensor];
    return place->result ? i->graph->values.at[result_value(i, tensor)].type : place->type;
}

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
        *dtype = i->module->types.at[type_of(i, like)].dtype;
        return true;
    }
    for (unsigned d = 0; d < DTYPE_COUNT; d++)
        if (slot->dtypes == UINT64_C(1) << d) {
            *dtype = (enum dtype)d;
            return true;
        }
    return false;
}

/* -------------------------------------------------------------------------- results ---- */

static void note_untold(struct inferring *i, enum op_untold untold, uint32_t tensor)
{
    if (i->in->untold != OP_ALL_TOLD)
        return;
    i->in->untold = untold;
    i->in->result = i->in->tensors.places[tensor].index;
    i->in->slot = i->in->tensors.call.tensors[tensor].slot;
}

static void infer_result(struct inferring *i, uint32_t tensor, const struct op_shape *shape)
{
    const struct op_call *call = &i->in->tensors.call;
    uint32_t *id = &i->graph->values.at[result_value(i, tensor)].type;
    struct type type = i->module->types.at[*id];
    const int64_t *dims = type_dims(i->module, *id);
    if (type.dtype == DTYPE_UNKNOWN && !infer_dtype(i, call->tensors[tensor].slot, &type.dtype))
        note_untold(i, OP_NO_DTYPE, tensor);
    if (type.rank == RANK_UNKNOWN && !i->in->impossible) {
        type.rank = shape->rank;
        dims = shape->dims;
        if (shape->excess)
            i->in->n_dims = shape->excess;
        if (shape->rank == RANK_UNKNOWN && (shape->excess || !(shape->ruled && i->open)))
            note_untold(i, shape->excess ? OP_MANY_DIMS : OP_NO_SHAPE, tensor);
    }
    *id = module_type(i->module, type.dtype, type.format, dims, type.rank);
}

/* ----------------------------------------------------------------------------- ops ---- */

static bool is_open(const struct op_tensor *tensor)
{
    bool open = tensor->rank == RANK_UNKNOWN;
    for (uint32_t i = 0; !open && i < tensor->rank; i++)
        open = tensor->dims[i] < 0;
    return open;
}

static void look_at_tensors(struct inferring *i)
{
    const struct op_call *call = &i->in->tensors.call;
    for (uint32_t slot = 0; slot < MAX_OP_SLOTS; slot++)
        i->first[slot] = NONE;
    for (uint32_t n = call->n_tensors; n-- > 0;) {
        i->first[call->tensors[n].slot] = n;
        i->open |= !i->in->tensors.places[n].result && is_open(&call->tensors[n]);
    }
}

void op_infer(struct op_inference *in, struct module *module, struct graph *graph,
              const struct op *op, const struct op_type *type, const uint8_t *written,
              struct arena *arena)
{
    struct inferring i = {.in = in, .module = module, .graph = graph, .op = op, .arena = arena};
    struct known_contents known;
    struct op_fault fault;
    *in = (struct op_inference){.untold = OP_ALL_TOLD, .result = NONE, .slot = NONE};
    op_tensors_init(&in->tensors, module, graph, op, type, arena);
    if (in->tensors.misfit != OP_FITS)
        return;
    const struct op_call *call = &in->tensors.call;
    struct op_shape *shapes = arena_alloc(arena, (call->n_tensors + 1) * sizeof *shapes);
    look_at_tensors(&i);
    if (written && type->n_contents) {
        known_contents_use(&known, module, graph, op, &in->tensors);
        known.written = written;
    }
    in->impossible = !op_shapes_infer(call, module, arena, shapes, &fault);
    in->tensors.call.contents = NULL;
    for (uint32_t n = 0; n < call->n_tensors; n++)
        if (in->tensors.places[n].result)
            infer_result(&i, n, &shapes[n]);
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
