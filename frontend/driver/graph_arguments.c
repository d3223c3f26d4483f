/* What --bind, --shape, --input and --graph give the graphs of a file.
 *
 * Shapes of parameters are equations: a dimension such as `2*b + 1` is a number. Those with one
 * unknown name are solved until none is left, which gives values of names. Each combination of
 * gears that has other values or dimensions is left out; a gear that is the same in all that are
 * left gets that value. Then values replace names in the types of graphs, shapes replace `?`, and
 * types that follow from others are inferred again. */
#include "frontend/driver/graph_arguments.h"
#include "frontend/tensor/npy.h"
#include "ir/analysis/op_infer.h"
#include "ir/core/calls.h"
#include "ir/shapes/gears.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Values of names, each once. */
struct dim_bindings {
    struct dim_binding *at;
    uint32_t count, capacity;
};

struct arguments {
    struct input *input;
    struct module *module;
    struct diags *diags;
    struct dim_bindings bindings;
    struct shape_arguments shapes;
    uint8_t *chosen; /* by graph: whose parameters are meant */
    uint8_t *meant;  /* by graph: whose names are; all, or with --graph what it calls, too */
    bool ok;         /* no error was reported */
};

static const struct dim_binding *find_binding(const struct dim_bindings *bindings, uint32_t name)
{
    for (uint32_t i = 0; i < bindings->count; i++)
        if (bindings->at[i].name == name)
            return &bindings->at[i];
    return NULL;
}

/* ---------------------------------------------------------------------------- options ---- */

/* Moves the text to the end of the number. */
static bool read_number(const char **text, int64_t *number)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *number = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* The shape NAME=... of an option, without dimensions. The name may have its `%`. */
static struct given_shape named_shape(const char *text, const char *sign, const char *from)
{
    const char *name = text + (*text == '%');
    return (struct given_shape){.name = name, .size = (size_t)(sign - name), .from = from};
}

bool shape_arguments_read(struct shape_arguments *shapes, const struct invocation *invocation)
{
    struct npy_header header;
    const char *text;
    char error[512];
    for (unsigned i = 0; (text = option_value_at(invocation, "shape", i)); i++) {
        const char *sign = strchr(text, '='), *at = sign ? sign + 1 : "";
        struct given_shape shape = named_shape(text, sign ? sign : text, "--shape");
        bool right = sign != NULL;
        for (; right && *at; shape.rank++) /* "2,4", or nothing of a scalar */
            right = (shape.rank == 0 || *at++ == ',') && shape.rank < MAX_RANK &&
                    read_number(&at, &shape.dims[shape.rank]);
        if (!right)
            return usage_fail(invocation, "--shape %s: expected NAME=N,N,..., whole numbers from 0",
                              text);
        vec_push(shapes, shape);
    }
    for (unsigned i = 0; (text = option_value_at(invocation, "input", i)); i++) {
        const char *sign = strchr(text, '=');
        /* A file that cannot be read is reported where its contents are read. */
        if (!sign || !tensor_spec_is_file(sign + 1) ||
            !npy_read_header(&header, sign + 1, error, sizeof error))
            continue;
        struct given_shape shape = named_shape(text, sign, sign + 1);
        shape.file = true;
        shape.rank = header.rank;
        memcpy(shape.dims, header.dims, header.rank * sizeof *header.dims);
        vec_push(shapes, shape);
    }
    return true;
}

static const char *named_graph(const struct arguments *arguments)
{
    return option_value(arguments->input->invocation, "graph");
}

/* Whether any graph, or one of those that are marked, declares the name. Else a usage error, for
 * `name` as --bind has it. */
