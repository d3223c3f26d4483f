#include "frontend/commands/off_gear.h"
#include "frontend/commands/padding_ops.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "ir/verify/gear_instance.h"

/* A graph with gears, and values of them that were asked for. */
struct settler {
    struct input *input;
    struct graph *graph;
    struct dim_bindings *bindings;
    struct gear_table table;
    int64_t *exact;     /* by gear */
    bool *known;        /* by gear: it was asked for, or follows */
    uint8_t *rejected;  /* by row: the graph contradicts it */
    struct text reason; /* why, of the first one */
};

static void find_exact(struct settler *settler)
{
    for (uint32_t i = 0; i < settler->table.n_gears; i++)
        for (uint32_t n = 0; n < settler->bindings->count; n++)
            if (settler->bindings->at[n].name == settler->graph->gears.at[i].name) {
                settler->exact[i] = settler->bindings->at[n].value;
                settler->known[i] = true;
            }
}

/* Whether no known value is another than that of the row; `larger`: or is larger. */
static bool row_has(const struct settler *settler, const int64_t *row, bool larger)
{
    for (uint32_t i = 0; i < settler->table.n_gears; i++)
        if (settler->known[i] &&
            (larger ? settler->exact[i] > row[i] : settler->exact[i] != row[i]))
            return false;
    return true;
}

static bool is_combination(const struct settler *settler)
{
    for (uint32_t i = 0; i < settler->table.n_rows; i++)
        if (row_has(settler, gear_table_row(&settler->table, i), false))
            return true;
    return false;
}

/* --------------------------------------------------------------------------- elements ---- */

/* Of a type with values for the gears; 0 where they are not known. */
static uint64_t count_elements(const struct settler *settler, uint32_t type, const int64_t *row)
{
    const struct module *module = settler->input->module;
    uint64_t all = 1;
    if (module->types.at[type].rank == RANK_UNKNOWN)
        return 0;
    for (uint32_t i = 0; i < module->types.at[type].rank; i++) {
        int64_t dim = gear_row_dim(module, settler->graph, row, type_dims(module, type)[i]);
        if (dim < 0)
            return 0;
        if (__builtin_mul_overflow(all, (uint64_t)dim, &all))
            return UINT64_MAX;
    }
    return all;
}

/* Of all parameters. */
static uint64_t count_all(const struct settler *settler, const int64_t *row)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < settler->graph->n_params; i++)
        if (__builtin_add_overflow(
                all, count_elements(settler, settler->graph->values.at[i].type, row), &all))
            return UINT64_MAX;
    return all;
}

/* --------------------------------------------------------------------------- choosing ---- */

static void make_instance(const struct settler *settler, const int64_t *row,
                          struct gear_instance *instance)
{
    const struct diags *diags = &settler->input->diags;
    gear_instance_make(instance, settler->input->module, settler->graph, row, diags);
    gear_instance_verify(instance, settler->input->module, NULL, diags);
}

/* Whether the graph has nothing against the values; appends what, where it has. */
static bool holds(const struct settler *settler, const int64_t *row, struct text *reason)
{
    struct gear_instance instance;
    make_instance(settler, row, &instance);
    const struct gear_verdict *fault = gear_instance_fault(&instance);
    bool ok = !fault;
    if (fault)
        text_append(reason, &fault->reason);
    gear_instance_free(&instance);
    return ok;
}

/* The row that has room, with the fewest elements, of these the first; NONE: there is none. */
static uint32_t next_row(const struct settler *settler)
{
    uint32_t best = NONE;
    uint64_t fewest = 0;
    for (uint32_t i = 0; i < settler->table.n_rows; i++) {
        const int64_t *row = gear_table_row(&settler->table, i);
        if (settler->rejected[i] || !row_has(settler, row, true))
            continue;
        uint64_t elements = count_all(settler, row);
        if (best == NONE || elements < fewest) {
            best = i;
            fewest = elements;
        }
    }
    return best;
}

