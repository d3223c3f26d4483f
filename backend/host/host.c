/* The target `host`: this machine. What its rows of backends.def name. */
#include "backend/host/build.h"
#include "backend/host/emit.h"
#include "backend/host/ops.h"
#include "backend/host/run.h"

static const struct backend_runner runner = {
    .value_size = host_value_size,
    .open = host_run_open,
    .execute = host_run_execute,
    .close = host_run_close,
};

const struct backend_functions host_functions = {.check_op = host_op_check, .runner = &runner};

enum backend_status host_emit_object(const struct emission_job *job)
{
    return host_compile(job->module, job->places, job->output, job->diags);
}

enum backend_status host_emit_source(const struct emission_job *job)
{
    return host_emit(job->text, job->module, job->diags) ? BACKEND_OK : BACKEND_INPUT;
}
