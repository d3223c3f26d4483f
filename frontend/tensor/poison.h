/* What stands in values before ops write them, so that elements that no op writes show.
 *
 * There are two patterns. An element that holds the first after a run that began with the first,
 * and the second after one that began with the second, was not written by either. One of them alone
 * may be what a kernel has computed.
 *
 *   floats    signalling NaNs, which arithmetic does not make, only copying
 *             f32 7fa5a5a5, ff9a5a5a   f16 7da5, fd5a   bf16 7fa5, ff9a   f8e5m2 7d, fd
 *             f64 7ff5a5a5a5a5a5a5, fff25a5a5a5a5a5a    f8e4m3fn (its NaN) 7f, ff
 *   the rest  bytes a5, 5a: no bool, and of integers -91, 90; -23131, 23130; and so on
 *
 * Who makes something of what nobody has written may yet leave no trace of them: a maximum that
 * passes over NaN, a flag that is only ever set. Its results are others where other numbers stand
 * there, one of
 *
 *   POISON_HIGH  above all others: bytes 7a, f32 3.2e35
 *   POISON_LOW   below them: bytes f5 in floats, f32 -6.2e32; 85 in the rest, i32 -2054847099
 *   POISON_ZERO  0, in the padding of formats, too
 *   POISON_NEAR  as many others are: bytes 3f, f32 0.747 */
#ifndef FRONTEND_TENSOR_POISON_H
#define FRONTEND_TENSOR_POISON_H

#include "frontend/tensor/storages.h"

enum poison { POISON_FIRST, POISON_SECOND, POISON_HIGH, POISON_LOW, POISON_ZERO, POISON_NEAR };

/* Each byte of a dtype in those from POISON_HIGH on. */
unsigned char poison_byte(enum poison poison, enum dtype dtype);

/* Poisons all values of which nothing is known before the run: each memory of which no value is
 * given, but for those that callers give. The padding of formats is zero. */
void poison_fill(const struct storages *storages, enum poison poison);
/* The same with numbers, POISON_HIGH or another behind it, also directly beside each memory. */
void poison_fill_beside(const struct storages *storages, enum poison poison);

/* What poison has become: it is left as it is; or, of floats of 16 bits and more, a kernel has
 * computed with it, which makes signalling NaNs quiet ones and may change their sign. */
enum poison_trace { POISON_LEFT, POISON_READ, POISON_TRACES };

/* A memory, and its elements that are poisoned. */
struct unwritten {
    enum poison_trace trace;
    uint32_t graph, value; /* the first of the memory, as which its elements count */
    uint64_t count, elements;
    uint64_t first; /* of those that are counted; row-major */
};

/* Whether any element of the memory that this value stands for has such a trace of the first
 * poison, and of the second one in `second`, another storage of the graph, unless that is NULL. */
bool poison_find(const struct storage *storage, const struct storage *second, uint32_t id,
                 enum poison_trace trace, struct unwritten *unwritten);

/* Whether the value stands for a memory that poison_fill poisons. */
bool poison_is_for(const struct storages *storages, uint32_t graph, uint32_t id);

#endif
