#include "frontend/host.h"
#include "ir/locate.h"
#include "ir/verify.h"
#include "passes/pass.h"

#include <stdlib.h>
#include <string.h>

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    char *folder = mem_strdup(path);
    folder[slash == path ? 1 : slash - path] = '\0';
    return folder;
}

/* Gears are part of the language, but nothing instantiates them yet. */
static bool refuse_gears(const struct module *module, struct diags *diags)
{
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        if (graph->gear_mode == GEARS_NONE)
            continue;
        if (diag_at(diags, DIAG_unsupported, locate_name(module, graph->loc),
                    "graphs with gears cannot be compiled yet"))
            diag_note(diags, (struct span){0, 0},
                      "write a graph for each combination, with static shapes");
        ok = false;
    }
    return ok;
}

static bool lower(struct host_input *host, enum exit_status *status)
{
    struct pipeline pipeline;
    char error[256];
    struct module *module = host->input.module;
    struct pass_context context = {module, &host->input.diags, &host->library};
    if (!refuse_gears(module, &host->input.diags))
        return false;
    pipeline_parse(&pipeline, "default", error, sizeof error);
    switch (pipeline_run(&pipeline, &context, NULL, NULL)) {
    case PIPELINE_OK: break;
    case PIPELINE_DEFECT: *status = EXIT_DEFECT; return false;
    default: return false;
    }
    if (verify_module(module, &host->input.diags))
        return true;
    *status = EXIT_DEFECT; /* the input was correct, and the passes made this of it */
    return false;
}

bool host_input_open(struct host_input *host, const struct invocation *invocation,
                     const char *path, enum exit_status *status)
{
    *status = EXIT_INPUT;
    library_open(&host->library, &host->place, invocation);
    host->source_dir = folder_of(path);
    host->places = (struct host_places){.source_dir = host->source_dir,
                                        .kernel_dir = host->place.directory,
                                        .header_dir = host->place.headers};
    if (!input_open_verified(&host->input, invocation, path) || !lower(host, status))
        return false;
    *status = EXIT_DONE;
    return true;
}

enum exit_status host_input_close(struct host_input *host, enum exit_status status)
{
    status = input_close(&host->input, status);
    library_close(&host->library, &host->place);
    free(host->source_dir);
    return status;
}

enum exit_status host_exit_status(enum host_status status)
{
    return status == HOST_OK ? EXIT_DONE : status == HOST_TOOL ? EXIT_TOOL : EXIT_INPUT;
}
