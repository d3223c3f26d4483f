/* What shapes the sample ops take: rules of their rows, which hold where counts, dtypes, formats
 * and attributes are right. They set the error and return false where a shape is wrong. */
#ifndef BACKEND_KERNELS_SAMPLE_SHAPES_H
#define BACKEND_KERNELS_SAMPLE_SHAPES_H

#include "backend/kernels/sample_check.h"

/* Operand 0 in, result 0 out: the same shape. */
bool shapes_same(const struct op_check *check);
/* Two operands, which NumPy's rules make as large as the result. */
bool shapes_broadcast(const struct op_check *check);

/* Those of one op type each. */
bool shapes_softmax(const struct op_check *check);
bool shapes_mat_mul(const struct op_check *check);
bool shapes_quant_matmul(const struct op_check *check);
bool shapes_swiglu(const struct op_check *check);
bool shapes_rms_norm(const struct op_check *check);
bool shapes_scatter_update(const struct op_check *check);
bool shapes_add_n(const struct op_check *check);
bool shapes_concat(const struct op_check *check);
bool shapes_attention(const struct op_check *check);

#endif
