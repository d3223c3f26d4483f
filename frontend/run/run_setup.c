/* What a run is to do: values that options name, options, the graph, and stubs that cannot run. */
#include "frontend/run/run_setup.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/shared_options.h"
#include "frontend/tensor/npy.h"
#include "ir/analysis/contents.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/shapes/gears.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <stdio.h>
#include <string.h>

/* The words of messages about a kind, and what it takes. */
static const struct {
    const char *noun, *behind; /* NULL: nothing stands behind the name */
    bool any_graph;
} kinds[] = {
    [NAMED_PARAMETER] = {"parameter", "SPEC", false},
    [NAMED_VALUE] = {"value", "FILE.npy", false},
    [NAMED_PRINTED] = {"value", NULL, true},
    [NAMED_EXPECTED] = {"value", "SPEC", true},
};

/* An option in the reading. */
struct naming {
    const struct invocation *invocation;
    const char *option;
    const struct module *module;
    enum named_kind kind;
};

/* Whether the option may name the value. */
static bool is_of(const struct naming *naming, const struct graph *graph, uint32_t value)
{
    const struct value *v = &graph->values.at[value];
    return v->def != DEF_MISSING && v->type != naming->module->token &&
           (naming->kind != NAMED_PARAMETER || value_is_given(naming->module, graph, value));
}

/* NONE where there is no such value. A name may have its `%`. */
static uint32_t find_value(const struct naming *naming, const struct graph *graph, const char *text,
                           size_t size)
{
    size_t sigil = size > 0 && *text == '%';
    uint32_t name = intern_find(&naming->module->names, text + sigil, size - sigil);
    for (uint32_t i = 0; name != NONE && i < graph->values.count; i++)
        if (graph->values.at[i].name == name && is_of(naming, graph, i))
            return i;
    return NONE;
}

static void report_unknown(const struct naming *naming, const struct graph *graph, const char *text,
                           size_t size)
{
    const struct module *module = naming->module;
    struct suggest suggest = {.wanted = text, .wanted_size = size};
    for (uint32_t i = 0; i < graph->values.count; i++)
        if (is_of(naming, graph, i))
            name_offer(&suggest, module, graph->values.at[i].name);
    usage_error(naming->invocation, "--%s: the graph has no %s '%.*s'%s", naming->option,
                kinds[naming->kind].noun, (int)size, text, suggest_end(&suggest).text);
}

/* The graph with that name; NULL, with a usage error, where the module of what is run has none. */
static const struct graph *find_graph(const struct naming *naming, const struct graph *run,
                                      const char *text, size_t size)
{
    const struct module *module = naming->module;
    struct suggest suggest = {.wanted = text, .wanted_size = size};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct intern_name *name = &module->names.names[module->graphs.at[i].name];
        if (name->size == size && memcmp(name->text, text, size) == 0)
            return &module->graphs.at[i];
        name_offer(&suggest, module, module->graphs.at[i].name);
    }
    usage_error(naming->invocation, "--%s: '@%.*s' calls no graph '%.*s'%s", naming->option,
                NAME(module, run->name), (int)size, text, suggest_end(&suggest).text);
    return NULL;
}

/* The graph of what is named; the name of the value is what is left of the text. */
static const struct graph *named_graph(const struct naming *naming, const struct graph *graph,
                                       const char **text, size_t *size)
{
    const char *dot = memchr(*text, '.', *size);
    if (!kinds[naming->kind].any_graph || **text != '@' || !dot)
        return graph;
    graph = find_graph(naming, graph, *text + 1, (size_t)(dot - *text) - 1);
    *size -= (size_t)(dot + 1 - *text);
    *text = dot + 1;
    return graph;
}

static bool parse_name(const struct naming *naming, const struct graph *graph, const char *text,
                       struct named_value *named)
{
    const char *sign = kinds[naming->kind].behind ? strchr(text, '=') : text + strlen(text);
    if (!sign || (*sign && !sign[1])) {
        usage_error(naming->invocation, "--%s %s: expected NAME=%s", naming->option, text,
                    kinds[naming->kind].behind);
        return false;
    }
    const char *name = text;
    size_t size = (size_t)(sign - text);
    graph = named_graph(naming, graph, &name, &size);
    if (!graph)
        return false;
    uint32_t value = find_value(naming, graph, name, size);
    if (value == NONE) {
        report_unknown(naming, graph, name, size);
        return false;
    }
    *named = (struct named_value){graph_id(naming->module, graph), value, *sign ? sign + 1 : NULL};
    return true;
}

