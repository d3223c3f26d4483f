/* An op of a graph as its type's data sees it: which slot each of its operands and results is for,
 * and its attributes, so that the rules of the type (ir/optypes/op_shapes.h) can be asked. */
#ifndef IR_OPTYPES_OP_TENSORS_H
#define IR_OPTYPES_OP_TENSORS_H

#include "ir/optypes/op_shapes.h"

/* Where a tensor stands in its op. */
struct op_place {
    bool result;
    uint32_t index; /* among the values of the operands, or among the results */
    uint32_t type;  /* type id */
};

/* How operands and results do not fit the slots of a type. */
enum op_misfit {
    OP_FITS,
    OP_UNTOLD,            /* a type is not known: nothing can be said */
    OP_TOO_MANY_OPERANDS, /* `where`: place of the first that is too much (ir/core/operands.h) */
    OP_NO_LABEL,          /* `where`: place of the first whose label the type does not have */
    OP_NO_LIST,           /* `where`: place of a list where there is one value */
    OP_LIST,              /* `where`: place of one value where there is a list */
    OP_NO_OPERAND,        /* `where`: the slot that is absent */
    OP_TOO_MANY_RESULTS,
    OP_NO_RESULT,
};

struct op_tensors {
    struct op_call call;
    const struct op_place *places; /* of the call's tensors */
    enum op_misfit misfit;
    uint32_t where;
};

/* Everything that it points to is in the arena, or lasts as long as the module. Operands are given
 * by the parameters of the op's kernel where it has one whose names are those of the type, else in
 * the order of the type. */
void op_tensors_init(struct op_tensors *tensors, const struct module *module,
                     const struct graph *graph, const struct op *op, const struct op_type *type,
                     struct arena *arena);

/* The number that the attribute of a slot has (op_slot.by), if it has one: what the op says, or
 * else the type's data if `fallback`. */
bool op_slot_number(const struct op_call *call, uint32_t slot, bool fallback, struct arena *arena,
                    int64_t *number);

/* The first format of a tensor of which rules know nothing, as its dimensions are others; NONE:
 * rules hold. */
uint32_t op_tensors_odd_format(const struct module *module, const struct op_tensors *tensors);
/* Whether rules can be asked: the dimensions of all its tensors are those that they speak of. */
static inline bool op_tensors_are_plain(const struct module *module,
                                        const struct op_tensors *tensors)
{
    return op_tensors_odd_format(module, tensors) == NONE;
}

#endif
