/* What --bind, --shape, --input and --graph say of the graphs of a file: values of names follow
 * from shapes, combinations of gears are narrowed to those that fit, and shapes replace what is
 * unknown. */
#include "frontend/driver/graph_arguments.h"
#include "frontend/tensor/npy.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/core/calls.h"
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_dim(const char **text, int64_t *dim)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *dim = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* "2,4", or nothing of a scalar. */
static bool read_dims(const char *text, struct given_shape *shape)
{
    for (; *text; shape->rank++) {
        if (shape->rank && *text++ != ',')
            return false;
        if (shape->rank == MAX_RANK || !read_dim(&text, &shape->dims[shape->rank]))
            return false;
    }
    return true;
}

/* A name may have its `%`. */
static struct given_shape named_shape(const char *text, const char *sign)
{
    bool sigil = *text == '%';
    return (struct given_shape){.name = text + sigil, .size = (size_t)(sign - text - sigil)};
}

static bool read_option(struct shape_arguments *shapes, const struct invocation *invocation,
                        const char *text)
{
    const char *sign = strchr(text, '=');
    struct given_shape shape = named_shape(text, sign ? sign : text + strlen(text));
    shape.from = "--shape";
    if (!sign || !read_dims(sign + 1, &shape))
        return usage_fail(invocation, "--shape %s: expected NAME=N,N,..., whole numbers from 0",
                          text);
    vec_push(shapes, shape);
    return true;
}

/* A file that cannot be read is reported where its contents are read. */
static void read_file(struct shape_arguments *shapes, const char *text)
{
    struct npy_header header;
    char error[512];
    const char *sign = strchr(text, '=');
    if (!sign || !tensor_spec_is_file(sign + 1) ||
        !npy_read_header(&header, sign + 1, error, sizeof error))
        return;
    struct given_shape shape = named_shape(text, sign);
    shape.from = sign + 1;
    shape.file = true;
    shape.rank = header.rank;
    memcpy(shape.dims, header.dims, header.rank * sizeof *header.dims);
    vec_push(shapes, shape);
}

bool shape_arguments_read(struct shape_arguments *shapes, const struct invocation *invocation)
{
    const char *text;
    bool ok = true;
    for (unsigned i = 0; ok && (text = option_value_at(invocation, "shape", i)); i++)
        ok = read_option(shapes, invocation, text);
    for (unsigned i = 0; ok && (text = option_value_at(invocation, "input", i)); i++)
        read_file(shapes, text);
    return ok;
}

enum { MAX_NAMES = 8 }; /* that are told */

uint32_t outer_graphs_mark(const struct module *module, uint8_t *marks)
{
    uint32_t count = 0;
    uint8_t *named = mem_calloc(module->graphs.count, 1);
    graphs_mark_named(module, named);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        marks[i] = !named[i];
        count += marks[i];
    }
    mem_free(named);
    return count;
}

/* "'p', 'q' or 'r'". */
static void put_names(struct text *text, const struct module *module, const uint8_t *marks,
                      uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < module->graphs.count && n < MAX_NAMES; i++) {
        if (!marks[i])
            continue;
        text_printf(text, "%s'%.*s'",
                    n == 0           ? ""
                    : n + 1 == count ? " or "
                                     : ", ",
                    NAME(module, module->graphs.at[i].name));
        n++;
    }
    if (count > n)
        text_printf(text, " or %u more", count - n);
}

