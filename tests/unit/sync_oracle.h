/* The cheapest correct programs of a small super kernel, by exhaustive search: what insert-syncs is
 * measured against. It shares no code with the passes, and the check that the search uses shares
 * none with sync_simulator.h, by which a caller confirms the result.
 *
 * The programs call the ops in list order on each core type. In each gap (before the first call,
 * between two, behind the last) stand in turn
 *
 *   waits whose knowledge the gap's barrier spreads; a barrier, a pipe_barrier or nothing; a set;
 *   waits that only the own core learns from
 *
 * with at most one set and one wait a gap: a second set of one gap says nothing more, nor does the
 * first of two waits. Between two calls there is a barrier or a pipe_barrier; a set passes on only
 * calls that are drained.
 *
 * A dynamic op is selected by all cores before its call, with a gap between the two. At the end of
 * each program core 0 resets the locks of those ops whose first core type it is: all at once, as
 * what would have to be between two resets may also be before both.
 *
 * A wait may also stand before a set of its gap without a barrier, where ops that the first AI core
 * runs alone can make use of what it relays.
 *
 * The parts of a mixed op must be able to run at the same time, as they synchronise with each
 * other. */
#ifndef TESTS_UNIT_SYNC_ORACLE_H
#define TESTS_UNIT_SYNC_ORACLE_H

#include "tests/unit/sync_simulator.h"

enum { ORACLE_MAX_OPS = 6 };

enum { ORACLE_BARRIER_COST = 2, ORACLE_FLAG_COST = 2, ORACLE_DRAIN_COST = 1 };

struct oracle_case {
    unsigned blocks, per_block[CORE_TYPES]; /* of the launch */
    unsigned count;
    struct oracle_op {
        bool on[CORE_TYPES]; /* core types that it has a part on */
        unsigned blocks;
        bool flat;      /* blocks are AIVs of the whole launch */
        bool full;      /* uses both flags itself: none is outstanding at its calls */
        bool dynamic;   /* is selected before its calls; its lock is reset when all have */
        unsigned needs; /* set of ops, all earlier, transitively closed */
    } ops[ORACLE_MAX_OPS];
};

/* Which waits may stand before the barrier of their gap, so that it spreads what they bring. In a
 * gap that has a set as well, the other core type waits for the barrier then, and its core waits
 * for the other type: fewer instructions, but one after the other. */
enum oracle_spread { ORACLE_NO_WAIT, ORACLE_WAIT_WITHOUT_SET, ORACLE_ANY_WAIT };

/* Which programs are looked at. */
struct oracle_rules {
    bool excess; /* flags may order more: else a flag that is set behind a call of one op and waited
                  * for before that of another is one only if the first op must precede the other */
    enum oracle_spread spread;
};

struct oracle_result {
    unsigned cost;         /* instructions of both programs that synchronise */
    unsigned flags;        /* of the cheapest programs */
    unsigned fewest_flags; /* without excess: of correct programs, whatever they cost */
    struct sync_program programs[CORE_TYPES];
};

/* Searches below and at the cost `bound`. False where nothing correct is as cheap; `result` is to
 * be freed in both cases. */
bool oracle_search(struct oracle_result *result, const struct oracle_case *instance,
                   struct oracle_rules rules, unsigned bound);
void oracle_free(struct oracle_result *result);

/* The numbers that the programs give to the selects of an op, and to the resets of a core type. */
static inline unsigned oracle_select(unsigned count, unsigned op)
{
    return count + op;
}

static inline unsigned oracle_reset(unsigned count, unsigned type)
{
    return 2 * count + type;
}

/* Instructions of a program that synchronise. */
unsigned oracle_program_cost(const struct sync_program *program);

#endif
