/* The target `ascend`: NPUs. What its rows of backends.def name and no file of its own has. */
#include "backend/ascend/ascend.h"
#include "backend/ascend/twin_build.h"
#include "backend/ascend/twin_records.h"
#include "backend/device/ops.h"
#include "backend/device/run.h"
#include "ir/base/diag.h"

static const struct device_target twin = {
    .compile = twin_compile, .open_records = twin_records_open, .take_records = twin_records_take};

static struct backend_run *open_run(const struct run_options *options, enum backend_status *status)
{
    return device_run_open(options, &twin, status);
}

/* What runs is the twin, with the kernels of the host. */
static const struct backend_runner runner = {
    .value_size = device_value_size,
    .open = open_run,
    .execute = device_run_execute,
    .damage = device_run_damage,
    .close = device_run_close,
};

const struct backend_functions ascend_functions = {.check_op = device_op_check, .runner = &runner};

bool entries_wanted(const struct emission_job *job)
{
    if (job->module->entries.count > 0)
        return true;
    if (diag_at(job->diags, DIAG_nothing_to_fuse, no_span, "there is no super kernel to compile"))
        diag_help(job->diags, "mark the ops to be fused with 'scope @NAME { ... }'");
    return false;
}
