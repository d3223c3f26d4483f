/* Numbers that say what an op does: those of an operand of i32 or i64, which is read when the op
 * runs, or those of an attribute. */
#ifndef BACKEND_KERNELS_INTS_H
#define BACKEND_KERNELS_INTS_H

#include "backend/kernels/kernel.h"

enum { INTS_MOST = 2 * SKRT_MAX_RANK };

struct ints {
    uint32_t count;
    int64_t at[INTS_MOST];
};

/* The elements of operand `slot`; false if there are too many, or these are no integers. */
static inline bool ints_of_operand(struct ints *ints, const struct kernel *kernel, unsigned slot)
{
    const struct skrt_tensor *tensor = &kernel->tensors[slot];
    if (tensor->form != SKRT_TENSOR || (tensor->dtype != SKRT_i32 && tensor->dtype != SKRT_i64) ||
        kernel_elements(tensor) > INTS_MOST)
        return false;
    ints->count = (uint32_t)kernel_elements(tensor);
    kernel_load_i64(ints->at, kernel_slot(kernel, slot), tensor->dtype, 0, ints->count);
    return true;
}

/* Those of an attribute, which may be one number; none where it is absent. */
static inline bool ints_of_attr(struct ints *ints, const struct kernel *kernel, const char *key)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    bool one = attr != NULL && attr->ints == NULL;
    ints->count = attr == NULL ? 0 : one ? 1 : (uint32_t)attr->count;
    if (attr != NULL && !one && attr->count > INTS_MOST)
        return false;
    for (uint32_t i = 0; i < ints->count; i++)
        ints->at[i] = one ? attr->i : attr->ints[i];
    return true;
}

/* Those of operand `slot`, or of an attribute where `slot` is 0, as no operand that says numbers
 * is. */
static inline bool ints_of(struct ints *ints, const struct kernel *kernel, unsigned slot,
                           const char *key)
{
    return slot ? ints_of_operand(ints, kernel, slot) : ints_of_attr(ints, kernel, key);
}

/* Opens a kernel whose result is tensor `y`, and which has at most one operand besides x, before
 * it: that, or an attribute, says the numbers. */
static inline bool ints_open(struct ints *ints, struct kernel *kernel, const skrt_core *core,
                             uint64_t args_offset, unsigned y, const char *key)
{
    return kernel_open(kernel, core, args_offset, y + 1, false) &&
           ints_of(ints, kernel, y - 1, key);
}

/* Whether they are the dimensions of a tensor; -1 is any. */
static inline bool ints_are_dims(const struct ints *ints, const struct skrt_tensor *tensor)
{
    bool same = ints->count == tensor->rank;
    for (uint32_t i = 0; same && i < ints->count; i++)
        same = ints->at[i] == -1 || ints->at[i] == tensor->dims[i];
    return same;
}

/* The one axis that an operand or an attribute says, as ints_of does; the first where it is
 * absent. */
static inline bool ints_axis_of(const struct kernel *kernel, unsigned slot, const char *key,
                                uint32_t rank, uint32_t *found)
{
    struct ints axis;
    return ints_of(&axis, kernel, slot, key) && axis.count <= 1 &&
           kernel_axis(axis.count == 0 ? 0 : axis.at[0], rank, found);
}

#endif
