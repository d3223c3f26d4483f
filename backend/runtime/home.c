#include "backend/runtime/home.h"

/* ---------------------------------------------------------------- from elsewhere ---- */

/* The owner says that it is asleep before it looks at `signals` for the last time. */
void skrt_home_signal(struct skrt_home *home)
{
    atomic_fetch_add(&home->signals, 1);
    if (atomic_load(&home->asleep))
        skrt_sleep_end(&home->signals);
}

static void put_into_inbox(struct skrt_core *core)
{
    struct skrt_home *home = core->home;
    core->next = atomic_load_explicit(&home->inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&home->inbox, &core->next, core,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

void skrt_home_post(struct skrt_core *core)
{
    struct skrt_home *home = core->home; /* the core may be gone behind the next line */
    put_into_inbox(core);
    skrt_home_signal(home);
}

void skrt_home_post_all(struct skrt_device *device, struct skrt_core_list *list)
{
    assert(device->locked);
    for (const struct skrt_core *core = list->first; core; core = core->next)
        core->home->told = true;
    for (struct skrt_core *core; (core = skrt_list_pop(list)) != NULL;)
        put_into_inbox(core);
    for (uint32_t i = 0; i < device->n_homes; i++) {
        if (device->homes[i].told)
            skrt_home_signal(&device->homes[i]);
        device->homes[i].told = false;
    }
}

/* ------------------------------------------------------------- behind the gate ---- */

static void count_ready(struct skrt_home *home, int change)
{
    uint32_t n = atomic_load_explicit(&home->n_ready, memory_order_relaxed);
    atomic_store_explicit(&home->n_ready, n + (uint32_t)change, memory_order_relaxed);
}

void skrt_home_ready(struct skrt_core *core)
{
    assert(core->state == SKRT_CORE_BLOCKED || !core->begun);
    core->state = SKRT_CORE_READY;
    skrt_list_push(&core->home->ready, core);
    count_ready(core->home, 1);
}

struct skrt_core *skrt_home_take(struct skrt_home *home)
{
    struct skrt_core *core = skrt_list_pop(&home->ready);
    if (!core)
        return NULL;
    assert(core->state == SKRT_CORE_READY);
    core->state = SKRT_CORE_RUNNING;
    count_ready(home, -1);
    return core;
}

/* In the order in which they were put there. */
static void empty_inbox(struct skrt_home *home)
{
    struct skrt_core *core = atomic_exchange_explicit(&home->inbox, NULL, memory_order_acquire);
    struct skrt_core *turned = NULL;
    while (core) {
        struct skrt_core *next = core->next;
        core->next = turned;
        turned = core;
        core = next;
    }
    while (turned) {
        core = turned;
        turned = core->next;
        skrt_home_ready(core);
    }
}

void skrt_home_collect(struct skrt_home *home)
{
    uint32_t signals = atomic_load_explicit(&home->signals, memory_order_acquire);
    if (signals == atomic_load_explicit(&home->seen, memory_order_relaxed))
        return;
    atomic_store_explicit(&home->seen, signals, memory_order_relaxed);
    if (atomic_load_explicit(&home->inbox, memory_order_relaxed))
        empty_inbox(home);
    for (struct skrt_half **link = &home->waiting; *link;) {
        struct skrt_half *half = *link;
        skrt_half_release(half);
        if (*link == half)
            link = &half->next;
    }
}

/* ------------------------------------------------------------------- barriers ---- */

static void unlink_half(struct skrt_home *home, struct skrt_half *half)
{
    struct skrt_half **link = &home->waiting;
    while (*link != half)
        link = &(*link)->next;
    *link = half->next;
}

void skrt_half_release(struct skrt_half *half)
{
    uint64_t complete = atomic_load_explicit(&half->barrier->complete, memory_order_acquire);
    if (complete == half->released)
        return;
    half->released = complete;
    struct skrt_core *core = skrt_list_pop(&half->waiters);
    if (!core)
        return;
    unlink_half(core->home, half);
    atomic_store_explicit(&core->home->since, skrt_clock(), memory_order_relaxed);
    for (; core; core = skrt_list_pop(&half->waiters))
        skrt_home_ready(core);
}

void skrt_half_wait(struct skrt_half *half, struct skrt_core *core)
{
    if (!half->waiters.first) {
        half->next = core->home->waiting;
        core->home->waiting = half;
    }
    skrt_list_push(&half->waiters, core);
}
