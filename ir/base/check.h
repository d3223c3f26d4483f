/* Invariants are asserted where code relies on them: those that cost next to nothing by assert,
 * those that must be searched for, or stand in the hottest loops, by expensive_assert, which only
 * builds configured with --enable-checks evaluate. */
#ifndef IR_BASE_CHECK_H
#define IR_BASE_CHECK_H

#include <assert.h>

#ifdef SKIR_CHECKS
#define expensive_assert(condition) assert(condition)
#else
#define expensive_assert(condition)                                                                \
    do {                                                                                           \
        if (0)                                                                                     \
            (void)(condition);                                                                     \
    } while (0)
#endif

#endif
