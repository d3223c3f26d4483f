#include "frontend/driver/lowered_input.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/shared_options.h"
#include "ir/core/sk_options.h"

/* The options of the command line, those of `more` over the user's: a text in the arena of the
 * diagnostics, or NULL. */
static const char *all_options(struct input *input, const char *more)
{
    struct module *module = input->module;
    const char *given = option_value(input->invocation, "sk-options");
    if (!more || !given)
        return more ? more : given;
    uint32_t all = sk_options_override(module, module_name(module, given), more);
    return name_text(module, all, &input->diags.arena);
}

void session_options_find(struct input *input, const struct pass_plugins *plugins,
                          struct session_options *options)
{
    const struct invocation *invocation = input->invocation;
    options->source = input->path;
    options->passes = &plugins->table;
    options->sk_options = all_options(input, options->sk_options);
    options->strict_gears = option_given(invocation, "strict-gears");
    options->reference_partition = option_word(invocation, "partition") == 1;
    options->reference_names = option_word(invocation, "names") == 1;
    kernel_dir_find(invocation, &input->diags.arena, options);
}

bool lowered_input_open(struct lowered_input *lowered, const struct invocation *invocation,
                        const char *path, const struct session_options *wanted,
                        enum exit_status *status)
{
    struct input *input = &lowered->input;
    *lowered = (struct lowered_input){.session = {.source_dir = NULL}};
    *status = EXIT_INPUT;
    if (!input_open_verified(input, invocation, path))
        return false;
    *status = given_shapes_bind(input);
    if (*status != EXIT_DONE)
        return false;
    if (wanted->graph)
        graphs_keep_reached(input->module, wanted->graph);
    if ((*status = pass_plugins_open(&lowered->plugins, invocation)) != EXIT_DONE)
        return false;
    struct session_options options = *wanted;
    session_options_find(input, &lowered->plugins, &options);
    session_open(&lowered->session, input->module, &input->diags, &options);
    *status = pipeline_exit_status(session_lower(&lowered->session));
    return *status == EXIT_DONE;
}

enum exit_status lowered_input_close(struct lowered_input *lowered, enum exit_status status)
{
    session_close(&lowered->session);
    pass_plugins_close(&lowered->plugins);
    return input_close(&lowered->input, status);
}

enum exit_status pipeline_exit_status(enum pipeline_status status)
{
    return status == PIPELINE_OK ? EXIT_DONE : status == PIPELINE_DEFECT ? EXIT_DEFECT : EXIT_INPUT;
}

enum exit_status backend_exit_status(enum backend_status status)
{
    return status == BACKEND_OK ? EXIT_DONE : status == BACKEND_TOOL ? EXIT_TOOL : EXIT_INPUT;
}
