/* The verifier's part for gears, and for the rows that they were expanded to. */
#include "ir/analysis/modref.h"
#include "ir/shapes/gears.h"
#include "ir/support/text.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------------- gears ---- */

static bool verify_name(struct graph_verifier *gv, const struct gear *gear)
{
    uint32_t free = NONE;
    if (!marks_set(gv->verifier, gear->name, NONE, &free))
        return true;
    if (diag_at(gv->diags, DIAG_duplicate, locate_token(gv->module, gear->loc),
                free == NONE ? "the gear '%.*s' stands twice" : "the gear '%.*s' stands in 'dims'",
                NAME(gv->module, gear->name)) &&
        free != NONE)
        diag_help(gv->diags, "a gear declares its name itself");
    return false;
}

static bool verify_values(struct graph_verifier *gv, const struct gear *gear)
{
    const struct module *module = gv->module;
    const int64_t *values = gv->graph->gear_values.at + gear->values.first;
    bool ok = gear->values.count >= 2 && gear->values.count <= GEARS_MAX_VALUES;
    bool more = gear->values.count > GEARS_MAX_VALUES;
    if (!ok &&
        diag_at(gv->diags, DIAG_gear,
                more ? locate_listed(module, gear->loc, GEARS_MAX_VALUES)
                     : locate_token(module, gear->loc),
                "the gear '%.*s' has %u value%s, not 2 to %d", NAME(module, gear->name),
                gear->values.count, gear->values.count == 1 ? "" : "s", GEARS_MAX_VALUES) &&
        gear->values.count == 1)
        diag_help(gv->diags, "write %lld itself for '%.*s'", (long long)values[0],
                  NAME(module, gear->name));
    for (uint32_t i = 0; i < gear->values.count; i++)
        if (values[i] < 2) {
            ok = false;
            if (diag_at(gv->diags, DIAG_gear, locate_listed(module, gear->loc, i),
                        "%lld is not allowed as a value of gear '%.*s'", (long long)values[i],
                        NAME(module, gear->name)))
                diag_help(gv->diags, "%s",
                          values[i] == 1
                              ? "a size of 1 is broadcast, so that it is another graph: write "
                                "that one, too, or pad 1 to the next larger value"
                              : "a gear lists the sizes, from 2 on, that its dimension has");
        }
    return ok;
}

static bool verify_length(struct graph_verifier *gv, const struct gear *gear)
{
    const struct gear *first = &gv->graph->gears.at[0];
    if (gv->graph->gear_mode != GEARS_ZIP || gear->values.count == first->values.count)
        return true;
    bool more = gear->values.count > first->values.count;
    if (diag_at(gv->diags, DIAG_gear,
                more ? locate_listed(gv->module, gear->loc, first->values.count)
                     : locate_token(gv->module, gear->loc),
                "'zip' pairs values by position, but '%.*s' has %u and '%.*s' has %u",
                NAME(gv->module, gear->name), gear->values.count, NAME(gv->module, first->name),
                first->values.count))
        diag_help(gv->diags, "'product' combines each value with each of the others");
    return false;
}

/* What runs is chosen by the shapes of parameters: one has the gear in its shape, but none that is
 * stored in another order of elements. */
static bool verify_gear_use(struct graph_verifier *gv, const struct gear *gear)
{
    const struct module *module = gv->module;
    bool used = false;
    for (uint32_t p = 0; p < gv->graph->n_params; p++) {
        uint32_t id = gv->graph->values.at[p].type;
        const struct type *type = &module->types.at[id];
        bool has = false;
        for (uint32_t i = 0; i < type_n_dims(type); i++)
            has = has || dim_has_name(module, type_dims(module, id)[i], gear->name);
        used = used || has;
        if (has && !format_is_plain(module, type->format))
            diag_at(gv->diags, DIAG_gear, locate_param_type(module, &gv->graph->params.at[p]),
                    "the shape of '%%%.*s' cannot have the gear '%.*s': its format is %.*s",
                    NAME(module, gv->graph->values.at[p].name), NAME(module, gear->name),
                    NAME(module, type->format));
    }
    if (!used && diag_at(gv->diags, DIAG_gear, locate_token(module, gear->loc),
                         "no parameter has the gear '%.*s' in its shape", NAME(module, gear->name)))
        diag_help(gv->diags, "shapes of parameters choose what runs: write '%.*s' in one of them",
                  NAME(module, gear->name));
    return used;
}

