#include "ir/foreign_dtypes.h"

static const struct {
    enum dtype dtype;
    int number;
} rows[] = {
#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number) {DTYPE_##dtype, number},
#include "ir/foreign_dtypes.def"
#undef DUMP_DTYPE
};

#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number)                                  \
    _Static_assert((number) < GE_DTYPES_END, "as the header says");
#include "ir/foreign_dtypes.def"
#undef DUMP_DTYPE

bool ge_dtype_find(int64_t number, enum dtype *dtype)
{
    for (unsigned i = 0; number >= 0 && i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number) {
            *dtype = rows[i].dtype;
            return true;
        }
    return false;
}
