#include "ir/shapes/gears.h"
#include "ir/core/attrs.h"
#include "ir/core/calls.h"
#include "ir/support/diag.h"

#include <string.h>

/* ---------------------------------------------------------------------------- tables ---- */

static int compare_rows(const int64_t *a, const int64_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* The place of a row, or the one where it would be. */
static uint32_t lower_bound(const struct gear_table *table, const int64_t *row)
{
    uint32_t low;
    bisect(low, i, table->n_rows, compare_rows(gear_table_row(table, i), row, table->n_gears) < 0);
    return low;
}

uint32_t gear_table_find(const struct gear_table *table, const int64_t *row)
{
    uint32_t at = lower_bound(table, row);
    bool found =
        at < table->n_rows && compare_rows(gear_table_row(table, at), row, table->n_gears) == 0;
    return found ? at : NONE;
}

/* False where the table is full. */
static bool add_row(struct gear_table *table, const int64_t *row)
{
    size_t n = table->n_gears;
    uint32_t at = lower_bound(table, row);
    if (at < table->n_rows && compare_rows(gear_table_row(table, at), row, table->n_gears) == 0) {
        table->n_repeated++;
        return true;
    }
    if (table->n_rows == GEARS_MAX_ROWS)
        return false;
    int64_t *place = table->values + at * n;
    memmove(place + n, place, (table->n_rows - at) * n * sizeof *place);
    memcpy(place, row, n * sizeof *place);
    table->n_rows++;
    return true;
}

static int64_t value_at(const struct graph *graph, uint32_t gear, uint32_t n)
{
    return graph->gear_values.at[graph->gears.at[gear].values.first + n];
}

static bool add_zip(struct gear_table *table, const struct graph *graph, int64_t *row)
{
    bool room = true;
    for (uint32_t n = 0; room && n < graph->gears.at[0].values.count; n++) {
        for (uint32_t i = 0; i < table->n_gears; i++)
            row[i] = value_at(graph, i, n);
        room = add_row(table, row);
    }
    return room;
}

/* Whether the gear has the value before its n-th place. */
static bool is_repeated(const struct graph *graph, uint32_t gear, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (value_at(graph, gear, i) == value_at(graph, gear, n))
            return true;
    return false;
}

/* All rows that begin as `row` does, up to `gear`. Values that stand twice are left out, so this
 * ends when the table is full. */
static bool add_product(struct gear_table *table, const struct graph *graph, int64_t *row,
                        uint32_t gear)
{
    bool room = true;
    if (gear == table->n_gears)
        return add_row(table, row);
    for (uint32_t n = 0; room && n < graph->gears.at[gear].values.count; n++) {
        row[gear] = value_at(graph, gear, n);
        if (!is_repeated(graph, gear, n))
            room = add_product(table, graph, row, gear + 1);
    }
    return room;
}

/* Of a product that fits the table. */
static uint64_t count_repeated(const struct gear_table *table, const struct graph *graph)
{
    uint64_t all = 1;
    for (uint32_t i = 0; i < table->n_gears; i++)
        if (__builtin_mul_overflow(all, graph->gears.at[i].values.count, &all))
            return UINT64_MAX;
    return all - table->n_rows;
}

bool gear_table_init(struct gear_table *table, const struct graph *graph)
{
    uint32_t n = graph->gears.count;
    int64_t *row = mem_calloc(n, sizeof *row);
    *table = (struct gear_table){.n_gears = n};
    table->values = mem_calloc((size_t)n * GEARS_MAX_ROWS, sizeof *table->values);
    bool room = graph->gear_mode == GEARS_ZIP ? add_zip(table, graph, row)
                                              : add_product(table, graph, row, 0);
    if (room && graph->gear_mode == GEARS_PRODUCT)
        table->n_repeated = count_repeated(table, graph);
    if (!room)
        gear_table_free(table);
    mem_free(row);
    return room;
}

bool gear_table_init_left(struct gear_table *table, const struct graph *graph)
{
    size_t n = graph->gears.count;
    if (graph->cases.count == 0)
        return gear_table_init(table, graph);
    *table = (struct gear_table){.n_gears = graph->gears.count, .n_rows = graph->cases.count};
    table->values = mem_calloc(n * table->n_rows, sizeof *table->values);
    for (uint32_t i = 0; i < table->n_rows; i++)
        memcpy(table->values + i * n, graph->gear_values.at + graph->cases.at[i].values.first,
               n * sizeof *table->values);
    return true;
}

void gear_table_free(struct gear_table *table)
{
    mem_free(table->values);
    *table = (struct gear_table){.values = NULL};
}

const struct gear *graph_find_gear(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].name == name)
            return &graph->gears.at[i];
    return NULL;
}