void outer_graphs_report(const struct invocation *invocation, const struct module *module,
                         const uint8_t *marks, const char *having)
{
    struct text names = {NULL, 0, 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        count += marks[i] != 0;
    put_names(&names, module, marks, count);
    usage_error(
        invocation,
        "the file has several graphs that no other calls; choose one by --graph: %.*s%s%s%s",
        (int)names.size, names.at, having ? ", which " : "",
        !having      ? ""
        : count == 1 ? "has "
                     : "have ",
        having ? having : "");
    text_free(&names);
}

/* ---------------------------------------------------------------------------- choosing ---- */

static const char *named_graph(const struct input *input)
{
    return option_value(input->invocation, "graph");
}

uint8_t *given_graphs(const struct input *input)
{
    const struct module *module = input->module;
    const char *name = named_graph(input);
    uint8_t *chosen = mem_calloc(module->graphs.count, 1);
    if (!name)
        outer_graphs_mark(module, chosen);
    for (uint32_t i = 0; name && i < module->graphs.count; i++)
        chosen[i] = name_is(module, module->graphs.at[i].name, name);
    return chosen;
}

/* The same of those whose names have the values: all, or that of --graph with what it calls. */
static uint8_t *given_graphs_meant(const struct input *input, const uint8_t *chosen)
{
    const struct module *module = input->module;
    uint32_t count = module->graphs.count;
    uint8_t *meant = mem_calloc(count, 1);
    for (uint32_t i = 0; i < count; i++)
        meant[i] = !named_graph(input) || chosen[i];
    graphs_mark_reached(module, meant);
    return meant;
}

uint32_t given_param(const struct module *module, const struct graph *graph,
                     const struct given_shape *shape)
{
    uint32_t name = intern_find(&module->names, shape->name, shape->size);
    for (uint32_t i = 0; name != NONE && i < graph->n_params; i++)
        if (graph->values.at[i].name == name)
            return i;
    return NONE;
}

/* ---------------------------------------------------------------------------- one of them ---- */

/* Whether the graph has all that is given. */
static bool has_given(const struct module *module, const struct graph *graph,
                      const struct shape_arguments *shapes, const struct dim_bindings *bindings)
{
    bool has = true;
    for (uint32_t i = 0; i < bindings->count; i++)
        has = has && graph_declares_dim(graph, bindings->at[i].name);
    for (uint32_t i = 0; i < shapes->count; i++)
        has = has && given_param(module, graph, &shapes->at[i]) != NONE;
    return has;
}

/* Those that have what is given, or all where none has. */
static void report_several(const struct input *input, const uint8_t *chosen,
                           const struct shape_arguments *shapes,
                           const struct dim_bindings *bindings)
{
    const struct module *module = input->module;
    uint8_t *having = mem_calloc(module->graphs.count, 1);
    struct text given = {NULL, 0, 0};
    bool any = false;
    /* "'b', '%x'": the names of what is given. */
    for (uint32_t i = 0; i < bindings->count; i++)
        text_printf(&given, "%s'%.*s'", given.size ? ", " : "", NAME(module, bindings->at[i].name));
    for (uint32_t i = 0; i < shapes->count; i++)
        text_printf(&given, "%s'%%%.*s'", given.size ? ", " : "", (int)shapes->at[i].size,
                    shapes->at[i].name);
    text_char(&given, '\0');
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        having[i] = chosen[i] && has_given(module, &module->graphs.at[i], shapes, bindings);
        any = any || having[i];
    }
    outer_graphs_report(input->invocation, module, any ? having : chosen, any ? given.at : NULL);
    text_free(&given);
    mem_free(having);
}

/* Whether the command is about one graph of the file. Another file that it is compared with has one
 * of the same name. */
static bool wants_one(const struct input *input)
{
    return option_exists(input->invocation, "graph") && !named_graph(input) &&
           !input_is_compared(input);
}

/* ------------------------------------------------------------------------------ names ---- */

static void report_name(const struct input *input, const uint8_t *meant, uint32_t name)
{
    const struct module *module = input->module;
    struct suggest suggest = name_suggest(module, name);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t n = 0; meant[i] && n < graph->dims.count; n++)
            name_offer(&suggest, module, graph->dims.at[n].name);
        for (uint32_t n = 0; meant[i] && n < graph->gears.count; n++)
            name_offer(&suggest, module, graph->gears.at[n].name);
    }
    usage_error(input->invocation, "--bind: the graph '%s' declares no dimension '%.*s'%s",
                named_graph(input), NAME(module, name), suggest_end(&suggest).text);
}

