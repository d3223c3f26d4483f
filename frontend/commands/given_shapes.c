#include "frontend/commands/given_shapes.h"
#include "frontend/tensor/npy.h"
#include "ir/base/suggest.h"
#include "ir/base/text.h"
#include "ir/calls.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A parameter's shape, and where it stands. */
struct given_shape {
    const char *name, *from; /* the name has `size` bytes */
    size_t size;
    uint32_t rank;
    int64_t dims[MAX_RANK];
    bool file; /* its contents are read later, and all else that is wrong with them is said then */
    bool used; /* a graph has the parameter */
};

struct given_shapes {
    struct input *input;
    struct dim_bindings bindings;
    VEC(struct given_shape) at;
    uint8_t *chosen; /* by graph: whose parameters are meant */
    enum off_gear mode;
    struct padding *padding;
    bool ok;
};

/* --------------------------------------------------------------------------- reading ---- */

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

static bool read_option(struct given_shapes *shapes, const char *text)
{
    const char *sign = strchr(text, '=');
    struct given_shape shape = named_shape(text, sign ? sign : text + strlen(text));
    shape.from = "--shape";
    if (!sign || !read_dims(sign + 1, &shape)) {
        usage_error(shapes->input->invocation,
                    "--shape %s: expected NAME=N,N,..., whole numbers from 0", text);
        return false;
    }
    vec_push(&shapes->at, shape);
    return true;
}

/* What cannot be read is reported by whoever reads the contents. */
static void read_file(struct given_shapes *shapes, const char *text)
{
    struct npy_header header;
    const char *sign = strchr(text, '=');
    if (!sign || !tensor_spec_is_file(sign + 1) || !npy_read_header(&header, sign + 1))
        return;
    struct given_shape shape = named_shape(text, sign);
    shape.from = sign + 1;
    shape.file = true;
    shape.rank = header.rank;
    memcpy(shape.dims, header.dims, header.rank * sizeof *header.dims);
    vec_push(&shapes->at, shape);
}

static bool read_all(struct given_shapes *shapes)
{
    const struct invocation *invocation = shapes->input->invocation;
    const char *text;
    bool ok = true;
    if (option_exists(invocation, "shape"))
        for (unsigned i = 0; ok && (text = option_value_at(invocation, "shape", i)); i++)
            ok = read_option(shapes, text);
    if (option_exists(invocation, "input"))
        for (unsigned i = 0; ok && (text = option_value_at(invocation, "input", i)); i++)
            read_file(shapes, text);
    return ok;
}

/* ----------------------------------------------------------------------------- graphs ---- */

static void choose_graphs(struct given_shapes *shapes)
{
    const struct invocation *invocation = shapes->input->invocation;
    const struct module *module = shapes->input->module;
    const char *name =
        option_exists(invocation, "graph") ? option_value(invocation, "graph") : NULL;
    uint8_t *called = mem_calloc(module->graphs.count, 1);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        graph_mark_called(module, &module->graphs.at[i], called);
    shapes->chosen = mem_calloc(module->graphs.count, 1);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        shapes->chosen[i] = name ? name_is(module, module->graphs.at[i].name, name) : !called[i];
    mem_free(called);
}

static uint32_t find_param(const struct given_shapes *shapes, const struct graph *graph,
                           const struct given_shape *shape)
{
    uint32_t name = intern_find(&shapes->input->module->names, shape->name, shape->size);
    for (uint32_t i = 0; name != NONE && i < graph->n_params; i++)
        if (graph->values.at[i].name == name)
            return i;
    return NONE;
}

static bool report_unknown(const struct given_shapes *shapes, const struct given_shape *shape)
{
    const struct module *module = shapes->input->module;
    struct suggest suggest = {.wanted = shape->name, .wanted_size = shape->size};
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t n = 0; shapes->chosen[i] && n < module->graphs.at[i].n_params; n++)
            name_offer(&suggest, module, module->graphs.at[i].values.at[n].name);
    usage_error(shapes->input->invocation, "--shape: no graph has the parameter '%.*s'%s",
                (int)shape->size, shape->name, suggest_end(&suggest).text);
    return false;
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
    wanted->shapes->ok = false;
    diag_at(&wanted->shapes->input->diags, DIAG_type_mismatch, wanted_span(wanted),
            "%s is %s, but %lld by %s", wanted_text(wanted), is, (long long)wanted->given,
            wanted->shape->from);
}

static const struct gear *find_gear(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].name == name)
            return &graph->gears.at[i];
    return NULL;
}

/* The largest value below, and the smallest above. */
static const char *nearest_text(struct arena *arena, const struct graph *graph,
                                const struct gear *gear, int64_t value)
{
    int64_t below = INT64_MIN, above = INT64_MAX;
    for (uint32_t i = 0; i < gear->values.count; i++) {
        int64_t other = graph->gear_values.at[gear->values.first + i];
        if (other < value && other > below)
            below = other;
        if (other > value && other < above)
            above = other;
    }
    if (below != INT64_MIN && above != INT64_MAX)
        return arena_printf(arena, "the nearest values are %lld and %lld", (long long)below,
                            (long long)above);
    return arena_printf(arena, "the nearest value is %lld",
                        (long long)(below != INT64_MIN ? below : above));
}

static bool gear_has(const struct graph *graph, const struct gear *gear, int64_t value)
{
    for (uint32_t i = 0; i < gear->values.count; i++)
        if (graph->gear_values.at[gear->values.first + i] == value)
            return true;
    return false;
}