bool named_values_parse(struct named_values *named, const struct invocation *invocation,
                        const char *option, const struct module *module, const struct graph *graph,
                        enum named_kind kind)
{
    const struct naming naming = {invocation, option, module, kind};
    const char *text;
    for (unsigned i = 0; (text = option_value_at(invocation, option, i)); i++) {
        struct named_value value;
        if (!parse_name(&naming, graph, text, &value))
            return false;
        vec_push(named, value);
    }
    return true;
}

void named_values_free(struct named_values *named)
{
    vec_free(named);
}

const char *named_values_find(const struct named_values *named, uint32_t value)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < named->count; i++)
        if (named->at[i].value == value)
            text = named->at[i].text;
    return text;
}

/* ------------------------------------------------------------------------- options ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* Options have a sign of equality; a path that has one ends as files do or has a slash. */
static bool read_comparison(struct runner *runner)
{
    const char *text = runner->compared = option_value(runner->invocation, "compare");
    const char *file = runner->invocation->files[0];
    if (!text)
        return true;
    bool is_file = ends_with(text, ".skir") || strchr(text, '/');
    runner->compare = strcmp(text, "unfused") == 0 ? COMPARE_UNFUSED
                      : is_file                    ? COMPARE_FILE
                      : strchr(text, '=')          ? COMPARE_OPTIONS
                                                   : COMPARE_NONE;
    if (runner->compare == COMPARE_NONE)
        usage_error(runner->invocation,
                    "'--compare' needs 'unfused', FILE.skir or options of scopes "
                    "(NAME=VALUE), not '%s'",
                    text);
    else if (runner->compare == COMPARE_OPTIONS && strcmp(file, "-") == 0)
        usage_error(runner->invocation,
                    "'--compare=%s' reads the input twice, and '-' can be read once", text);
    else
        return runner->compare != COMPARE_OPTIONS ||
               sk_argument_check(runner->invocation, "compare");
    return false;
}

/* Where --target says; false, with a usage error, where graphs cannot run. */
static bool choose_target(struct runner *runner)
{
    char error[512];
    runner->target = target_option(runner->invocation);
    if (!runner->target)
        return false;
    runner->how = backend_runner(runner->target, error, sizeof error);
    if (!runner->how)
        usage_error(runner->invocation, "%s", error);
    return runner->how != NULL;
}

enum { MOST_REPEATS = 1000000 };

static bool parse_count(const char *text, uint64_t *count)
{
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 7 || text[digits] != '\0')
        return false;
    for (; *text; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    *count = number;
    return number <= MOST_REPEATS;
}

/* Runs that are watched, or that may go wrong, are not measured where nobody asks for it. */
static bool read_repeat(struct runner *runner)
{
    const struct invocation *invocation = runner->invocation;
    const char *text = option_value(invocation, "repeat");
    bool once = runner->race_check || runner->trace || option_given(invocation, "unproven");
    runner->repeat = once ? 0 : REPEAT_AUTO;
    if (!text)
        return true;
    runner->repeat = REPEAT_AUTO;
    if (strcmp(text, "auto") == 0 || parse_count(text, &runner->repeat))
        return true;
    usage_error(invocation, "'--repeat' needs a whole number from 0 to %d or 'auto', not '%s'",
                MOST_REPEATS, text);
    return false;
}

bool run_options_read(struct runner *runner)
{
    const struct invocation *invocation = runner->invocation;
    runner->race_check = option_given(invocation, "race-check");
    runner->full_barriers = option_given(invocation, "full-barriers");
    runner->trust_kernels = option_given(invocation, "trust-kernels");
    runner->check_kernels = option_given(invocation, "check-kernels");
    runner->serial = option_given(invocation, "serial");
    if (runner->check_kernels && runner->trust_kernels)
        return usage_fail(invocation, "'--check-kernels' and '--trust-kernels' exclude each other");
    runner->profile = option_value(invocation, "profile");
    runner->trace = option_value(invocation, "trace");
    runner->seed = option_number(invocation, "seed", 1);
    runner->threads = option_number(invocation, "threads", 0);
    runner->timeout = option_number(invocation, "timeout", 60);
    runner->max_iterations = option_number(invocation, "max-iterations", 1000000);
    return choose_target(runner) && read_repeat(runner) && read_comparison(runner);
}

const char *run_options_record(const struct runner *runner)
{
    if (runner->profile)
        return runner->trace ? "profiling=1:debug-op-exec-trace=1" : "profiling=1";
    return runner->trace ? "debug-op-exec-trace=1" : NULL;
}

/* --------------------------------------------------------------------------- graph ---- */

/* The only graph that no other calls, or NULL. */
static const struct graph *uncalled_graph(const struct module *module)
{
    uint8_t *marks = mem_calloc(module->graphs.count, 1);
    bool one = outer_graphs_mark(module, marks) == 1;
    const uint8_t *at = one ? memchr(marks, 1, module->graphs.count) : NULL;
    const struct graph *found = at ? &module->graphs.at[at - marks] : NULL;
    mem_free(marks);
    return found;
}

