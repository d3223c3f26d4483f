/* The scheduler: a pool of threads, the workers, runs the cores that are not blocked.
 *
 * Cores that can go on are in one run queue, first in, first out. A worker takes the first and runs
 * it until it blocks. A core that blocks in the middle of code keeps the stack it is on, and its
 * worker goes on with the next core on another; else the stack is there for the next core. Every
 * switch of stacks happens under the device's lock, which the code on the new stack leaves: so no
 * worker finds a core whose registers are not saved yet.
 *
 * A worker that finds the queue empty searches for a while, then sleeps. Where cores block within
 * a few hundred nanoseconds, one worker alone is faster than several that contend for the lock. So
 * a searching worker takes a core only when nobody has taken one between two looks. If others keep
 * taking them, it is not needed: it naps, longer each time. If there is nothing to take, it sleeps
 * until a worker that leaves ready cores for code of unknown length calls it.
 *
 * The launch is deadlocked when all workers sleep and no core is ready: the worker that falls
 * asleep last tells the launch queue. Events may come from outside the device, as words in memory
 * that other threads write: while a core waits for one, one of the sleeping workers, and those that
 * run, look at the words now and then. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "backend/runtime/scheduler.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum {
    POLL_EVERY = 64, /* picks of a core between looks at events while there are ready cores */
    PAUSES = 8,      /* between looks at the run queue */
    LEAST_PATIENCE = 50,
    MOST_PATIENCE = 250, /* looks: some tens of microseconds */
    US = 1000,
    POLL_MIN_NS = 20 * US,
    POLL_MAX_NS = 1000 * US,
    NAP_MIN_NS = 100 * US,
    NAP_MAX_NS = 4000 * US,
    SIGNAL_STACK = 64 * 1024,
};

/* --------------------------------------------------------------- the run queue ---- */

static void count_ready(struct skrt_device *device, int change)
{
    uint32_t n = atomic_load_explicit(&device->n_ready, memory_order_relaxed);
    atomic_store_explicit(&device->n_ready, n + (uint32_t)change, memory_order_relaxed);
}

void skrt_sched_ready(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    assert(device->locked);
    assert(core->state == SKRT_CORE_BLOCKED || core->state == SKRT_CORE_NEW);
    core->state = SKRT_CORE_READY;
    skrt_list_push(&device->ready, core);
    count_ready(device, 1);
}

/* Makes those ready that wait for the word; NULL: those whose words are not 0. */
static void release_waiters(struct skrt_device *device, const _Atomic uint64_t *word)
{
    struct skrt_core *core = device->event_waiters.first, *next;
    device->event_waiters = (struct skrt_core_list){NULL, NULL};
    for (; core; core = next) {
        next = core->next;
        if (word ? core->word == word : atomic_load(core->word) != 0)
            skrt_sched_ready(core);
        else
            skrt_list_push(&device->event_waiters, core);
    }
}

void skrt_sched_send_event(struct skrt_device *device, _Atomic uint64_t *word)
{
    assert(device->locked);
    atomic_store(word, 1);
    release_waiters(device, word);
}

/* Some sleeping worker looks at events from now on. */
void skrt_sched_wait_event(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    assert(device->locked && core->state == SKRT_CORE_BLOCKED);
    skrt_list_push(&device->event_waiters, core);
    if (!device->polling)
        skrt_sched_call(device);
}

/* The next core to run, or NULL. */
static struct skrt_core *take(struct skrt_device *device)
{
    uint32_t picks = atomic_load_explicit(&device->picks, memory_order_relaxed);
    assert(device->locked);
    if (atomic_load_explicit(&device->stopped, memory_order_relaxed))
        return NULL;
    if (device->event_waiters.first && picks % POLL_EVERY == 0)
        release_waiters(device, NULL);
    struct skrt_core *core = skrt_list_pop(&device->ready);
    if (!core)
        return NULL;
    core->state = SKRT_CORE_RUNNING;
    count_ready(device, -1);
    atomic_store_explicit(&device->picks, picks + 1, memory_order_relaxed);
    return core;
}

