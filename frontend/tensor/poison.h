/* Contents of memory before kernels write it, by which elements show that no kernel writes, and
 * results that depend on such memory.
 *
 *   POISON_NAN   floats: signalling NaNs, which arithmetic does not make, only copying:
 *                f32 7fa5a5a5   f16 7da5   bf16 7fa5   f8e5m2 7d   f8e4m3fn (its NaN) 7f
 *                the rest: bytes a5
 *   POISON_HIGH  more than most numbers: bytes 7a, f32 3.2e35
 *   POISON_LOW   less: bytes f5 in floats, f32 -6.2e32; 85 in the rest, i32 -2054847099
 *
 * An element that holds the first after a run that began with the first, and the second after one
 * that began with the second, was written by neither. One of them alone may be what a kernel has
 * computed. A result that is not the same with the second and the third is computed with unwritten
 * memory, also where that leaves no trace, such as a maximum of it and an operand. */
#ifndef FRONTEND_TENSOR_POISON_H
#define FRONTEND_TENSOR_POISON_H

#include "frontend/tensor/storage.h"

enum poison { POISON_NAN, POISON_HIGH, POISON_LOW };

/* Each byte of an element of POISON_HIGH or POISON_LOW. */
unsigned char poison_byte(enum poison poison, enum dtype dtype);

/* Fills all memory of values that ops make. The padding of formats stays zero. */
void poison_fill(const struct storages *storages, enum poison poison);
/* Fills what is directly beside the memory of values, by POISON_HIGH or POISON_LOW. */
void poison_fill_beside(const struct storages *storages, enum poison poison);

/* A memory, and its elements that are not written. */
struct unwritten {
    uint32_t graph, value; /* the first of the memory, as which its elements count */
    uint64_t count, elements;
    uint64_t first; /* of those that are counted; row-major */
};

/* Whether any element of the memory that this value represents holds POISON_NAN, and POISON_HIGH
 * in `second`, another storage of the graph, unless that is NULL. */
bool poison_find(const struct storage *storage, const struct storage *second, uint32_t id,
                 struct unwritten *unwritten);

/* Whether any element is what arithmetic makes of POISON_NAN, in floats of 16 bits and more. */
bool poison_was_read(const struct storage *storage, uint32_t id);

/* Whether the value represents a memory that poison_fill fills. */
bool poison_is_for(const struct storages *storages, uint32_t graph, uint32_t id);

/* A sum of the bytes of a memory, with 0 in the place of elements that hold that poison. */
uint64_t poison_sum(enum dtype dtype, const void *memory, uint64_t size, enum poison poison);

#endif
