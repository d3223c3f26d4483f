/* What stands in operands of ops that run, held against the data of their types
 * (docs/command-line.md, "Operands that are out of range"). */
#ifndef FRONTEND_RUN_RUN_OPERANDS_H
#define FRONTEND_RUN_RUN_OPERANDS_H

#include "frontend/run/runner.h"
#include "frontend/tensor/storage.h"

/* How often memories of values are written while a graph runs, so that it is known when one has
 * what an op reads from it. */
struct writers {
    const struct storages *storages;
    uint8_t **counts; /* by graph, and by the value that stands for a memory: 2 is any more */
};

void writers_init(struct writers *writers, const struct module *module,
                  const struct storages *storages);
void writers_free(struct writers *writers);

/* Whether the value has its contents before the graph runs, and nothing writes there. */
bool value_is_steady(const struct writers *writers, uint32_t graph, uint32_t value);
/* Whether what an op reads from it is there when the graph has run, once. */
bool value_stays(const struct writers *writers, uint32_t graph, uint32_t value);
/* Whether its memory is written more than once. */
bool writers_are_several(const struct writers *writers, uint32_t graph, uint32_t value);

/* What inputs and constants of an outcome have, before its first run; or, if `left`, what ops have
 * computed, after it, if it is still there. EXIT_INPUT, reported, where an op cannot have it.
 * `*changing`: some of it is not there, as ops of one memory or of graphs that are called follow
 * one another, so that it can only be looked at op by op. */
enum exit_status run_operands_check(const struct outcome *outcome, bool left, bool *changing);

/* One op, before it begins; `values` has the memory of each value of its graph. False, reported,
 * where it cannot have what stands in its operands. */
bool run_operands_check_op(const struct runner *runner, const struct graph *graph,
                           const struct op *op, void *const *values);

#endif
