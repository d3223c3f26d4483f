#include "frontend/driver/bind_dims.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/core/calls.h"
#include "ir/shapes/gears.h"
#include "ir/analysis/op_infer.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Marks entries of super kernels with the mark of their graph, where that is `mark`. */
static void mark_entries(const struct module *module, const uint8_t *graphs, uint8_t mark,
                         uint8_t *entries)
{
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t b = 0; graphs[i] == mark && b < graph->blocks.count; b++) {
            const struct entry *entry = block_entry(module, &graph->blocks.at[b]);
            if (entry)
                entries[entry_id(module, entry)] = mark;
        }
    }
}

/* Takes out the graphs that are marked in `gone`, by index, which no others name, and entries that
 * are those of their super kernels and of no others'. */
static void graphs_drop(struct module *module, const uint8_t *gone)
{
    uint8_t *entries = mem_calloc(module->entries.count, 1);
    mark_entries(module, gone, 1, entries);
    mark_entries(module, gone, 0, entries);
    module_drop_entries(module, entries);
    mem_free(entries);
    module_drop_graphs(module, gone);
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
    graphs_drop(module, reached);
    mem_free(reached);
}

enum { MOST_LISTED = 16 }; /* combinations, in a message */

/* A graph whose names get values. */
struct binder {
    struct module *module;
    struct graph *graph;
    struct diags *diags;
    VEC(struct dim_binding) bindings; /* of names that it declares */
    uint8_t *gone;                    /* by graph: a combination that values leave out */
};

static const struct dim_binding *find(const struct binder *binder, uint32_t name)
{
    for (uint32_t i = 0; i < binder->bindings.count; i++)
        if (binder->bindings.at[i].name == name)
            return &binder->bindings.at[i];
    return NULL;
}

