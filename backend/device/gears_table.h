/* What the table of a graph with gears says (struct skrt_gears of skrt.h), before it is written. */
#ifndef BACKEND_DEVICE_GEARS_TABLE_H
#define BACKEND_DEVICE_GEARS_TABLE_H

#include "backend/runtime/skrt.h"
#include "ir/shapes/gears.h"

/* The rows have no addresses: those are of what is named beside them. */
struct gears_launch {
    uint32_t name, entry; /* of the super kernel, by name id; of the entry, by index */
    struct skrt_gear_launch row;
};

struct gears_case {
    uint32_t name; /* of its graph, by name id */
    struct range launches;
    struct skrt_gear_case row;
};

struct gears_table {
    const struct module *module;
    const struct graph *graph;
    struct skrt_gears row;
    struct gear_shapes shapes;
    struct gears_case *cases; /* as many as the graph has */
    VEC(struct gears_launch) launches;
    uint8_t *slots;
    uint32_t n_slots;
};

/* Of a graph that has rows of combinations. */
void gears_table_make(struct gears_table *table, const struct module *module,
                      const struct graph *graph);
void gears_table_free(struct gears_table *table);

/* The name of a dimension's parameter, by id. */
uint32_t gears_table_param(const struct gears_table *table, struct gear_shape_dim dim);

#endif
