#include "tests/unit/random_chain.h"

#include "tests/unit/random_graph.h"

#include <string.h>

enum kind { CUBE, VECTOR, MIXED };

struct maker {
    struct random random;
    struct random_chain *chain;
    struct text *text;
    unsigned pattern, distance, mixed_percent, n_streams;
    enum kind kind[CHAIN_MAX_OPS];
    unsigned stream[CHAIN_MAX_OPS];
    bool direct[CHAIN_MAX_OPS][CHAIN_MAX_OPS];
};

/* Each gives op `i` its kind, and says what it needs. */
typedef void pattern_function(struct maker *m, unsigned i);

static void need(struct maker *m, unsigned op, unsigned back)
{
    if (back <= op)
        m->direct[op][op - back] = true;
}

/* All of one type, then all of the other, each of which needs its partner. */
static void make_halves(struct maker *m, unsigned i)
{
    unsigned half = (m->chain->count + 1) / 2;
    m->kind[i] = (i < half) == (m->distance % 2 == 0) ? CUBE : VECTOR;
    if (i >= half)
        need(m, i, half);
}

/* In turn, one type ahead of the other. */
static void make_stream(struct maker *m, unsigned i)
{
    m->kind[i] = (i % 2 == 0) == (m->distance % 2 == 0) ? CUBE : VECTOR;
    if (i % 2)
        need(m, i, 1);
}

/* The same, but the type ahead waits for what is some ops behind. */
static void make_window(struct maker *m, unsigned i)
{
    make_stream(m, i);
    if (i % 2 == 0)
        need(m, i, 2 * m->distance + 1);
}

static void make_ping_pong(struct maker *m, unsigned i)
{
    make_stream(m, i);
    need(m, i, 1);
}

/* Every so often an op that all others behind it wait for. */
static void make_fan(struct maker *m, unsigned i)
{
    bool root = i % (m->distance + 1) == 0;
    m->kind[i] = root ? CUBE : VECTOR;
    need(m, i, root ? 1 + random_below(&m->random, m->distance + 1) : i % (m->distance + 1));
}

static void make_any(struct maker *m, unsigned i)
{
    m->kind[i] = random_below(&m->random, 2) ? CUBE : VECTOR;
    for (unsigned n = random_below(&m->random, 3); n; n--)
        need(m, i, 1 + random_below(&m->random, 2 * m->distance));
}

static pattern_function *const patterns[] = {make_halves,    make_stream, make_window,
                                             make_ping_pong, make_fan,    make_any};
enum { N_PATTERNS = sizeof patterns / sizeof *patterns };

static void close_needs(struct maker *m)
{
    for (unsigned i = 0; i < m->chain->count; i++)
        for (unsigned j = 0; j < i; j++) {
            if (!m->direct[i][j] && m->stream[i] != m->stream[j])
                continue;
            m->chain->needs[i][j] = true;
            for (unsigned k = 0; k < j; k++)
                m->chain->needs[i][k] |= m->chain->needs[j][k];
        }
}

/* One stream for each core type, one for each op, or any. */
static unsigned pick_stream(struct maker *m, unsigned i)
{
    if (m->n_streams == 0)
        return i;
    return m->n_streams == 2 ? m->kind[i] == VECTOR : random_below(&m->random, m->n_streams);
}

static void put_op(struct maker *m, unsigned i)
{
    text_printf(m->text, "stream \"%u\" {\n%%v%u = Op(%%a", m->stream[i], i);
    for (unsigned j = 0; j < i; j++)
        if (m->direct[i][j])
            text_printf(m->text, ", %%v%u", j);
    text_printf(m->text, ") : f32[8] via @k%u\n}\n", m->kind[i]);
}

static void put_module(struct maker *m)
{
    unsigned blocks = 1 + random_below(&m->random, 3);
    text_printf(m->text,
                "skir 1\ntarget \"chains\" {aic = %u, aiv = %u}\n"
                "kernel @k0 : aic_only {block = %u}\nkernel @k1 : aiv_only {block = %u}\n"
                "kernel @k2 : mix_aic_1_2 {block = %u}\n"
                "graph @g(%%a: f32[8]) -> () {\nscope @s {options = \"stream-fusion=1\"} {\n",
                blocks, 2 * blocks, blocks, 2 * blocks, blocks);
    for (unsigned i = 0; i < m->chain->count; i++)
        put_op(m, i);
    text_string(m->text, "}\n}\n");
}

void random_chain(struct random_chain *chain, struct text *text, uint64_t seed, unsigned max_ops)
{
    static const unsigned stream_numbers[] = {0, 2, 4, 8};
    struct maker *m = mem_calloc(1, sizeof *m);
    memset(chain, 0, sizeof *chain);
    *m = (struct maker){.random = {.state = seed}, .chain = chain, .text = text};
    chain->count = 2 + random_below(&m->random, max_ops - 1);
    m->distance = 1 + random_below(&m->random, 40);
    m->mixed_percent = random_percent(&m->random, 50) ? 0 : random_below(&m->random, 15);
    m->n_streams = stream_numbers[random_below(&m->random, 4)];
    pattern_function *pattern = patterns[random_below(&m->random, N_PATTERNS)];
    for (unsigned i = 0; i < chain->count; i++) {
        pattern(m, i);
        if (random_percent(&m->random, m->mixed_percent))
            m->kind[i] = MIXED;
        m->stream[i] = pick_stream(m, i);
    }
    close_needs(m);
    put_module(m);
    mem_free(m);
}
