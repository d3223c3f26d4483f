#include "frontend/commands/lowered_input.h"
#include "frontend/cli/kernel_dir.h"
#include "frontend/commands/given_shapes.h"
#include "ir/sk_options.h"

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

bool lowered_input_open(struct lowered_input *lowered, const struct invocation *invocation,
                        const char *path, const struct session_options *wanted,
                        enum exit_status *status)
{
    struct input *input = &lowered->input;
    *lowered = (struct lowered_input){.session = {.source_dir = NULL}};
    *status = EXIT_INPUT;
    if (!input_open_verified(input, invocation, path))
        return false;
    if ((*status = given_shapes_bind(input)) != EXIT_DONE)
        return false;
    if ((*status = pass_plugins_open(&lowered->plugins, invocation)) != EXIT_DONE)
        return false;
    *status = EXIT_INPUT;
    struct session_options options = *wanted;
    options.source = path;
    options.passes = &lowered->plugins.table;
    options.strict_gears =
        option_exists(invocation, "strict-gears") && option_given(invocation, "strict-gears");
    options.sk_options = all_options(input, wanted->sk_options);
    kernel_dir_find(invocation, &input->diags.arena, &options);
    session_open(&lowered->session, input->module, &input->diags, &options);
    enum pipeline_status done = session_lower(&lowered->session);
    *status = done == PIPELINE_OK ? EXIT_DONE : done == PIPELINE_DEFECT ? EXIT_DEFECT : EXIT_INPUT;
    return done == PIPELINE_OK;
}

enum exit_status lowered_input_close(struct lowered_input *lowered, enum exit_status status)
{
    session_close(&lowered->session);
    pass_plugins_close(&lowered->plugins);
    return input_close(&lowered->input, status);
}

enum exit_status backend_exit_status(enum backend_status status)
{
    return status == BACKEND_OK ? EXIT_DONE : status == BACKEND_TOOL ? EXIT_TOOL : EXIT_INPUT;
}
