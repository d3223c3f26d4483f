/* The scheduler: a pool of threads, the workers, runs the cores that are not blocked.
 *
 * A core that blocks in the middle of code keeps the stack it is on, and its worker goes on with
 * the next core on another; else the stack is there for the next core. A worker first runs the
 * ready cores of its own home. When it has none left it looks out for a short while, then takes one
 * of another home, and if there is none either, it looks out again and sleeps.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "backend/runtime/scheduler.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "backend/runtime/idle.h"
#include "backend/runtime/nap.h"
#include "backend/runtime/stacks.h"
#include "backend/runtime/watch.h"

enum {
    POLL_EVERY = 64, /* picks of a core between looks at events while there are ready cores */
    CLAIM_SPINS = 200,
    LEAST_LOOKS = 25, /* before another home's cores are taken */
    MOST_LOOKS = 200,
    SIGNAL_STACK = 64 * 1024,
};

/* ----------------------------------------------------------------- gates ---- */

/* Whoever leaves ready cores in another worker's home, tells it, unless it naps: then it looks for
 * itself afterwards, and what it says of its nap before it enters its gate is known behind that. */
void skrt_sched_leave_all(struct skrt_worker *worker)
{
    struct skrt_home *home = worker->held;
    if (!home)
        return;
    worker->held = NULL;
    bool tell = home->owner != worker && home->ready.first &&
                !atomic_load_explicit(&home->owner->naps.down, memory_order_relaxed);
    skrt_gate_leave(&home->gate);
    if (tell)
        skrt_home_signal(home);
}

/* Who helps the owner gives way to it. */
static void wait_at_gate(struct skrt_worker *worker, struct skrt_home *home)
{
    bool own = home->owner == worker;
    if (own)
        atomic_store_explicit(&home->wanted, true, memory_order_relaxed);
    skrt_gate_wait(&home->gate);
    if (own)
        atomic_store_explicit(&home->wanted, false, memory_order_relaxed);
}

static void enter_home(struct skrt_worker *worker, struct skrt_home *home)
{
    if (worker->held != home) {
        skrt_sched_leave_all(worker);
        if (!skrt_gate_try(&home->gate))
            wait_at_gate(worker, home);
        worker->held = home;
    }
    worker->depth = 1;
}

/* Where all others nap, they are not needed yet. */
void skrt_sched_look_for_help(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    bool all_nap = atomic_load(&device->n_sleepers) == 0;
    worker->left = 0;
    if (atomic_load(&device->n_idle) == 0 || !skrt_idle_is_needed(device) ||
        (all_nap && !skrt_nap_is_late(worker->home)))
        return;
    skrt_lock(device);
    skrt_idle_call_late(device);
    skrt_unlock(device);
}

/* ----------------------------------------------------------------- waking ---- */

