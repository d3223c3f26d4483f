/* expand-gears: makes a graph with static shapes of each combination that gears make.
 *
 * needs    nothing
 * changes  in the place of a graph's statements stands a row for each combination; the graphs that
 *          they name are added to the module
 * keeps    names, parameters and results of graphs; graphs without gears
 *
 * A combination that the graph contradicts, such as two sizes that must be one, is left out.
 */
#include "ir/core/attr.h"
#include "ir/core/calls.h"
#include "ir/shapes/gears.h"
#include "ir/support/parts.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify.h"
#include "passes/manager/pass.h"

/* What the expansions of all graphs share. */
struct expansion {
    VEC(uint8_t) right;         /* by index: graphs of which the verifier has nothing to say */
    struct id_map superkernels; /* by name, those of instances too */
    /* By the name of a super kernel: the first and the second graph whose attributes name it. */
    struct id_map named_in[2];
    bool names_found;
};

struct expander {
    struct pass_context *context;
    struct module *module;
    uint32_t id; /* of the graph at hand */
    struct gear_table table;
    VEC(struct gear_case) cases;
    VEC(int64_t) values; /* of the cases */
    struct expansion *all;
    struct gear_instance *instances; /* by row of the table */
    struct gear_rows_left_out left_out;
};

static const struct graph *graph_of(const struct expander *expander)
{
    return &expander->module->graphs.at[expander->id];
}

/* ---------------------------------------------------------------------- one combination ---- */

static bool is_taken(const void *user, uint32_t name)
{
    const struct expander *expander = user;
    bool taken = id_map_find(&expander->all->superkernels, name) != NONE;
    for (int kind = 0; kind < SYMBOL_KINDS && !taken; kind++)
        taken = module_find(expander->module, kind, name) != NONE;
    return taken;
}

/* "f_b2_c4" of "f", or another name where that is taken. */
static uint32_t instance_name(const struct expander *expander, uint32_t name, const int64_t *row)
{
    struct module *module = expander->module;
    const struct graph *graph = graph_of(expander);
    struct text text = {NULL, 0, 0};
    text_printf(&text, "%.*s", NAME(module, name));
    for (uint32_t i = 0; i < graph->gears.count; i++)
        text_printf(&text, "_%.*s%lld", NAME(module, graph->gears.at[i].name), (long long)row[i]);
    uint32_t wanted = module_name_printf(module, "%.*s", (int)text.size, text.at);
    text_free(&text);
    uint32_t last = 0;
    return module_free_name(module, wanted, "_", (struct taken_names){is_taken, expander}, &last);
}

static bool rename_symbol(struct attr_map *map, struct attr_value *value)
{
    const struct id_map *names = map->user;
    uint32_t name = value->kind == ATTR_SYMBOL ? id_map_find(names, value->id) : NONE;
    if (name != NONE)
        value->id = name;
    return name != NONE;
}

/* Super kernels of all graphs have different names, by which the graph's own attributes call
 * them. */
static void rename_superkernels(const struct expander *expander, struct graph *graph,
                                const int64_t *row)
{
    struct id_map names = {NULL, 0, 0};
    struct attr_map map = {expander->module, rename_symbol, &names};
    bool any = false;
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        struct block *block = &graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL)
            continue;
        uint32_t before = block->name;
        block->name = instance_name(expander, before, row);
        id_map_set(&expander->all->superkernels, block->name, expander->id);
        id_map_set(&names, before, block->name);
        any = true;
    }
    if (any)
        attr_map_graph(&map, graph);
    id_map_free(&names);
}

/* Takes the graph. */
static void add_instance(struct expander *expander, const int64_t *row,
                         struct gear_instance *instance)
{
    uint32_t n = expander->table.n_gears;
    uint32_t name = instance_name(expander, graph_of(expander)->name, row);
    rename_superkernels(expander, &instance->graph, row);
    struct graph *graph = module_add_graph(expander->module, name);
    graph_free(graph);
    *graph = instance->graph;
    instance->graph = (struct graph){.name = NONE};
    graph->name = name;
    vec_push(&expander->all->right, instance->made.silent && instance->verified.silent);
    vec_push(&expander->cases, (struct gear_case){name, graph->loc, {expander->values.count, n}});
    for (uint32_t i = 0; i < n; i++)
        vec_push(&expander->values, row[i]);
}

