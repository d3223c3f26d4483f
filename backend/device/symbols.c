#include "backend/device/symbols.h"
#include "ir/kernels.h"

#include <assert.h>
#include <ctype.h>

static bool begins_with(const struct intern_name *name, const char *prefix)
{
    size_t size = strlen(prefix);
    return name->size >= size && memcmp(name->text, prefix, size) == 0;
}

/* A kernel's name never ends like this, for the symbols of its parts and of their copies do. */
static bool ends_as_part(const struct intern_name *name)
{
    static const char split[] = "_split";
    const size_t split_size = sizeof split - 1;
    size_t size = name->size;
    while (size && isdigit((unsigned char)name->text[size - 1]))
        size--;
    if (size < name->size && size > split_size &&
        memcmp(name->text + size - split_size, split, split_size) == 0)
        size -= split_size;
    else
        size = name->size;
    const char *end = name->text + size;
    return size > 4 && (memcmp(end - 4, ".aic", 4) == 0 || memcmp(end - 4, ".aiv", 4) == 0);
}

static bool is_symbol_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || byte == '$';
}

/* Names that assemblers take as they are, and that no symbol of skirc or of the runtime can have;
 * others are numbered. */
static bool is_symbol(const struct intern_name *name)
{
    if (begins_with(name, "skir_") || begins_with(name, "skrt_") || ends_as_part(name))
        return false;
    for (uint32_t i = 0; i < name->size; i++)
        if (!is_symbol_byte(name->text[i]))
            return false;
    return name->size > 0 && !isdigit((unsigned char)name->text[0]);
}

void device_kernel_symbol(struct text *text, const struct module *module, uint32_t kernel,
                          enum core_type core)
{
    assert(kernel < module->kernels.count);
    const struct intern_name *name = &module->names.names[module->kernels.at[kernel].name];
    if (is_symbol(name))
        text_bytes(text, name->text, name->size);
    else
        text_printf(text, "skir_kernel_%u", kernel);
    text_char(text, '.');
    text_string(text, core_type_name(core));
}

static void put_copy(struct text *text, uint32_t copy)
{
    if (copy == 0)
        return;
    text_string(text, "_split");
    text_unsigned(text, copy);
}

void device_copy_symbol(struct text *text, const struct module *module, uint32_t kernel,
                        enum core_type core, uint32_t copy)
{
    device_kernel_symbol(text, module, kernel, core);
    put_copy(text, copy);
}

/* The first place where a dynamic kernel names a function. */
static uint32_t first_variant(const struct module *module, const struct kernel *kernel,
                              uint32_t function, enum core_type *core)
{
    for (uint32_t i = 0; i < kernel_variants(module, kernel); i++) {
        struct variant variant = kernel_variant(module, kernel, i);
        for (int c = 0; c < CORE_TYPES; c++) {
            if (variant.functions[c] != function)
                continue;
            *core = (enum core_type)c;
            return i;
        }
    }
    return NONE;
}

/* A kernel's parts are named after it; what its name would be with a number behind it may be
 * another kernel's. */
void device_variant_symbol(struct text *text, const struct module *module, uint32_t kernel,
                           uint32_t variant, enum core_type core, uint32_t copy)
{
    const struct kernel *of = &module->kernels.at[kernel];
    uint32_t function = kernel_variant(module, of, variant).functions[core];
    variant = first_variant(module, of, function, &core);
    assert(function != NONE && variant != NONE);
    text_printf(text, "skir_variant_%u_%u.%s", kernel, variant, core_type_name(core));
    put_copy(text, copy);
}

void device_entry_symbol(struct text *text, const struct module *module, const struct entry *entry)
{
    const struct intern_name *name = &module->names.names[entry->name];
    if (is_symbol(name))
        text_bytes(text, name->text, name->size);
    else
        text_printf(text, "skir_entry_%u", entry_id(module, entry));
}

void device_gears_symbol(struct text *text, const struct module *module, uint32_t graph)
{
    const struct intern_name *name = &module->names.names[module->graphs.at[graph].name];
    if (is_symbol(name))
        text_bytes(text, name->text, name->size);
    else
        text_printf(text, "skir_gears_%u", graph);
}
