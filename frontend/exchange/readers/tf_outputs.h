/* What TensorFlow's ops give: a GraphDef says neither how many outputs a node has nor their
 * types, but for what its attributes tell to those who know the op. */
#ifndef FRONTEND_EXCHANGE_READERS_TF_OUTPUTS_H
#define FRONTEND_EXCHANGE_READERS_TF_OUTPUTS_H

#include "frontend/exchange/dump/types.h"

/* What has been looked up. Zero-initialised is empty. */
struct tf_known {
    struct id_map ops; /* by op type: its row */
};

void tf_known_free(struct tf_known *known);

/* Gives the draft the outputs that its type and attributes tell of, with dtypes, and shapes where
 * `_output_shapes` has them. Types of references are ATTR_WORD, shapes ATTR_TYPE. */
void tf_add_outputs(struct tf_known *known, struct dump *dump, struct dump_draft *draft);

/* The first output of those that an op's argument has: NONE where the op is not known. */
uint32_t tf_find_output(struct tf_known *known, const struct dump *dump, uint32_t op,
                        const char *name, size_t size);

/* The type of a dtype and a shape, which are given by a word and a type of no dtype. */
uint32_t tf_type(struct dump *dump, const struct attr_value *dtype, const struct attr_value *shape);

#endif
