/* Golden tests in processes of their own: a crash or a hang is the failure of one test. */
#ifndef FRONTEND_FILETEST_GOLDEN_PROCESSES_H
#define FRONTEND_FILETEST_GOLDEN_PROCESSES_H

#include "frontend/filetest/golden.h"
#include "ir/support/file.h"

#include <time.h>

struct golden_job {
    const char *path;
    const char *claim;
    const char *fails; /* why it is known to fail, so that a crash or a hang is GOLDEN_KNOWN */
    enum golden_verdict verdict;
    struct text report; /* what is wrong with it */
    /* While it runs. */
    pid_t pid; /* 0: it does not */
    FILE *output;
    time_t start;
    struct file_bytes old; /* the file that it may rewrite */
};

struct golden_processes {
    const struct cli *cli; /* the program whose commands are tested */
    bool bless;
    unsigned workers; /* processes at a time; at least 1, and fewer if descriptors are few */
    unsigned timeout; /* seconds that a test may take */
    /* Called for every job in the order of the list, as soon as it and all before it are done. The
     * report is released afterwards. */
    void (*finished)(void *user, const struct golden_job *job, uint32_t index);
    void *user;
};

/* Runs the jobs. No stream of the process may have unwritten output: it would be written twice. */
void golden_processes_run(const struct golden_processes *processes, struct golden_job *jobs,
                          uint32_t count);

#endif