/* -------------------------------------------------------------------- all combinations ---- */

static void verify_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct expander *expander = user;
    for (uint32_t i = first; i < end; i++)
        gear_instance_verify(&expander->instances[i], expander->module,
                             &expander->all->superkernels, diags);
}

static uint64_t instance_weight(const void *user, uint32_t item)
{
    const struct expander *expander = user;
    return 10 * (uint64_t)expander->instances[item].graph.ops.count;
}

/* Types are made one after another, and looked at together. */
static void expand_rows(struct expander *expander)
{
    uint32_t count = expander->table.n_rows;
    struct diags *diags = expander->context->diags;
    expander->instances = mem_calloc(count, sizeof *expander->instances);
    for (uint32_t i = 0; i < count; i++)
        gear_instance_make(&expander->instances[i], expander->module, graph_of(expander),
                           gear_table_row(&expander->table, i), diags);
    parts_run(
        &(struct parts){expander->module->threads, count, instance_weight, verify_part, expander},
        diags);
    for (uint32_t i = 0; i < count; i++) {
        const int64_t *row = gear_table_row(&expander->table, i);
        struct gear_instance *instance = &expander->instances[i];
        const struct gear_verdict *fault = gear_instance_fault(instance);
        if (fault)
            gear_rows_leave_out(&expander->left_out, expander->module, graph_of(expander), row,
                                fault);
        else
            add_instance(expander, row, instance);
        gear_instance_free(instance);
    }
    mem_free(expander->instances);
}

/* --------------------------------------------------------------------------- reports ---- */

/* ---------------------------------------------------------------------------- graphs ---- */

static bool refuse(const struct expander *expander, const char *text, const char *advice)
{
    const struct graph *graph = graph_of(expander);
    struct diags *diags = expander->context->diags;
    if (diag_at(diags, DIAG_unsupported, locate_name(expander->module, graph->loc), "%s", text))
        diag_help(diags, "%s", advice);
    return false;
}

/* Entries are static, and their groups are values of one graph. */
static bool has_entries(const struct expander *expander)
{
    const struct graph *graph = graph_of(expander);
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL &&
            block_entry(expander->module, &graph->blocks.at[b]))
            return true;
    return false;
}

/* What looks for super kernels in the attributes of a graph. */
struct name_search {
    struct expansion *all;
    uint32_t graph;
};

static bool note_name(struct attr_map *map, struct attr_value *value)
{
    const struct name_search *search = map->user;
    struct id_map *named_in = search->all->named_in;
    if (value->kind != ATTR_SYMBOL || id_map_find(&search->all->superkernels, value->id) == NONE)
        return false;
    uint32_t *first = id_map_at(&named_in[0], value->id);
    uint32_t *second = id_map_at(&named_in[1], value->id);
    if (*first == NONE)
        *first = search->graph;
    else if (*first != search->graph && *second == NONE)
        *second = search->graph;
    return false;
}

static void find_names(struct module *module, struct expansion *all)
{
    struct name_search search = {.all = all};
    struct attr_map map = {module, note_name, &search};
    for (; search.graph < module->graphs.count && !all->names_found; search.graph++)
        attr_map_graph(&map, &module->graphs.at[search.graph]);
    all->names_found = true;
}

/* Each combination has super kernels of its own, so that others cannot mean one. */
static bool check_not_named(const struct expander *expander)
{
    struct module *module = expander->module;
    struct diags *diags = expander->context->diags;
    const struct graph *graph = graph_of(expander);
    uint32_t found = NONE, other = NONE;
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        if (graph->blocks.at[b].kind != BLOCK_SUPERKERNEL)
            continue;
        find_names(module, expander->all);
        uint32_t by = id_map_find(&expander->all->named_in[0], graph->blocks.at[b].name);
        if (by == expander->id)
            by = id_map_find(&expander->all->named_in[1], graph->blocks.at[b].name);
        if (by < other) {
            other = by;
            found = b;
        }
    }
    if (found == NONE)
        return true;
    if (diag_at(diags, DIAG_unsupported, locate_name(module, graph->blocks.at[found].loc),
                "'@%.*s' names this super kernel, of which each combination of gears has another",
                NAME(module, module->graphs.at[other].name)))
        diag_help(diags, "name it in attributes of its own graph only");
    return false;
}

