/* Several processes for tests that take long. */
#ifndef TESTS_UNIT_PARALLEL_H
#define TESTS_UNIT_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls work(i, user, counts) for each i from `first` to before `first + count`, spread over as
 * many processes as the machine has processors, at most 8, or as SKIR_TEST_JOBS says. Each process
 * has counts of its own, zero at first, which are added to `counts` in the end. A call that fails
 * ends its process by parallel_fail, and then the result is false. */
bool parallel_run(uint64_t first, uint64_t count,
                  void (*work)(uint64_t i, const void *user, unsigned *counts), const void *user,
                  unsigned *counts, size_t n_counts);

/* For `work`, after it has said what is wrong. */
_Noreturn void parallel_fail(void);

/* Fails where the condition does not hold: cmocka must not go on there. `report` is called with the
 * trial, the condition's text and the line. */
#define PARALLEL_CHECK(report, trial, condition)                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            report(trial, #condition, __LINE__);                                                   \
            parallel_fail();                                                                       \
        }                                                                                          \
    } while (0)

#endif
