/* Contents of memory before kernels write it, by which elements show that no kernel writes, and
 * results that depend on such memory.
 *
 *   POISON_HIGH  bytes 40: f32 3.004, f16 2.125, i8 64, i32 1077952576
 *   POISON_LOW   bytes c0: f32 -6.023, f16 -2.375, i8 -64, i32 -1061109568
 *
 * Floats are of the size of usual contents, so that sums of both differ from either.
 *
 * An element that holds the first after a run that began with the first, and the second after one
 * that began with the second, was written by neither. One of them alone may be what a kernel has
 * computed. A result that is not the same with both is computed with unwritten memory, also where
 * that leaves no trace, such as a maximum of it and an operand. */
#ifndef FRONTEND_TENSOR_POISON_H
#define FRONTEND_TENSOR_POISON_H

#include "frontend/tensor/storage.h"

/* Each byte of an element. */
enum poison { POISON_HIGH = 0x40, POISON_LOW = 0xc0 };

/* Fills all memory of values that ops make. The padding of formats stays zero. */
void poison_fill(const struct storages *storages, enum poison poison);
/* Fills what is directly next to the memory of values. */
void poison_fill_beside(const struct storages *storages, enum poison poison);

/* A memory, and its elements that are not written. */
struct unwritten {
    uint32_t graph, value; /* the first of the memory, as which its elements count */
    uint64_t count, elements;
    uint64_t first; /* of those that are counted; row-major */
};

/* Whether any element of the memory that this value represents holds POISON_HIGH, and POISON_LOW
 * in `second`, another storage of the graph, unless that is NULL. */
bool poison_find(const struct storage *storage, const struct storage *second, uint32_t id,
                 struct unwritten *unwritten);

/* Whether the value represents a memory that poison_fill fills. */
bool poison_is_for(const struct storages *storages, uint32_t graph, uint32_t id);

/* A sum of the bytes of a memory, with 0 in the place of elements that hold either poison. */
uint64_t poison_sum(enum dtype dtype, const void *memory, uint64_t size);

#endif
