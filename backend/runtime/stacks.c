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