void gear_row_text(struct text *text, const struct module *module, const struct graph *graph,
                   const int64_t *row)
{
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        text_printf(text, "%s%.*s = ", i ? ", " : "", NAME(module, graph->gears.at[i].name));
        text_signed(text, row[i]);
    }
}

/* The values of the row whose graph has the name; NULL. */
static const int64_t *row_of(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->cases.count; i++)
        if (graph->cases.at[i].graph == name)
            return graph->gear_values.at + graph->cases.at[i].values.first;
    return NULL;
}

/* Of the row that has the graph. */
static const char *copy_text(const struct diag_copy *copy, struct arena *arena)
{
    const struct module *module = copy->whole;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const int64_t *row = row_of(&module->graphs.at[i], copy->id);
        if (!row)
            continue;
        struct text text = {NULL, 0, 0};
        gear_row_text(&text, module, &module->graphs.at[i], row);
        const char *kept = arena_strndup(arena, text.at, text.size);
        text_free(&text);
        return kept;
    }
    return NULL;
}

void gears_tell_copy(struct diags *diags, const struct module *module, const struct graph *graph)
{
    bool tell = diags->copies && graph;
    diags->copy = tell ? (struct diag_copy){copy_text, module, graph->name}
                       : (struct diag_copy){NULL, NULL, 0};
}

bool module_has_cases(const struct module *module)
{
    for (uint32_t i = 0; i < module->graphs.count; i++)
        if (module->graphs.at[i].cases.count)
            return true;
    return false;
}

static uint32_t case_graph(const struct module *module, const struct gear_case *row)
{
    return id_map_get(&module->named[SYMBOL_GRAPH], row->graph);
}

void graphs_mark_named(const struct module *module, uint8_t *marks)
{
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        graph_mark_called(module, graph, marks);
        for (uint32_t n = 0; n < graph->cases.count; n++)
            marks[case_graph(module, &graph->cases.at[n])] = 1;
    }
}

static void reach(struct vec_u32 *reached, uint8_t *marks, uint32_t id)
{
    if (!marks[id])
        vec_push(reached, id);
    marks[id] = 1;
}

void graphs_mark_reached(const struct module *module, uint8_t *marks)
{
    struct vec_u32 reached = {NULL, 0, 0};
    for (uint32_t i = 0; i < module->graphs.count; i++)
        if (marks[i])
            vec_push(&reached, i);
    while (reached.count) {
        const struct graph *graph = &module->graphs.at[reached.at[--reached.count]];
        struct call_walk walk = {0, 0};
        for (uint32_t id; (id = graph_next_called(module, graph, &walk)) != NONE;)
            reach(&reached, marks, id);
        for (uint32_t i = 0; i < graph->cases.count; i++)
            reach(&reached, marks, case_graph(module, &graph->cases.at[i]));
    }
    vec_free(&reached);
}

/* ------------------------------------------------------------------------ dimensions ---- */

static bool gear_value_of(const struct graph *graph, const int64_t *row, uint32_t name,
                          int64_t *value)
{
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].name == name) {
            *value = row[i];
            return true;
        }
    return false;
}

static bool term_value(const struct graph *graph, const int64_t *row, const struct dim_term *term,
                       int64_t *product)
{
    *product = term->coefficient;
    for (uint32_t i = 0; i < term->degree; i++) {
        int64_t value;
        if (!gear_value_of(graph, row, term->names[i], &value) ||
            __builtin_mul_overflow(*product, value, product))
            return false;
    }
    return true;
}

int64_t gear_row_dim(const struct module *module, const struct graph *graph, const int64_t *row,
                     int64_t dim)
{
    struct dim_sum sum;
    int64_t all = 0;
    if (!dim_is_gear(dim))
        return dim;
    dim_to_sum(module, dim, &sum);
    for (uint32_t i = 0; i < sum.count; i++) {
        int64_t product;
        if (!term_value(graph, row, &sum.terms[i], &product) ||
            __builtin_add_overflow(all, product, &all))
            return DIM_UNKNOWN;
    }
    return all;
}

/* ----------------------------------------------------------------------------- types ---- */

enum { RECENT_TYPES = 16 };

/* What the types of a graph are bound with. Most of them are types of others, too. */
struct type_binder {
    struct module *module;
    const struct dim_binding *bindings;
    uint32_t count;
    bool ok;
    struct bind_fault *fault;
    struct {
        uint32_t id, bound; /* NONE: none */
    } recent[RECENT_TYPES]; /* by the low bits of the id */
};

static bool bind_dims(struct type_binder *binder, uint32_t id, int64_t *dims)
{
    struct module *module = binder->module;
    uint32_t count = type_n_dims(&module->types.at[id]);
    for (uint32_t i = 0; i < count; i++) {
        int64_t dim = type_dims(module, id)[i];
        *binder->fault = (struct bind_fault){
            dim, dim_bind(module, dim, binder->bindings, binder->count, &dims[i])};
        if (binder->fault->fault != DIM_FINE)
            return false;
    }
    return true;
}

