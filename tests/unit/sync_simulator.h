/* Executes the programs of an entry over explicit cores by the rules of docs/device-model.md, and says
 * what each core knew when it started an op. It shares no code with the passes.
 *
 * Every core executes its type's program. A call is a part of its op on that core, but for the cores
 * that it leaves out: those behind its kernel's blocks. */
#ifndef TESTS_UNIT_SYNC_SIMULATOR_H
#define TESTS_UNIT_SYNC_SIMULATOR_H

#include "ir/module.h"

enum { SYNC_MAX_OPS = 64, SYNC_MAX_CORES = 64, SYNC_FLAG_LIMIT = 15 };

struct sync_instr {
    enum instr_effect effect; /* NONE does nothing */
    /* CALL: op number; SET, WAIT: the core type that sets; EVENT: the number of an op that is all
     * that core 0 of the type does there, complete at once; else 0. */
    unsigned arg;
    /* CALL: how many blocks run it, and on how many cores of each AI core; 0: all. A flat call's
     * blocks count the launch's cores one by one. */
    unsigned blocks, subs;
    bool flat;
    bool early; /* CALL: it has waited itself, so nothing need drain the core before it */
};

struct sync_program {
    struct sync_instr *at;
    uint32_t count, capacity;
};

struct sync_launch {
    unsigned blocks;                /* at most SYNC_MAX_CORES cores in all */
    unsigned per_block[CORE_TYPES]; /* AICs, 0 or 1; AIVs */
    struct sync_program programs[CORE_TYPES];
};

struct sync_outcome {
    unsigned stuck;     /* cores that never finish */
    unsigned overflows; /* releases above the limit, in the worst interleaving */
    unsigned left;      /* releases that nobody consumed */
    unsigned unawaited; /* arrivals that their core did not await */
    unsigned undrained; /* calls that follow a call of their core without an await or drain */
    uint64_t started;   /* ops that some core started */
    /* By op: those complete on all their cores as far as every core knew that started the op. */
    uint64_t known[SYNC_MAX_OPS];
};

void sync_simulate(struct sync_outcome *outcome, const struct sync_launch *launch);

/* Whether all is well, apart from order. */
bool sync_outcome_ok(const struct sync_outcome *outcome);

#endif
