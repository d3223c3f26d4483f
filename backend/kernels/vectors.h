/* Functions that are made once for each vector level of the machine, and chosen when they are
 * called.
 *
 * All levels give the same bits: they do the same operations on an element in the same order, and
 * no level fuses a multiplication with an addition.
 */
#ifndef BACKEND_KERNELS_VECTORS_H
#define BACKEND_KERNELS_VECTORS_H

#include "backend/runtime/skrt.h"

/* There are levels; without, what is for other machines is compiled here, too. */
#if defined(__x86_64__) && !defined(VECTORS_NONE)
#define VECTORS_X86_64 1
#endif

/* Attributes of a function of a level. What it calls is compiled into it, for that level. */
#define VECTORS_BASE __attribute__((flatten))
#ifdef VECTORS_X86_64
#define VECTORS_AVX2 __attribute__((flatten, target("avx2")))
#define VECTORS_AVX512 __attribute__((flatten, target("avx2,avx512f,avx512bw,avx512dq,avx512vl")))
#define VECTORS_VNNI                                                                               \
    __attribute__((flatten, target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif

/* EACH(level, attribute) for the levels that differ where there is nothing but loops, and a call of
 * `name_LEVEL` for the widest one. */
#ifdef VECTORS_X86_64
#define VECTORS_LEVELS(EACH)                                                                       \
    EACH(base, VECTORS_BASE) EACH(avx2, VECTORS_AVX2) EACH(avx512, VECTORS_AVX512)
#define VECTORS_CALL(name, ...)                                                                    \
    (skrt_vector_level() >= SKRT_VECTORS_AVX512 ? name##_avx512(__VA_ARGS__)                       \
     : skrt_vector_level() >= SKRT_VECTORS_AVX2 ? name##_avx2(__VA_ARGS__)                         \
                                                : name##_base(__VA_ARGS__))
#else
#define VECTORS_LEVELS(EACH) EACH(base, VECTORS_BASE)
#define VECTORS_CALL(name, ...) name##_base(__VA_ARGS__)
#endif

#endif