/* The rows in the place of the statements. */
static void write_cases(struct expander *expander)
{
    struct graph *graph = &expander->module->graphs.at[expander->id];
    uint32_t first = graph->gear_values.count;
    graph_clear_body(graph);
    for (uint32_t i = 0; i < expander->values.count; i++)
        vec_push(&graph->gear_values, expander->values.at[i]);
    for (uint32_t i = 0; i < expander->cases.count; i++) {
        struct gear_case row = expander->cases.at[i];
        row.values.first += first;
        row.loc = NONE;
        vec_push(&graph->cases, row);
    }
}

static bool expand_all(struct expander *expander)
{
    const struct module *module = expander->module;
    struct pass_context *context = expander->context;
    uint64_t n = expander->table.n_repeated;
    if (n)
        diag_at(context->diags, DIAG_gear_repeated,
                locate_token(module, graph_of(expander)->gears.at[0].loc),
                "%llu combination%s of gears stand%s twice and count%s once", (unsigned long long)n,
                n == 1 ? "" : "s", n == 1 ? "s" : "", n == 1 ? "s" : "");
    expand_rows(expander);
    /* Those that were left out, by one message: an error where none is left, as with
     * --strict-gears. */
    bool refused = expander->cases.count == 0 || context->strict_gears;
    gear_rows_report(&expander->left_out, module, graph_of(expander), expander->table.n_rows,
                     refused, context->diags);
    if (expander->left_out.count && refused)
        return false;
    write_cases(expander);
    if (expander->cases.count > 1)
        context->diags->copies = "combinations of gears";
    return true;
}

static bool expand_graph(struct pass_context *context, uint32_t id, bool called,
                         struct expansion *all)
{
    struct expander expander = {
        .context = context, .module = context->module, .id = id, .all = all};
    if (called)
        return refuse(&expander, "a graph with gears is called",
                      "gears are for graphs that are called from outside: give those that call "
                      "it gears");
    if (has_entries(&expander))
        return refuse(&expander, "a graph with gears has super kernels that are lowered",
                      "run expand-gears before lower-superkernels");
    if (!check_not_named(&expander))
        return false;
    if (!gear_table_init(&expander.table, graph_of(&expander)))
        return refuse(&expander, "gears make too many combinations", "leave some out");
    bool ok = expand_all(&expander);
    gear_table_free(&expander.table);
    vec_free(&expander.cases);
    vec_free(&expander.values);
    gear_rows_left_out_free(&expander.left_out);
    return ok;
}

bool pass_expand_gears(struct pass_context *context)
{
    struct module *module = context->module;
    struct expansion all = {.superkernels = module_superkernels(module)};
    uint32_t n_graphs = module->graphs.count;
    uint8_t *called = mem_calloc(n_graphs, 1);
    bool ok = true, expanded = false;
    for (uint32_t i = 0; i < n_graphs; i++) {
        graph_mark_called(module, &module->graphs.at[i], called);
        vec_push(&all.right, false);
    }
    for (uint32_t i = 0; i < n_graphs; i++) {
        const struct graph *graph = &module->graphs.at[i];
        if (graph->gear_mode == GEARS_NONE || graph->cases.count)
            continue;
        ok = expand_graph(context, i, called[i], &all) && ok;
        expanded = true;
    }
    mem_free(called);
    ok = ok && (!expanded || verify_module_but(module, all.right.at, context->diags));
    vec_free(&all.right);
    id_map_free(&all.superkernels);
    id_map_free(&all.named_in[0]);
    id_map_free(&all.named_in[1]);
    return ok;
}
