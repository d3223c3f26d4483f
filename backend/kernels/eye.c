/* y = 1 on the diagonal of each matrix, else 0. */
#include "backend/kernels/kernel.h"

/* What 1 is in 8 bytes or fewer. */
static void eye_one(char *one, uint32_t dtype)
{
    float f32 = 1;
    double f64 = 1;
    int64_t i64 = 1;
    kernel_store_f32(one, dtype, 0, &f32, 1);
    kernel_store_f64(one, dtype, 0, &f64, 1);
    kernel_store_i64(one, dtype, 0, &i64, 1);
}

skrt_kernel_fn eye;

void eye(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, 1, false))
        return;
    const struct skrt_tensor *y = &kernel.tensors[0];
    int64_t size = kernel_dtype_size(y->dtype), rows = kernel_int(&kernel, "num_rows", 0);
    int64_t columns = kernel_int(&kernel, "num_columns", 0);
    char one[8];
    columns = columns == 0 ? rows : columns;
    eye_one(one, y->dtype);
    struct kernel_range left = kernel_block_range(core, kernel_elements(y));
    for (struct kernel_row row; kernel_next_row(&left, columns, &row);) {
        char *to = (char *)kernel_slot(&kernel, 0) + row.n * columns * size;
        int64_t at = row.n % rows;
        memset(to + row.begin * size, 0, (size_t)((row.end - row.begin) * size));
        if (at >= row.begin && at < row.end)
            memcpy(to + at * size, one, (size_t)size);
    }
}
