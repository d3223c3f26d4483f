#include <stdint.h>
#include <string.h>

#include "frontend/cli/moved_paths.h"
#include "frontend/cli/output.h"
#include "frontend/cli/shared_options.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/given_shapes.h"
#include "frontend/commands/lowered_input.h"
#include "frontend/commands/opt_driver.h"
#include "ir/base/file_fault.h"
#include "ir/base/text.h"
#include "ir/op_types.h"
#include "ir/sk_options.h"

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

static void put_attrs(struct text *text, const struct op_type *type)
{
    const char *heading = "attributes";
    for (uint32_t i = 0; i < type->n_attrs; i++) {
        const struct op_attr *attr = &type->attrs[i];
        put_line(text, &heading);
        text_printf(text, "%s: %s%s%s\n", attr->name, op_attr_kind_name(attr->kind),
                    attr->fallback ? " = " : "", attr->fallback ? attr->fallback : "");
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

/* Appends all that data says of a type, or the names of all types by family. */
static void op_type_text(struct text *text, const struct op_type *type)
{
    text_printf(text, "%s (%s)%s%s\n", type->name, type->family, *type->about ? ": " : "",
                type->about);
    if (type->real != type->name)
        text_printf(text, "  another name of %s\n", type->real);
    put_slots(text, type, false);
    put_slots(text, type, true);
    put_attrs(text, type);
    put_graphs(text, type);
    if (type->passive)
        text_string(text, "  passive: it executes nothing\n");
    if (type->view)
        text_string(text, "  a view: nothing has to be done\n");
    if (type->no_cores)
        text_string(text, "  its kernel runs on no AI cores\n");
    put_rules(text, "shape", type->shape, type->n_shape);
    put_contents(text, type);
    put_rules(text, "flops", &type->flops, type->flops.text != NULL);
    put_rules(text, "bytes", &type->bytes, type->bytes.text != NULL);
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

/* skirc opt: any part of the pipeline on text. */

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
    if (option_given(invocation, "stats") && status == EXIT_DONE)
        module_counts_print(invocation->err, &report->after);
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
    struct file_fault fault;
    char error[1024];
    if (folder && !op_types_add_folder(types, folder, &fault)) {
        file_fault_line(&fault, error, sizeof error);
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

static enum exit_status opt_files(struct invocation *invocation, struct opt_options *options)
{
    if (invocation->n_files == 0)
        return usage_error(invocation, "opt needs a file; '-' is standard input");
    enum exit_status status =
        read_options(invocation, options) ? opt_all(invocation, options) : EXIT_USAGE;
    opt_passes_free(&options->passes);
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
