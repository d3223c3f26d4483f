/* Whether the shapes and attributes of an op are right for its sample kernel: by the rules of its
 * type (ir/ops), and those that the kernel adds. They set the error and return false where one is
 * not. */
#ifndef BACKEND_KERNELS_SAMPLE_SHAPES_H
#define BACKEND_KERNELS_SAMPLE_SHAPES_H

#include "backend/kernels/sample_check.h"

/* The rules of the type and of the kernel. */
bool shapes_check(const struct op_check *check);

/* What rules cannot say, as it depends on data types: of products, with f32, f16 and bf16 mixed; of
 * a softmax; of rounding. */
bool dtypes_of_product(const struct op_check *check);
bool dtypes_of_softmax(const struct op_check *check);
bool dtypes_of_round(const struct op_check *check);

#endif
