#include "frontend/commands/given_shapes.h"
#include "frontend/commands/given_graphs.h"
#include "frontend/commands/given_origin.h"
#include "frontend/commands/left_values.h"
#include "frontend/commands/nearest.h"
#include "ir/base/suggest.h"
#include "ir/base/text.h"
#include "ir/calls.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"

struct given_shapes {
    struct input *input;
    struct dim_bindings bindings;
    uint32_t n_bound; /* of these, by --bind */
    struct shape_arguments at;
    uint8_t *chosen; /* by graph: whose parameters are meant */
    uint8_t *meant;  /* by graph: whose names are; all, or with --graph what it calls, too */
    enum off_gear mode;
    struct padding *padding;
    struct row_search *search; /* that is at work */
    bool ok;
    bool pads; /* no combination has what is given, but padding would do */
};

/* ----------------------------------------------------------------------------- graphs ---- */

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
    struct given_shapes *shapes = wanted->shapes;
    shapes->ok = false;
    if (diag_at(&shapes->input->diags, DIAG_type_mismatch, wanted_span(wanted),
                "%s is %s, but %lld by %s", wanted_text(wanted), is, (long long)wanted->given,
                wanted->shape->from))
        given_origin_help(shapes->input, wanted->graph, &shapes->at, &shapes->bindings,
                          shapes->n_bound, wanted->declared);
}

static bool can_pad(const struct given_shapes *shapes, const struct graph *graph);

/* The values of a gear that are nearest to one that it does not have, and what else can be done. */
static void help_gear(const struct given_shapes *shapes, const struct graph *graph,
                      const struct gear *gear, int64_t value)
{
    struct input *input = shapes->input;
    struct left_values values = left_values_find(input, graph, gear);
    bool between = false;
    for (uint32_t i = 0; i < values.count; i++)
        between = between || values.at[i] > value;
    between = between && can_pad(shapes, graph);
    diag_help(&input->diags, "%s%s",
              nearest_text(&input->diags.arena, values.at, values.count, value),
              between ? "; --off-gear=pad runs the next larger one" : "");
    vec_free(&values);
}

/* A gear has its values, be it that others say so, too. */
static bool check_gear(const struct wanted *wanted, uint32_t name, int64_t value)
{
    struct diags *diags = &wanted->shapes->input->diags;
    const struct gear *gear = graph_find_gear(wanted->graph, name);
    if (!gear || wanted->shapes->mode != OFF_GEAR_ERROR || gear_has(wanted->graph, gear, value))
        return true;
    wanted->shapes->ok = false;
    if (diag_at(diags, DIAG_gear, wanted_span(wanted),
                "%s is %lld by %s, but the gear '%.*s' has no value %lld", wanted_text(wanted),
                (long long)wanted->given, wanted->shape->from,
                NAME(wanted->shapes->input->module, name), (long long)value))
        help_gear(wanted->shapes, wanted->graph, gear, value);
    return false;
}

/* Values of --bind are those of gears. */
static bool check_bindings(const struct given_shapes *shapes, const struct graph *graph)
{
    struct diags *diags = &shapes->input->diags;
    const struct module *module = shapes->input->module;
    bool ok = true;
    for (uint32_t i = 0; i < shapes->bindings.count; i++) {
        const struct dim_binding *binding = &shapes->bindings.at[i];
        const struct gear *gear = graph_find_gear(graph, binding->name);
        if (!gear || gear_has(graph, gear, binding->value))
            continue;
        ok = false;
        if (diag_at(diags, DIAG_gear, locate_token(module, gear->loc),
                    "the gear '%.*s' has no value %lld", NAME(module, gear->name),
                    (long long)binding->value))
            help_gear(shapes, graph, gear, binding->value);
    }
    return ok;
}

/* Graphs with others are not meant any more. */
static bool check_all_bindings(struct given_shapes *shapes)
{
    bool ok = true;
    for (uint32_t g = 0; g < shapes->input->module->graphs.count; g++)
        if (shapes->chosen[g] && shapes->mode == OFF_GEAR_ERROR &&
            !check_bindings(shapes, &shapes->input->module->graphs.at[g])) {
            shapes->meant[g] = 0;
            ok = false;
        }
    return ok;
}

