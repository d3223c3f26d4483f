/* skirc opt: runs passes on files, checks and prints between them what its options say, and reports
 * what has run. */
#include "frontend/driver/cmd.h"
#include "frontend/driver/diff.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/lowered_input.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/pass_plugins.h"
#include "frontend/driver/shared_options.h"
#include "ir/core/sk_options.h"
#include "ir/optypes/op_types.h"
#include "ir/shapes/gears.h"
#include "ir/support/file_fault.h"
#include "ir/support/json.h"
#include "ir/support/text.h"
#include "ir/syntax/parse.h"
#include "ir/verify/verify.h"
#include "passes/manager/pipeline.h"

#include <string.h>

/* The option --only: a part of a module, to be printed. */
struct selection {
    enum { SELECT_ALL, SELECT_ENTRIES, SELECT_GRAPHS, SELECT_NAMED } what;
    const char *name; /* SELECT_NAMED: without '@' */
};

/* The part of --passes, in all its uses one after the other, that --start-after and --stop-after
 * leave. Without --passes these two are about `default`. */
struct opt_passes {
    bool given; /* some option says what to run, be it nothing */
    struct pipeline run;
    struct pipeline printed; /* those that --print-after names */
    bool print_all;          /* it names 'all' */
};

struct module_counts {
    uint64_t kernels, graphs, ops, superkernels, entries, instrs[INSTR_COUNT];
};

/* A pass that has run. */
struct pass_run {
    const struct pass *pass;
    double seconds;
    bool changed;
};

struct opt_report {
    const char *file; /* as messages name it */
    bool steady;      /* times are not said */
    bool read;        /* there was a module */
    struct module_counts before, after;
    VEC(struct pass_run) runs;
};

/* What is the same for all files. */
struct opt_options {
    struct pass_plugins plugins;
    struct opt_passes passes;
    struct selection only;
    bool print_changed, time_passes, verify_each, json;
};

/* False, with a usage error, for a value that is wrong. */
static bool selection_read(struct selection *selection, const struct invocation *invocation)
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

/* Marks the kernels that marked graphs and entries call, by index; all arrays are by index. */
static void mark_called_kernels(const struct module *module, const uint8_t *graphs,
                                const uint8_t *entries, uint8_t *kernels)
{
    struct vec_u32 names = {NULL, 0, 0};
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t j = 0; graphs[i] && j < module->graphs.at[i].ops.count; j++)
            vec_push(&names, module->graphs.at[i].ops.at[j].kernel);
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; entries[i] && core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[i].programs[core];
            for (uint32_t j = 0; j < program->instrs.count; j++)
                vec_push(&names, program->instrs.at[j].kernel);
        }
    for (uint32_t i = 0; i < names.count; i++) {
        uint32_t name = names.at[i];
        uint32_t index = name == NONE ? NONE : module_find(module, SYMBOL_KERNEL, name);
        if (index != NONE)
            kernels[index] = 1;
    }
    vec_free(&names);
}

/* The name of an element, by its place in the module; NONE: it has none. */
static uint32_t element_name(const struct module *module, uint32_t place)
{
    uint32_t index = order_index(module->order.at[place]);
    switch (order_kind(module->order.at[place])) {
    case SYMBOL_KERNEL: return module->kernels.at[index].name;
    case SYMBOL_GRAPH: return module->graphs.at[index].name;
    case SYMBOL_ENTRY: return module->entries.at[index].name;
    default: return NONE;
    }
}

/* Appends the selected part of a module, and what it needs to be a text of its own: the target,
 * kernels, graphs that are called. */
