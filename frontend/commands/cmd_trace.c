/* skirc trace: what a launch left in memory. Traces become a text that says where each core stood,
 * profiling areas the timeline of `run --profile`. */
#include "frontend/commands/trace_dump.h"
#include "frontend/cli/fusion_arguments.h"
#include "frontend/cli/output.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/given_shapes.h"
#include "frontend/commands/lowered_input.h"
#include "ir/base/file.h"

#include <string.h>

const struct option options_trace[] = {
    {"output", 'o', OPTION_VALUE, "FILE", "write there instead of standard output"},
    {"module", 0, OPTION_VALUE, "FILE.skir",
     "what was launched: its instructions are named. It is lowered as 'compile' does"},
    {"entry", 0, OPTION_VALUE, "NAME",
     "the module's entry, where it has several and the dump does not name them"},
    {"mhz", 0, OPTION_VALUE, "N", "ticks of a profiling area in a microsecond (50)"},
    BIND_OPTION,
    SHAPE_OPTION,
    SESSION_OPTIONS,
    PASS_PLUGIN_OPTION,
    {0},
};

static enum exit_status fail(const struct invocation *invocation, const char *path,
                             const char *text)
{
    fprintf(invocation->err, "skirc: '%s': %s\n", path, text);
    return EXIT_INPUT;
}

/* The entry that --entry names; NULL where there is none of that name, which is reported. */
static bool find_entry(const struct invocation *invocation, const struct module *module,
                       const struct entry **entry)
{
    const char *name = option_value(invocation, "entry");
    *entry = module && module->entries.count == 1 ? &module->entries.at[0] : NULL;
    if (!name)
        return true;
    *entry = module ? trace_dump_entry(module, name, strlen(name)) : NULL;
    if (!*entry)
        fprintf(invocation->err, "skirc: there is no entry '@%s'%s\n", name,
                module ? "" : ": give its module by --module=FILE.skir");
    return *entry != NULL;
}

static enum exit_status put_dump(const struct invocation *invocation, const struct module *module,
                                 const struct file_bytes *bytes, uint64_t mhz)
{
    const char *path = invocation->files[0], *output = option_value(invocation, "output");
    struct trace_dump dump = {.module = module, .bytes = bytes->data, .size = bytes->size};
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_USAGE;
    if (find_entry(invocation, module, &dump.entry)) {
        bool any = trace_dump_is_profile(&dump) ? trace_dump_profile(&text, &dump, mhz)
                                                : trace_dump_cores(&text, &dump);
        status = any ? write_output(invocation, output ? output : "-", &text)
                     : fail(invocation, path, "it has neither a trace nor a profiling area");
    }
    text_free(&text);
    return status;
}

enum exit_status cmd_trace(struct invocation *invocation)
{
    const char *module = option_value(invocation, "module");
    struct session_options wanted = {.sk_options = "debug-op-exec-trace=1", .unproven = true};
    struct lowered_input lowered;
    struct file_bytes bytes;
    enum exit_status status;
    char error[512];
    uint64_t mhz = 50;
    if (!option_number(invocation, "mhz", 1, 1000000, &mhz) || !fusion_arguments_check(invocation))
        return EXIT_USAGE;
    if (!file_read(invocation->files[0], &bytes, error, sizeof error)) {
        fprintf(invocation->err, "skirc: %s\n", error);
        return EXIT_INPUT;
    }
    if (!module) {
        status = put_dump(invocation, NULL, &bytes, mhz);
    } else {
        if (lowered_input_open(&lowered, invocation, module, &wanted, &status))
            status = put_dump(invocation, lowered.input.module, &bytes, mhz);
        status = lowered_input_close(&lowered, status);
    }
    file_bytes_free(&bytes);
    return status;
}
