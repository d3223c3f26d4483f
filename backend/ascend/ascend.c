/* The target `ascend`: NPUs. What its rows of backends.def name and no file of its own has. */
#include "backend/ascend/ascendc.h"
#include "backend/ascend/build.h"
#include "backend/ascend/host_emulation.h"
#include "backend/ascend/toolchain.h"
#include "backend/device/ops.h"
#include "backend/device/run.h"
#include "ir/arch.h"
#include "ir/base/diag.h"
#include "ir/syntax/locate.h"

static const struct device_target twin = {
    .compile = twin_compile, .open_records = twin_records_open, .take_records = twin_records_take};

static struct backend_run *open_run(const struct run_options *options, enum backend_status *status)
{
    return device_run_open(options, &twin, status);
}

static bool accepts(const struct module *module, struct diags *diags)
{
    if (module_arch_is_known(module))
        return true;
    const struct target *target = &module->targets.at[0];
    if (diag_at(diags, DIAG_unknown_chip, locate_name(module, target->loc),
                "no chip is known by the name '%.*s' of the target", NAME(module, target->name)))
        diag_help(diags, "add 'arch = \"c220\"' to the target, or 'arch = \"c310\"'");
    return false;
}

/* Kernels' objects are looked at where there is a toolchain that would link them. */
static enum backend_status check(const struct emission_job *job)
{
    struct command_lines commands;
    struct source_lines lines = {.at = NULL};
    struct text source = {NULL, 0, 0};
    char why[512];
    enum backend_status status = BACKEND_INPUT;
    if (job->module->entries.count == 0)
        return BACKEND_OK;
    command_lines_init(&commands, job->module, why, sizeof why);
    if (ascendc_emit(&source, job->module, &lines, job->diags))
        status = !commands.tools.found         ? BACKEND_OK
                 : commands_check_kernels(job) ? link_check(job)
                                               : BACKEND_INPUT;
    command_lines_free(&commands);
    vec_free(&lines);
    text_free(&source);
    return status;
}

/* What runs is the twin, with the kernels of the host. */
static const struct backend_runner runner = {
    .value_size = device_value_size,
    .open = open_run,
    .execute = device_run_execute,
    .damage = device_run_damage,
    .spoil = device_run_spoil,
    .place = device_run_place,
    .unload = device_run_unload,
    .close = device_run_close,
};

const struct backend_functions ascend_functions = {
    .check_op = device_op_check, .accepts = accepts, .check = check, .runner = &runner};
