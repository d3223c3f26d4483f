/* skirc opt: any part of the pipeline on text. */
#include "frontend/cli/diff.h"
#include "frontend/cli/input.h"
#include "frontend/cli/kernel_dir.h"
#include "frontend/cli/moved_paths.h"
#include "frontend/cli/outputs.h"
#include "frontend/cli/sk_argument.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/op_type_text.h"
#include "frontend/commands/opt_passes.h"
#include "ir/sk_options.h"
#include "ir/verify/verify.h"

#include <string.h>

const struct option options_opt[] = {
    {"passes", 'p', OPTION_MANY, "LIST",
     "the passes to run, separated by commas; A..B is a part of 'default'. Lists add up"},
    {"start-after", 0, OPTION_VALUE, "PASS", "run only what of the list is behind this pass"},
    {"stop-after", 0, OPTION_VALUE, "PASS", "run the list only up to this pass, with it"},
    {"output", 'o', OPTION_VALUE, "FILE",
     "write the result there instead of standard output. A folder for several files"},
    {"print-after", 0, OPTION_VALUE, "PASS", "print the module after these passes, or after 'all'"},
    {"print-changed", 0, OPTION_FLAG, NULL, "print what each pass changed, as unified diffs"},
    {"time-passes", 0, OPTION_FLAG, NULL, "print how long each pass took"},
    {"stats", 0, OPTION_FLAG, NULL, "print counts of what the result consists of"},
    {"verify-each", 0, OPTION_FLAG, NULL, "run the verifier after each pass"},
    {"kernel-dir", 0, OPTION_VALUE, "DIR", "where the sample kernels are"},
    {"sk-options", 0, OPTION_VALUE, "TEXT", "options of every scope, over what the file says"},
    {"list-passes", 0, OPTION_FLAG, NULL, "list the passes and end"},
    {"op-type", 0, OPTION_VALUE, "NAME",
     "print what is known of an op type, or the names of 'all', and end"},
    {"list-sk-options", 0, OPTION_FLAG, NULL, "list the options that a scope can have and end"},
    {0},
};

/* What the hook between passes works with. */
struct driver {
    struct invocation *invocation;
    struct input *input;
    const struct opt_passes *passes;
    bool print_changed, time_passes, verify_each;
    struct text before, now;
    bool defect;
};

/* Dumps go to the error stream, so that the result can be piped on. A dump can be read back. */
static void print_dump(struct driver *driver, const char *pass)
{
    fprintf(driver->invocation->err, "// after %s\n%.*s\n", pass, (int)driver->now.size,
            driver->now.at);
}

static void print_diff(struct driver *driver, const struct pass *pass)
{
    struct text diff = {NULL, 0, 0}, before = {NULL, 0, 0}, after = {NULL, 0, 0};
    text_printf(&before, "before %s%c", pass->name, 0);
    text_printf(&after, "after %s%c", pass->name, 0);
    diff_unified(&diff, before.at, driver->before.at, driver->before.size, after.at, driver->now.at,
                 driver->now.size);
    fwrite(diff.at, 1, diff.size, driver->invocation->err);
    text_free(&diff);
    text_free(&before);
    text_free(&after);
}

static void print_module_after(struct driver *driver, const struct pass *pass)
{
    bool print = opt_passes_prints(driver->passes, pass);
    if (!print && !driver->print_changed)
        return;
    driver->now.size = 0;
    print_changed_module(&driver->now, driver->input->module, &driver->input->comments);
    if (print)
        print_dump(driver, pass->name);
    if (driver->print_changed)
        print_diff(driver, pass);
    struct text swap = driver->before;
    driver->before = driver->now;
    driver->now = swap;
}

static bool after_pass(void *user, const struct pass *pass, double seconds)
{
    struct driver *driver = user;
    const struct module *module = driver->input->module;
    if (driver->time_passes)
        fprintf(driver->invocation->err, "%10.3f ms  %s\n", seconds * 1e3, pass->name);
    print_module_after(driver, pass);
    if (driver->verify_each && !verify_module(module, &driver->input->diags)) {
        fprintf(driver->invocation->err,
                "skirc: the pass '%s' left a wrong module; this is a defect of skirc\n",
                pass->name);
        driver->defect = true;
        return false;
    }
    return true;
}

static void print_stats(FILE *out, const struct module *module)
{
    uint64_t ops = 0, superkernels = 0, instrs[INSTR_COUNT] = {0};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        ops += graph->ops.count;
        for (uint32_t j = 0; j < graph->blocks.count; j++)
            superkernels += graph->blocks.at[j].kind == BLOCK_SUPERKERNEL;
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[i].programs[core];
            for (uint32_t j = 0; j < program->instrs.count; j++)
                instrs[program->instrs.at[j].op]++;
        }
    fprintf(out, "%8u kernels\n%8u graphs\n%8llu ops\n%8llu super kernels\n%8u entries\n",
            module->kernels.count, module->graphs.count, (unsigned long long)ops,
            (unsigned long long)superkernels, module->entries.count);
    for (int op = 0; op < INSTR_COUNT; op++)
        if (instrs[op])
            fprintf(out, "%8llu %s\n", (unsigned long long)instrs[op], instr_info(op)->name);
}

