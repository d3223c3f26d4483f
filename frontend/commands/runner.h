/* A run of `skirc run`: what its files share. */
#ifndef FRONTEND_COMMANDS_RUNNER_H
#define FRONTEND_COMMANDS_RUNNER_H

#include "backend/run.h"
#include "frontend/commands/lowered_input.h"
#include "frontend/commands/named_values.h"
#include "frontend/tensor/storages.h"

struct runner {
    struct invocation *invocation;
    const struct backend *target;
    struct lowered_input lowered;
    const struct module *module;
    const struct graph *graph;
    struct diags *diags;
    const struct backend_runner *how;
    uint64_t seed, threads, timeout, max_iterations;
    bool compare, race_check, full_barriers, serial;
    const char *profile, *trace; /* files, or NULL */
    struct named_values inputs, outputs;
};

/* One way of running the graph, and what came of it. */
struct outcome {
    struct storages storages;
    double seconds;
    uint32_t launches;
    uint32_t orders; /* that the race check held it against */
};

#endif
