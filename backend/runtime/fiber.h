/* Fibers: stacks of their own and the switch between them. A fiber may be resumed by another
 * thread than the one that left it. */
#ifndef BACKEND_RUNTIME_FIBER_H
#define BACKEND_RUNTIME_FIBER_H

#include <stdbool.h>
#include <stddef.h>

/* Usable bytes of a fiber's stack; and bytes below it that nobody may touch, so that large frames
 * do not reach what is below: addresses only, as no page of them is used. Where addresses are
 * limited (RLIMIT_AS) there are fewer. */
enum {
    SKRT_FIBER_STACK = 256 * 1024,
    SKRT_FIBER_GAP = 64 * 1024 * 1024,
    SKRT_FIBER_SMALL_GAP = 1024 * 1024
};

typedef void skrt_fiber_fn(void *arg);

struct skrt_worker;

struct skrt_fiber {
    _Alignas(64) void *context; /* while switched away: where its registers are */
    char *map;                  /* gap and stack; NULL for a thread's own stack */
    size_t map_size;
    char *stack; /* lowest usable byte */
    size_t stack_size;
    skrt_fiber_fn *fn;
    void *arg;
    void *fake_stack;           /* AddressSanitizer's */
    void *tsan;                 /* ThreadSanitizer's */
    unsigned valgrind;          /* its number of the stack */
    struct skrt_worker *worker; /* whose thread it is on, or was; the scheduler's */
};

/* Makes a fiber of the calling thread, to be switched away from and back to. */
void skrt_fiber_init_thread(struct skrt_fiber *fiber);

/* Gives a zeroed fiber its stack, unless it has one. False where there is no memory. */
bool skrt_fiber_map(struct skrt_fiber *fiber);

/* The next switch to the fiber calls fn(arg), which must never return. Whatever the fiber did
 * before is forgotten. It must not be running. */
void skrt_fiber_reset(struct skrt_fiber *fiber, skrt_fiber_fn *fn, void *arg);

/* Leaves `from`, which is running, for `to`, which is not. Returns when something switches back.
 * `last` tells that this never happens. */
void skrt_fiber_switch(struct skrt_fiber *from, struct skrt_fiber *to, bool last);

/* Releases the stack. The fiber must not be running. */
void skrt_fiber_unmap(struct skrt_fiber *fiber);

#endif
