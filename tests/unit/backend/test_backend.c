/* The table of targets: what its rows promise, and what is said of a target that there is not, that
 * emits no such thing, or on which graphs do not run. */
#include "backend/device/arguments.h"
#include "backend/target/backend.h"
#include "backend/target/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    const struct backend_functions *functions;
} targets[] = {
#define BACKEND(name, summary, runs, functions) {#name, &functions},
#include "backend/target/backends.def"
};

static const struct {
    enum backend_id target;
    const char *name;
    enum emission_kind kind;
    emission_function *make;
} emissions[] = {
#define EMISSION(target, name, kind, suffix, make, summary)                                        \
    {BACKEND_##target, name, EMISSION_##kind, make},
#include "backend/target/backends.def"
};

enum {
    TARGETS = sizeof targets / sizeof targets[0],
    EMISSIONS = sizeof emissions / sizeof emissions[0],
};

/* A target that is in no table: it emits what any target does, and graphs do not run on it. */
static const struct backend_functions toy_functions = {.check_op = NULL};
static const struct backend toy = {BACKEND_END, "toy", "a toy", false, &toy_functions};

static char error[512];

static void test_targets(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        const struct backend *backend = backend_find(targets[i].name, error, sizeof error);
        assert_non_null(backend);
        assert_string_equal(backend->name, targets[i].name);
        assert_ptr_equal(backend->functions, targets[i].functions);
        assert_int_equal(backend->id, BACKEND_any + 1 + i);
    }
    assert_string_equal(backend_default()->name, targets[0].name);
}

static void test_runners(void **state)
{
    (void)state;
    assert_non_null(backend_runner(backend_default(), error, sizeof error));
    for (unsigned i = 0; i < TARGETS; i++) {
        const struct backend *backend = backend_find(targets[i].name, error, sizeof error);
        const struct backend_runner *runner = backend_runner(backend, error, sizeof error);
        assert_ptr_equal(runner, targets[i].functions->runner);
        if (runner)
            assert_true(runner->value_size && runner->open && runner->execute && runner->close);
    }
}

static void test_emissions(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TARGETS; i++) {
        const struct backend *backend = backend_find(targets[i].name, error, sizeof error);
        for (unsigned j = 0; j < EMISSIONS; j++) {
            if (emissions[j].target != BACKEND_any && emissions[j].target != backend->id)
                continue;
            const struct emission *emission =
                emission_find(backend, emissions[j].name, error, sizeof error);
            assert_non_null(emission);
            /* Another one if two of the target had the same name. */
            assert_ptr_equal(emission->make, emissions[j].make);
            assert_int_equal(emission->kind, emissions[j].kind);
        }
        assert_int_equal(emission_default(backend)->target, backend->id);
    }
    /* What skir_compile() writes. */
    assert_int_equal(emission_default(backend_default())->kind, EMISSION_OBJECT);
}

static void test_unknown_target(void **state)
{
    (void)state;
    assert_null(backend_find("hots", error, sizeof error));
    assert_string_equal(error, "there is no target 'hots'; did you mean 'host'?");
    assert_null(backend_find("toaster", error, sizeof error));
    assert_non_null(strstr(error, "there is no target 'toaster'; there is only host, ascend"));
    assert_null(backend_find("", error, sizeof error));
    assert_non_null(strstr(error, "there is no target ''; there is only "));
}

static void test_unknown_emission(void **state)
{
    (void)state;
    const struct backend *host = backend_find("host", error, sizeof error);
    assert_null(emission_find(host, "object", error, sizeof error));
    assert_string_equal(error,
                        "the target 'host' does not emit 'object'; it emits obj, skir, entry, c");
    assert_null(emission_find(host, "entyr", error, sizeof error));
    assert_string_equal(error, "the target 'host' does not emit 'entyr'; did you mean 'entry'?");
    /* What other targets emit does not count. */
    assert_non_null(emission_find(&toy, "skir", error, sizeof error));
    assert_null(emission_find(&toy, "obj", error, sizeof error));
    assert_string_equal(error, "the target 'toy' does not emit 'obj', but 'host' does");
    assert_null(emission_find(&toy, "objects", error, sizeof error));
    assert_string_equal(error, "the target 'toy' does not emit 'objects'; it emits skir, entry");
}

