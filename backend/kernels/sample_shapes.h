/* What shapes the sample ops take: rules that hold where counts, dtypes, formats and attributes are
 * right. They set the error and return false where a shape is wrong. */
#ifndef BACKEND_KERNELS_SAMPLE_SHAPES_H
#define BACKEND_KERNELS_SAMPLE_SHAPES_H

#include "backend/kernels/sample_check.h"

/* The rules of the op type. */
bool shapes_of_type(const struct op_check *check);

/* The operands, or the results, are the other tensor in parts along some axis. */
bool shapes_concat(const struct op_check *check);
bool shapes_split(const struct op_check *check);

/* There is one rank, for which the result is the operand. */
bool shapes_one_rank(const struct op_check *check);

/* The condition, too, broadcasts to the result. */
bool shapes_select(const struct op_check *check);

/* A tensor must have the dimensions of this one. */
bool shapes_require(const struct op_check *check, unsigned tensor,
                    const struct skrt_tensor *expected);

/* A scale for each row and column, not one for all of them. */
bool shapes_quant_matmul(const struct op_check *check);

/* The layouts that the kernel of FusedInferAttentionScore has. */
bool shapes_attention(const struct op_check *check);

/* Of products with a bias: it has an element for each column. */
bool shapes_product(const struct op_check *check);
bool shapes_softmax(const struct op_check *check);
bool shapes_round(const struct op_check *check);
bool shapes_matmul(const struct op_check *check);

/* Products of groups of rows, with one result, or one for each. */
bool shapes_grouped(const struct op_check *check);

/* The plain form of FlashAttentionScore, and its layouts. */
bool shapes_flash_attention(const struct op_check *check);

/* Factors that are broadcast to the rows of x; the modes that the kernel has. */
bool shapes_rotary(const struct op_check *check);

/* A mask that is broadcast to x. */
bool shapes_masked_softmax(const struct op_check *check);

/* Scales of one element, or one for each place of an axis; i8 with a rounding that there is. */
bool shapes_quant(const struct op_check *check);
bool shapes_dequant(const struct op_check *check);

#endif
