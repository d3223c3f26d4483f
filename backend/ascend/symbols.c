#include "backend/ascend/symbols.h"

#include <assert.h>
#include <ctype.h>

/* Words of C++, and what entries have as variables and namespaces. */
static const char *const taken[] = {
#define TAKEN(word) #word,
#include "backend/ascend/taken.def"
};

static bool is_taken(const struct intern_name *name)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == name->size && memcmp(taken[i], name->text, name->size) == 0)
            return true;
    return false;
}

/* Names that skirc makes begin with skir_, and no others. */
static bool is_identifier(const struct intern_name *name)
{
    if (name->size >= 5 && memcmp(name->text, "skir_", 5) == 0)
        return false;
    for (uint32_t i = 0; i < name->size; i++)
        if (!isalnum((unsigned char)name->text[i]) && name->text[i] != '_')
            return false;
    return name->size > 0 && !isdigit((unsigned char)name->text[0]) && !is_taken(name);
}

static void add_first(struct id_map *map, uint32_t name, uint32_t kernel)
{
    if (name != NONE && id_map_find(map, name) == NONE)
        id_map_set(map, name, kernel);
}

void symbols_init(struct symbols *symbols, const struct module *module)
{
    *symbols = (struct symbols){.module = module};
    for (uint32_t k = 0; k < module->kernels.count; k++) {
        const struct kernel *kernel = &module->kernels.at[k];
        struct kernel_part part;
        add_first(&symbols->objects, attr_string(module, kernel->attrs, W_object), k);
        for (uint32_t i = 0; i < kernel_parts(module, kernel); i++)
            if (kernel_part_at(module, kernel, i, &part))
                add_first(&symbols->functions, part.function, k);
    }
}

void symbols_free(struct symbols *symbols)
{
    id_map_free(&symbols->functions);
    id_map_free(&symbols->objects);
}

/* The place of a function among the parts of a kernel that has it. */
static uint32_t place_of(const struct module *module, const struct kernel *kernel,
                         uint32_t function)
{
    struct kernel_part part;
    uint32_t i = 0;
    while (!kernel_part_at(module, kernel, i, &part) || part.function != function)
        i++;
    return i;
}

uint32_t symbols_owner(const struct symbols *symbols, const struct kernel *kernel)
{
    uint32_t object = attr_string(symbols->module, kernel->attrs, W_object);
    return object == NONE ? kernel_id(symbols->module, kernel)
                          : id_map_find(&symbols->objects, object);
}

void symbols_add_function(const struct symbols *symbols, struct text *text,
                          const struct kernel *kernel, uint32_t function, uint32_t copy)
{
    const struct module *module = symbols->module;
    const struct intern_name *name = &module->names.names[function];
    uint32_t owner = symbols_owner(symbols, kernel), first;
    first = id_map_get(&symbols->functions, function);
    if (is_identifier(name))
        text_bytes(text, name->text, name->size);
    else
        text_printf(text, "skir_function_%u_%u", first,
                    place_of(module, &module->kernels.at[first], function));
    if (symbols_owner(symbols, &module->kernels.at[first]) != owner)
        text_printf(text, "_k%u", owner);
    if (copy)
        text_printf(text, "_split%u", copy);
}

void entry_kernel_name(struct text *text, const struct module *module, const struct entry *entry)
{
    const struct intern_name *name = &module->names.names[entry->name];
    if (is_identifier(name))
        text_bytes(text, name->text, name->size);
    else
        text_printf(text, "skir_entry_%u", entry_id(module, entry));
}

/* Those of launches that may have both have a name of their own. */
void entry_part_symbol(struct text *text, const struct module *module, const struct entry *entry,
                       enum core_type core)
{
    entry_kernel_name(text, module, entry);
    if (entry->type != KERNEL_aic_only && entry->type != KERNEL_aiv_only)
        text_printf(text, "_mix_%s", core_type_name(core));
}

bool event_number(const struct intern_name *name, uint64_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < name->size; i++) {
        if (!isdigit((unsigned char)name->text[i]))
            return false;
        *number = *number * 10 + (uint64_t)(name->text[i] - '0');
    }
    return name->size > 0 && name->size < 20 && (name->size == 1 || name->text[0] != '0') &&
           *number <= INT64_MAX;
}
