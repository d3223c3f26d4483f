/* y = a tensor in which updates take the places that indices name, or are joined with what is
 * there: an element each along an axis (ScatterElements), or slices by rows of indices; in an
 * operand's memory (ScatterNdUpdate, ScatterNdAdd), or beginning with zeros (ScatterNd). Updates of
 * one place are joined in their order; those of places that there are not, do nothing.
 *
 * Each block goes over all indices, and changes its own part of y. */
#include "backend/kernels/indexing.h"
#include "backend/kernels/ints.h"

enum scatter_join { JOIN_SET, JOIN_ADD, JOIN_SUB, JOIN_MUL, JOIN_MAX, JOIN_MIN };

/* Slots of operands, of which `data` is 3, the result's, if there are none; whether indices are in
 * rows; and what is done. */
#define SCATTER(name, data, indices, updates, rows, how)                                           \
    enum {                                                                                         \
        name##_data = data,                                                                        \
        name##_indices = indices,                                                                  \
        name##_updates = updates,                                                                  \
        name##_rows = rows,                                                                        \
        name##_join = how                                                                          \
    };
SCATTER(scatter_elements, 0, 1, 2, 0, JOIN_SET)
SCATTER(scatter_nd, 3, 0, 1, 1, JOIN_ADD)
SCATTER(tensor_scatter_update, 0, 1, 2, 1, JOIN_SET)
SCATTER(tensor_scatter_add, 0, 1, 2, 1, JOIN_ADD)
SCATTER(tensor_scatter_sub, 0, 1, 2, 1, JOIN_SUB)
SCATTER(tensor_scatter_max, 0, 1, 2, 1, JOIN_MAX)
SCATTER(tensor_scatter_min, 0, 1, 2, 1, JOIN_MIN)
SCATTER(scatter_nd_update, 0, 1, 2, 1, JOIN_SET)
SCATTER(scatter_nd_add, 0, 1, 2, 1, JOIN_ADD)
enum {
    DATA = SAMPLE_OWN(_data),
    INDICES = SAMPLE_OWN(_indices),
    UPDATES = SAMPLE_OWN(_updates),
    BY_ROWS = SAMPLE_OWN(_rows),
    Y = 3,
    TENSORS
};

struct scatter {
    struct kernel kernel;
    struct indexing indexing;
    enum scatter_join join;
    struct kernel_range part; /* of y */
};

static bool scatter_open(struct scatter *op, const skrt_core *core, uint64_t args_offset)
{
    struct ints shape;
    const struct kernel *kernel = &op->kernel;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const char *reduction = kernel_text(kernel, "reduction", "none");
    op->join = (enum scatter_join)SAMPLE_OWN(_join);
    if (strcmp(reduction, "none") != 0)
        op->join = strcmp(reduction, "add") == 0 ? JOIN_ADD : JOIN_MUL;
    const struct skrt_tensor *y = &kernel->tensors[Y];
    int64_t axis = BY_ROWS ? INDEXING_ROWS : kernel_int(kernel, "axis", 0);
    op->part = kernel_block_range(core, kernel_elements(y));
    if (DATA == Y && (!ints_of_operand(&shape, kernel, 2) || !ints_are_dims(&shape, y)))
        return false;
    indexing_open(&op->indexing, kernel, INDICES, y, axis, true);
    return true;
}

/* y = y joined with `n` updates, in the types that wrap. */
#define SCATTER_JOIN(as, type, wrapping)                                                           \
    static void scatter_join_##as(const struct scatter *op, int64_t at, int64_t from, int64_t n)   \
    {                                                                                              \
        uint32_t dtype = op->kernel.tensors[Y].dtype;                                              \
        for (int64_t done = 0; done < n; done++) {                                                 \
            type a, b;                                                                             \
            kernel_load_##as(&a, kernel_slot(&op->kernel, Y), dtype, at + done, 1);                \
            kernel_load_##as(&b, kernel_slot(&op->kernel, UPDATES), dtype, from + done, 1);        \
            switch (op->join) {                                                                    \
            case JOIN_ADD: a = (type)((wrapping)a + (wrapping)b); break;                           \
            case JOIN_SUB: a = (type)((wrapping)a - (wrapping)b); break;                           \
            case JOIN_MUL: a = (type)((wrapping)a * (wrapping)b); break;                           \
            case JOIN_MAX: a = a > b || a != a ? a : b; break;                                     \
            case JOIN_MIN: a = a < b || a != a ? a : b; break;                                     \
            case JOIN_SET: break;                                                                  \
            }                                                                                      \
            kernel_store_##as(kernel_slot(&op->kernel, Y), dtype, at + done, &a, 1);               \
        }                                                                                          \
    }
SCATTER_JOIN(f32, float, float)
SCATTER_JOIN(f64, double, double)
SCATTER_JOIN(i64, int64_t, uint64_t)
SCATTER_JOIN(u64, uint64_t, uint64_t)
#define SCATTER_JOIN_OF(as) scatter_join_##as

/* The data, or zeros, where they are not in y already. */
static void scatter_begin(const struct scatter *op, int64_t size)
{
    char *y = (char *)kernel_slot(&op->kernel, Y) + op->part.begin * size;
    size_t bytes = (size_t)((op->part.end - op->part.begin) * size);
    if (DATA == Y)
        memset(y, 0, bytes);
    else if (kernel_slot(&op->kernel, DATA) != kernel_slot(&op->kernel, Y))
        memcpy(y, (const char *)kernel_slot(&op->kernel, DATA) + op->part.begin * size, bytes);
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct scatter op;
    if (!scatter_open(&op, core, args_offset) || op.part.begin == op.part.end)
        return;
    uint32_t dtype = op.kernel.tensors[Y].dtype;
    int64_t size = kernel_dtype_size(dtype), length = op.indexing.length;
    scatter_begin(&op, size);
    for (int64_t i = 0; i < op.indexing.count; i++) {
        int64_t first = indexing_offset(&op.indexing, i);
        int64_t begin = first > op.part.begin ? first : op.part.begin;
        int64_t end = kernel_min(first + length, op.part.end);
        int64_t from = i * length + begin - first;
        if (first < 0 || begin >= end)
            continue;
        if (op.join == JOIN_SET)
            memcpy((char *)kernel_slot(&op.kernel, Y) + begin * size,
                   (const char *)kernel_slot(&op.kernel, UPDATES) + from * size,
                   (size_t)((end - begin) * size));
        else
            KERNEL_OF(dtype, SCATTER_JOIN_OF)(&op, begin, from, end - begin);
    }
}