void skrt_sched_stop(struct skrt_device *device, const struct skrt_job *job,
                     enum skrt_status status, const char *cause)
{
    assert(device->locked && status != SKRT_OK);
    if (atomic_load(&device->stopped))
        return;
    device->status = status;
    device->culprit = job;
    snprintf(device->cause, sizeof device->cause, "%s", cause);
    atomic_store(&device->stopped, true);
}

/* ------------------------------------------------------------- workers without work ---- */

void skrt_sched_call(struct skrt_device *device)
{
    assert(device->locked);
    if (atomic_load(&device->n_idle) > 0 && atomic_load(&device->n_searching) == 0)
        device->wakes_one = true;
}

void skrt_sched_call_help(struct skrt_device *device)
{
    if (!atomic_exchange(&device->calling, true))
        skrt_wake(&device->calls, 1);
}

void skrt_sched_check_rest(struct skrt_device *device)
{
    assert(device->locked);
    if (atomic_load(&device->n_idle) == device->n_workers &&
        (!device->ready.first || atomic_load(&device->stopped)))
        device->came_to_rest(device);
}

void skrt_sched_dismiss(struct skrt_device *device)
{
    assert(device->locked);
    device->closing = true;
    skrt_wake(&device->calls, INT_MAX);
}

void skrt_sched_wait_done(struct skrt_device *device, uint64_t until)
{
    uint32_t done = atomic_load(&device->done);
    uint64_t now = skrt_clock();
    skrt_unlock(device);
    if (until == 0 || now < until)
        skrt_sleep(&device->done, done, until ? until - now : 0);
    skrt_lock(device);
}

/* What a search has found: no ready core; some that nobody takes; some that others take. */
enum finding { FOUND_NOTHING, FOUND_WORK, FOUND_OTHERS };

/* With the lock or without it. `picks` are those of the last look. */
static enum finding look(const struct skrt_device *device, uint32_t *picks)
{
    uint32_t before = *picks;
    *picks = atomic_load_explicit(&device->picks, memory_order_relaxed);
    if (atomic_load_explicit(&device->n_ready, memory_order_relaxed) == 0)
        return FOUND_NOTHING;
    return *picks == before ? FOUND_WORK : FOUND_OTHERS;
}

/* Searches without the lock for as long as the worker's patience lasts. Of several workers that
 * find the same work, one is needed. */
static enum finding search(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    enum finding found = FOUND_NOTHING;
    uint32_t looks = 0, picks = atomic_load(&device->picks);
    atomic_fetch_add(&device->n_searching, 1);
    skrt_unlock(device);
    while (found != FOUND_WORK && looks++ < worker->patience) {
        for (int i = 0; i < PAUSES; i++)
            skrt_pause();
        enum finding now = look(device, &picks);
        if (now == FOUND_WORK) {
            skrt_lock(device);
            now = look(device, &picks);
            if (now != FOUND_WORK)
                skrt_unlock(device);
        }
        found = now == FOUND_NOTHING ? found : now;
    }
    if (found != FOUND_WORK)
        skrt_lock(device);
    atomic_fetch_sub(&device->n_searching, 1);
    atomic_fetch_add_explicit(&worker->n_looks, looks, memory_order_relaxed);
    return found;
}

/* Where searching has been of no use, it takes less time next time. */
static uint32_t next_patience(uint32_t patience, enum finding found)
{
    uint32_t next = found == FOUND_WORK ? patience * 2 : patience / 2;
    return next < LEAST_PATIENCE ? LEAST_PATIENCE : next > MOST_PATIENCE ? MOST_PATIENCE : next;
}

