/* What the expressions of a rule are, whatever the op. */
#ifndef IR_OP_RULE_TYPES_H
#define IR_OP_RULE_TYPES_H

#include "ir/op_rules.h"

/* Whether each expression of a rule, which has been parsed, is what its place takes, and none can
 * but fail. Notes in the rule what the evaluator wants to know. */
bool op_rule_has_types(const struct op_type *type, const struct rule_variables *variables,
                       struct op_rule *rule, enum rule_use use, char *error, size_t error_size);

#endif
