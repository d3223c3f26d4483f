/* The target `host`: this machine. What its rows of backends.def name. */
#include "backend/device/link.h"
#include "backend/device/ops.h"
#include "backend/device/run.h"
#include "backend/host/build.h"
#include "backend/host/emit.h"
#include "backend/host/rows.h"

static const struct device_target target = {.compile = host_compile};

static struct backend_run *open_run(const struct run_options *options, enum backend_status *status)
{
    return device_run_open(options, &target, status);
}

static const struct backend_runner runner = {
    .value_size = device_value_size,
    .open = open_run,
    .execute = device_run_execute,
    .damage = device_run_damage,
    .spoil = device_run_spoil,
    .allow = device_run_allow,
    .place = device_run_place,
    .unload = device_run_unload,
    .close = device_run_close,
};

static enum backend_status check(const struct emission_job *job)
{
    struct module_rows rows;
    bool ok = module_rows_make(&rows, job->module, job->diags);
    module_rows_free(&rows);
    return ok ? device_link_check(job->module, job->places, true, job->diags) : BACKEND_INPUT;
}

const struct backend_functions host_functions = {
    .check_op = device_op_check, .check = check, .runner = &runner};

enum backend_status host_emit_object(const struct emission_job *job)
{
    enum backend_status status = device_link_check(job->module, job->places, false, job->diags);
    struct device_output output = {.path = job->output};
    return status == BACKEND_OK ? host_compile(job->module, job->places, &output, job->diags)
                                : status;
}

enum backend_status host_emit_source(const struct emission_job *job)
{
    return host_emit(job->text, job->module, job->diags) ? BACKEND_OK : BACKEND_INPUT;
}
