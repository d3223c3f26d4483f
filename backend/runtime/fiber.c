#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_STACK, pthread_getattr_np */
#endif
#include "backend/runtime/fiber.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SKRT_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SKRT_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SKRT_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define SKRT_TSAN 1
#endif

/* Valgrind must be told of stacks; to anyone else this is a few idle instructions. */
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(first, last) 0
#define VALGRIND_STACK_DEREGISTER(id) (void)(id)
#endif

#ifdef SKRT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SKRT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

/* The tops of stacks, which switches touch, are apart modulo the size of a page: else they would
 * all be in the same lines of a cache. */
enum { COLOURS = 16, COLOUR = 256 };

/* ------------------------------------------------------------- the machine's part ---- */

/* context_make writes the frame of a fiber that has not run yet, context_swap saves the
 * registers that a call preserves (with the floating-point control state) and loads others. */

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(SKRT_FIBER_UCONTEXT)
#define SKRT_FIBER_ASM 1

/* A saved frame, from the stack pointer up: control words, r15 r14 r13 r12 rbx rbp, the return
 * address. A new fiber starts in skrt_fiber_boot with its argument in r12, its function in r13. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl skrt_fiber_swap\n"
        ".hidden skrt_fiber_swap\n"
        ".type skrt_fiber_swap, %function\n"
        "skrt_fiber_swap:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    subq $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    addq $8, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size skrt_fiber_swap, . - skrt_fiber_swap\n"
        ".globl skrt_fiber_boot\n"
        ".hidden skrt_fiber_boot\n"
        ".type skrt_fiber_boot, %function\n"
        "skrt_fiber_boot:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    movq %r12, %rdi\n"
        "    callq *%r13\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size skrt_fiber_boot, . - skrt_fiber_boot\n");

enum { FRAME_WORDS = 8, FRAME_ARG = 4, FRAME_FN = 3, FRAME_RETURN = 7 };

static void frame_init_control(uint64_t *frame)
{
    uint32_t mxcsr;
    uint16_t control;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(control));
    frame[0] = mxcsr | (uint64_t)control << 32;
}

#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(SKRT_FIBER_UCONTEXT)
#define SKRT_FIBER_ASM 1

/* A saved frame, from the stack pointer up: x19 to x30, d8 to d15, fpcr, one word of padding. A
 * new fiber starts in skrt_fiber_boot with its argument in x19, its function in x20. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl skrt_fiber_swap\n"
        ".hidden skrt_fiber_swap\n"
        ".type skrt_fiber_swap, %function\n"
        "skrt_fiber_swap:\n"
        "    sub sp, sp, #176\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mrs x9, fpcr\n"
        "    str x9, [sp, #160]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldr x9, [sp, #160]\n"
        "    msr fpcr, x9\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    add sp, sp, #176\n"
        "    ret\n"
        ".size skrt_fiber_swap, . - skrt_fiber_swap\n"
        ".globl skrt_fiber_boot\n"
        ".hidden skrt_fiber_boot\n"
        ".type skrt_fiber_boot, %function\n"
        "skrt_fiber_boot:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined x30\n"
        "    mov x0, x19\n"
        "    blr x20\n"
        "    brk #1\n"
        "    .cfi_endproc\n"
        ".size skrt_fiber_boot, . - skrt_fiber_boot\n");

enum { FRAME_WORDS = 22, FRAME_ARG = 0, FRAME_FN = 1, FRAME_RETURN = 11, FRAME_CONTROL = 20 };

static void frame_init_control(uint64_t *frame)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(frame[FRAME_CONTROL]));
}

#endif

static void fiber_main(void *arg);

#ifdef SKRT_FIBER_ASM

void skrt_fiber_swap(void **save, void *load);
void skrt_fiber_boot(void);

static void context_make(struct skrt_fiber *fiber)
{
    uintptr_t top = ((uintptr_t)fiber->stack + fiber->stack_size) & ~(uintptr_t)15;
    uint64_t *frame = (uint64_t *)top - FRAME_WORDS;
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame_init_control(frame);
    frame[FRAME_ARG] = (uintptr_t)fiber;
    frame[FRAME_FN] = (uintptr_t)fiber_main;
    frame[FRAME_RETURN] = (uintptr_t)skrt_fiber_boot;
    fiber->context = frame;
}

static void context_swap(struct skrt_fiber *from, struct skrt_fiber *to)
{
    skrt_fiber_swap(&from->context, to->context);
}

#else
#include <ucontext.h>

/* makecontext passes ints only. */
static void context_boot(unsigned high, unsigned low)
{
    fiber_main((void *)(uintptr_t)((uint64_t)high << 32 | low));
}

