/* The verifier's part for kernels: their functions are those of their type, and the target has
 * cores for them. */
#include "ir/block_rules.h"
#include "ir/variants.h"
#include "ir/verify/verify_internal.h"

#include <string.h>

void verify_unknown_kernel(struct verifier *verifier, struct span span, uint32_t name)
{
    const struct module *module = verifier->module;
    if (!diag_at(verifier->diags, DIAG_unknown_kernel, span, "the kernel '@%.*s' is not declared",
                 NAME(module, name)))
        return;
    struct suggest suggest = name_suggest(module, name);
    if (diag_wants_suggestion(verifier->diags))
        for (uint32_t i = 0; i < module->kernels.count; i++)
            name_offer(&suggest, module, module->kernels.at[i].name);
    suggest.before = "@";
    if (!diag_suggest(verifier->diags, &suggest))
        diag_help(verifier->diags, "declare it with 'kernel @%.*s : TYPE {...}'",
                  NAME(module, name));
}

/* The parts that `function` and the kernel's type give must be the same. */
static void verify_kernel_function(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    const struct attr *function = attr_find(module, kernel->attrs, W_function);
    if (!function || !attr_is_names(module, &function->value))
        return;
    struct span span = locate_token(module, function->loc);
    if (function->value.kind == ATTR_STRING) {
        if (kernel_type_is_mixed(kernel->type) &&
            diag_at(verifier->diags, DIAG_kernel_part, span,
                    "a kernel of type %s has two functions", kernel_type_info(kernel->type)->name))
            diag_help(verifier->diags, "write function = {aic = \"...\", aiv = \"...\"}");
        return;
    }
    struct range parts = {function->value.first, function->value.count};
    for (int core = 0; core < CORE_TYPES; core++) {
        bool has = attr_string(module, parts, core == CORE_AIC ? W_aic : W_aiv) != NONE;
        if (has != kernel_type_has(kernel->type, core))
            diag_at(verifier->diags, DIAG_kernel_part, span, "a kernel of type %s %s '%s' function",
                    kernel_type_info(kernel->type)->name, has ? "has no" : "needs an",
                    core_type_name(core));
    }
}

/* A function with its copies are as many as `split` says. */
static void verify_copies(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    const struct attr *attr = attr_find(module, kernel->attrs, W_copies);
    int64_t split = attr_int(module, kernel->attrs, W_split, 1);
    uint32_t count = attr && attr->value.kind == ATTR_LIST ? attr->value.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct attr_value *names = &module->attr_values.at[attr->value.first + i];
        if (names->kind != ATTR_LIST || names->count == split)
            continue;
        if (diag_at(verifier->diags, DIAG_split_mode, locate_element(module, attr, i),
                    "%u functions of '@%.*s' are copies of each other, but 'split' is %lld",
                    names->count, NAME(module, kernel->name), (long long)split))
            diag_help(verifier->diags, "write split = %u", names->count);
    }
}

/* What is said of code is nothing for a stub. */
static void verify_stub(struct verifier *verifier, const struct kernel *kernel)
{
    static const uint32_t keys[] = {W_object, W_function, W_split, W_copies, W_dynamic, W_variants};
    const struct module *module = verifier->module;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct attr *attr = attr_find(module, kernel->attrs, keys[i]);
        if (attr)
            diag_at(verifier->diags, DIAG_stub, locate_token(module, attr->loc),
                    "a stub has no code, and so no '%.*s'", NAME(module, keys[i]));
    }
}