static bool check_name(const struct arguments *arguments, const uint8_t *marks, const char *name,
                       size_t size)
{
    const struct module *module = arguments->module;
    const struct invocation *invocation = arguments->input->invocation;
    struct suggest suggest = {.wanted = name, .wanted_size = size};
    uint32_t id = intern_find(&module->names, name, size);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        if (marks && !marks[i])
            continue;
        if (id != NONE && graph_declares_dim(graph, id))
            return true;
        for (uint32_t n = 0; n < graph->dims.count; n++)
            name_offer(&suggest, module, graph->dims.at[n].name);
        for (uint32_t n = 0; n < graph->gears.count; n++)
            name_offer(&suggest, module, graph->gears.at[n].name);
    }
    if (!marks)
        return usage_fail(invocation, "--bind: no graph declares the dimension '%.*s'%s", (int)size,
                          name, suggest_end(&suggest).text);
    return usage_fail(invocation, "--bind: the graph '%s' declares no dimension '%.*s'%s",
                      named_graph(arguments), (int)size, name, suggest_end(&suggest).text);
}

/* The values of --bind. A name has one value, however often it is given. */
static bool read_bindings(struct arguments *arguments)
{
    const struct invocation *invocation = arguments->input->invocation;
    const struct module *module = arguments->module;
    const char *text;
    for (unsigned i = 0; (text = option_value_at(invocation, "bind", i)); i++) {
        const char *sign = strchr(text, '='), *at = sign ? sign + 1 : "";
        struct dim_binding binding = {.name = NONE};
        if (!read_number(&at, &binding.value) || *at)
            return usage_fail(invocation, "--bind %s: expected NAME=N, a whole number from 0",
                              text);
        size_t size = (size_t)(sign - text);
        binding.name = intern_find(&module->names, text, size);
        const struct dim_binding *other = find_binding(&arguments->bindings, binding.name);
        bool declared = false;
        for (uint32_t n = 0; binding.name != NONE && n < module->graphs.count; n++)
            declared = declared || graph_declares_dim(&module->graphs.at[n], binding.name);
        if (!declared && input_is_compared(arguments->input))
            continue; /* it is of the other file */
        if (!check_name(arguments, NULL, text, size))
            return false;
        if (other && other->value != binding.value)
            return usage_fail(invocation, "--bind gives '%.*s' twice, as %lld and %lld", (int)size,
                              text, (long long)other->value, (long long)binding.value);
        if (!other)
            vec_push(&arguments->bindings, binding);
    }
    return true;
}

/* ----------------------------------------------------------------------------- graphs ---- */

/* Takes out the graphs that are marked in `gone`, by index, which no others name, and entries that
 * are those of their super kernels and of no others'. */
static void drop_graphs(struct module *module, const uint8_t *gone)
{
    uint8_t *entries = mem_calloc(module->entries.count, 1);
    for (int mark = 1; mark >= 0; mark--)
        for (uint32_t i = 0; i < module->graphs.count; i++) {
            const struct graph *graph = &module->graphs.at[i];
            for (uint32_t b = 0; gone[i] == mark && b < graph->blocks.count; b++) {
                const struct entry *entry = block_entry(module, &graph->blocks.at[b]);
                if (entry)
                    entries[entry_id(module, entry)] = (uint8_t)mark;
            }
        }
    module_drop(module, SYMBOL_ENTRY, entries);
    mem_free(entries);
    module_drop(module, SYMBOL_GRAPH, gone);
}

void graphs_keep_reached(struct module *module, const char *name)
{
    uint32_t id = intern_find(&module->names, name, strlen(name));
    const struct graph *graph = id == NONE ? NULL : module_find_graph(module, id);
    if (!graph)
        return;
    uint8_t *reached = mem_calloc(module->graphs.count, 1);
    reached[graph_id(module, graph)] = 1;
    graphs_mark_reached(module, reached);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        reached[i] = !reached[i];
    drop_graphs(module, reached);
    mem_free(reached);
}

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

