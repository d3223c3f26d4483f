#include "frontend/exchange/translate/onnx_rows.h"

static const struct translation_row *const families[] = {onnx_elementwise, onnx_control, NULL};

extern const struct translation_table onnx_table;
const struct translation_table onnx_table = {"onnx", "ONNX", 23, families, NULL};
