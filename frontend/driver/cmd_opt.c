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

/* A pass that has run. */
struct pass_run {
    const struct pass *pass;
    double seconds;
    bool changed;
};

/* What --stats and --json count in a module. */
enum { COUNT_KERNELS, COUNT_GRAPHS, COUNT_OPS, COUNT_SUPERKERNELS, COUNT_ENTRIES, COUNTS };
static const struct {
    const char *key, *text;
} counted[COUNTS] = {{"kernels", "kernels"},
                     {"graphs", "graphs"},
                     {"ops", "ops"},
                     {"superkernels", "super kernels"},
                     {"entries", "entries"}};

struct module_counts {
    uint64_t of[COUNTS], instrs[INSTR_COUNT];
};

/* What is the same for all files. */
struct opt {
    struct pass_plugins plugins;
    /* The part of --passes, in all its uses one after the other, that --start-after and
     * --stop-after leave. Without --passes these two are about `default`. */
    struct pipeline passes;
    struct pipeline printed; /* the passes that --print-after names */
    bool print_all;          /* it names 'all' */
    const char *only;        /* entries, graphs or @NAME; NULL: all is printed */
    bool print_changed, time_passes, verify_each, stats, json;
    bool json_on_output; /* JSON goes to standard output, in the place of the module */
};

/* A file at work. */
struct opt_file {
    const struct opt *opt;
    struct input input;
    struct module_counts before, after;
    VEC(struct pass_run) runs;
    struct text text; /* the part of the module that is printed, if passes are compared by it */
    bool defect;
};

/* ------------------------------------------------------------------------------ --only ---- */

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

/* Appends the part of a module that --only names, and what it needs to be a text of its own: the
 * target, kernels, graphs that are called. */
