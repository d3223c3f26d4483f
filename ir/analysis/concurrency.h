/* Concurrent launches, each of which needs parts of others: on which streams they can run, and the
 * text order that shows it.
 *
 * Given is a run: ops in an order that the graph allows. Ops of one launch run one behind the
 * other; a launch begins with its first op and ends with its last one, and launches on one stream
 * follow each other, each as a whole. Ops of no launch are launched alone on their streams.
 * Ops that execute nothing only pass order on. */
#ifndef IR_ANALYSIS_CONCURRENCY_H
#define IR_ANALYSIS_CONCURRENCY_H

#include "ir/analysis/dep_graph.h"

struct concurrency_launch {
    uint32_t first, last;   /* places of ops that execute something; NONE: there are none */
    uint32_t count;         /* of those ops */
    uint32_t stream;        /* label, or NONE for the default stream */
    bool placed;            /* the stream counts */
    struct vec_u32 choices; /* streams that it may have, the best one first */
};

struct concurrency {
    const struct order *order;
    const uint32_t *ops;
    uint32_t count;
    const uint32_t *launch; /* by place in the run: index of a launch, NONE: alone */
    struct concurrency_launch *launches;
    uint32_t n_launches;
    uint32_t *chain; /* by place: the next such op of its launch, or NONE */
    uint32_t
        *before_first; /* by place: where its own begin in `before`, places for which it waits */
    struct vec_u32 before;
    uint32_t *user_first, *users; /* likewise: places of those that wait for it */
    uint32_t *left, *next; /* by place; `next`: who follows a launch on its stream, or NONE */
    struct id_map last_of; /* by stream + 1, 0 for the default one */
    uint32_t *ran; /* the ops in an order in which they run, where concurrency_fits found one */
    uint64_t work, budget; /* places that were looked at, and may be */
};

/* `at` has NONE for each op of the graph, and so it is left. `ops` and `launch` must outlive it.
 * The launches have no choices and no streams that count. */
void concurrency_init(struct concurrency *concurrency, const struct order *order, uint32_t *at,
                      const uint32_t *ops, uint32_t count, const uint32_t *launch,
                      uint32_t n_launches);
void concurrency_free(struct concurrency *concurrency);

/* Whether no launch waits for itself, with those streams that count. Launches of one stream follow
 * each other as they begin in `ran`; that is the run itself where it can be. False, too, where
 * `work` has come to `budget`. */
bool concurrency_fits(struct concurrency *concurrency);
/* Finds streams of all launches with which none waits for itself. False where there are none, or it
 * takes too long. */
bool concurrency_find(struct concurrency *concurrency);
/* The run's ops so that they satisfy the order also of the launches, those of one launch next to
 * each other where that can be. The run must be one that concurrency_fits leaves as it is. */
void concurrency_sort(struct concurrency *concurrency, uint32_t *sorted);
/* The same, where launches that need not overlap do not: the ops come in components, one behind the
 * other, each of which is an op, a launch with what is in rings with it, or launches side by side.
 * `component` gets the number of that of each op, by place in `sorted`. */
void concurrency_arrange(struct concurrency *concurrency, uint32_t *sorted, uint32_t *component);

#endif
