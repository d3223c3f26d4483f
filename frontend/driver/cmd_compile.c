/* skirc compile: graph to linked object. */
#include "backend/target/backend.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/lowered_input.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/shared_options.h"

const struct option options_compile[] = {
    {"output", 'o', OPTION_VALUE, "OUT",
     "where to write; standard output for text. A folder for several files"},
    {"target", 0, OPTION_VALUE, "TARGET", backend_help},
    {"emit", 0, OPTION_VALUE, "WHAT", emission_help},
    BIND_OPTION,
    SHAPE_OPTION,
    STRICT_GEARS_OPTION,
    SESSION_OPTIONS,
    PASS_PLUGIN_OPTION,
    JOBS_OPTION,
    {0},
};

static enum exit_status emit_text(struct lowered_input *lowered, const struct emission *emission,
                                  const char *output)
{
    struct text text = {NULL, 0, 0};
    const struct emission_job job = {.module = lowered->input.module,
                                     .places = &lowered->session.places,
                                     .diags = &lowered->input.diags,
                                     .comments = &lowered->input.comments,
                                     .text = &text};
    enum exit_status status = backend_exit_status(emission->make(&job));
    if (status == EXIT_DONE)
        status = write_output(lowered->input.invocation, output, &text);
    text_free(&text);
    return status;
}

/* Where ops are in scopes, passes have said why nothing is fused. */
static void warn_of_nothing(struct lowered_input *lowered)
{
    struct diags *diags = &lowered->input.diags;
    if (lowered->input.module->entries.count > 0 || diags_have(diags, DIAG_nothing_to_fuse) ||
        diags_have(diags, DIAG_scope_bypassed))
        return;
    if (diag_at(diags, DIAG_nothing_to_fuse, no_span, "nothing is fused: no op is in a scope"))
        diag_help(diags, "mark the ops to be fused with 'scope @NAME { ... }'");
}

static enum exit_status emit_object(struct lowered_input *lowered, const struct emission *emission,
                                    const char *output)
{
    const struct emission_job job = {.module = lowered->input.module,
                                     .places = &lowered->session.places,
                                     .diags = &lowered->input.diags,
                                     .output = output};
    return backend_exit_status(emission->make(&job));
}

/* What --emit asks for; NULL, with a usage error, where the target does not emit it. */
static const struct emission *chosen_emission(const struct invocation *invocation,
                                              const struct backend *target)
{
    char error[512];
    const char *name = option_value(invocation, "emit");
    if (!name)
        return emission_default(target);
    const struct emission *emission = emission_find(target, name, error, sizeof error);
    if (!emission)
        usage_error(invocation, "%s", error);
    return emission;
}

/* The target that --target names, or that emits what --emit asks for; NULL, with a usage error,
 * where there is none. */
static const struct backend *chosen_target(const struct invocation *invocation)
{
    char error[512];
    const char *emission = option_value(invocation, "emit");
    if (!emission || option_value(invocation, "target"))
        return target_option(invocation);
    const struct backend *target = backend_emitting(emission, error, sizeof error);
    if (!target)
        usage_error(invocation, "%s", error);
    return target;
}

/* False, with a usage error, where what is emitted needs a file that --output does not name. */
static bool has_file(const struct invocation *invocation, const struct emission *emission)
{
    const char *output = option_value(invocation, "output");
    if (emission->kind == EMISSION_TEXT)
        return true;
    if (!output)
        usage_error(invocation, "an object needs a file to be written to: -o OUT");
    else if (emission->kind == EMISSION_FILES && strcmp(output, "-") == 0)
        usage_error(invocation, "an object that other files stand beside cannot be written to "
                                "standard output: -o OUT");
    else
        return true;
    return false;
}

/* How every file is compiled. */
struct compilation {
    struct session_options options;
    const struct emission *emission;
};

static enum exit_status compile_one(struct invocation *invocation, const char *path,
                                    const char *output, const void *user)
{
    const struct compilation *compilation = user;
    const struct emission *emission = compilation->emission;
    struct lowered_input lowered;
    enum exit_status status;
    if (lowered_input_open(&lowered, invocation, path, &compilation->options, &status) &&
        option_value(invocation, "target") && !session_target_accepts(&lowered.session))
        status = EXIT_INPUT;
    else if (status == EXIT_DONE)
        status = emission->kind == EMISSION_TEXT ? emit_text(&lowered, emission, output)
                                                 : emit_object(&lowered, emission, output);
    if (status == EXIT_DONE && emission->target != BACKEND_any)
        warn_of_nothing(&lowered);
    return lowered_input_close(&lowered, status);
}

enum exit_status cmd_compile(struct invocation *invocation)
{
    struct compilation compilation = {.options = {.target = chosen_target(invocation)}};
    if (!compilation.options.target)
        return EXIT_USAGE;
    compilation.emission = chosen_emission(invocation, compilation.options.target);
    if (!compilation.emission || !sk_argument_check(invocation, "sk-options") ||
        !fusion_arguments_check(invocation))
        return EXIT_USAGE;
    if (!has_file(invocation, compilation.emission))
        return EXIT_USAGE;
    struct outputs outputs = {.paths = NULL};
    enum exit_status status =
        outputs_plan(&outputs, invocation, compilation.emission->suffix, OUTPUTS_ONE);
    if (status == EXIT_DONE)
        status = outputs_each(&outputs, invocation, compile_one, &compilation);
    outputs_free(&outputs);
    return status;
}