void skrt_sched_begin(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    assert(device->locked && core->state == SKRT_CORE_NEW);
    core->state = SKRT_CORE_READY;
    skrt_list_push(&device->fresh, core);
    atomic_fetch_add_explicit(&device->n_fresh, 1, memory_order_relaxed);
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

/* ------------------------------------------------------------------- choosing ---- */

static void poll_now_and_then(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    if (atomic_load_explicit(&device->n_watches, memory_order_relaxed) == 0 ||
        ++worker->picks % POLL_EVERY != 0)
        return;
    skrt_lock(device);
    skrt_watch_poll(device);
    skrt_unlock(device);
    skrt_home_collect(worker->home);
}

static struct skrt_core *pop_fresh(struct skrt_device *device)
{
    atomic_fetch_sub_explicit(&device->n_fresh, 1, memory_order_relaxed);
    return skrt_list_pop(&device->fresh);
}

/* Those that are next and at home here become ready. The lock is held, and the gate. */
static void move_fresh(struct skrt_device *device, struct skrt_home *home)
{
    bool any = false;
    for (; device->fresh.first && device->fresh.first->home == home; any = true)
        skrt_home_ready(pop_fresh(device));
    if (any)
        atomic_store_explicit(&home->since, skrt_clock(), memory_order_relaxed);
}

/* While there are new cores, they begin in turn, wherever they are at home: who would run one there
 * may take long to wake. Another home's core if it is next, with its gate entered. */
static struct skrt_core *pick_fresh(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    struct skrt_core *core = NULL;
    skrt_lock(device);
    move_fresh(device, worker->home);
    const struct skrt_core *own = worker->home->ready.first;
    if (device->fresh.first && (!own || own->begun))
        core = pop_fresh(device);
    if (device->fresh.first)
        skrt_idle_call(device);
    skrt_unlock(device);
    if (!core)
        return NULL;
    enter_home(worker, core->home);
    core->state = SKRT_CORE_RUNNING;
    return core;
}

/* The next core of the worker's own home, or a new one; its gate is entered then. */
static struct skrt_core *pick(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    struct skrt_core *core = NULL;
    enter_home(worker, worker->home);
    worker->heard = atomic_load_explicit(&worker->home->signals, memory_order_relaxed);
    skrt_home_collect(worker->home);
    if (!atomic_load_explicit(&device->stopped, memory_order_relaxed)) {
        poll_now_and_then(worker);
        if (atomic_load_explicit(&device->n_fresh, memory_order_relaxed) > 0)
            core = pick_fresh(worker);
        if (!core)
            core = skrt_home_take(worker->home);
    }
    if (core)
        worker->helps = false;
    else
        skrt_sched_leave_all(worker);
    return core;
}

/* A ready core of another home, whose gate is entered then. `wait` for gates that are not open. */
static struct skrt_core *steal(struct skrt_worker *worker, bool wait)
{
    struct skrt_device *device = worker->device;
    uint32_t own = (uint32_t)(worker->home - device->homes);
    if (atomic_load_explicit(&device->stopped, memory_order_relaxed))
        return NULL;
    for (uint32_t i = 1; i < device->n_workers; i++) {
        struct skrt_home *home = &device->homes[(own + i) % device->n_workers];
        if (!skrt_idle_has_work(home) || (!wait && !skrt_gate_try(&home->gate)))
            continue;
        if (wait)
            skrt_gate_enter(&home->gate);
        worker->held = home;
        worker->depth = 1;
        skrt_home_collect(home);
        struct skrt_core *core = skrt_home_take(home);
        if (core)
            return core;
        skrt_sched_leave_all(worker);
    }
    return NULL;
}

/* Another core of the home that the worker helps, as long as its own has none for it and the owner
 * does not come back. */
static struct skrt_core *help_on(struct skrt_worker *worker)
{
    struct skrt_home *home = worker->held;
    if (!worker->helps || !home || home == worker->home || skrt_home_has_news(worker->home) ||
        atomic_load_explicit(&home->wanted, memory_order_relaxed) ||
        atomic_load_explicit(&worker->device->stopped, memory_order_relaxed))
        return NULL;
    worker->depth = 1;
    return skrt_home_take(home);
}

/* The next core that is there at once: of the worker's home, or another one that it helps, or where
 * nobody else is up. */
static struct skrt_core *next_core(struct skrt_worker *worker, bool wait)
{
    struct skrt_core *core = help_on(worker);
    if (core)
        return core;
    core = pick(worker);
    if (core || !(worker->helps || wait || skrt_nap_leaves_one(worker->device)))
        return core;
    core = steal(worker, wait);
    worker->helps = core != NULL;
    return core;
}

static void poll_events(struct skrt_device *device)
{
    if (atomic_load_explicit(&device->n_watches, memory_order_relaxed) == 0 ||
        atomic_load_explicit(&device->stopped, memory_order_relaxed))
        return;
    skrt_lock(device);
    skrt_watch_poll(device);
    skrt_unlock(device);
}

/* Before the worker takes cores of others: news may be near. If not, it waits less next time. */
static bool look_out_first(struct skrt_worker *worker)
{
    bool news = skrt_idle_look_out(worker, worker->first_looks);
    uint32_t looks = news ? worker->first_looks * 2 : worker->first_looks / 2;
    worker->first_looks = looks < LEAST_LOOKS  ? LEAST_LOOKS
                          : looks > MOST_LOOKS ? MOST_LOOKS
                                               : looks;
    return news;
}

/* The next core to run, as soon as there is one; NULL when the device closes. */
static struct skrt_core *find_core(struct skrt_worker *worker)
{
    struct skrt_rest rest = {0};
    struct skrt_core *late = worker->late;
    worker->late = NULL;
    if (late)
        return late;
    for (;;) {
        struct skrt_core *core = next_core(worker, rest.again);
        if (core)
            return core;
        skrt_nap(worker);
        if (!skrt_nap_leaves_one(worker->device) && look_out_first(worker))
            continue;
        poll_events(worker->device);
        worker->helps = true;
        core = next_core(worker, false);
        if (core)
            return core;
        if (!skrt_idle_rest(worker, &rest))
            return NULL;
    }
}

/* --------------------------------------------------------------- switching ---- */

/* A core is found by other threads before its registers are saved: it is put into a list, and the
 * gate left, by code that still runs on its stack. */
static void claim(struct skrt_fiber *fiber)
{
    for (unsigned i = 1; atomic_load_explicit(&fiber->on_thread, memory_order_acquire); i++) {
        if (i % CLAIM_SPINS == 0)
            sched_yield();
        else
            skrt_pause();
    }
    atomic_store_explicit(&fiber->on_thread, true, memory_order_relaxed);
}

/* To be done after every switch, on the new stack: the one that was left can be resumed now. */
static void release_previous(struct skrt_worker *worker)
{
    if (worker->previous)
        atomic_store_explicit(&worker->previous->on_thread, false, memory_order_release);
    worker->previous = NULL;
    if (worker->unused)
        skrt_stacks_give(worker, worker->unused);
    worker->unused = NULL;
}

/* From one stack to another, neither of which is a thread's own, or one. */
static void switch_stack(struct skrt_worker *worker, struct skrt_fiber *from, struct skrt_fiber *to,
                         bool last)
{
    assert(!worker->previous && from != to);
    if (to != &worker->host)
        claim(to);
    to->worker = worker;
    worker->previous = from;
    skrt_fiber_switch(from, to, last);
    release_previous(from->worker); /* perhaps another one by now */
}

/* Makes a core that was picked the worker's, and says on which stack it goes on. */
static struct skrt_fiber *stack_for(struct skrt_worker *worker, struct skrt_core *core)
{
    if (!core->fiber) {
        worker->next = core;
        return skrt_stacks_take(worker);
    }
    core->worker = worker;
    worker->core = core;
    skrt_sched_let_go(worker, SKRT_SHORTLY);
    return core->fiber;
}

/* Two workers may be about to leave cores for each other's: so nobody waits for another one to
 * leave a stack while its own is one that a core goes on with. */
void skrt_sched_switch(struct skrt_core *core)
{
    struct skrt_worker *worker = core->worker;
    assert(worker->core == core && worker->held == core->home);
    if (worker->shares)
        skrt_sched_unshare(core);
    struct skrt_fiber *own = core->fiber;
    worker->core = NULL;
    struct skrt_core *next = next_core(worker, false);
    if (next == core) { /* it has become ready in between */
        worker->core = core;
        skrt_sched_let_go(worker, SKRT_SHORTLY);
        return;
    }
    if (next && next->fiber && atomic_load(&next->fiber->on_thread)) {
        skrt_sched_leave_all(worker);
        worker->late = next;
        next = NULL;
    }
    switch_stack(worker, own, next ? stack_for(worker, next) : &worker->host, false);
}

_Noreturn void skrt_sched_halt(struct skrt_core *core)
{
    struct skrt_worker *worker = core->worker;
    assert(worker->held == core->home);
    core->state = SKRT_CORE_HALTED;
    worker->core = NULL;
    if (worker->shares)
        skrt_sched_unshare(core);
    skrt_sched_leave_all(worker);
    switch_stack(worker, core->fiber, &worker->host, true);
    __builtin_unreachable();
}

void skrt_sched_park(struct skrt_core *core)
{
    assert(core->worker->held == core->home && core->state == SKRT_CORE_BLOCKED);
    core->fiber = NULL;
    core->worker->core = NULL;
}

/* Runs a core that has no stack yet, on the calling one. */
static void run_core(struct skrt_fiber *fiber, struct skrt_core *core)
{
    struct skrt_worker *worker = fiber->worker;
    struct skrt_device *device = worker->device;
    core->fiber = fiber;
    core->worker = worker;
    core->begun = true;
    worker->core = core;
    if (!device->core_run(core))
        return;
    skrt_sched_enter(core);
    core->state = SKRT_CORE_FINISHED;
    core->fiber = NULL;
    core->worker->core = NULL;
    skrt_sched_leave_all(core->worker);
    skrt_lock(device);
    device->core_ended(core);
    skrt_unlock(device);
}

void skrt_sched_stack(void *arg)
{
    struct skrt_fiber *fiber = arg;
    release_previous(fiber->worker);
    for (;;) {
        struct skrt_core *core = fiber->worker->next;
        fiber->worker->next = NULL;
        for (; core && !core->fiber; core = next_core(fiber->worker, false))
            run_core(fiber, core);
        struct skrt_worker *worker = fiber->worker;
        worker->unused = fiber;
        switch_stack(worker, fiber, core ? stack_for(worker, core) : &worker->host, false);
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
    void *signal_stack = signal_stack_open();
    skrt_fiber_init_thread(&worker->host);
    worker->host.worker = worker;
    this_worker = worker;
    skrt_idle_end(worker);
    for (struct skrt_core *core; (core = find_core(worker)) != NULL;)
        switch_stack(worker, &worker->host, stack_for(worker, core), false);
    signal_stack_close(signal_stack);
    return NULL;
}
