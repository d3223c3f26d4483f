/* The operands of an op as they are written: values, `none`, lists of values, each with or without
 * the name of its kernel's parameter. An operand's place is its number among them, from 0; that of
 * an op whose operands are all plain values is the number of the value. */
#ifndef IR_CORE_OPERANDS_H
#define IR_CORE_OPERANDS_H

#include "ir/core/module.h"

/* Whether an operand has a label, is absent or a list. */
static inline bool op_has_forms(const struct graph *graph, const struct op *op)
{
    return op->clauses && op_clauses(graph, op)->forms.count;
}

/* How many operands there are, those that are absent and lists counting one each. */
static inline uint32_t op_n_places(const struct graph *graph, const struct op *op)
{
    return op_has_forms(graph, op) ? op_clauses(graph, op)->forms.count : op->operands.count;
}

static inline struct operand op_operand(const struct graph *graph, const struct op *op,
                                        uint32_t place)
{
    assert(place < op_n_places(graph, op));
    if (op_has_forms(graph, op))
        return graph->forms.at[op_clauses(graph, op)->forms.first + place];
    return (struct operand){OPERAND_VALUE, NONE, {op->operands.first + place, 1}};
}

/* The place of a label, or NONE. */
uint32_t op_find_label(const struct graph *graph, const struct op *op, uint32_t label);

/* The place that an element of an attribute such as `inplace` names, by its number or label; NONE
 * where there is no such operand. */
uint32_t op_named_place(const struct graph *graph, const struct op *op,
                        const struct attr_value *name);

/* The place of the n-th value of the operands. */
uint32_t op_value_place(const struct graph *graph, const struct op *op, uint32_t n);

/* The place of the operand that is the n-th tensor of a kernel's parameters, whose word there is
 * `param`: by its place where it has no label, else by the label. NONE where no operand is. */
uint32_t op_param_place(const struct graph *graph, const struct op *op, uint32_t n, uint32_t param);

/* The operand that an element of the kernel's `scalar_reads` names, by its number among the tensors
 * of `params` or its word there: its place; NONE where the op has no such operand. */
uint32_t op_scalar_place(const struct module *module, const struct graph *graph,
                         const struct op *op, const struct kernel *kernel,
                         const struct attr_value *name);

/* How many operands stand before the first one with a label. */
uint32_t op_n_unlabelled(const struct graph *graph, const struct op *op);

/* Adds an operand without values, `none` or `[]`, with or without (NONE) a label, behind the op's
 * others. */
void op_add_absent(struct graph *graph, uint32_t op, uint32_t label, enum operand_kind kind);

/* Takes away the op's last operand, a `none` without a label. */
void op_drop_absent(struct graph *graph, uint32_t op);

/* How many of the op's operands there are without those at the end that are `none` and have a place
 * from `least` on. */
uint32_t op_n_given(const struct graph *graph, const struct op *op, uint32_t least);

#endif