void outer_graphs_report(const struct invocation *invocation, const struct module *module,
                         const uint8_t *marks, const char *having)
{
    enum { MAX_NAMES = 8 }; /* in the message */
    struct text names = {NULL, 0, 0};
    uint32_t count = 0, n = 0;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        count += marks[i] != 0;
    for (uint32_t i = 0; i < module->graphs.count && n < MAX_NAMES; i++) {
        if (!marks[i])
            continue;
        const char *between = n == 0 ? "" : n + 1 == count ? " or " : ", ";
        text_printf(&names, "%s'%.*s'", between, NAME(module, module->graphs.at[i].name));
        n++;
    }
    if (count > n)
        text_printf(&names, " or %u more", count - n);
    if (having)
        text_printf(&names, ", which %s %s", count == 1 ? "has" : "have", having);
    usage_error(invocation,
                "the file has several graphs that no other calls; choose one by --graph: %.*s",
                (int)names.size, names.at);
    text_free(&names);
}

/* The graphs that are chosen, by index: that of --graph, or those that no other calls. */
static uint8_t *choose_graphs(const struct arguments *arguments)
{
    const struct module *module = arguments->module;
    const char *name = named_graph(arguments);
    uint8_t *chosen = mem_calloc(module->graphs.count, 1);
    if (!name)
        outer_graphs_mark(module, chosen);
    for (uint32_t i = 0; name && i < module->graphs.count; i++)
        chosen[i] = name_is(module, module->graphs.at[i].name, name);
    return chosen;
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

/* Asks for one of several graphs: those that have all that is given, or all where none has. */
static void report_several(const struct arguments *arguments)
{
    const struct module *module = arguments->module;
    const struct dim_bindings *bindings = &arguments->bindings;
    const struct shape_arguments *shapes = &arguments->shapes;
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
        const struct graph *graph = &module->graphs.at[i];
        having[i] = arguments->chosen[i];
        for (uint32_t n = 0; n < bindings->count; n++)
            having[i] = having[i] && graph_declares_dim(graph, bindings->at[n].name);
        for (uint32_t n = 0; n < shapes->count; n++)
            having[i] = having[i] && given_param(module, graph, &shapes->at[n]) != NONE;
        any = any || having[i];
    }
    outer_graphs_report(arguments->input->invocation, module, any ? having : arguments->chosen,
                        any ? given.at : NULL);
    text_free(&given);
    mem_free(having);
}

/* Where the command is about one graph, what is given is of that one. A file that it is compared
 * with has one of the same name. */
static bool choose(struct arguments *arguments)
{
    const struct input *input = arguments->input;
    const struct module *module = arguments->module;
    uint32_t count = 0, n_given = arguments->shapes.count + arguments->bindings.count;
    arguments->chosen = choose_graphs(arguments);
    arguments->meant = mem_calloc(module->graphs.count, 1);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        count += arguments->chosen[i];
        arguments->meant[i] = !named_graph(arguments) || arguments->chosen[i];
    }
    graphs_mark_reached(module, arguments->meant);
    if (count > 1 && n_given > 0 && option_exists(input->invocation, "graph") &&
        !named_graph(arguments) && !input_is_compared(input)) {
        report_several(arguments);
        return false;
    }
    bool ok = true, any = memchr(arguments->meant, 1, module->graphs.count) != NULL;
    for (uint32_t i = 0; ok && any && i < arguments->bindings.count; i++) {
        const struct intern_name *name = &module->names.names[arguments->bindings.at[i].name];
        ok = check_name(arguments, arguments->meant, name->text, name->size);
    }
    return ok;
}

/* ----------------------------------------------------------------------------- shapes ---- */

/* A dimension of a parameter and what it is to be. */
struct wanted {
    struct arguments *arguments;
    struct graph *graph;
    const struct given_shape *shape;
    uint32_t param, dim;
    int64_t declared, given;
};

static struct span wanted_span(const struct wanted *wanted)
{
    return locate_token(wanted->arguments->module, wanted->graph->params.at[wanted->param].loc);
}

/* "dimension 0 of '%x'". */
static const char *wanted_text(const struct wanted *wanted)
{
    return arena_printf(
        &wanted->arguments->diags->arena, "dimension %u of '%%%.*s'", wanted->dim,
        NAME(wanted->arguments->module, wanted->graph->values.at[wanted->param].name));
}

