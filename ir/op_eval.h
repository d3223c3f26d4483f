/* Expressions of rules, evaluated. */
#ifndef IR_OP_EVAL_H
#define IR_OP_EVAL_H

#include "ir/op_values.h"

/* A place in a list, from its end where it is negative; NONE where there is none, which is a fault
 * unless it is not known. */
uint32_t rule_place(struct evaluator *e, const struct rule_value *place, uint32_t count);

/* The function of a call, of its arguments. */
struct rule_value rule_call(struct evaluator *e, const struct rule *rule, struct rule_value *args);

struct rule_value rule_eval(struct evaluator *e, const struct rule *rule);

#endif
