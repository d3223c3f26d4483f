#include "ir/verify/verify_internal.h"

#include <string.h>

static const struct span no_span = {0, 0};

/* ----------------------------------------------------------------------- attributes ---- */

enum attr_rule {
    RULE_INT,
    RULE_STRING,
    RULE_FLAG,
    RULE_WORDS,
    RULE_TYPES,
    RULE_NAMES,
    RULE_SIZES,
    RULE_SLOTS,
    RULE_SWITCH,
    RULE_BUFFERS,
    RULE_INDEXES,
    RULE_VARIANTS,
};

static const struct attr_row {
    enum attr_owner owner;
    uint32_t key;
    enum attr_rule rule;
    int64_t low, high;
} attr_rows[] = {
#define ATTR(owner, key, rule, low, high) {OWNER_##owner, W_##key, RULE_##rule, low, high},
#include "ir/attr_keys.def"
#undef ATTR
};

enum { ATTR_ROWS = sizeof attr_rows / sizeof attr_rows[0] };

static const char *rule_text(enum attr_rule rule)
{
    static const char *const texts[] = {
        "an integer",
        "a string",
        "true or false",
        "a list of words",
        "a list of types",
        "a string, or a dictionary with strings for 'aic' and 'aiv'",
        "a number of bytes, or a dictionary with numbers of bytes for 'aic' and 'aiv'",
        "a list of parameter slots",
        "0, 1, true or false",
        "a string or a list of strings",
        "a list of operand indices",
        "a list of dictionaries",
    };
    return texts[rule];
}

static bool list_of(const struct module *module, const struct attr_value *list, enum attr_kind kind)
{
    if (list->kind != ATTR_LIST)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        if (module->attr_values.at[list->first + i].kind != kind)
            return false;
    return true;
}

/* One value of a kind, or a dictionary with one for each core type. */
static bool is_by_core(const struct module *module, const struct attr_value *value,
                       enum attr_kind kind)
{
    if (value->kind == kind)
        return true;
    if (value->kind != ATTR_DICT)
        return false;
    for (uint32_t i = 0; i < value->count; i++) {
        const struct attr *attr = &module->attrs.at[value->first + i];
        if ((attr->key != W_aic && attr->key != W_aiv) || attr->value.kind != kind)
            return false;
    }
    return true;
}

/* A slot is a value, a word, or a dictionary: {send = EVENT}, {recv = EVENT}. */
static bool is_slots(const struct module *module, const struct attr_value *list)
{
    if (list->kind != ATTR_LIST)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        enum attr_kind kind = module->attr_values.at[list->first + i].kind;
        if (kind != ATTR_VALUE && kind != ATTR_WORD && kind != ATTR_DICT)
            return false;
    }
    return true;
}

bool attr_is_variants(const struct module *module, const struct attr_value *value)
{
    return list_of(module, value, ATTR_DICT);
}

static bool rule_holds(const struct module *module, enum attr_rule rule,
                       const struct attr_value *value)
{
    switch (rule) {
    case RULE_INT: return value->kind == ATTR_INT;
    case RULE_STRING: return value->kind == ATTR_STRING;
    case RULE_FLAG: return value->kind == ATTR_BOOL;
    case RULE_WORDS: return list_of(module, value, ATTR_WORD);
    case RULE_TYPES: return list_of(module, value, ATTR_TYPE);
    case RULE_NAMES: return is_by_core(module, value, ATTR_STRING);
    case RULE_SIZES: return is_by_core(module, value, ATTR_INT);
    case RULE_SLOTS: return is_slots(module, value);
    case RULE_SWITCH:
        return value->kind == ATTR_BOOL ||
               (value->kind == ATTR_INT && (value->i == 0 || value->i == 1));
    case RULE_BUFFERS: return value->kind == ATTR_STRING || list_of(module, value, ATTR_STRING);
    case RULE_INDEXES: return list_of(module, value, ATTR_INT);
    case RULE_VARIANTS: return attr_is_variants(module, value);
    }
    return false;
}

static void verify_number(struct verifier *verifier, struct span span, uint32_t key,
                          const struct attr_value *value, const struct attr_row *row)
{
    if (value->i < row->low || value->i > row->high)
        diag_at(verifier->diags, DIAG_number_range, span,
                "'%.*s' is %lld, but must be %lld to %lld", NAME(verifier->module, key),
                (long long)value->i, (long long)row->low, (long long)row->high);
}

