/* Addresses on random graphs, against all pairs of ops and all bytes: which ops that access the
 * same bytes are ordered, and which values are overwritten before they are read; and how long a
 * large graph takes.
 *
 * SKIR_TEST_SEED and SKIR_TEST_COUNT choose other graphs. */
#include "ir/analysis/hazards.h"
#include "ir/analysis/launch_order.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MAX_OPS = 24, BYTES = 80, BUFFERS = 2, STREAMS = 4 };

struct writer {
    struct random random;
    struct text *text;
    unsigned n_values, n_ops, n; /* `n` in all */
};

static void write_address(struct writer *w, unsigned bytes)
{
    text_printf(w->text, "[b%u, %u, %u]", random_below(&w->random, BUFFERS),
                random_below(&w->random, BYTES - bytes), bytes);
}

/* Operands are any values above. Every other op has an address of its own. */
static void write_op(struct writer *w)
{
    unsigned operand = random_below(&w->random, w->n_values), nr = w->n_ops++;
    bool inplace = random_percent(&w->random, 15);
    text_printf(w->text, "    %%v%u = Op(%%v%u) {", w->n_values, operand);
    if (inplace)
        text_printf(w->text, "inplace = [0], alias = [0], ");
    text_printf(w->text, "address = {");
    if (random_percent(&w->random, 60) && !inplace) {
        text_printf(w->text, "results = [");
        write_address(w, 4 + random_below(&w->random, 4));
        text_printf(w->text, "], ");
    }
    text_printf(w->text, "workspace = [");
    if (random_percent(&w->random, 15))
        write_address(w, 1 + random_below(&w->random, 6));
    text_printf(w->text, "]}} : i8[4]");
    if (random_percent(&w->random, 40))
        text_printf(w->text, " after (%%v%u)", random_below(&w->random, w->n_values));
    if (nr % 6 == 1 && nr + 2 < w->n)
        text_printf(w->text, " send [e%u]", nr);
    if (nr % 6 == 3)
        text_printf(w->text, " recv [e%u]", nr - 2);
    text_printf(w->text, "\n");
    w->n_values++;
}

static void write_graph(struct writer *w, unsigned streams)
{
    unsigned n = 2 + random_below(&w->random, MAX_OPS - 1);
    text_printf(w->text, "skir 1\ngraph @g(%%v0: i8[4] {address = ");
    write_address(w, 4);
    text_printf(w->text, "}) -> (i8[4], i8[4]) {\n");
    w->n_values = 1;
    w->n = n;
    for (unsigned i = 0; i < n; i++) {
        text_printf(w->text, "  stream \"%u\" {\n", random_below(&w->random, streams) + 1);
        write_op(w);
        text_printf(w->text, "  }\n");
    }
    text_printf(w->text, "  return %%v%u, %%v%u\n}\n", random_below(&w->random, w->n_values),
                random_below(&w->random, w->n_values));
}

/* ----------------------------------------------------------------------------- all pairs ---- */

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module parsed;
    const struct graph *graph;
    struct order order;
    struct overlaps found;
    struct accesses accesses[MAX_OPS + 2]; /* by op */
    struct addresses addresses;
    bool before[MAX_OPS + 2][MAX_OPS + 2];
    uint32_t sorted[MAX_OPS + 2];
};

#define CHECK(trial, condition) RANDOM_CHECK((trial)->seed, &(trial)->text, condition)

static void close_order(struct trial *trial)
{
    const struct order *order = &trial->order;
    for (unsigned i = 0; i < order->n_ops; i++) {
        uint32_t op = trial->sorted[i];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            uint32_t from = order->edges[e].from;
            trial->before[from][op] |= order->edges[e].kind != ORDER_ADDRESS;
            for (unsigned a = 0; a < order->n_ops; a++)
                trial->before[a][op] |= trial->before[a][from] && trial->before[from][op];
        }
    }
}

static bool ops_meet(const struct trial *trial, unsigned a, unsigned b)
{
    for (uint32_t i = 0; i < trial->accesses[a].count; i++)
        for (uint32_t j = 0; j < trial->accesses[b].count; j++) {
            const struct access *x = &trial->accesses[a].at[i], *y = &trial->accesses[b].at[j];
            if ((x->kind != ACCESS_READ || y->kind != ACCESS_READ) &&
                address_meets(&x->address, &y->address))
                return true;
        }
    return false;
}

