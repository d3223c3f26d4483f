/* Cores that wait for events, which are words in memory: whoever sends one finds them without a
 * lock. */
#ifndef BACKEND_RUNTIME_WATCH_H
#define BACKEND_RUNTIME_WATCH_H

#include "backend/runtime/home.h"

#pragma GCC visibility push(hidden)

/* The core of a watch, if one waits there; else NULL. */
static inline struct skrt_core *skrt_watch_core(const struct skrt_watch *watch)
{
    return atomic_load(&watch->turn) % 2 ? atomic_load(&watch->core) : NULL;
}

/* A core that is blocked, and in no list, goes on when the word is not 0. It may do so at once, but
 * for its gate, which is entered. */
void skrt_watch_begin(struct skrt_core *core, const _Atomic uint64_t *word);
/* Makes the word 1; who waits for it goes on, whatever becomes of the word then. For everybody. */
void skrt_watch_send(struct skrt_device *device, _Atomic uint64_t *word);
/* Who waits for a word that is not 0, whoever has written that, goes on. For who has the device's
 * lock: no launch ends meanwhile, and takes its words with it. */
void skrt_watch_poll(struct skrt_device *device);

#pragma GCC visibility pop

#endif
