/* Expressions of rules, evaluated. */
#ifndef IR_OP_EVAL_H
#define IR_OP_EVAL_H

#include "ir/op_values.h"

/* A place in a list, from its end where it is negative; NONE where there is none, which is a fault
 * unless it is not known. */
uint32_t rule_place(struct evaluator *e, const struct rule_value *place, uint32_t count);

/* The function `strided`. */
struct rule_value rule_strided(struct evaluator *e, const struct rule_value *args);

/* The function of a call, of its arguments. */
struct rule_value rule_call(struct evaluator *e, const struct rule *rule, struct rule_value *args);

struct rule_value rule_eval(struct evaluator *e, const struct rule *rule);

/* ---------------------------------------------------- whole rules (ir/op_shapes.c) ---- */

void evaluator_init(struct evaluator *e, const struct op_call *call, struct op_fault *fault);
void evaluator_free(struct evaluator *e);
/* Forgets what was evaluated since the arena was another one, or empty. */
static inline void evaluator_forget(struct evaluator *e)
{
    e->attrs = NULL;
    e->made = 0;
}
/* The branch of choices that holds; NULL where that is not known. */
const struct rule *rule_choose(struct evaluator *e, const struct rule *rule);
/* The shape that a rule says of its slot, the tensor where it is told; one with a dimension below 0
 * is a fault. */
struct rule_value rule_shape_said(struct evaluator *e, uint32_t tensor, const struct rule *value);
/* All rules of shapes, which bind variables. Whether they hold shows in `failed`. */
void rules_run(struct evaluator *e);

#endif
