/* The verifier's part for kernels: their functions are those of their type, and the target has
 * cores for them. */
#include "ir/analysis/block_rules.h"
#include "ir/core/kernel.h"
#include "ir/support/text.h"
#include "ir/verify/verify_internal.h"

#include <string.h>

/* --------------------------------------------------------------- dynamic kernels ---- */

/* One element of `variants`. */
struct variant_verifier {
    struct verifier *verifier;
    const struct module *module;
    struct diags *diags;
    const struct kernel *kernel;
    const struct attr *list;
    struct range attrs; /* of the variant */
};

static const char form[] = "a variant is {key = N, type = TYPE, aic = \"FUNCTION\", aiv = "
                           "\"FUNCTION\"}, with the functions that its type has";

/* The attribute of the variant, or else where its list begins. */
static struct span attr_span(const struct variant_verifier *vv, const struct attr *attr)
{
    return locate_token(vv->module, attr ? attr->loc : vv->list->loc);
}

/* Of the variant as a whole: its first attribute. */
static struct span variant_span(const struct variant_verifier *vv)
{
    return attr_span(vv, vv->attrs.count ? &vv->module->attrs.at[vv->attrs.first] : NULL);
}

/* An attribute that a variant has, of this kind; NULL, with an error, where it has none such. */
static const struct attr *need_attr(const struct variant_verifier *vv, uint32_t key,
                                    enum attr_kind kind, const char *what)
{
    const struct attr *attr = attr_find(vv->module, vv->attrs, key);
    if (!attr && diag_at(vv->diags, DIAG_missing_attribute, variant_span(vv),
                         "the variant has no '%.*s'", NAME(vv->module, key)))
        diag_help(vv->diags, "%s", form);
    if (!attr || attr->value.kind == kind)
        return attr;
    diag_at(vv->diags, DIAG_attribute_kind, attr_span(vv, attr), "'%.*s' must be %s",
            NAME(vv->module, key), what);
    return NULL;
}

static void check_attr_names(const struct variant_verifier *vv)
{
    static const uint32_t keys[] = {W_key, W_type, W_aic, W_aiv};
    const struct module *module = vv->module;
    marks_clear(vv->verifier);
    for (uint32_t i = 0; i < vv->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[vv->attrs.first + i];
        struct suggest suggest = name_suggest(module, attr->key);
        bool known = false;
        if (marks_set(vv->verifier, attr->key, 0, NULL))
            diag_at(vv->diags, DIAG_duplicate, attr_span(vv, attr),
                    "the attribute '%.*s' stands twice", NAME(module, attr->key));
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            known |= attr->key == keys[k];
            name_offer(&suggest, module, keys[k]);
        }
        if (!known && !attr_is_private(module, attr->key) &&
            diag_at(vv->diags, DIAG_unknown_attribute, attr_span(vv, attr),
                    "a variant has no attribute '%.*s'", NAME(module, attr->key)))
            diag_suggest(vv->diags, &suggest);
    }
}

/* False where there is none to go on with. */
static bool find_type(const struct variant_verifier *vv, enum kernel_type *type)
{
    const struct attr *attr = need_attr(vv, W_type, ATTR_WORD, "a kernel type");
    if (!attr || kernel_type_of_name(vv->module, attr->value.id, type))
        return attr != NULL;
    if (diag_at(vv->diags, DIAG_unknown_kernel_type, attr_span(vv, attr),
                "unknown kernel type '%.*s'", NAME(vv->module, attr->value.id))) {
        struct suggest suggest = name_suggest(vv->module, attr->value.id);
        for (int i = 0; i < KERNEL_TYPE_COUNT; i++)
            suggest_offer_text(&suggest, kernel_type_info(i)->name);
        diag_suggest(vv->diags, &suggest);
    }
    return false;
}

