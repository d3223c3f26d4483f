/* The rows of ONNX by family, and what they share. */
#ifndef FRONTEND_EXCHANGE_TRANSLATE_ONNX_ROWS_H
#define FRONTEND_EXCHANGE_TRANSLATE_ONNX_ROWS_H

#include "frontend/exchange/translate/row_attrs.h"

extern const struct translation_row onnx_elementwise[], onnx_control[];

/* The dtype of ONNX's number for it; the node is refused where skir has none. */
bool onnx_dtype(struct translation *t, int64_t number, enum dtype *dtype);

#endif
