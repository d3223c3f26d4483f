/* Attributes, and the pools that hold them. */
#include "ir/core/attr.h"
#include "ir/core/module.h"
#include "ir/support/memory.h"

#include <string.h>

/* Whether elements that are to be appended to a pool outlive its growth: they are not of it, or
 * there is room for them. */
#define OUTLIVES(pool, elements, n)                                                                \
    ((n) <= (pool)->capacity - (pool)->count ||                                                    \
     bytes_are_apart(elements, (n) * sizeof *(elements), (pool)->at,                               \
                     (pool)->capacity * sizeof *(pool)->at))

bool attr_is_private(const struct module *module, uint32_t key)
{
    const struct intern_name *name = &module->names.names[key];
    return name->size > 0 && name->text[0] == '_';
}

bool attrs_are_private(const struct module *module, struct range attrs)
{
    for (uint32_t i = 0; i < attrs.count; i++)
        if (!attr_is_private(module, module->attrs.at[attrs.first + i].key))
            return false;
    return true;
}

const struct attr *attr_look_for(const struct module *module, struct range attrs, uint32_t key)
{
    expensive_assert(attrs.count == 0 || (attrs.first < module->attrs.count &&
                                          attrs.count <= module->attrs.count - attrs.first));
    for (uint32_t i = 0; i < attrs.count; i++)
        if (module->attrs.at[attrs.first + i].key == key)
            return &module->attrs.at[attrs.first + i];
    return NULL;
}

int64_t attr_int(const struct module *module, struct range attrs, uint32_t key, int64_t absent)
{
    const struct attr *attr = attr_find(module, attrs, key);
    return attr && attr->value.kind == ATTR_INT ? attr->value.i : absent;
}

bool attr_flag(const struct module *module, struct range attrs, uint32_t key)
{
    const struct attr *attr = attr_find(module, attrs, key);
    return attr && attr->value.kind == ATTR_BOOL && attr->value.i;
}

uint32_t attr_string(const struct module *module, struct range attrs, uint32_t key)
{
    const struct attr *attr = attr_find(module, attrs, key);
    return attr && attr->value.kind == ATTR_STRING ? attr->value.id : NONE;
}

uint32_t attr_symbol(const struct module *module, struct range attrs, uint32_t key)
{
    const struct attr *attr = attr_find(module, attrs, key);
    return attr && attr->value.kind == ATTR_SYMBOL ? attr->value.id : NONE;
}

bool attr_has_word(const struct module *module, struct range attrs, uint32_t key, uint32_t word)
{
    const struct attr *attr = attr_find(module, attrs, key);
    for (uint32_t i = 0; attr && attr->value.kind == ATTR_LIST && i < attr->value.count; i++) {
        const struct attr_value *value = &module->attr_values.at[attr->value.first + i];
        if (value->kind == ATTR_WORD && value->id == word)
            return true;
    }
    return false;
}

const int64_t *attr_list_ints(const struct module *module, const struct attr_value *list,
                              struct arena *arena)
{
    int64_t *ints = arena_alloc(arena, (list->count + 1) * sizeof *ints);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct attr_value *item = &module->attr_values.at[list->first + i];
        if (item->kind != ATTR_INT)
            return NULL;
        ints[i] = item->i;
    }
    return ints;
}

struct range module_add_attrs(struct module *module, const struct attr *attrs, uint32_t count)
{
    struct range range = {module->attrs.count, count};
    if (count == 0)
        return (struct range){0, 0};
    part_leave();
    expensive_assert(OUTLIVES(&module->attrs, attrs, count));
    vec_reserve(&module->attrs, count);
    memcpy(module->attrs.at + range.first, attrs, count * sizeof *attrs);
    for (uint32_t i = 0; i < count; i++)
        module_note_key(module, attrs[i].key);
    module->attrs.count += count;
    return range;
}

