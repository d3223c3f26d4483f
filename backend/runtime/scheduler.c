/* The scheduler: cores are fibers, of which a pool of threads runs those that are not blocked.
 *
 * A core that blocks passes its thread straight on to the next ready core. A thread without one
 * goes back to its own stack, looks out for a short while, then sleeps. Threads are woken one at a
 * time, each wakes the next if there is still more to do.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "backend/runtime/scheduler.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

enum {
    POLL_EVERY = 64, /* picks of a core between looks at events while there are ready cores */
    POLL_MIN_NS = 20 * 1000,
    POLL_MAX_NS = 1000 * 1000,
    CLAIM_SPINS = 200,
    SIGNAL_STACK = 64 * 1024,
};

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ------------------------------------------------------------------ lists ---- */

void skrt_sched_push(struct skrt_core_list *list, struct skrt_core *core)
{
    core->next = NULL;
    if (list->first)
        list->last->next = core;
    else
        list->first = core;
    list->last = core;
}

static struct skrt_core *list_pop(struct skrt_core_list *list)
{
    struct skrt_core *core = list->first;
    if (core)
        list->first = core->next;
    return core;
}

static void count_ready(struct skrt_device *device, int change)
{
    uint32_t n = atomic_load_explicit(&device->n_ready, memory_order_relaxed);
    atomic_store_explicit(&device->n_ready, n + (uint32_t)change, memory_order_relaxed);
}

/* ----------------------------------------------------------------- waking ---- */

/* A thread that spins or has been signalled will find the work; nobody else is disturbed. */
static void wake_thread(struct skrt_device *device)
{
    if (device->sleeping == 0 || device->spinning > 0 || device->waking)
        return;
    device->waking = true;
    pthread_cond_signal(&device->work);
}

static void make_ready(struct skrt_core *core)
{
    assert(core->state == SKRT_CORE_BLOCKED || core->state == SKRT_CORE_NEW);
    core->state = SKRT_CORE_READY;
    count_ready(core->device, 1);
    skrt_sched_push(&core->device->ready, core);
}

void skrt_sched_wake(struct skrt_core *core)
{
    make_ready(core);
    wake_thread(core->device);
}

void skrt_sched_wake_all(struct skrt_device *device, struct skrt_core_list *list)
{
    if (!list->first)
        return;
    for (struct skrt_core *core; (core = list_pop(list)) != NULL;)
        make_ready(core);
    wake_thread(device);
}

void skrt_sched_poll_events(struct skrt_device *device)
{
    assert(device->locked);
    struct skrt_core_list waiters = device->event_waiters;
    device->event_waiters = (struct skrt_core_list){NULL, NULL};
    for (struct skrt_core *core; (core = list_pop(&waiters)) != NULL;) {
        if (atomic_load_explicit(core->wait_word, memory_order_acquire) == 0)
            skrt_sched_push(&device->event_waiters, core);
        else
            skrt_sched_wake(core);
    }
}

