#define _GNU_SOURCE /* sched_getaffinity */
#include "frontend/commands/run_threads.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Calls `visit` for each thread of this process, till it returns true. */
static void for_each_thread(bool (*visit)(void *context, pid_t id), void *context)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id > 0 && visit(context, id))
            break;
    }
    if (folder)
        closedir(folder);
}

/* ----------------------------------------------------------------------------- threads ---- */

/* False where there is no such thread. */
static bool look_at(struct run_thread *thread, pid_t id)
{
    memset(thread, 0, sizeof *thread);
    thread->id = id;
    errno = 0;
    thread->nice = getpriority(PRIO_PROCESS, (id_t)id);
    bool known = errno == 0;
    thread->policy = sched_getscheduler(id);
    return sched_getaffinity(id, sizeof thread->processors, &thread->processors) == 0 && known;
}

static bool take(void *context, pid_t id)
{
    struct run_threads *threads = context;
    threads->count += look_at(&threads->at[threads->count], id);
    return threads->count == RUN_THREADS;
}

void run_threads_take(struct run_threads *threads)
{
    threads->count = 0;
    for_each_thread(take, threads);
}

static const char *restore(const struct run_thread *before)
{
    const struct sched_param normal = {0};
    struct run_thread now;
    if (!look_at(&now, before->id))
        return NULL;
    if (!CPU_EQUAL(&now.processors, &before->processors)) {
        sched_setaffinity(before->id, sizeof before->processors, &before->processors);
        return "changed the processors of a thread (sched_setaffinity)";
    }
    if (now.policy != before->policy) {
        sched_setscheduler(before->id, before->policy, &normal);
        return "changed how a thread is scheduled (sched_setscheduler)";
    }
    if (now.nice == before->nice)
        return NULL;
    setpriority(PRIO_PROCESS, (id_t)before->id, before->nice);
    return "changed the priority of a thread (nice)";
}

/* ------------------------------------------------------------------------------ timers ---- */

static bool end_interval_timers(void)
{
    static const __itimer_which_t kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    const struct itimerval none = {{0, 0}, {0, 0}};
    bool any = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct itimerval now = none;
        getitimer(kinds[i], &now);
        if (now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0)
            continue;
        setitimer(kinds[i], &none, NULL);
        any = true;
    }
    return any;
}

/* Those of timer_create, which systems that can restore processes show. */
static bool end_timers(void)
{
    FILE *file = fopen("/proc/self/timers", "re");
    char line[256];
    bool any = false;
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "ID:", 3) != 0)
            continue;
        syscall(SYS_timer_delete, atoi(line + 3));
        any = true;
    }
    if (file)
        fclose(file);
    return any;
}

const char *run_threads_restore(const struct run_threads *threads)
{
    const char *changed = NULL;
    for (unsigned i = 0; i < threads->count; i++) {
        const char *what = restore(&threads->at[i]);
        changed = what ? what : changed;
    }
    bool interval = end_interval_timers(), timers = end_timers();
    return interval || timers ? "left a timer running (setitimer, timer_create)" : changed;
}

/* ----------------------------------------------------------------------------- signals ---- */

/* By default nothing comes of these, or no more than a stop. */
static unsigned long long harmless_signals(void)
{
    static const int numbers[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU};
    unsigned long long signals = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signals |= 1ull << (numbers[i] - 1);
    return signals;
}

static bool find_signal(void *context, pid_t id)
{
    static const char key[] = "SigPnd:";
    char path[64], line[256];
    unsigned long long signals = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", (long)id);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0)
            signals = strtoull(line + sizeof key - 1, NULL, 16);
    if (file)
        fclose(file);
    signals &= ~harmless_signals();
    *(int *)context = signals ? __builtin_ctzll(signals) + 1 : 0;
    return signals != 0;
}

int run_threads_signal(void)
{
    int number = 0;
    for_each_thread(find_signal, &number);
    return number;
}
