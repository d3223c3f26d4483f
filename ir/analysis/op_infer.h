/* Types of results that nobody has told: from the operands, by the data of the op's type. */
#ifndef IR_ANALYSIS_OP_INFER_H
#define IR_ANALYSIS_OP_INFER_H

#include "ir/analysis/contents.h"
#include "ir/core/module.h"
#include "ir/optypes/op_tensors.h"

enum op_untold { OP_ALL_TOLD, OP_NO_DTYPE, OP_NO_SHAPE, OP_MANY_DIMS };

struct op_inference {
    struct op_tensors tensors; /* where they misfit, nothing else is said */
    bool impossible;           /* as op_shapes_check, or else op_ranges_check, says */
    enum op_untold untold;     /* what the data does not say of a result */
    uint32_t result;           /* the first such result, if any, and its slot */
    uint32_t slot;
    uint32_t n_dims; /* of it, where they are too many */
};

/* Gives the results, all of which have types, the dtypes and shapes that they do not know but that
 * follow, also from what stands in constants if `written` is that of graph_mark_written and not
 * NULL. What an operand does not say, or depends on names, may stay unknown; that is no lack of
 * data. Needs memory of the arena for as long as the inference is looked at. */
void op_infer(struct op_inference *in, struct module *module, struct graph *graph,
              const struct op *op, const struct op_type *type, const uint8_t *written,
              struct arena *arena);

/* What either of two types that agree knows; `b` may be NONE. */
uint32_t merged_type(struct module *module, uint32_t a, uint32_t b);

/* Gives results of ops, in the places of dimensions, ranks and data types that are not known, those
 * that follow from the operands, op by op in the order of the text: where these have become known.
 * What is known stays. Whether there was anything to give. */
bool refine_result_types(struct module *module, struct graph *graph);

/* Whether there is something of the kind in a type. */
bool type_has_unknown(const struct module *module, uint32_t id);

#endif