/* Keeps why a row is rejected that is the first one. */
static void reject(struct settler *settler, uint32_t row, const struct text *why)
{
    struct text *reason = &settler->reason;
    settler->rejected[row] = 1;
    if (reason->size)
        return;
    gear_row_text(reason, settler->input->module, settler->graph,
                  gear_table_row(&settler->table, row));
    text_printf(reason, ": %.*s", (int)why->size, why->at);
}

static uint32_t choose_row(struct settler *settler)
{
    uint32_t row;
    bool found = false;
    while (!found && (row = next_row(settler)) != NONE) {
        struct text why = {NULL, 0, 0};
        found = holds(settler, gear_table_row(&settler->table, row), &why);
        if (!found)
            reject(settler, row, &why);
        text_free(&why);
    }
    return found ? row : NONE;
}

/* --------------------------------------------------------------------------- reports ---- */

/* "b = 3, c = 5", of what is known. */
static void put_exact(const struct settler *settler, struct text *text)
{
    for (uint32_t i = 0; i < settler->table.n_gears; i++)
        if (settler->known[i])
            text_printf(text, "%s%.*s = %lld", text->size ? ", " : "",
                        NAME(settler->input->module, settler->graph->gears.at[i].name),
                        (long long)settler->exact[i]);
}

/* The row of which no gear has a larger value; NONE: there is none such. */
static uint32_t largest_row(const struct settler *settler)
{
    for (uint32_t i = 0; i < settler->table.n_rows; i++) {
        bool largest = true;
        for (uint32_t n = 0; n < settler->table.n_rows; n++)
            for (uint32_t gear = 0; gear < settler->table.n_gears; gear++)
                largest = largest && gear_table_row(&settler->table, n)[gear] <=
                                         gear_table_row(&settler->table, i)[gear];
        if (largest)
            return i;
    }
    return NONE;
}

static void help_largest(const struct settler *settler)
{
    struct text largest = {NULL, 0, 0};
    uint32_t row = largest_row(settler);
    if (row == NONE) {
        diag_help(&settler->input->diags, "none is the largest: where one gear has its largest "
                                          "value, another has a smaller one");
        return;
    }
    gear_row_text(&largest, settler->input->module, settler->graph,
                  gear_table_row(&settler->table, row));
    diag_help(&settler->input->diags, "the largest is %.*s", (int)largest.size, largest.at);
    text_free(&largest);
}

static bool report_no_room(const struct settler *settler)
{
    struct diags *diags = &settler->input->diags;
    const struct text *reason = &settler->reason;
    struct text known = {NULL, 0, 0};
    put_exact(settler, &known);
    bool told = diag_at(diags, DIAG_gear, locate_name(settler->input->module, settler->graph->loc),
                        reason->size ? "the graph contradicts each combination of gears that has "
                                       "room for %.*s"
                                     : "no combination of gears has room for %.*s",
                        (int)known.size, known.at);
    if (told && reason->size)
        diag_help(diags, "with %.*s", (int)reason->size, reason->at);
    else if (told)
        help_largest(settler);
    text_free(&known);
    return false;
}

static bool report_contradiction(const struct settler *settler, const struct text *reason)
{
    struct text all = {NULL, 0, 0};
    put_exact(settler, &all);
    diag_at(
        &settler->input->diags, DIAG_gear, locate_name(settler->input->module, settler->graph->loc),
        "the graph contradicts %.*s: %.*s", (int)all.size, all.at, (int)reason->size, reason->at);
    text_free(&all);
    return false;
}

/* ---------------------------------------------------------------------------- settling ---- */

static void bind(struct settler *settler, uint32_t gear, int64_t value)
{
    uint32_t name = settler->graph->gears.at[gear].name;
    for (uint32_t i = 0; i < settler->bindings->count; i++)
        if (settler->bindings->at[i].name == name) {
            settler->bindings->at[i].value = value;
            return;
        }
    vec_push(settler->bindings, (struct dim_binding){name, value});
}

