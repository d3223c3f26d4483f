/* Ops whose kernels write an operand that they only read. What later ops make of it is the same
 * however the graph runs, so that no comparison shows it: where ops run one by one, each operand
 * that ops have made is to be the same behind the op. Inputs are looked after by run_check.c. */
#ifndef FRONTEND_COMMANDS_RUN_OVERWRITES_H
#define FRONTEND_COMMANDS_RUN_OVERWRITES_H

#include "frontend/commands/runner.h"

struct overwrites {
    const struct outcome *outcome; /* ops run one by one in its storages */
    struct overwrites_graph {
        bool *known;    /* by value that stands for a memory: an op has written it */
        uint64_t *sums; /* of its bytes then */
    } * graphs;
    bool ended; /* further runs are not looked at */
    bool found;
};

/* Before the outcome's first run. */
void overwrites_begin(struct overwrites *overwrites, const struct outcome *outcome);
/* Behind each op (struct run_watch). */
void overwrites_op_ended(void *overwrites, const struct graph *graph, const struct op *op);
/* Behind the first run. Whether something was found, which is reported. */
bool overwrites_end(struct overwrites *overwrites);
void overwrites_free(struct overwrites *overwrites);

#endif
