#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "ir/support/parts.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum {
    LEAST_WEIGHT = 1000,  /* less is done nearly as soon as threads are started */
    PARTS_PER_THREAD = 4, /* so that threads end at about the same time */
    MAX_THREADS = 256,
};

struct part {
    const struct parts *parts;
    uint32_t first, end;
    struct mem_scope scope;
    struct diags diags;
    bool done; /* else it was left */
};

/* What the threads of one call share. */
struct run {
    struct part *at;
    uint32_t count;
    uint32_t next; /* that nobody has begun; atomic */
};

unsigned parts_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* ---------------------------------------------------------------------------- one part ---- */

static void do_items(void *user)
{
    struct part *part = user;
    part->parts->work(part->parts->user, part->first, part->end, &part->diags);
}

/* One after another, as long as there are any. */
static void *do_parts(void *user)
{
    struct run *run = user;
    for (;;) {
        uint32_t next = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
        if (next >= run->count)
            return NULL;
        run->at[next].done = part_run(&run->at[next].scope, do_items, &run->at[next]);
    }
}

/* On this thread, and on up to `others` more, as many as the system lets us have. Signals go to
 * this one, but for those that say what the thread itself has done. */
static void do_all_parts(struct run *run, unsigned others)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    pthread_t threads[MAX_THREADS];
    unsigned count = 0;
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    while (count < others && pthread_create(&threads[count], NULL, do_parts, run) == 0)
        count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    do_parts(run);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

/* --------------------------------------------------------------------------- all parts ---- */

/* Parts of about the same weight, as many as wanted or fewer. */
static void make_parts(struct run *run, const struct parts *parts, uint32_t wanted, uint64_t all,
                       const struct diags *diags)
{
    run->at = mem_calloc(wanted, sizeof *run->at);
    uint64_t weight = 0;
    for (uint32_t first = 0, end = 0; end < parts->count; first = end) {
        uint64_t until = all / wanted * (run->count + 1);
        bool last = run->count + 1 == wanted;
        do
            weight += parts->weight(parts->user, end++);
        while (end < parts->count && (last || weight < until));
        run->at[run->count++] = (struct part){
            .parts = parts, .first = first, .end = end, .diags = diags_of_part(diags)};
    }
}

void parts_run(const struct parts *parts, struct diags *diags)
{
    unsigned most = parts->threads.most, threads = most < MAX_THREADS ? most : MAX_THREADS;
    bool one = threads <= 1 || part_runs() || parts->count < 2 || mem_is_limited();
    uint64_t all = 0;
    for (uint32_t i = 0; !one && i < parts->count; i++)
        all += parts->weight(parts->user, i);
    if (one || (all < LEAST_WEIGHT && !parts->threads.always)) {
        parts->work(parts->user, 0, parts->count, diags);
        return;
    }
    struct run run = {.at = NULL};
    uint32_t wanted = threads * PARTS_PER_THREAD;
    make_parts(&run, parts, wanted < parts->count ? wanted : parts->count, all, diags);
    do_all_parts(&run, (threads < run.count ? threads : run.count) - 1);
    for (uint32_t i = 0; i < run.count; i++) {
        struct part *part = &run.at[i];
        if (part->done) {
            mem_scope_merge(&part->scope);
            diags_merge(diags, &part->diags);
        } else {
            parts->work(parts->user, part->first, part->end, diags);
        }
    }
    mem_free(run.at);
}
