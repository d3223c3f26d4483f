/* What a module must satisfy beyond the grammar. */
#ifndef IR_VERIFY_VERIFY_H
#define IR_VERIFY_VERIFY_H

#include "ir/module.h"

/* Reports everything that is wrong, each with its position where there is one. Returns whether
 * nothing is. */
bool verify_module(const struct module *module, struct diags *diags);

/* The same where some graphs, marked by index, were verified alone and nothing was said of them. */
bool verify_module_but(const struct module *module, const uint8_t *right, struct diags *diags);

/* The same for one graph of it by itself, whose calls and symbols are looked up in the module. */
bool verify_graph_alone(const struct module *module, const struct graph *graph,
                        struct diags *diags);
/* The same for one of many: `superkernels` are those of the module, as module_superkernels() has
 * them. */
bool verify_graph_of_many(const struct module *module, const struct id_map *superkernels,
                          const struct graph *graph, struct diags *diags);

/* Whether an op of a graph, whose operands are defined, has nothing against the data of its type
 * that the verifier would report, even where the op is not held to it (op_is_unchecked). */
bool op_fits_type(const struct module *module, const struct graph *graph, const struct op *op);

/* Warns of what is legal but looks like a mistake: once, for what was read, and not again for what
 * passes make of it. The module may be wrong. */
void verify_warnings(const struct module *module, struct diags *diags);

struct attr_row;
/* Whether an attribute that a row describes may have the value. */
bool attr_row_takes(const struct module *module, const struct attr_row *row,
                    const struct attr_value *value);

/* ---- what stands in operands ---- */

struct op_tensors;
struct op_range_fault;

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