/* A value whose shape is another one where the graph is padded. */
static void add_value(const struct module *module, const struct padded_graphs *graphs, uint32_t id,
                      struct padding *padding)
{
    const struct value *value = &graphs->exact->values.at[id];
    uint64_t elements;
    if (value->name != NONE && value->type != graphs->padded->values.at[id].type &&
        type_elements(module, value->type, &elements))
        id_map_set(&padding->types, value->name, value->type);
}

/* Both hold. */
static void pad_values(const struct settler *settler, const int64_t *row, struct padding *padding)
{
    struct gear_instance exact, padded;
    make_instance(settler, settler->exact, &exact);
    make_instance(settler, row, &padded);
    const struct padded_graphs graphs = {&exact.graph, &padded.graph};
    padding_ops_warn(settler->input, settler->graph, &graphs);
    for (uint32_t i = 0; i < exact.graph.values.count; i++)
        if (exact.graph.values.at[i].type != NONE)
            add_value(settler->input->module, &graphs, i, padding);
    gear_instance_free(&exact);
    gear_instance_free(&padded);
}

static void pad(struct settler *settler, const int64_t *row, struct padding *padding)
{
    pad_values(settler, row, padding);
    gear_row_text(&padding->combination, settler->input->module, settler->graph, row);
    padding->elements = count_all(settler, row);
    padding->added = padding->elements - count_all(settler, settler->exact);
    for (uint32_t i = 0; i < settler->table.n_gears; i++)
        bind(settler, i, row[i]);
}

static void free_gears(struct settler *settler)
{
    struct graph *graph = settler->graph;
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        vec_push(&graph->dims, (struct free_dim){graph->gears.at[i].name, graph->gears.at[i].loc});
        bind(settler, i, settler->exact[i]);
    }
    graph->gears.count = 0;
    graph->gear_values.count = 0;
    graph->gear_mode = GEARS_NONE;
}

/* Whether two gears are one number in all combinations. */
static bool are_equal(const struct settler *settler, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < settler->table.n_rows; i++)
        if (gear_table_row(&settler->table, i)[a] != gear_table_row(&settler->table, i)[b])
            return false;
    return true;
}

/* Whether the gear is known, and some row has its value. */
static bool is_listed(const struct settler *settler, uint32_t gear)
{
    for (uint32_t i = 0; settler->known[gear] && i < settler->table.n_rows; i++)
        if (gear_table_row(&settler->table, i)[gear] == settler->exact[gear])
            return true;
    return false;
}

/* Whether a row has all known values that are not between those of their gears. */
static bool row_has_listed(const struct settler *settler, const int64_t *row)
{
    for (uint32_t i = 0; i < settler->table.n_gears; i++)
        if (settler->exact[i] != row[i] && is_listed(settler, i))
            return false;
    return true;
}

/* The value that the gear has in all such rows; negative: there are several, or no such row. */
static int64_t common_value(const struct settler *settler, uint32_t gear)
{
    int64_t value = -1;
    for (uint32_t i = 0; i < settler->table.n_rows; i++) {
        const int64_t *row = gear_table_row(&settler->table, i);
        if (!row_has_listed(settler, row))
            continue;
        if (value >= 0 && value != row[gear])
            return -1;
        value = row[gear];
    }
    return value;
}

/* What was not asked for is what a gear is that always equals it, or what is so in all rows that
 * have what is known. From a value between those of a gear nothing else follows. Returns the number
 * of gears of which nothing says what they are; they are not known. */
static uint32_t find_others(struct settler *settler)
{
    uint32_t n_gears = settler->table.n_gears, open = 0;
    bool *follows = mem_calloc(n_gears, sizeof *follows);
    for (uint32_t i = 0; i < n_gears; i++) {
        if (settler->known[i])
            continue;
        int64_t value = common_value(settler, i);
        for (uint32_t n = 0; n < n_gears; n++)
            if (settler->known[n] && are_equal(settler, i, n))
                value = settler->exact[n];
        follows[i] = value >= 0;
        if (follows[i])
            settler->exact[i] = value;
        else
            open++;
    }
    for (uint32_t i = 0; i < n_gears; i++)
        settler->known[i] = settler->known[i] || follows[i];
    mem_free(follows);
    return open;
}