/* A gear has its values, be it that others say so, too. */
static bool check_gear(const struct wanted *wanted, uint32_t name, int64_t value)
{
    struct diags *diags = &wanted->shapes->input->diags;
    const struct gear *gear = find_gear(wanted->graph, name);
    if (!gear || wanted->shapes->mode != OFF_GEAR_ERROR || gear_has(wanted->graph, gear, value))
        return true;
    wanted->shapes->ok = false;
    if (diag_at(diags, DIAG_gear, wanted_span(wanted),
                "%s is %lld by %s, but the gear '%.*s' has no value %lld", wanted_text(wanted),
                (long long)wanted->given, wanted->shape->from,
                NAME(wanted->shapes->input->module, name), (long long)value))
        diag_help(diags, "%s", nearest_text(&diags->arena, wanted->graph, gear, value));
    return false;
}

/* Whether it is a sum of a product of one name and a constant. */
static bool has_one_name(const struct dim_sum *sum)
{
    return sum->count > 0 && sum->count <= 2 && sum->terms[0].degree == 1 &&
           (sum->count == 1 || sum->terms[1].degree == 0);
}

/* The name of such a sum, which the given number makes an integer. */
static bool solve(const struct dim_sum *sum, int64_t given, struct dim_binding *solution)
{
    const struct dim_term *term = &sum->terms[0];
    int64_t constant = sum->count == 2 ? sum->terms[1].coefficient : 0;
    if (given < constant || (given - constant) % term->coefficient != 0)
        return false;
    *solution = (struct dim_binding){term->names[0], (given - constant) / term->coefficient};
    return true;
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
    if (!has_one_name(&sum))
        return false;
    if (!solve(&sum, wanted->given, &solution)) {
        report_dim(wanted,
                   arena_printf(&shapes->input->diags.arena, "%.*s", NAME(module, dim_gear(dim))));
        return false;
    }
    if (!check_gear(wanted, solution.name, solution.value))
        return false;
    vec_push(&shapes->bindings, solution);
    return true;
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

static bool rank_fits(const struct module *module, const struct graph *graph, uint32_t param,
                      const struct given_shape *shape)
{
    return module->types.at[graph->values.at[param].type].rank == shape->rank;
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
            uint32_t param = find_param(shapes, graph, shape);
            if (param == NONE || !rank_fits(module, graph, param, shape))
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
            uint32_t param = find_param(shapes, graph, shape);
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
    for (uint32_t i = 0; i < shapes->at.count; i++)
        if (!shapes->at.at[i].used && !shapes->at.at[i].file)
            return report_unknown(shapes, &shapes->at.at[i]);
    return true;
}

/* ---------------------------------------------------------------------------- driving ---- */

/* Names of `dims` become numbers first, so that all shapes are known. */
static bool settle_graph(struct given_shapes *shapes, struct graph *graph)
{
    struct input *input = shapes->input;
    return bind_free_dims(input->module, graph, shapes->bindings.at, shapes->bindings.count,
                          &input->diags) &&
           off_gear_settle(input, graph, shapes->mode, &shapes->bindings, shapes->padding);
}

/* Values that no gears list become those of a combination that runs. */
static bool settle_gears(struct given_shapes *shapes)
{
    struct module *module = shapes->input->module;
    bool ok = true;
    for (uint32_t g = 0; shapes->mode != OFF_GEAR_ERROR && g < module->graphs.count; g++)
        if (shapes->chosen[g] && module->graphs.at[g].gear_mode != GEARS_NONE)
            ok = settle_graph(shapes, &module->graphs.at[g]) && ok;
    return ok;
}

/* Where nothing is given, all types are what they are already. */
static bool put_values(struct given_shapes *shapes)
{
    struct input *input = shapes->input;
    return (shapes->at.count == 0 && shapes->bindings.count == 0) ||
           bind_dims(input->module, shapes->bindings.at, shapes->bindings.count, &input->diags);
}

static enum exit_status bind_all(struct given_shapes *shapes)
{
    struct input *input = shapes->input;
    enum exit_status status = bind_argument_read(input, &shapes->bindings);
    if (status != EXIT_DONE)
        return status;
    if (!read_all(shapes))
        return EXIT_USAGE;
    choose_graphs(shapes);
    bool ok = fill_types(shapes);
    if (!all_are_used(shapes))
        return EXIT_USAGE;
    while (ok && shapes->ok && each_wanted(shapes, settle))
        continue;
    ok = ok && shapes->ok && settle_gears(shapes);
    ok = ok && put_values(shapes);
    if (ok && shapes->padding->combination.size == 0)
        each_wanted(shapes, check_bound);
    return ok && shapes->ok ? EXIT_DONE : EXIT_INPUT;
}

enum exit_status given_shapes_bind(struct input *input)
{
    struct padding none = {.elements = 0};
    return given_shapes_bind_between(input, OFF_GEAR_ERROR, &none);
}

enum exit_status given_shapes_bind_between(struct input *input, enum off_gear mode,
                                           struct padding *padding)
{
    struct given_shapes shapes = {.input = input, .mode = mode, .padding = padding, .ok = true};
    enum exit_status status = bind_all(&shapes);
    vec_free(&shapes.bindings);
    vec_free(&shapes.at);
    mem_free(shapes.chosen);
    return status;
}
