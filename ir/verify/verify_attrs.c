/* The verifier's part for attributes: each is one that its owner has, of the kind that the tables
 * ir/core/attr_keys.def and ir/core/attr_kinds.def say. */
#include "ir/analysis/addresses.h"
#include "ir/core/arch.h"
#include "ir/verify/verify_internal.h"

#include <string.h>

/* --------------------------------------------------------------------------- kinds ---- */

static bool is_list_of(const struct module *module, const struct attr_value *list,
                       enum attr_kind kind)
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

static bool is_align(const struct attr_value *value)
{
    return value->kind == ATTR_INT && value->i >= 0 && value->i <= 1 << 28 &&
           (value->i & (value->i - 1)) == 0;
}

static bool is_arch(const struct module *module, const struct attr_value *value)
{
    enum arch arch;
    return value->kind == ATTR_STRING && arch_of_name(module, value->id, &arch);
}

static bool is_switch(const struct attr_value *value)
{
    return value->kind == ATTR_BOOL || (value->kind == ATTR_INT && (value->i | 1) == 1);
}

/* Numbers of operands, or words. */
static bool is_places(const struct module *module, const struct attr_value *list)
{
    if (list->kind != ATTR_LIST)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        enum attr_kind kind = module->attr_values.at[list->first + i].kind;
        if (kind != ATTR_INT && kind != ATTR_WORD)
            return false;
    }
    return true;
}

static bool is_copies(const struct module *module, const struct attr_value *value)
{
    if (!is_list_of(module, value, ATTR_LIST))
        return false;
    for (uint32_t i = 0; i < value->count; i++) {
        const struct attr_value *names = &module->attr_values.at[value->first + i];
        if (names->count == 0 || !is_list_of(module, names, ATTR_STRING))
            return false;
    }
    return true;
}

/* Addresses, `none` where nothing is known; with `lists`, that of a list is a list, too. */
static bool is_address_list(const struct module *module, const struct attr_value *value, bool lists)
{
    if (value->kind != ATTR_LIST)
        return false;
    for (uint32_t i = 0; i < value->count; i++) {
        const struct attr_value *element = &module->attr_values.at[value->first + i];
        bool none = element->kind == ATTR_WORD && element->id == W_none;
        if (!none && !address_is_one(module, element) &&
            !(lists && is_address_list(module, element, false)))
            return false;
    }
    return true;
}

static bool is_addresses(const struct module *module, const struct attr_value *value)
{
    if (value->kind != ATTR_DICT)
        return false;
    for (uint32_t i = 0; i < value->count; i++) {
        const struct attr *list = &module->attrs.at[value->first + i];
        if ((list->key != W_operands && list->key != W_results && list->key != W_workspace) ||
            !is_address_list(module, &list->value, list->key == W_operands))
            return false;
    }
    return true;
}

bool attr_is_names(const struct module *module, const struct attr_value *value)
{
    return is_by_core(module, value, ATTR_STRING);
}

static bool is_time(const struct attr_value *value)
{
    double us = value->kind == ATTR_INT ? (double)value->i : value->f;
    return (value->kind == ATTR_INT || value->kind == ATTR_FLOAT) && us >= 0 && us <= 1e9;
}

bool attr_is_variants(const struct module *module, const struct attr_value *value)
{
    return is_list_of(module, value, ATTR_DICT);
}

/* Whether a value is of a kind. */
static bool is_kind(const struct module *module, enum key_kind kind, const struct attr_value *value)
{
    switch (kind) {
/* clang-format off */
#define ATTR_KIND(name, holds, text) case KIND_##name: return holds;
/* clang-format on */
#include "ir/core/attr_kinds.def"
    }
    return false;
}

static const char *const kinds[] = {
#define ATTR_KIND(name, holds, text) text,
#include "ir/core/attr_kinds.def"
};

/* ---------------------------------------------------------------------- attributes ---- */