static bool check_names(const struct input *input, const uint8_t *meant,
                        const struct dim_bindings *bindings)
{
    const struct module *module = input->module;
    bool any = memchr(meant, 1, module->graphs.count) != NULL, ok = true;
    for (uint32_t n = 0; any && ok && n < bindings->count; n++) {
        ok = false;
        for (uint32_t i = 0; i < module->graphs.count && !ok; i++)
            ok = meant[i] && graph_declares_dim(&module->graphs.at[i], bindings->at[n].name);
        if (!ok)
            report_name(input, meant, bindings->at[n].name);
    }
    return ok;
}

struct given_shapes {
    struct input *input;
    struct dim_bindings bindings;
    struct shape_arguments at;
    uint8_t *chosen; /* by graph: whose parameters are meant */
    uint8_t *meant;  /* by graph: whose names are; all, or with --graph what it calls, too */
    struct row_search *search; /* that is at work */
    bool ok;
};

/* ----------------------------------------------------------------------------- graphs ---- */

static bool report_unknown(const struct given_shapes *shapes, const struct given_shape *shape)
{
    const struct module *module = shapes->input->module;
    struct suggest suggest = {.wanted = shape->name, .wanted_size = shape->size};
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t n = 0; shapes->chosen[i] && n < module->graphs.at[i].n_params; n++)
            name_offer(&suggest, module, module->graphs.at[i].values.at[n].name);
    return usage_fail(shapes->input->invocation, "--shape: no graph has the parameter '%.*s'%s",
                      (int)shape->size, shape->name, suggest_end(&suggest).text);
}

/* ----------------------------------------------------------------------------- solving ---- */

/* A dimension of a parameter and what it is to be. */
struct wanted {
    struct given_shapes *shapes;
    const struct graph *graph;
    const struct given_shape *shape;
    uint32_t param, dim;
    int64_t declared, given;
};

/* "dimension 0 of '%x'". */
static const char *wanted_text(const struct wanted *wanted)
{
    const struct module *module = wanted->shapes->input->module;
    return arena_printf(&wanted->shapes->input->diags.arena, "dimension %u of '%%%.*s'",
                        wanted->dim, NAME(module, wanted->graph->values.at[wanted->param].name));
}

static struct span wanted_span(const struct wanted *wanted)
{
    return locate_token(wanted->shapes->input->module, wanted->graph->params.at[wanted->param].loc);
}

static void report_dim(const struct wanted *wanted, const char *is)
{
    struct given_shapes *shapes = wanted->shapes;
    shapes->ok = false;
    diag_at(&shapes->input->diags, DIAG_type_mismatch, wanted_span(wanted),
            "%s is %s, but %lld by %s", wanted_text(wanted), is, (long long)wanted->given,
            wanted->shape->from);
}

/* The declared dimension with what is known so far; false where it is not more than before. */
static bool settle(const struct wanted *wanted)
{
    struct given_shapes *shapes = wanted->shapes;
    struct module *module = shapes->input->module;
    struct dim_sum sum;
    struct dim_binding solution;
    int64_t dim = wanted->declared;
    if (dim_bind(module, dim, shapes->bindings.at, shapes->bindings.count, &dim) != DIM_FINE)
        return false;
    if (!dim_is_gear(dim)) {
        bool told = wanted->shape->file && !dim_is_gear(wanted->declared);
        if (dim != DIM_UNKNOWN && dim != wanted->given && !told)
            report_dim(wanted, arena_printf(&shapes->input->diags.arena, "%lld", (long long)dim));
        return false;
    }
    dim_to_sum(module, dim, &sum);
    if (!dim_sum_has_one_name(&sum))
        return false;
    if (dim_sum_solve(&sum, wanted->given, &solution)) {
        vec_push(&shapes->bindings, solution);
        return true;
    }
    if (!graph_find_gear(wanted->graph, sum.terms[0].names[0])) /* else narrow_graph() reports it */
        report_dim(wanted,
                   arena_printf(&shapes->input->diags.arena, "%.*s", NAME(module, dim_gear(dim))));
    return false;
}