static void report_dim(const struct wanted *wanted, int64_t dim)
{
    struct diags *diags = wanted->arguments->diags;
    const char *is = dim_is_gear(dim) ? arena_printf(&diags->arena, "%.*s",
                                                     NAME(wanted->arguments->module, dim_gear(dim)))
                                      : arena_printf(&diags->arena, "%lld", (long long)dim);
    wanted->arguments->ok = false;
    diag_at(diags, DIAG_type_mismatch, wanted_span(wanted), "%s is %s, but %lld by %s",
            wanted_text(wanted), is, (long long)wanted->given, wanted->shape->from);
}

/* Calls `visit` for each dimension of each chosen graph, or of `graph` alone, that a shape gives,
 * until there is an error. Returns whether one of the calls did. */
typedef bool wanted_visit(const struct wanted *wanted, void *user);
static bool each_wanted(struct arguments *arguments, const struct graph *only, wanted_visit *visit,
                        void *user)
{
    const struct module *module = arguments->module;
    bool any = false;
    for (uint32_t g = 0; g < module->graphs.count; g++)
        for (uint32_t i = 0; arguments->chosen[g] && i < arguments->shapes.count; i++) {
            struct graph *graph = &module->graphs.at[g];
            const struct given_shape *shape = &arguments->shapes.at[i];
            uint32_t param = given_param(module, graph, shape);
            if (param == NONE || (only && only != graph) ||
                module->types.at[graph->values.at[param].type].rank != shape->rank)
                continue;
            for (uint32_t d = 0; d < shape->rank && arguments->ok; d++) {
                int64_t declared = type_dims(module, graph->values.at[param].type)[d];
                const struct wanted wanted = {arguments, graph,    shape,         param,
                                              d,         declared, shape->dims[d]};
                any = visit(&wanted, user) || any;
            }
        }
    return any;
}

/* Puts shapes in the place of what is not known of the types of parameters. False, with an error,
 * where the number of dimensions is another; that of a file is reported where its contents are
 * read. */
static bool fill_types(struct arguments *arguments)
{
    struct module *module = arguments->module;
    bool ok = true;
    for (uint32_t g = 0; g < module->graphs.count; g++)
        for (uint32_t i = 0; arguments->chosen[g] && i < arguments->shapes.count; i++) {
            struct given_shape *shape = &arguments->shapes.at[i];
            const struct graph *graph = &module->graphs.at[g];
            uint32_t param = given_param(module, graph, shape);
            if (param == NONE)
                continue;
            uint32_t *id = &graph->values.at[param].type;
            const struct type type = module->types.at[*id];
            int64_t dims[MAX_RANK];
            shape->used = true;
            if (type.rank != RANK_UNKNOWN && type.rank != shape->rank) {
                ok = ok && shape->file;
                if (!shape->file)
                    diag_at(arguments->diags, DIAG_type_mismatch,
                            locate_token(module, graph->params.at[param].loc),
                            "'%%%.*s' has %u dimension%s, but %u by %s",
                            NAME(module, graph->values.at[param].name), type.rank,
                            type.rank == 1 ? "" : "s", shape->rank, shape->from);
                continue;
            }
            for (uint32_t d = 0; d < shape->rank; d++) {
                int64_t declared =
                    type.rank == RANK_UNKNOWN ? DIM_UNKNOWN : type_dims(module, *id)[d];
                dims[d] = declared == DIM_UNKNOWN ? shape->dims[d] : declared;
            }
            *id = module_type(module, type.dtype, type.format, dims, shape->rank);
        }
    return ok;
}