static void verify_sizes(struct verifier *verifier, struct span span, const struct attr *attr,
                         const struct attr_row *row)
{
    if (attr->value.kind == ATTR_INT)
        verify_number(verifier, span, attr->key, &attr->value, row);
    else
        for (uint32_t i = 0; i < attr->value.count; i++) {
            const struct attr *part = &verifier->module->attrs.at[attr->value.first + i];
            verify_number(verifier, span, part->key, &part->value, row);
        }
}

static void verify_attr(struct verifier *verifier, const struct attr *attr,
                        const struct attr_row *row)
{
    struct span span = locate_token(verifier->module, attr->loc);
    if (!rule_holds(verifier->module, row->rule, &attr->value)) {
        diag_at(verifier->diags, DIAG_attribute_kind, span, "'%.*s' must be %s",
                NAME(verifier->module, attr->key), rule_text(row->rule));
        return;
    }
    if (row->rule == RULE_INT)
        verify_number(verifier, span, attr->key, &attr->value, row);
    if (row->rule == RULE_SIZES)
        verify_sizes(verifier, span, attr, row);
}

static const struct attr_row *find_row(enum attr_owner owner, uint32_t key)
{
    for (size_t i = 0; i < ATTR_ROWS; i++)
        if (attr_rows[i].owner == owner && attr_rows[i].key == key)
            return &attr_rows[i];
    return NULL;
}

bool attr_is_of_any_op(uint32_t key)
{
    return find_row(OWNER_OP, key) != NULL;
}

static void unknown_attr(struct verifier *verifier, const struct attr *attr, enum attr_owner owner)
{
    static const char *const owners[] = {"a target", "a kernel",       "an entry",    "a scope",
                                         "a stream", "a super kernel", "a parameter", "an op"};
    const struct module *module = verifier->module;
    if (!diag_at(verifier->diags, DIAG_unknown_attribute, locate_token(module, attr->loc),
                 "%s has no attribute '%.*s'", owners[owner], NAME(module, attr->key)))
        return;
    struct suggest suggest = suggest_for(module, attr->key);
    for (size_t i = 0; i < ATTR_ROWS; i++)
        if (attr_rows[i].owner == owner)
            suggest_name(&suggest, module, attr_rows[i].key);
    suggest_note(verifier->diags, &suggest, "");
}

void verify_attrs(struct verifier *verifier, struct range attrs, enum attr_owner owner)
{
    const struct module *module = verifier->module;
    if (attrs.count == 0)
        return;
    marks_clear(verifier);
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[attrs.first + i];
        if (marks_set(verifier, attr->key, 0, NULL))
            diag_at(verifier->diags, DIAG_duplicate, locate_token(module, attr->loc),
                    "the attribute '%.*s' stands twice", NAME(module, attr->key));
        /* Keys of the table are words, whose ids are small. */
        const struct attr_row *row = attr->key < W_COUNT ? find_row(owner, attr->key) : NULL;
        if (row)
            verify_attr(verifier, attr, row);
        else if (owner != OWNER_OP)
            unknown_attr(verifier, attr, owner);
    }
}

/* -------------------------------------------------------------------------- kernels ---- */

void verify_unknown_kernel(struct verifier *verifier, struct span span, uint32_t name)
{
    const struct module *module = verifier->module;
    if (!diag_at(verifier->diags, DIAG_unknown_kernel, span, "the kernel '@%.*s' is not declared",
                 NAME(module, name)))
        return;
    struct suggest suggest = suggest_for(module, name);
    if (diag_wants_suggestion(verifier->diags))
        for (uint32_t i = 0; i < module->kernels.count; i++)
            suggest_name(&suggest, module, module->kernels.at[i].name);
    if (suggest.best)
        suggest_note(verifier->diags, &suggest, "@");
    else
        diag_note(verifier->diags, no_span, "declare it with 'kernel @%.*s : TYPE {...}'",
                  NAME(module, name));
}