static void bind_type(struct type_binder *binder, uint32_t *id)
{
    int64_t dims[MAX_RANK];
    if (*id == NONE || !binder->ok)
        return;
    uint32_t of = *id, at = of % RECENT_TYPES;
    if (binder->recent[at].id != of) {
        struct type type = binder->module->types.at[of];
        binder->ok = bind_dims(binder, of, dims);
        if (!binder->ok)
            return;
        binder->recent[at].id = of;
        binder->recent[at].bound =
            module_type(binder->module, type.dtype, type.format, dims, type.rank);
    }
    *id = binder->recent[at].bound;
}

static bool bind_attr(struct attr_map *map, struct attr_value *value)
{
    uint32_t before = value->id;
    if (value->kind == ATTR_TYPE)
        bind_type(map->user, &value->id);
    return value->id != before;
}

bool graph_bind_types(struct module *module, struct graph *graph,
                      const struct dim_binding *bindings, uint32_t count, struct bind_fault *fault)
{
    struct type_binder binder = {
        .module = module, .bindings = bindings, .count = count, .ok = true, .fault = fault};
    struct attr_map map = {module, bind_attr, &binder};
    for (uint32_t i = 0; i < RECENT_TYPES; i++)
        binder.recent[i].id = NONE;
    for (uint32_t i = 0; i < graph->values.count; i++)
        bind_type(&binder, &graph->values.at[i].type);
    for (uint32_t i = 0; i < graph->result_types.count; i++)
        bind_type(&binder, &graph->result_types.at[i]);
    if (binder.ok)
        attr_map_graph(&map, graph);
    return binder.ok;
}

static bool is_bound(const struct dim_binding *bindings, uint32_t count, uint32_t name)
{
    for (uint32_t i = 0; i < count; i++)
        if (bindings[i].name == name)
            return true;
    return false;
}

void graph_drop_names(struct graph *graph, const struct dim_binding *bindings, uint32_t count)
{
    uint32_t dims = 0, gears = 0;
    for (uint32_t i = 0; i < graph->dims.count; i++)
        if (!is_bound(bindings, count, graph->dims.at[i].name))
            graph->dims.at[dims++] = graph->dims.at[i];
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (!is_bound(bindings, count, graph->gears.at[i].name))
            graph->gears.at[gears++] = graph->gears.at[i];
    graph->dims.count = dims;
    graph->gears.count = gears;
    if (gears == 0)
        graph->gear_mode = GEARS_NONE;
}

/* -------------------------------------------------------- shapes of combinations ---- */

static int64_t dim_of_case(const struct module *module, const struct graph *graph, uint32_t id,
                           struct gear_shape_dim dim)
{
    const int64_t *row = graph->gear_values.at + graph->cases.at[id].values.first;
    return gear_row_dim(module, graph, row,
                        type_dims(module, graph->values.at[dim.param].type)[dim.dim]);
}

static void find_dims(struct gear_shapes *shapes, const struct module *module,
                      const struct graph *graph)
{
    for (uint32_t p = 0; p < graph->n_params; p++) {
        uint32_t type = graph->values.at[p].type;
        for (uint32_t d = 0; d < type_n_dims(&module->types.at[type]); d++)
            if (dim_is_gear(type_dims(module, type)[d]) &&
                dim_of_case(module, graph, 0, (struct gear_shape_dim){p, d}) >= 0)
                vec_push(&shapes->dims, (struct gear_shape_dim){p, d});
    }
}

void gear_shapes_init(struct gear_shapes *shapes, const struct module *module,
                      const struct graph *graph)
{
    *shapes = (struct gear_shapes){.values = NULL};
    find_dims(shapes, module, graph);
    uint32_t n = shapes->dims.count;
    shapes->values = mem_calloc((size_t)n * graph->cases.count, sizeof *shapes->values);
    for (uint32_t i = 0; i < graph->cases.count; i++)
        for (uint32_t d = 0; d < n; d++)
            shapes->values[(size_t)i * n + d] = dim_of_case(module, graph, i, shapes->dims.at[d]);
}

void gear_shapes_free(struct gear_shapes *shapes)
{
    vec_free(&shapes->dims);
    mem_free(shapes->values);
}

/* A graph whose gears are written. */
struct ge_writer {
    const struct module *module;
    const struct graph *graph;
    struct gear_table table; /* of gears that are not expanded, without the rows that are marked */
};

static uint32_t count_rows(const struct ge_writer *writer)
{
    return writer->graph->cases.count ? writer->graph->cases.count : writer->table.n_rows;
}

static const int64_t *row_at(const struct ge_writer *writer, uint32_t row)
{
    return writer->graph->cases.count
               ? writer->graph->gear_values.at + writer->graph->cases.at[row].values.first
               : gear_table_row(&writer->table, row);
}

