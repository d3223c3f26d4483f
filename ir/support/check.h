/* Invariants are asserted where code relies on them: those that cost next to nothing by assert,
 * those that must be searched for, or stand in the hottest loops, by expensive_assert, which only
 * builds configured with --enable-checks evaluate. */
#ifndef IR_SUPPORT_CHECK_H
#define IR_SUPPORT_CHECK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef SKIR_CHECKS
#define expensive_assert(condition) assert(condition)
#else
#define expensive_assert(condition)                                                                \
    do {                                                                                           \
        if (0)                                                                                     \
            (void)(condition);                                                                     \
    } while (0)
#endif

/* Whether two pieces of memory share no byte. */
static inline bool bytes_are_apart(const void *a, size_t a_size, const void *b, size_t b_size)
{
    return (uintptr_t)a + a_size <= (uintptr_t)b || (uintptr_t)b + b_size <= (uintptr_t)a;
}

#endif
