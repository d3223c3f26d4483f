/* What may stand in operands of an op: the rules `values` of its type at work
 * (docs/op-types.md). */
#ifndef IR_OP_RANGES_H
#define IR_OP_RANGES_H

#include "ir/op_values.h"

/* What stands in an operand that no rule allows. */
struct op_range_fault {
    uint32_t tensor; /* index of op_call.tensors */
    uint32_t other;  /* of one that the rule speaks of; NONE */
    /* Each element is to be from `low` to `high`; not known where `low` is above `high`. */
    int64_t low, high;
    char text[512];
};

/* Whether what is known to stand in operands may stand there. The shapes are right. */
bool op_ranges_check(const struct op_call *call, struct op_range_fault *fault);

/* Whether any rule needs what stands in the operand of a slot. */
bool op_range_needs(const struct op_type *type, uint32_t slot);

/* An element of an operand that is to be chosen, and what is chosen before it. */
struct op_element {
    uint32_t tensor;
    int64_t at[RULE_ELEMENTS];
};

/* Lists that are longer are cut: what is chosen is of their first numbers. */
enum { MAX_RANGE_LIST = 8 };

/* What an element may be: numbers from `low` to `high`, and if `listed` only those of a list, the
 * first of which suits best. */
struct op_range {
    int64_t low, high;
    bool listed;
    uint32_t count;
    int64_t list[MAX_RANGE_LIST];
};

/* Narrows a range to what rules of the operand say that this element may be, whatever it is now.
 * Whether they say the same of all its elements. */
bool op_range_narrow(const struct op_call *call, const struct op_element *element,
                     struct op_range *range);
/* Whether the operand's rules of single elements allow this one, which stands there. */
bool op_range_allows(const struct op_call *call, const struct op_element *element);

#endif
