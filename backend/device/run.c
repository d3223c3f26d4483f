#include "backend/device/arguments.h"
#include "backend/device/execute.h"
#include "backend/device/launches.h"
#include "backend/device/link.h"
#include "backend/device/run.h"
#include "ir/analysis/modref.h"
#include "ir/optypes/op_types.h"
#include "ir/syntax/locate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------- loading ---- */

static bool mark_single_kernels(const struct device_run *run, uint8_t *used)
{
    bool any = false;
    for (uint32_t i = 0; i < run->graph->ops.count; i++) {
        const struct op *op = &run->graph->ops.at[i];
        if (op->kernel == NONE ||
            (run->options.fused && graph_superkernel(run->graph, op->block) != NONE))
            continue; /* ops without a kernel execute nothing */
        used[kernel_id(run->module, device_run_kernel(run, op))] = 1;
        any = true;
    }
    return any;
}

/* Kernels of ops that are launched on their own. */
static uint8_t *single_kernels(struct device_run *run, bool *any)
{
    uint8_t *used = mem_calloc(run->module->kernels.count, 1);
    *any = false;
    for (uint32_t i = 0; i < run->runs.count; i++)
        *any |= mark_single_kernels(run->runs.at[i], used);
    return used;
}

/* The objects that the module's kernels are in, the first ones: "'k.o', 'l.o' and others". */
static const char *object_names(struct device_run *run)
{
    enum { NAMED = 3 };
    const struct module *module = run->module;
    uint32_t named[NAMED] = {NONE, NONE, NONE}, count = 0;
    const char *names = "";
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        uint32_t object = attr_string(module, module->kernels.at[i].attrs, W_object);
        if (object == NONE || object == named[0] || object == named[1] || object == named[2])
            continue;
        if (count == NAMED)
            return arena_printf(&run->arena, "%s and others", names);
        names =
            arena_printf(&run->arena, "%s%s'%.*s'", names, count ? ", " : "", NAME(module, object));
        named[count++] = object;
    }
    return names;
}

static enum backend_status load(struct device_run *run, struct device_code *code,
                                struct device_output *linked, enum backend_status status)
{
    const struct device_origin origin = {object_names(run), run->options.code_runs};
    if (status == BACKEND_OK)
        status = device_code_load(code, linked, &origin, run->diags);
    mem_free(linked->bytes);
    return status;
}

static enum backend_status load_kernels(struct device_run *run)
{
    bool any;
    uint8_t *used = single_kernels(run, &any);
    struct device_output linked = {NULL, NULL, 0};
    enum backend_status status = BACKEND_OK;
    if (any)
        status =
            load(run, &run->kernels, &linked,
                 device_link_kernels(run->module, run->options.places, used, &linked, run->diags));
    mem_free(used);
    return status;
}

static enum backend_status load_entries(struct device_run *run)
{
    struct device_output linked = {NULL, NULL, 0};
    if (run->module->entries.count == 0)
        return BACKEND_OK;
    return load(run, &run->entries, &linked,
                run->target->compile(run->module, run->options.places, &linked, run->diags));
}

/* ------------------------------------------------------------------------ race checks ---- */

static void check_races_of(struct device_run *run, const struct members *members,
                           const struct order *order, struct device_launch *launch)
{
    uint32_t first = members->first[launch->block];
    const struct device_race_source source = {
        .module = run->module,
        .graph = run->graph,
        .order = order,
        .calls = launch->calls,
        .index = members->index,
        .ops = members->ops + first,
        .count = members->first[launch->block + 1] - first,
    };
    struct skrt_race_check *check = arena_alloc(&run->arena, sizeof *check);
    launch->skrt.race = check;
    device_race_check(&source, &run->arena, check);
}

/* From now on launches of super kernels are checked for races. */
static void check_races(struct device_run *run)
{
    const struct order *order = analyses_order(&run->analyses, run->module, run->graph);
    const struct members *members = analyses_members(&run->analyses, run->module, run->graph);
    for (uint32_t i = 0; i < run->launches.count; i++) {
        struct device_launch *launch = &run->launches.at[i];
        if (launch->block == NONE)
            continue;
        check_races_of(run, members, order, launch);
        run->root->base.orders += launch->skrt.race->n_orders;
    }
}