/* What others say has decided the dimension otherwise: by `zip`, or by a product of names. */
static bool check_bound(const struct wanted *wanted)
{
    int64_t dim = wanted->declared;
    if (dim_is_gear(dim) || dim == DIM_UNKNOWN || dim == wanted->given || wanted->shape->file)
        return false;
    report_dim(wanted, arena_printf(&wanted->shapes->input->diags.arena, "%lld", (long long)dim));
    return false;
}

/* Calls `visit` for each dimension of each parameter that has a shape; returns whether one of the
 * calls did. */
static bool each_wanted(struct given_shapes *shapes, bool (*visit)(const struct wanted *wanted))
{
    const struct module *module = shapes->input->module;
    bool any = false;
    for (uint32_t g = 0; g < module->graphs.count; g++)
        for (uint32_t i = 0; shapes->chosen[g] && i < shapes->at.count; i++) {
            const struct graph *graph = &module->graphs.at[g];
            const struct given_shape *shape = &shapes->at.at[i];
            uint32_t param = given_param(module, graph, shape);
            if (param == NONE || module->types.at[graph->values.at[param].type].rank != shape->rank)
                continue;
            for (uint32_t d = 0; d < shape->rank && shapes->ok; d++) {
                const struct wanted wanted = {
                    shapes,        graph, shape,
                    param,         d,     type_dims(module, graph->values.at[param].type)[d],
                    shape->dims[d]};
                any = visit(&wanted) || any;
            }
        }
    return any;
}

/* ---------------------------------------------------------------------- combinations ---- */

/* Rows of a graph that are left by what is known of it. */
struct row_search {
    struct given_shapes *shapes;
    struct graph *graph;
    struct gear_table table;
    uint8_t *out; /* by row: something is known that it does not have */
};

/* The dimension with the values of a row; negative where it depends on other names. */
static int64_t row_dim(const struct row_search *search, const struct wanted *wanted, uint32_t row)
{
    return gear_row_dim(search->shapes->input->module, search->graph,
                        gear_table_row(&search->table, row), wanted->declared);
}

static bool row_has_bindings(const struct row_search *search, uint32_t row)
{
    const struct given_shapes *shapes = search->shapes;
    for (uint32_t i = 0; i < search->graph->gears.count; i++)
        for (uint32_t n = 0; n < shapes->bindings.count; n++)
            if (shapes->bindings.at[n].name == search->graph->gears.at[i].name &&
                shapes->bindings.at[n].value != gear_table_row(&search->table, row)[i])
                return false;
    return true;
}

/* Leaves out the rows that do not have the dimension. */
static bool leave_out(const struct wanted *wanted)
{
    struct row_search *search = wanted->shapes->search;
    if (wanted->graph != search->graph || !dim_is_gear(wanted->declared))
        return false;
    for (uint32_t i = 0; i < search->table.n_rows; i++) {
        int64_t dim = row_dim(search, wanted, i);
        search->out[i] = search->out[i] || (dim >= 0 && dim != wanted->given);
    }
    return true;
}

/* A dimension that no row has. */
static bool report_missing(const struct wanted *wanted)
{
    struct given_shapes *shapes = wanted->shapes;
    struct row_search *search = shapes->search;
    if (!shapes->ok || wanted->graph != search->graph || !dim_is_gear(wanted->declared))
        return false;
    for (uint32_t i = 0; i < search->table.n_rows; i++) {
        int64_t dim = row_dim(search, wanted, i);
        if (dim < 0 || dim == wanted->given)
            return false;
    }
    shapes->ok = false;
    if (diag_at(&shapes->input->diags, DIAG_gear, wanted_span(wanted),
                "%s is %lld by %s, but no combination of gears has that", wanted_text(wanted),
                (long long)wanted->given, wanted->shape->from))
        help_combinations(shapes->input->module, search->graph, &shapes->input->diags);
    return true;
}

