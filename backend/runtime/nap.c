#include "backend/runtime/nap.h"

#include <time.h>

#include "backend/runtime/idle.h"

enum {
    LOOK_EVERY = 64, /* waits for a core, between looks at what the machine does */
    LOST_SHARE = 4,  /* of the time: if more was lost, the machine has no processor to spare */
    WORTH = 16,      /* naps: a worker that is up for so long has been of use */
    NS_PER_S = 1000 * 1000 * 1000,
    US = 1000,
    SHORT_NS = 8 * US, /* from one wait to the next: so fast cores do not need two workers */
    LATE_NS = 30 * US,
    MIN_NS = 1000 * US,
    LIGHT_MAX_NS = 16 * 1000 * US,
    DEEP_MAX_NS = 128 * 1000 * US,
};

/* Nanoseconds for which the calling thread had a processor. */
static uint64_t clock_of_thread(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

bool skrt_nap_is_late(const struct skrt_home *home)
{
    return skrt_clock() - atomic_load_explicit(&home->since, memory_order_relaxed) > LATE_NS;
}

/* False where there is something to do. */
static bool lie_down(struct skrt_worker *worker, enum skrt_nap nap)
{
    struct skrt_device *device = worker->device;
    skrt_lock(device);
    bool can = !device->closing && !skrt_idle_has_missed(worker);
    if (can) {
        worker->idle = true;
        worker->nap = nap;
        atomic_store(&worker->naps.awake, 0);
        atomic_store(&worker->naps.down, true);
        atomic_fetch_add(&device->n_naps, 1);
        atomic_fetch_add(&device->n_idle, 1);
        skrt_idle_check(device);
    }
    skrt_unlock(device);
    return can;
}

static void get_up(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    skrt_lock(device);
    worker->idle = false;
    worker->nap = SKRT_NAP_NONE;
    atomic_store(&worker->naps.down, false);
    atomic_fetch_sub(&device->n_naps, 1);
    atomic_fetch_sub(&device->n_idle, 1);
    skrt_unlock(device);
    worker->naps.up_since = worker->naps.looked = skrt_clock();
    worker->naps.ran = clock_of_thread();
    worker->naps.slept = 0;
}

/* Longer than the last time if that was of no use. */
static uint64_t nap_time(const struct skrt_naps *naps, uint64_t now, uint64_t most)
{
    uint64_t ns = now - naps->up_since < naps->ns * WORTH ? naps->ns * 2 : MIN_NS;
    return ns < most ? ns : most;
}

/* Looks at what the machine has done since the last look: whether the worker has wanted a processor
 * and had none. */
static enum skrt_nap find_reason(struct skrt_naps *naps, uint64_t now)
{
    uint64_t passed = now - naps->looked, ran = clock_of_thread();
    uint64_t accounted = ran - naps->ran + naps->slept;
    uint64_t lost = passed > accounted ? passed - accounted : 0;
    bool first = naps->looked == 0;
    naps->looked = now;
    naps->ran = ran;
    naps->slept = 0;
    if (first)
        return SKRT_NAP_NONE;
    if (lost > passed / LOST_SHARE)
        return SKRT_NAP_DEEP;
    return passed < (uint64_t)SHORT_NS * LOOK_EVERY ? SKRT_NAP_LIGHT : SKRT_NAP_NONE;
}

void skrt_nap(struct skrt_worker *worker)
{
    struct skrt_naps *naps = &worker->naps;
    if (worker == worker->device->workers || ++naps->waits % LOOK_EVERY != 0)
        return;
    uint64_t now = skrt_clock();
    enum skrt_nap nap = find_reason(naps, now);
    if (!nap)
        return;
    if (!lie_down(worker, nap)) {
        naps->waits--; /* at the next wait, then */
        return;
    }
    naps->ns = nap_time(naps, now, nap == SKRT_NAP_DEEP ? DEEP_MAX_NS : LIGHT_MAX_NS);
    atomic_fetch_add_explicit(&worker->n_sleeps, 1, memory_order_relaxed);
    skrt_sleep(&naps->awake, 0, naps->ns);
    get_up(worker);
}
