#include "frontend/commands/opt_driver.h"

#include <string.h>

#include "frontend/cli/diff.h"
#include "frontend/commands/lowered_input.h"
#include "ir/base/file_fault.h"
#include "ir/base/json.h"
#include "ir/gears.h"
#include "ir/op_types.h"
#include "ir/syntax/parse.h"
#include "ir/verify/verify.h"

bool selection_read(struct selection *selection, const struct invocation *invocation)
{
    const char *value = option_value(invocation, "only");
    *selection = (struct selection){SELECT_ALL, NULL};
    if (!value)
        return true;
    if (strcmp(value, "entries") == 0)
        selection->what = SELECT_ENTRIES;
    else if (strcmp(value, "graphs") == 0)
        selection->what = SELECT_GRAPHS;
    else if (value[0] == '@' && value[1])
        *selection = (struct selection){SELECT_NAMED, value + 1};
    else
        usage_error(invocation, "'--only' can be entries, graphs or @NAME, not '%s'%s%s", value,
                    value[0] && value[0] != '@' ? "; a name begins with '@': --only=@" : "",
                    value[0] && value[0] != '@' ? value : "");
    return selection->what != SELECT_ALL;
}

/* The elements of a module that are to be printed, by their index. */
struct marks {
    const struct module *module;
    uint8_t *of[SYMBOL_KINDS];
};

static bool is_named(const struct marks *marks, const struct selection *selection, uint32_t name)
{
    return selection->what == SELECT_NAMED && name_is(marks->module, name, selection->name);
}

static void mark_kernel(struct marks *marks, uint32_t name)
{
    uint32_t index = name == NONE ? NONE : module_find(marks->module, SYMBOL_KERNEL, name);
    if (index != NONE)
        marks->of[SYMBOL_KERNEL][index] = 1;
}

static void mark_kernels_of_graphs(struct marks *marks)
{
    for (uint32_t i = 0; i < marks->module->graphs.count; i++) {
        const struct graph *graph = &marks->module->graphs.at[i];
        for (uint32_t j = 0; marks->of[SYMBOL_GRAPH][i] && j < graph->ops.count; j++)
            mark_kernel(marks, graph->ops.at[j].kernel);
    }
}

static void mark_kernels_of_entries(struct marks *marks)
{
    for (uint32_t i = 0; i < marks->module->entries.count; i++)
        for (int core = 0; marks->of[SYMBOL_ENTRY][i] && core < CORE_TYPES; core++) {
            const struct program *program = &marks->module->entries.at[i].programs[core];
            for (uint32_t j = 0; j < program->instrs.count; j++)
                mark_kernel(marks, program->instrs.at[j].kernel);
        }
}

static void mark_named(struct marks *marks, const struct selection *selection)
{
    const struct module *module = marks->module;
    for (uint32_t i = 0; i < module->kernels.count; i++)
        marks->of[SYMBOL_KERNEL][i] = is_named(marks, selection, module->kernels.at[i].name);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        marks->of[SYMBOL_GRAPH][i] = is_named(marks, selection, module->graphs.at[i].name);
    for (uint32_t i = 0; i < module->entries.count; i++)
        marks->of[SYMBOL_ENTRY][i] = is_named(marks, selection, module->entries.at[i].name);
    graphs_mark_reached(marks->module, marks->of[SYMBOL_GRAPH]);
    mark_kernels_of_graphs(marks);
    mark_kernels_of_entries(marks);
}

/* Whether all elements of a kind are selected, where a kind is. */
static bool selects_kind(const struct selection *selection, unsigned kind)
{
    return kind == SYMBOL_KERNEL ||
           kind == (selection->what == SELECT_GRAPHS ? SYMBOL_GRAPH : SYMBOL_ENTRY);
}

