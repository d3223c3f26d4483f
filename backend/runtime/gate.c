#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "backend/runtime/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    GATE_SPINS = 100,
    MISSED_NS = 50 * 1000, /* until a sleeper looks again whom nobody has woken */
    NS_PER_S = 1000 * 1000 * 1000,
};

uint64_t skrt_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void skrt_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns ? &time : NULL, NULL, 0);
}

void skrt_sleep_end(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void skrt_gate_wait(struct skrt_gate *gate)
{
    for (unsigned i = 0; i < GATE_SPINS; i++) {
        skrt_pause();
        if (atomic_load_explicit(&gate->word, memory_order_relaxed) == SKRT_GATE_FREE &&
            skrt_gate_try(gate))
            return;
    }
    while (atomic_exchange_explicit(&gate->word, SKRT_GATE_WANTED, memory_order_acquire) !=
           SKRT_GATE_FREE)
        skrt_sleep(&gate->word, SKRT_GATE_WANTED, MISSED_NS);
}