/* Each dimension is that of some row, but no row has all of them. */
static void report_together(const struct row_search *search)
{
    struct input *input = search->shapes->input;
    search->shapes->ok = false;
    if (diag_at(&input->diags, DIAG_gear, locate_name(input->module, search->graph->loc),
                "no combination of gears has all of these shapes"))
        help_combinations(input->module, search->graph, &input->diags);
}

static bool is_bound(const struct given_shapes *shapes, uint32_t name)
{
    for (uint32_t i = 0; i < shapes->bindings.count; i++)
        if (shapes->bindings.at[i].name == name)
            return true;
    return false;
}

/* Gears that are one number in all rows that are left get it. False where none is left. */
static bool bind_common(struct row_search *search)
{
    bool any = false;
    for (uint32_t i = 0; i < search->graph->gears.count; i++) {
        struct dim_binding binding = {search->graph->gears.at[i].name, -1};
        bool same = true;
        for (uint32_t row = 0; row < search->table.n_rows; row++) {
            int64_t value = gear_table_row(&search->table, row)[i];
            if (search->out[row])
                continue;
            any = true;
            same = same && (binding.value < 0 || binding.value == value);
            binding.value = value;
        }
        if (same && any && !is_bound(search->shapes, binding.name))
            vec_push(&search->shapes->bindings, binding);
    }
    return any;
}

/* What dimensions say that are products or sums of gears: they are those of one combination. */
static void narrow_graph(struct given_shapes *shapes, struct graph *graph)
{
    struct row_search search = {.shapes = shapes, .graph = graph};
    if (!gear_table_init_left(&search.table, graph))
        return; /* expand-gears says so */
    shapes->search = &search;
    search.out = mem_calloc(search.table.n_rows, 1);
    for (uint32_t i = 0; i < search.table.n_rows; i++)
        search.out[i] = !row_has_bindings(&search, i);
    bool has_bound = bind_common(&search); /* else bind_dims() reports the values */
    if (each_wanted(shapes, leave_out) && !bind_common(&search) &&
        !each_wanted(shapes, report_missing) && has_bound)
        report_together(&search);
    mem_free(search.out);
    gear_table_free(&search.table);
}

/* ------------------------------------------------------------------------------ types ---- */

/* Whether the type has as many dimensions, or takes any number. */
static bool check_rank(struct given_shapes *shapes, const struct graph *graph, uint32_t param,
                       const struct given_shape *shape)
{
    const struct module *module = shapes->input->module;
    uint32_t rank = module->types.at[graph->values.at[param].type].rank;
    if (rank == RANK_UNKNOWN || rank == shape->rank)
        return true;
    if (!shape->file)
        diag_at(&shapes->input->diags, DIAG_type_mismatch,
                locate_token(module, graph->params.at[param].loc),
                "'%%%.*s' has %u dimension%s, but %u by %s",
                NAME(module, graph->values.at[param].name), rank, rank == 1 ? "" : "s", shape->rank,
                shape->from);
    return false;
}

/* Puts a shape in the place of what is not known of the parameter's. */
static void fill_unknown(struct module *module, uint32_t *id, const struct given_shape *shape)
{
    struct type type = module->types.at[*id];
    int64_t dims[MAX_RANK];
    for (uint32_t i = 0; i < shape->rank; i++) {
        int64_t declared = type.rank == RANK_UNKNOWN ? DIM_UNKNOWN : type_dims(module, *id)[i];
        dims[i] = declared == DIM_UNKNOWN ? shape->dims[i] : declared;
    }
    *id = module_type(module, type.dtype, type.format, dims, shape->rank);
}

