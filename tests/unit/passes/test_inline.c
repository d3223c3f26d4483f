/* Property of inline-calls on random modules: it orders two ops exactly if they were ordered
 * before, where an op of a called graph is ordered as its call is. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/launch_order.h"
#include "ir/core/calls.h"
#include "ir/core/invariants.h"
#include "passes/manager/pipeline.h"
#include "tests/unit/parsed_module.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ----------------------------------------------------------------------- random modules ---- */

enum { MAX_GRAPHS = 4, MAX_GRAPH_OPS = 7, MAX_INSTANCES = 512, MAX_DEPTH = MAX_GRAPHS };

struct writer {
    struct random random;
    struct text *text;
    unsigned graph, n_values, n_events, n_pairs, n_ops;
    bool inplace;
    bool sent; /* an event that the next op receives */
};

static void write_value(struct writer *w)
{
    unsigned n = random_below(&w->random, w->n_values);
    text_printf(w->text, n < 2 ? "%%p%u" : "%%v%u", n);
}

/* Each op has a number, by which it is known again. */
static void write_attrs(struct writer *w, bool call, bool passive)
{
    text_printf(w->text, " {nr = %u", w->n_ops++);
    if (call)
        text_printf(w->text, ", f = @g%u", random_below(&w->random, w->graph));
    else if (!passive && w->inplace && random_percent(&w->random, 30))
        text_printf(w->text, ", inplace = [%u]", random_below(&w->random, 2));
    else if (!passive && random_percent(&w->random, 25))
        text_printf(w->text, ", %s = \"b%u\"", random_percent(&w->random, 50) ? "reads" : "writes",
                    random_below(&w->random, 2));
    text_printf(w->text, "}");
}

/* Now and then an op sends an event to the next. */
static void write_events(struct writer *w, bool last)
{
    bool received = w->sent;
    w->sent = !last && random_percent(&w->random, 15);
    if (w->sent)
        text_printf(w->text, " send [x%u]", w->n_events);
    if (received)
        text_printf(w->text, " recv [x%u]", w->n_events - 1);
    w->n_events += w->sent;
}

static void write_op(struct writer *w, bool last)
{
    bool call = w->graph > 0 && random_percent(&w->random, 45);
    bool passive = !call && random_percent(&w->random, 15);
    bool results = call || passive || random_percent(&w->random, 80);
    if (results)
        text_printf(w->text, call ? "    %%v%u, %%w%u = " : "    %%v%u = ", w->n_values,
                    w->n_values);
    text_printf(w->text, call ? "PartitionedCall(" : passive ? "Const(" : "Work(");
    if (!passive) {
        write_value(w);
        text_printf(w->text, ", ");
        write_value(w);
    }
    text_printf(w->text, ")");
    write_attrs(w, call, passive);
    text_printf(w->text, results ? call ? " : (f32[4], f32[4])" : " : f32[4]" : "");
    if (random_percent(&w->random, 30)) {
        text_printf(w->text, " after (");
        write_value(w);
        text_printf(w->text, ")");
    }
    write_events(w, last);
    w->n_values += results;
}

/* Two ops without results on streams of their own. */
static void write_pair(struct writer *w)
{
    unsigned n = w->n_pairs++, nr = w->n_ops;
    text_printf(w->text, "  stream \"s\" {\n    Work(%%p0, %%p1) {nr = %u} send [y%u]\n  }\n", nr,
                n);
    text_printf(w->text, "  stream \"t\" {\n    Work(%%p0) {nr = %u} recv [y%u]\n  }\n", nr + 1, n);
    w->n_ops += 2;
}

