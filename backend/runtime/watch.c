/* Cores that wait for events.
 *
 * A core that waits and one that sends each write first and look at what the other has written
 * then: the core makes its watch's turn odd and reads the word, the other writes the word and reads
 * the turn. All four are in the one order of sequentially consistent operations, so that at least
 * one of the two sees the other. Both may: whoever makes the turn even has the core go on.
 *
 * A turn never comes again. So who finds it unchanged when it makes it even knows that the core has
 * waited all along, for what stood in the watch when it was read. */
#include "backend/runtime/watch.h"

static struct skrt_watch *watch_of(const struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    assert(core->place != SKRT_NO_PLACE);
    return &device->watches[&device->holders[core->type][core->place] - device->holders[SKRT_AIC]];
}

/* Ends the wait if it is still the one of that turn, which is odd. */
static bool take(struct skrt_device *device, struct skrt_watch *watch, uint64_t turn)
{
    if (!atomic_compare_exchange_strong(&watch->turn, &turn, turn + 1))
        return false;
    atomic_fetch_sub(&device->n_watches, 1);
    return true;
}

/* `n_watches` comes before the turn: who sees none need not look for any. */
void skrt_watch_begin(struct skrt_core *core, const _Atomic uint64_t *word)
{
    struct skrt_device *device = core->device;
    struct skrt_watch *watch = watch_of(core);
    assert(core->worker->held == core->home && core->state == SKRT_CORE_BLOCKED);
    atomic_fetch_add(&device->n_watches, 1);
    atomic_store_explicit(&watch->core, core, memory_order_relaxed);
    atomic_store_explicit(&watch->word, word, memory_order_relaxed);
    uint64_t turn = atomic_fetch_add(&watch->turn, 1) + 1;
    assert(turn % 2 == 1);
    if (atomic_load(word) != 0 && take(device, watch, turn))
        skrt_home_ready(core);
}

/* Takes those that wait for the word into the list. */
static void take_all(struct skrt_device *device, const _Atomic uint64_t *word,
                     struct skrt_core_list *list)
{
    if (atomic_load(&device->n_watches) == 0)
        return;
    for (uint32_t i = 0; i < device->n_places; i++) {
        struct skrt_watch *watch = &device->watches[i];
        uint64_t turn = atomic_load(&watch->turn);
        if (turn % 2 == 1 && atomic_load_explicit(&watch->word, memory_order_relaxed) == word &&
            take(device, watch, turn))
            skrt_list_push(list, atomic_load_explicit(&watch->core, memory_order_relaxed));
    }
}

/* Has those go on that wait while their words are not 0; `word`: only for that one, or NULL. */
static void release(struct skrt_device *device, const _Atomic uint64_t *word)
{
    if (atomic_load(&device->n_watches) == 0)
        return;
    for (uint32_t i = 0; i < device->n_places; i++) {
        struct skrt_watch *watch = &device->watches[i];
        uint64_t turn = atomic_load(&watch->turn);
        if (turn % 2 == 0)
            continue;
        const _Atomic uint64_t *at = atomic_load_explicit(&watch->word, memory_order_relaxed);
        if ((!word || at == word) && atomic_load(at) != 0 && take(device, watch, turn))
            skrt_home_post(atomic_load_explicit(&watch->core, memory_order_relaxed));
    }
}

/* Those that have waited before go on even if the word is reset at once, but not before it is
 * written: they may reset it themselves. One that begins to wait in between goes on if it is not
 * reset: as if it had begun later, else. It may have begun to wait after that, and not be meant. */
void skrt_watch_send(struct skrt_device *device, _Atomic uint64_t *word)
{
    struct skrt_core_list list = {NULL, NULL};
    take_all(device, word, &list);
    atomic_store(word, 1);
    for (struct skrt_core *core; (core = skrt_list_pop(&list)) != NULL;)
        skrt_home_post(core);
    release(device, word);
}

void skrt_watch_poll(struct skrt_device *device)
{
    assert(device->locked);
    release(device, NULL);
}
