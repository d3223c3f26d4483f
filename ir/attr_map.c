#include "ir/attr_map.h"

/* Whether there is anything in a value that a map may change: most have nothing. */
static bool has_names(const struct module *module, const struct attr_value *value)
{
    if (value->kind == ATTR_TYPE || value->kind == ATTR_SYMBOL)
        return true;
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        if (has_names(module, &module->attr_values.at[value->first + i]))
            return true;
    for (uint32_t i = 0; value->kind == ATTR_DICT && i < value->count; i++)
        if (has_names(module, &module->attrs.at[value->first + i].value))
            return true;
    return false;
}

static bool map_value(struct attr_map *map, struct attr_value *value);

static bool map_list(struct attr_map *map, struct attr_value *list)
{
    VEC(struct attr_value) values = {NULL, 0, 0};
    bool changed = false;
    for (uint32_t i = 0; i < list->count; i++) {
        vec_push(&values, map->module->attr_values.at[list->first + i]);
        changed = map_value(map, &values.at[i]) || changed;
    }
    if (changed)
        list->first = module_add_values(map->module, values.at, values.count).first;
    vec_free(&values);
    return changed;
}

static bool map_attrs(struct attr_map *map, struct range *range)
{
    VEC(struct attr) attrs = {NULL, 0, 0};
    bool changed = false;
    for (uint32_t i = 0; i < range->count; i++) {
        vec_push(&attrs, map->module->attrs.at[range->first + i]);
        changed = map_value(map, &attrs.at[i].value) || changed;
    }
    if (changed)
        *range = module_add_attrs(map->module, attrs.at, attrs.count);
    vec_free(&attrs);
    return changed;
}

static bool map_value(struct attr_map *map, struct attr_value *value)
{
    if (value->kind == ATTR_LIST)
        return map_list(map, value);
    if (value->kind != ATTR_DICT)
        return (value->kind == ATTR_TYPE || value->kind == ATTR_SYMBOL) && map->change(map, value);
    struct range attrs = {value->first, value->count};
    bool changed = map_attrs(map, &attrs);
    value->first = attrs.first;
    return changed;
}

static void map_range(struct attr_map *map, struct range *range)
{
    bool any = false;
    for (uint32_t i = 0; i < range->count && !any; i++)
        any = has_names(map->module, &map->module->attrs.at[range->first + i].value);
    if (any)
        map_attrs(map, range);
}

void attr_map_graph(struct attr_map *map, struct graph *graph)
{
    map_range(map, &graph->attrs);
    for (uint32_t i = 0; i < graph->params.count; i++)
        map_range(map, &graph->params.at[i].attrs);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        map_range(map, &graph->blocks.at[i].attrs);
    for (uint32_t i = 0; i < graph->ops.count; i++)
        map_range(map, &graph->ops.at[i].attrs);
}
