/* TopK and TopKV2: the k largest elements along `dim` (or smallest), largest first, and where they
 * are. k is read at run time, and must be the length of the results. Of equal elements the first
 * comes first; NaN is larger than all. They are sorted whatever `sorted` says. */
#include "backend/kernels/axes.h"

enum { X, K, VALUES, INDICES, TENSORS };

struct top_k {
    struct kernel kernel;
    struct axes x, y;
    bool largest;
};

static bool top_k_open(struct top_k *op, const skrt_core *core, uint64_t args_offset)
{
    uint32_t set = 0;
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) ||
        !axes_choose_attr(&set, kernel, &kernel->tensors[X], "dim", -1))
        return false;
    int64_t k;
    kernel_load_i64(&k, kernel_slot(kernel, K), kernel->tensors[K].dtype, 0, 1);
    axes_open(&op->x, &kernel->tensors[X], set);
    axes_open(&op->y, &kernel->tensors[VALUES], set);
    op->largest = kernel_flag(kernel, "largest", true);
    return op->y.length == k;
}

/* For each class: whether `a` comes before `b`; and the item that follows
 * `last`, the first of all where that has no place. */
#define TOP_K(as, type)                                                                            \
    struct top_k_##as {                                                                            \
        type x;                                                                                    \
        int64_t place;                                                                             \
    };                                                                                             \
    static bool top_k_before_##as(bool largest, struct top_k_##as a, struct top_k_##as b)          \
    {                                                                                              \
        bool a_nan = a.x != a.x, b_nan = b.x != b.x;                                               \
        if (a_nan != b_nan)                                                                        \
            return a_nan == largest;                                                               \
        if (!a_nan && a.x != b.x)                                                                  \
            return (a.x > b.x) == largest;                                                         \
        return a.place < b.place;                                                                  \
    }                                                                                              \
    static struct top_k_##as top_k_next_##as(const struct top_k *op, int64_t line,                 \
                                             struct top_k_##as last)                               \
    {                                                                                              \
        struct top_k_##as best = {.place = -1};                                                    \
        type x[KERNEL_CHUNK];                                                                      \
        for (int64_t at = 0; at < op->x.length; at += KERNEL_CHUNK) {                              \
            int64_t n = kernel_min(KERNEL_CHUNK, op->x.length - at);                               \
            axes_load_##as(&op->x, x, kernel_slot(&op->kernel, X), op->kernel.tensors[X].dtype,    \
                           line, at, n);                                                           \
            for (int64_t i = 0; i < n; i++) {                                                      \
                struct top_k_##as item = {x[i], at + i};                                           \
                if ((last.place < 0 || top_k_before_##as(op->largest, last, item)) &&              \
                    (best.place < 0 || top_k_before_##as(op->largest, item, best)))                \
                    best = item;                                                                   \
            }                                                                                      \
        }                                                                                          \
        return best;                                                                               \
    }                                                                                              \
    /* Looks through the line once for each result: a core has no room for k of them. */           \
    static void top_k_line_##as(const struct top_k *op, int64_t line, int64_t y_line)              \
    {                                                                                              \
        struct top_k_##as last = {.place = -1};                                                    \
        for (int64_t k = 0; k < op->y.length; k++) {                                               \
            last = top_k_next_##as(op, line, last);                                                \
            axes_store_##as(&op->y, &last.x, kernel_slot(&op->kernel, VALUES),                     \
                            op->kernel.tensors[X].dtype, y_line, k, 1);                            \
            axes_store_i64(&op->y, &last.place, kernel_slot(&op->kernel, INDICES),                 \
                           op->kernel.tensors[INDICES].dtype, y_line, k, 1);                       \
        }                                                                                          \
    }
KERNEL_CLASSES(TOP_K)
#undef TOP_K
#define TOP_K_OF(as) top_k_line_##as

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct top_k op;
    if (!top_k_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.x.lines);
    for (int64_t n = range.begin; n < range.end; n++)
        KERNEL_OF(op.kernel.tensors[X].dtype, TOP_K_OF)
    (&op, axes_line(&op.x, n), axes_line(&op.y, n));
}
