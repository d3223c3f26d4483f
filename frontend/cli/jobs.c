#include "frontend/cli/jobs.h"
#include "ir/base/parts.h"

#include <sys/resource.h>

enum { MAX_JOBS = 256 };

bool jobs_option(const struct invocation *invocation, unsigned *jobs)
{
    unsigned processors = parts_processors();
    uint64_t wanted = processors < MAX_JOBS ? processors : MAX_JOBS;
    bool right = option_number(invocation, "jobs", 1, MAX_JOBS, &wanted);
    *jobs = (unsigned)wanted;
    return right;
}

static bool address_space_is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool threads_option(const struct invocation *invocation, struct threads *threads)
{
    threads->always = option_given(invocation, "jobs");
    bool right = jobs_option(invocation, &threads->most);
    if (!threads->always && address_space_is_limited())
        threads->most = 1;
    return right;
}
