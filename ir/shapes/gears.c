#include "ir/shapes/gears.h"
#include "ir/core/attr.h"
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

/* All rows that begin as `row` does, up to `gear`. Values that are repeated are left out, so this
 * ends when the table is full. */
static bool add_product(struct gear_table *table, const struct graph *graph, int64_t *row,
                        uint32_t gear)
{
    if (gear == table->n_gears)
        return add_row(table, row);
    struct range range = graph->gears.at[gear].values;
    const int64_t *values = graph->gear_values.at + range.first;
    bool room = true;
    for (uint32_t n = 0; room && n < range.count; n++) {
        uint32_t first = 0;
        while (values[first] != values[n])
            first++;
        row[gear] = values[n];
        if (first == n)
            room = add_product(table, graph, row, gear + 1);
    }
    return room;
}

bool gear_table_init(struct gear_table *table, const struct graph *graph)
{
    uint32_t n = graph->gears.count;
    uint64_t all = 1; /* combinations of a product, repeated ones too */
    bool zip = graph->gear_mode == GEARS_ZIP, room = true, fits = true;
    int64_t *row = mem_calloc(n, sizeof *row);
    *table = (struct gear_table){.n_gears = n};
    table->values = mem_calloc((size_t)n * GEARS_MAX_ROWS, sizeof *table->values);
    for (uint32_t at = 0; zip && room && at < graph->gears.at[0].values.count; at++) {
        for (uint32_t i = 0; i < n; i++)
            row[i] = graph->gear_values.at[graph->gears.at[i].values.first + at];
        room = add_row(table, row);
    }
    if (!zip)
        room = add_product(table, graph, row, 0);
    for (uint32_t i = 0; i < n; i++)
        fits = fits && !__builtin_mul_overflow(all, graph->gears.at[i].values.count, &all);
    if (graph->gear_mode == GEARS_PRODUCT)
        table->n_repeated = fits ? all - table->n_rows : UINT64_MAX;
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

/* The values of a row that gears were expanded to. */
static const int64_t *case_row(const struct graph *graph, uint32_t row)
{
    return graph->gear_values.at + graph->cases.at[row].values.first;
}

/* Of the row that has the graph. */
static const char *copy_text(const struct diag_copy *copy, struct arena *arena)
{
    const struct module *module = copy->whole;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        uint32_t n = 0;
        while (n < graph->cases.count && graph->cases.at[n].graph != copy->id)
            n++;
        if (n == graph->cases.count)
            continue;
        struct text text = {NULL, 0, 0};
        gear_row_text(&text, module, graph, case_row(graph, n));
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

void graphs_mark_named(const struct module *module, uint8_t *marks)
{
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        graph_mark_called(module, graph, marks);
        for (uint32_t n = 0; n < graph->cases.count; n++)
            marks[id_map_get(&module->named[SYMBOL_GRAPH], graph->cases.at[n].graph)] = 1;
    }
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
        uint32_t row = 0;
        for (;;) {
            uint32_t id = graph_next_called(module, graph, &walk);
            if (id == NONE && row == graph->cases.count)
                break;
            if (id == NONE)
                id = id_map_get(&module->named[SYMBOL_GRAPH], graph->cases.at[row++].graph);
            if (!marks[id])
                vec_push(&reached, id);
            marks[id] = 1;
        }
    }
    vec_free(&reached);
}

/* ------------------------------------------------------------------------ dimensions ---- */