static void write_graph(struct writer *w)
{
    unsigned n = random_below(&w->random, MAX_GRAPH_OPS + 1);
    w->n_values = 2;
    w->n_events = w->n_pairs = 0;
    w->sent = false;
    text_printf(w->text, "graph @g%u(%%p0: f32[4], %%p1: f32[4]) -> (f32[4], f32[4]) {\n",
                w->graph);
    for (unsigned i = 0; i < n; i++) {
        unsigned stream = random_below(&w->random, 4);
        if (stream > 0)
            text_printf(w->text, "  stream \"%u\" {\n", stream - 1);
        write_op(w, i + 1 == n);
        text_printf(w->text, stream > 0 ? "\n  }\n" : "\n");
        if (random_percent(&w->random, 8))
            write_pair(w);
    }
    text_printf(w->text, "  return ");
    write_value(w);
    text_printf(w->text, ", ");
    write_value(w);
    text_printf(w->text, "\n}\n");
}

static void write_module(struct text *text, uint64_t seed)
{
    struct writer w = {.random = {seed}, .text = text};
    w.inplace = random_percent(&w.random, 50);
    text_printf(text, "skir 1\n");
    unsigned n = 2 + random_below(&w.random, MAX_GRAPHS - 1);
    for (w.graph = 0; w.graph < n; w.graph++)
        write_graph(&w);
}

/* ----------------------------------------------------------------------------- orders ---- */

/* The transitive order of a graph's ops. */
struct closure {
    unsigned count;
    uint8_t *before; /* [a * count + b]: a is complete before b starts */
    uint32_t *text;
};

static void closure_init(struct closure *closure, const struct module *module,
                         const struct graph *graph)
{
    struct order order;
    struct order_cycle cycle;
    order_init(&order, module, graph);
    unsigned n = closure->count = order.n_ops;
    uint32_t *sorted = mem_calloc(n, sizeof *sorted);
    closure->before = mem_calloc((size_t)n * n, 1);
    closure->text = mem_calloc(n, sizeof *closure->text);
    assert_true(order_sort(&order, sorted, &cycle));
    for (unsigned i = 0; i < n; i++) {
        closure->text[i] = order.text[i];
        uint32_t op = sorted[i];
        for (uint32_t e = order.first[op]; e < order.first[op + 1]; e++) {
            uint32_t from = order.edges[e].from;
            closure->before[(size_t)from * n + op] = 1;
            for (unsigned a = 0; a < n; a++)
                closure->before[(size_t)a * n + op] |= closure->before[(size_t)a * n + from];
        }
    }
    mem_free(sorted);
    vec_free(&cycle.edges);
    order_free(&order);
}

static void closure_free(struct closure *closure)
{
    mem_free(closure->before);
    mem_free(closure->text);
}

/* An op as it is run: by way of which calls. */
struct instance {
    unsigned depth;
    struct {
        uint32_t graph, op;
    } way[MAX_DEPTH];
};

struct trial {
    uint64_t seed;
    struct text text;
    struct parsed_module before, after;
    struct closure closures[MAX_GRAPHS], inlined;
    const struct graph *result; /* the last graph, behind the pass */
    struct instance instances[MAX_INSTANCES];
    unsigned count;
    uint32_t nr; /* the attribute */
    /* Two parameters that are one argument's memory are one memory in place of the call, so that
     * ops that write them are ordered that had a race before. */
    bool inplace;
};

#define CHECK(trial, condition) RANDOM_CHECK((trial)->seed, &(trial)->text, condition)

/* Whether the op is the one that comes next behind the pass. */
static bool is_next(const struct trial *trial, const struct op *op)
{
    const struct module *before = trial->before.module, *after = trial->after.module;
    if (trial->count >= trial->inlined.count)
        return false;
    const struct op *next = &trial->result->ops.at[trial->inlined.text[trial->count]];
    return attr_int(after, next->attrs, trial->nr, -1) ==
           attr_int(before, op->attrs, trial->nr, -2);
}

