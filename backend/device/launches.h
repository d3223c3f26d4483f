/* The launches of a run: its super kernels, and ops without an entry. */
#ifndef BACKEND_DEVICE_LAUNCHES_H
#define BACKEND_DEVICE_LAUNCHES_H

#include "backend/device/run.h"
#include "ir/analysis/dep_graph.h"

struct device_race_source {
    const struct module *module;
    const struct graph *graph;
    const struct order *order;        /* of the graph */
    const struct device_calls *calls; /* by core type */
    const uint32_t *ops;              /* of the super kernel, in list order */
    uint32_t count;
    const uint32_t *index; /* per op of the graph: its place in its list, or NONE */
};

/* The calls of a program of an entry of so many ops, which calls each once at most; `grouped` has
 * the place of its op by group of arguments. Allocated in the arena. */
struct device_calls device_calls_find(const struct program *program, const uint32_t *grouped,
                                      uint32_t n_ops, struct arena *arena);

/* The orders between ops of the super kernel, each once, and its calls; the entry calls each op
 * once on each core type that it has a part on. The result is allocated in the arena. */
void device_race_check(const struct device_race_source *source, struct arena *arena,
                       struct skrt_race_check *check);

/* Makes all launches, in an order that satisfies the graph. What they run is loaded. False, with
 * diagnostics, where one cannot be made. */
bool launches_add(struct device_run *run);

#endif
