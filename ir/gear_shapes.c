#include "ir/gear_shapes.h"
#include "ir/gears.h"

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