/* Names of --shape; those of --input are looked up where values are filled. */
static bool all_are_used(const struct arguments *arguments)
{
    const struct module *module = arguments->module;
    for (uint32_t i = 0; i < arguments->shapes.count && !input_is_compared(arguments->input); i++) {
        const struct given_shape *shape = &arguments->shapes.at[i];
        struct suggest suggest = {.wanted = shape->name, .wanted_size = shape->size};
        if (shape->used || shape->file)
            continue;
        for (uint32_t g = 0; g < module->graphs.count; g++)
            for (uint32_t n = 0; arguments->chosen[g] && n < module->graphs.at[g].n_params; n++)
                name_offer(&suggest, module, module->graphs.at[g].values.at[n].name);
        return usage_fail(arguments->input->invocation,
                          "--shape: no graph has the parameter '%.*s'%s", (int)shape->size,
                          shape->name, suggest_end(&suggest).text);
    }
    return true;
}

/* Solves the dimension with what is known so far; false where nothing more is known then. */
static bool solve(const struct wanted *wanted, void *unused)
{
    (void)unused;
    struct arguments *arguments = wanted->arguments;
    struct dim_sum sum;
    struct dim_binding solution;
    int64_t dim = wanted->declared;
    if (dim_bind(arguments->module, dim, arguments->bindings.at, arguments->bindings.count, &dim) !=
        DIM_FINE)
        return false;
    if (!dim_is_gear(dim)) {
        bool of_file = wanted->shape->file && !dim_is_gear(wanted->declared);
        if (dim != DIM_UNKNOWN && dim != wanted->given && !of_file)
            report_dim(wanted, dim);
        return false;
    }
    dim_to_sum(arguments->module, dim, &sum);
    if (!dim_sum_has_one_name(&sum))
        return false;
    if (dim_sum_solve(&sum, wanted->given, &solution)) {
        vec_push(&arguments->bindings, solution);
        return true;
    }
    if (!graph_find_gear(wanted->graph, sum.terms[0].names[0])) /* else narrow_gears() reports it */
        report_dim(wanted, dim);
    return false;
}

/* Other options have decided the dimension: by `zip`, or by a product of names. */
static bool check_bound(const struct wanted *wanted, void *unused)
{
    (void)unused;
    int64_t dim = wanted->declared;
    if (!dim_is_gear(dim) && dim != DIM_UNKNOWN && dim != wanted->given && !wanted->shape->file)
        report_dim(wanted, dim);
    return false;
}

/* ------------------------------------------------------------------------------ gears ---- */

/* Whether a combination has the values. */
static bool row_fits(const struct graph *graph, const struct dim_bindings *bindings,
                     const int64_t *row)
{
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct dim_binding *binding = find_binding(bindings, graph->gears.at[i].name);
        if (binding && binding->value != row[i])
            return false;
    }
    return true;
}

/* Adds a help to the last diagnostic that lists the combinations of gears of a graph. */
static void help_combinations(struct module *module, const struct graph *graph, struct diags *diags)
{
    enum { MOST_LISTED = 16 };
    struct text text = {NULL, 0, 0};
    struct gear_rows_left_out left_out;
    struct gear_table table;
    uint32_t count = 0;
    if (!gear_table_init_left(&table, graph))
        return;
    gear_rows_find(&left_out, module, graph_id(module, graph), diags);
    for (uint32_t i = 0; i < table.n_rows; i++) {
        if ((graph->cases.count == 0 && gear_row_is_marked(graph, i)) || count++ >= MOST_LISTED)
            continue;
        text_string(&text, text.size ? "; " : "");
        gear_row_text(&text, module, graph, gear_table_row(&table, i));
    }
    if (count > MOST_LISTED)
        text_printf(&text, "; and %u more", count - MOST_LISTED);
    if (count)
        diag_help(diags, "%s %.*s", count == 1 ? "the only combination is" : "the combinations are",
                  (int)text.size, text.at);
    gear_rows_left_out_free(&left_out);
    gear_table_free(&table);
    text_free(&text);
}

/* The combinations of a graph that are left by what is known of it. */
struct row_search {
    struct gear_table table;
    uint8_t *out; /* by row: something is known that it does not have */
};