/* Whether a graph of the module declares the name. */
static bool dims_are_named(const struct module *module, uint32_t name)
{
    for (uint32_t i = 0; i < module->graphs.count; i++)
        if (graph_declares_dim(&module->graphs.at[i], name))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------- gears ---- */

static bool row_fits(const struct binder *binder, const int64_t *row)
{
    for (uint32_t i = 0; i < binder->graph->gears.count; i++) {
        const struct dim_binding *binding = find(binder, binder->graph->gears.at[i].name);
        if (binding && binding->value != row[i])
            return false;
    }
    return true;
}

void help_combinations(struct module *module, const struct graph *graph, struct diags *diags)
{
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

static bool report_no_row(const struct binder *binder)
{
    struct text given = {NULL, 0, 0};
    /* "b = 2, c = 4" of the gears that are given. */
    for (uint32_t i = 0; i < binder->graph->gears.count; i++) {
        const struct dim_binding *binding = find(binder, binder->graph->gears.at[i].name);
        if (binding)
            text_printf(&given, "%s%.*s = %lld", given.size ? ", " : "",
                        NAME(binder->module, binding->name), (long long)binding->value);
    }
    if (diag_at(binder->diags, DIAG_gear,
                locate_token(binder->module, binder->graph->gears.at[0].loc),
                "no combination of gears has %.*s", (int)given.size, given.at))
        help_combinations(binder->module, binder->graph, binder->diags);
    text_free(&given);
    return false;
}

static bool any_gear_is_bound(const struct binder *binder)
{
    for (uint32_t i = 0; i < binder->graph->gears.count; i++)
        if (find(binder, binder->graph->gears.at[i].name))
            return true;
    return false;
}

/* Values of a gear that is not given: those of the rows that fit, by position; it is given where
 * they are all one. */
static void zip_gear(struct binder *binder, const struct gear_table *table, uint32_t gear)
{
    struct graph *graph = binder->graph;
    struct range values = {graph->gear_values.count, 0};
    bool same = true;
    for (uint32_t i = 0; i < table->n_rows; i++)
        if (row_fits(binder, gear_table_row(table, i))) {
            vec_push(&graph->gear_values, gear_table_row(table, i)[gear]);
            values.count++;
        }
    for (uint32_t i = 1; i < values.count; i++)
        same =
            same && graph->gear_values.at[values.first + i] == graph->gear_values.at[values.first];
    graph->gears.at[gear].values = values;
    if (same)
        vec_push(&binder->bindings, (struct dim_binding){graph->gears.at[gear].name,
                                                         graph->gear_values.at[values.first]});
}

/* Rows stay that fit; graphs of others go. */
static void keep_cases(struct binder *binder)
{
    struct graph *graph = binder->graph;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->cases.count; i++) {
        const struct gear_case row = graph->cases.at[i];
        if (row_fits(binder, graph->gear_values.at + row.values.first))
            graph->cases.at[kept++] = row;
        else
            binder->gone[id_map_get(&binder->module->named[SYMBOL_GRAPH], row.graph)] = 1;
    }
    graph->cases.count = kept;
}

static void settle_rows(struct binder *binder, const struct gear_table *table)
{
    const struct graph *graph = binder->graph;
    if (graph->cases.count)
        keep_cases(binder);
    for (uint32_t i = 0; graph->gear_mode == GEARS_ZIP && i < graph->gears.count; i++)
        if (graph->cases.count == 0 && !find(binder, graph->gears.at[i].name))
            zip_gear(binder, table, i);
}

static bool bind_gears(struct binder *binder)
{
    const struct graph *graph = binder->graph;
    struct gear_table table;
    bool any = false;
    if (!any_gear_is_bound(binder) || !gear_table_init_left(&table, graph))
        return true; /* of too many combinations, expand-gears says so */
    for (uint32_t i = 0; i < table.n_rows; i++)
        any = any || row_fits(binder, gear_table_row(&table, i));
    if (any)
        settle_rows(binder, &table);
    else
        report_no_row(binder);
    gear_table_free(&table);
    return any;
}

/* ---------------------------------------------------------------------------- types ---- */

static bool bind_types(struct binder *binder)
{
    struct bind_fault fault;
    if (graph_bind_types(binder->module, binder->graph, binder->bindings.at, binder->bindings.count,
                         &fault))
        return true;
    diag_at(binder->diags, DIAG_number_range, locate_name(binder->module, binder->graph->loc),
            "with these values, the dimension '%.*s' %s", NAME(binder->module, dim_gear(fault.dim)),
            dim_fault_text(fault.fault));
    return false;
}

/* --------------------------------------------------------------------------- graphs ---- */

static void add_bindings(struct binder *binder, const struct dim_binding *bindings, uint32_t count,
                         bool gears)
{
    binder->bindings.count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (graph_declares_dim(binder->graph, bindings[i].name) &&
            (gears || !graph_find_gear(binder->graph, bindings[i].name)))
            vec_push(&binder->bindings, bindings[i]);
}

/* The gears of an expanded graph stay: its rows are theirs. */
static bool bind_graph(struct binder *binder, const struct dim_binding *bindings, uint32_t count)
{
    add_bindings(binder, bindings, count, true);
    if (binder->bindings.count == 0)
        return true;
    if (!bind_gears(binder))
        return false;
    if (binder->graph->cases.count)
        add_bindings(binder, bindings, count, false);
    if (!bind_types(binder))
        return false;
    graph_drop_names(binder->graph, binder->bindings.at, binder->bindings.count);
    return true;
}

bool settle_types(struct module *module, struct graph *graph, bool changed, struct diags *diags)
{
    bool inferred = changed && graph->untyped;
    if (inferred && !infer_graph_types(module, graph, diags))
        return false;
    bool refined = refine_result_types(module, graph);
    return !(inferred || refined) || verify_graph_alone(module, graph, diags);
}

static const char *values_text(const struct diag_copy *copy, struct arena *arena)
{
    return arena_strndup(arena, copy->whole, strlen(copy->whole));
}

/* "b = 2, c = 4", of what the graph declared; appended. */
static void put_values(const struct binder *binder, struct text *text)
{
    for (uint32_t i = 0; i < binder->bindings.count; i++)
        text_printf(text, "%s%.*s = %lld", text->size ? ", " : "",
                    NAME(binder->module, binder->bindings.at[i].name),
                    (long long)binder->bindings.at[i].value);
}

/* The graphs of a module whose names get values. */
struct binders {
    struct binder *at; /* by graph */
    uint8_t *called;   /* by graph, for one that is looked at: it calls them */
};

/* Values of the graph itself; else of graphs that it calls, where calls may not fit any more. */
static void put_all_values(const struct binders *binders, uint32_t id, struct text *text)
{
    const struct module *module = binders->at[id].module;
    put_values(&binders->at[id], text);
    if (text->size)
        return;
    memset(binders->called, 0, module->graphs.count);
    graph_mark_called(module, &module->graphs.at[id], binders->called);
    for (uint32_t i = 0; i < module->graphs.count && !text->size; i++)
        if (binders->called[i])
            put_values(&binders->at[i], text);
}

/* What is wrong with the types now is so with the values. */
static bool settle_bound(const struct binders *binders, uint32_t id)
{
    struct text values = {NULL, 0, 0};
    struct binder *binder = &binders->at[id];
    struct diags *diags = binder->diags;
    put_all_values(binders, id, &values);
    text_char(&values, '\0');
    bool any = values.size > 1;
    if (any)
        diags->copy = (struct diag_copy){values_text, values.at, NONE};
    bool ok = settle_types(binder->module, binder->graph, true, diags) &&
              (!any || verify_graph_alone(binder->module, binder->graph, diags));
    diags->copy = (struct diag_copy){NULL, NULL, 0};
    text_free(&values);
    return ok;
}

/* All graphs have their values before calls are held against them. */
static bool bind_all(const struct binders *binders, const uint8_t *meant,
                     const struct dim_binding *bindings, uint32_t count)
{
    uint32_t n_graphs = binders->at[0].module->graphs.count;
    bool ok = true;
    for (uint32_t i = 0; i < n_graphs; i++)
        if (meant[i])
            ok = bind_graph(&binders->at[i], bindings, count) && ok;
    for (uint32_t i = 0; i < n_graphs; i++)
        ok = settle_bound(binders, i) && ok;
    return ok;
}

bool bind_dims(struct module *module, const uint8_t *meant, const struct dim_binding *bindings,
               uint32_t count, struct diags *diags)
{
    uint32_t n_graphs = module->graphs.count;
    uint8_t *gone = mem_calloc(n_graphs, 1);
    struct binders binders = {.at = mem_calloc(n_graphs, sizeof *binders.at),
                              .called = mem_calloc(n_graphs, 1)};
    for (uint32_t i = 0; i < n_graphs; i++)
        binders.at[i] = (struct binder){
            .module = module, .graph = &module->graphs.at[i], .diags = diags, .gone = gone};
    bool ok = n_graphs == 0 || bind_all(&binders, meant, bindings, count);
    for (uint32_t i = 0; i < n_graphs; i++)
        vec_free(&binders.at[i].bindings);
    mem_free(binders.at);
    mem_free(binders.called);
    /* Graphs of combinations that are left out, but those that others name. */
    uint8_t *named = mem_calloc(module->graphs.count, 1);
    graphs_mark_named(module, named);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        gone[i] = gone[i] && !named[i];
    graphs_drop(module, gone);
    mem_free(named);
    mem_free(gone);
    return ok;
}

/* ------------------------------------------------------------------------------- --bind ---- */

static bool parse_value(const char *text, int64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* A name has one value, however often that is said. */
static bool add_binding(const struct input *input, struct dim_bindings *bindings,
                        struct dim_binding binding)
{
    for (uint32_t i = 0; i < bindings->count; i++)
        if (bindings->at[i].name == binding.name) {
            bool same = bindings->at[i].value == binding.value;
            if (!same)
                usage_error(input->invocation, "--bind gives '%.*s' twice, as %lld and %lld",
                            NAME(input->module, binding.name), (long long)bindings->at[i].value,
                            (long long)binding.value);
            return same;
        }
    vec_push(bindings, binding);
    return true;
}

static void report_unknown(const struct input *input, const char *name, size_t size)
{
    const struct module *module = input->module;
    struct suggest suggest = {.wanted = name, .wanted_size = size};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t n = 0; n < graph->dims.count; n++)
            name_offer(&suggest, module, graph->dims.at[n].name);
        for (uint32_t n = 0; n < graph->gears.count; n++)
            name_offer(&suggest, module, graph->gears.at[n].name);
    }
    usage_error(input->invocation, "--bind: no graph declares the dimension '%.*s'%s", (int)size,
                name, suggest_end(&suggest).text);
}

/* The name is NONE where it is of the file that this one is compared with. */
static bool parse_binding(const struct input *input, const char *text, struct dim_binding *binding)
{
    const char *sign = strchr(text, '=');
    if (!sign || !parse_value(sign + 1, &binding->value))
        return usage_fail(input->invocation, "--bind %s: expected NAME=N, a whole number from 0",
                          text);
    size_t size = (size_t)(sign - text);
    binding->name = intern_find(&input->module->names, text, size);
    if (binding->name != NONE && dims_are_named(input->module, binding->name))
        return true;
    binding->name = NONE;
    if (input_is_compared(input))
        return true;
    report_unknown(input, text, size);
    return false;
}

enum exit_status bind_argument_read(const struct input *input, struct dim_bindings *bindings)
{
    const char *text;
    for (unsigned i = 0; (text = option_value_at(input->invocation, "bind", i)); i++) {
        struct dim_binding binding;
        if (!parse_binding(input, text, &binding))
            return EXIT_USAGE;
        if (binding.name != NONE && !add_binding(input, bindings, binding))
            return EXIT_USAGE;
    }
    return EXIT_DONE;
}
