/* Axes of elements in memory: positions in row-major order, and where each stands. */
#ifndef BACKEND_KERNELS_SPACE_H
#define BACKEND_KERNELS_SPACE_H

#include "backend/kernels/kernel.h"

/* Axes of a space at most. A kernel may have defined that it needs more than a tensor has. */
#ifndef SPACE_MOST
#define SPACE_MOST SKRT_MAX_RANK
#endif

/* Outermost first, without those of length 1, and with neighbours merged; strides in elements. */
struct space {
    uint32_t rank;
    int64_t dims[SPACE_MOST], strides[SPACE_MOST];
};

/* Puts one more axis inside; there are at most SPACE_MOST. */
static inline void space_add(struct space *space, int64_t dim, int64_t stride)
{
    uint32_t last = space->rank - 1;
    if (dim == 1)
        return;
    if (space->rank > 0 && space->strides[last] == stride * dim)
        space->dims[last] *= dim;
    else
        space->dims[last = space->rank++] = dim;
    space->strides[last] = stride;
}

/* How far apart neighbours along the innermost axis are. */
static inline int64_t space_step(const struct space *space)
{
    return space->rank == 0 ? 1 : space->strides[space->rank - 1];
}

/* The offset of a position; `*run` is how many positions from there on lie in one step of the
 * innermost axis each. */
static inline int64_t space_offset(const struct space *space, int64_t position, int64_t *run)
{
    int64_t offset = 0;
    *run = space->rank == 0
               ? 1
               : space->dims[space->rank - 1] - position % space->dims[space->rank - 1];
    for (uint32_t axis = space->rank; axis-- > 0;) {
        offset += position % space->dims[axis] * space->strides[axis];
        position /= space->dims[axis];
    }
    return offset;
}

#endif
