#include "frontend/commands/opt_driver.h"
#include "frontend/cli/diff.h"
#include "frontend/cli/measured.h"
#include "frontend/commands/lowered_input.h"
#include "frontend/commands/opt_reread.h"
#include "ir/verify/verify.h"

/* What the hook between passes works with. */
struct driver {
    struct input *input;
    const struct opt_options *options;
    struct opt_report *report;
    FILE *err;
    struct text before, now; /* the selected part of the module, where somebody compares it */
    bool defect;
};

static void print_now(struct driver *driver)
{
    driver->now.size = 0;
    selection_print(&driver->now, &driver->options->only, driver->input->module,
                    &driver->input->comments);
}

/* Dumps go to the error stream, so that the result can be piped on. A dump can be read back. */
static void print_dump(const struct driver *driver, const struct pass *pass)
{
    fprintf(driver->err, "// after %s\n%.*s\n", pass->name, (int)driver->now.size, driver->now.at);
}

static void print_diff(const struct driver *driver, const struct pass *pass)
{
    struct text diff = {NULL, 0, 0}, before = {NULL, 0, 0}, after = {NULL, 0, 0};
    text_printf(&before, "before %s%c", pass->name, 0);
    text_printf(&after, "after %s%c", pass->name, 0);
    diff_unified(&diff, before.at, driver->before.at, driver->before.size, after.at, driver->now.at,
                 driver->now.size);
    fwrite(diff.at, 1, diff.size, driver->err);
    text_free(&diff);
    text_free(&before);
    text_free(&after);
}

/* Whether it matters what each pass changes. */
static bool compares(const struct opt_options *options)
{
    return options->print_changed || options->json;
}

static void note_run(struct driver *driver, const struct pass *pass, double seconds)
{
    bool changed = driver->now.size != driver->before.size ||
                   memcmp(driver->now.at, driver->before.at, driver->now.size) != 0;
    vec_push(&driver->report->runs, (struct pass_run){pass, seconds, changed});
}

static void look_at_module(struct driver *driver, const struct pass *pass, double seconds)
{
    const struct opt_options *options = driver->options;
    bool print = opt_passes_prints(&options->passes, pass);
    if (!print && !compares(options))
        return;
    print_now(driver);
    if (options->json)
        note_run(driver, pass, seconds);
    if (print)
        print_dump(driver, pass);
    if (options->print_changed)
        print_diff(driver, pass);
    struct text swap = driver->before;
    driver->before = driver->now;
    driver->now = swap;
}

/* Whether the verifier takes the module, and its text says all of it. */
static bool verify(struct driver *driver, const struct pass *pass)
{
    struct input *input = driver->input;
    if (!verify_module(input->module, &input->diags)) {
        fprintf(driver->err, "skirc: the pass '%s' left a wrong module; this is a defect of %s%s\n",
                pass->name, PASS_BLAME(pass));
        return false;
    }
    return opt_reread(input, pass);
}

static bool after_pass(void *user, const struct pass *pass, double seconds)
{
    struct driver *driver = user;
    if (driver->options->time_passes) {
        put_milliseconds(driver->input->invocation, driver->err, 13, seconds * 1e3);
        fprintf(driver->err, "  %s\n", pass->name);
    }
    look_at_module(driver, pass, seconds);
    driver->defect = driver->options->verify_each && !verify(driver, pass);
    return !driver->defect;
}

static enum pipeline_status run(struct driver *driver)
{
    struct input *input = driver->input;
    struct session session;
    struct session_options options = {.target = NULL};
    session_options_find(input, &driver->options->plugins, &options);
    session_open(&session, input->module, &input->diags, &options);
    enum pipeline_status status =
        session_run(&session, &driver->options->passes.run, after_pass, driver);
    session_close(&session);
    return status;
}

enum exit_status opt_run(struct input *input, const struct opt_options *options,
                         struct opt_report *report)
{
    struct driver driver = {
        .input = input, .options = options, .report = report, .err = input->invocation->err};
    if (compares(options)) {
        print_now(&driver);
        struct text swap = driver.before;
        driver.before = driver.now;
        driver.now = swap;
    }
    enum pipeline_status status = run(&driver);
    text_free(&driver.before);
    text_free(&driver.now);
    return driver.defect ? EXIT_DEFECT : pipeline_exit_status(status);
}
