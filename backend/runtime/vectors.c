#include "backend/runtime/skrt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {[SKRT_VECTORS_BASE] = "base",
                                    [SKRT_VECTORS_AVX2] = "avx2",
                                    [SKRT_VECTORS_AVX512] = "avx512",
                                    [SKRT_VECTORS_VNNI] = "vnni"};
enum { LEVELS = sizeof names / sizeof names[0] };

static enum skrt_vectors of_the_machine(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2"))
        return SKRT_VECTORS_BASE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return SKRT_VECTORS_AVX2;
    return __builtin_cpu_supports("avx512vnni") ? SKRT_VECTORS_VNNI : SKRT_VECTORS_AVX512;
#else
    return SKRT_VECTORS_BASE;
#endif
}

/* What the environment allows; other words than the names are as if there were none. */
static enum skrt_vectors of_the_environment(void)
{
    const char *most = getenv("SKRT_VECTORS");
    for (int level = 0; most && level < LEVELS; level++)
        if (strcmp(most, names[level]) == 0)
            return (enum skrt_vectors)level;
    return LEVELS - 1;
}

/* 1 + the level; 0: not looked for yet. Threads that look at once find the same. */
static atomic_int known;

enum skrt_vectors skrt_vector_level(void)
{
    int level = atomic_load_explicit(&known, memory_order_relaxed) - 1;
    return level >= 0 ? (enum skrt_vectors)level : skrt_limit_vectors(of_the_environment());
}

enum skrt_vectors skrt_limit_vectors(enum skrt_vectors most)
{
    enum skrt_vectors level = of_the_machine();
    level = most < level ? most : level;
    atomic_store_explicit(&known, (int)level + 1, memory_order_relaxed);
    return level;
}
