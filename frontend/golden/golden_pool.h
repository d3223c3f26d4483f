/* Golden tests in processes of their own: one that crashes or hangs is that test's failure. */
#ifndef FRONTEND_GOLDEN_GOLDEN_POOL_H
#define FRONTEND_GOLDEN_GOLDEN_POOL_H

#include "frontend/golden/golden.h"

struct golden_job {
    const char *path;
    bool known; /* that it fails: whatever becomes of its process is no surprise */
    enum golden_verdict verdict;
    struct text report; /* what is wrong with it */
};

struct golden_pool {
    const struct cli *cli; /* the program whose commands are tested */
    bool bless;
    unsigned workers; /* processes at a time; at least 1 */
    unsigned timeout; /* seconds that a test may take */
    /* Called for every job in the order of the list, as soon as it and all before it are done. The
     * report is released afterwards. */
    void (*finished)(void *user, const struct golden_job *job, uint32_t index);
    void *user;
};

/* Runs the jobs. No stream of the process may have unwritten output: it would be written twice. */
void golden_pool_run(const struct golden_pool *pool, struct golden_job *jobs, uint32_t count);

#endif
