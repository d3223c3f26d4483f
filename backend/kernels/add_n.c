/* AddN: y = the sum of all tensors of a list, in their order. f16 and bf16 are summed in f32 and
 * rounded once; integers wrap. */
#include "backend/kernels/kernel.h"

enum { ADD_N_X, ADD_N_Y, ADD_N_TENSORS };

#define ADD_N(as, type)                                                                            \
    static void add_n_##as(const struct kernel *kernel, int64_t at, int64_t n)                     \
    {                                                                                              \
        const struct skrt_tensor *x = &kernel->tensors[ADD_N_X];                                   \
        uint32_t dtype = kernel->tensors[ADD_N_Y].dtype;                                           \
        type sum[KERNEL_CHUNK], term[KERNEL_CHUNK];                                                \
        kernel_load_##as(sum, kernel_listed(kernel, ADD_N_X, 0), dtype, at, n);                    \
        for (uint32_t t = 1; t < x->count; t++) {                                                  \
            kernel_load_##as(term, kernel_listed(kernel, ADD_N_X, t), dtype, at, n);               \
            for (int64_t i = 0; i < n; i++)                                                        \
                sum[i] += term[i];                                                                 \
        }                                                                                          \
        kernel_store_##as(kernel_slot(kernel, ADD_N_Y), dtype, at, sum, n);                        \
    }
KERNEL_FLOATS(ADD_N)
ADD_N(u64, uint64_t)

skrt_kernel_fn add_n;

void add_n(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    if (!kernel_open(&kernel, core, args_offset, ADD_N_TENSORS, false))
        return;
    const struct skrt_tensor *y = &kernel.tensors[ADD_N_Y];
    struct kernel_range range = kernel_block_range(core, kernel_elements(y));
    for (int64_t at = range.begin, n; at < range.end; at += n) {
        n = kernel_min(KERNEL_CHUNK, range.end - at);
        if (kernel_is_float(y->dtype))
            add_n_f32(&kernel, at, n);
        else if (y->dtype == SKRT_f64)
            add_n_f64(&kernel, at, n);
        else
            add_n_u64(&kernel, at, n);
    }
}