/* The parts that `entry` and the kernel's type give must be the same. */
static void verify_kernel_entry(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    const struct attr *entry = attr_find(module, kernel->attrs, W_entry);
    if (!entry || !is_by_core(module, &entry->value, ATTR_STRING))
        return;
    struct span span = locate_token(module, entry->loc);
    if (entry->value.kind == ATTR_STRING) {
        if (kernel_type_is_mixed(kernel->type) &&
            diag_at(verifier->diags, DIAG_kernel_part, span,
                    "a kernel of type %s has two functions", kernel_type_info(kernel->type)->name))
            diag_note(verifier->diags, no_span, "write entry = {aic = \"...\", aiv = \"...\"}");
        return;
    }
    struct range parts = {entry->value.first, entry->value.count};
    for (int core = 0; core < CORE_TYPES; core++) {
        bool has = attr_string(module, parts, core == CORE_AIC ? W_aic : W_aiv) != NONE;
        if (has != kernel_type_has(kernel->type, core))
            diag_at(verifier->diags, DIAG_kernel_part, span, "a kernel of type %s %s '%s' function",
                    kernel_type_info(kernel->type)->name, has ? "has no" : "needs an",
                    core_type_name(core));
    }
}

static void verify_kernel_words(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    const struct attr *attr = attr_find(module, kernel->attrs, W_early_start);
    for (uint32_t i = 0; attr && attr->value.kind == ATTR_LIST && i < attr->value.count; i++) {
        const struct attr_value *word = &module->attr_values.at[attr->value.first + i];
        if (word->kind == ATTR_WORD && word->id != W_set && word->id != W_wait)
            diag_at(verifier->diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                    "'early_start' knows 'set' and 'wait', not '%.*s'", NAME(module, word->id));
    }
}

static bool ends_with_part(const struct intern_name *name)
{
    return name->size > 4 && (memcmp(name->text + name->size - 4, ".aic", 4) == 0 ||
                              memcmp(name->text + name->size - 4, ".aiv", 4) == 0);
}

static void verify_kernel(struct verifier *verifier, const struct kernel *kernel)
{
    const struct module *module = verifier->module;
    struct span span = locate_name(module, kernel->loc);
    verify_attrs(verifier, kernel->attrs, OWNER_KERNEL);
    verify_kernel_entry(verifier, kernel);
    verify_kernel_words(verifier, kernel);
    verify_variants(verifier, kernel);
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

/* -------------------------------------------------------------------------- symbols ---- */

static void verify_unique(struct verifier *verifier, const char *what, uint32_t name, uint32_t loc)
{
    const struct module *module = verifier->module;
    uint32_t before = NONE;
    if (!marks_set(verifier, name, loc, &before))
        return;
    if (diag_at(verifier->diags, DIAG_duplicate, locate_name(module, loc), "%s '%.*s' stands twice",
                what, NAME(module, name)) &&
        before != NONE)
        diag_note(verifier->diags, locate_name(module, before), "the first is here");
}

/* Kernels, graphs and entries have a name space each. */
static void verify_symbols(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    marks_clear(verifier);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        verify_unique(verifier, "the kernel", module->kernels.at[i].name,
                      module->kernels.at[i].loc);
    marks_clear(verifier);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        verify_unique(verifier, "the graph", module->graphs.at[i].name, module->graphs.at[i].loc);
    marks_clear(verifier);
    for (uint32_t i = 0; i < module->entries.count; i++)
        verify_unique(verifier, "the entry", module->entries.at[i].name, module->entries.at[i].loc);
    for (uint32_t i = 1; i < module->targets.count; i++)
        diag_at(verifier->diags, DIAG_duplicate, locate_name(module, module->targets.at[i].loc),
                "a module has at most one target");
}

bool verify_module(const struct module *module, struct diags *diags)
{
    struct verifier verifier = {.module = module,
                                .diags = diags,
                                .marks = mem_calloc(module->names.count, sizeof(struct mark))};
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    verify_symbols(&verifier);
    for (uint32_t i = 0; i < module->targets.count; i++)
        verify_attrs(&verifier, module->targets.at[i].attrs, OWNER_TARGET);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        verify_kernel(&verifier, &module->kernels.at[i]);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        verify_graph(&verifier, &module->graphs.at[i]);
    for (uint32_t i = 0; i < module->entries.count; i++)
        verify_entry(&verifier, &module->entries.at[i]);
    mem_free(verifier.marks);
    return diags->counts[SEVERITY_ERROR] == errors;
}
