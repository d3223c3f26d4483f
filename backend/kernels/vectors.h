/* Functions that are made once for each vector level of the machine, and chosen when they are
 * called.
 *
 * All levels give the same bits: they do the same operations on an element in the same order, and
 * no level fuses a multiplication with an addition.
 */
#ifndef BACKEND_KERNELS_VECTORS_H
#define BACKEND_KERNELS_VECTORS_H

#include "backend/runtime/skrt.h"

/* Attributes of a function of a level. What it calls is compiled into it, for that level. */
#define VECTORS_BASE __attribute__((flatten))
#ifdef __x86_64__
#define VECTORS_AVX2 __attribute__((flatten, target("avx2")))
#define VECTORS_AVX512                                                                             \
    __attribute__((flatten, target("avx2,avx512f,avx512bw,avx512dq,avx512vl")))
#define VECTORS_VNNI                                                                               \
    __attribute__((flatten, target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif

#endif
