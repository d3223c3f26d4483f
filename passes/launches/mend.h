/* Changes of launches after which none can hang, where there are such: a wait in the middle becomes
 * one of the launch, or the launch is cut there. */
#ifndef PASSES_LAUNCHES_MEND_H
#define PASSES_LAUNCHES_MEND_H

#include "passes/launches/explore.h"

enum { MEND_BESIDE = 6 };

/* Who was in the way when a mend was chosen. */
struct mend {
    bool cut;                     /* else the row waits as a whole */
    uint32_t row;                 /* in table->rows */
    uint32_t step;                /* in table->steps: the wait */
    uint32_t other;               /* a row that found no cores, or NONE */
    uint32_t beside[MEND_BESIDE]; /* rows of the state that hung, it and others, as many as fit */
    uint32_t n_beside;
};

struct mends {
    struct mend *at;
    uint32_t count, capacity;
};

/* Explores, and changes the queue where a state hangs, until none does (LAUNCHES_SAFE), none of the
 * launches that wait in the state found can be changed (LAUNCHES_HANG), or it is not known. What
 * was changed is appended. Halves of a launch that is cut are taken to be as large as it was. With
 * `cuts`, no launch waits as a whole: all are cut. */
enum verdict launches_mend(struct explorer *explorer, struct mends *mends, bool cuts);

#endif