static enum exit_status run_passes(struct driver *driver)
{
    struct input *input = driver->input;
    struct session session;
    struct session_options options = {.source = input->path,
                                      .sk_options = option_value(driver->invocation, "sk-options")};
    kernel_dir_find(driver->invocation, &input->diags.arena, &options);
    session_open(&session, input->module, &input->diags, &options);
    if (driver->print_changed)
        print_changed_module(&driver->before, input->module, &input->comments);
    enum pipeline_status status = session_run(&session, &driver->passes->run, after_pass, driver);
    session_close(&session);
    text_free(&driver->before);
    text_free(&driver->now);
    if (driver->defect || status == PIPELINE_DEFECT)
        return EXIT_DEFECT;
    return status == PIPELINE_OK ? EXIT_DONE : EXIT_INPUT;
}

static enum exit_status list_passes(FILE *out)
{
    for (unsigned i = 0; i < PASS_COUNT; i++)
        fprintf(out, "%-20s %s%s\n", passes[i].name, passes[i].summary,
                passes[i].in_default ? "" : " (only where it is named)");
    return EXIT_DONE;
}

static enum exit_status print_result(struct driver *driver, const char *output)
{
    struct input *input = driver->input;
    struct text text = {NULL, 0, 0};
    move_paths(input->module, input->path, output);
    print_changed_module(&text, input->module, &input->comments);
    enum exit_status status = write_output(driver->invocation, output, &text);
    text_free(&text);
    if (option_given(driver->invocation, "stats"))
        print_stats(driver->invocation->err, input->module);
    return status;
}

static enum exit_status opt_one(struct invocation *invocation, const char *path, const char *output,
                                const void *user)
{
    struct input input;
    struct driver driver = {.invocation = invocation,
                            .input = &input,
                            .passes = user,
                            .print_changed = option_given(invocation, "print-changed"),
                            .time_passes = option_given(invocation, "time-passes"),
                            .verify_each = option_given(invocation, "verify-each")};
    enum exit_status status = EXIT_DONE;
    if (!input_open_verified(&input, invocation, path))
        return input_close(&input, EXIT_INPUT);
    if (invocation->n_files > 1 && (driver.time_passes || option_given(invocation, "stats")))
        fprintf(invocation->err, "%s:\n", path);
    if (driver.passes->run.count)
        status = run_passes(&driver);
    if (status == EXIT_DONE)
        status = print_result(&driver, output);
    return input_close(&input, status);
}

static bool read_options(struct invocation *invocation, struct opt_passes *passes)
{
    struct pass_table table;
    pass_table_init(&table);
    bool right = opt_passes_read(passes, invocation, &table);
    pass_table_free(&table);
    if (!right || !sk_argument_check(invocation))
        return false;
    if (passes->given ||
        !(option_given(invocation, "print-after") || option_given(invocation, "print-changed") ||
          option_given(invocation, "time-passes") || option_given(invocation, "verify-each")))
        return true;
    usage_error(invocation, "this needs passes to run: --passes=LIST");
    return false;
}

/* Runs and prints, for each file. */
static enum exit_status opt_all(struct invocation *invocation, const struct opt_passes *passes)
{
    struct outputs outputs = {.paths = NULL};
    enum exit_status status = outputs_plan(&outputs, invocation, ".skir", OUTPUTS_ONE);
    if (status == EXIT_DONE)
        status = outputs_each(&outputs, invocation, opt_one, passes);
    outputs_free(&outputs);
    return status;
}

static enum exit_status unknown_op_type(struct invocation *invocation, struct op_types *types,
                                        const char *name)
{
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    op_types_offer(types, &suggest);
    fprintf(invocation->err, "skirc: nothing is known of op type '%s'%s\n", name,
            suggest_end(&suggest).text);
    return EXIT_USAGE;
}

/* What is known of an op type, which may be one of --kernel-dir. */
static enum exit_status show_op_type(struct invocation *invocation, const char *name)
{
    struct op_types *types = op_types_new();
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_DONE;
    const char *folder = option_value(invocation, "kernel-dir");
    const struct op_type *type;
    char error[512];
    if (folder && !op_types_add_folder(types, folder, error, sizeof error)) {
        fprintf(invocation->err, "skirc: %s\n", error);
        status = EXIT_INPUT;
    } else if (strcmp(name, "all") == 0) {
        op_types_text(&text, types);
    } else if ((type = op_types_find(types, name, strlen(name)))) {
        op_type_text(&text, type);
    } else {
        status = unknown_op_type(invocation, types, name);
    }
    fwrite(text.at, 1, text.size, invocation->out);
    text_free(&text);
    op_types_free(types);
    return status;
}

enum exit_status cmd_opt(struct invocation *invocation)
{
    struct opt_passes passes;
    if (option_given(invocation, "list-passes"))
        return list_passes(invocation->out);
    if (option_given(invocation, "op-type"))
        return show_op_type(invocation, option_value(invocation, "op-type"));
    if (option_given(invocation, "list-sk-options")) {
        sk_options_list(invocation->out);
        return EXIT_DONE;
    }
    if (invocation->n_files == 0)
        return usage_error(invocation, "opt needs a file; '-' is standard input");
    enum exit_status status =
        read_options(invocation, &passes) ? opt_all(invocation, &passes) : EXIT_USAGE;
    opt_passes_free(&passes);
    return status;
}