static bool fill_types(struct given_shapes *shapes)
{
    struct module *module = shapes->input->module;
    bool ok = true;
    for (uint32_t g = 0; g < module->graphs.count; g++)
        for (uint32_t i = 0; shapes->chosen[g] && i < shapes->at.count; i++) {
            struct given_shape *shape = &shapes->at.at[i];
            struct graph *graph = &module->graphs.at[g];
            uint32_t param = given_param(module, graph, shape);
            shape->used = shape->used || param != NONE;
            if (param != NONE && check_rank(shapes, graph, param, shape))
                fill_unknown(module, &graph->values.at[param].type, shape);
            else
                ok = ok && (param == NONE || shape->file);
        }
    return ok;
}

/* Names of --shape; those of --input are looked up by whoever fills values. */
static bool all_are_used(const struct given_shapes *shapes)
{
    for (uint32_t i = 0; i < shapes->at.count && !input_is_compared(shapes->input); i++)
        if (!shapes->at.at[i].used && !shapes->at.at[i].file)
            return report_unknown(shapes, &shapes->at.at[i]);
    return true;
}

/* ---------------------------------------------------------------------------- driving ---- */

/* Nothing is given: types are what they are, but for what follows. */
static bool settle_all_types(struct input *input)
{
    struct module *module = input->module;
    bool ok = true;
    for (uint32_t g = 0; g < module->graphs.count; g++)
        ok = settle_types(module, &module->graphs.at[g], false, &input->diags) && ok;
    return ok;
}

static bool bind_values(struct given_shapes *shapes)
{
    if (shapes->at.count == 0 && shapes->bindings.count == 0)
        return settle_all_types(shapes->input);
    return bind_dims(shapes->input->module, shapes->meant, shapes->bindings.at,
                     shapes->bindings.count, &shapes->input->diags);
}

static bool choose(struct given_shapes *shapes)
{
    const struct input *input = shapes->input;
    shapes->chosen = given_graphs(input);
    shapes->meant = given_graphs_meant(input, shapes->chosen);
    uint32_t count = 0;
    for (uint32_t i = 0; i < input->module->graphs.count; i++)
        count += shapes->chosen[i];
    if (count > 1 && shapes->at.count + shapes->bindings.count > 0 && wants_one(input)) {
        report_several(input, shapes->chosen, &shapes->at, &shapes->bindings);
        return false;
    }
    return check_names(input, shapes->meant, &shapes->bindings);
}

static enum exit_status bind_all(struct given_shapes *shapes)
{
    struct input *input = shapes->input;
    enum exit_status status = bind_argument_read(input, &shapes->bindings);
    if (status != EXIT_DONE)
        return status;
    if (!shape_arguments_read(&shapes->at, shapes->input->invocation) || !choose(shapes))
        return EXIT_USAGE;
    bool ok = fill_types(shapes);
    if (!all_are_used(shapes))
        return EXIT_USAGE;
    while (ok && shapes->ok && each_wanted(shapes, settle))
        continue;
    if (ok && shapes->at.count + shapes->bindings.count > 0) {
        const struct module *module = shapes->input->module;
        for (uint32_t g = 0; g < module->graphs.count && shapes->ok; g++)
            if (shapes->chosen[g] && module->graphs.at[g].gear_mode != GEARS_NONE)
                narrow_graph(shapes, &module->graphs.at[g]);
    }
    ok = ok && shapes->ok && bind_values(shapes);
    mem_free(shapes->chosen); /* indices have changed */
    shapes->chosen = given_graphs(input);
    if (ok)
        each_wanted(shapes, check_bound);
    return ok && shapes->ok ? EXIT_DONE : EXIT_INPUT;
}

enum exit_status given_shapes_bind(struct input *input)
{
    struct given_shapes shapes = {.input = input, .ok = true};
    enum exit_status status = bind_all(&shapes);
    vec_free(&shapes.bindings);
    vec_free(&shapes.at);
    mem_free(shapes.chosen);
    mem_free(shapes.meant);
    return status;
}
