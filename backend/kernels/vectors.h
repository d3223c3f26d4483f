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

/* Attributes of a function of a level. What it calls is compiled into it, for that level, but it
 * into nothing else: its stack is taken only while it runs. */
#define VECTORS_BASE __attribute__((flatten, noinline))
#ifdef VECTORS_X86_64
#define VECTORS_AVX2 __attribute__((flatten, noinline, target("avx2")))
#define VECTORS_AVX512                                                                             \
    __attribute__((flatten, noinline, target("avx2,avx512f,avx512bw,avx512dq,avx512vl")))
#define VECTORS_VNNI                                                                               \
    __attribute__((flatten, noinline, target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif

/* A call of `name_LEVEL` for the widest level of those that differ where there are only loops. */
#ifdef VECTORS_X86_64
#define VECTORS_CALL(name, ...)                                                                    \
    (skrt_vector_level() >= SKRT_VECTORS_AVX512 ? name##_avx512(__VA_ARGS__)                       \
     : skrt_vector_level() >= SKRT_VECTORS_AVX2 ? name##_avx2(__VA_ARGS__)                         \
                                                : name##_base(__VA_ARGS__))
#else
#define VECTORS_CALL(name, ...) name##_base(__VA_ARGS__)
#endif

/* A function `name` of these parameters that does what `name_by` does, at the machine's level;
 * `passed` are the parameters' names. Both in brackets. */
#define VECTORS_OF(name, parameters, passed)                                                       \
    VECTORS_OF_LEVELS(name, parameters, passed)                                                    \
    __attribute__((unused)) static void name parameters                                            \
    {                                                                                              \
        VECTORS_CALL(name, VECTORS_STRIP passed);                                                  \
    }
#define VECTORS_STRIP(...) __VA_ARGS__
#define VECTORS_OF_LEVEL(name, attribute, parameters, passed)                                      \
    attribute __attribute__((unused)) static void name parameters                                  \
    {                                                                                              \
        passed;                                                                                    \
    }
#ifdef VECTORS_X86_64
#define VECTORS_OF_LEVELS(name, parameters, passed)                                                \
    VECTORS_OF_LEVEL(name##_base, VECTORS_BASE, parameters, name##_by passed)                      \
    VECTORS_OF_LEVEL(name##_avx2, VECTORS_AVX2, parameters, name##_by passed)                      \
    VECTORS_OF_LEVEL(name##_avx512, VECTORS_AVX512, parameters, name##_by passed)
#else
#define VECTORS_OF_LEVELS(name, parameters, passed)                                                \
    VECTORS_OF_LEVEL(name##_base, VECTORS_BASE, parameters, name##_by passed)
#endif

#endif
