/* The rows of ONNX by family, and what they share. */
#ifndef FRONTEND_EXCHANGE_TRANSLATE_ONNX_ROWS_H
#define FRONTEND_EXCHANGE_TRANSLATE_ONNX_ROWS_H

#include "frontend/exchange/translate/row_attrs.h"

/* Rows leave out the columns at their end that they do not use. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

extern const struct translation_row onnx_control[], onnx_elementwise[], onnx_index[], onnx_matrix[],
    onnx_norm[], onnx_reduce[], onnx_shape[];

/* The dtype of ONNX's number for it; the node is refused where skir has none. */
bool onnx_dtype(struct translation *t, int64_t number, enum dtype *dtype);

/* A list of one number. */
struct tr_ints onnx_one(struct translation *t, int64_t number);
/* What an operand says, or where it is absent, an attribute, which may be NULL: none where neither
 * is there. False where the contents of the operand are not known. */
bool onnx_operand_ints(struct translation *t, uint32_t operand, const char *attr,
                       struct tr_ints *ints);
/* With dimensions 1 in these places of the result. */
uint32_t onnx_unsqueeze(struct translation *t, uint32_t x, struct tr_ints axes);
/* As a matrix: the dimensions before `axis`, which may be the rank, and those from there on. */
int64_t onnx_split_axis(struct translation *t, int64_t axis, uint32_t rank);
uint32_t onnx_flatten(struct translation *t, uint32_t x, int64_t axis, uint32_t rank);

#endif
