#include "frontend/commands/lowered_input.h"
#include "backend/library/code_sizes.h"
#include "ir/sk_options.h"

#include <stdlib.h>

/* The options of the command line, those of `more` over the user's: a text in the arena of the
 * diagnostics, or NULL. */
static const char *all_options(struct host_input *host, const char *more)
{
    struct module *module = host->input.module;
    const char *given = option_value(host->input.invocation, "sk-options");
    if (!more || !given)
        return more ? more : given;
    uint32_t all = sk_options_override(module, module_name(module, given), more);
    return name_text(module, all, &host->input.diags.arena);
}

static bool lower(struct host_input *host, const char *sk_options, bool unproven,
                  enum exit_status *status)
{
    struct object_code_sizes sizes;
    object_code_sizes_init(&sizes, &host->places);
    struct pass_context context = {
        .module = host->input.module,
        .diags = &host->input.diags,
        .library = &host->library,
        .sk_options = all_options(host, sk_options),
        .code_sizes = &sizes.sizes,
        .unproven = unproven,
    };
    enum pipeline_status lowered = pipeline_lower(&context);
    object_code_sizes_free(&sizes);
    if (lowered == PIPELINE_DEFECT)
        *status = EXIT_DEFECT;
    return lowered == PIPELINE_OK;
}

bool host_input_open(struct host_input *host, const struct invocation *invocation, const char *path,
                     const char *sk_options, bool unproven, enum exit_status *status)
{
    *status = EXIT_INPUT;
    library_open(&host->library, &host->place, invocation);
    host->source_dir = path_folder(path);
    host->places = (struct host_places){.source_dir = host->source_dir,
                                        .kernel_dir = host->place.directory,
                                        .header_dir = host->place.headers};
    if (!input_open_verified(&host->input, invocation, path) ||
        !lower(host, sk_options, unproven, status))
        return false;
    *status = EXIT_DONE;
    return true;
}

enum exit_status host_input_close(struct host_input *host, enum exit_status status)
{
    status = input_close(&host->input, status);
    library_close(&host->library, &host->place);
    mem_free(host->source_dir);
    return status;
}

enum exit_status host_exit_status(enum host_status status)
{
    return status == HOST_OK ? EXIT_DONE : status == HOST_TOOL ? EXIT_TOOL : EXIT_INPUT;
}