/* By what is emitted: the first target that does, and the default where all do. */
static void test_target_of_emission(void **state)
{
    (void)state;
    const struct backend *ascend = backend_find("ascend", error, sizeof error);
    assert_ptr_equal(backend_emitting("ascendc", error, sizeof error), ascend);
    assert_ptr_equal(backend_emitting("compile-info", error, sizeof error), ascend);
    assert_ptr_equal(backend_emitting("obj", error, sizeof error), backend_default());
    assert_ptr_equal(backend_emitting("skir", error, sizeof error), backend_default());
    assert_null(backend_emitting("compile-inf", error, sizeof error));
    assert_string_equal(error, "no target emits 'compile-inf'; did you mean 'compile-info'?");
    assert_null(backend_emitting("toast", error, sizeof error));
    assert_string_equal(error, "no target emits 'toast'; there is only obj, skir, entry, c, "
                               "ascendc, compile-info, meta, commands");
    assert_null(emission_find(backend_default(), "ascendc", error, sizeof error));
    assert_string_equal(error, "the target 'host' does not emit 'ascendc', but 'ascend' does");
    assert_null(emission_find(backend_default(), "compile-inf", error, sizeof error));
    assert_string_equal(
        error, "the target 'host' does not emit 'compile-inf'; did you mean 'compile-info'?");
}

static void test_no_runner(void **state)
{
    (void)state;
    assert_null(backend_runner(&toy, error, sizeof error));
    assert_non_null(strstr(error, "graphs do not run on the target 'toy', only on host"));
}

/* Whatever does not fit is cut. */
static void test_short_errors(void **state)
{
    (void)state;
    char large[300];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    for (size_t size = 1; size < 80; size++) {
        char text[81];
        memset(text, '#', sizeof text);
        assert_null(backend_find(large, text, size));
        assert_true(strlen(text) < size);
        assert_int_equal(text[size], '#');
        assert_null(emission_find(&toy, large, text, size));
        assert_null(backend_runner(&toy, text, size));
        assert_int_equal(text[size], '#');
    }
}

static void test_help(void **state)
{
    (void)state;
    assert_non_null(strstr(backend_help, "\nhost: this machine"));
    assert_non_null(strstr(backend_runner_help, "\nhost: this machine"));
    for (unsigned i = 0; i < EMISSIONS; i++) {
        char line[80];
        snprintf(line, sizeof line, "\n%s: ", emissions[i].name);
        assert_non_null(strstr(emission_help, line));
    }
    assert_non_null(strstr(emission_help, "\nc: the entries' source (host)"));
    assert_non_null(strstr(emission_help, "\nskir: the module (any)"));
}

/* Of words that launches store, no two are in one cache line. */
static void test_words_of_events(void **state)
{
    (void)state;
    enum { WORDS = 20, LINE = 64 };
    struct module *module = module_new(NULL);
    struct device_run run = {.module = module};
    uintptr_t lines[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint64_t *word = arguments_event(&run, i);
        assert_ptr_equal(arguments_event(&run, i), word);
        assert_int_equal(*word, 0);
        lines[i] = (uintptr_t)word / LINE;
        for (uint32_t j = 0; j < i; j++)
            assert_true(lines[i] != lines[j]);
    }
    mem_free(run.words_of_events);
    arena_free(&run.arena);
    module_free(module);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_runners),
        cmocka_unit_test(test_emissions),
        cmocka_unit_test(test_unknown_target),
        cmocka_unit_test(test_unknown_emission),
        cmocka_unit_test(test_target_of_emission),
        cmocka_unit_test(test_no_runner),
        cmocka_unit_test(test_short_errors),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_words_of_events),
    };
    return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}