/* Leaves out the rows that do not have the dimension. */
static bool leave_out(const struct wanted *wanted, void *user)
{
    struct row_search *search = user;
    for (uint32_t i = 0; dim_is_gear(wanted->declared) && i < search->table.n_rows; i++) {
        int64_t dim = gear_row_dim(wanted->arguments->module, wanted->graph,
                                   gear_table_row(&search->table, i), wanted->declared);
        search->out[i] = search->out[i] || (dim >= 0 && dim != wanted->given);
    }
    return dim_is_gear(wanted->declared);
}

/* Reports a dimension that no row has. */
static bool report_missing(const struct wanted *wanted, void *user)
{
    const struct row_search *search = user;
    struct arguments *arguments = wanted->arguments;
    if (!dim_is_gear(wanted->declared))
        return false;
    for (uint32_t i = 0; i < search->table.n_rows; i++) {
        int64_t dim = gear_row_dim(arguments->module, wanted->graph,
                                   gear_table_row(&search->table, i), wanted->declared);
        if (dim < 0 || dim == wanted->given) /* negative: it depends on other names */
            return false;
    }
    arguments->ok = false;
    if (diag_at(arguments->diags, DIAG_gear, wanted_span(wanted),
                "%s is %lld by %s, but no combination of gears has that", wanted_text(wanted),
                (long long)wanted->given, wanted->shape->from))
        help_combinations(arguments->module, wanted->graph, arguments->diags);
    return true;
}

/* Gears that are one number in all rows that are left get it. False where none is left. */
static bool bind_common(struct arguments *arguments, const struct graph *graph,
                        const struct row_search *search)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        struct dim_binding binding = {graph->gears.at[i].name, -1};
        bool same = true;
        for (uint32_t row = 0; row < search->table.n_rows; row++) {
            int64_t value = gear_table_row(&search->table, row)[i];
            if (search->out[row])
                continue;
            any = true;
            same = same && (binding.value < 0 || binding.value == value);
            binding.value = value;
        }
        if (same && any && !find_binding(&arguments->bindings, binding.name))
            vec_push(&arguments->bindings, binding);
    }
    return any;
}

/* Dimensions that are products or sums of gears are those of one combination. */
static void narrow_gears(struct arguments *arguments, const struct graph *graph)
{
    struct row_search search;
    if (!gear_table_init_left(&search.table, graph))
        return; /* expand-gears reports it */
    search.out = mem_calloc(search.table.n_rows, 1);
    for (uint32_t i = 0; i < search.table.n_rows; i++)
        search.out[i] = !row_fits(graph, &arguments->bindings, gear_table_row(&search.table, i));
    bool fits = bind_common(arguments, graph, &search); /* else bind_gears() reports the values */
    if (each_wanted(arguments, graph, leave_out, &search) &&
        !bind_common(arguments, graph, &search) &&
        !each_wanted(arguments, graph, report_missing, &search) && fits) {
        arguments->ok = false; /* each dimension is that of some row, but no row has all */
        if (diag_at(arguments->diags, DIAG_gear, locate_name(arguments->module, graph->loc),
                    "no combination of gears has all of these shapes"))
            help_combinations(arguments->module, graph, arguments->diags);
    }
    mem_free(search.out);
    gear_table_free(&search.table);
}

/* ---------------------------------------------------------------------------- binding ---- */

/* "b = 2, c = 4", appended: of all names, or of the gears of a graph alone. */
static void put_values(struct text *text, const struct module *module,
                       const struct dim_bindings *bindings, const struct graph *gears_of)
{
    for (uint32_t i = 0; i < bindings->count; i++)
        if (!gears_of || graph_find_gear(gears_of, bindings->at[i].name))
            text_printf(text, "%s%.*s = %lld", text->size ? ", " : "",
                        NAME(module, bindings->at[i].name), (long long)bindings->at[i].value);
}

/* Values of a gear that is not given: those of the rows that fit, by position. It is given where
 * they are all one. */
