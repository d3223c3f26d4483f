/* Whether launches can hang, by trying all that can happen core by core. For small tables. */
#ifndef TESTS_UNIT_LAUNCH_ORACLE_H
#define TESTS_UNIT_LAUNCH_ORACLE_H

#include "passes/residency/launch_queue.h"

enum { ORACLE_STREAMS = 4, ORACLE_CORES = 3 };

enum oracle_answer { ORACLE_SAFE, ORACLE_HANGS, ORACLE_TOO_LARGE };

/* The table has at most ORACLE_STREAMS streams and ORACLE_CORES AICs. `states` is how many. */
enum oracle_answer launch_oracle(const struct launch_table *table, uint64_t limit,
                                 uint64_t *states);

#endif