/* ----------------------------------------------------------------------------- a run ---- */

/* Whether an op of the module runs on no cores of the device: its sample kernel has others. */
static bool runs_apart(const struct module *module)
{
    for (uint32_t g = 0; g < module->graphs.count; g++)
        for (uint32_t i = 0; i < module->graphs.at[g].ops.count; i++)
            if (op_has_no_cores(module, &module->graphs.at[g].ops.at[i]))
                return true;
    return false;
}

static bool open_device(struct device_run *run)
{
    const struct skrt_device_config config = {.aic = module_cores(run->module, CORE_AIC),
                                              .aiv = module_cores(run->module, CORE_AIV),
                                              .threads = run->options.threads,
                                              .apart = runs_apart(run->module)};
    const struct device_run *beside = (const struct device_run *)run->options.beside;
    run->shares = beside && memcmp(&beside->config, &config, sizeof config) == 0;
    run->config = config;
    run->device = run->shares ? beside->device : skrt_device_open(&config);
    if (!run->device && errno == ENOMEM)
        mem_exhausted();
    if (!run->device)
        diag_at(run->diags, DIAG_unsupported, no_span, "cannot start the device: %s",
                strerror(errno));
    return run->device != NULL;
}

static bool make_launches(struct device_run *run)
{
    if (!launches_add(run))
        return false;
    if (run->options.race_check)
        check_races(run);
    run->params = device_run_table(run, NULL, "table of parameters",
                                   run->arguments.count * sizeof *run->params);
    tables_sum(run);
    return true;
}

/* What does not go away with the memory of the run. */
static void release_run(void *what)
{
    struct device_run *run = what;
    if (!run->shares)
        skrt_device_close(run->device);
    for (uint32_t i = 0; i < run->runs.count; i++)
        for (uint32_t m = 0; m < run->runs.at[i]->memories.count; m++)
            guarded_free(&run->runs.at[i]->memories.at[m].guarded);
    device_code_unload(&run->entries);
    device_code_unload(&run->kernels);
    for (uint32_t i = 0; i < run->reports.count; i++)
        free(run->reports.at[i]);
}

struct backend_run *device_run_open(const struct run_options *options,
                                    const struct device_target *target, enum backend_status *status)
{
    struct device_run *run = mem_calloc(1, sizeof *run);
    mem_guard(&run->guard, release_run, run);
    run->target = target;
    run->options = *options;
    run->module = options->module;
    run->graph = options->graph;
    run->diags = options->diags;
    run->root = run;
    run->base.ran = mem_calloc(run->module->graphs.count, sizeof *run->base.ran);
    calls_open(run);
    *status = open_device(run) ? load_kernels(run) : BACKEND_INPUT;
    if (*status == BACKEND_OK && run->options.fused)
        *status = load_entries(run);
    for (uint32_t i = 0, n = *status == BACKEND_OK ? run->runs.count : 0; i < n; i++)
        if (!make_launches(run->runs.at[i]))
            *status = BACKEND_INPUT;
    if (*status == BACKEND_OK)
        return &run->base;
    device_run_close(&run->base);
    return NULL;
}

static void free_run(struct device_run *run)
{
    calls_free(run);
    vec_free(&run->memories);
    vec_free(&run->reports);
    vec_free(&run->trace);
    vec_free(&run->launches);
    vec_free(&run->arguments);
    vec_free(&run->events);
    vec_free(&run->streams);
    vec_free(&run->stream_names);
    vec_free(&run->tilings);
    device_profile_free(&run->profile);
    mem_free(run->words_of_events);
    mem_free(run->base.ran);
    arena_free(&run->arena);
    analyses_drop(&run->analyses);
    mem_free(run);
}

void device_run_unload(struct backend_run *base)
{
    struct device_run *run = (struct device_run *)base;
    device_code_unload(&run->entries);
    device_code_unload(&run->kernels);
}

void device_run_close(struct backend_run *base)
{
    struct device_run *run = (struct device_run *)base;
    mem_unguard(&run->guard);
    release_run(run);
    for (uint32_t i = 1; i < run->runs.count; i++)
        free_run(run->runs.at[i]);
    vec_free(&run->runs);
    free_run(run);
}
