/* Arithmetic of dimensions that depend on names, in rules: sums of products (ir/dims.h). */
#ifndef IR_OP_SYMBOLS_H
#define IR_OP_SYMBOLS_H

#include "ir/op_values.h"

/* a OP b, of which one is no integer: what cannot be said as a sum is not known. `/` and `%` are
 * where nothing is left. */
struct rule_dim rule_symbolic(struct evaluator *e, enum rule_operator op, struct rule_dim a,
                              struct rule_dim b);

/* Whether two are equal whatever the names stand for. */
bool rule_same(const struct evaluator *e, struct rule_dim a, struct rule_dim b);

/* Appends what is no integer as types have it, or nothing, and returns false, where that is not
 * known. */
struct text;
bool rule_spell_symbolic(const struct evaluator *e, struct rule_dim dim, struct text *text);

/* What types have for it. DIM_UNKNOWN without a module, which is that of the call. */
int64_t rule_dim_of_type(const struct evaluator *e, struct module *module, struct rule_dim dim);

#endif