/* The kernel's own type covers those of its variants: launches are made for it. */
static void check_cover(const struct variant_verifier *vv, enum kernel_type type)
{
    const struct kernel_type_info *own = kernel_type_info(vv->kernel->type);
    const struct kernel_type_info *info = kernel_type_info(type);
    const struct attr *attr = attr_find(vv->module, vv->attrs, W_type);
    for (int core = 0; core < CORE_TYPES; core++)
        if (kernel_type_has(type, core) && !kernel_type_has(vv->kernel->type, core) &&
            diag_at(
                vv->diags, DIAG_kernel_part, attr_span(vv, attr),
                "a variant of type %s has a part for an %s, but its kernel, of type %s, has none",
                info->name, core_type_name((enum core_type)core), own->name))
            diag_help(vv->diags, "the kernel's own type must cover all its variants");
    if (info->aics && own->aics && own->aivs && info->aivs > own->aivs &&
        diag_at(
            vv->diags, DIAG_kernel_part, attr_span(vv, attr),
            "a variant of type %s has two AIVs for each AIC, but its kernel, of type %s, has one",
            info->name, own->name))
        diag_help(vv->diags, "the kernel's own type must cover all its variants");
}

static void check_functions(const struct variant_verifier *vv, enum kernel_type type)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct attr *attr =
            attr_find(vv->module, vv->attrs, core == CORE_AIC ? W_aic : W_aiv);
        if (attr && attr->value.kind != ATTR_STRING) {
            diag_at(vv->diags, DIAG_attribute_kind, attr_span(vv, attr), "'%s' must be a string",
                    core_type_name((enum core_type)core));
            continue;
        }
        bool wanted = kernel_type_has(type, core);
        if (wanted == (attr != NULL))
            continue;
        diag_at(vv->diags, DIAG_kernel_part, attr ? attr_span(vv, attr) : variant_span(vv),
                "a variant of type %s %s '%s' function", kernel_type_info(type)->name,
                wanted ? "needs an" : "has no", core_type_name((enum core_type)core));
    }
}

/* By their keys, those of one key in the order of the text. */
static int compare_variants(const void *a, const void *b)
{
    const struct attr *const *x = a, *const *y = b;
    if ((*x)->value.i != (*y)->value.i)
        return (*x)->value.i < (*y)->value.i ? -1 : 1;
    return (*x > *y) - (*x < *y);
}

static void check_keys_differ(const struct variant_verifier *vv)
{
    const struct module *module = vv->module;
    uint32_t count = vv->list->value.count, n = 0;
    const struct attr **keys = mem_calloc(count, sizeof *keys);
    for (uint32_t i = 0; i < count; i++) {
        const struct attr_value *dict = &module->attr_values.at[vv->list->value.first + i];
        const struct attr *key = attr_find(module, (struct range){dict->first, dict->count}, W_key);
        if (key && key->value.kind == ATTR_INT)
            keys[n++] = key;
    }
    qsort(keys, n, sizeof *keys, compare_variants);
    for (uint32_t i = 1; i < n; i++)
        if (keys[i]->value.i == keys[i - 1]->value.i &&
            diag_at(vv->diags, DIAG_duplicate, locate_token(module, keys[i]->loc),
                    "two variants have the key %lld", (long long)keys[i]->value.i))
            diag_note(vv->diags, locate_token(module, keys[i - 1]->loc), "the other is here");
    mem_free(keys);
}

static void check_variant(const struct variant_verifier *vv)
{
    enum kernel_type type;
    check_attr_names(vv);
    const struct attr *key = need_attr(vv, W_key, ATTR_INT, "an integer");
    if (key && key->value.i < 0)
        diag_at(vv->diags, DIAG_number_range, attr_span(vv, key),
                "'key' is %lld, but must be 0 or more", (long long)key->value.i);
    if (!find_type(vv, &type))
        return;
    check_cover(vv, type);
    check_functions(vv, type);
}

