/* Attributes, and the pools that hold them. */
#include "ir/base/part.h"
#include "ir/module.h"

#include <string.h>

/* Whether elements that are to be appended to a pool outlive its growth: they are not of it, or
 * there is room for them. */
#define OUTLIVES(pool, elements, n)                                                                \
    ((n) <= (pool)->capacity - (pool)->count ||                                                    \
     bytes_are_apart(elements, (n) * sizeof *(elements), (pool)->at,                               \
                     (pool)->capacity * sizeof *(pool)->at))

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