static void marks_init(struct marks *marks, const struct module *module,
                       const struct selection *selection)
{
    const uint32_t counts[SYMBOL_KINDS] = {[SYMBOL_KERNEL] = module->kernels.count,
                                           [SYMBOL_GRAPH] = module->graphs.count,
                                           [SYMBOL_ENTRY] = module->entries.count};
    marks->module = module;
    for (unsigned kind = 0; kind < SYMBOL_KINDS; kind++) {
        marks->of[kind] = mem_calloc(counts[kind], 1);
        if (counts[kind])
            memset(marks->of[kind], selects_kind(selection, kind), counts[kind]);
    }
    if (selection->what == SELECT_NAMED)
        mark_named(marks, selection);
}

static void marks_free(struct marks *marks)
{
    for (unsigned kind = 0; kind < SYMBOL_KINDS; kind++)
        mem_free(marks->of[kind]);
}

void selection_print(struct text *text, const struct selection *selection,
                     const struct module *module, const struct spans *comments)
{
    struct marks marks;
    if (selection->what == SELECT_ALL) {
        print_changed_module(text, module, comments);
        return;
    }
    marks_init(&marks, module, selection);
    uint8_t *marked = mem_calloc(module->order.count, 1);
    for (uint32_t i = 0; i < module->order.count; i++) {
        unsigned kind = order_kind(module->order.at[i]);
        marked[i] = kind >= SYMBOL_KINDS || marks.of[kind][order_index(module->order.at[i])];
    }
    print_marked_module(text, module, comments, marked);
    mem_free(marked);
    marks_free(&marks);
}

bool selection_is_there(const struct selection *selection, const struct invocation *invocation,
                        const struct module *module)
{
    if (selection->what != SELECT_NAMED)
        return true;
    struct suggest suggest = {
        .wanted = selection->name, .wanted_size = strlen(selection->name), .before = "@"};
    for (uint32_t i = 0; i < module->order.count; i++) {
        uint32_t index = order_index(module->order.at[i]), name = NONE;
        switch (order_kind(module->order.at[i])) {
        case SYMBOL_KERNEL: name = module->kernels.at[index].name; break;
        case SYMBOL_GRAPH: name = module->graphs.at[index].name; break;
        case SYMBOL_ENTRY: name = module->entries.at[index].name; break;
        default: continue;
        }
        if (name_is(module, name, selection->name))
            return true;
        name_offer(&suggest, module, name);
    }
    fprintf(invocation->err, "skirc: --only: the result has no '@%s'%s\n", selection->name,
            suggest_end(&suggest).text);
    return false;
}

static bool append(struct pipeline *pipeline, const struct invocation *invocation,
                   const struct pass_table *table, const char *option, const char *list)
{
    char error[256];
    if (pipeline_append(pipeline, table, list, error, sizeof error))
        return true;
    fprintf(invocation->err, "skirc: --%s: %s\n", option, error);
    return false;
}

/* The place of the pass that an option names in the pipeline, the first from `from` on. NONE, with
 * a message, where there is none. */
static uint32_t find_pass(const struct pipeline *pipeline, const struct invocation *invocation,
                          const struct pass_table *table, const char *option, uint32_t from)
{
    const char *name = option_value(invocation, option);
    uint32_t row = pass_table_find(table, name, strlen(name));
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    for (uint32_t i = from; row != NONE && i < pipeline->count; i++)
        if (pipeline->at[i] == table->at[row])
            return i;
    if (row == NONE) {
        pass_table_offer(table, &suggest);
        fprintf(invocation->err, "skirc: --%s: unknown pass '%s'%s\n", option, name,
                suggest.best ? suggest_end(&suggest).text : "; see --list-passes");
    } else {
        fprintf(invocation->err, "skirc: --%s: '%s' is not among the passes to run%s\n", option,
                name, from ? ", behind that of --start-after" : "");
    }
    return NONE;
}