static void zip_gear(struct graph *graph, struct dim_bindings *bindings,
                     const struct gear_table *table, uint32_t gear)
{
    struct range values = {graph->gear_values.count, 0};
    bool same = true;
    for (uint32_t i = 0; i < table->n_rows; i++)
        if (row_fits(graph, bindings, gear_table_row(table, i))) {
            vec_push(&graph->gear_values, gear_table_row(table, i)[gear]);
            same = same && graph->gear_values.at[values.first] ==
                               graph->gear_values.at[values.first + values.count];
            values.count++;
        }
    graph->gears.at[gear].values = values;
    if (same)
        vec_push(bindings, (struct dim_binding){graph->gears.at[gear].name,
                                                graph->gear_values.at[values.first]});
}

/* Keeps the rows that have the values; marks the graphs of others in `gone`. False, with an error,
 * where there is no such row. */
static bool bind_gears(struct arguments *arguments, struct graph *graph,
                       struct dim_bindings *bindings, uint8_t *gone)
{
    struct module *module = arguments->module;
    struct text given = {NULL, 0, 0};
    struct gear_table table;
    bool any = false;
    put_values(&given, module, bindings, graph);
    if (!given.size || !gear_table_init_left(&table, graph)) {
        text_free(&given);
        return true; /* of too many combinations, expand-gears reports it */
    }
    for (uint32_t i = 0; i < table.n_rows; i++)
        any = any || row_fits(graph, bindings, gear_table_row(&table, i));
    if (!any && diag_at(arguments->diags, DIAG_gear, locate_token(module, graph->gears.at[0].loc),
                        "no combination of gears has %.*s", (int)given.size, given.at))
        help_combinations(module, graph, arguments->diags);
    text_free(&given);
    uint32_t kept = 0;
    for (uint32_t i = 0; any && i < graph->cases.count; i++) {
        const struct gear_case row = graph->cases.at[i];
        if (row_fits(graph, bindings, graph->gear_values.at + row.values.first))
            graph->cases.at[kept++] = row;
        else
            gone[id_map_get(&module->named[SYMBOL_GRAPH], row.graph)] = 1;
    }
    graph->cases.count = any ? kept : graph->cases.count;
    bool zips = any && graph->gear_mode == GEARS_ZIP && graph->cases.count == 0;
    for (uint32_t i = 0; zips && i < graph->gears.count; i++)
        if (!find_binding(bindings, graph->gears.at[i].name))
            zip_gear(graph, bindings, &table, i);
    gear_table_free(&table);
    return any;
}

/* Puts values in the place of names in the types of a graph, which then declares the names no more.
 * The gears of an expanded graph stay: its rows are theirs. */
static bool bind_graph(struct arguments *arguments, struct graph *graph,
                       struct dim_bindings *bindings, uint8_t *gone)
{
    struct module *module = arguments->module;
    struct bind_fault fault;
    for (uint32_t i = 0; i < arguments->bindings.count; i++)
        if (graph_declares_dim(graph, arguments->bindings.at[i].name))
            vec_push(bindings, arguments->bindings.at[i]);
    if (bindings->count == 0)
        return true;
    if (!bind_gears(arguments, graph, bindings, gone))
        return false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bindings->count; i++)
        if (!graph->cases.count || !graph_find_gear(graph, bindings->at[i].name))
            bindings->at[kept++] = bindings->at[i];
    bindings->count = kept;
    if (!graph_bind_types(module, graph, bindings->at, bindings->count, &fault)) {
        diag_at(arguments->diags, DIAG_number_range, locate_name(module, graph->loc),
                "with these values, the dimension '%.*s' %s", NAME(module, dim_gear(fault.dim)),
                dim_fault_text(fault.fault));
        return false;
    }
    graph_drop_names(graph, bindings->at, bindings->count);
    return true;
}

static const char *values_text(const struct diag_copy *copy, struct arena *arena)
{
    return arena_strndup(arena, copy->whole, strlen(copy->whole));
}

/* Infers types of a graph that are not written but follow; after values were bound all that are not
 * written. Errors name the values: those of the graph; else of graphs that it calls, where calls
 * may not fit any more. */