/* "'c', 'd'": of which nothing is known; returns the first, or NONE. */
static uint32_t put_open(const struct settler *settler, struct text *text)
{
    const struct graph *graph = settler->graph;
    uint32_t first = NONE;
    for (uint32_t i = 0; i < settler->table.n_gears; i++) {
        if (settler->known[i])
            continue;
        text_printf(text, "%s'%.*s'", text->size ? ", " : "",
                    NAME(settler->input->module, graph->gears.at[i].name));
        first = first == NONE ? graph->gears.at[i].name : first;
    }
    return first;
}

static bool report_open(const struct settler *settler, uint32_t n_open)
{
    struct text known = {NULL, 0, 0}, open = {NULL, 0, 0};
    struct input *input = settler->input;
    put_exact(settler, &known);
    uint32_t first = put_open(settler, &open);
    if (diag_at(&input->diags, DIAG_gear, locate_name(input->module, settler->graph->loc),
                "nothing says which combination of gears is to run: %.*s %s not follow from %.*s",
                (int)open.size, open.at, n_open == 1 ? "does" : "do", (int)known.size, known.at))
        diag_help(&input->diags,
                  "give the graph files (--input), shapes (--shape) or values (--bind %.*s=N)",
                  NAME(input->module, first));
    text_free(&known);
    text_free(&open);
    return false;
}

static bool settle(struct settler *settler, enum off_gear mode, struct padding *padding)
{
    struct text reason = {NULL, 0, 0};
    if (next_row(settler) == NONE)
        return report_no_room(settler);
    uint32_t open = find_others(settler);
    if (open)
        return report_open(settler, open);
    uint32_t row = choose_row(settler);
    if (row == NONE)
        return report_no_room(settler);
    const int64_t *values = gear_table_row(&settler->table, row);
    bool ok = holds(settler, settler->exact, &reason) || report_contradiction(settler, &reason);
    text_free(&reason);
    if (ok && mode == OFF_GEAR_PAD)
        pad(settler, values, padding);
    else if (ok)
        free_gears(settler);
    return ok;
}

/* What ops of expanded graphs have for other shapes is not known. */
static bool report_expanded(const struct settler *settler)
{
    struct diags *diags = &settler->input->diags;
    struct text known = {NULL, 0, 0};
    put_exact(settler, &known);
    if (diag_at(diags, DIAG_gear, locate_name(settler->input->module, settler->graph->loc),
                "%.*s is none of the combinations that the gears are expanded to, and these cannot "
                "be padded to",
                (int)known.size, known.at))
        diag_help(diags, "run the graph as it was before 'expand-gears'");
    text_free(&known);
    return false;
}

bool off_gear_settle(struct input *input, struct graph *graph, enum off_gear mode,
                     struct dim_bindings *bindings, struct padding *padding)
{
    struct settler settler = {.input = input, .graph = graph, .bindings = bindings};
    if (!gear_table_init_left(&settler.table, graph))
        return true; /* expand-gears says so */
    settler.exact = mem_calloc(settler.table.n_gears, sizeof *settler.exact);
    settler.known = mem_calloc(settler.table.n_gears, sizeof *settler.known);
    settler.rejected = mem_calloc(settler.table.n_rows, 1);
    find_exact(&settler);
    bool ok = is_combination(&settler) ||
              (graph->cases.count ? report_expanded(&settler) : settle(&settler, mode, padding));
    mem_free(settler.exact);
    mem_free(settler.known);
    mem_free(settler.rejected);
    text_free(&settler.reason);
    gear_table_free(&settler.table);
    return ok;
}
