/* Entries as rows of data and as C: whatever a program does, results, reports, orders that were not
 * enforced, records and traces are the same. */
#include "backend/device/run.h"
#include "backend/host/host.h"
#include "frontend/session.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/support/file.h"
#include "tests/unit/parsed_module.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const struct device_target forms[] = {{.compile = host_compile},
                                             {.compile = host_compile_source}};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Every instruction that passes insert is in one of these. */
static const char *const options[] = {
    NULL,
    "split-mode=1:profiling=1:early-start=0",
    "debug-op-exec-trace=1:debug-cross-core-sync-check=1:debug-dcci-all=1",
    "feed-sync-all=1:split-mode=64:preload-data=advance-step",
};

/* What came out, as bytes that can be compared. */
struct outcome {
    struct text text;
    bool opened;
};

static uint32_t compared;

/* ------------------------------------------------------------------------------- a run ---- */

static void *const *make_values(const struct parsed_module *parsed, const struct graph *graph,
                                struct arena *arena, struct text *text)
{
    void **values = arena_alloc(arena, (graph->values.count + 1) * sizeof *values);
    for (uint32_t i = 0; i < graph->values.count; i++) {
        uint64_t size = 0;
        struct diags *diags = (struct diags *)&parsed->diags;
        device_value_size(parsed->module, graph->values.at[i].type, no_span, &size, diags);
        values[i] = arena_alloc(arena, size + 1);
        memset(values[i], 0, size);
    }
    text_printf(text, "%u values\n", graph->values.count);
    return values;
}

static void put_values(struct outcome *outcome, const struct parsed_module *parsed,
                       const struct graph *graph, void *const *values)
{
    for (uint32_t i = 0; i < graph->values.count; i++) {
        uint64_t size = 0;
        struct diags *diags = (struct diags *)&parsed->diags;
        device_value_size(parsed->module, graph->values.at[i].type, no_span, &size, diags);
        text_bytes(&outcome->text, values[i], size);
    }
}

/* Times are left out. */
static void put_records(struct text *text, const struct run_profile *profile)
{
    for (uint32_t i = 0; profile && i < profile->events.count; i++) {
        const struct skrt_profile_record *record = &profile->events.at[i].record;
        if (record->kind <= SKRT_PROFILE_WAIT) /* who is blocked is chance */
            text_printf(text, "record %u %u %u %u %u\n", record->index, record->core, record->type,
                        record->kind, record->phase);
    }
}

static void put_traces(struct text *text, const struct run_result *result)
{
    const struct skrt_trace_line *lines = result->trace;
    for (uint64_t i = 0; i < result->trace_size / sizeof *lines; i++)
        if (lines[i].magic == SKRT_TRACE_MAGIC)
            text_printf(text, "trace %u.%u: %u %u %u, %u %u\n", lines[i].type, lines[i].core,
                        lines[i].index, lines[i].state, (unsigned)lines[i].count,
                        lines[i].counted[0], lines[i].counted[1]);
}

static void put_result(struct text *text, const struct run_result *result)
{
    text_printf(text, "end %d, %s\n", result->end, result->cause ? result->cause : "well");
    for (uint32_t i = 0; i < result->n_reports; i++)
        text_string(text, result->reports[i]);
    put_traces(text, result);
    put_records(text, result->profile);
}

/* Runs the graph by itself: ops that call graphs need what skirc gives them. */
static void run_form(const struct parsed_module *parsed, const struct session *session,
                     const struct graph *graph, const struct device_target *form,
                     struct outcome *outcome)
{
    struct arena arena = {NULL, 0};
    enum backend_status status;
    const struct run_options run_options = {.module = parsed->module,
                                            .graph = graph,
                                            .places = &session->places,
                                            .diags = (struct diags *)&parsed->diags,
                                            .fused = true,
                                            .race_check = true,
                                            .profile = true,
                                            .trace = true,
                                            .serial = true,
                                            .threads = 1};
    struct backend_run *run = device_run_open(&run_options, form, &status);
    outcome->opened = run != NULL;
    if (!run)
        return;
    void *const **all = arena_alloc(&arena, parsed->module->graphs.count * sizeof *all);
    for (uint32_t i = 0; i < parsed->module->graphs.count; i++)
        all[i] = make_values(parsed, &parsed->module->graphs.at[i], &arena, &outcome->text);
    struct run_result result;
    run->record = true;
    device_run_execute(run, all, &result);
    put_result(&outcome->text, &result);
    put_values(outcome, parsed, graph, all[graph_id(parsed->module, graph)]);
    device_run_close(run);
    arena_free(&arena);
}