static void print_part(struct text *text, const char *only, const struct module *module,
                       const struct spans *comments)
{
    if (!only) {
        print_changed_module(text, module, comments);
        return;
    }
    bool named = *only == '@';
    unsigned wanted = strcmp(only, "graphs") == 0 ? SYMBOL_GRAPH : SYMBOL_ENTRY;
    uint8_t *marks[SYMBOL_KINDS] = {[SYMBOL_KERNEL] = mem_calloc(module->kernels.count + 1, 1),
                                    [SYMBOL_GRAPH] = mem_calloc(module->graphs.count + 1, 1),
                                    [SYMBOL_ENTRY] = mem_calloc(module->entries.count + 1, 1)};
    for (uint32_t i = 0; i < module->order.count; i++) {
        unsigned kind = order_kind(module->order.at[i]);
        if (kind < SYMBOL_KINDS)
            marks[kind][order_index(module->order.at[i])] =
                named ? name_is(module, element_name(module, i), only + 1)
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

/* Whether the module has what --only names; false, with a message, where it has not. */
static bool has_part(const struct invocation *invocation, const char *only,
                     const struct module *module)
{
    if (!only || *only != '@')
        return true;
    struct suggest suggest = {.wanted = only + 1, .wanted_size = strlen(only + 1), .before = "@"};
    for (uint32_t i = 0; i < module->order.count; i++) {
        uint32_t name = element_name(module, i);
        if (name == NONE)
            continue;
        if (name_is(module, name, only + 1))
            return true;
        name_offer(&suggest, module, name);
    }
    return input_fail(invocation, "--only: the result has no '%s'%s", only,
                      suggest_end(&suggest).text);
}

/* ------------------------------------------------------------------------------ passes ---- */

static bool append(struct pipeline *pipeline, const struct invocation *invocation,
                   const struct pass_table *table, const char *option, const char *list)
{
    char error[256];
    return pipeline_append(pipeline, table, list, error, sizeof error) ||
           input_fail(invocation, "--%s: %s", option, error);
}

/* The place of the pass that an option names in the passes to run, the first from `from` on. NONE,
 * with a message, where there is none. */
static uint32_t find_pass(const struct opt *opt, const struct invocation *invocation,
                          const char *option, uint32_t from)
{
    const struct pass_table *table = &opt->plugins.table;
    const char *name = option_value(invocation, option);
    uint32_t row = pass_table_find(table, name, strlen(name));
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    for (uint32_t i = from; row != NONE && i < opt->passes.count; i++)
        if (opt->passes.at[i] == table->at[row])
            return i;
    if (row == NONE) {
        pass_table_offer(table, &suggest);
        input_error(invocation, "--%s: unknown pass '%s'%s", option, name,
                    suggest.best ? suggest_end(&suggest).text : "; see --list-passes");
    } else {
        input_error(invocation, "--%s: '%s' is not among the passes to run%s", option, name,
                    from ? ", behind that of --start-after" : "");
    }
    return NONE;
}

/* Whether --print-after asks for the module after a pass. */
static bool prints_after(const struct opt *opt, const struct pass *pass)
{
    for (uint32_t i = 0; i < opt->printed.count; i++)
        if (opt->printed.at[i] == pass)
            return true;
    return opt->print_all;
}

/* False, with a message, for options that are wrong. */
static bool read_passes(struct opt *opt, const struct invocation *invocation)
{
    const struct pass_table *table = &opt->plugins.table;
    const char *start = option_value(invocation, "start-after");
    const char *stop = option_value(invocation, "stop-after");
    const char *printed = option_value(invocation, "print-after"), *list;
    bool given = option_given(invocation, "passes");
    for (unsigned i = 0; (list = option_value_at(invocation, "passes", i)); i++)
        if (!append(&opt->passes, invocation, table, "passes", list))
            return false;
    if (!given && (start || stop) && !append(&opt->passes, invocation, table, "passes", "default"))
        return false;
    uint32_t first = 0, end = opt->passes.count;
    if (start && (first = find_pass(opt, invocation, "start-after", 0) + 1) == NONE + 1)
        return false;
    if (stop && (end = find_pass(opt, invocation, "stop-after", first) + 1) == NONE + 1)
        return false;
    for (uint32_t i = first; i < end; i++)
        opt->passes.at[i - first] = opt->passes.at[i];
    opt->passes.count = end - first;
    opt->print_all = printed && strcmp(printed, "all") == 0;
    if (printed && !opt->print_all &&
        !append(&opt->printed, invocation, table, "print-after", printed))
        return false;
    if (!given && !start && !stop &&
        (printed || opt->print_changed || opt->time_passes || opt->verify_each))
        return usage_fail(invocation, "this needs passes to run: --passes=LIST");
    /* Dumps after passes that do not run are a mistake. */
    bool seen = !printed || opt->passes.count == 0;
    for (uint32_t i = 0; i < opt->passes.count; i++)
        seen = seen || prints_after(opt, opt->passes.at[i]);
    return seen ||
           input_fail(invocation, "--print-after: '%s' is not among the passes to run", printed);
}

/* Whether the module, printed, read as a file, verified and printed again, is the same text. Where
 * it is not, the error stream says what differs. */
static bool is_same_when_read(const struct input *input)
{
    const char *folder = option_value(input->invocation, "kernel-dir");
    FILE *err = input->invocation->err;
    struct source source;
    struct diags diags;
    struct file_fault fault;
    struct text text = {NULL, 0, 0}, again = {NULL, 0, 0}, diff = {NULL, 0, 0};
    print_whole_module(&text, input->module, NULL);
    text_char(&text, '\0'); /* which sources end with */
    text.size--;
    bool fits = source_init(&source, "<printed>", text.at, text.size);
    diags_init(&diags, &source, source.path);
    struct module *module = fits ? parse_module(&source, &diags, NULL) : NULL;
    bool read = module && (!folder || op_types_add_folder(op_types_of(module), folder, &fault)) &&
                verify_module(module, &diags);
    if (read) {
        print_whole_module(&again, module, NULL);
        diff_unified(&diff, "printed", text.at, text.size, "read and printed again", again.at,
                     again.size);
    } else {
        diags_print(&diags, err, false);
    }
    fwrite(diff.at, 1, diff.size, err);
    bool same = read && diff.size == 0;
    text_free(&diff);
    text_free(&again);
    module_free(module);
    diags_free(&diags);
    source_free(&source);
    text_free(&text);
    return same;
}

/* Whether the verifier takes the module, and its text says all of it. */
static bool verify(struct input *input, const struct pass *pass)
{
    bool right = verify_module(input->module, &input->diags);
    if (right && is_same_when_read(input))
        return true;
    fprintf(input->invocation->err, "skirc: the pass '%s' left a %s; this is a defect of %s%s\n",
            pass->name, right ? "module whose text is not the same module" : "wrong module",
            PASS_BLAME(pass));
    return false;
}

/* Dumps go to the error stream, so that the result can be piped on. A dump can be read back. */
static void print_change(struct opt_file *file, const struct pass *pass, double seconds)
{
    const struct opt *opt = file->opt;
    FILE *err = file->input.invocation->err;
    struct text old = file->text, diff = {NULL, 0, 0};
    file->text = (struct text){NULL, 0, 0};
    print_part(&file->text, opt->only, file->input.module, &file->input.comments);
    const struct text *now = &file->text;
    bool changed = now->size != old.size || memcmp(now->at, old.at, now->size) != 0;
    if (opt->json)
        vec_push(&file->runs, (struct pass_run){pass, seconds, changed});
    if (prints_after(opt, pass))
        fprintf(err, "// after %s\n%.*s\n", pass->name, (int)now->size, now->at);
    if (opt->print_changed) {
        struct arena scratch = {NULL, 0};
        diff_unified(&diff, arena_printf(&scratch, "before %s", pass->name), old.at, old.size,
                     arena_printf(&scratch, "after %s", pass->name), now->at, now->size);
        fwrite(diff.at, 1, diff.size, err);
        arena_free(&scratch);
    }
    text_free(&diff);
    text_free(&old);
}

static bool after_pass(void *user, const struct pass *pass, double seconds)
{
    struct opt_file *file = user;
    const struct opt *opt = file->opt;
    if (opt->time_passes) {
        FILE *err = file->input.invocation->err;
        put_milliseconds(file->input.invocation, err, 13, seconds * 1e3);
        fprintf(err, "  %s\n", pass->name);
    }
    if (opt->json || opt->print_changed || prints_after(opt, pass))
        print_change(file, pass, seconds);
    file->defect = opt->verify_each && !verify(&file->input, pass);
    return !file->defect;
}

/* Runs the passes on a module that is verified. */
static enum exit_status run_passes(struct opt_file *file)
{
    struct input *input = &file->input;
    struct session session;
    struct session_options options = {.target = NULL};
    if (file->opt->json || file->opt->print_changed)
        print_part(&file->text, file->opt->only, input->module, &input->comments);
    session_options_find(input, &file->opt->plugins, &options);
    session_open(&session, input->module, &input->diags, &options);
    enum pipeline_status status = session_run(&session, &file->opt->passes, after_pass, file);
    session_close(&session);
    text_free(&file->text);
    return file->defect ? EXIT_DEFECT : pipeline_exit_status(status);
}

/* ----------------------------------------------------------------------------- reports ---- */

static struct module_counts count_module(const struct module *module)
{
    struct module_counts counts = {.of = {[COUNT_KERNELS] = module->kernels.count,
                                          [COUNT_GRAPHS] = module->graphs.count,
                                          [COUNT_ENTRIES] = module->entries.count}};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        counts.of[COUNT_OPS] += graph->ops.count;
        for (uint32_t j = 0; j < graph->blocks.count; j++)
            counts.of[COUNT_SUPERKERNELS] += graph->blocks.at[j].kind == BLOCK_SUPERKERNEL;
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[i].programs[core];
            for (uint32_t j = 0; j < program->instrs.count; j++)
                counts.instrs[program->instrs.at[j].op]++;
        }
    return counts;
}

/* A line for each number, without instructions that do not occur. */
static void print_stats(FILE *err, const struct module_counts *counts)
{
    for (int i = 0; i < COUNTS; i++)
        fprintf(err, "%8llu %s\n", (unsigned long long)counts->of[i], counted[i].text);
    for (int op = 0; op < INSTR_COUNT; op++)
        if (counts->instrs[op])
            fprintf(err, "%8llu %s\n", (unsigned long long)counts->instrs[op],
                    instr_info(op)->name);
}

static void put_counts(struct json *json, const char *key, const struct module_counts *counts)
{
    json_line(json);
    json_key(json, key);
    json_open_object(json);
    for (int i = 0; i < COUNTS; i++)
        json_add_unsigned(json, counted[i].key, counts->of[i]);
    json_key(json, "instructions");
    json_open_object(json);
    for (int op = 0; op < INSTR_COUNT; op++)
        if (counts->instrs[op])
            json_add_unsigned(json, instr_info(op)->name, counts->instrs[op]);
    json_close_object(json);
    json_close_object(json);
}

/* Appends the report of --json, with the input's diagnostics; without `before` where nothing was
 * read, without `after` where the status is not EXIT_DONE, and without times if the program is
 * steady. */
static void put_report(struct text *text, struct opt_file *file, bool read, enum exit_status status)
{
    struct json json = {.text = text};
    json_open_object(&json);
    json_add_string(&json, "file", file->input.path);
    json_add_unsigned(&json, "status", status);
    json_line(&json);
    json_key(&json, "passes");
    json_open_array(&json);
    for (uint32_t i = 0; i < file->runs.count; i++) {
        const struct pass_run *run = &file->runs.at[i];
        json_line(&json);
        json_open_object(&json);
        json_add_string(&json, "pass", run->pass->name);
        if (!is_steady(file->input.invocation)) {
            json_key(&json, "ms");
            json_double(&json, (double)(uint64_t)(run->seconds * 1e6 + 0.5) / 1e3); /* whole us */
        }
        json_key(&json, "changed");
        json_bool(&json, run->changed);
        json_close_object(&json);
    }
    json_close_array(&json);
    if (read)
        put_counts(&json, "before", &file->before);
    if (status == EXIT_DONE)
        put_counts(&json, "after", &file->after);
    json_line(&json);
    json_key(&json, "diagnostics");
    json_open_array(&json);
    input_diags_json(&file->input, &json, NULL);
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}

/* ----------------------------------------------------------------------------- op types ---- */

/* A line, whose heading only the first line of its group has. */
static void put_line(struct text *text, const char **heading)
{
    text_printf(text, "  %-11s ", *heading);
    *heading = "";
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
    static const char *const marks[] = {"", "?", "*"};
    const char *heading = results ? "results" : "operands";
    uint32_t first = results ? type->n_operands : 0;
    uint32_t end = results ? type->n_operands + type->n_results : type->n_operands;
    for (uint32_t i = first; i < end; i++) {
        const struct op_slot *slot = &type->slots[i];
        put_line(text, &heading);
        text_printf(text, "%s%s:", slot->name, marks[slot->presence]);
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

static void put_rules(struct text *text, const char *heading, const struct op_rule *rules,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_line(text, &heading);
        text_printf(text, "%s\n", rules[i].text);
    }
}

static void put_op_type(struct text *text, const struct op_type *type)
{
    const char *heading = "attributes";
    text_printf(text, "%s (%s)%s%s\n", type->name, type->family, *type->about ? ": " : "",
                type->about);
    if (type->real != type->name)
        text_printf(text, "  another name of %s\n", type->real);
    put_slots(text, type, false);
    put_slots(text, type, true);
    for (uint32_t i = 0; i < type->n_attrs; i++) {
        const struct op_attr *attr = &type->attrs[i];
        put_line(text, &heading);
        text_printf(text, "%s: %s%s%s\n", attr->name, op_attr_kind_name(attr->kind),
                    attr->fallback ? " = " : "", attr->fallback ? attr->fallback : "");
    }
    heading = "graphs";
    for (uint32_t i = 0; i < type->n_graphs; i++) {
        const struct op_graph *graph = &type->graphs[i];
        put_line(text, &heading);
        text_printf(text, "%s%s: ", graph->attr, graph->listed ? "*" : "");
        put_names(text, type, graph->params, graph->n_params);
        text_string(text, graph->decides ? " -> bool" : " -> ");
        if (!graph->decides)
            put_names(text, type, graph->results, graph->n_results);
        text_char(text, '\n');
    }
    if (type->passive)
        text_string(text, "  passive: it executes nothing\n");
    if (type->view)
        text_string(text, "  a view: nothing has to be done\n");
    if (type->no_cores)
        text_string(text, "  its kernel runs on no AI cores\n");
    put_rules(text, "shape", type->shape, type->n_shape);
    heading = "values"; /* rules of what operands hold */
    for (uint32_t i = 0; i < type->n_contents; i++) {
        const struct op_content_rule *rule = &type->contents[i];
        put_line(text, &heading);
        text_printf(text, "%s: %s\n", type->slots[rule->operand].name, rule->rule.text);
    }
    put_rules(text, "flops", &type->flops, type->flops.text != NULL);
    put_rules(text, "bytes", &type->bytes, type->bytes.text != NULL);
}

/* The names of all, by family. */
static void put_op_types(struct text *text, struct op_types *types)
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

/* What is known of an op type, which may be one of --kernel-dir. */
static enum exit_status print_op_type(struct invocation *invocation, const char *name)
{
    struct op_types *types = op_types_new();
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_DONE;
    const char *folder = option_value(invocation, "kernel-dir");
    const struct op_type *type = NULL;
    struct file_fault fault;
    char error[1024];
    if (folder && !op_types_add_folder(types, folder, &fault)) {
        file_fault_line(&fault, error, sizeof error);
        status = input_error(invocation, "%s", error);
    } else if (strcmp(name, "all") == 0) {
        put_op_types(&text, types);
    } else if ((type = op_types_find(types, name, strlen(name)))) {
        put_op_type(&text, type);
    } else {
        struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
        op_types_offer(types, &suggest);
        input_error(invocation, "nothing is known of op type '%s'%s", name,
                    suggest_end(&suggest).text);
        status = EXIT_USAGE;
    }
    fwrite(text.at, 1, text.size, invocation->out);
    text_free(&text);
    op_types_free(types);
    return status;
}

/* ------------------------------------------------------------------------------- files ---- */

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

static enum exit_status print_result(struct opt_file *file, const char *output)
{
    struct input *input = &file->input;
    struct text text = {NULL, 0, 0};
    if (!has_part(input->invocation, file->opt->only, input->module))
        return EXIT_USAGE;
    if (file->opt->json_on_output && strcmp(output, "-") == 0)
        return EXIT_DONE;
    if (path_same(input->path, output))
        file_release_input(output);
    move_paths(input->module, input->path, output);
    print_part(&text, file->opt->only, input->module, &input->comments);
    enum exit_status status = write_output(input->invocation, output, &text);
    text_free(&text);
    return status;
}

static enum exit_status opt_one(struct invocation *invocation, const char *path, const char *output,
                                const void *user)
{
    struct opt_file file = {.opt = user};
    struct input *input = &file.input;
    struct text report = {NULL, 0, 0};
    enum exit_status status = EXIT_INPUT;
    bool read = input_open_verified(input, invocation, path);
    if (read) {
        file.before = count_module(input->module);
        if (invocation->n_files > 1 && (file.opt->time_passes || file.opt->stats))
            fprintf(invocation->err, "%s:\n", path);
        /* Without values, the text stays as it is. */
        bool bound = option_given(invocation, "bind") || option_given(invocation, "shape");
        status = bound ? given_shapes_bind(input) : EXIT_DONE;
        if (status == EXIT_DONE && file.opt->passes.count)
            status = run_passes(&file);
        file.after = count_module(input->module);
        if (status == EXIT_DONE)
            status = print_result(&file, output);
    }
    if (file.opt->stats && status == EXIT_DONE)
        print_stats(invocation->err, &file.after);
    if (file.opt->json) {
        put_report(&report, &file, read, status);
        const char *to = file.opt->json_on_output ? "-" : option_value(invocation, "json");
        status = worse_status(status, write_output(invocation, to, &report));
    }
    text_free(&report);
    vec_free(&file.runs);
    return input_close(input, status);
}

static enum exit_status opt_files(struct invocation *invocation, struct opt *opt)
{
    const char *json = option_value(invocation, "json"), *only = option_value(invocation, "only");
    if (invocation->n_files == 0)
        return usage_error(invocation, "opt needs a file; '-' is standard input");
    opt->print_changed = option_given(invocation, "print-changed");
    opt->time_passes = option_given(invocation, "time-passes");
    opt->verify_each = option_given(invocation, "verify-each");
    opt->stats = option_given(invocation, "stats");
    opt->json = option_given(invocation, "json");
    opt->json_on_output = opt->json && (!json || strcmp(json, "-") == 0);
    opt->only = only;
    if (!read_passes(opt, invocation))
        return EXIT_USAGE;
    if (only && strcmp(only, "entries") != 0 && strcmp(only, "graphs") != 0 &&
        (only[0] != '@' || !only[1])) {
        bool name = only[0] && only[0] != '@';
        return usage_error(invocation, "'--only' can be entries, graphs or @NAME, not '%s'%s%s",
                           only, name ? "; a name begins with '@': --only=@" : "",
                           name ? only : "");
    }
    if (json && !opt->json_on_output && invocation->n_files > 1)
        return usage_error(invocation,
                           "--json=FILE.json takes one file's report, but there are %u files",
                           invocation->n_files);
    return outputs_each(invocation, ".skir", OUTPUTS_ONE, opt_one, opt);
}

enum exit_status cmd_opt(struct invocation *invocation)
{
    struct opt opt = {.only = NULL};
    if (option_given(invocation, "op-type"))
        return print_op_type(invocation, option_value(invocation, "op-type"));
    if (option_given(invocation, "list-sk-options")) {
        sk_options_list(invocation->out);
        return EXIT_DONE;
    }
    enum exit_status status = pass_plugins_open(&opt.plugins, invocation);
    const struct pass_table *table = &opt.plugins.table;
    if (status == EXIT_DONE && option_given(invocation, "list-passes"))
        for (uint32_t i = 0; i < table->count; i++)
            fprintf(invocation->out, "%-20s %s%s\n", table->at[i]->name, table->at[i]->summary,
                    table->at[i]->in_default ? "" : " (only where it is named)");
    else if (status == EXIT_DONE)
        status = opt_files(invocation, &opt);
    pipeline_free(&opt.passes);
    pipeline_free(&opt.printed);
    pass_plugins_close(&opt.plugins);
    return status;
}
