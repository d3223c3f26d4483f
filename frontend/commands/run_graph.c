#include "frontend/commands/run_graph.h"
#include "frontend/commands/given_graphs.h"
#include "frontend/commands/named_values.h"
#include "frontend/commands/outer_graphs.h"
#include "frontend/tensor/npy.h"
#include "ir/base/suggest.h"
#include "ir/base/text.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <stdio.h>
#include <string.h>

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

/* "f32[b, 2]": without its dtype, as arrays have it. */
static const char *dims_of(struct arena *arena, const struct module *module, uint32_t type)
{
    return strchr(type_text(module, type, arena), '[');
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
             dims_of(&runner->diags->arena, module, type));
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
