#include "passes/declared_samples.h"
#include "passes/sized_kernels.h"

static struct attr word_attr(uint32_t key, enum attr_kind kind, uint32_t id)
{
    return (struct attr){key, NONE, {.kind = kind, .id = id}};
}

static struct attr int_attr(uint32_t key, int64_t i)
{
    return (struct attr){key, NONE, {.kind = ATTR_INT, .i = i}};
}

/* The functions that there are, as attributes `aic` and `aiv`. */
static uint32_t function_attrs(struct module *module, const char *const *functions,
                               struct attr *attrs)
{
    uint32_t count = 0;
    for (int core = 0; core < CORE_TYPES; core++)
        if (functions[core])
            attrs[count++] = word_attr(core == CORE_AIC ? W_aic : W_aiv, ATTR_STRING,
                                       module_name(module, functions[core]));
    return count;
}

static struct attr function_attr(struct module *module, const struct library_kernel *sample)
{
    struct attr parts[CORE_TYPES];
    uint32_t count = function_attrs(module, sample->functions, parts);
    if (count == 1)
        return word_attr(W_function, ATTR_STRING, parts[0].value.id);
    struct range range = module_add_attrs(module, parts, count);
    return (struct attr){
        W_function, NONE, {.kind = ATTR_DICT, .count = count, .first = range.first}};
}

static struct attr variants_attr(struct module *module, const struct library_kernel *sample)
{
    struct attr_value *dicts = mem_calloc(sample->n_variants, sizeof *dicts);
    for (uint32_t i = 0; i < sample->n_variants; i++) {
        const struct library_variant *variant = &sample->variants[i];
        struct attr attrs[2 + CORE_TYPES] = {
            int_attr(W_key, variant->key),
            word_attr(W_type, ATTR_WORD,
                      module_name(module, kernel_type_info(variant->type)->name)),
        };
        uint32_t count = 2 + function_attrs(module, variant->functions, attrs + 2);
        struct range range = module_add_attrs(module, attrs, count);
        dicts[i] =
            (struct attr_value){.kind = ATTR_DICT, .count = range.count, .first = range.first};
    }
    struct range range = module_add_values(module, dicts, sample->n_variants);
    mem_free(dicts);
    return (struct attr){
        W_variants, NONE, {.kind = ATTR_LIST, .count = range.count, .first = range.first}};
}

static struct attr params_attr(struct module *module, const struct library_kernel *sample)
{
    struct attr_value *words = mem_calloc(sample->n_params, sizeof *words);
    for (uint32_t i = 0; i < sample->n_params; i++)
        words[i] =
            (struct attr_value){.kind = ATTR_WORD, .id = module_name(module, sample->params[i])};
    struct range range = module_add_values(module, words, sample->n_params);
    mem_free(words);
    return (struct attr){
        W_params, NONE, {.kind = ATTR_LIST, .count = range.count, .first = range.first}};
}

uint32_t sample_block(const struct module *module, const struct library_kernel *sample)
{
    if (sample->block_rule && !sample->n_variants)
        return 0;
    uint32_t most = module_blocks(module, sample->type);
    uint32_t block = sample->block < most ? sample->block : most;
    return block ? block : 1;
}

/* `blocks`, or where it is 0 what the sample says of shapes. */
static struct attr block_attr(struct module *module, const struct library_kernel *sample,
                              uint32_t blocks)
{
    return blocks ? int_attr(W_block, blocks)
                  : word_attr(W_block, ATTR_STRING, module_name(module, sample->block_rule));
}

uint32_t sample_declare(struct module *module, const struct library_kernel *sample, uint32_t blocks,
                        struct diags *diags, bool *ill_described)
{
    uint32_t op_type = module_name(module, sample->op_type);
    uint32_t name = module_free_symbol(module, module_name(module, sample->name), ".");
    bool dynamic = sample->n_variants > 0;
    struct attr attrs[6] = {
        word_attr(W_op, ATTR_STRING, op_type),
        dynamic ? (struct attr){W_dynamic, NONE, {.kind = ATTR_BOOL, .i = 1}}
                : block_attr(module, sample, blocks),
        word_attr(W_object, ATTR_STRING, module_name(module, sample->object)),
        dynamic ? variants_attr(module, sample) : function_attr(module, sample),
        params_attr(module, sample),
    };
    uint32_t count = 5;
    if (sample->workspace_per_element)
        attrs[count++] = int_attr(W_workspace_per_element, sample->workspace_per_element);
    struct range range = module_add_attrs(module, attrs, count);
    struct kernel *kernel = module_add_kernel(module, name, sample->type);
    kernel->attrs = range;
    if (!sample_block_check(module, kernel, sample, diags))
        *ill_described = true;
    return name;
}