static void report_same(struct graph_verifier *gv, const struct gear_table *table, uint32_t row,
                        uint32_t other)
{
    struct text text = {NULL, 0, 0};
    gear_row_text(&text, gv->module, gv->graph, gear_table_row(table, row));
    text_string(&text, " and ");
    gear_row_text(&text, gv->module, gv->graph, gear_table_row(table, other));
    if (diag_at(gv->diags, DIAG_gear, locate_token(gv->module, gv->graph->gears.at[0].loc),
                "parameters have the same shapes with %.*s", (int)text.size, text.at))
        diag_help(gv->diags, "shapes choose what runs: a parameter with a gear by itself in a "
                             "dimension tells them apart");
    text_free(&text);
}

/* A dimension that is not known has other names than gears, or is too large: expand-gears tells of
 * that, and of these no two are alike. */
static bool is_too_large(const struct graph_verifier *gv, int64_t dim)
{
    struct dim_sum sum;
    dim_to_sum(gv->module, dim, &sum);
    for (uint32_t i = 0; i < sum.count; i++)
        for (uint32_t n = 0; n < sum.terms[i].degree; n++)
            if (!graph_find_gear(gv->graph, sum.terms[i].names[n]))
                return false;
    return true;
}

/* The dimensions of parameters that have names, each once, with the values of a row for gears tell
 * which combination it is. */
static void verify_shapes(struct graph_verifier *gv, const struct gear_table *table)
{
    VEC(int64_t) dims = {NULL, 0, 0};
    struct id_map found = {NULL, 0, 0};
    for (uint32_t p = 0; p < gv->graph->n_params; p++) {
        uint32_t type = gv->graph->values.at[p].type;
        for (uint32_t d = 0; d < type_n_dims(&gv->module->types.at[type]); d++) {
            int64_t dim = type_dims(gv->module, type)[d];
            if (!dim_is_gear(dim) || id_map_find(&found, dim_gear(dim)) != NONE)
                continue;
            id_map_set(&found, dim_gear(dim), 0);
            vec_push(&dims, dim);
        }
    }
    id_map_free(&found);
    size_t n = dims.count;
    int64_t *rows = mem_calloc(table->n_rows * n, sizeof *rows);
    for (uint32_t i = 0; i < table->n_rows; i++)
        for (uint32_t d = 0; d < n; d++) {
            const int64_t *row = gear_table_row(table, i);
            int64_t number = gear_row_dim(gv->module, gv->graph, row, dims.at[d]);
            bool too_large = number == DIM_UNKNOWN && is_too_large(gv, dims.at[d]);
            rows[i * n + d] = too_large ? INT64_MIN + i : number;
        }
    bool same = false;
    for (uint32_t i = 0; i < table->n_rows && !same; i++)
        for (uint32_t j = 0; j < i && !same; j++) {
            same = memcmp(rows + i * n, rows + j * n, n * sizeof *rows) == 0;
            if (same)
                report_same(gv, table, j, i);
        }
    mem_free(rows);
    vec_free(&dims);
}

/* A memory that graphs share has one shape. */
static void verify_shared_shape(struct graph_verifier *gv, const struct op *op)
{
    const struct module *module = gv->module;
    if (op->results.count == 0 || op_shared_name(module, op) == NONE)
        return;
    uint32_t type = gv->graph->values.at[op->results.first].type;
    for (uint32_t i = 0; type != NONE && i < gv->graph->gears.count; i++)
        for (uint32_t d = 0; d < type_n_dims(&module->types.at[type]); d++) {
            uint32_t name = gv->graph->gears.at[i].name;
            if (!dim_has_name(module, type_dims(module, type)[d], name))
                continue;
            if (diag_at(gv->diags, DIAG_gear, locate_op(module, op, OP_TYPE_NAME, 0),
                        "all combinations of gears share this variable, but its shape has the gear "
                        "'%.*s'",
                        NAME(module, name)))
                diag_help(gv->diags, "without 'shared_name' each has its own; or give it the "
                                     "largest shape, and take a slice of it");
            return;
        }
}

/* How many combinations a product has, of the values of each gear once; UINT64_MAX: more than
 * that. */
