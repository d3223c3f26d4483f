#include "backend/device/op_attrs.h"
#include "backend/kernels/sample_ops.h"
#include "ir/attrs.h"
#include "ir/base/text.h"
#include "ir/foreign_names.h"
#include "ir/syntax/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------- reading ---- */

bool op_attr_is_kernels(const struct module *module, const struct attr *attr)
{
    return !attr_row_find(OWNER_OP, attr->key) && !attr_is_private(module, attr->key);
}

bool op_attr_read(const struct module *module, const struct attr *attr, struct arena *arena,
                  struct skrt_attr *found)
{
    const struct intern_name *key = &module->names.names[attr->key];
    if (key->size >= SKRT_ATTR_KEY)
        return false;
    *found = (struct skrt_attr){.i = 0};
    memcpy(found->key, key->text, key->size);
    switch (attr->value.kind) {
    case ATTR_INT:
    case ATTR_BOOL:
        found->i = attr->value.i;
        found->f = (double)attr->value.i;
        return true;
    case ATTR_FLOAT:
        found->f = attr->value.f;
        /* Truncation of what does not fit is undefined in C. */
        if (attr->value.f > -9e18 && attr->value.f < 9e18)
            found->i = (int64_t)attr->value.f;
        return true;
    case ATTR_STRING: found->text = name_text(module, attr->value.id, arena); return true;
    case ATTR_LIST:
        found->count = attr->value.count;
        found->ints = attr_list_ints(module, &attr->value, arena);
        return found->ints != NULL;
    default: return false;
    }
}

/* ------------------------------------------------------------------------ checks ---- */

/* Whether an attribute that the kernel knows is of the kind that it takes. */
static bool check_kind(const struct module *module, const struct attr *attr, const char *type,
                       const char *key, struct diags *diags)
{
    static const char *const kinds[] = {[SAMPLE_NUMBER] = "a number or a flag",
                                        [SAMPLE_TEXT] = "a string",
                                        [SAMPLE_INTS] = "a list of integers"};
    struct arena scratch = {NULL, 0};
    struct skrt_attr found;
    enum sample_attr kind = sample_op_attr_kind(module->op_types, type, key);
    bool ok =
        op_attr_read(module, attr, &scratch, &found) && kind == (found.text   ? SAMPLE_TEXT
                                                                 : found.ints ? SAMPLE_INTS
                                                                              : SAMPLE_NUMBER);
    if (!ok)
        diag_at(diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                "'%s' of %s must be %s", key, type, kinds[kind]);
    arena_free(&scratch);
    return ok;
}

/* The attribute of this name that the kernel of a type takes; NULL. */
static const char *find_taken(const struct module *module, const char *type, uint32_t key)
{
    const char *const *name = sample_op_attrs(module->op_types, type);
    while (*name && !name_is(module, key, *name))
        name++;
    return *name;
}

bool op_attr_is_taken(const struct module *module, const char *type, const char *key)
{
    const char *const *name = sample_op_attrs(module->op_types, type);
    while (*name && strcmp(*name, key) != 0)
        name++;
    return *name != NULL;
}

static const struct op_attr *attr_of_type(const struct op_type *type, const char *name)
{
    return op_type_attr(type, name, strlen(name));
}

/* What attributes there are, where none is like the one that is not. */
static void help_attrs(const struct module *module, const char *type, struct diags *diags)
{
    struct text names = {NULL, 0, 0};
    for (const char *const *name = sample_op_attrs(module->op_types, type); *name; name++)
        text_printf(&names, "%s%s", names.size ? ", " : "", *name);
    text_char(&names, '\0');
    if (*names.at)
        diag_help(diags, "the attributes of %s are %s", type, names.at);
    else
        diag_help(diags, "%s has no attributes", type);
    text_free(&names);
}

/* A type that takes more than this one, such as SoftmaxV2, may have what is meant. */
static void help_successor(const struct module *module, const char *type, const char *key,
                           size_t size, struct diags *diags)
{
    char name[64];
    int length = snprintf(name, sizeof name, "%sV2", type);
    const struct op_type *other = length > 0 && (size_t)length < sizeof name
                                      ? op_types_find(module->op_types, name, (size_t)length)
                                      : NULL;
    if (!other)
        return;
    struct suggest meant = meant_key(other, key, size);
    for (uint32_t i = 0; i < other->n_operands; i++)
        if (strlen(other->slots[i].name) == size && memcmp(other->slots[i].name, key, size) == 0)
            diag_help(diags, "%s has an operand '%s'", other->name, other->slots[i].name);
    if (meant.best && meant.distance == 0)
        diag_help(diags, "%s has the attribute '%s'", other->name, meant.best);
}

/* What is meant by an attribute that a type does not have: one of the type, or nearly one that
 * means something to skir itself. */
static struct suggest meant_attr(const struct module *module, const struct op_type *type,
                                 uint32_t key)
{
    struct suggest own = name_suggest(module, key), meant = own;
    if (type)
        meant = meant_key(type, own.wanted, own.wanted_size);
    for (size_t i = 0; !meant.best && i < n_attr_rows; i++)
        if (attr_rows[i].owner == OWNER_OP)
            name_offer(&own, module, attr_rows[i].key);
    return own.best && own.distance == 1 ? own : meant;
}

