/* The verifier's part for dynamic kernels. */
#include "ir/base/text.h"
#include "ir/variants.h"
#include "ir/verify/verify_internal.h"

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

static const struct attr *need_attr(const struct variant_verifier *vv, uint32_t key)
{
    const struct attr *attr = attr_find(vv->module, vv->attrs, key);
    if (!attr && diag_at(vv->diags, DIAG_missing_attribute, variant_span(vv),
                         "the variant has no '%.*s'", NAME(vv->module, key)))
        diag_help(vv->diags, "%s", form);
    return attr;
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

static void check_key(const struct variant_verifier *vv)
{
    const struct attr *key = need_attr(vv, W_key);
    if (!key)
        return;
    if (key->value.kind != ATTR_INT)
        diag_at(vv->diags, DIAG_attribute_kind, attr_span(vv, key), "'key' must be an integer");
    else if (key->value.i < 0)
        diag_at(vv->diags, DIAG_number_range, attr_span(vv, key),
                "'key' is %lld, but must be 0 or more", (long long)key->value.i);
}

/* False where there is none to go on with. */
static bool find_type(const struct variant_verifier *vv, enum kernel_type *type)
{
    const struct attr *attr = need_attr(vv, W_type);
    if (!attr)
        return false;
    if (attr->value.kind != ATTR_WORD) {
        diag_at(vv->diags, DIAG_attribute_kind, attr_span(vv, attr),
                "'type' must be a kernel type");
        return false;
    }
    if (kernel_type_of_name(vv->module, attr->value.id, type))
        return true;
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

static void check_variant(const struct variant_verifier *vv)
{
    enum kernel_type type;
    check_attr_names(vv);
    check_key(vv);
    if (!find_type(vv, &type))
        return;
    check_cover(vv, type);
    check_functions(vv, type);
}

static const struct attr *key_of(const struct module *module, const struct attr_value *dict)
{
    const struct attr *key = attr_find(module, (struct range){dict->first, dict->count}, W_key);
    return key && key->value.kind == ATTR_INT ? key : NULL;
}

struct keyed {
    int64_t key;
    uint32_t loc, place;
};

static int compare_keys(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void check_keys_differ(const struct variant_verifier *vv)
{
    const struct module *module = vv->module;
    uint32_t count = vv->list->value.count, n = 0;
    struct keyed *keys = mem_calloc(count, sizeof *keys);
    for (uint32_t i = 0; i < count; i++) {
        const struct attr *key = key_of(module, &module->attr_values.at[vv->list->value.first + i]);
        if (key)
            keys[n++] = (struct keyed){key->value.i, key->loc, i};
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (uint32_t i = 1; i < n; i++)
        if (keys[i].key == keys[i - 1].key &&
            diag_at(vv->diags, DIAG_duplicate, locate_token(module, keys[i].loc),
                    "two variants have the key %lld", (long long)keys[i].key))
            diag_note(vv->diags, locate_token(module, keys[i - 1].loc), "the other is here");
    mem_free(keys);
}

/* What only kernels that are not dynamic have. */
static void check_static_attrs(const struct variant_verifier *vv)
{
    const struct attr *function = attr_find(vv->module, vv->kernel->attrs, W_function);
    const struct attr *block = attr_find(vv->module, vv->kernel->attrs, W_block);
    if (function)
        diag_at(vv->diags, DIAG_unknown_attribute, attr_span(vv, function),
                "a dynamic kernel has no 'function': its functions are those of its variants");
    if (block)
        diag_at(vv->diags, DIAG_unknown_attribute, attr_span(vv, block),
                "a dynamic kernel has no 'block': the number comes at run time, with the tiling "
                "key");
}

void verify_variants(struct verifier *verifier, const struct kernel *kernel)
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
    if (dynamic)
        check_static_attrs(&vv);
    if (!any || !attr_is_variants(module, &vv.list->value))
        return;
    for (uint32_t i = 0; i < vv.list->value.count; i++) {
        const struct attr_value *dict = &module->attr_values.at[vv.list->value.first + i];
        vv.attrs = (struct range){dict->first, dict->count};
        check_variant(&vv);
    }
    check_keys_differ(&vv);
}