struct range attrs_with(struct module *module, struct range attrs, struct attr attr)
{
    VEC(struct attr) list = {NULL, 0, 0};
    bool replaced = false;
    for (uint32_t i = 0; i < attrs.count; i++) {
        bool same = module->attrs.at[attrs.first + i].key == attr.key;
        vec_push(&list, same ? attr : module->attrs.at[attrs.first + i]);
        replaced = replaced || same;
    }
    if (!replaced)
        vec_push(&list, attr);
    attrs = module_add_attrs(module, list.at, list.count);
    vec_free(&list);
    return attrs;
}

struct range module_add_values(struct module *module, const struct attr_value *values,
                               uint32_t count)
{
    struct range range = {module->attr_values.count, count};
    if (count == 0)
        return (struct range){0, 0};
    part_leave();
    expensive_assert(OUTLIVES(&module->attr_values, values, count));
    vec_reserve(&module->attr_values, count);
    memcpy(module->attr_values.at + range.first, values, count * sizeof *values);
    module->attr_values.count += count;
    return range;
}

/* -------------------------------------------------------------------------- rows ---- */

const struct attr_row attr_rows[] = {
#define ATTR(owner, key, kind, low, high) {OWNER_##owner, W_##key, KIND_##kind, low, high},
#include "ir/core/attr_keys.def"
#undef ATTR
};

const size_t n_attr_rows = sizeof attr_rows / sizeof attr_rows[0];

const bool attr_owner_open[] = {
#define ATTR_OWNER(name, text, open) open,
#include "ir/core/attr_kinds.def"
};

const struct attr_row *attr_row_find(enum attr_owner owner, uint32_t key)
{
    for (size_t i = 0; i < n_attr_rows; i++)
        if (attr_rows[i].owner == owner && attr_rows[i].key == key)
            return &attr_rows[i];
    return NULL;
}

/* -------------------------------------------------------------------------- maps ---- */

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

static bool map_attrs(struct attr_map *map, struct range *range);

static bool map_value(struct attr_map *map, struct attr_value *value)
{
    VEC(struct attr_value) values = {NULL, 0, 0};
    bool changed = false;
    if (value->kind == ATTR_DICT) {
        struct range attrs = {value->first, value->count};
        changed = map_attrs(map, &attrs);
        value->first = attrs.first;
        return changed;
    }
    if (value->kind != ATTR_LIST)
        return (value->kind == ATTR_TYPE || value->kind == ATTR_SYMBOL) && map->change(map, value);
    for (uint32_t i = 0; i < value->count; i++) {
        vec_push(&values, map->module->attr_values.at[value->first + i]);
        changed = map_value(map, &values.at[i]) || changed;
    }
    if (changed)
        value->first = module_add_values(map->module, values.at, values.count).first;
    vec_free(&values);
    return changed;
}

static bool map_attrs(struct attr_map *map, struct range *range)
{
    VEC(struct attr) attrs = {NULL, 0, 0};
    bool any = false, changed = false;
    for (uint32_t i = 0; i < range->count && !any; i++)
        any = has_names(map->module, &map->module->attrs.at[range->first + i].value);
    for (uint32_t i = 0; any && i < range->count; i++) {
        vec_push(&attrs, map->module->attrs.at[range->first + i]);
        changed = map_value(map, &attrs.at[i].value) || changed;
    }
    if (changed)
        *range = module_add_attrs(map->module, attrs.at, attrs.count);
    vec_free(&attrs);
    return changed;
}

void attr_map_graph(struct attr_map *map, struct graph *graph)
{
    map_attrs(map, &graph->attrs);
    for (uint32_t i = 0; i < graph->params.count; i++)
        map_attrs(map, &graph->params.at[i].attrs);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        map_attrs(map, &graph->blocks.at[i].attrs);
    for (uint32_t i = 0; i < graph->ops.count; i++)
        map_attrs(map, &graph->ops.at[i].attrs);
}
