/* A lock of one word that is free nearly always, and sleeping until a word changes. */
#ifndef BACKEND_RUNTIME_FUTEX_LOCK_H
#define BACKEND_RUNTIME_FUTEX_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

static inline void skrt_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Nanoseconds of the monotonic clock. */
uint64_t skrt_clock(void);

/* Sleeps until a thread wakes the sleepers of the word, unless the word is not `value` (any more),
 * or for so many nanoseconds; 0: without a limit. May return early. */
void skrt_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
/* Changes the word and wakes so many of its sleepers. */
void skrt_wake(_Atomic uint32_t *word, uint32_t sleepers);

/* Zeroed: free. Unlocking is a store, which may miss a thread that has just begun to sleep there;
 * that thread looks again after a short while. */
struct skrt_futex_lock {
    _Atomic uint32_t word;
};
enum { SKRT_UNLOCKED, SKRT_LOCKED, SKRT_LOCK_WANTED };

static inline bool skrt_futex_trylock(struct skrt_futex_lock *lock)
{
    uint32_t expected = SKRT_UNLOCKED;
    return atomic_compare_exchange_strong_explicit(&lock->word, &expected, SKRT_LOCKED,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Spins a little, then sleeps. */
void skrt_futex_lock_wait(struct skrt_futex_lock *lock);

static inline void skrt_futex_lock(struct skrt_futex_lock *lock)
{
    if (!skrt_futex_trylock(lock))
        skrt_futex_lock_wait(lock);
}

void skrt_futex_wake(_Atomic uint32_t *word, uint32_t sleepers);

static inline void skrt_futex_unlock(struct skrt_futex_lock *lock)
{
    bool wanted = atomic_load_explicit(&lock->word, memory_order_relaxed) == SKRT_LOCK_WANTED;
    atomic_store_explicit(&lock->word, SKRT_UNLOCKED, memory_order_release);
    if (wanted)
        skrt_futex_wake(&lock->word, 1);
}

#pragma GCC visibility pop

#endif