int64_t gear_row_dim(const struct module *module, const struct graph *graph, const int64_t *row,
                     int64_t dim)
{
    struct dim_sum sum;
    int64_t all = 0;
    if (!dim_is_gear(dim))
        return dim;
    dim_to_sum(module, dim, &sum);
    for (uint32_t i = 0; i < sum.count; i++) {
        const struct dim_term *term = &sum.terms[i];
        int64_t product = term->coefficient;
        for (uint32_t n = 0; n < term->degree; n++) {
            const struct gear *gear = graph_find_gear(graph, term->names[n]);
            if (!gear || __builtin_mul_overflow(product, row[gear - graph->gears.at], &product))
                return DIM_UNKNOWN;
        }
        if (__builtin_add_overflow(all, product, &all))
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

static bool bind_type(struct attr_map *map, struct attr_value *value)
{
    struct type_binder *binder = map->user;
    struct module *module = binder->module;
    int64_t dims[MAX_RANK];
    uint32_t of = value->id, at = of % RECENT_TYPES;
    if (value->kind != ATTR_TYPE || of == NONE || !binder->ok)
        return false;
    if (binder->recent[at].id != of) {
        struct type type = module->types.at[of];
        for (uint32_t i = 0; i < type_n_dims(&type); i++) {
            int64_t dim = type_dims(module, of)[i];
            *binder->fault = (struct bind_fault){
                dim, dim_bind(module, dim, binder->bindings, binder->count, &dims[i])};
            binder->ok = binder->fault->fault == DIM_FINE;
            if (!binder->ok)
                return false;
        }
        binder->recent[at].id = of;
        binder->recent[at].bound = module_type(module, type.dtype, type.format, dims, type.rank);
    }
    value->id = binder->recent[at].bound;
    return value->id != of;
}

static void bind_id(struct attr_map *map, uint32_t *type)
{
    struct attr_value value = {.kind = ATTR_TYPE, .id = *type};
    bind_type(map, &value);
    *type = value.id;
}

bool graph_bind_types(struct module *module, struct graph *graph,
                      const struct dim_binding *bindings, uint32_t count, struct bind_fault *fault)
{
    struct type_binder binder = {
        .module = module, .bindings = bindings, .count = count, .ok = true, .fault = fault};
    struct attr_map map = {module, bind_type, &binder};
    for (uint32_t i = 0; i < RECENT_TYPES; i++)
        binder.recent[i].id = NONE;
    for (uint32_t i = 0; i < graph->values.count; i++)
        bind_id(&map, &graph->values.at[i].type);
    for (uint32_t i = 0; i < graph->result_types.count; i++)
        bind_id(&map, &graph->result_types.at[i]);
    if (binder.ok)
        attr_map_graph(&map, graph);
    return binder.ok;
}

void graph_drop_names(struct graph *graph, const struct dim_binding *bindings, uint32_t count)
{
    uint32_t dims = 0, gears = 0;
    for (uint32_t i = 0; i < graph->dims.count; i++)
        if (!dim_find_binding(bindings, count, graph->dims.at[i].name))
            graph->dims.at[dims++] = graph->dims.at[i];
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (!dim_find_binding(bindings, count, graph->gears.at[i].name))
            graph->gears.at[gears++] = graph->gears.at[i];
    graph->dims.count = dims;
    graph->gears.count = gears;
    if (gears == 0)
        graph->gear_mode = GEARS_NONE;
}

/* -------------------------------------------------------- shapes of combinations ---- */

void gear_shapes_init(struct gear_shapes *shapes, const struct module *module,
                      const struct graph *graph)
{
    *shapes = (struct gear_shapes){.values = NULL};
    for (uint32_t p = 0; p < graph->n_params; p++) {
        uint32_t type = graph->values.at[p].type;
        for (uint32_t d = 0; d < type_n_dims(&module->types.at[type]); d++) {
            int64_t dim = type_dims(module, type)[d];
            if (dim_is_gear(dim) && gear_row_dim(module, graph, case_row(graph, 0), dim) >= 0)
                vec_push(&shapes->dims, (struct gear_shape_dim){p, d});
        }
    }
    uint32_t n = shapes->dims.count;
    shapes->values = mem_calloc((size_t)n * graph->cases.count, sizeof *shapes->values);
    for (uint32_t i = 0; i < graph->cases.count; i++)
        for (uint32_t d = 0; d < n; d++) {
            uint32_t type = graph->values.at[shapes->dims.at[d].param].type;
            int64_t dim = type_dims(module, type)[shapes->dims.at[d].dim];
            shapes->values[(size_t)i * n + d] =
                gear_row_dim(module, graph, case_row(graph, i), dim);
        }
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
    struct gear_table table; /* of the rows that there are: expanded, or without those marked */
};

/* What GE has no words for, and of which parameter, or NONE; NULL where it has: its shape is known
 * in each combination. */
static const char *unsaid(const struct ge_writer *writer, uint32_t *param)
{
    const struct module *module = writer->module;
    const struct graph *graph = writer->graph;
    *param = NONE;
    if (writer->table.n_rows < 2)
        return "one combination alone is none to it";
    for (*param = 0; *param < graph->n_params; ++*param) {
        const struct value *value = &graph->values.at[*param];
        const struct intern_name *name = &module->names.names[value->name];
        const struct type *type = &module->types.at[value->type];
        if (memchr(name->text, ';', name->size))
            return "its name has a semicolon";
        if (name->size == 0 || *name->text == '^')
            return "no node can have its name";
        if (type->rank == RANK_UNKNOWN)
            return "how many dimensions it has is not known";
        for (uint32_t row = 0; row < writer->table.n_rows; row++)
            for (uint32_t i = 0; i < type->rank; i++)
                if (gear_row_dim(module, graph, gear_table_row(&writer->table, row),
                                 type_dims(module, value->type)[i]) < 0)
                    return "gears do not give all of its dimensions";
    }
    *param = NONE;
    return NULL;
}

/* False where the graph has no gears. The table is to be freed. */
static bool begin(struct ge_writer *writer, const struct module *module, const struct graph *graph)
{
    struct gear_table *table = &writer->table;
    uint32_t kept = 0;
    *writer = (struct ge_writer){.module = module, .graph = graph};
    if (graph->gear_mode == GEARS_NONE || !gear_table_init_left(table, graph))
        return false;
    for (uint32_t row = 0; graph->cases.count == 0 && row < table->n_rows; row++)
        if (!gear_row_is_marked(graph, row))
            memmove(table->values + (size_t)kept++ * table->n_gears, gear_table_row(table, row),
                    table->n_gears * sizeof *table->values);
    table->n_rows = graph->cases.count ? graph->cases.count : kept;
    return true;
}

bool ge_gears_write(struct ge_gears *gears, const struct module *module, const struct graph *graph)
{
    struct ge_writer writer;
    struct text *shape = &gears->input_shape, *dims = &gears->dynamic_dims;
    uint32_t param;
    *gears = (struct ge_gears){.input_shape = {NULL, 0, 0}};
    if (!begin(&writer, module, graph))
        return false;
    bool says = !unsaid(&writer, &param);
    for (uint32_t p = 0; says && p < graph->n_params; p++) {
        const struct value *value = &graph->values.at[p];
        const struct intern_name *name = &module->names.names[value->name];
        uint32_t rank = module->types.at[value->type].rank;
        text_string(shape, p ? ";" : "");
        text_bytes(shape, name->text, name->size);
        text_string(shape, rank == 0 ? ":" : "");
        for (uint32_t i = 0; i < rank; i++) {
            int64_t dim = type_dims(module, value->type)[i];
            text_char(shape, i ? ',' : ':');
            text_signed(shape, dim_is_gear(dim) ? -1 : dim);
        }
    }
    for (uint32_t row = 0; says && row < writer.table.n_rows; row++) {
        const char *between = row ? ";" : "";
        for (uint32_t p = 0; p < graph->n_params; p++)
            for (uint32_t i = 0; i < module->types.at[graph->values.at[p].type].rank; i++) {
                int64_t dim = type_dims(module, graph->values.at[p].type)[i];
                if (!dim_is_gear(dim))
                    continue;
                text_string(dims, between);
                text_signed(dims,
                            gear_row_dim(module, graph, gear_table_row(&writer.table, row), dim));
                between = ",";
            }
    }
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
