/* skirc compile: graph to linked object. */
#include "backend/target/backend.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/lowered_input.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/shared_options.h"

#include <string.h>

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

/* Text is written here; objects, and files that belong to them, by the target. */
static enum exit_status emit(struct lowered_input *lowered, const struct emission *emission,
                             const char *output)
{
    bool is_text = emission->kind == EMISSION_TEXT;
    struct text text = {NULL, 0, 0};
    const struct emission_job job = {.module = lowered->input.module,
                                     .places = &lowered->session.places,
                                     .diags = &lowered->input.diags,
                                     .comments = &lowered->input.comments,
                                     .text = is_text ? &text : NULL,
                                     .output = is_text ? NULL : output};
    enum exit_status status = backend_exit_status(emission->make(&job));
    if (status == EXIT_DONE && is_text)
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

/* How every file is compiled. */
struct compilation {
    struct session_options options;
    const struct emission *emission;
};

static enum exit_status compile_one(struct invocation *invocation, const char *path,
                                    const char *output, const void *user)
{
    const struct compilation *compilation = user;
    struct lowered_input lowered;
    enum exit_status status;
    if (lowered_input_open(&lowered, invocation, path, &compilation->options, &status) &&
        option_value(invocation, "target") && !session_target_accepts(&lowered.session))
        status = EXIT_INPUT;
    else if (status == EXIT_DONE)
        status = emit(&lowered, compilation->emission, output);
    if (status == EXIT_DONE && compilation->emission->target != BACKEND_any)
        warn_of_nothing(&lowered);
    return lowered_input_close(&lowered, status);
}

enum exit_status cmd_compile(struct invocation *invocation)
{
    char error[512];
    const char *named = option_value(invocation, "target"),
               *what = option_value(invocation, "emit");
    const char *output = option_value(invocation, "output");
    const struct backend *target = named  ? backend_find(named, error, sizeof error)
                                   : what ? backend_emitting(what, error, sizeof error)
                                          : backend_default();
    const struct emission *emission = !target ? NULL
                                      : what  ? emission_find(target, what, error, sizeof error)
                                              : emission_default(target);
    if (!emission)
        return usage_error(invocation, "%s", error);
    if (emission->kind != EMISSION_TEXT && !output)
        return usage_error(invocation, "an object needs a file to be written to: -o OUT");
    if (emission->kind == EMISSION_FILES && strcmp(output, "-") == 0)
        return usage_error(invocation, "an object that other files stand beside cannot be written "
                                       "to standard output: -o OUT");
    struct compilation compilation = {{.target = target}, emission};
    return outputs_each(invocation, emission->suffix, OUTPUTS_ONE, compile_one, &compilation);
}
