/* What stands in operands, held against the data of op types. */
#ifndef IR_VERIFY_OPERAND_VALUES_H
#define IR_VERIFY_OPERAND_VALUES_H

#include "ir/op_ranges.h"
#include "ir/op_tensors.h"

struct diags;

/* Whether the numbers that a graph's text gives to an op's operands may stand there. The op fits
 * its type in all else. */
bool operand_values_fit(const struct module *module, const struct graph *graph, const struct op *op,
                        struct op_tensors *tensors, struct op_range_fault *fault);

/* Reports what is wrong at the operand, with the other tensor that the rule speaks of. Whether it
 * is kept, so that help may follow. */
bool operand_value_report(const struct module *module, const struct op *op,
                          const struct op_tensors *tensors, const struct op_range_fault *fault,
                          struct diags *diags);

#endif
