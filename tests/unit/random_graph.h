/* Random numbers and random modules for property tests. The same seed gives the same module. */
#ifndef TESTS_UNIT_RANDOM_GRAPH_H
#define TESTS_UNIT_RANDOM_GRAPH_H

#include "ir/support/text.h"

#include <stdbool.h>

/* Any state is a good seed. */
struct random {
    uint64_t state;
};

uint64_t random_bits(struct random *random);
uint32_t random_below(struct random *random, uint32_t limit); /* 0 .. limit - 1 */
bool random_percent(struct random *random, unsigned percent);

enum { RANDOM_MAX_OPS = 64 };

/* What a module may have besides ops, kernels, streams, scopes, `after` and events. */
struct random_graph_options {
    unsigned max_ops;   /* at most RANDOM_MAX_OPS */
    bool superkernels;  /* super kernels beside the scopes */
    bool memory;        /* ops that share memory: `inplace`, `alias`, `reads`, `writes` */
    bool unfusable;     /* ops that no super kernel may have */
    bool stream_fusion; /* scopes may be fused over several streams */
    bool early_start;   /* kernels that were built for it */
    bool dynamic;       /* dynamic kernels */
    bool full_barriers; /* kernels with `sync_all` */
    bool options;       /* all other options of scopes, and kernels that they are about */
    bool passive;       /* ops that execute nothing, without a kernel */
    bool bypass;        /* some scopes are left unfused where they would be cut */
    bool views;         /* ops that execute nothing, whose result is the memory of their operand */
};

/* Appends the text of a module that passes the verifier: one graph @g whose ops run declared
 * kernels of all types, with blocks that fit the target in every combination. Each op has the
 * attribute `nr`, its number from 0 in text order; an op without results has a kernel of its own,
 * so kernel and result tell which op a call runs. */
void random_graph(struct text *text, uint64_t seed, const struct random_graph_options *options);

/* The seeds of a test: `seed` .. `seed + count - 1`. The environment variables SKIR_TEST_SEED and
 * SKIR_TEST_COUNT override the defaults 1 and `count`, SKIR_TEST_TIMES multiplies this one. */
struct random_runs {
    uint64_t seed;
    uint64_t count;
};
struct random_runs random_runs(uint64_t count);

/* Says on standard error which seed failed, how to run it alone, and its text. */
void random_report(uint64_t seed, const struct text *text);

/* Fails the cmocka test, with that report, where the condition does not hold. */
#define RANDOM_CHECK(seed, text, condition)                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            random_report(seed, text);                                                             \
            fail_msg("not %s", #condition);                                                        \
        }                                                                                          \
    } while (0)

#endif