/* Keeps what is behind the one pass, and up to the other. */
static bool cut(struct pipeline *pipeline, const struct invocation *invocation,
                const struct pass_table *table)
{
    uint32_t first = 0, last = pipeline->count;
    if (option_given(invocation, "start-after")) {
        first = find_pass(pipeline, invocation, table, "start-after", 0);
        if (first == NONE)
            return false;
        first++;
    }
    if (option_given(invocation, "stop-after")) {
        last = find_pass(pipeline, invocation, table, "stop-after", first);
        if (last == NONE)
            return false;
        last++;
    }
    for (uint32_t i = first; i < last; i++)
        pipeline->at[i - first] = pipeline->at[i];
    pipeline->count = last - first;
    return true;
}

static bool read_run(struct opt_passes *passes, const struct invocation *invocation,
                     const struct pass_table *table)
{
    const char *list;
    bool limited =
        option_given(invocation, "start-after") || option_given(invocation, "stop-after");
    passes->given = limited || option_given(invocation, "passes");
    for (unsigned i = 0; (list = option_value_at(invocation, "passes", i)); i++)
        if (!append(&passes->run, invocation, table, "passes", list))
            return false;
    if (!option_given(invocation, "passes") && limited &&
        !append(&passes->run, invocation, table, "passes", "default"))
        return false;
    return cut(&passes->run, invocation, table);
}

/* Whether --print-after asks for the module behind a pass. */
static bool opt_passes_prints(const struct opt_passes *passes, const struct pass *pass)
{
    for (uint32_t i = 0; i < passes->printed.count; i++)
        if (passes->printed.at[i] == pass)
            return true;
    return passes->print_all;
}

/* Dumps that nobody would see are a slip. */
static bool check_printed(const struct opt_passes *passes, const struct invocation *invocation)
{
    bool seen = passes->printed.count == 0;
    for (uint32_t i = 0; i < passes->run.count; i++)
        seen |= opt_passes_prints(passes, passes->run.at[i]);
    if (!seen && passes->run.count)
        fprintf(invocation->err, "skirc: --print-after: '%s' is not among the passes to run\n",
                option_value(invocation, "print-after"));
    return seen || !passes->run.count;
}

bool opt_passes_read(struct opt_passes *passes, const struct invocation *invocation,
                     const struct pass_table *table)
{
    const char *after = option_value(invocation, "print-after");
    *passes = (struct opt_passes){.print_all = after && strcmp(after, "all") == 0};
    return read_run(passes, invocation, table) &&
           (!after || passes->print_all ||
            append(&passes->printed, invocation, table, "print-after", after)) &&
           check_printed(passes, invocation);
}

void opt_passes_free(struct opt_passes *passes)
{
    pipeline_free(&passes->run);
    pipeline_free(&passes->printed);
}

/* A module that was read back. */
struct reread {
    struct source source;
    struct diags diags;
    struct module *module; /* NULL: the text is none */
    struct text again;
};

/* What the input's module knows of op types besides what all know. */
static bool add_op_types(const struct input *input, struct reread *reread)
{
    const char *folder = option_value(input->invocation, "kernel-dir");
    struct file_fault fault;
    return !folder || op_types_add_folder(reread->module->op_types, folder, &fault);
}

/* The text gets the NUL behind its end that sources have. */
static bool read_back(const struct input *input, struct reread *reread, struct text *text)
{
    text_char(text, '\0');
    text->size--;
    bool fits = source_init(&reread->source, "<printed>", text->at, text->size);
    diags_init(&reread->diags, &reread->source, reread->source.path);
    reread->module = fits ? parse_module(&reread->source, &reread->diags, NULL) : NULL;
    if (!reread->module || !add_op_types(input, reread) ||
        !verify_module(reread->module, &reread->diags))
        return false;
    print_whole_module(&reread->again, reread->module, NULL);
    return true;
}

/* Prints the module of the input, reads that as a file, verifies it, prints it again, and compares.
 * Where something is different, false, and the error stream says what; `pass` is who left the
 * module so. */