/* There is something to tell if, and only if, it is told; and what is told is so. */
static unsigned check_pairs(struct trial *trial)
{
    unsigned n = trial->order.n_ops, beside = 0;
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < a; b++)
            beside += ops_meet(trial, a, b) && !trial->before[a][b] && !trial->before[b][a];
    CHECK(trial, (beside > 0) == (trial->found.unordered.count > 0));
    CHECK(trial, trial->found.unordered.count <= beside * 4);
    for (uint32_t i = 0; i < trial->found.unordered.count; i++) {
        const struct overlap *overlap = &trial->found.unordered.at[i];
        CHECK(trial, ops_meet(trial, overlap->from, overlap->to));
        CHECK(trial, !trial->before[overlap->from][overlap->to]);
        CHECK(trial, !trial->before[overlap->to][overlap->from]);
    }
    for (uint32_t e = 0; e < trial->order.first[n]; e++)
        if (trial->order.edges[e].kind == ORDER_ADDRESS) {
            const struct overlap *overlap = &trial->order.overlaps[trial->order.edges[e].name];
            CHECK(trial, ops_meet(trial, overlap->from, overlap->to));
            CHECK(trial, trial->before[overlap->from][overlap->to]);
        }
    return beside;
}

/* ----------------------------------------------------------------------------- all bytes ---- */

/* By buffer and byte: the last op that wrote it, in `sorted`, from 1. */
struct bytes {
    unsigned wrote[BUFFERS][BYTES];
    unsigned of_memory[2 * MAX_OPS]; /* by the value that stands for it: who gave it contents */
};

static unsigned *byte_at(const struct trial *trial, struct bytes *bytes,
                         const struct address *address, int64_t at)
{
    return &bytes->wrote[trial->parsed.module->names.names[address->buffer].text[1] - '0'][at];
}

static bool is_overwritten(const struct trial *trial, struct bytes *bytes,
                           const struct address *address, uint32_t value)
{
    unsigned gave = bytes->of_memory[memory_of(&trial->addresses.memories, value)];
    for (int64_t at = address->low; gave && at < address->high; at++)
        if (*byte_at(trial, bytes, address, at) > gave)
            return true;
    return false;
}

static unsigned count_told(const struct trial *trial, uint32_t op)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < trial->found.overwritten.count; i++)
        count += trial->found.overwritten.at[i].op == op;
    return count;
}

static unsigned check_bytes(struct trial *trial)
{
    struct bytes bytes = {{{0}}, {0}};
    const struct graph *graph = trial->graph;
    unsigned total = 0, returned = 0;
    for (unsigned i = 0; i < trial->order.n_ops; i++) {
        const struct accesses *accesses = &trial->accesses[trial->sorted[i]];
        unsigned overwritten = 0;
        for (uint32_t a = 0; a < accesses->count; a++)
            overwritten +=
                accesses->at[a].kind != ACCESS_WRITE &&
                is_overwritten(trial, &bytes, &accesses->at[a].address, accesses->at[a].value);
        CHECK(trial, overwritten == count_told(trial, trial->sorted[i]));
        total += overwritten;
        for (uint32_t a = 0; a < accesses->count; a++) {
            const struct access *access = &accesses->at[a];
            for (int64_t at = access->address.low;
                 access->kind != ACCESS_READ && at < access->address.high; at++)
                *byte_at(trial, &bytes, &access->address, at) = i + 1;
            if (access->kind != ACCESS_READ && access->value != NONE)
                bytes.of_memory[memory_of(&trial->addresses.memories, access->value)] = i + 1;
        }
    }
    for (uint32_t i = 0; i < graph->returns.count; i++) {
        const struct address *address = addresses_find(&trial->addresses, graph->returns.at[i]);
        returned += address && is_overwritten(trial, &bytes, address, graph->returns.at[i]);
    }
    CHECK(trial, returned == count_told(trial, NONE));
    return total + returned;
}

/* -------------------------------------------------------------------------------- trials ---- */

static bool has_told(const struct trial *trial, enum diag_id id)
{
    for (uint32_t i = 0; i < trial->parsed.diags.list.count; i++)
        if (trial->parsed.diags.list.at[i].id == id)
            return true;
    return false;
}