void skrt_sched_watch_events(struct skrt_device *device)
{
    if (!device->polling)
        wake_thread(device);
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

/* --------------------------------------------------------------- switching ---- */

/* The next core to run, or NULL. */
static struct skrt_core *pick_core(struct skrt_device *device)
{
    if (atomic_load_explicit(&device->stopped, memory_order_relaxed))
        return NULL;
    if (device->event_waiters.first && (!device->ready.first || ++device->picks % POLL_EVERY == 0))
        skrt_sched_poll_events(device);
    struct skrt_core *core = list_pop(&device->ready);
    if (!core)
        return NULL;
    assert(core->state == SKRT_CORE_READY);
    count_ready(device, -1);
    core->state = SKRT_CORE_RUNNING;
    if (device->ready.first)
        wake_thread(device);
    return core;
}

/* A core is found by other threads before its registers are saved: it is put into a list, and the
 * lock released, by code that still runs on its stack. */
static void claim_core(struct skrt_worker *worker, struct skrt_core *core)
{
    for (unsigned i = 1; atomic_load_explicit(&core->on_thread, memory_order_acquire); i++) {
        if (i % CLAIM_SPINS == 0)
            sched_yield();
        else
            cpu_pause();
    }
    atomic_store_explicit(&core->on_thread, true, memory_order_relaxed);
    core->worker = worker;
    worker->core = core;
}

/* To be done after every switch, on the new stack: the core that was left can be resumed now. */
static void release_previous(struct skrt_worker *worker)
{
    if (worker->previous)
        atomic_store_explicit(&worker->previous->on_thread, false, memory_order_release);
    worker->previous = NULL;
}

static void leave_core(struct skrt_core *core, bool last)
{
    struct skrt_device *device = core->device;
    struct skrt_worker *worker = core->worker;
    assert(worker->core == core && !worker->previous);
    struct skrt_core *next = last ? NULL : pick_core(device);
    skrt_unlock(device);
    if (next == core)
        return;
    worker->previous = core;
    worker->ended = last ? core : NULL;
    if (next)
        claim_core(worker, next);
    else
        worker->core = NULL;
    skrt_fiber_switch(core->fiber, next ? next->fiber : &worker->host, last);
    release_previous(core->worker); /* perhaps another one by now */
}

void skrt_sched_switch(struct skrt_core *core)
{
    leave_core(core, false);
}

_Noreturn void skrt_sched_halt(struct skrt_core *core, enum skrt_core_state state)
{
    assert(state == SKRT_CORE_HALTED || state == SKRT_CORE_FINISHED);
    core->state = state;
    leave_core(core, true);
    __builtin_unreachable();
}

void skrt_sched_start(struct skrt_core *core)
{
    release_previous(core->worker);
}

/* ----------------------------------------------------------------- threads ---- */

/* Looks for ready cores without the lock. */
static void spin(struct skrt_device *device)
{
    device->spinning++;
    skrt_unlock(device);
    for (uint32_t i = 0; i < device->spins; i++) {
        if (atomic_load_explicit(&device->n_ready, memory_order_relaxed) > 0)
            break;
        cpu_pause();
    }
    skrt_lock(device);
    device->spinning--;
}

static struct timespec time_after(uint64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    ns += (uint64_t)t.tv_nsec;
    t.tv_sec += (time_t)(ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    return t;
}

/* Sleeps until signalled. Where cores wait for events, one of the sleeping threads looks after
 * them, less and less often. */
static void sleep_for_work(struct skrt_device *device, uint64_t *poll_ns)
{
    bool poll = device->event_waiters.first && !device->polling &&
                !atomic_load_explicit(&device->stopped, memory_order_relaxed);
    device->sleeping++;
    if (poll) {
        struct timespec until = time_after(*poll_ns);
        *poll_ns = *poll_ns * 2 < POLL_MAX_NS ? *poll_ns * 2 : POLL_MAX_NS;
        device->polling = true;
        skrt_unlocked_wait(device, &device->work, &until);
        device->polling = false;
    } else {
        skrt_unlocked_wait(device, &device->work, NULL);
    }
    device->sleeping--;
    device->waking = false;
}

/* The next core to run, as soon as there is one; NULL when the device closes. */
static struct skrt_core *find_core(struct skrt_device *device)
{
    uint64_t poll_ns = POLL_MIN_NS;
    for (bool spun = false; !device->closing; spun = true) {
        struct skrt_core *core = pick_core(device);
        if (core)
            return core;
        if (device->busy == 0)
            device->came_to_rest(device);
        if (!spun && device->busy > 0 && device->spinning == 0)
            spin(device);
        else
            sleep_for_work(device, &poll_ns);
    }
    return NULL;
}

static void run_core(struct skrt_worker *worker, struct skrt_core *core)
{
    struct skrt_device *device = worker->device;
    assert(device->busy < device->n_workers);
    device->busy++;
    skrt_unlock(device);
    claim_core(worker, core);
    skrt_fiber_switch(&worker->host, core->fiber, false);
    release_previous(worker);
    assert(!worker->core);
    skrt_lock(device);
    device->busy--;
    if (worker->ended)
        device->core_ended(worker->ended);
    worker->ended = NULL;
}

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
    this_worker = worker;
    skrt_lock(device);
    for (struct skrt_core *core; (core = find_core(device)) != NULL;)
        run_core(worker, core);
    skrt_unlock(device);
    signal_stack_close(signal_stack);
    return NULL;
}
