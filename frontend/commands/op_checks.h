/* Kernels of ops that run one by one: each op that writes what it must not, leaves elements of its
 * results unwritten, or computes with memory that no kernel has written, is reported. */
#ifndef FRONTEND_COMMANDS_OP_CHECKS_H
#define FRONTEND_COMMANDS_OP_CHECKS_H

#include "frontend/commands/runner.h"
#include "frontend/tensor/poison.h"

/* What a run of the graph has left that shows a wrong kernel, for ops to be found that do it. */
struct run_signs {
    struct unwritten_list {
        struct unwritten *at;
        uint32_t count, capacity;
    } unwritten;
    bool beside;  /* something is written beside a memory */
    bool changed; /* an input is that no op writes */
    bool unknown; /* operands or results are to be looked at op by op */
};

/* Runs the ops of an outcome, whose first run has ended, in `storages`, which are filled anew.
 * Reports what they do wrong, and the signs that no op explains. `*wrong`: something was. */
enum exit_status op_checks_run(const struct outcome *outcome, const struct storages *storages,
                               const struct run_signs *signs, bool *wrong);

/* ---- Operands that ops which run one by one only read, without other checks ---- */

/* Memories of values whose contents are known. */
struct memory_sums {
    struct known_memory {
        const struct guarded *memory;
        uint32_t graph, value; /* that represents it */
        bool known;
        uint64_t sum;
    } * at;
    uint32_t count, capacity;
};

struct operand_checks {
    const struct runner *runner;
    const struct storages *storages;
    struct memory_sums sums;
    bool found;
};

/* Before ops run in these storages, which are filled. */
void operand_checks_begin(struct operand_checks *checks, const struct runner *runner,
                          const struct storages *storages);
/* After each op (struct run_watch). */
void operand_checks_op_ended(void *checks, const struct graph *graph, const struct op *op,
                             void *const *values);
void operand_checks_free(struct operand_checks *checks);

#endif