/* Sleeps for so many nanoseconds, or until it is called, without the lock. */
static void sleep_idle(struct skrt_worker *worker, uint64_t ns)
{
    struct skrt_device *device = worker->device;
    uint32_t calls = atomic_load(&device->calls);
    atomic_store(&device->calling, false); /* a later call changes `calls` */
    atomic_fetch_add(&device->n_idle, 1);
    atomic_fetch_add(&device->n_callable, ns == 0);
    skrt_sched_check_rest(device);
    skrt_unlock(device);
    atomic_fetch_add_explicit(&worker->n_sleeps, 1, memory_order_relaxed);
    skrt_sleep(&device->calls, calls, ns);
    skrt_lock(device);
    atomic_fetch_sub(&device->n_idle, 1);
    atomic_fetch_sub(&device->n_callable, ns == 0);
    atomic_store(&device->calling, false);
}

/* As the worker that looks at events, less and less often. */
static void sleep_polling(struct skrt_worker *worker, uint64_t *ns)
{
    struct skrt_device *device = worker->device;
    *ns = *ns == 0 ? POLL_MIN_NS : *ns * 2 < POLL_MAX_NS ? *ns * 2 : POLL_MAX_NS;
    device->polling = true;
    sleep_idle(worker, *ns);
    device->polling = false;
    if (!atomic_load(&device->stopped))
        release_waiters(device, NULL);
}

/* The next core to run, as soon as there is one; NULL when the device closes. The lock is held, but
 * for when the worker searches or sleeps. */
static struct skrt_core *find_core(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    uint64_t poll_ns = 0, nap_ns = 0;
    for (;;) {
        enum finding found = FOUND_NOTHING;
        if (worker->patience > 0 && poll_ns == 0) {
            found = search(worker);
            worker->patience = next_patience(worker->patience, found);
        }
        if (device->closing)
            return NULL;
        bool last = atomic_load(&device->n_idle) + 1 == device->n_workers;
        struct skrt_core *core = found != FOUND_OTHERS || last ? take(device) : NULL;
        if (core)
            return core;
        if (found == FOUND_OTHERS && !last) {
            nap_ns = nap_ns == 0 ? NAP_MIN_NS : nap_ns * 2 < NAP_MAX_NS ? nap_ns * 2 : NAP_MAX_NS;
            sleep_idle(worker, nap_ns);
        } else if (device->event_waiters.first && !device->polling &&
                   !atomic_load(&device->stopped)) {
            sleep_polling(worker, &poll_ns);
        } else {
            sleep_idle(worker, 0);
            poll_ns = 0;
        }
    }
}

/* --------------------------------------------------------------------- stacks ---- */

uint32_t skrt_sched_most_stacks(uint32_t places, uint32_t workers)
{
    return places + workers;
}

static void run_stack(void *arg);

bool skrt_sched_map_stacks(struct skrt_device *device, uint64_t cores)
{
    assert(device->locked);
    uint64_t need = cores + device->n_workers;
    for (; device->n_fibers < device->most_fibers && device->n_fibers < need; device->n_fibers++) {
        struct skrt_fiber *fiber = &device->fibers[device->n_fibers];
        if (!skrt_fiber_map(fiber))
            return false;
        skrt_fiber_reset(fiber, run_stack, fiber);
        device->free_fibers[device->n_free_fibers++] = fiber;
    }
    return true;
}

bool skrt_sched_stack_overflow(const struct skrt_device *device, const void *address)
{
    const char *at = address;
    for (uint32_t i = 0; i < device->n_fibers; i++)
        if (at >= device->fibers[i].map && at < device->fibers[i].stack)
            return true;
    return false;
}

/* Makes a core that was taken the worker's, and says on which stack it goes on; without a core, the
 * worker's own. */
static struct skrt_fiber *stack_for(struct skrt_worker *worker, struct skrt_core *core)
{
    struct skrt_device *device = worker->device;
    struct skrt_fiber *fiber;
    if (!core)
        return &worker->host;
    if (core->fiber) {
        fiber = core->fiber;
        core->worker = worker;
        worker->core = core;
    } else {
        assert(device->n_free_fibers > 0);
        fiber = device->free_fibers[--device->n_free_fibers];
        worker->next = core;
    }
    fiber->worker = worker;
    return fiber;
}