static uint64_t count_product(const struct graph *graph)
{
    uint64_t all = 1;
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const int64_t *values = graph->gear_values.at + graph->gears.at[i].values.first;
        uint64_t count = 0;
        for (uint32_t n = 0; n < graph->gears.at[i].values.count; n++) {
            bool repeated = false;
            for (uint32_t before = 0; before < n; before++)
                repeated = repeated || values[before] == values[n];
            count += !repeated;
        }
        if (__builtin_mul_overflow(all, count, &all))
            return UINT64_MAX;
    }
    return all;
}

/* The gears by themselves, with the marks of `dims`. */
static void verify_gears(struct graph_verifier *gv)
{
    const struct graph *graph = gv->graph;
    struct gear_table table;
    bool ok = true;
    if (graph->gears.count == 0)
        return;
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct gear *gear = &graph->gears.at[i];
        ok = verify_name(gv, gear) && ok;
        ok = verify_values(gv, gear) && ok;
        ok = verify_length(gv, gear) && ok;
        ok = verify_gear_use(gv, gear) && ok;
    }
    for (uint32_t i = 0; i < graph->ops.count; i++)
        verify_shared_shape(gv, &graph->ops.at[i]);
    if (!ok)
        return;
    if (gear_table_init(&table, graph)) {
        verify_shapes(gv, &table);
        gear_table_free(&table);
        return;
    }
    uint64_t count = count_product(graph); /* of a `zip`, its values are too many */
    if (diag_at(gv->diags, DIAG_gear, locate_token(gv->module, graph->gears.at[0].loc),
                "gears make %s%llu combinations, more than %d",
                count == UINT64_MAX ? "at least " : "", (unsigned long long)count, GEARS_MAX_ROWS))
        diag_help(gv->diags, "list fewer values, or pair those that go together by 'zip'");
}

void verify_dim_names(struct graph_verifier *gv)
{
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < gv->graph->gears.count; i++)
        id_map_set(&gv->dims, gv->graph->gears.at[i].name, 0);
    for (uint32_t i = 0; i < gv->graph->dims.count; i++) {
        const struct free_dim *dim = &gv->graph->dims.at[i];
        id_map_set(&gv->dims, dim->name, 0);
        if (marks_set(gv->verifier, dim->name, i, NULL))
            diag_at(gv->diags, DIAG_duplicate, locate_token(gv->module, dim->loc),
                    "the dimension '%.*s' stands twice", NAME(gv->module, dim->name));
    }
    verify_gears(gv);
}

/* ----------------------------------------------------------------------------- rows ---- */

/* The rows of a graph against what its gears say. */
struct case_verifier {
    struct graph_verifier *gv;
    struct gear_table table;
    uint32_t *first; /* by row of the table: the case that has it, or NONE */
};

static struct span case_span(const struct graph_verifier *gv, uint32_t row)
{
    return locate_token(gv->module, gv->graph->cases.at[row].loc);
}

/* The values are a combination of the gears, which no row before has. */
static bool verify_row(struct case_verifier *cv, uint32_t row)
{
    struct graph_verifier *gv = cv->gv;
    const struct range values = gv->graph->cases.at[row].values;
    if (values.count != cv->table.n_gears) {
        diag_at(gv->diags, DIAG_gear_case, case_span(gv, row), "%u value%s for %u gear%s",
                values.count, values.count == 1 ? "" : "s", cv->table.n_gears,
                cv->table.n_gears == 1 ? "" : "s");
        return false;
    }
    uint32_t at = gear_table_find(&cv->table, gv->graph->gear_values.at + values.first);
    if (at == NONE) {
        diag_at(gv->diags, DIAG_gear_case, case_span(gv, row),
                "the gears do not make this combination");
        return false;
    }
    if (cv->first[at] != NONE &&
        diag_at(gv->diags, DIAG_duplicate, case_span(gv, row), "this combination stands twice"))
        diag_note(gv->diags, case_span(gv, cv->first[at]), "the first is here");
    if (cv->first[at] == NONE)
        cv->first[at] = row;
    return true;
}

/* Whether two types agree where the gears of the first one's graph have the values of a row. */
static bool types_agree(const struct graph_verifier *gv, const int64_t *row, uint32_t declared,
                        uint32_t actual)
{
    const struct module *module = gv->module;
    if (declared == actual || declared == NONE || actual == NONE)
        return true;
    const struct type *d = &module->types.at[declared], *a = &module->types.at[actual];
    if (!type_kinds_agree(d, a))
        return false;
    for (uint32_t i = 0; i < type_n_dims(d) && i < type_n_dims(a); i++) {
        int64_t dim = gear_row_dim(module, gv->graph, row, type_dims(module, declared)[i]);
        int64_t other = type_dims(module, actual)[i];
        if (dim >= 0 && other >= 0 && dim != other)
            return false;
    }
    return true;
}

