#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "backend/runtime/futex_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LOCK_SPINS = 100,
    MISSED_NS = 50 * 1000, /* until a sleeper that no thread has woken looks again */
    NS_PER_S = 1000 * 1000 * 1000,
};

uint64_t skrt_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void skrt_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns ? &time : NULL, NULL, 0);
}

void skrt_futex_wake(_Atomic uint32_t *word, uint32_t sleepers)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, sleepers, NULL, NULL, 0);
}

void skrt_wake(_Atomic uint32_t *word, uint32_t sleepers)
{
    atomic_fetch_add(word, 1);
    skrt_futex_wake(word, sleepers);
}

void skrt_futex_lock_wait(struct skrt_futex_lock *lock)
{
    for (unsigned i = 0; i < LOCK_SPINS; i++) {
        skrt_pause();
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == SKRT_UNLOCKED &&
            skrt_futex_trylock(lock))
            return;
    }
    while (atomic_exchange_explicit(&lock->word, SKRT_LOCK_WANTED, memory_order_acquire) !=
           SKRT_UNLOCKED)
        skrt_sleep(&lock->word, SKRT_LOCK_WANTED, MISSED_NS);
}
