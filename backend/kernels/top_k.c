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
    uint32_t set = 0, y_set = 0;
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) ||
        kernel_elements(&kernel->tensors[K]) != 1)
        return false;
    const struct skrt_tensor *values = &kernel->tensors[VALUES];
    if (!axes_choose_attr(&set, kernel, &kernel->tensors[X], "dim", -1) ||
        !axes_choose_attr(&y_set, kernel, values, "dim", -1) || set != y_set)
        return false;
    int64_t k;
    kernel_load_i64(&k, kernel_slot(kernel, K), kernel->tensors[K].dtype, 0, 1);
    axes_open(&op->x, &kernel->tensors[X], set);
    axes_open(&op->y, values, set);
    op->largest = kernel_flag(kernel, "largest", true);
    return op->y.length == k && k <= op->x.length && op->x.lines == op->y.lines &&
           kernel_same_dims(values, &kernel->tensors[INDICES]) &&
           values->dtype == kernel->tensors[X].dtype;
}

/* What is compared: a float or an integer, and where it stands. */
struct top_k_item {
    float f;
    int64_t i, place;
};

/* Elements of a line, of one kind; the others are 0. */
struct top_k_chunk {
    float f[KERNEL_CHUNK];
    int64_t i[KERNEL_CHUNK];
};

static void top_k_load(const struct top_k *op, struct top_k_chunk *chunk, int64_t line, int64_t at,
                       int64_t n)
{
    uint32_t dtype = op->kernel.tensors[X].dtype;
    if (kernel_is_float(dtype))
        axes_load_f32(&op->x, chunk->f, kernel_slot(&op->kernel, X), dtype, line, at, n);
    else
        axes_load_i64(&op->x, chunk->i, kernel_slot(&op->kernel, X), dtype, line, at, n);
}

/* Whether `a` stands before `b`. */
static bool top_k_before(const struct top_k *op, struct top_k_item a, struct top_k_item b)
{
    bool a_nan = a.f != a.f, b_nan = b.f != b.f;
    if (a_nan != b_nan)
        return a_nan == op->largest;
    if (!a_nan && a.f != b.f)
        return (a.f > b.f) == op->largest;
    if (a.i != b.i)
        return (a.i > b.i) == op->largest;
    return a.place < b.place;
}

static void top_k_store(const struct top_k *op, int64_t line, int64_t at, struct top_k_item item)
{
    uint32_t dtype = op->kernel.tensors[X].dtype;
    void *values = kernel_slot(&op->kernel, VALUES), *indices = kernel_slot(&op->kernel, INDICES);
    if (kernel_is_float(dtype))
        axes_store_f32(&op->y, &item.f, values, dtype, line, at, 1);
    else
        axes_store_i64(&op->y, &item.i, values, dtype, line, at, 1);
    axes_store_i64(&op->y, &item.place, indices, op->kernel.tensors[INDICES].dtype, line, at, 1);
}

/* The item that stands behind `last`, the first of all where `last` has no place. */
static struct top_k_item top_k_next(const struct top_k *op, int64_t line, struct top_k_item last)
{
    struct top_k_item best = {.place = -1};
    struct top_k_chunk chunk = {{0}, {0}};
    for (int64_t at = 0; at < op->x.length; at += KERNEL_CHUNK) {
        int64_t n = kernel_min(KERNEL_CHUNK, op->x.length - at);
        top_k_load(op, &chunk, line, at, n);
        for (int64_t i = 0; i < n; i++) {
            struct top_k_item item = {chunk.f[i], chunk.i[i], at + i};
            if ((last.place < 0 || top_k_before(op, last, item)) &&
                (best.place < 0 || top_k_before(op, item, best)))
                best = item;
        }
    }
    return best;
}

/* Looks through the line once for each result: a core has no room for k of them. */
static void top_k_line(const struct top_k *op, int64_t line, int64_t y_line)
{
    struct top_k_item last = {.place = -1};
    for (int64_t k = 0; k < op->y.length; k++) {
        last = top_k_next(op, line, last);
        top_k_store(op, y_line, k, last);
    }
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct top_k op;
    if (!top_k_open(&op, core, args_offset))
        return;
    struct kernel_range range = kernel_block_range(core, op.x.lines);
    for (int64_t n = range.begin; n < range.end; n++)
        top_k_line(&op, axes_line(&op.x, n), axes_line(&op.y, n));
}