static void selection_print(struct text *text, const struct selection *selection,
                            const struct module *module, const struct spans *comments)
{
    if (selection->what == SELECT_ALL) {
        print_changed_module(text, module, comments);
        return;
    }
    bool named = selection->what == SELECT_NAMED;
    unsigned wanted = selection->what == SELECT_GRAPHS ? SYMBOL_GRAPH : SYMBOL_ENTRY;
    uint8_t *marks[SYMBOL_KINDS] = {[SYMBOL_KERNEL] = mem_calloc(module->kernels.count + 1, 1),
                                    [SYMBOL_GRAPH] = mem_calloc(module->graphs.count + 1, 1),
                                    [SYMBOL_ENTRY] = mem_calloc(module->entries.count + 1, 1)};
    for (uint32_t i = 0; i < module->order.count; i++) {
        unsigned kind = order_kind(module->order.at[i]);
        if (kind < SYMBOL_KINDS)
            marks[kind][order_index(module->order.at[i])] =
                named ? name_is(module, element_name(module, i), selection->name)
                      : kind == SYMBOL_KERNEL || kind == wanted;
    }
    if (named) {
        graphs_mark_reached(module, marks[SYMBOL_GRAPH]);
        mark_called_kernels(module, marks[SYMBOL_GRAPH], marks[SYMBOL_ENTRY], marks[SYMBOL_KERNEL]);
    }
    uint8_t *marked = mem_calloc(module->order.count, 1);
    for (uint32_t i = 0; i < module->order.count; i++) {
        unsigned kind = order_kind(module->order.at[i]);
        marked[i] = kind >= SYMBOL_KINDS || marks[kind][order_index(module->order.at[i])];
    }
    print_marked_module(text, module, comments, marked);
    mem_free(marked);
    for (unsigned kind = 0; kind < SYMBOL_KINDS; kind++)
        mem_free(marks[kind]);
}

