/* What shapes the sample ops take: rules that hold where counts, dtypes, formats and attributes are
 * right. They set the error and return false where a shape is wrong. */
#ifndef BACKEND_KERNELS_SAMPLE_SHAPES_H
#define BACKEND_KERNELS_SAMPLE_SHAPES_H

#include "backend/kernels/sample_check.h"

/* The rules of the op type. */
bool shapes_of_type(const struct op_check *check);

/* The condition, too, broadcasts to the result. */
bool shapes_select(const struct op_check *check);

/* A scale for each row and column, not one for all of them. */
bool shapes_quant_matmul(const struct op_check *check);

/* Operand 0 has the dimensions that "axes" names. */
bool shapes_axes(const struct op_check *check);

/* The layouts that the kernel of FusedInferAttentionScore has. */
bool shapes_attention(const struct op_check *check);

#endif