static void verify_kernel_words(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    const struct attr *attr = attr_find(module, kernel->attrs, W_early_start);
    for (uint32_t i = 0; attr && attr->value.kind == ATTR_LIST && i < attr->value.count; i++) {
        const struct attr_value *word = &module->attr_values.at[attr->value.first + i];
        if (word->kind == ATTR_WORD && word->id != W_set && word->id != W_wait &&
            word->id != W_reads_done && word->id != W_reads_late)
            diag_at(verifier->diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                    "'early_start' knows 'set', 'wait', 'reads_done' and 'reads_late', not '%.*s'",
                    NAME(module, word->id));
    }
    unsigned early = kernel_early_start(module, kernel);
    if (early & EARLY_READS_DONE && !(early & EARLY_SET))
        diag_at(verifier->diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                "'reads_done' says something of 'set', which 'early_start' does not list");
    if (early & EARLY_READS_LATE && !(early & EARLY_WAIT_MIX))
        diag_at(verifier->diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                "'reads_late' says something of 'wait', which 'early_start' does not list");
    const struct attr *undrained = attr_find(module, kernel->attrs, W_undrained);
    if (undrained && early & EARLY_SET)
        diag_at(verifier->diags, DIAG_attribute_kind, locate_token(module, undrained->loc),
                "an 'undrained' kernel cannot arrive itself: 'early_start' lists 'set'");
}

static bool is_tensor(const struct module *module, const struct kernel *kernel,
                      const struct attr_value *name)
{
    uint32_t count = kernel_n_tensors(module, kernel);
    if (count == NONE) /* `params` are no list */
        return true;
    if (name->kind == ATTR_INT)
        return name->i >= 0 && name->i < count;
    for (uint32_t i = 0; i < count; i++)
        if (kernel_tensor(module, kernel, i) == name->id)
            return true;
    return false;
}

/* What is read through the data cache are tensors of `params`; without these, operands by their
 * numbers. */
static void verify_scalar_reads(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    const struct attr *attr = attr_find(module, kernel->attrs, W_scalar_reads);
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    uint32_t count = attr && attr->value.kind == ATTR_LIST ? attr->value.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct attr_value *name = &module->attr_values.at[attr->value.first + i];
        bool number = name->kind == ATTR_INT;
        struct span span = locate_element(module, attr, i);
        if (!number && name->kind != ATTR_WORD)
            continue;
        if (params ? is_tensor(module, kernel, name) : number && name->i >= 0)
            continue;
        if (number)
            diag_at(verifier->diags, DIAG_number_range, span,
                    "'scalar_reads' names operand %lld of a kernel that has %u tensors",
                    (long long)name->i, params ? kernel_n_tensors(module, kernel) : 0);
        else
            diag_at(verifier->diags, DIAG_operand_label, span,
                    "no tensor of the kernel's 'params' is '%.*s'", NAME(module, name->id));
    }
}

static void verify_block_rule(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    const struct attr *block = attr_find(module, kernel->attrs, W_block);
    char error[MAX_BLOCK_RULE_ERROR];
    if (kernel_block_rule(module, kernel) == NONE || block_rule_check(module, kernel, error))
        return;
    uint32_t loc = block->loc == NONE ? kernel->loc : block->loc;
    diag_at(verifier->diags, DIAG_block_rule, loc == NONE ? no_span : locate_token(module, loc),
            "'block' of '@%.*s' is no expression: %s", NAME(module, kernel->name), error);
}

static bool ends_with_part(const struct intern_name *name)
{
    return name->size > 4 && (memcmp(name->text + name->size - 4, ".aic", 4) == 0 ||
                              memcmp(name->text + name->size - 4, ".aiv", 4) == 0);
}

void verify_kernel(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    struct span span = locate_name(module, kernel->loc);
    verify_attrs(verifier, kernel->attrs, OWNER_KERNEL);
    verify_kernel_function(verifier, kernel);
    verify_copies(verifier, kernel);
    verify_kernel_words(verifier, kernel);
    verify_scalar_reads(verifier, kernel);
    verify_variants(verifier, kernel);
    verify_block_rule(verifier, kernel);
    if (kernel_is_stub(module, kernel))
        verify_stub(verifier, kernel);
    if (ends_with_part(&module->names.names[kernel->name]))
        diag_at(verifier->diags, DIAG_kernel_part, span,
                "a kernel's name cannot end in '.aic' or '.aiv', which name its parts");
    uint32_t most = module_blocks(module, kernel->type);
    int64_t block = attr_int(module, kernel->attrs, W_block, 1);
    if (block <= 1024 && block > most)
        diag_at(verifier->diags, DIAG_number_range, span,
                "the kernel needs %lld blocks, but the target has %u for type %s", (long long)block,
                most, kernel_type_info(kernel->type)->name);
}