/* The ucontext_t lies at the top of the stack that it describes. */
static void context_make(struct skrt_fiber *fiber)
{
    size_t size = (fiber->stack_size - sizeof(ucontext_t)) & ~(size_t)63;
    ucontext_t *context = (ucontext_t *)(void *)(fiber->stack + size);
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack;
    context->uc_stack.ss_size = size;
    context->uc_link = NULL;
    uint64_t arg = (uintptr_t)fiber;
    makecontext(context, (void (*)(void))context_boot, 2, (unsigned)(arg >> 32), (unsigned)arg);
    fiber->context = context;
}

static void context_swap(struct skrt_fiber *from, struct skrt_fiber *to)
{
    ucontext_t own; /* for threads; a fiber's is at the top of its stack */
    if (!from->map)
        from->context = &own;
    swapcontext(from->context, to->context);
}

#endif

/* --------------------------------------------------------- the sanitizers' part ---- */

static void switch_begin(struct skrt_fiber *from, struct skrt_fiber *to, bool last)
{
    (void)from, (void)to, (void)last;
#ifdef SKRT_ASAN
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake_stack, to->stack, to->stack_size);
#endif
#ifdef SKRT_TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
}

static void switch_end(struct skrt_fiber *fiber)
{
    (void)fiber;
#ifdef SKRT_ASAN
    __sanitizer_finish_switch_fiber(fiber->fake_stack, NULL, NULL);
#endif
}

static void sanitizer_reset(struct skrt_fiber *fiber)
{
    (void)fiber;
#ifdef SKRT_ASAN
    /* Frames that were abandoned have left their red zones behind. */
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_size);
    fiber->fake_stack = NULL;
#endif
#ifdef SKRT_TSAN
    if (fiber->tsan)
        __tsan_destroy_fiber(fiber->tsan);
    fiber->tsan = __tsan_create_fiber(0);
#endif
}

static void sanitizer_release(struct skrt_fiber *fiber)
{
    (void)fiber;
#ifdef SKRT_ASAN
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_size);
#endif
#ifdef SKRT_TSAN
    if (fiber->tsan)
        __tsan_destroy_fiber(fiber->tsan);
#endif
}

/* ------------------------------------------------------------------- fibers ---- */

static void fiber_main(void *arg)
{
    struct skrt_fiber *fiber = arg;
    switch_end(fiber);
    fiber->fn(fiber->arg);
}

void skrt_fiber_init_thread(struct skrt_fiber *fiber)
{
    memset(fiber, 0, sizeof *fiber);
#ifdef SKRT_ASAN
    pthread_attr_t attr;
    void *stack = NULL;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &stack, &fiber->stack_size);
        pthread_attr_destroy(&attr);
    }
    fiber->stack = stack;
#endif
#ifdef SKRT_TSAN
    fiber->tsan = __tsan_get_current_fiber();
#endif
}

static size_t gap_size(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
    return limited ? SKRT_FIBER_SMALL_GAP : SKRT_FIBER_GAP;
}

bool skrt_fiber_map(struct skrt_fiber *fiber)
{
    if (fiber->map)
        return true;
    size_t more = (uintptr_t)fiber / sizeof *fiber % COLOURS * COLOUR;
    size_t usable = SKRT_FIBER_STACK + COLOURS * COLOUR, gap = gap_size(), size = gap + usable;
    char *map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (map == MAP_FAILED)
        return false;
    if (mprotect(map + gap, usable, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, size);
        return false;
    }
    fiber->map = map;
    fiber->map_size = size;
    fiber->stack = map + gap;
    fiber->stack_size = SKRT_FIBER_STACK + more;
    fiber->valgrind = VALGRIND_STACK_REGISTER(fiber->stack, fiber->stack + fiber->stack_size - 1);
    return true;
}

void skrt_fiber_reset(struct skrt_fiber *fiber, skrt_fiber_fn *fn, void *arg)
{
    assert(fiber->map);
    fiber->fn = fn;
    fiber->arg = arg;
    sanitizer_reset(fiber);
    context_make(fiber);
}

void skrt_fiber_switch(struct skrt_fiber *from, struct skrt_fiber *to, bool last)
{
    assert(from != to && to->context);
    switch_begin(from, to, last);
    context_swap(from, to);
    switch_end(from);
}

void skrt_fiber_unmap(struct skrt_fiber *fiber)
{
    if (!fiber->map)
        return;
    sanitizer_release(fiber);
    VALGRIND_STACK_DEREGISTER(fiber->valgrind);
    munmap(fiber->map, fiber->map_size);
    fiber->map = NULL;
}
