#include "backend/runtime/idle.h"

enum {
    LEAST_PATIENCE = 500,
    POLL_MIN_NS = 20 * 1000,
    POLL_MAX_NS = 1000 * 1000,
};

bool skrt_idle_has_work(const struct skrt_home *home)
{
    return (atomic_load(&home->n_ready) > 0 || skrt_home_has_news(home)) &&
           !atomic_load_explicit(&home->wanted, memory_order_relaxed);
}

bool skrt_idle_is_needed(const struct skrt_device *device)
{
    for (uint32_t i = 0; i < device->n_homes; i++)
        if (skrt_idle_has_work(&device->homes[i]) && !atomic_load(&device->homes[i].asleep))
            return true;
    return false;
}

static bool was_told(const struct skrt_worker *worker)
{
    return atomic_load(&worker->home->signals) != worker->heard;
}

bool skrt_idle_look_out(struct skrt_worker *worker, uint32_t most)
{
    bool news = was_told(worker);
    most = most < worker->patience ? most : worker->patience;
    uint32_t looks = 0;
    for (; looks < most && !news; looks++) {
        skrt_pause();
        news = was_told(worker);
    }
    atomic_fetch_add_explicit(&worker->n_looks, looks, memory_order_relaxed);
    return news;
}

/* ----------------------------------------------------------------- coming to rest ---- */

/* Whoever has something to do, or was told so, is not idle, or will not be. */
void skrt_idle_check(struct skrt_device *device)
{
    assert(device->locked);
    if (atomic_load(&device->n_idle) < device->n_workers || device->calling)
        return;
    for (uint32_t i = 0; i < device->n_workers && !atomic_load(&device->stopped); i++)
        if (skrt_idle_has_work(&device->homes[i]))
            return;
    device->came_to_rest(device);
}

/* Whoever can be woken. */
static struct skrt_worker *find_idle(struct skrt_device *device, bool naps)
{
    struct skrt_worker *found = NULL;
    for (uint32_t i = 0; i < device->n_workers; i++) {
        struct skrt_worker *worker = &device->workers[i];
        bool may = naps ? worker->nap == SKRT_NAP_LIGHT : worker->idle && !worker->nap;
        if (may && !found)
            found = worker;
    }
    return found;
}

void skrt_idle_call(struct skrt_device *device)
{
    assert(device->locked);
    if (device->calling)
        return;
    struct skrt_worker *worker = find_idle(device, false);
    if (!worker)
        return;
    device->calling = worker->called = true;
    skrt_home_signal(worker->home);
}

/* Or its next one. */
static void end_nap(struct skrt_worker *worker)
{
    atomic_store(&worker->naps.awake, 1);
    skrt_sleep_end(&worker->naps.awake);
}

void skrt_idle_call_late(struct skrt_device *device)
{
    struct skrt_worker *worker = find_idle(device, true);
    if (worker)
        end_nap(worker);
    else
        skrt_idle_call(device);
}

void skrt_idle_dismiss(struct skrt_device *device)
{
    assert(device->locked);
    device->closing = true;
    for (uint32_t i = 0; i < device->n_workers; i++) {
        skrt_home_signal(&device->homes[i]);
        end_nap(&device->workers[i]);
    }
}

/* ------------------------------------------------------------------------ resting ---- */

bool skrt_idle_has_missed(const struct skrt_worker *worker)
{
    const struct skrt_device *device = worker->device;
    if (was_told(worker))
        return true;
    return !atomic_load(&device->stopped) && device->fresh.first;
}

/* Looks for what was left to others, which nobody calls it for if it was not idle then. */
static bool others_have_work(const struct skrt_worker *worker)
{
    const struct skrt_device *device = worker->device;
    if (atomic_load(&device->stopped))
        return false;
    for (uint32_t i = 0; i < device->n_workers; i++)
        if (&device->homes[i] != worker->home && skrt_idle_has_work(&device->homes[i]))
            return true;
    return false;
}

/* Becomes idle; returns whether the worker is the one that looks after events. */
static bool lie_down(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    worker->idle = true;
    atomic_fetch_add(&device->n_sleepers, 1);
    atomic_fetch_add(&device->n_idle, 1);
    skrt_idle_check(device);
    if (atomic_load(&device->n_watches) == 0 || atomic_load(&device->polling) ||
        atomic_load(&device->stopped))
        return false;
    atomic_store(&device->polling, true);
    return true;
}

static void get_up(struct skrt_worker *worker, bool polls)
{
    struct skrt_device *device = worker->device;
    worker->idle = false;
    atomic_fetch_sub(&device->n_idle, 1);
    atomic_fetch_sub(&device->n_sleepers, 1);
    if (worker->called)
        device->calling = worker->called = false;
    if (polls)
        atomic_store(&device->polling, false);
}

void skrt_idle_end(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    skrt_lock(device);
    get_up(worker, false);
    device->n_started++;
    pthread_cond_signal(&device->done);
    skrt_unlock(device);
}

/* Whoever signals after the flag is set wakes the worker; what was signalled before is seen. */
static void sleep_for(struct skrt_worker *worker, uint64_t ns)
{
    struct skrt_home *home = worker->home;
    atomic_store(&home->asleep, true);
    if (!was_told(worker)) {
        atomic_fetch_add_explicit(&worker->n_sleeps, 1, memory_order_relaxed);
        uint64_t begin = skrt_clock();
        skrt_sleep(&home->signals, worker->heard, ns);
        worker->naps.slept += skrt_clock() - begin;
    }
    atomic_store(&home->asleep, false);
}

/* Where looking out has been no use, less of it is done next time. */
static void look_out_or_sleep(struct skrt_worker *worker)
{
    uint32_t most = worker->device->patience, patience = worker->patience;
    if (most == 0 || patience == 0) {
        sleep_for(worker, 0);
    } else if (skrt_idle_look_out(worker, patience)) {
        worker->patience = patience * 2 < most ? patience * 2 : most;
    } else {
        worker->patience = patience / 2 > LEAST_PATIENCE ? patience / 2 : LEAST_PATIENCE;
        sleep_for(worker, 0);
    }
}

/* Less and less often. */
static uint64_t next_poll(struct skrt_rest *rest)
{
    uint64_t ns = rest->poll_ns * 2 < POLL_MAX_NS ? rest->poll_ns * 2 : POLL_MAX_NS;
    return rest->poll_ns = rest->poll_ns ? ns : POLL_MIN_NS;
}

bool skrt_idle_rest(struct skrt_worker *worker, struct skrt_rest *rest)
{
    struct skrt_device *device = worker->device;
    skrt_lock(device);
    bool closing = device->closing, missed = skrt_idle_has_missed(worker);
    bool polls = !closing && !missed && lie_down(worker);
    skrt_unlock(device);
    if (closing || missed)
        return !closing;
    rest->again = others_have_work(worker);
    if (polls && !rest->again)
        sleep_for(worker, next_poll(rest));
    else if (!rest->again)
        look_out_or_sleep(worker);
    skrt_lock(device);
    get_up(worker, polls);
    skrt_unlock(device);
    return true;
}