static int64_t dim_at(const struct ge_writer *writer, uint32_t row, int64_t dim)
{
    return gear_row_dim(writer->module, writer->graph, row_at(writer, row), dim);
}

/* What GE has no words for of a parameter: its shape is known in each combination else; NULL. */
static const char *unsaid_of(const struct ge_writer *writer, uint32_t param)
{
    const struct value *value = &writer->graph->values.at[param];
    const struct intern_name *name = &writer->module->names.names[value->name];
    const struct type *type = &writer->module->types.at[value->type];
    if (memchr(name->text, ';', name->size))
        return "its name has a semicolon";
    if (name->size == 0 || *name->text == '^')
        return "no node can have its name";
    if (type->rank == RANK_UNKNOWN)
        return "how many dimensions it has is not known";
    for (uint32_t row = 0; row < count_rows(writer); row++)
        for (uint32_t i = 0; i < type->rank; i++)
            if (dim_at(writer, row, type_dims(writer->module, value->type)[i]) < 0)
                return "gears do not give all of its dimensions";
    return NULL;
}

static void drop_marked(struct gear_table *table, const struct graph *graph)
{
    uint32_t kept = 0;
    for (uint32_t row = 0; row < table->n_rows; row++)
        if (!gear_row_is_marked(graph, row))
            memmove(table->values + (size_t)kept++ * table->n_gears, gear_table_row(table, row),
                    table->n_gears * sizeof *table->values);
    table->n_rows = kept;
}

/* What GE has no words for, and of which parameter, or NONE; NULL where it has. */
static const char *unsaid(const struct ge_writer *writer, uint32_t *param)
{
    const char *why = count_rows(writer) < 2 ? "one combination alone is none to it" : NULL;
    *param = NONE;
    for (uint32_t i = 0; !why && i < writer->graph->n_params; i++) {
        why = unsaid_of(writer, i);
        *param = why ? i : NONE;
    }
    return why;
}

/* False where the graph has no gears. The table is to be freed. */
static bool begin(struct ge_writer *writer, const struct module *module, const struct graph *graph)
{
    *writer = (struct ge_writer){.module = module, .graph = graph};
    if (graph->gear_mode == GEARS_NONE ||
        (graph->cases.count == 0 && !gear_table_init(&writer->table, graph)))
        return false;
    if (graph->cases.count == 0)
        drop_marked(&writer->table, graph);
    return true;
}

static void put_param(const struct ge_writer *writer, uint32_t param, struct text *text)
{
    const struct value *value = &writer->graph->values.at[param];
    const struct intern_name *name = &writer->module->names.names[value->name];
    text_string(text, param ? ";" : "");
    text_bytes(text, name->text, name->size);
    for (uint32_t i = 0; i < writer->module->types.at[value->type].rank; i++) {
        int64_t dim = type_dims(writer->module, value->type)[i];
        text_char(text, i ? ',' : ':');
        text_signed(text, dim_is_gear(dim) ? -1 : dim);
    }
    if (writer->module->types.at[value->type].rank == 0)
        text_char(text, ':');
}

static void put_row(const struct ge_writer *writer, uint32_t row, struct text *text)
{
    const char *between = row ? ";" : "";
    for (uint32_t param = 0; param < writer->graph->n_params; param++) {
        uint32_t type = writer->graph->values.at[param].type;
        for (uint32_t i = 0; i < writer->module->types.at[type].rank; i++) {
            int64_t dim = type_dims(writer->module, type)[i];
            if (!dim_is_gear(dim))
                continue;
            text_string(text, between);
            text_signed(text, dim_at(writer, row, dim));
            between = ",";
        }
    }
}

bool ge_gears_write(struct ge_gears *gears, const struct module *module, const struct graph *graph)
{
    struct ge_writer writer;
    uint32_t param;
    *gears = (struct ge_gears){.input_shape = {NULL, 0, 0}};
    if (!begin(&writer, module, graph))
        return false;
    bool says = !unsaid(&writer, &param);
    for (uint32_t i = 0; says && i < graph->n_params; i++)
        put_param(&writer, i, &gears->input_shape);
    for (uint32_t i = 0; says && i < count_rows(&writer); i++)
        put_row(&writer, i, &gears->dynamic_dims);
    gear_table_free(&writer.table);
    return says;
}

const char *ge_gears_unsaid(const struct module *module, const struct graph *graph, uint32_t *param)
{
    struct ge_writer writer;
    *param = NONE;
    if (!begin(&writer, module, graph))
        return NULL;
    const char *why = unsaid(&writer, param);
    gear_table_free(&writer.table);
    return why;
}

void ge_gears_free(struct ge_gears *gears)
{
    text_free(&gears->input_shape);
    text_free(&gears->dynamic_dims);
}
