/* Executes the programs of an entry over explicit cores by the rules of docs/device-model.md, and
 * says what each core knew when it started an op. It shares no code with the passes.
 *
 * Every core executes its type's program. A call is a part of its op on that core, but for the
 * cores that it leaves out: those behind its kernel's blocks. Where both programs call an op, its
 * parts may synchronise with each other: in an AI core, none of them ends before all have
 * started. */
#ifndef TESTS_UNIT_SYNC_SIMULATOR_H
#define TESTS_UNIT_SYNC_SIMULATOR_H

#include "ir/core/module.h"

enum { SYNC_MAX_OPS = 512, SYNC_MAX_CORES = 64, SYNC_FLAG_LIMIT = 15 };

struct sync_instr {
    /* An EVENT is like a call that is complete at once. */
    enum instr_effect effect; /* CALL, EVENT, ARRIVE, AWAIT, SET, WAIT or DRAIN */
    unsigned arg; /* CALL, EVENT: op number, each once a program; SET, WAIT: the type that sets */
    /* CALL, EVENT: how many blocks run it, on all cores of the type that each has; 0: all. A flat
     * call's blocks count the launch's cores one by one. */
    unsigned blocks;
    bool flat;
    /* CALL: its cores meet at a full barrier, by the flags and barriers of the launch; cores that
     * the call leaves out take part in the barrier. */
    bool full;
    bool rest; /* CALL: what the call before it still reads */
};

struct sync_program {
    struct sync_instr *at;
    uint32_t count, capacity;
};

struct sync_launch {
    unsigned blocks;                /* at most SYNC_MAX_CORES cores in all */
    unsigned per_block[CORE_TYPES]; /* AICs, 0 or 1; AIVs */
    bool independent_parts;         /* the parts of an op do not synchronise with each other */
    struct sync_program programs[CORE_TYPES];
};

struct sync_ops {
    uint64_t words[SYNC_MAX_OPS / 64];
};

struct sync_outcome {
    unsigned stuck;          /* cores that never finish */
    unsigned overflows;      /* releases or arrivals above the limit, in the worst interleaving */
    unsigned most;           /* releases of one flag that are outstanding at a time, at most */
    unsigned left;           /* releases that nobody consumed */
    unsigned unawaited;      /* arrivals that their core did not await */
    unsigned mixed_up;       /* times a call's own barrier met the launch's flags or arrivals */
    unsigned undrained;      /* calls that follow a call of their core without an await or drain */
    struct sync_ops started; /* ops that some core started */
    /* By op: those complete on all their cores as far as every core knew that started the op. */
    struct sync_ops known[SYNC_MAX_OPS];
};

void sync_simulate(struct sync_outcome *outcome, const struct sync_launch *launch);

bool sync_ops_has(const struct sync_ops *ops, unsigned op);

/* Whether every core that started op `later` knew op `earlier` to be complete; true where none
 * did. */
bool sync_outcome_orders(const struct sync_outcome *outcome, unsigned earlier, unsigned later);

/* Whether all is well, apart from order. */
bool sync_outcome_ok(const struct sync_outcome *outcome);

void sync_launch_free(struct sync_launch *launch);

#endif
