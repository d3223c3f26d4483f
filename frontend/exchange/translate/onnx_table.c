#include "frontend/exchange/translate/onnx_rows.h"

static const struct translation_row *const families[] = {
    onnx_control, onnx_elementwise, onnx_index, onnx_matrix,
    onnx_norm,    onnx_reduce,      onnx_shape, NULL};

extern const struct translation_table onnx_table;
const struct translation_table onnx_table = {"onnx", "opsets", 23, families, NULL};
