/* Integers of tensors in memory, as numbers. */
#ifndef FRONTEND_TENSOR_INTEGERS_H
#define FRONTEND_TENSOR_INTEGERS_H

#include "frontend/tensor/storage.h"
#include "ir/op_shapes.h"

/* All elements of a tensor in row-major order, in the arena. False where its dtype is none of
 * integers that fit 64 bits with a sign, or its format has another order. */
bool integers_read(const struct module *module, uint32_t type, const void *data,
                   struct arena *arena, struct op_contents *found);

/* One element of such a dtype, which has the number. */
void integer_write(enum dtype dtype, void *data, uint64_t place, int64_t number);

/* The numbers that such a dtype has. */
int64_t integer_lowest(enum dtype dtype);
int64_t integer_highest(enum dtype dtype);

#endif