static void verify_variants(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    struct variant_verifier vv = {.verifier = verifier,
                                  .module = module,
                                  .diags = verifier->diags,
                                  .kernel = kernel,
                                  .list = attr_find(module, kernel->attrs, W_variants)};
    bool dynamic = kernel_is_dynamic(module, kernel);
    bool any = vv.list && vv.list->value.kind == ATTR_LIST && vv.list->value.count > 0;
    if (dynamic && !any && !(vv.list && vv.list->value.kind != ATTR_LIST) &&
        diag_at(vv.diags, DIAG_missing_attribute, locate_name(module, kernel->loc),
                "the dynamic kernel '@%.*s' has no variants", NAME(module, kernel->name)))
        diag_help(vv.diags, "write variants = [{key = 0, type = %s, ...}]; %s",
                  kernel_type_info(kernel->type)->name, form);
    if (vv.list && !dynamic &&
        diag_at(vv.diags, DIAG_missing_attribute, attr_span(&vv, vv.list),
                "'variants' needs 'dynamic'"))
        diag_help(vv.diags, "write dynamic = true beside it");
    for (int i = 0; dynamic && i < 2; i++) {
        const struct attr *attr = attr_find(module, kernel->attrs, i ? W_block : W_function);
        if (attr)
            diag_at(vv.diags, DIAG_unknown_attribute, attr_span(&vv, attr),
                    i ? "a dynamic kernel has no 'block': the number comes at run time, with the "
                        "tiling key"
                      : "a dynamic kernel has no 'function': its functions are those of its "
                        "variants");
    }
    if (!any || !attr_is_variants(module, &vv.list->value))
        return;
    for (uint32_t i = 0; i < vv.list->value.count; i++) {
        const struct attr_value *dict = &module->attr_values.at[vv.list->value.first + i];
        vv.attrs = (struct range){dict->first, dict->count};
        check_variant(&vv);
    }
    check_keys_differ(&vv);
}

/* ------------------------------------------------------------------- all kernels ---- */

void verify_unknown_kernel(struct verifier *verifier, struct span span, uint32_t name)
{
    const struct module *module = verifier->module;
    if (!diag_at(verifier->diags, DIAG_unknown_kernel, span, "the kernel '@%.*s' is not declared",
                 NAME(module, name)))
        return;
    if (!suggest_symbol(module, verifier->diags, name, 1 << SYMBOL_KERNEL))
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
        if (diag_at(verifier->diags, DIAG_split_mode, locate_listed(module, attr->loc, i),
                    "%u functions of '@%.*s' are copies of each other, but 'split' is %lld",
                    names->count, NAME(module, kernel->name), (long long)split))
            diag_help(verifier->diags, "write split = %u", names->count);
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
        struct span span = locate_listed(module, attr->loc, i);
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

void verify_kernel(struct verifier *verifier, const struct kernel *kernel)
{
    /* What is said of code is nothing for a stub. */
    static const uint32_t of_code[] = {W_object, W_function, W_split,
                                       W_copies, W_dynamic,  W_variants};
    const struct module *module = verifier->module;
    const struct intern_name *name = &module->names.names[kernel->name];
    const char *end = name->size > 4 ? name->text + name->size - 4 : "    ";
    char error[MAX_BLOCK_RULE_ERROR];
    verify_attrs(verifier, kernel->attrs, OWNER_KERNEL);
    verify_kernel_function(verifier, kernel);
    verify_copies(verifier, kernel);
    verify_kernel_words(verifier, kernel);
    verify_scalar_reads(verifier, kernel);
    verify_variants(verifier, kernel);
    if (kernel_block_rule(module, kernel) != NONE && !block_rule_check(module, kernel, error)) {
        uint32_t loc = attr_find(module, kernel->attrs, W_block)->loc;
        loc = loc == NONE ? kernel->loc : loc;
        diag_at(verifier->diags, DIAG_block_rule, loc == NONE ? no_span : locate_token(module, loc),
                "'block' of '@%.*s' is no expression: %s", NAME(module, kernel->name), error);
    }
    for (size_t i = 0; kernel_is_stub(module, kernel) && i < sizeof of_code / sizeof *of_code;
         i++) {
        const struct attr *attr = attr_find(module, kernel->attrs, of_code[i]);
        if (attr)
            diag_at(verifier->diags, DIAG_stub, locate_token(module, attr->loc),
                    "a stub has no code, and so no '%.*s'", NAME(module, of_code[i]));
    }
    struct span span = locate_name(module, kernel->loc);
    if (memcmp(end, ".aic", 4) == 0 || memcmp(end, ".aiv", 4) == 0)
        diag_at(verifier->diags, DIAG_kernel_part, span,
                "a kernel's name cannot end in '.aic' or '.aiv', which name its parts");
    uint32_t most = module_blocks(module, kernel->type);
    int64_t block = attr_int(module, kernel->attrs, W_block, 1);
    if (block <= 1024 && block > most)
        diag_at(verifier->diags, DIAG_number_range, span,
                "the kernel needs %lld blocks, but the target has %u for type %s", (long long)block,
                most, kernel_type_info(kernel->type)->name);
}
