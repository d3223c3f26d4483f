/* What a target and its kernels offer. */
#include "ir/core/kernel.h"

#include <string.h>

uint32_t module_cores(const struct module *module, enum core_type core)
{
    uint32_t key = core == CORE_AIC ? W_aic : W_aiv;
    uint32_t absent = core == CORE_AIC ? 24 : 48;
    if (module->targets.count == 0)
        return absent;
    return (uint32_t)attr_int(module, module->targets.at[0].attrs, key, absent);
}

uint32_t module_blocks(const struct module *module, enum kernel_type type)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    uint32_t blocks = UINT32_MAX;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t per_block = core == CORE_AIC ? info->aics : info->aivs;
        uint32_t cores = module_cores(module, core);
        if (per_block && cores / per_block < blocks)
            blocks = cores / per_block;
    }
    return blocks;
}

uint32_t kernel_blocks(const struct module *module, const struct kernel *kernel)
{
    if (!attr_flag(module, kernel->attrs, W_dynamic))
        return (uint32_t)attr_int(module, kernel->attrs, W_block, 1);
    uint32_t blocks = module_blocks(module, kernel->type);
    return blocks ? blocks : 1;
}

bool kernel_workspace(const struct module *module, const struct kernel *kernel,
                      const struct graph *graph, const struct op *op, uint64_t *bytes)
{
    uint64_t per_element = (uint64_t)attr_int(module, kernel->attrs, W_workspace_per_element, 0);
    uint64_t elements = 0;
    *bytes = (uint64_t)attr_int(module, kernel->attrs, W_workspace, 0);
    if (per_element &&
        (op_tensor_results(module, graph, op) == 0 ||
         !type_elements(module, graph->values.at[op->results.first].type, &elements)))
        return false;
    return !__builtin_mul_overflow(elements, per_element, &elements) &&
           !__builtin_add_overflow(*bytes, elements, bytes) && *bytes >> 46 == 0;
}

uint32_t entry_room(const struct module *module, const struct entry *entry, enum kernel_type type)
{
    const struct kernel_type_info *launch = kernel_type_info(entry->type);
    uint64_t blocks = (uint64_t)attr_int(module, entry->attrs, W_block, 0);
    uint64_t room = blocks * (kernel_type_info(type)->flat && launch->aivs ? launch->aivs : 1);
    return room < NONE ? (uint32_t)room : NONE - 1;
}

static bool param_is_tensor(const struct module *module, const struct attr *params, uint32_t i)
{
    uint32_t word = module->attr_values.at[params->value.first + i].id;
    return word != W_workspace && word != W_tiling;
}

uint32_t kernel_n_tensors(const struct module *module, const struct kernel *kernel)
{
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    uint32_t tensors = 0;
    if (!params || params->value.kind != ATTR_LIST)
        return NONE;
    for (uint32_t i = 0; i < params->value.count; i++)
        tensors += param_is_tensor(module, params, i);
    return tensors;
}

void kernel_tensors(const struct module *module, const struct kernel *kernel, struct vec_u32 *words)
{
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    words->count = 0;
    for (uint32_t i = 0; params && params->value.kind == ATTR_LIST && i < params->value.count; i++)
        if (param_is_tensor(module, params, i))
            vec_push(words, module->attr_values.at[params->value.first + i].id);
}

uint32_t kernel_tensor(const struct module *module, const struct kernel *kernel, uint32_t n)
{
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    uint32_t i = 0;
    assert(n < kernel_n_tensors(module, kernel));
    for (; n > 0 || !param_is_tensor(module, params, i); i++)
        n -= param_is_tensor(module, params, i);
    return module->attr_values.at[params->value.first + i].id;
}

uint32_t kernel_function(const struct module *module, const struct kernel *kernel,
                         enum core_type core)
{
    if (!kernel_type_has(kernel->type, core))
        return NONE;
    const struct attr *function = attr_find(module, kernel->attrs, W_function);
    if (!function)
        return NONE;
    if (function->value.kind == ATTR_STRING)
        return function->value.id;
    return attr_string(module, (struct range){function->value.first, function->value.count},
                       core == CORE_AIC ? W_aic : W_aiv);
}

uint32_t block_entry_name(const struct module *module, const struct block *block)
{
    assert(block->kind == BLOCK_SUPERKERNEL);
    uint32_t entry = attr_symbol(module, block->attrs, W_entry);
    return entry == NONE ? block->name : entry;
}

/* Whether a list of words, separated by commas, has one. */
static bool list_has(const struct intern_name *list, const char *word)
{
    size_t size = strlen(word);
    for (size_t at = 0, end; at < list->size; at = end + 1) {
        for (end = at; end < list->size && list->text[end] != ',';)
            end++;
        if (end - at == size && memcmp(list->text + at, word, size) == 0)
            return true;
    }
    return false;
}

bool kernel_writes_dump(const struct module *module, const struct kernel *kernel)
{
    uint32_t options = attr_string(module, kernel->attrs, W__debugOptions);
    if (options == NONE)
        return false;
    const struct intern_name *list = &module->names.names[options];
    return list_has(list, "timestamp") || list_has(list, "printf") || list_has(list, "assert");
}

unsigned kernel_early_start(const struct module *module, const struct kernel *kernel)
{
    unsigned early = 0;
    if (attr_has_word(module, kernel->attrs, W_early_start, W_set))
        early |= EARLY_SET;
    if (attr_has_word(module, kernel->attrs, W_early_start, W_wait))
        early |= EARLY_WAIT_MIX;
    if (attr_has_word(module, kernel->attrs, W_early_start, W_reads_done))
        early |= EARLY_READS_DONE;
    if (attr_has_word(module, kernel->attrs, W_early_start, W_reads_late))
        early |= EARLY_READS_LATE;
    return early;
}

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

void kernel_copy_function(struct text *text, const struct module *module,
                          const struct kernel *kernel, uint32_t function, uint32_t copy)
{
    const struct attr *attr = attr_find(module, kernel->attrs, W_copies);
    const struct attr_value *lists = attr ? module->attr_values.at + attr->value.first : NULL;
    const struct attr_value *names = NULL; /* of the function and its copies */
    for (uint32_t i = 0; attr && i < attr->value.count && !names; i++)
        if (module->attr_values.at[lists[i].first].id == function)
            names = &lists[i];
    if (names && copy < names->count)
        function = module->attr_values.at[names->first + copy].id;
    const struct intern_name *name = &module->names.names[function];
    text_bytes(text, name->text, name->size);
    if (copy && !names)
        text_printf(text, "_split%u", copy);
}
