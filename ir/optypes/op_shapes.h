/* What the rules of an op type say of an op: whether its shapes are right, what those of its
 * results are, and what it costs. Whoever has tensors can ask, without a module, too. */
#ifndef IR_OPTYPES_OP_SHAPES_H
#define IR_OPTYPES_OP_SHAPES_H

#include "ir/optypes/op_rules.h"

/* A tensor of an op: of operands that are there, and of results. Dimensions are those of types:
 * what is not an integer is taken for whatever makes the op right. */
struct op_tensor {
    uint32_t slot; /* index of op_type.slots; of a listed one several follow one another */
    uint32_t rank; /* or RANK_UNKNOWN */
    const int64_t *dims;
    unsigned bits; /* of an element; 0 where they are not known */
};

/* The value of an attribute: as numbers (one, but for lists; bools are 0 and 1), or as text. Other
 * kinds than those of op_attr.kind, and floats, have neither. */
struct op_attr_value {
    const int64_t *numbers;
    uint32_t count;
    const char *text;
};

/* Integers that stand in an operand, in row-major order: all, or the first of very many. */
struct op_contents {
    const int64_t *at;
    uint64_t count;
};

struct op_call {
    const struct op_type *type;
    const struct module *module; /* of names in dimensions; NULL: nothing is known of them */
    const struct op_tensor *tensors;
    uint32_t n_tensors;
    /* Whether the op has the attribute; what it says may be in the arena. */
    bool (*attr)(const struct op_call *call, const struct op_attr *attr, struct arena *arena,
                 struct op_attr_value *value);
    const void *user;
    /* Whether it is known what stands in an operand, the tensor; what it says may be in the arena.
     * NULL: nothing is known. */
    bool (*contents)(const struct op_call *call, uint32_t tensor, struct arena *arena,
                     struct op_contents *contents);
    const void *contents_user;
};

/* What is wrong. */
struct op_fault {
    uint32_t tensor; /* index of op_call.tensors at which it shows; NONE */
    uint32_t other;  /* of the one that it contradicts; NONE */
    char text[256];
};

/* Whether the shapes may be right. */
bool op_shapes_check(const struct op_call *call, struct op_fault *fault);

/* A shape that follows: of a result. */
struct op_shape {
    bool ruled;      /* there is a rule for it */
    uint32_t rank;   /* RANK_UNKNOWN: it says nothing for these operands */
    uint32_t excess; /* dimensions that it makes, where a type cannot have so many; else 0 */
    const int64_t *dims;
};

/* The shapes of results, by tensor of the call, which is held to the rules where it knows them;
 * also by what stands in its operands, as far as it knows that.
 * False, with the fault, where the shapes cannot be right. Sums of names get their names in
 * `module`, which is that of the call; without it they are DIM_UNKNOWN. Dimensions are in the
 * arena. */
bool op_shapes_infer(const struct op_call *call, struct module *module, struct arena *arena,
                     struct op_shape *shapes, struct op_fault *fault);

/* The number that an expression of the type, such as `flops`, has for this op. False where it is
 * not known or too large, or where something is wrong: only then `fault` is set. */
bool op_shapes_number(const struct op_call *call, const struct op_rule *rule, int64_t *number,
                      struct op_fault *fault);

/* -------------------------------------------------------------- what may stand in operands ---- */

/* The rules `values` of the type at work (docs/op-types.md). */

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
