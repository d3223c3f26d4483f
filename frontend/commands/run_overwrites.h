/* Ops whose kernels write an operand that they only read, or what is no operand of theirs. What
 * later ops make of it may be the same however the graph runs, so that no comparison shows it:
 * where ops run one by one, only what an op is said to write can be written; each operand that ops
 * have made is to be the same behind the op. Inputs are looked after by run_check.c. */
#ifndef FRONTEND_COMMANDS_RUN_OVERWRITES_H
#define FRONTEND_COMMANDS_RUN_OVERWRITES_H

#include "frontend/commands/runner.h"

struct overwrites {
    const struct outcome *outcome; /* ops run one by one in its storages */
    struct overwrites_graph {
        bool *known;    /* by value that stands for a memory: an op has written it */
        uint64_t *sums; /* of its bytes then */
    } * graphs;
    struct seal seal;
    bool ended; /* further runs are not looked at */
    bool found;
};

/* Before the outcome's first run. */
void overwrites_begin(struct overwrites *overwrites, struct outcome *outcome);
/* Around each op (struct run_watch). */
void overwrites_op_begins(void *overwrites, const struct graph *graph, const struct op *op,
                          void *const *values);
void overwrites_op_ended(void *overwrites, const struct graph *graph, const struct op *op,
                         void *const *values);
/* Reports what an op has written that it is not said to write: whether there is something. */
bool overwrites_report_sealed(const struct runner *runner, const struct seal *seal,
                              const struct graph *graph, const struct op *op);
/* Behind the first run. Whether something was found, which is reported. */
bool overwrites_end(struct overwrites *overwrites);
void overwrites_free(struct overwrites *overwrites);

#endif
