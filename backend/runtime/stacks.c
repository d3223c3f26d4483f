#include "backend/runtime/stacks.h"

#include <time.h>

enum { STACKS_PER_WORKER = 1 + SKRT_SPARE_STACKS };

uint32_t skrt_stacks_most(uint32_t places, uint32_t workers)
{
    return places + workers * STACKS_PER_WORKER;
}

bool skrt_stacks_map(struct skrt_device *device, uint64_t cores, skrt_fiber_fn *fn)
{
    assert(device->locked);
    uint64_t need = cores + (uint64_t)device->n_workers * STACKS_PER_WORKER;
    for (; device->n_fibers < device->most_fibers && device->n_fibers < need; device->n_fibers++) {
        struct skrt_fiber *fiber = &device->fibers[device->n_fibers];
        if (!skrt_fiber_map(fiber))
            return false;
        skrt_fiber_reset(fiber, fn, fiber);
        device->free_fibers[device->n_free_fibers++] = fiber;
    }
    return true;
}

bool skrt_stacks_overflow(const struct skrt_device *device, const void *address)
{
    const char *at = address;
    for (uint32_t i = 0; i < device->n_fibers; i++)
        if (at >= device->fibers[i].map && at < device->fibers[i].stack)
            return true;
    return false;
}

/* Behind the last launch a worker leaves its stack, be it late where other threads keep it from
 * its processor; one that a sub-kernel has ended does not. */
static bool wait_left(const struct skrt_fiber *fiber)
{
    enum { TRIES = 5000 };
    const struct timespec shortly = {.tv_nsec = 100000};
    for (int i = 0; i < TRIES; i++) {
        if (!atomic_load_explicit(&fiber->on_thread, memory_order_acquire))
            return true;
        nanosleep(&shortly, NULL);
    }
    return false;
}

void skrt_stacks_spoil(struct skrt_device *device, unsigned char byte, size_t size)
{
    for (uint32_t i = 0; i < device->n_fibers; i++)
        if (wait_left(&device->fibers[i]))
            skrt_fiber_spoil(&device->fibers[i], byte, size);
}

struct skrt_fiber *skrt_stacks_take(struct skrt_worker *worker)
{
    struct skrt_device *device = worker->device;
    if (worker->n_spare > 0)
        return worker->spare[--worker->n_spare];
    skrt_lock(device);
    assert(device->n_free_fibers > 0);
    struct skrt_fiber *fiber = device->free_fibers[--device->n_free_fibers];
    skrt_unlock(device);
    return fiber;
}

void skrt_stacks_give(struct skrt_worker *worker, struct skrt_fiber *fiber)
{
    struct skrt_device *device = worker->device;
    if (worker->n_spare < SKRT_SPARE_STACKS) {
        worker->spare[worker->n_spare++] = fiber;
        return;
    }
    skrt_lock(device);
    device->free_fibers[device->n_free_fibers++] = fiber;
    skrt_unlock(device);
}
