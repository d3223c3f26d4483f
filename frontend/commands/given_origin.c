#include "frontend/commands/given_origin.h"
#include "frontend/commands/given_graphs.h"

/* The first shape that has a dimension with the name; NULL. */
static const struct given_shape *shape_with(const struct module *module, const struct graph *graph,
                                            const struct shape_arguments *shapes, uint32_t name)
{
    for (uint32_t i = 0; i < shapes->count; i++) {
        uint32_t param = given_param(module, graph, &shapes->at[i]);
        uint32_t type = param == NONE ? NONE : graph->values.at[param].type;
        for (uint32_t d = 0; type != NONE && d < type_n_dims(&module->types.at[type]); d++)
            if (dim_is_gear(type_dims(module, type)[d]) &&
                dim_has_name(module, type_dims(module, type)[d], name))
                return &shapes->at[i];
    }
    return NULL;
}

void given_origin_help(struct input *input, const struct graph *graph,
                       const struct shape_arguments *shapes, const struct dim_bindings *bindings,
                       uint32_t n_bound, int64_t declared)
{
    const struct module *module = input->module;
    for (uint32_t i = 0; dim_is_gear(declared) && i < bindings->count; i++) {
        const struct dim_binding *binding = &bindings->at[i];
        if (!dim_has_name(module, declared, binding->name))
            continue;
        const struct given_shape *shape = shape_with(module, graph, shapes, binding->name);
        if (i < n_bound)
            diag_help(&input->diags, "'%.*s' is %lld by --bind", NAME(module, binding->name),
                      (long long)binding->value);
        else if (shape)
            diag_help(&input->diags, "'%.*s' is %lld by the shape of '%%%.*s', which %s says",
                      NAME(module, binding->name), (long long)binding->value, (int)shape->size,
                      shape->name, shape->from);
    }
}