void skrt_sched_switch(struct skrt_core *core)
{
    struct skrt_worker *worker = core->worker;
    struct skrt_device *device = core->device;
    assert(worker->core == core && device->locked);
    worker->core = NULL;
    struct skrt_core *next = take(device);
    if (next == core) /* it has become ready in between */
        worker->core = core;
    else
        skrt_fiber_switch(core->fiber, stack_for(worker, next), false);
    core->worker->depth = 1; /* perhaps another worker by now */
    skrt_sched_let_go(core->worker);
}

_Noreturn void skrt_sched_halt(struct skrt_core *core)
{
    struct skrt_worker *worker = core->worker;
    assert(core->device->locked);
    core->state = SKRT_CORE_HALTED;
    worker->core = NULL;
    skrt_fiber_switch(core->fiber, &worker->host, true);
    __builtin_unreachable();
}

void skrt_sched_park(struct skrt_core *core)
{
    assert(core->device->locked && core->state == SKRT_CORE_BLOCKED);
    core->fiber = NULL;
    core->worker->core = NULL;
}

/* Runs a core that has no stack yet, on the calling one; with the lock, before and afterwards. */
static void run_core(struct skrt_fiber *fiber, struct skrt_core *core)
{
    struct skrt_worker *worker = fiber->worker;
    struct skrt_device *device = worker->device;
    core->fiber = fiber;
    core->worker = worker;
    worker->core = core;
    worker->depth = 1;
    if (!device->core_run(core))
        return;
    core->state = SKRT_CORE_FINISHED;
    core->fiber = NULL;
    core->worker->core = NULL;
    device->core_ended(core);
}

/* What stacks of cores run; `arg` is the stack. */
static void run_stack(void *arg)
{
    struct skrt_fiber *fiber = arg;
    for (;;) {
        struct skrt_core *core = fiber->worker->next;
        struct skrt_device *device = fiber->worker->device;
        for (; core && !core->fiber; core = take(device))
            run_core(fiber, core);
        struct skrt_fiber *next = stack_for(fiber->worker, core);
        device->free_fibers[device->n_free_fibers++] = fiber;
        skrt_fiber_switch(fiber, next, false);
    }
}

/* ----------------------------------------------------------------- threads ---- */

/* Signal handlers need a stack of their own to report that a core's has overflowed. Returns it,
 * or NULL where the thread has one already (AddressSanitizer gives it one). */
static void *signal_stack_open(void)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE))
        return NULL;
    void *map =
        mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    stack = (stack_t){.ss_sp = map, .ss_size = SIGNAL_STACK};
    sigaltstack(&stack, NULL);
    return map;
}

static void signal_stack_close(void *map)
{
    if (!map)
        return;
    stack_t stack = {.ss_flags = SS_DISABLE, .ss_size = SIGNAL_STACK};
    sigaltstack(&stack, NULL);
    munmap(map, SIGNAL_STACK);
}

/* Set before the thread runs any core. Initial-exec: a read in a signal handler must not
 * allocate. */
#define IN_HANDLERS __attribute__((tls_model("initial-exec")))
static IN_HANDLERS _Thread_local const struct skrt_worker *this_worker;

const struct skrt_worker *skrt_sched_this_worker(void)
{
    return this_worker;
}

void *skrt_sched_thread(void *arg)
{
    struct skrt_worker *worker = arg;
    struct skrt_device *device = worker->device;
    void *signal_stack = signal_stack_open();
    skrt_fiber_init_thread(&worker->host);
    worker->host.worker = worker;
    this_worker = worker;
    skrt_lock(device);
    worker->patience = worker < device->workers + device->n_searchers && device->n_searchers > 1
                           ? MOST_PATIENCE
                           : 0;
    device->n_started++;
    device->wakes_launcher = true;
    for (struct skrt_core *core; (core = find_core(worker)) != NULL;)
        skrt_fiber_switch(&worker->host, stack_for(worker, core), false);
    skrt_unlock(device);
    signal_stack_close(signal_stack);
    return NULL;
}
