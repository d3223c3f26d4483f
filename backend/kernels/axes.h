/* A tensor as lines along some of its axes: all elements that agree in the other ones, in row-major
 * order. Lines are numbered in the row-major order of these others. */
#ifndef BACKEND_KERNELS_AXES_H
#define BACKEND_KERNELS_AXES_H

#include "backend/kernels/space.h"

struct axes {
    struct space along, across;
    int64_t length, lines; /* elements of a line, and how many there are */
};

/* Lines along the axes whose bits are set. */
static inline void axes_open(struct axes *axes, const struct skrt_tensor *tensor, uint32_t set)
{
    memset(axes, 0, sizeof *axes);
    axes->length = axes->lines = 1;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        bool along = set >> axis & 1;
        space_add(along ? &axes->along : &axes->across, tensor->dims[axis],
                  kernel_product(tensor, axis + 1, tensor->rank));
        *(along ? &axes->length : &axes->lines) *= tensor->dims[axis];
    }
}

/* Adds the axis, which may count from the end, to a set; false if the tensor has none such. */
static inline bool axes_choose(uint32_t *set, const struct skrt_tensor *tensor, int64_t axis)
{
    uint32_t found;
    bool ok = kernel_axis(axis, tensor->rank, &found);
    *set |= ok ? UINT32_C(1) << found : 0;
    return ok;
}

/* The same for an attribute, which is an axis or a list of axes; `otherwise` where it is absent. */
static inline bool axes_choose_attr(uint32_t *set, const struct kernel *kernel,
                                    const struct skrt_tensor *tensor, const char *key,
                                    int64_t otherwise)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    if (attr == NULL || attr->ints == NULL)
        return axes_choose(set, tensor, attr != NULL ? attr->i : otherwise);
    for (uint64_t i = 0; i < attr->count; i++)
        if (!axes_choose(set, tensor, attr->ints[i]))
            return false;
    return true;
}

/* The same for the elements of a tensor of i32 or i64. */
static inline bool axes_choose_tensor(uint32_t *set, const struct kernel *kernel,
                                      const struct skrt_tensor *tensor, unsigned slot)
{
    const struct skrt_tensor *listed = &kernel->tensors[slot];
    if (listed->form != SKRT_TENSOR || (listed->dtype != SKRT_i32 && listed->dtype != SKRT_i64))
        return false;
    for (int64_t i = 0; i < kernel_elements(listed); i++) {
        int64_t axis;
        kernel_load_i64(&axis, kernel_slot(kernel, slot), listed->dtype, i, 1);
        if (!axes_choose(set, tensor, axis))
            return false;
    }
    return true;
}

/* The same for the one axis of an op: the element of operand 1, or an attribute that is there. */
static inline bool axes_choose_one(uint32_t *set, const struct kernel *kernel,
                                   const struct skrt_tensor *tensor, bool operand, const char *key)
{
    return operand ? kernel_elements(&kernel->tensors[1]) == 1 &&
                         axes_choose_tensor(set, kernel, tensor, 1)
                   : axes_choose_attr(set, kernel, tensor, key, INT64_MAX);
}

/* Where a line begins. */
static inline int64_t axes_line(const struct axes *axes, int64_t line)
{
    int64_t run;
    return space_offset(&axes->across, line, &run);
}

/* axes_load_CLASS and axes_store_CLASS move elements `at` up to `at + n` of the line that begins at
 * `line`. */
#define AXES_MOVE(name, type, data_type, move)                                                     \
    SAMPLE_SOME __attribute__((noinline)) void axes_##name(const struct axes *axes, type *values,  \
                                                           data_type *data, uint32_t dtype,        \
                                                           int64_t line, int64_t at, int64_t n)    \
    {                                                                                              \
        int64_t step = space_step(&axes->along);                                                   \
        for (int64_t done = 0, run; done < n; done += run) {                                       \
            int64_t offset = line + space_offset(&axes->along, at + done, &run);                   \
            run = kernel_min(run, n - done);                                                       \
            for (int64_t i = 0; step != 1 && i < run; i++)                                         \
                move(data, dtype, offset + i * step, values + done + i, 1);                        \
            if (step == 1)                                                                         \
                move(data, dtype, offset, values + done, run);                                     \
        }                                                                                          \
    }
#define AXES_MOVES(as, type)                                                                       \
    SAMPLE_SOME void axes_fetch_##as(const void *data, uint32_t dtype, int64_t offset,             \
                                     type *values, int64_t n)                                      \
    {                                                                                              \
        kernel_load_##as(values, data, dtype, offset, n);                                          \
    }                                                                                              \
    AXES_MOVE(load_##as, type, const void, axes_fetch_##as)                                        \
    AXES_MOVE(store_##as, const type, void, kernel_store_##as)
KERNEL_CLASSES(AXES_MOVES)
#undef AXES_MOVE
#undef AXES_MOVES

#endif