/* Whether the module has what is selected by name; false, with a message, where it has not. */
static bool selection_is_there(const struct selection *selection,
                               const struct invocation *invocation, const struct module *module)
{
    if (selection->what != SELECT_NAMED)
        return true;
    struct suggest suggest = {
        .wanted = selection->name, .wanted_size = strlen(selection->name), .before = "@"};
    for (uint32_t i = 0; i < module->order.count; i++) {
        uint32_t name = element_name(module, i);
        if (name == NONE)
            continue;
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
    /* Keeps what is after the one pass, and up to the other. */
    uint32_t first = 0, last = passes->run.count;
    if (option_given(invocation, "start-after")) {
        first = find_pass(&passes->run, invocation, table, "start-after", 0);
        if (first == NONE)
            return false;
        first++;
    }
    if (option_given(invocation, "stop-after")) {
        last = find_pass(&passes->run, invocation, table, "stop-after", first);
        if (last == NONE)
            return false;
        last++;
    }
    for (uint32_t i = first; i < last; i++)
        passes->run.at[i - first] = passes->run.at[i];
    passes->run.count = last - first;
    return true;
}

/* Whether --print-after asks for the module after a pass. */
static bool opt_passes_prints(const struct opt_passes *passes, const struct pass *pass)
{
    for (uint32_t i = 0; i < passes->printed.count; i++)
        if (passes->printed.at[i] == pass)
            return true;
    return passes->print_all;
}

/* Dumps after passes that do not run are a mistake. */
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

/* False, with a message, for options that are wrong. */
static bool opt_passes_read(struct opt_passes *passes, const struct invocation *invocation,
                            const struct pass_table *table)
{
    const char *after = option_value(invocation, "print-after");
    *passes = (struct opt_passes){.print_all = after && strcmp(after, "all") == 0};
    return read_run(passes, invocation, table) &&
           (!after || passes->print_all ||
            append(&passes->printed, invocation, table, "print-after", after)) &&
           check_printed(passes, invocation);
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
    return !folder || op_types_add_folder(op_types_of(reread->module), folder, &fault);
}

/* The text gets the NUL after its end that sources have. */
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

static struct module_counts module_count(const struct module *module)
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

/* Appends it as JSON, with the input's diagnostics; without `before` where nothing was read,
 * without `after` where the status is not EXIT_DONE, and without times where they are not said. */
static void opt_report_json(struct text *text, const struct opt_report *report, struct input *input,
                            enum exit_status status)
{
    struct json json = {.text = text};
    json_open_object(&json);
    json_add_string(&json, "file", report->file);
    json_add_unsigned(&json, "status", status);
    json_line(&json);
    json_key(&json, "passes");
    json_open_array(&json);
    for (uint32_t i = 0; i < report->runs.count; i++) {
        const struct pass_run *run = &report->runs.at[i];
        json_line(&json);
        json_open_object(&json);
        json_add_string(&json, "pass", run->pass->name);
        if (!report->steady) {
            json_key(&json, "ms");
            json_double(&json, (double)(uint64_t)(run->seconds * 1e6 + 0.5) / 1e3); /* whole us */
        }
        json_key(&json, "changed");
        json_bool(&json, run->changed);
        json_close_object(&json);
    }
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

/* Runs the passes on a module that is verified. The report gets what has run. */
static enum exit_status opt_run(struct input *input, const struct opt_options *options,
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

/* A line, whose heading only the first line of its group has. */
static void put_line(struct text *text, const char **heading)
{
    text_printf(text, "  %-11s ", *heading);
    *heading = "";
}

static void put_name(struct text *text, const struct op_slot *slot)
{
    static const char *const marks[] = {"", "?", "*"};
    text_printf(text, "%s%s", slot->name, marks[slot->presence]);
}

static void put_dtypes(struct text *text, const struct op_type *type, const struct op_slot *slot)
{
    if (slot->dtypes == UINT64_MAX) {
        text_string(text, " any");
        return;
    }
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (slot->dtypes >> dtype & 1)
            text_printf(text, " %s", dtype_info(dtype)->name);
    if (slot->like != NONE)
        text_printf(text, "%s like %s", slot->dtypes ? ", or" : "", type->slots[slot->like].name);
}

/* "; by dst_type: 0 f32, 1 f16" */
static void put_numbers(struct text *text, const struct op_type *type, const struct op_slot *slot)
{
    const char *between = ": ";
    enum dtype dtype;
    text_printf(text, "; by %s", type->attrs[slot->by].name);
    for (int number = 0; number < GE_DTYPES_END; number++) {
        if (!ge_dtype_find(number, &dtype) || dtype == DTYPE_UNKNOWN ||
            !(slot->dtypes >> dtype & 1))
            continue;
        text_printf(text, "%s%d %s", between, number, dtype_info(dtype)->name);
        between = ", ";
    }
}

static void put_slots(struct text *text, const struct op_type *type, bool results)
{
    const char *heading = results ? "results" : "operands";
    uint32_t first = results ? type->n_operands : 0;
    uint32_t end = results ? type->n_operands + type->n_results : type->n_operands;
    for (uint32_t i = first; i < end; i++) {
        const struct op_slot *slot = &type->slots[i];
        put_line(text, &heading);
        put_name(text, slot);
        text_char(text, ':');
        put_dtypes(text, type, slot);
        if (slot->alias != NONE)
            text_printf(text, "; the memory of %s", type->slots[slot->alias].name);
        if (slot->by != NONE)
            put_numbers(text, type, slot);
        if (slot->writes)
            text_string(text, "; written");
        if (!results && !slot->reads)
            text_string(text, "; not read");
        text_char(text, '\n');
    }
}

static void put_names(struct text *text, const struct op_type *type, const uint32_t *slots,
                      uint32_t count)
{
    text_char(text, '(');
    for (uint32_t i = 0; i < count; i++)
        text_printf(text, "%s%s", i ? ", " : "", type->slots[slots[i]].name);
    text_char(text, ')');
}

static void put_graphs(struct text *text, const struct op_type *type)
{
    const char *heading = "graphs";
    for (uint32_t i = 0; i < type->n_graphs; i++) {
        const struct op_graph *graph = &type->graphs[i];
        put_line(text, &heading);
        text_printf(text, "%s%s: ", graph->attr, graph->listed ? "*" : "");
        put_names(text, type, graph->params, graph->n_params);
        text_string(text, " -> ");
        if (graph->decides)
            text_string(text, "bool");
        else
            put_names(text, type, graph->results, graph->n_results);
        text_char(text, '\n');
    }
}

static void put_rules(struct text *text, const char *heading, const struct op_rule *rules,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_line(text, &heading);
        text_printf(text, "%s\n", rules[i].text);
    }
}

/* Rules of what stands in operands, by operand. */
static void put_contents(struct text *text, const struct op_type *type)
{
    const char *heading = "values";
    for (uint32_t i = 0; i < type->n_contents; i++) {
        const struct op_content_rule *rule = &type->contents[i];
        put_line(text, &heading);
        text_printf(text, "%s: %s\n", type->slots[rule->operand].name, rule->rule.text);
    }
}

static void op_types_text(struct text *text, struct op_types *types)
{
    const struct op_type *type;
    const char *family = "";
    for (uint32_t i = 0; (type = op_types_at(types, i)); i++) {
        if (strcmp(family, type->family) != 0)
            text_printf(text, "%s%s:\n", i ? "\n" : "", type->family);
        family = type->family;
        text_printf(text, "  %-24s %s\n", type->name, type->about);
    }
}

const struct option options_opt[] = {
    {"passes", 'p', OPTION_MANY, "LIST",
     "the passes to run, separated by commas; A..B is a part of 'default'. Lists add up"},
    {"start-after", 0, OPTION_VALUE, "PASS", "run only what of the list is behind this pass"},
    {"stop-after", 0, OPTION_VALUE, "PASS", "run the list only up to this pass, with it"},
    {"output", 'o', OPTION_VALUE, "FILE",
     "write the result there instead of standard output. A folder for several files"},
    {"print-after", 0, OPTION_VALUE, "LIST", "print the module after these passes, or after 'all'"},
    {"print-changed", 0, OPTION_FLAG, NULL, "print what each pass changed, as unified diffs"},
    {"only", 0, OPTION_VALUE, "PART",
     "print entries, graphs or @NAME alone, in dumps, differences and the result"},
    {"time-passes", 0, OPTION_FLAG, NULL, "print how long each pass took"},
    {"stats", 0, OPTION_FLAG, NULL, "print counts of what the result consists of"},
    {"json", 0, OPTION_OPTIONAL, "FILE.json",
     "write passes, times and counts as JSON: to a file, or in the place of the result on standard "
     "output"},
    {"verify-each", 0, OPTION_FLAG, NULL,
     "run the verifier after each pass, and see that the module's text says all of it"},
    BIND_OPTION,
    SHAPE_OPTION,
    STRICT_GEARS_OPTION,
    SESSION_OPTIONS,
    PASS_PLUGIN_OPTION,
    JOBS_OPTION,
    {"list-passes", 0, OPTION_FLAG, NULL, "list the passes and end"},
    {"op-type", 0, OPTION_VALUE, "NAME",
     "print what is known of an op type, or the names of 'all', and end"},
    {"list-sk-options", 0, OPTION_FLAG, NULL, "list the options that a scope can have and end"},
    {0},
};

static enum exit_status list_passes(FILE *out, const struct pass_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        fprintf(out, "%-20s %s%s\n", table->at[i]->name, table->at[i]->summary,
                table->at[i]->in_default ? "" : " (only where it is named)");
    return EXIT_DONE;
}

/* Whether JSON goes to standard output, which then has no place for a module. */
static bool prints_json(const struct invocation *invocation)
{
    const char *file = option_value(invocation, "json");
    return option_given(invocation, "json") && (!file || strcmp(file, "-") == 0);
}

static enum exit_status print_result(struct input *input, const struct opt_options *options,
                                     const char *output)
{
    const struct invocation *invocation = input->invocation;
    struct text text = {NULL, 0, 0};
    if (!selection_is_there(&options->only, invocation, input->module))
        return EXIT_USAGE;
    if (prints_json(invocation) && strcmp(output, "-") == 0)
        return EXIT_DONE;
    if (path_same(input->path, output))
        file_release_input(output);
    move_paths(input->module, input->path, output);
    selection_print(&text, &options->only, input->module, &input->comments);
    enum exit_status status = write_output(invocation, output, &text);
    text_free(&text);
    return status;
}

static enum exit_status print_report(struct input *input, const struct opt_report *report,
                                     enum exit_status status)
{
    const struct invocation *invocation = input->invocation;
    struct text text = {NULL, 0, 0};
    if (option_given(invocation, "stats") && status == EXIT_DONE) {
        /* A line for each number, without instructions that do not occur. */
        print_count(invocation->err, report->after.kernels, "kernels");
        print_count(invocation->err, report->after.graphs, "graphs");
        print_count(invocation->err, report->after.ops, "ops");
        print_count(invocation->err, report->after.superkernels, "super kernels");
        print_count(invocation->err, report->after.entries, "entries");
        for (int op = 0; op < INSTR_COUNT; op++)
            if (report->after.instrs[op])
                print_count(invocation->err, report->after.instrs[op], instr_info(op)->name);
    }
    if (!option_given(invocation, "json"))
        return status;
    const char *path = prints_json(invocation) ? "-" : option_value(invocation, "json");
    opt_report_json(&text, report, input, status);
    status = worse_status(status, write_output(invocation, path, &text));
    text_free(&text);
    return status;
}

/* Without values, the text stays as it is. */
static enum exit_status bind(struct input *input)
{
    bool given = option_value_at(input->invocation, "bind", 0) ||
                 option_value_at(input->invocation, "shape", 0);
    return given ? given_shapes_bind(input) : EXIT_DONE;
}

static enum exit_status opt_one(struct invocation *invocation, const char *path, const char *output,
                                const void *user)
{
    const struct opt_options *options = user;
    struct opt_report report = {.file = path, .steady = is_steady(invocation)};
    struct input input;
    enum exit_status status;
    if (!input_open_verified(&input, invocation, path))
        return input_close(&input, print_report(&input, &report, EXIT_INPUT));
    report.read = true;
    report.before = module_count(input.module);
    if (invocation->n_files > 1 && (options->time_passes || option_given(invocation, "stats")))
        fprintf(invocation->err, "%s:\n", path);
    status = bind(&input);
    if (status == EXIT_DONE && options->passes.run.count)
        status = opt_run(&input, options, &report);
    report.after = module_count(input.module);
    if (status == EXIT_DONE)
        status = print_result(&input, options, output);
    status = print_report(&input, &report, status);
    vec_free(&report.runs);
    return input_close(&input, status);
}

static bool read_options(struct invocation *invocation, struct opt_options *options)
{
    options->print_changed = option_given(invocation, "print-changed");
    options->time_passes = option_given(invocation, "time-passes");
    options->verify_each = option_given(invocation, "verify-each");
    options->json = option_given(invocation, "json");
    if (!opt_passes_read(&options->passes, invocation, &options->plugins.table) ||
        !sk_argument_check(invocation, "sk-options") || !fusion_arguments_check(invocation) ||
        !selection_read(&options->only, invocation))
        return false;
    if (options->json && !prints_json(invocation) && invocation->n_files > 1) {
        usage_error(invocation, "--json=FILE.json takes one file's report, but there are %u files",
                    invocation->n_files);
        return false;
    }
    if (options->passes.given ||
        !(option_given(invocation, "print-after") || options->print_changed ||
          options->time_passes || options->verify_each))
        return true;
    usage_error(invocation, "this needs passes to run: --passes=LIST");
    return false;
}

/* Runs and prints, for each file. */
static enum exit_status opt_all(struct invocation *invocation, const struct opt_options *options)
{
    struct outputs outputs = {.paths = NULL};
    enum exit_status status = outputs_plan(&outputs, invocation, ".skir", OUTPUTS_ONE);
    if (status == EXIT_DONE)
        status = outputs_each(&outputs, invocation, opt_one, options);
    outputs_free(&outputs);
    return status;
}

/* What is known of an op type, which may be one of --kernel-dir. */
static enum exit_status show_op_type(struct invocation *invocation, const char *name)
{
    struct op_types *types = op_types_new();
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_DONE;
    const char *folder = option_value(invocation, "kernel-dir");
    const struct op_type *type;
    struct file_fault fault;
    char error[1024];
    if (folder && !op_types_add_folder(types, folder, &fault)) {
        file_fault_line(&fault, error, sizeof error);
        fprintf(invocation->err, "skirc: %s\n", error);
        status = EXIT_INPUT;
    } else if (strcmp(name, "all") == 0) {
        op_types_text(&text, types);
    } else if ((type = op_types_find(types, name, strlen(name)))) {
        text_printf(&text, "%s (%s)%s%s\n", type->name, type->family, *type->about ? ": " : "",
                    type->about);
        if (type->real != type->name)
            text_printf(&text, "  another name of %s\n", type->real);
        put_slots(&text, type, false);
        put_slots(&text, type, true);
        const char *heading = "attributes";
        for (uint32_t i = 0; i < type->n_attrs; i++) {
            const struct op_attr *attr = &type->attrs[i];
            put_line(&text, &heading);
            text_printf(&text, "%s: %s%s%s\n", attr->name, op_attr_kind_name(attr->kind),
                        attr->fallback ? " = " : "", attr->fallback ? attr->fallback : "");
        }
        put_graphs(&text, type);
        if (type->passive)
            text_string(&text, "  passive: it executes nothing\n");
        if (type->view)
            text_string(&text, "  a view: nothing has to be done\n");
        if (type->no_cores)
            text_string(&text, "  its kernel runs on no AI cores\n");
        put_rules(&text, "shape", type->shape, type->n_shape);
        put_contents(&text, type);
        put_rules(&text, "flops", &type->flops, type->flops.text != NULL);
        put_rules(&text, "bytes", &type->bytes, type->bytes.text != NULL);
    } else {
        struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
        op_types_offer(types, &suggest);
        fprintf(invocation->err, "skirc: nothing is known of op type '%s'%s\n", name,
                suggest_end(&suggest).text);
        status = EXIT_USAGE;
    }
    fwrite(text.at, 1, text.size, invocation->out);
    text_free(&text);
    op_types_free(types);
    return status;
}

static enum exit_status opt_files(struct invocation *invocation, struct opt_options *options)
{
    if (invocation->n_files == 0)
        return usage_error(invocation, "opt needs a file; '-' is standard input");
    enum exit_status status =
        read_options(invocation, options) ? opt_all(invocation, options) : EXIT_USAGE;
    pipeline_free(&options->passes.run);
    pipeline_free(&options->passes.printed);
    return status;
}

enum exit_status cmd_opt(struct invocation *invocation)
{
    struct opt_options options = {.passes = {.given = false}};
    if (option_given(invocation, "op-type"))
        return show_op_type(invocation, option_value(invocation, "op-type"));
    if (option_given(invocation, "list-sk-options")) {
        sk_options_list(invocation->out);
        return EXIT_DONE;
    }
    enum exit_status status = pass_plugins_open(&options.plugins, invocation);
    if (status == EXIT_DONE)
        status = option_given(invocation, "list-passes")
                     ? list_passes(invocation->out, &options.plugins.table)
                     : opt_files(invocation, &options);
    pass_plugins_close(&options.plugins);
    return status;
}
