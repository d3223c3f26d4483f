/* y = every so many elements of x between begin and end, with TensorFlow's masks: operands
 * (StridedSlice), or attributes (StridedSliceD); or along axes that an operand names
 * (StridedSliceV3). */
#include "backend/kernels/ints.h"
#include "backend/kernels/strided.h"

enum { strided_slice_operands = 4, strided_slice_d_operands = 1, strided_slice_v3_operands = 5 };
enum { strided_slice_axes = 0, strided_slice_d_axes = 0, strided_slice_v3_axes = 3 };

/* What the op says, and the axes of y so far. */
struct cut {
    const struct kernel *kernel;
    struct ints begin, end, strides;
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
    struct strided strided;
    struct skrt_tensor found; /* the shape */
};

static bool has(int64_t mask, uint32_t i)
{
    return i < 63 && (mask >> i & 1) != 0;
}

/* Puts what is said of the axes of operand `slot` into lists of all axes, of which the others are
 * whole. */
static bool cut_by_axes(struct cut *cut, const struct kernel *kernel, unsigned slot)
{
    struct cut said = *cut;
    struct ints axes = {.count = 0};
    uint32_t rank = kernel->tensors[0].rank, axis;
    bool there = kernel->tensors[slot].form == SKRT_TENSOR;
    if (there && !ints_of_operand(&axes, kernel, slot))
        return false;
    cut->begin.count = cut->end.count = cut->strides.count = rank;
    cut->begin_mask = cut->end_mask = (INT64_C(1) << rank) - 1;
    for (uint32_t i = 0; i < rank; i++)
        cut->begin.at[i] = cut->end.at[i] = 0, cut->strides.at[i] = 1;
    for (uint32_t i = 0; i < said.begin.count; i++) {
        if ((there && axes.count != said.begin.count) ||
            !kernel_axis(there ? axes.at[i] : i, rank, &axis) || !has(cut->begin_mask, axis))
            return false;
        cut->begin.at[axis] = said.begin.at[i];
        cut->end.at[axis] = said.end.at[i];
        cut->strides.at[axis] = said.strides.at[i];
        cut->begin_mask &= ~(INT64_C(1) << axis);
        cut->end_mask = cut->begin_mask;
    }
    return true;
}

static bool cut_open(struct cut *cut, const struct kernel *kernel, uint32_t y)
{
    bool operands = y > 1;
    cut->kernel = kernel;
    bool absent = operands && kernel->tensors[y - 1].form == SKRT_ABSENT;
    if (!ints_of(&cut->begin, kernel, operands ? 1 : 0, "begin") ||
        !ints_of(&cut->end, kernel, operands ? 2 : 0, "end") ||
        !ints_of(&cut->strides, kernel, operands && !absent ? y - 1 : 0, "strides"))
        return false;
    for (; cut->strides.count < cut->begin.count; cut->strides.count++)
        cut->strides.at[cut->strides.count] = 1;
    cut->begin_mask = kernel_int(kernel, "begin_mask", 0);
    cut->end_mask = kernel_int(kernel, "end_mask", 0);
    cut->ellipsis_mask = kernel_int(kernel, "ellipsis_mask", 0);
    cut->new_axis_mask = kernel_int(kernel, "new_axis_mask", 0);
    cut->shrink_axis_mask = kernel_int(kernel, "shrink_axis_mask", 0);
    return cut->begin.count == cut->end.count && cut->begin.count == cut->strides.count &&
           cut->begin.count <= SKRT_MAX_RANK &&
           (SAMPLE_OWN(_axes) == 0 || cut_by_axes(cut, kernel, SAMPLE_OWN(_axes)));
}

static bool add_axis(struct cut *cut, int64_t dim, int64_t stride)
{
    if (cut->found.rank >= SKRT_MAX_RANK)
        return false;
    cut->found.dims[cut->found.rank++] = dim;
    space_add(&cut->strided.axes, dim, stride);
    return true;
}

/* A bound of an axis: counted from the end if it is negative, and held within the axis. */
static int64_t bound(int64_t value, int64_t dim, int64_t step)
{
    value += value < 0 ? dim : 0;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? dim - 1 : dim;
    return value < low ? low : value > high ? high : value;
}

/* Entry `i` of the lists is about this axis of x. */
static bool cut_axis(struct cut *cut, uint32_t i, uint32_t axis)
{
    const struct skrt_tensor *x = &cut->kernel->tensors[0];
    int64_t dim = x->dims[axis], step = cut->strides.at[i];
    int64_t apart = kernel_product(x, axis + 1, x->rank);
    if (step == 0 || step == INT64_MIN)
        return false;
    if (has(cut->shrink_axis_mask, i)) {
        int64_t at = cut->begin.at[i] + (cut->begin.at[i] < 0 ? dim : 0);
        cut->strided.offset += at * apart;
        return at >= 0 && at < dim;
    }
    int64_t first =
        has(cut->begin_mask, i) ? (step < 0 ? dim - 1 : 0) : bound(cut->begin.at[i], dim, step);
    int64_t last = has(cut->end_mask, i) ? (step < 0 ? -1 : dim) : bound(cut->end.at[i], dim, step);
    int64_t length = step < 0 ? first - last : last - first, by = step < 0 ? -step : step;
    int64_t count = length <= 0 ? 0 : (length - 1) / by + 1;
    cut->strided.offset += count ? first * apart : 0;
    return add_axis(cut, count, count > 1 ? step * apart : apart);
}

/* All axes; those behind the lists, and where the ellipsis is, are whole. */
static bool cut_all(struct cut *cut)
{
    const struct skrt_tensor *x = &cut->kernel->tensors[0];
    uint32_t axis = 0, named = 0;
    for (uint32_t i = 0; i < cut->begin.count; i++)
        named += !has(cut->new_axis_mask, i) && !has(cut->ellipsis_mask, i);
    if (named > x->rank)
        return false;
    uint32_t whole = x->rank - named;
    for (uint32_t i = 0; i <= cut->begin.count; i++) {
        bool last = i == cut->begin.count;
        for (; (last || has(cut->ellipsis_mask, i)) && whole > 0; whole--, axis++)
            if (!add_axis(cut, x->dims[axis], kernel_product(x, axis + 1, x->rank)))
                return false;
        if (last || has(cut->ellipsis_mask, i))
            continue;
        if (has(cut->new_axis_mask, i) ? !add_axis(cut, 1, 0) : !cut_axis(cut, i, axis++))
            return false;
    }
    return true;
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct cut cut = {.kernel = NULL};
    uint32_t y = SAMPLE_OWN(_operands);
    if (kernel_open(&kernel, core, args_offset, y + 1, false) && cut_open(&cut, &kernel, y) &&
        cut_all(&cut) && kernel_same_dims(&cut.found, &kernel.tensors[y]))
        strided_copy(&kernel, core, 0, y, &cut.strided);
}
