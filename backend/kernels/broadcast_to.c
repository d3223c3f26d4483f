/* y = x, broadcast as NumPy does to a shape: an operand (BroadcastTo), or an attribute
 * (BroadcastToD); or to what it and that shape are broadcast to (Expand). */
#include "backend/kernels/elementwise.h"
#include "backend/kernels/ints.h"
#include "backend/kernels/strided.h"

enum { broadcast_to_operands = 2, broadcast_to_d_operands = 1, expand_operands = 2 };
enum { broadcast_to_both = 0, broadcast_to_d_both = 0, expand_both = 1 };

/* Whether y is what x, which is broadcast to it, and the shape make together. */
static bool expand_fits(const struct ints *shape, const struct skrt_tensor *x,
                        const struct skrt_tensor *y)
{
    bool fits = y->rank == (shape->count > x->rank ? shape->count : x->rank);
    for (uint32_t back = 1; fits && back <= y->rank; back++) {
        int64_t dim = back <= x->rank ? x->dims[x->rank - back] : 1;
        int64_t other = back <= shape->count ? shape->at[shape->count - back] : 1;
        fits = y->dims[y->rank - back] == (dim == 1 ? other : dim) &&
               (other == dim || other == 1 || dim == 1);
    }
    return fits;
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct strided strided = {.offset = 0};
    struct ints shape;
    int64_t strides[SKRT_MAX_RANK];
    uint32_t y = SAMPLE_OWN(_operands);
    if (!ints_open(&shape, &kernel, core, args_offset, y, "shape"))
        return;
    const struct skrt_tensor *to = &kernel.tensors[y];
    bool fits =
        SAMPLE_OWN(_both) ? expand_fits(&shape, &kernel.tensors[0], to) : ints_are_dims(&shape, to);
    if (!fits || !elementwise_strides(&kernel.tensors[0], to, strides))
        return;
    for (uint32_t i = 0; i < to->rank; i++)
        space_add(&strided.axes, to->dims[i], strides[i]);
    strided_copy(&kernel, core, 0, y, &strided);
}