/* A sum that no whole value of its name makes. Of a gear's, the nearest are told. */
static void report_unsolved(const struct wanted *wanted, const struct dim_sum *sum,
                            const char *text)
{
    struct diags *diags = &wanted->shapes->input->diags;
    const struct module *module = wanted->shapes->input->module;
    const struct graph *graph = wanted->graph;
    const struct gear *gear = graph_find_gear(graph, sum->terms[0].names[0]);
    if (!gear) {
        report_dim(wanted, text);
        return;
    }
    int64_t constant = sum->count == 2 ? sum->terms[1].coefficient : 0;
    struct left_values made = left_values_find(wanted->shapes->input, graph, gear);
    for (uint32_t i = 0; i < made.count; i++)
        if (__builtin_mul_overflow(made.at[i], sum->terms[0].coefficient, &made.at[i]) ||
            __builtin_add_overflow(made.at[i], constant, &made.at[i]))
            made.at[i] = INT64_MAX; /* such a combination is left out */
    wanted->shapes->ok = false;
    bool told = diag_at(diags, DIAG_gear, wanted_span(wanted),
                        "%s is %lld by %s, but no value of the gear '%.*s' makes %s that",
                        wanted_text(wanted), (long long)wanted->given, wanted->shape->from,
                        NAME(module, gear->name), text);
    if (told)
        diag_help(diags, "%s", nearest_text(&diags->arena, made.at, made.count, wanted->given));
    vec_free(&made);
    if (told && wanted->shapes->mode != OFF_GEAR_ERROR)
        diag_help(diags, "only shapes that a whole number for '%.*s' makes can be padded",
                  NAME(module, gear->name));
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
    if (!dim_sum_solve(&sum, wanted->given, &solution)) {
        report_unsolved(
            wanted, &sum,
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
            uint32_t param = given_param(module, graph, shape);
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

/* Whether it depends on gears of which nothing is known so far. */
static bool is_open(const struct wanted *wanted)
{
    const struct given_shapes *shapes = wanted->shapes;
    int64_t dim = wanted->declared;
    return wanted->graph == shapes->search->graph &&
           dim_bind(shapes->input->module, dim, shapes->bindings.at, shapes->bindings.count,
                    &dim) == DIM_FINE &&
           dim_is_gear(dim);
}

/* Between products and sums of gears lie shapes that several values of these make: which, is to be
 * said. */
static void help_open(const struct wanted *wanted)
{
    const struct given_shapes *shapes = wanted->shapes;
    struct diags *diags = &shapes->input->diags;
    struct text values = {NULL, 0, 0};
    int64_t dim = wanted->declared;
    struct module *module = shapes->input->module;
    if (shapes->mode == OFF_GEAR_ERROR || wanted->graph->cases.count ||
        dim_bind(module, dim, shapes->bindings.at, shapes->bindings.count, &dim) != DIM_FINE)
        return;
    for (uint32_t i = 0; i < wanted->graph->gears.count; i++) {
        uint32_t name = wanted->graph->gears.at[i].name;
        if (dim_has_name(module, dim, name))
            text_printf(&values, " --bind %.*s=N", NAME(module, name));
    }
    diag_help(diags,
              "each gear is padded by itself, and this dimension does not say what they are: give "
              "their values by%.*s, or the shape of a parameter that says them",
              (int)values.size, values.at);
    text_free(&values);
}

/* A dimension that no row has by itself; or, of shapes between rows, one that does not say what
 * they lie between. */
static bool report_open(const struct wanted *wanted)
{
    struct row_search *search = wanted->shapes->search;
    struct diags *diags = &wanted->shapes->input->diags;
    int64_t *dims = arena_alloc(&diags->arena, search->table.n_rows * sizeof *dims);
    if (!is_open(wanted) || !wanted->shapes->ok)
        return false;
    for (uint32_t i = 0; i < search->table.n_rows; i++)
        if ((dims[i] = row_dim(search, wanted, i)) == wanted->given || dims[i] < 0)
            return false;
    wanted->shapes->ok = false;
    if (diag_at(diags, DIAG_gear, wanted_span(wanted),
                "%s is %lld by %s, but no combination of gears has that", wanted_text(wanted),
                (long long)wanted->given, wanted->shape->from)) {
        diag_help(diags, "%s",
                  nearest_text(&diags->arena, dims, search->table.n_rows, wanted->given));
        help_open(wanted);
    }
    return true;
}

static void report_no_row(struct row_search *search)
{
    struct given_shapes *shapes = search->shapes;
    if (each_wanted(shapes, report_open) || !each_wanted(shapes, is_open))
        return; /* who binds the values finds what is wrong with them */
    shapes->ok = false;
    if (diag_at(&shapes->input->diags, DIAG_gear,
                locate_name(shapes->input->module, search->graph->loc),
                "no combination of gears has all of these shapes"))
        diag_help(&shapes->input->diags, "'skirc opt --passes=expand-gears' shows those that are");
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
    if (!bind_common(&search) && shapes->mode == OFF_GEAR_ERROR)
        shapes->pads = can_pad(shapes, graph);
    if (each_wanted(shapes, leave_out) && !bind_common(&search))
        report_no_row(&search);
    mem_free(search.out);
    gear_table_free(&search.table);
}

static void narrow_gears(struct given_shapes *shapes)
{
    const struct module *module = shapes->input->module;
    for (uint32_t g = 0; g < module->graphs.count && shapes->ok; g++)
        if (shapes->chosen[g] && module->graphs.at[g].gear_mode != GEARS_NONE)
            narrow_graph(shapes, &module->graphs.at[g]);
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
    struct diags *diags = &shapes->input->diags;
    bool ok = bind_dims(shapes->input->module, shapes->meant, shapes->bindings.at,
                        shapes->bindings.count, diags);
    if (shapes->pads && diags->list.count && diags->list.at[diags->list.count - 1].id == DIAG_gear)
        diag_help(diags, "--off-gear=pad runs the next larger one");
    return ok;
}

static bool choose(struct given_shapes *shapes)
{
    const struct input *input = shapes->input;
    shapes->chosen = given_graphs(input);
    shapes->meant = given_graphs_meant(input, shapes->chosen);
    return given_graphs_check(input, shapes->chosen, shapes->meant, &shapes->at, &shapes->bindings);
}

/* Whether the command can do with --off-gear=pad what it cannot do without: by a trial. */
static bool can_pad(const struct given_shapes *shapes, const struct graph *graph)
{
    struct module *module = shapes->input->module;
    if (graph->cases.count || !option_exists(shapes->input->invocation, "off-gear"))
        return false;
    struct input silent = *shapes->input;
    struct padding padding = {.elements = 0};
    struct given_shapes trial = {
        .input = &silent, .at = shapes->at, .mode = OFF_GEAR_PAD, .padding = &padding, .ok = true};
    struct graph copy = graph_copy(graph);
    diags_init(&silent.diags, shapes->input->diags.source, shapes->input->diags.path);
    for (uint32_t i = 0; i < shapes->bindings.count; i++)
        vec_push(&trial.bindings, shapes->bindings.at[i]);
    trial.chosen = mem_calloc(module->graphs.count, 1);
    trial.chosen[graph_id(module, graph)] = 1;
    while (trial.ok && each_wanted(&trial, settle))
        continue;
    narrow_gears(&trial);
    bool can = trial.ok && settle_graph(&trial, &copy) && padding.combination.size > 0;
    graph_free(&copy);
    padding_free(&padding);
    vec_free(&trial.bindings);
    mem_free(trial.chosen);
    diags_free(&silent.diags);
    return can;
}

static enum exit_status bind_all(struct given_shapes *shapes)
{
    struct input *input = shapes->input;
    enum exit_status status = bind_argument_read(input, &shapes->bindings);
    if (status != EXIT_DONE)
        return status;
    shapes->n_bound = shapes->bindings.count;
    if (!shape_arguments_read(&shapes->at, shapes->input->invocation) || !choose(shapes))
        return EXIT_USAGE;
    if (!check_all_bindings(shapes)) {
        bind_values(shapes); /* of other graphs, to find what else is wrong */
        return EXIT_INPUT;
    }
    bool ok = fill_types(shapes);
    if (!all_are_used(shapes))
        return EXIT_USAGE;
    while (ok && shapes->ok && each_wanted(shapes, settle))
        continue;
    if (ok && shapes->at.count + shapes->bindings.count > 0)
        narrow_gears(shapes);
    ok = ok && shapes->ok && settle_gears(shapes) && bind_values(shapes);
    mem_free(shapes->chosen); /* indices have changed */
    shapes->chosen = given_graphs(input);
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
    mem_free(shapes.meant);
    return status;
}