static void verify_number(struct verifier *verifier, struct span span, uint32_t key,
                          const struct attr_value *value, const struct attr_row *row)
{
    if (value->i < row->low || value->i > row->high)
        diag_at(verifier->diags, DIAG_number_range, span,
                "'%.*s' is %lld, but must be %lld to %lld", NAME(verifier->module, key),
                (long long)value->i, (long long)row->low, (long long)row->high);
}

/* Whether a value of the row's kind is a number with the row's bounds. */
static bool is_ranged(const struct attr_row *row, const struct attr_value *value)
{
    return row->kind == KIND_INT || (row->kind == KIND_BLOCKS && value->kind == ATTR_INT);
}

static void verify_attr(struct verifier *verifier, const struct attr *attr,
                        const struct attr_row *row)
{
    const struct module *module = verifier->module;
    struct span span = locate_token(module, attr->loc);
    bool dict = attr->value.kind == ATTR_DICT, nul = false;
    if (!is_kind(module, row->kind, &attr->value)) {
        diag_at(verifier->diags, DIAG_attribute_kind, span, "'%.*s' must be %s",
                NAME(module, attr->key), kinds[row->kind]);
        return;
    }
    bool ranged = is_ranged(row, &attr->value) || row->kind == KIND_SIZES;
    /* Paths and names that go on after a NUL would be taken for what comes before it. */
    bool text = row->owner == OWNER_KERNEL && (row->kind == KIND_STRING || row->kind == KIND_NAMES);
    const struct attr *parts = dict ? module->attrs.at + attr->value.first : attr;
    for (uint32_t i = 0; (ranged || text) && i < (dict ? attr->value.count : 1); i++) {
        const struct attr_value *value = &parts[i].value;
        if (ranged)
            verify_number(verifier, span, parts[i].key, value, row);
        const struct intern_name *name =
            value->kind == ATTR_STRING ? &module->names.names[value->id] : NULL;
        nul |= text && name && memchr(name->text, '\0', name->size);
    }
    if (nul)
        diag_at(verifier->diags, DIAG_attribute_kind, span, "'%.*s' must not have a NUL in it",
                NAME(module, attr->key));
}

bool attr_row_takes(const struct module *module, const struct attr_row *row,
                    const struct attr_value *value)
{
    return is_kind(module, row->kind, value) &&
           (!is_ranged(row, value) || (value->i >= row->low && value->i <= row->high));
}

static void unknown_attr(struct verifier *verifier, const struct attr *attr, enum attr_owner owner)
{
    static const char *const owners[] = {
#define ATTR_OWNER(name, text, open) text,
#include "ir/core/attr_kinds.def"
    };
    const struct module *module = verifier->module;
    if (!diag_at(verifier->diags, DIAG_unknown_attribute, locate_token(module, attr->loc),
                 "%s has no attribute '%.*s'", owners[owner], NAME(module, attr->key)))
        return;
    const struct intern_name *key = &module->names.names[attr->key];
    const char *option = owner == OWNER_SCOPE || owner == OWNER_SUPERKERNEL
                             ? sk_option_of_word(key->text, key->size)
                             : NULL;
    if (option) {
        diag_help(verifier->diags, "it is an option: write options = \"%s=VALUE\"", option);
        return;
    }
    struct suggest suggest = name_suggest(module, attr->key);
    for (size_t i = 0; i < n_attr_rows; i++)
        if (attr_rows[i].owner == owner)
            name_offer(&suggest, module, attr_rows[i].key);
    diag_suggest(verifier->diags, &suggest);
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
        const struct attr_row *row = attr->key < W_COUNT ? attr_row_find(owner, attr->key) : NULL;
        if (row)
            verify_attr(verifier, attr, row);
        else if (!attr_owner_is_open(owner) && !attr_is_private(module, attr->key))
            unknown_attr(verifier, attr, owner);
    }
}
