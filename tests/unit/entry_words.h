/* What docs/device-model.md, "Events", demands of an entry, held against its execution by
 * sync_simulator.h: there, each instruction of an event is an op of its own on core 0. */
#ifndef TESTS_UNIT_ENTRY_WORDS_H
#define TESTS_UNIT_ENTRY_WORDS_H

#include "graph_model.h"
#include "sync_simulator.h"

struct entry_words {
    unsigned first; /* the number of the first of these ops: behind those of the graph */
    unsigned count;
    struct entry_word {
        enum instr_op op;
        uint32_t slot;
    } at[SYNC_MAX_OPS];
    uint32_t
        args[SYNC_MAX_OPS]; /* by op of the graph that is called: the slot its arguments begin at */
};

/* The number of the simulated op that stands for the instruction, or NONE if there are too many. */
unsigned entry_words_add(struct entry_words *words, const struct instr *instr);

/* Whether each outer event of the entry's ops is waited for, notified and reset once, where it must
 * be, and nothing else is. */
bool entry_words_well(const struct entry_words *words, const struct module *module,
                      const struct graph *graph, const struct graph_model *model, uint32_t entry,
                      const struct sync_outcome *outcome);

#endif