static bool settle_graph(struct arguments *arguments, uint32_t id,
                         const struct dim_bindings *bindings)
{
    struct module *module = arguments->module;
    struct graph *graph = &module->graphs.at[id];
    struct diags *diags = arguments->diags;
    struct text values = {NULL, 0, 0};
    if (bindings) {
        uint8_t *called = mem_calloc(module->graphs.count, 1);
        graph_mark_called(module, graph, called);
        put_values(&values, module, &bindings[id], NULL);
        for (uint32_t i = 0; i < module->graphs.count && !values.size; i++)
            if (called[i])
                put_values(&values, module, &bindings[i], NULL);
        mem_free(called);
    }
    bool any = values.size > 0;
    text_char(&values, '\0');
    if (any)
        diags->copy = (struct diag_copy){values_text, values.at, NONE};
    bool inferred = bindings && graph->untyped;
    bool ok = !inferred || infer_graph_types(module, graph, diags);
    bool refined = ok && refine_result_types(module, graph);
    if (ok && (inferred || refined || any))
        ok = verify_graph_alone(module, graph, diags);
    diags->copy = (struct diag_copy){NULL, NULL, 0};
    text_free(&values);
    return ok;
}

/* All graphs have their values before calls are checked against them. Indices of graphs change. */
static bool bind_graphs(struct arguments *arguments)
{
    struct module *module = arguments->module;
    uint32_t count = module->graphs.count;
    bool given = arguments->shapes.count + arguments->bindings.count > 0, ok = true;
    struct dim_bindings *bindings = given ? mem_calloc(count, sizeof *bindings) : NULL;
    uint8_t *gone = mem_calloc(count, 1), *named = mem_calloc(count, 1);
    for (uint32_t i = 0; given && i < count; i++)
        if (arguments->meant[i])
            ok = bind_graph(arguments, &module->graphs.at[i], &bindings[i], gone) && ok;
    for (uint32_t i = 0; i < count; i++)
        ok = settle_graph(arguments, i, bindings) && ok;
    /* Graphs of combinations that are left out, but those that others name. */
    graphs_mark_named(module, named);
    for (uint32_t i = 0; given && i < count; i++) {
        gone[i] = gone[i] && !named[i];
        vec_free(&bindings[i]);
    }
    if (given)
        drop_graphs(module, gone);
    mem_free(bindings);
    mem_free(gone);
    mem_free(named);
    return ok;
}

static enum exit_status bind(struct arguments *arguments)
{
    const struct module *module = arguments->module;
    if (!read_bindings(arguments) ||
        !shape_arguments_read(&arguments->shapes, arguments->input->invocation) ||
        !choose(arguments))
        return EXIT_USAGE;
    bool ok = fill_types(arguments);
    if (!all_are_used(arguments))
        return EXIT_USAGE;
    while (ok && arguments->ok && each_wanted(arguments, NULL, solve, NULL))
        continue;
    bool given = arguments->shapes.count + arguments->bindings.count > 0;
    for (uint32_t g = 0; ok && given && arguments->ok && g < module->graphs.count; g++)
        if (arguments->chosen[g] && module->graphs.at[g].gear_mode != GEARS_NONE)
            narrow_gears(arguments, &module->graphs.at[g]);
    if (!ok || !arguments->ok || !bind_graphs(arguments))
        return EXIT_INPUT;
    mem_free(arguments->chosen); /* indices have changed */
    arguments->chosen = choose_graphs(arguments);
    each_wanted(arguments, NULL, check_bound, NULL);
    return arguments->ok ? EXIT_DONE : EXIT_INPUT;
}

enum exit_status given_shapes_bind(struct input *input)
{
    struct arguments arguments = {
        .input = input, .module = input->module, .diags = &input->diags, .ok = true};
    enum exit_status status = bind(&arguments);
    vec_free(&arguments.bindings);
    vec_free(&arguments.shapes);
    mem_free(arguments.chosen);
    mem_free(arguments.meant);
    return status;
}
