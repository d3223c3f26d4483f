/* Whether launches can come to a state in which nothing goes on: the states of the launch queue,
 * tried in all ways that matter.
 *
 * What is tried. A launch that has all its blocks on cores, and all that it waits for, runs to its
 * end: nothing that others do can keep it from that, and its end takes nothing from them. Until
 * then it may have any number of its blocks, so a state need not say how many: in a state that is
 * reached all hold as few as they can, and in the question whether it hangs as many as suit that.
 * What is left to choose is whose launch gets all its blocks next.
 *
 * What need not be tried. Of a harmless launch (passes/launches/bounds.h) that can end, no state
 * that hangs has it running or waiting, so it has ended in all of them. To have it end at once
 * takes nothing from others, and leaves all events sent that were. So all other choices can be made
 * behind it. The same holds of a launch that has its cores.
 *
 * What is exact. Without a limit on states, it finds a state that hangs if, and only if, there is
 * one, but for one thing: a launch is taken to get its cores where there are enough of them. Where
 * cores must be free in pairs, launches that keep single ones may have made that impossible: then a
 * state may be found that cannot be reached. That needs mixed blocks beside vector blocks that are
 * kept while somebody else gets all his, so a launch that notifies in the middle.
 *
 * The states of a program without launches that can hang are few: in a state with a harmless launch
 * that can end there is one way on. Their number grows with the product of lengths only where
 * launches are neither ordered nor harmless. Behind a limit the answer is that it is not known. */
#ifndef PASSES_LAUNCHES_EXPLORE_H
#define PASSES_LAUNCHES_EXPLORE_H

#include "passes/launches/bounds.h"

enum verdict { LAUNCHES_SAFE, LAUNCHES_HANG, LAUNCHES_CIRCLE, LAUNCHES_UNKNOWN };

enum { EXPLORE_STATES = 1 << 18 }; /* the limit, unless a caller has his own */

/* A state takes the longer the more streams there are: so often a stream may be looked at for each
 * state of the limit, also where launches are changed and it begins again. */
enum { EXPLORE_LOOKS = 1 << 11, EXPLORE_ALL_LOOKS = EXPLORE_STATES * EXPLORE_LOOKS };

/* Why a stream does not go on. */
enum standing { STANDS_OVER, STANDS_BEFORE_START, STANDS_IN_WAIT, STANDS_FOR_CORES };

struct explorer {
    struct queue *queue;
    struct bounds *bounds;
    uint32_t limit;       /* of states that are kept at a time */
    uint64_t tried;       /* states, in all */
    uint64_t looks;       /* how often a stream was looked at, in all */
    uint32_t stride;      /* numbers per state: positions, then the state before */
    struct vec_u32 pool;  /* the states that were met since the last root */
    struct vec_u32 slots; /* of a hash table: ids of them */
    VEC(uint64_t) open;   /* a heap of those whose ways on are not tried: progress, id */
    struct vec_u32 roots; /* states that every run comes through, as positions */
    uint32_t *stuck;      /* positions of the state found */
    struct held held;     /* blocks that are held there, by shape */
    uint32_t found;       /* its id */
};

/* The queue has no circle, and outlives it. */
void explorer_init(struct explorer *explorer, struct queue *queue, uint32_t limit);
void explorer_free(struct explorer *explorer);

/* Goes on until a state hangs, or all are tried. */
enum verdict explorer_run(struct explorer *explorer);

/* Where it is not known: in more ways than this launches come together. */
uint64_t explorer_ways(const struct explorer *explorer);

/* Behind a change of the queue at a stop of the stream, by queue_move_wait or queue_cut: goes back
 * to where the part that has the stop had not started. */
void explorer_changed(struct explorer *explorer, uint32_t stream, uint32_t position);

/* The last state in which every run was before a stream had passed this stop: positions. */
const uint32_t *explorer_root(const struct explorer *explorer, uint32_t stream, uint32_t position);

/* Why a stream does not go on in the state that was found. */
enum standing explorer_standing(const struct explorer *explorer, uint32_t stream);
/* Whether that state hangs also if the stream's launch holds nothing. */
bool explorer_hangs_without(const struct explorer *explorer, uint32_t stream);
/* How many blocks it has of those that are held: of streams of one shape the first has the most. */
void explorer_shares(const struct explorer *explorer, uint64_t *blocks);

/* The states on the way to the one that was found, the last first: NULL behind the first that is
 * known. `id` begins as explorer->found. */
const uint32_t *explorer_before(const struct explorer *explorer, uint32_t *id);

#endif
