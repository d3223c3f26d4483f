#include "backend/host/host.h"

#include <elf.h>

#include "backend/device/ops.h"
#include "backend/device/run.h"
#include "backend/device/tools.h"
#include "backend/host/emit.h"
#include "backend/host/object.h"
#include "backend/host/rows.h"

enum backend_status host_compile_source(const struct module *module,
                                        const struct backend_places *places,
                                        struct device_output *output, struct diags *diags)
{
    struct text source = {NULL, 0, 0};
    struct arena scratch = {NULL, 0};
    struct tool_folder folder;
    enum backend_status status = BACKEND_INPUT;
    if (host_emit(&source, module, diags) && device_make_folder(&folder, diags)) {
        const char *path = arena_printf(&scratch, "%s/entry.c", folder.path);
        const struct device_entries entries = {
            .files = {arena_printf(&scratch, "%s/entry.o", folder.path)}};
        status = device_compile(&source, path, places, entries.files[0], diags);
        if (status == BACKEND_OK)
            status = device_link_entries(module, places, &entries, output, diags);
        tool_folder_remove(&folder);
    }
    text_free(&source);
    arena_free(&scratch);
    return status;
}

enum backend_status host_compile(const struct module *module, const struct backend_places *places,
                                 struct device_output *output, struct diags *diags)
{
    if (object_this_machine() == EM_NONE)
        return host_compile_source(module, places, output, diags);
    const struct device_entries entries = {
        .made = host_make_object(module, object_this_machine(), diags)};
    if (!entries.made)
        return BACKEND_INPUT;
    enum backend_status status = device_link_entries(module, places, &entries, output, diags);
    object_made_free(entries.made);
    return status;
}

/* The target `host`: this machine. What its rows of backends.def name. */

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