/* ------------------------------------------------------------------------------- files ---- */

/* Whether it is nothing that runs by itself: it calls graphs, or kernels without code. */
static bool needs_others(const struct module *module, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (op_call_kind(op) != CALL_NONE ||
            (op->kernel != NONE && kernel_is_stub(module, module_kernel(module, op->kernel))))
            return true;
    }
    return false;
}

static void compare_graph(const struct parsed_module *parsed, const struct session *session,
                          const struct graph *graph, const char *path, const char *option)
{
    struct outcome outcomes[FORMS] = {{{NULL, 0, 0}, false}};
    for (int i = 0; i < FORMS; i++)
        run_form(parsed, session, graph, &forms[i], &outcomes[i]);
    const struct text *a = &outcomes[0].text, *b = &outcomes[1].text;
    if (outcomes[0].opened != outcomes[1].opened || a->size != b->size ||
        (a->size && memcmp(a->at, b->at, a->size) != 0))
        fail_msg("%s with %s: rows and C differ:\n%.*s\n----\n%.*s", path,
                 option ? option : "no options", (int)a->size, a->at, (int)b->size, b->at);
    compared += outcomes[0].opened;
    for (int i = 0; i < FORMS; i++)
        text_free(&outcomes[i].text);
}

static void compare_module(struct parsed_module *parsed, const char *path, const char *option)
{
    const struct session_options session_options = {.source = path,
                                                    .kernel_dir = "backend/kernels",
                                                    .header_dir = "backend/kernels",
                                                    .sk_options = option,
                                                    .unproven = true};
    struct session session;
    session_open(&session, parsed->module, &parsed->diags, &session_options);
    if (verify_module(parsed->module, &parsed->diags) && session_lower(&session) == PIPELINE_OK)
        for (uint32_t i = 0; i < parsed->module->graphs.count; i++)
            if (!needs_others(parsed->module, &parsed->module->graphs.at[i]))
                compare_graph(parsed, &session, &parsed->module->graphs.at[i], path, option);
    session_close(&session);
}

static void compare_file(const char *path, const char *option)
{
    struct file_bytes bytes;
    char error[256];
    struct parsed_module parsed;
    assert_true(file_read(path, &bytes, error, sizeof error));
    parsed_init(&parsed, bytes.data, bytes.size);
    if (parsed.module)
        compare_module(&parsed, path, option);
    parsed_free(&parsed);
    file_bytes_free(&bytes);
}

static void compare_folder(const char *folder, const char *option)
{
    struct arena arena = {NULL, 0};
    struct file_names names = {NULL, 0, 0};
    char *path = arena_printf(&arena, "%s/%s", getenv("SKIR_SOURCE"), folder);
    assert_true(folder_names(path, &arena, &names));
    for (uint32_t i = 0; i < names.count; i++)
        if (strstr(names.at[i], ".skir"))
            compare_file(arena_printf(&arena, "%s/%s", path, names.at[i]), option);
    vec_free(&names);
    arena_free(&arena);
}

/* Programs that are as they should be, with all that passes can insert. */
static void test_examples(void **state)
{
    (void)state;
    if (!getenv("SKIR_SOURCE") || object_this_machine() == EM_NONE)
        skip();
    compared = 0;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        compare_folder("docs/examples", options[i]);
    assert_true(compared >= 20);
}

/* Programs by hand, of which some hang, race or leave something set. */
static void test_written_programs(void **state)
{
    (void)state;
    if (!getenv("SKIR_SOURCE") || object_this_machine() == EM_NONE)
        skip();
    compared = 0;
    compare_folder("tests/golden/runs", NULL);
    assert_true(compared >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_written_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