/* The verifier has warned of it where it is nearly a known one, and no more: an op may have a
 * kernel of somebody's own. */
static void unknown_attr(const struct module *module, const struct op *op, const char *type,
                         const struct attr *attr, struct diags *diags)
{
    struct span span = locate_token(module, attr->loc);
    const struct op_type *known = op_type_find(module, op->type);
    bool of_type = false;
    for (uint32_t i = 0; known && i < known->n_attrs; i++)
        of_type |= name_is(module, attr->key, known->attrs[i].name);
    diags_take_back(diags, DIAG_attribute_slip, span);
    if (!diag_at(diags, DIAG_unknown_attribute, span,
                 of_type ? "the sample kernel of %s does not take the attribute '%.*s'"
                         : "%s has no attribute '%.*s'",
                 type, NAME(module, attr->key)))
        return;
    struct suggest meant = {.best = NULL};
    if (!of_type)
        meant = meant_attr(module, known, attr->key);
    if (diag_suggest(diags, &meant))
        return;
    help_attrs(module, type, diags);
    help_successor(module, type, module->names.names[attr->key].text,
                   module->names.names[attr->key].size, diags);
}

static bool is_default_list(const struct module *module, const struct attr_value *list,
                            const struct op_attr *attr)
{
    bool same = list->count == attr->n_numbers;
    for (uint32_t i = 0; same && i < list->count; i++) {
        const struct attr_value *number = &module->attr_values.at[list->first + i];
        same = number->kind == ATTR_INT && number->i == attr->numbers[i];
    }
    return same;
}

/* Whether the attribute is what it would be if the op did not have it, by the data of its type. */
static bool is_default(const struct module *module, const struct op_type *type,
                       const struct attr *attr)
{
    const struct intern_name *key = &module->names.names[attr->key];
    const struct op_attr *known = type ? op_type_attr(type, key->text, key->size) : NULL;
    const struct attr_value *value = &attr->value;
    if (!known || !known->fallback)
        return false;
    switch (known->kind) {
    case OP_ATTR_INT:
    case OP_ATTR_BOOL:
        return (value->kind == ATTR_INT || value->kind == ATTR_BOOL) &&
               value->i == known->numbers[0];
    case OP_ATTR_FLOAT: {
        double number = strtod(known->fallback, NULL);
        return value->kind == ATTR_FLOAT ? (float)value->f == (float)number
                                         : value->kind == ATTR_INT && (double)value->i == number;
    }
    case OP_ATTR_STRING:
        return value->kind == ATTR_STRING && name_is(module, value->id, known->fallback);
    case OP_ATTR_INTS: return value->kind == ATTR_LIST && is_default_list(module, value, known);
    default: return false;
    }
}

/* Attributes that the op type does not have, or that are of the wrong kind. One that the kernel
 * does not take may have its default. */
static bool check_known(const struct module *module, const struct op *op, const char *type,
                        struct diags *diags)
{
    bool ok = true;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        if (!op_attr_is_kernels(module, attr))
            continue;
        const char *known = find_taken(module, type, attr->key);
        if (known) {
            ok = check_kind(module, attr, type, known, diags) && ok;
            continue;
        }
        if (is_default(module, op_type_find(module, op->type), attr))
            continue;
        ok = false;
        unknown_attr(module, op, type, attr, diags);
    }
    return ok;
}

/* What an op of one rank, or its operands and results, say without the attribute. */
static bool is_implied(const char *name)
{
    static const char *const implied[] = {"N",         "num_split", "group", "rank_size",
                                          "reduction", "dst_type",  "dtype"};
    for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++)
        if (strcmp(implied[i], name) == 0)
            return true;
    return false;
}

static bool has_attr(const struct module *module, const struct op *op, const char *name)
{
    for (uint32_t i = 0; i < op->attrs.count; i++)
        if (name_is(module, module->attrs.at[op->attrs.first + i].key, name))
            return true;
    return false;
}

/* The kernel would take whatever it finds in the place of an attribute that has no default. */
static bool check_given(const struct module *module, const struct op *op, const char *type,
                        struct diags *diags)
{
    static const char *const samples[OP_ATTR_KINDS] = {
        [OP_ATTR_INT] = "0",          [OP_ATTR_FLOAT] = "1.0", [OP_ATTR_BOOL] = "true",
        [OP_ATTR_STRING] = "\"...\"", [OP_ATTR_INTS] = "[0]",  [OP_ATTR_FLOATS] = "[1.0]",
        [OP_ATTR_CONTENTS] = "0"};
    const struct op_type *known = op_type_find(module, op->type);
    for (const char *const *name = sample_op_attrs(module->op_types, type); *name; name++) {
        const struct op_attr *attr = attr_of_type(known, *name);
        if (!attr || attr->fallback || is_implied(*name) || has_attr(module, op, *name))
            continue;
        if (diag_at(diags, DIAG_missing_attribute, locate_op(module, op, OP_TYPE_NAME, 0),
                    "%s needs the attribute '%s'", type, *name))
            diag_help(diags, "it stands behind the operands, as in '{%s = %s}'", *name,
                      samples[attr->kind]);
        return false;
    }
    return true;
}

bool op_attrs_check(const struct module *module, const struct op *op, const char *type,
                    struct diags *diags)
{
    return check_known(module, op, type, diags) && check_given(module, op, type, diags);
}