static void report_type(struct graph_verifier *gv, uint32_t row, const struct graph *graph,
                        const char *what, uint32_t n, uint32_t declared, uint32_t actual)
{
    const struct module *module = gv->module;
    struct text text = {NULL, 0, 0};
    gear_row_text(&text, module, gv->graph,
                  gv->graph->gear_values.at + gv->graph->cases.at[row].values.first);
    if (diag_at(gv->diags, DIAG_gear_case, case_span(gv, row),
                "%s %u of '@%.*s' is %s, but here it is %s with %.*s", what, n,
                NAME(module, graph->name), type_text(module, actual, &gv->diags->arena),
                type_text(module, declared, &gv->diags->arena), (int)text.size, text.at))
        diag_note(gv->diags, locate_name(module, graph->loc), "the graph is here");
    text_free(&text);
}

static bool verify_case_count(struct graph_verifier *gv, uint32_t row, const struct graph *graph,
                              const char *what, uint32_t count, uint32_t wanted)
{
    if (count == wanted)
        return true;
    if (diag_at(gv->diags, DIAG_gear_case, case_span(gv, row),
                "'@%.*s' has %u %s%s, but this graph has %u", NAME(gv->module, graph->name), count,
                what, count == 1 ? "" : "s", wanted))
        diag_note(gv->diags, locate_name(gv->module, graph->loc), "the graph is here");
    return false;
}

static void verify_signature(struct graph_verifier *gv, uint32_t row, const struct graph *graph)
{
    const struct graph *own = gv->graph;
    const int64_t *values = own->gear_values.at + own->cases.at[row].values.first;
    if (verify_case_count(gv, row, graph, "parameter", graph->n_params, own->n_params))
        for (uint32_t i = 0; i < own->n_params; i++)
            if (!types_agree(gv, values, own->values.at[i].type, graph->values.at[i].type))
                report_type(gv, row, graph, "parameter", i, own->values.at[i].type,
                            graph->values.at[i].type);
    if (verify_case_count(gv, row, graph, "result", graph->result_types.count,
                          own->result_types.count))
        for (uint32_t i = 0; i < own->result_types.count; i++)
            if (!types_agree(gv, values, own->result_types.at[i], graph->result_types.at[i]))
                report_type(gv, row, graph, "result", i, own->result_types.at[i],
                            graph->result_types.at[i]);
}

static void verify_case(struct case_verifier *cv, uint32_t row)
{
    struct graph_verifier *gv = cv->gv;
    const struct module *module = gv->module;
    uint32_t name = gv->graph->cases.at[row].graph;
    bool known = verify_row(cv, row);
    const struct graph *graph = module_find_graph(module, name);
    if (graph && graph->gear_mode != GEARS_NONE)
        diag_at(gv->diags, DIAG_gear_case, case_span(gv, row), "'@%.*s' has gears itself",
                NAME(module, name));
    else if (graph && known)
        verify_signature(gv, row, graph);
    else if (!graph && diag_at(gv->diags, DIAG_unknown_symbol, case_span(gv, row),
                               "there is no graph '@%.*s'", NAME(module, name)))
        suggest_symbol(module, gv->diags, name, 1 << SYMBOL_GRAPH);
}

void verify_cases(struct graph_verifier *gv)
{
    const struct graph *graph = gv->graph;
    struct case_verifier cv = {.gv = gv};
    if (graph->gear_mode == GEARS_NONE) {
        diag_at(gv->diags, DIAG_gear_case, case_span(gv, 0), "the graph has no gears");
        return;
    }
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].values.count > GEARS_MAX_VALUES ||
            (graph->gear_mode == GEARS_ZIP &&
             graph->gears.at[i].values.count != graph->gears.at[0].values.count))
            return; /* verify_gears has said so */
    if (!gear_table_init(&cv.table, graph))
        return; /* the same */
    cv.first = mem_calloc(cv.table.n_rows, sizeof *cv.first);
    for (uint32_t i = 0; i < cv.table.n_rows; i++)
        cv.first[i] = NONE;
    for (uint32_t i = 0; i < graph->cases.count; i++)
        verify_case(&cv, i);
    mem_free(cv.first);
    gear_table_free(&cv.table);
}
