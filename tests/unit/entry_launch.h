/* An entry as a launch of sync_simulator.h, with the orders that it must enforce. */
#ifndef TESTS_UNIT_ENTRY_LAUNCH_H
#define TESTS_UNIT_ENTRY_LAUNCH_H

#include "tests/unit/sync_simulator.h"

/* Op `earlier` must be complete before op `later` starts. */
struct needed_order {
    unsigned earlier, later;
};

/* An instruction for the word of an event, as an op of its own. */
struct entry_word {
    enum instr_op op;
    unsigned number;
    uint32_t event; /* name id, or NONE: it is for a lock */
};

/* Ops of the launch are numbered by op id; instructions of events, choices of kernels and steps of
 * fed barriers follow as ops of their own. */
struct entry_launch {
    struct sync_launch sync;
    VEC(struct needed_order) needs;
    VEC(struct entry_word) words;
    /* Where a `dcci` stands: before which instruction of the program. */
    struct vec_u32 dcci[CORE_TYPES];
    /* Each outer event is notified, or waited for, once by each op that sends or receives it, and
     * reset once, as is each lock. */
    bool complete;
    /* By op: the op that stands for the beginning of a kernel that may read before it waits, and
     * for the end of one that may read behind its arrival; else the op itself. */
    unsigned begin[SYNC_MAX_OPS], end[SYNC_MAX_OPS];
};

/* False where a call's op cannot be told, or an op is not called once on each core type of its
 * kernel. Orders among ops are the caller's to add; those of events, selects, resets and
 * cleared workspaces are there. */
bool entry_launch_init(struct entry_launch *launch, const struct module *module,
                       const struct graph *graph, const struct entry *entry);
void entry_launch_free(struct entry_launch *launch);

void entry_launch_need(struct entry_launch *launch, unsigned earlier, unsigned later);

/* Whether nothing is missing, and every needed order is enforced. */
bool entry_launch_is_ordered(const struct entry_launch *launch, const struct sync_outcome *outcome);

#endif
