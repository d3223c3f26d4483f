/* Whether launches can come to a state in which none goes on: a search of the states of the launch
 * queue.
 *
 * Model. A state is how far each lane is (launch_queue.h). A launch that has all its blocks on
 * cores and all that it waits for runs to its end: nothing can keep it from that, and its end takes
 * nothing from others. Until then it may have any number of its blocks, so a state leaves open how
 * many: to reach a state, all launches hold as few as they can; in the question whether it hangs,
 * as many as suit that. So the only choice is which launch gets its blocks next.
 *
 * Reduction. A launch is *harmless* if everybody finds cores for one more block even while all
 * other streams hold the most that they hold from now on. No state that hangs has a harmless launch
 * that can end: in all of them it has ended. To let it end at once takes nothing from others, so
 * its other orders need not be tried. The same is true of a launch that has its cores. Such
 * reductions are known as persistent sets (P. Godefroid, "Partial-Order Methods for the
 * Verification of Concurrent Systems").
 *
 * Exactness. Within the limits, a state that hangs is found if, and only if, there is one, with one
 * exception: a launch is taken to get its cores where there are enough of them. Where cores must be
 * free in pairs, launches that keep single ones may have made that impossible; then a state may be
 * found that cannot be reached. That needs mixed blocks and vector blocks that are kept while
 * another launch gets all of its blocks, so a launch that notifies in the middle. Beyond the limits
 * the verdict is SEARCH_UNKNOWN, and callers must refuse.
 *
 * Invariants. States are tried in the order of their progress, the sum of positions, so that ways
 * which part meet again before one of them goes on. A state that alone is open is a root: every run
 * comes through it. States before a root need not be remembered, and after a change of the queue
 * the search goes on from the last root before it.
 *
 * Complexity. A state takes time in proportion to the square of the streams. Programs whose
 * launches are ordered or harmless have a number of states in proportion to their length; others,
 * to the product of the lengths of streams that are concurrent, which the limits bound. */
#ifndef PASSES_RESIDENCY_DEADLOCK_SEARCH_H
#define PASSES_RESIDENCY_DEADLOCK_SEARCH_H

#include "ir/support/heap.h"
#include "ir/support/intern.h"
#include "passes/residency/launch_queue.h"

enum verdict {
    SEARCH_SAFE,
    SEARCH_HANGS,
    SEARCH_CYCLE, /* launches wait for each other whatever cores there are */
    SEARCH_UNKNOWN,
};

/* Limits: of the states that are remembered at a time, and of the times that a stream is looked at.
 */
enum { SEARCH_STATES = 1 << 18, SEARCH_WORK = 1 << 26 };

/* Why a stream does not go on. */
enum block_reason { STREAM_OVER, BEFORE_START, IN_WAIT, LACKS_CORES };

struct search {
    struct queue queue;
    enum verdict verdict; /* of what was searched last */
    uint32_t max_states;
    uint64_t max_work, work, tried; /* tried: states */
    struct intern states;           /* positions, since the last root that is kept */
    struct vec_u32 previous;        /* by state: the one before it, or NONE */
    struct heap open;               /* states whose successors are not tried, by progress */
    struct vec_u32 roots;           /* positions */
    uint32_t *stuck;                /* positions of the state that hangs, or where all of a cycle
                                     * come to with enough cores */
    uint32_t stuck_id;              /* the state that hangs */
    struct held held;               /* blocks that are held there, by shape */
};

/* The table outlives the search. */
void search_init(struct search *search, const struct launch_table *table, uint32_t max_states,
                 uint64_t max_work);
void search_free(struct search *search);

/* Goes on until a state hangs, or all are tried. */
enum verdict search_run(struct search *search);
/* In more ways than this launches come together, where the verdict is SEARCH_UNKNOWN. */
uint64_t search_ways(const struct search *search);

/* The part of a stream that is not over in the state that hangs. */
const struct part *search_part(const struct search *search, uint32_t stream);
/* Why a stream does not go on in the state that hangs; `n` becomes which of its lanes does not. */
enum block_reason search_reason(const struct search *search, uint32_t stream, int *n);
/* How many blocks each stream has of those that are held there: of one shape the first has most. */
void search_shares(const struct search *search, uint64_t *blocks);
/* The last states before it, itself first, each as its positions in turn: at most `most`. The first
 * that is known is the last. */
void search_way(const struct search *search, uint32_t most, struct vec_u32 *states);

/* ------------------------------------------------------------------------- changes ---- */

enum { FIX_ROWS = 6 };

/* A change of a launch: it waits as a whole for what it waits for in the middle, or is cut there.
 */
struct fix {
    bool cut;
    uint32_t row;            /* in table->rows */
    uint32_t step;           /* in table->steps: the wait */
    uint32_t other;          /* a row that found no cores, or NONE */
    uint32_t rows[FIX_ROWS]; /* of the state that hangs: itself, then as many as fit */
    uint32_t n_rows;
};

struct fixes {
    struct fix *at;
    uint32_t count, capacity;
};

/* Searches, and changes the queue where a state hangs, until none does (SEARCH_SAFE), no launch
 * that waits in the state found can be changed (SEARCH_HANGS), or it is not known. Appends the
 * changes. Parts of a launch that is cut are taken to be as large as it was. Cycles change nothing.
 */
enum verdict search_fix(struct search *search, struct fixes *fixes);

#endif