static bool opt_reread(const struct input *input, const struct pass *pass)
{
    struct reread reread = {.module = NULL};
    struct text text = {NULL, 0, 0}, diff = {NULL, 0, 0};
    FILE *err = input->invocation->err;
    print_whole_module(&text, input->module, NULL);
    bool read = read_back(input, &reread, &text);
    if (read)
        diff_unified(&diff, "printed", text.at, text.size, "read and printed again",
                     reread.again.at, reread.again.size);
    else
        diags_print(&reread.diags, err, false);
    fwrite(diff.at, 1, diff.size, err);
    bool same = read && diff.size == 0;
    if (!same)
        fprintf(err,
                "skirc: the pass '%s' left a module whose text is not the same module; this is a "
                "defect of %s%s\n",
                pass->name, PASS_BLAME(pass));
    text_free(&diff);
    text_free(&reread.again);
    module_free(reread.module);
    diags_free(&reread.diags);
    source_free(&reread.source);
    text_free(&text);
    return same;
}

struct module_counts module_count(const struct module *module)
{
    struct module_counts counts = {.kernels = module->kernels.count,
                                   .graphs = module->graphs.count,
                                   .entries = module->entries.count};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        counts.ops += graph->ops.count;
        for (uint32_t j = 0; j < graph->blocks.count; j++)
            counts.superkernels += graph->blocks.at[j].kind == BLOCK_SUPERKERNEL;
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[i].programs[core];
            for (uint32_t j = 0; j < program->instrs.count; j++)
                counts.instrs[program->instrs.at[j].op]++;
        }
    return counts;
}

static void print_count(FILE *out, uint64_t count, const char *what)
{
    fprintf(out, "%8llu %s\n", (unsigned long long)count, what);
}

void module_counts_print(FILE *out, const struct module_counts *counts)
{
    print_count(out, counts->kernels, "kernels");
    print_count(out, counts->graphs, "graphs");
    print_count(out, counts->ops, "ops");
    print_count(out, counts->superkernels, "super kernels");
    print_count(out, counts->entries, "entries");
    for (int op = 0; op < INSTR_COUNT; op++)
        if (counts->instrs[op])
            print_count(out, counts->instrs[op], instr_info(op)->name);
}

/* ------------------------------------------------------------------------------ JSON ---- */

static void put_counts(struct json *json, const char *key, const struct module_counts *counts)
{
    json_key(json, key);
    json_open_object(json);
    json_add_unsigned(json, "kernels", counts->kernels);
    json_add_unsigned(json, "graphs", counts->graphs);
    json_add_unsigned(json, "ops", counts->ops);
    json_add_unsigned(json, "superkernels", counts->superkernels);
    json_add_unsigned(json, "entries", counts->entries);
    json_key(json, "instructions");
    json_open_object(json);
    for (int op = 0; op < INSTR_COUNT; op++)
        if (counts->instrs[op])
            json_add_unsigned(json, instr_info(op)->name, counts->instrs[op]);
    json_close_object(json);
    json_close_object(json);
}

static void put_run(struct json *json, const struct pass_run *run, bool steady)
{
    json_line(json);
    json_open_object(json);
    json_add_string(json, "pass", run->pass->name);
    if (!steady) {
        json_key(json, "ms");
        json_double(json, (double)(uint64_t)(run->seconds * 1e6 + 0.5) / 1e3); /* whole us */
    }
    json_key(json, "changed");
    json_bool(json, run->changed);
    json_close_object(json);
}

void opt_report_json(struct text *text, const struct opt_report *report, struct input *input,
                     enum exit_status status)
{
    struct json json = {.text = text};
    json_open_object(&json);
    json_add_string(&json, "file", report->file);
    json_add_unsigned(&json, "status", status);
    json_line(&json);
    json_key(&json, "passes");
    json_open_array(&json);
    for (uint32_t i = 0; i < report->runs.count; i++)
        put_run(&json, &report->runs.at[i], report->steady);
    json_close_array(&json);
    if (report->read) {
        json_line(&json);
        put_counts(&json, "before", &report->before);
    }
    if (status == EXIT_DONE) {
        json_line(&json);
        put_counts(&json, "after", &report->after);
    }
    json_line(&json);
    json_key(&json, "diagnostics");
    json_open_array(&json);
    input_diags_json(input, &json, NULL);
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}

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
