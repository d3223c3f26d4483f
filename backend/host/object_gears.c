#include "backend/host/object_gears.h"
#include "backend/device/gears_table.h"
#include "backend/device/symbols.h"

/* Where the parts of a table stand in data. */
struct gears_places {
    uint64_t shapes, dims, launches, cases, slots;
};

/* What an object has between members is 0, so that objects of one module are equal: members are
 * written by themselves. */
static void put_launch_row(struct skrt_gear_launch *to, const struct skrt_gear_launch *row)
{
    to->blocks = row->blocks;
    to->aics = row->aics;
    to->aivs = row->aivs;
    to->n_params = row->n_params;
    to->workspace = row->workspace;
}

static void put_case_row(struct skrt_gear_case *to, const struct skrt_gear_case *row)
{
    to->elements = row->elements;
    to->n_launches = row->n_launches;
}

static void put_table_row(struct skrt_gears *to, const struct skrt_gears *row)
{
    to->n_dims = row->n_dims;
    to->n_cases = row->n_cases;
    to->seed = row->seed;
    to->shift = row->shift;
}

static void point_to_data(struct object_maker *maker, uint64_t at, uint64_t target)
{
    object_maker_point(maker, at, object_made_begin(OBJECT_MADE_DATA), target);
}

static void point_to_name(struct object_maker *maker, uint64_t at, uint32_t id)
{
    const struct intern_name *name = &maker->module->names.names[id];
    object_maker_point(maker, at, object_made_begin(OBJECT_MADE_RODATA),
                       object_maker_string(maker, name->text, name->size));
}

static uint64_t put_bytes(struct object_maker *maker, const void *bytes, uint64_t size)
{
    uint64_t at = object_maker_room(maker, size);
    if (size)
        memcpy(object_maker_at(maker, at), bytes, size);
    return at;
}

static uint64_t put_dims(struct object_maker *maker, const struct gears_table *table)
{
    const uint64_t size = sizeof(struct skrt_gear_dim);
    uint64_t first = object_maker_room(maker, table->row.n_dims * size);
    for (uint32_t i = 0; i < table->row.n_dims; i++) {
        struct gear_shape_dim dim = table->shapes.dims.at[i];
        uint64_t at = first + i * size;
        *(struct skrt_gear_dim *)object_maker_at(maker, at) =
            (struct skrt_gear_dim){.param = dim.param, .dim = dim.dim};
        point_to_name(maker, at + offsetof(struct skrt_gear_dim, name),
                      gears_table_param(table, dim));
    }
    return first;
}

static uint64_t put_launches(struct object_maker *maker, const struct gears_table *table)
{
    const uint64_t size = sizeof(struct skrt_gear_launch);
    uint64_t first = object_maker_room(maker, table->launches.count * size);
    for (uint32_t i = 0; i < table->launches.count; i++) {
        const struct gears_launch *launch = &table->launches.at[i];
        uint64_t at = first + i * size;
        put_launch_row(object_maker_at(maker, at), &launch->row);
        point_to_name(maker, at + offsetof(struct skrt_gear_launch, name), launch->name);
        object_maker_point(maker, at + offsetof(struct skrt_gear_launch, entry),
                           maker->entries[launch->entry], 0);
    }
    return first;
}

static uint64_t put_cases(struct object_maker *maker, const struct gears_table *table,
                          const struct gears_places *places)
{
    const uint64_t size = sizeof(struct skrt_gear_case), count = table->row.n_cases;
    uint64_t first = object_maker_room(maker, count * size);
    for (uint64_t i = 0; i < count; i++) {
        const struct gears_case *row = &table->cases[i];
        uint64_t at = first + i * size;
        put_case_row(object_maker_at(maker, at), &row->row);
        point_to_data(maker, at + offsetof(struct skrt_gear_case, shape),
                      places->shapes + i * table->row.n_dims * sizeof(int64_t));
        point_to_name(maker, at + offsetof(struct skrt_gear_case, graph), row->name);
        point_to_data(maker, at + offsetof(struct skrt_gear_case, launches),
                      places->launches + row->launches.first * sizeof(struct skrt_gear_launch));
    }
    return first;
}

static void put_table(struct object_maker *maker, const struct gears_table *table)
{
    struct gears_places places;
    uint64_t size = (uint64_t)table->row.n_cases * table->row.n_dims * sizeof(int64_t);
    places.shapes = put_bytes(maker, table->shapes.values, size);
    places.dims = put_dims(maker, table);
    places.launches = put_launches(maker, table);
    places.cases = put_cases(maker, table, &places);
    places.slots = put_bytes(maker, table->slots, table->n_slots);
    uint64_t at = object_maker_room(maker, sizeof table->row);
    put_table_row(object_maker_at(maker, at), &table->row);
    point_to_name(maker, at + offsetof(struct skrt_gears, graph), table->graph->name);
    point_to_data(maker, at + offsetof(struct skrt_gears, dims), places.dims);
    point_to_data(maker, at + offsetof(struct skrt_gears, cases), places.cases);
    point_to_data(maker, at + offsetof(struct skrt_gears, slots), places.slots);
    struct text symbol = {NULL, 0, 0};
    device_gears_symbol(&symbol, maker->module, graph_id(maker->module, table->graph));
    text_char(&symbol, '\0');
    object_made_define(maker->made, symbol.at, OBJECT_MADE_DATA, at, sizeof table->row);
    text_free(&symbol);
}

void object_gears(struct object_maker *maker)
{
    for (uint32_t i = 0; i < maker->module->graphs.count; i++) {
        struct gears_table table;
        if (maker->module->graphs.at[i].cases.count == 0)
            continue;
        gears_table_make(&table, maker->module, &maker->module->graphs.at[i]);
        put_table(maker, &table);
        gears_table_free(&table);
    }
}
