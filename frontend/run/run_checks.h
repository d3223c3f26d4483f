/* Kernels of ops that run one by one: each op that writes what it must not, leaves elements of its
 * results unwritten, or computes with memory that no kernel has written, is reported. */
#ifndef FRONTEND_RUN_RUN_CHECKS_H
#define FRONTEND_RUN_RUN_CHECKS_H

#include "frontend/run/runner.h"
#include "frontend/tensor/poison.h"

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

/* Whether kernels write all elements of their results, and nothing else: what runs of the graph
 * show, and which op does it. */

/* Before the first run of an outcome, in storages that are filled. */
void run_check_begin(struct outcome *outcome);
/* After it. EXIT_INPUT, reported, where a kernel does wrong. */
enum exit_status run_check_end(struct outcome *outcome);
/* Before each further run, in its workplace: unwritten memory has other contents than in the run
 * before, so that a result that depends on it changes. */
void run_check_again(const struct outcome *outcome);
/* Runs the ops of an outcome one by one. EXIT_INPUT, reported, where one does wrong. */
enum exit_status run_check_ops(const struct outcome *outcome);
/* In any case, at the end. */
void run_check_free(struct outcome *outcome);

#endif
