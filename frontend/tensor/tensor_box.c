#include "frontend/tensor/tensor.h"

#include <string.h>

/* Copies of the tensors from a dimension on, which begin at these bytes. */
struct box {
    const struct tensor *to, *from;
    size_t item;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bytes of one step in a dimension. */
static size_t step_of(const struct tensor *tensor, uint32_t dim, size_t item)
{
    for (uint32_t i = dim + 1; i < tensor->rank; i++)
        item *= (size_t)tensor->dims[i];
    return item;
}

static void copy_from(const struct box *box, uint32_t dim, unsigned char *to,
                      const unsigned char *from)
{
    int64_t count = dim < box->to->rank ? smaller(box->to->dims[dim], box->from->dims[dim]) : 1;
    if (dim + 1 >= box->to->rank) {
        memcpy(to, from, (size_t)count * box->item);
        return;
    }
    size_t to_step = step_of(box->to, dim, box->item),
           from_step = step_of(box->from, dim, box->item);
    for (int64_t i = 0; i < count; i++)
        copy_from(box, dim + 1, to + (size_t)i * to_step, from + (size_t)i * from_step);
}

void tensor_copy_box(struct tensor *to, const struct tensor *from)
{
    const struct box box = {to, from, dtype_info(to->dtype)->bits / 8};
    copy_from(&box, 0, to->data, from->data);
}