/* Calls that were left are ops, and so is what executes something. */
static void expand(struct trial *trial, uint32_t graph, struct instance *way)
{
    const struct module *module = trial->before.module;
    const struct graph *g = &module->graphs.at[graph];
    for (unsigned i = 0; i < g->ops.count; i++) {
        uint32_t id = trial->closures[graph].text[i];
        const struct op *op = &g->ops.at[id];
        CHECK(trial, way->depth < MAX_DEPTH);
        way->way[way->depth].graph = graph;
        way->way[way->depth++].op = id;
        struct callee callee;
        if (op->type == W_PartitionedCall && !is_next(trial, op)) {
            CHECK(trial, op_callee(module, op, 0, &callee));
            expand(trial, callee.graph, way);
        } else {
            CHECK(trial, is_next(trial, op) && trial->count < MAX_INSTANCES);
            trial->instances[trial->count++] = *way;
        }
        way->depth--;
    }
}

static bool were_ordered(const struct trial *trial, const struct instance *a,
                         const struct instance *b)
{
    unsigned depth = 0;
    while (a->way[depth].op == b->way[depth].op)
        depth++;
    const struct closure *closure = &trial->closures[a->way[depth].graph];
    return closure->before[(size_t)a->way[depth].op * closure->count + b->way[depth].op];
}

static void check_order(struct trial *trial)
{
    const struct module *module = trial->after.module;
    unsigned n = trial->inlined.count;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) {
            uint32_t a = trial->inlined.text[i], b = trial->inlined.text[j];
            if (i == j || op_is_passive(module, trial->result, &trial->result->ops.at[a]) ||
                op_is_passive(module, trial->result, &trial->result->ops.at[b]))
                continue;
            bool ordered = trial->inlined.before[(size_t)a * n + b];
            bool demanded = were_ordered(trial, &trial->instances[i], &trial->instances[j]);
            CHECK(trial, demanded ? ordered : !ordered || trial->inplace);
        }
}

static void run_pass(struct trial *trial)
{
    struct pass_context context = {
        .module = trial->after.module, .diags = &trial->after.diags, .graph = "none"};
    CHECK(trial, pipeline_run_list(&context, "inline-calls") == PIPELINE_OK);
    CHECK(trial, module_is_sound(trial->after.module));
    CHECK(trial, verify_module(trial->after.module, &trial->after.diags));
}

static void run_trial(struct trial *trial, uint64_t seed)
{
    struct instance way = {.depth = 0};
    *trial = (struct trial){.seed = seed};
    write_module(&trial->text, seed);
    text_char(&trial->text, '\0');
    trial->text.size--;
    trial->inplace = strstr(trial->text.at, "inplace") != NULL;
    parsed_init(&trial->before, trial->text.at, trial->text.size);
    parsed_init(&trial->after, trial->text.at, trial->text.size);
    /* What a random text says may be refused, of memory for example. */
    if (verify_module(trial->before.module, &trial->before.diags)) {
        const struct module *module = trial->before.module;
        run_pass(trial);
        trial->nr = intern_find(&trial->before.module->names, "nr", 2);
        trial->result = &trial->after.module->graphs.at[trial->after.module->graphs.count - 1];
        for (uint32_t i = 0; i < module->graphs.count; i++)
            closure_init(&trial->closures[i], module, &module->graphs.at[i]);
        closure_init(&trial->inlined, trial->after.module, trial->result);
        if (trial->inlined.count <= MAX_INSTANCES) {
            expand(trial, module->graphs.count - 1, &way);
            CHECK(trial, trial->count == trial->inlined.count);
            check_order(trial);
        }
    }
    for (unsigned i = 0; i < MAX_GRAPHS; i++)
        closure_free(&trial->closures[i]);
    closure_free(&trial->inlined);
    parsed_free(&trial->before);
    parsed_free(&trial->after);
    text_free(&trial->text);
}

static void test_order(void **state)
{
    (void)state;
    struct random_runs runs = random_runs(2000);
    struct trial *trial = mem_calloc(1, sizeof *trial);
    for (uint64_t i = 0; i < runs.count; i++)
        run_trial(trial, runs.seed + i);
    mem_free(trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
