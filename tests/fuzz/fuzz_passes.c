/* Fuzz target of passes: a module goes through the pipeline `default` without some of the passes
 * that need not run, through passes in any order, or through `default` with its text read back
 * behind each pass; which, the bytes decide. Whatever a pass makes is a module that the verifier
 * takes and whose text says all of it; and where the passes made all entries themselves,
 * `verify-sync` proves them. Ops without a kernel get the sample kernels of the build in which the
 * target stands.
 *
 * With -fsanitize=fuzzer it is a libFuzzer target. With -DREPLAY it has a plain main that runs the
 * files named as arguments. */
#include "backend/library/kernel_library.h"
#include "backend/target/backend.h"
#include "passes/manager/pipeline.h"
#include "tests/fuzz/mutate_lines.h"
#include "tests/fuzz/print_diags.h"
#include "tests/fuzz/printed.h"
#include "tests/fuzz/replay.h"

#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

/* Read once, where a module needs them first; NULL where there are none. */
static struct kernel_source *sample_kernels(void)
{
    static char self[PATH_MAX], folder[PATH_MAX + 32];
    static struct kernel_library library;
    if (!folder[0]) {
        ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
        if (size < 0)
            return NULL;
        /* libtool runs programs of a build from a folder of its own */
        char *place = dirname(self);
        if (strcmp(basename(place), ".libs") == 0)
            place = dirname(place);
        snprintf(folder, sizeof folder, "%s/../../backend/kernels", place);
        kernel_library_init(&library, folder, folder, backend_default()->functions->check_op);
    }
    return access(folder, R_OK) == 0 ? &library.source : NULL;
}

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3;
    return hash ^ hash >> 29;
}

static uint32_t draw_of(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

/* ------------------------------------------------------------------------- pipelines ---- */

/* Nothing that is to hold depends on these. */
static const unsigned optional[] = {PASS_early_start,     PASS_preload_code,   PASS_preload_data,
                                    PASS_split_code,      PASS_dcci,           PASS_debug_sync_all,
                                    PASS_profile,         PASS_check_sync,     PASS_trace,
                                    PASS_limit_residency, PASS_verify_launches};

static void default_without_some(struct pipeline *pipeline, uint64_t *state)
{
    uint32_t left_out = draw_of(state, 1u << (sizeof optional / sizeof optional[0]));
    for (unsigned i = 0; i < PASS_COUNT; i++) {
        bool skip = !passes[i].in_default;
        for (size_t j = 0; j < sizeof optional / sizeof optional[0]; j++)
            skip |= optional[j] == i && left_out >> j & 1;
        if (!skip)
            pipeline_add(pipeline, &passes[i]);
    }
}

static void any_order(struct pipeline *pipeline, uint64_t *state)
{
    for (uint32_t n = 1 + draw_of(state, 16); n > 0; n--)
        pipeline_add(pipeline, &passes[draw_of(state, PASS_COUNT)]);
}

/* ----------------------------------------------------------------------------- claims ---- */

struct run {
    struct parsed_module *parsed;
    bool own; /* no entry was there before */
};

static bool after_pass(void *user, const struct pass *pass, double seconds)
{
    const struct run *run = user;
    (void)seconds;
    if (!verify_module(run->parsed->module, &run->parsed->diags)) {
        fprintf(stderr, "behind %s: ", pass->name);
        give_up("the module is wrong", &run->parsed->diags);
    }
    print_and_check(run->parsed, false);
    return true;
}

/* Those that say that the order of calls is not enforced, or that cores block. */
static void check_proven(const struct run *run)
{
    static const enum diag_id refuted[] = {DIAG_sync_order, DIAG_sync_deadlock, DIAG_sync_overflow,
                                           DIAG_sync_left_set, DIAG_sync_undrained};
    for (size_t i = 0; run->own && i < sizeof refuted / sizeof refuted[0]; i++)
        if (diags_have(&run->parsed->diags, refuted[i]))
            give_up("entries that passes made are refuted", &run->parsed->diags);
}

static void check_run(const struct run *run, enum pipeline_status status, bool ordered)
{
    switch (status) {
    case PIPELINE_OK: print_and_check(run->parsed, false); break;
    case PIPELINE_INPUT:
        if (run->parsed->diags.counts[SEVERITY_ERROR] == 0)
            give_up("a pass failed and did not say why", NULL);
        break;
    case PIPELINE_DEFECT: give_up("a pass broke its contract", &run->parsed->diags); break;
    case PIPELINE_STOPPED: break;
    }
    if (ordered)
        check_proven(run);
}

static void try_passes(struct run *run, uint64_t state)
{
    struct pipeline pipeline = {NULL, 0, 0};
    struct pass_context context = {
        .module = run->parsed->module, .diags = &run->parsed->diags, .library = sample_kernels()};
    bool ordered = draw_of(&state, 3) > 0;
    pipeline_hook *hook = draw_of(&state, 4) == 0 ? after_pass : NULL;
    if (ordered)
        default_without_some(&pipeline, &state);
    else
        any_order(&pipeline, &state);
    check_run(run, pipeline_run(&pipeline, &context, hook, run), ordered);
    pipeline_free(&pipeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parsed_module parsed;
    parsed_init(&parsed, (const char *)data, size);
    if (parsed.module) {
        bool inferred = infer_types(parsed.module, &parsed.diags);
        struct run run = {&parsed, parsed.module->entries.count == 0};
        if (verify_module(parsed.module, &parsed.diags) && inferred)
            try_passes(&run, hash_of(data, size));
    }
    print_diags(&parsed.diags);
    parsed_free(&parsed);
    return 0;
}