static bool report_input(const struct runner *runner, const struct graph *graph, uint32_t param,
                         const char *error)
{
    diag_at(runner->diags, DIAG_contents, locate_token(runner->module, graph->params.at[param].loc),
            "input '%.*s': %s", NAME(runner->module, graph->values.at[param].name), error);
    return false;
}

/* Whether the file has a shape that the parameter may have in a combination. */
static bool check_input(const struct runner *runner, const struct graph *graph, uint32_t param,
                        const char *path)
{
    struct npy_header header;
    char error[512], found[256];
    const struct module *module = runner->module;
    uint32_t type = graph->values.at[param].type, rank = module->types.at[type].rank;
    if (!npy_read_header(&header, path, error, sizeof error))
        return report_input(runner, graph, param, error);
    if (rank == RANK_UNKNOWN || header.rank == rank)
        return true;
    tensor_dims_text(header.dims, header.rank, found, sizeof found);
    snprintf(error, sizeof error, "'%s' has the shape %s, but %s is needed", path, found,
             strchr(type_text(module, type, &runner->diags->arena), '['));
    return report_input(runner, graph, param, error);
}

/* Whether it says how elements are made. */
static bool check_spec(const struct runner *runner, const struct graph *graph, uint32_t param,
                       const char *spec)
{
    struct tensor scalar;
    char error[512];
    enum dtype dtype = runner->module->types.at[graph->values.at[param].type].dtype;
    if (!tensor_init(&scalar, dtype, NULL, 0, error, sizeof error))
        return true; /* such a parameter is refused when it has a shape */
    bool ok = tensor_fill(&scalar, spec, 0, error, sizeof error) ||
              report_input(runner, graph, param, error);
    tensor_free(&scalar);
    return ok;
}

/* Files that say nothing of the combination, as they cannot be read or fit none. The ops, of which
 * inputs may name constants and variables, are those of combinations. */
static bool check_inputs(const struct runner *runner, const struct graph *graph)
{
    struct named_values inputs = {.count = 0};
    bool ok =
        named_values_parse(&inputs, runner->invocation, "input", runner->module,
                           module_graph(runner->module, graph->cases.at[0].graph), NAMED_PARAMETER);
    for (uint32_t i = 0; ok && i < inputs.count; i++)
        ok = inputs.at[i].value >= graph->n_params ? true
             : tensor_spec_is_file(inputs.at[i].text)
                 ? check_input(runner, graph, inputs.at[i].value, inputs.at[i].text)
                 : check_spec(runner, graph, inputs.at[i].value, inputs.at[i].text);
    named_values_free(&inputs);
    return ok;
}

/* Whether the graph of a combination has the shapes that are given, which may be of parameters that
 * it does not have. */
static bool has_shapes(const struct module *module, const struct graph *graph,
                       const struct shape_arguments *shapes)
{
    for (uint32_t i = 0; i < shapes->count; i++) {
        const struct given_shape *shape = &shapes->at[i];
        uint32_t param = given_param(module, graph, shape);
        uint32_t type = param == NONE ? NONE : graph->values.at[param].type;
        if (type == NONE || module->types.at[type].rank != shape->rank)
            continue;
        for (uint32_t d = 0; d < shape->rank; d++)
            if (type_dims(module, type)[d] >= 0 && type_dims(module, type)[d] != shape->dims[d])
                return false;
    }
    return true;
}

/* "b = 2, s = 4; b = 4, s = 2": those with the shapes that are given, of which there are so many;
 * the first ones. */
static uint32_t put_left(const struct runner *runner, const struct graph *graph, struct text *text)
{
    enum { MOST = 8 };
    const struct module *module = runner->module;
    struct shape_arguments shapes = {NULL, 0, 0};
    uint32_t count = 0;
    if (!shape_arguments_read(&shapes, runner->invocation))
        shapes.count = 0; /* which has been reported */
    for (uint32_t i = 0; i < graph->cases.count; i++) {
        const struct gear_case *row = &graph->cases.at[i];
        if (!has_shapes(module, module_graph(module, row->graph), &shapes) || ++count > MOST)
            continue;
        text_string(text, text->size ? "; " : "");
        gear_row_text(text, module, graph, graph->gear_values.at + row->values.first);
    }
    if (count > MOST)
        text_printf(text, "; and %u more", count - MOST);
    vec_free(&shapes);
    return count;
}

