/* A lock of one word that is free nearly always, and sleeping until a word changes. */
#ifndef BACKEND_RUNTIME_GATE_H
#define BACKEND_RUNTIME_GATE_H

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

/* Sleeps until somebody wakes those that sleep at the word, unless it is not `value` (any more), or
 * for so many nanoseconds; 0: without an end. May return early. */
void skrt_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t ns);
/* Wakes one. */
void skrt_sleep_end(_Atomic uint32_t *word);

/* Unlike a mutex it may be left by another thread than the one that has entered. Zeroed: free. Who
 * leaves it may miss one that has just begun to sleep there, who looks again after a short while:
 * so leaving it is a store. */
struct skrt_gate {
    _Atomic uint32_t word;
};
enum { SKRT_GATE_FREE, SKRT_GATE_HELD, SKRT_GATE_WANTED };

static inline bool skrt_gate_try(struct skrt_gate *gate)
{
    uint32_t expected = SKRT_GATE_FREE;
    return atomic_compare_exchange_strong_explicit(&gate->word, &expected, SKRT_GATE_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Spins a little, then sleeps. */
void skrt_gate_wait(struct skrt_gate *gate);

static inline void skrt_gate_enter(struct skrt_gate *gate)
{
    if (!skrt_gate_try(gate))
        skrt_gate_wait(gate);
}

static inline void skrt_gate_leave(struct skrt_gate *gate)
{
    bool wanted = atomic_load_explicit(&gate->word, memory_order_relaxed) == SKRT_GATE_WANTED;
    atomic_store_explicit(&gate->word, SKRT_GATE_FREE, memory_order_release);
    if (wanted)
        skrt_sleep_end(&gate->word);
}

#pragma GCC visibility pop

#endif
