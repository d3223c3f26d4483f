#include "tests/unit/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_JOBS = 8 };

static unsigned count_jobs(void)
{
    const char *wanted = getenv("SKIR_TEST_JOBS");
    long jobs = wanted ? strtol(wanted, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    return jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : (unsigned)jobs;
}

_Noreturn void parallel_fail(void)
{
    fflush(NULL);
    _exit(1);
}

bool parallel_run(uint64_t first, uint64_t count,
                  void (*work)(uint64_t i, const void *user, unsigned *counts), const void *user,
                  unsigned *counts, size_t n_counts)
{
    unsigned n_jobs = count_jobs(), n_started = 0;
    size_t size = n_jobs * n_counts * sizeof *counts;
    unsigned *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    fflush(NULL);
    for (; n_started < n_jobs; n_started++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid > 0)
            continue;
        for (uint64_t i = n_started; i < count; i += n_jobs)
            work(first + i, user, shared + n_started * n_counts);
        exit(0); /* so that sanitizers and coverage report */
    }
    bool ok = n_started == n_jobs;
    for (unsigned i = 0; i < n_started; i++) {
        int status;
        ok = wait(&status) > 0 && status == 0 && ok;
    }
    for (size_t i = 0; i < n_jobs * n_counts; i++)
        counts[i % n_counts] += shared[i];
    munmap(shared, size);
    return ok;
}
