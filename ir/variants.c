#include "ir/variants.h"

uint32_t kernel_variants(const struct module *module, const struct kernel *kernel)
{
    const struct attr *attr = attr_find(module, kernel->attrs, W_variants);
    bool dynamic = kernel_is_dynamic(module, kernel);
    return dynamic && attr && attr->value.kind == ATTR_LIST ? attr->value.count : 0;
}

struct variant kernel_variant(const struct module *module, const struct kernel *kernel, uint32_t i)
{
    assert(i < kernel_variants(module, kernel));
    const struct attr *attr = attr_find(module, kernel->attrs, W_variants);
    const struct attr_value *dict = &module->attr_values.at[attr->value.first + i];
    assert(dict->kind == ATTR_DICT);
    struct range attrs = {dict->first, dict->count};
    struct variant variant = {attr_int(module, attrs, W_key, 0), kernel->type, {NONE, NONE}};
    const struct attr *type = attr_find(module, attrs, W_type);
    if (type && type->value.kind == ATTR_WORD)
        kernel_type_of_name(module, type->value.id, &variant.type);
    variant.functions[CORE_AIC] = attr_string(module, attrs, W_aic);
    variant.functions[CORE_AIV] = attr_string(module, attrs, W_aiv);
    return variant;
}

uint32_t kernel_find_variant(const struct module *module, const struct kernel *kernel, int64_t key)
{
    uint32_t count = kernel_variants(module, kernel);
    for (uint32_t i = 0; i < count; i++)
        if (kernel_variant(module, kernel, i).key == key)
            return i;
    return NONE;
}

bool kernel_type_of_name(const struct module *module, uint32_t name, enum kernel_type *type)
{
    for (int i = 0; i < KERNEL_TYPE_COUNT; i++) {
        if (!name_is(module, name, kernel_type_info(i)->name))
            continue;
        *type = (enum kernel_type)i;
        return true;
    }
    return false;
}

uint32_t kernel_parts(const struct module *module, const struct kernel *kernel)
{
    return CORE_TYPES * (kernel_is_dynamic(module, kernel) ? kernel_variants(module, kernel) : 1);
}

bool kernel_part_at(const struct module *module, const struct kernel *kernel, uint32_t i,
                    struct kernel_part *part)
{
    assert(i < kernel_parts(module, kernel));
    enum core_type core = (enum core_type)(i % CORE_TYPES);
    *part = (struct kernel_part){NONE, i / CORE_TYPES, core};
    if (kernel_is_dynamic(module, kernel)) {
        struct variant variant = kernel_variant(module, kernel, part->variant);
        part->function = variant.functions[core];
        return kernel_type_has(variant.type, core);
    }
    part->function = kernel_function(module, kernel, core);
    return kernel_type_has(kernel->type, core);
}

/* The names of a function and its copies, or NULL. */
static const struct attr_value *find_copies(const struct module *module,
                                            const struct kernel *kernel, uint32_t function)
{
    const struct attr *attr = attr_find(module, kernel->attrs, W_copies);
    for (uint32_t i = 0; attr && i < attr->value.count; i++) {
        const struct attr_value *names = &module->attr_values.at[attr->value.first + i];
        if (module->attr_values.at[names->first].id == function)
            return names;
    }
    return NULL;
}

void kernel_copy_function(struct text *text, const struct module *module,
                          const struct kernel *kernel, uint32_t function, uint32_t copy)
{
    const struct attr_value *names = find_copies(module, kernel, function);
    if (names && copy < names->count)
        function = module->attr_values.at[names->first + copy].id;
    const struct intern_name *name = &module->names.names[function];
    text_bytes(text, name->text, name->size);
    if (copy && !names)
        text_printf(text, "_split%u", copy);
}
