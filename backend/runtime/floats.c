#include "backend/runtime/floats.h"

#if defined(__x86_64__)

/* What computations set by themselves is no control: the lowest bits of MXCSR say what happened. */
#define MXCSR_CONTROL UINT32_C(0xffc0)
/* Of the flags: direction, and alignment checks. */
#define FLAGS UINT64_C(0x40400)

struct x87 {
    uint16_t control, unused0, status, unused1, tags, unused2;
    uint32_t more[4];
};

static struct x87 x87_take(void)
{
    struct x87 x87;
    /* The first masks all exceptions. */
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "=m"(x87));
    return x87;
}

static uint32_t mxcsr_take(void)
{
    uint32_t mxcsr;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    return mxcsr;
}

void skrt_floats_take(struct skrt_floats *floats)
{
    struct x87 x87 = x87_take();
    floats->control = mxcsr_take() & MXCSR_CONTROL;
    floats->more =
        x87.control | (uint64_t)x87.tags << 16 | (__builtin_ia32_readeflags_u64() & FLAGS) << 32;
}

static void set(const struct skrt_floats *floats)
{
    uint32_t mxcsr = (uint32_t)floats->control;
    uint16_t control = (uint16_t)floats->more;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~FLAGS);
    __asm__ volatile("fninit\n\tfldcw %0\n\tldmxcsr %1" : : "m"(control), "m"(mxcsr));
}

#elif defined(__aarch64__)

void skrt_floats_take(struct skrt_floats *floats)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(floats->control));
    floats->more = 0;
}

static void set(const struct skrt_floats *floats)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(floats->control));
}

#else

void skrt_floats_take(struct skrt_floats *floats)
{
    *floats = (struct skrt_floats){0, 0};
}

static void set(const struct skrt_floats *floats)
{
    (void)floats;
}

#endif

bool skrt_floats_restore(const struct skrt_floats *floats)
{
    struct skrt_floats now;
    skrt_floats_take(&now);
    if (now.control == floats->control && now.more == floats->more)
        return false;
    set(floats);
    return true;
}