enum { GRAPHS, BESIDE, OVERWRITTEN, N_COUNTS };

static void look(struct trial *trial, unsigned *counts)
{
    const struct module *module = trial->parsed.module;
    struct order_cycle cycle;
    trial->graph = &module->graphs.at[0];
    order_init(&trial->order, module, trial->graph);
    CHECK(trial, order_sort(&trial->order, trial->sorted, &cycle));
    overlaps_find(&trial->found, module, trial->graph, &trial->order);
    addresses_init(&trial->addresses, module, trial->graph);
    for (unsigned i = 0; i < trial->order.n_ops; i++)
        addresses_of_op(&trial->addresses, &trial->graph->ops.at[i], &trial->accesses[i]);
    close_order(trial);
    unsigned beside = check_pairs(trial), overwritten = 0;
    if (beside == 0)
        overwritten = check_bytes(trial);
    CHECK(trial, has_told(trial, DIAG_overlap) == (beside > 0));
    CHECK(trial, beside || has_told(trial, DIAG_overwritten) == (overwritten > 0));
    counts[GRAPHS]++;
    counts[BESIDE] += beside > 0;
    counts[OVERWRITTEN] += overwritten > 0;
    for (unsigned i = 0; i < trial->order.n_ops; i++)
        vec_free(&trial->accesses[i]);
    addresses_free(&trial->addresses);
    overlaps_free(&trial->found);
    order_free(&trial->order);
    vec_free(&cycle.edges);
}

/* What else is wrong with the graph: circles, ops that meet their own operands, lonely events. */
static bool is_refused(const struct trial *trial)
{
    const struct diags *diags = &trial->parsed.diags;
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].severity == SEVERITY_ERROR &&
            (diags->list.at[i].id != DIAG_overlap || !diags->list.at[i].notes ||
             strncmp(diags->list.at[i].text, "this op accesses", 16) == 0))
            return true;
    return false;
}

static void run_trial(uint64_t seed, unsigned *counts)
{
    struct trial *trial = mem_calloc(1, sizeof *trial);
    trial->seed = seed;
    struct writer w = {.random = {seed}, .text = &trial->text};
    write_graph(&w, 1 + (unsigned)(seed % STREAMS));
    parsed_init(&trial->parsed, trial->text.at, trial->text.size);
    assert_non_null(trial->parsed.module);
    trial->parsed.diags.max_errors = 0;
    verify_module(trial->parsed.module, &trial->parsed.diags);
    if (!is_refused(trial))
        look(trial, counts);
    parsed_free(&trial->parsed);
    text_free(&trial->text);
    mem_free(trial);
}

static void test_random(void **state)
{
    (void)state;
    unsigned counts[N_COUNTS] = {0};
    struct random_runs runs = random_runs(4000);
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(runs.seed + i, counts);
    print_message("# %u graphs: %u with ops beside each other, %u with overwritten values\n",
                  counts[GRAPHS], counts[BESIDE], counts[OVERWRITTEN]);
    if (runs.count >= 4000)
        assert_true(counts[GRAPHS] > 400 && counts[BESIDE] > 50 && counts[OVERWRITTEN] > 30);
}

/* ----------------------------------------------------------------------------- large ones ---- */

/* Ops of eight streams write small places that others read whole, again and again. Were each looked
 * at with each, this would not end. */
static void test_large(void **state)
{
    (void)state;
    enum { OPS = 100000 };
    struct text text = {NULL, 0, 0};
    text_printf(&text, "skir 1\ngraph @g(%%a: i8[4]) -> () {\n");
    for (unsigned i = 0; i < OPS; i++) {
        unsigned stream = i % 8, at = i / 8 % 1000 * 4;
        text_printf(&text,
                    "stream \"s%u\" { %%v%u = %s(%%a) {address = {%s = [[b%u, %u, %u]]}} : "
                    "i8[4] }\n",
                    stream, i, i % 3 ? "W" : "R", i % 3 ? "results" : "operands", stream,
                    i % 3 ? at : 0, i % 3 ? 4 : 4000);
    }
    text_printf(&text, "}\n");
    struct parsed_module parsed;
    parsed_init(&parsed, text.at, text.size);
    assert_true(verify_module(parsed.module, &parsed.diags));
    parsed_free(&parsed);
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
