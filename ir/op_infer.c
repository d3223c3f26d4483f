#include "ir/op_infer.h"
#include "ir/op_types.h"

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
