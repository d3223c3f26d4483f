/* The shapes of parameters that choose a combination of expanded gears. */
#ifndef IR_GEAR_SHAPES_H
#define IR_GEAR_SHAPES_H

#include "ir/module.h"

/* A dimension of a parameter that gears alone decide. */
struct gear_shape_dim {
    uint32_t param, dim;
};

/* To be freed. */
struct gear_shapes {
    VEC(struct gear_shape_dim) dims; /* in the order of the parameters */
    int64_t *values;                 /* for each combination of the graph a row of dims */
};

/* Of a graph with combinations. */
void gear_shapes_init(struct gear_shapes *shapes, const struct module *module,
                      const struct graph *graph);
void gear_shapes_free(struct gear_shapes *shapes);

static inline const int64_t *gear_shapes_row(const struct gear_shapes *shapes, uint32_t row)
{
    return shapes->values + (size_t)row * shapes->dims.count;
}

#endif