static void report_open(const struct runner *runner, const struct graph *graph)
{
    struct text left = {NULL, 0, 0};
    uint32_t count = put_left(runner, graph, &left);
    bool some = count > 1 && count < graph->cases.count;
    if (diag_at(runner->diags, DIAG_gear, locate_name(runner->module, graph->loc),
                "nothing says which of %u combinations of gears is to run",
                some ? count : graph->cases.count)) {
        if (some)
            diag_help(runner->diags, "the shapes leave %.*s", (int)left.size, left.at);
        diag_help(runner->diags,
                  "give the graph files (--input), shapes (--shape) or values (--bind %.*s=N)",
                  NAME(runner->module, graph->gears.at[0].name));
    }
    text_free(&left);
}

/* Of a graph with gears, the one combination that shapes and values have left; NULL, reported, if
 * they have left several. */
static const struct graph *choose_case(const struct runner *runner, const struct graph *graph)
{
    if (!graph || graph->cases.count == 0)
        return graph;
    if (graph->cases.count == 1)
        return module_graph(runner->module, graph->cases.at[0].graph);
    if (check_inputs(runner, graph))
        report_open(runner, graph);
    return NULL;
}

static void report_choice(const struct runner *runner)
{
    const struct module *module = runner->module;
    uint8_t *marks = mem_calloc(module->graphs.count + 1, 1);
    if (outer_graphs_mark(module, marks) > 0)
        outer_graphs_report(runner->invocation, module, marks, NULL);
    else
        usage_error(runner->invocation, module->graphs.count
                                            ? "each graph of the file is called by another; choose "
                                              "one by --graph"
                                            : "the file has no graph to run");
    mem_free(marks);
}

static const struct graph *choose_graph(const struct runner *runner)
{
    const struct module *module = runner->module;
    const char *name = option_value(runner->invocation, "graph");
    struct suggest suggest = {.wanted = name, .wanted_size = name ? strlen(name) : 0};
    for (uint32_t i = 0; name && i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        if (name_is(module, graph->name, name))
            return graph;
        name_offer(&suggest, module, graph->name);
    }
    const struct graph *only = name ? NULL : uncalled_graph(module);
    if (only)
        return only;
    if (name)
        usage_error(runner->invocation, "there is no graph '%s'%s", name,
                    suggest_end(&suggest).text);
    else
        report_choice(runner);
    return NULL;
}

const struct graph *run_graph_choose(const struct runner *runner)
{
    return choose_case(runner, choose_graph(runner));
}

const struct graph *run_graph_choose_other(const struct runner *other, const struct runner *first)
{
    const struct module *module = other->module;
    const struct intern_name *name = &first->module->names.names[first->graph->name];
    uint32_t id = intern_find(&module->names, name->text, name->size);
    const struct graph *graph = id == NONE ? NULL : module_find_graph(module, id);
    if (!graph)
        graph = uncalled_graph(module);
    if (!graph)
        usage_error(other->invocation,
                    "%s has no graph '%.*s', and not one alone that no other calls", other->name,
                    SHOWN_NAME(name));
    return choose_case(other, graph);
}

/* --------------------------------------------------------------------------- stubs ---- */

/* A kernel without a place in the text is that of ops with the flag. */
static void report_stub(const struct module *module, const struct kernel *kernel,
                        const struct op *user, struct diags *diags)
{
    if (kernel->loc == NONE) {
        if (diag_at(diags, DIAG_stub, locate_op(module, user, OP_TYPE_NAME, 0),
                    "this %.*s is a stub: it has no code to run", NAME(module, user->type)))
            diag_help(diags, "leave 'stub' out if there is a sample kernel for it, else give it a "
                             "kernel of your own: 'via @KERNEL'");
    } else if (diag_at(diags, DIAG_stub, locate_name(module, kernel->loc),
                       "'@%.*s' is a stub: it has no code to run", NAME(module, kernel->name))) {
        diag_help(diags, "instead of 'stub', write object = \"FILE.o\", function = \"NAME\"");
    }
}

bool run_without_stubs(const struct module *module, const struct graph *graph, struct diags *diags)
{
    bool none = true;
    uint8_t *run = mem_calloc(module->graphs.count, 1);
    /* By kernel, the first op that has it. */
    const struct op **users = mem_calloc(module->kernels.count, sizeof *users);
    storages_mark_run(module, graph, run);
    for (uint32_t g = 0; g < module->graphs.count; g++)
        for (uint32_t i = 0; run[g] && i < module->graphs.at[g].ops.count; i++) {
            const struct op *op = &module->graphs.at[g].ops.at[i];
            const struct op **user =
                op->kernel == NONE ? NULL
                                   : &users[kernel_id(module, module_kernel(module, op->kernel))];
            if (user && !*user)
                *user = op;
        }
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        const struct kernel *kernel = &module->kernels.at[i];
        if (!users[i] || !kernel_is_stub(module, kernel))
            continue;
        report_stub(module, kernel, users[i], diags);
        none = false;
    }
    mem_free(users);
    mem_free(run);
    return none;
}
