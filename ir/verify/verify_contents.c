/* The verifier's part for contents: the attribute `value` of ops whose results are there before the
 * graph runs fits the type of the result. */
#include "ir/attrs.h"
#include "ir/base/array_kinds.h"
#include "ir/contents.h"
#include "ir/meant_names.h"
#include "ir/verify/graph_verifier.h"

#include <string.h>

/* Contents that are looked at. */
struct given {
    struct graph_verifier *gv;
    const struct attr *attr;
    const struct type *type; /* of the result */
    uint64_t elements;       /* NONE where that is not known */
};

static void report(const struct given *given, struct span span, const char *text, const char *help)
{
    if (diag_at(given->gv->diags, DIAG_contents, span, "%s", text) && help)
        diag_help(given->gv->diags, "%s", help);
}

static struct span key_span(const struct given *given)
{
    return locate_token(given->gv->module, given->attr->loc);
}

/* -------------------------------------------------------------------------- numbers ---- */

static bool is_number(const struct attr_value *value)
{
    return value->kind == ATTR_INT || value->kind == ATTR_FLOAT || value->kind == ATTR_BOOL;
}

/* The place of an element of a list, or of the key of a single number (`element` is NONE). Only for
 * errors: the look-up takes linear time. */
static struct span number_span(const struct given *given, uint32_t element)
{
    return element == NONE ? key_span(given)
                           : locate_element(given->gv->module, given->attr, element);
}

static bool check_number(const struct given *given, uint32_t element,
                         const struct attr_value *number)
{
    const char *dtype = dtype_info(given->type->dtype)->name;
    uint64_t bits;
    if (!is_number(number)) {
        report(given, number_span(given, element), "this is not a number", NULL);
        return false;
    }
    enum number_fit fit = number_encode(given->type->dtype, number, &bits);
    if (fit == NUMBER_WRONG_KIND)
        diag_at(given->gv->diags, DIAG_contents, number_span(given, element),
                "%s is not a value of %s",
                number->kind == ATTR_BOOL ? "a truth value" : "a number with a fraction", dtype);
    else if (fit == NUMBER_TOO_LARGE)
        diag_at(given->gv->diags, DIAG_contents, number_span(given, element),
                "this number does not fit %s", dtype);
    return fit != NUMBER_WRONG_KIND && fit != NUMBER_TOO_LARGE;
}

static void check_count(const struct given *given, uint32_t count)
{
    if (given->elements == NONE || count == given->elements)
        return;
    if (diag_at(given->gv->diags, DIAG_contents, key_span(given), "%u number%s for %llu element%s",
                count, count == 1 ? "" : "s", (unsigned long long)given->elements,
                given->elements == 1 ? "" : "s"))
        diag_help(given->gv->diags, "a number without brackets fills the tensor");
}

static const char form[] = "contents are a number, a list of numbers, or {file = \"PATH\"}";

/* Elements of one list that are reported. */
enum { MOST_WRONG = 20 };

static bool is_nested(const struct module *module, const struct attr_value *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (module->attr_values.at[list->first + i].kind != ATTR_LIST)
            return false;
    return list->count > 0;
}

static void check_list(const struct given *given)
{
    const struct module *module = given->gv->module;
    const struct attr_value *list = &given->attr->value;
    if (is_nested(module, list)) {
        report(
            given, key_span(given), "contents are one list of numbers, not lists in a list",
            "write all elements in row-major order: [1, 2, 3, 4] for the rows [1, 2] and [3, 4]");
        return;
    }
    for (uint32_t i = 0, wrong = 0; i < list->count && wrong < MOST_WRONG; i++)
        wrong += !check_number(given, i, &module->attr_values.at[list->first + i]);
    check_count(given, list->count);
}

/* ---------------------------------------------------------------------------- files ---- */

static void unknown_key(const struct given *given, const struct attr *key)
{
    const struct module *module = given->gv->module;
    struct suggest suggest = name_suggest(module, key->key);
    suggest_offer_text(&suggest, "file");
    suggest_offer_text(&suggest, "offset");
    suggest_offer_text(&suggest, "bytes");
    suggest_offer_text(&suggest, "escaped");
    if (diag_at(given->gv->diags, DIAG_contents, locate_token(module, key->loc),
                "contents have no '%.*s'", NAME(module, key->key)))
        diag_suggest(given->gv->diags, &suggest);
}

/* In bytes, as the host has it; false where that is its own affair. */
static bool plain_size(const struct given *given, uint64_t *size)
{
    unsigned bits = dtype_info(given->type->dtype)->bits;
    bool known = format_is_row_major(given->gv->module, given->type->format) && bits >= 8 &&
                 given->elements != NONE;
    return known && !__builtin_mul_overflow(given->elements, bits / 8, size);
}

static void check_bytes(const struct given *given, const struct attr *key)
{
    uint64_t size;
    if (plain_size(given, &size) && (uint64_t)key->value.i != size)
        diag_at(given->gv->diags, DIAG_contents, locate_token(given->gv->module, key->loc),
                "%lld bytes for a tensor of %llu bytes", (long long)key->value.i,
                (unsigned long long)size);
}

static void check_path(const struct given *given, const struct attr *key)
{
    const struct module *module = given->gv->module;
    const struct intern_name *path =
        key->value.kind == ATTR_STRING ? &module->names.names[key->value.id] : NULL;
    if (!path || path->size == 0 || memchr(path->text, '\0', path->size))
        report(given, locate_token(module, key->loc), "'file' must be the path of a file", NULL);
}

/* Bytes of other files are meant where it is said where they begin. */
static void check_kind(const struct given *given, struct range keys)
{
    const struct module *module = given->gv->module;
    const struct attr *file = attr_find(module, keys, W_file);
    if (file->value.kind != ATTR_STRING || attr_find(module, keys, W_offset) ||
        attr_find(module, keys, W_escaped))
        return;
    const struct intern_name *path = &module->names.names[file->value.id];
    const char *kind = array_kind_by_name(path->text, path->size);
    if (kind && diag_at(given->gv->diags, DIAG_contents, locate_token(module, file->loc),
                        "'%.*s' is %s, by its name: contents are a .npy file or bytes",
                        NAME(module, file->value.id), kind))
        diag_help(given->gv->diags,
                  "numpy.save writes an array to a .npy file; 'offset' says where "
                  "bytes begin that are meant as they are");
}

/* Where string literals end is not known before they are decoded. */
static void check_escaped(const struct given *given, const struct attr *key)
{
    const struct module *module = given->gv->module;
    struct range keys = {given->attr->value.first, given->attr->value.count};
    if (key->value.kind != ATTR_BOOL)
        report(given, locate_token(module, key->loc), "'escaped' must be true or false", NULL);
    else if (key->value.i && !attr_find(module, keys, W_bytes))
        report(given, locate_token(module, key->loc), "escaped contents without their 'bytes'",
               "write bytes = N, the number of bytes that they are decoded to");
}

static void check_key(const struct given *given, const struct attr *key)
{
    bool is_size = key->value.kind == ATTR_INT && key->value.i >= 0;
    if (key->key == W_file)
        check_path(given, key);
    else if (key->key == W_escaped)
        check_escaped(given, key);
    else if (key->key != W_offset && key->key != W_bytes)
        unknown_key(given, key);
    else if (!is_size)
        diag_at(given->gv->diags, DIAG_contents, locate_token(given->gv->module, key->loc),
                "'%.*s' must be a number of bytes", NAME(given->gv->module, key->key));
    else if (key->key == W_bytes)
        check_bytes(given, key);
}

static void check_file(const struct given *given)
{
    const struct module *module = given->gv->module;
    struct range keys = {given->attr->value.first, given->attr->value.count};
    for (uint32_t i = 0; i < keys.count; i++)
        check_key(given, &module->attrs.at[keys.first + i]);
    if (!attr_find(module, keys, W_file))
        report(given, key_span(given), "contents without a 'file'", form);
    else
        check_kind(given, keys);
}

/* -------------------------------------------------------------- what stands for them ---- */

/* An attribute that is meant to be the contents. */
static void report_meant(struct graph_verifier *gv, const struct op_type *type,
                         const struct attr *attr, const struct suggest *meant)
{
    const struct module *module = gv->module;
    struct span span = locate_token(module, attr->loc);
    diags_take_back(gv->diags, DIAG_attribute_slip, span);
    if (!diag_at(gv->diags, DIAG_unknown_attribute, span, "%s has no attribute '%.*s'", type->name,
                 NAME(module, attr->key)))
        return;
    if (meant)
        diag_suggest(gv->diags, meant);
    else
        diag_help(gv->diags, "contents that are in a file are written 'value = {file = \"PATH\"}'");
}

static void check_stranger(struct graph_verifier *gv, const struct op_type *type,
                           const struct attr *attr)
{
    const struct module *module = gv->module;
    const struct intern_name *key = &module->names.names[attr->key];
    struct suggest meant = meant_key(type, key->text, key->size);
    if (attr_is_private(module, attr->key) || op_type_attr(type, key->text, key->size) ||
        (attr->key < W_COUNT && attr_row_find(OWNER_OP, attr->key)))
        return;
    if (attr->key == W_file || attr->key == W_offset || attr->key == W_bytes)
        report_meant(gv, type, attr, NULL);
    else if (meant.best && strcmp(meant.best, "value") == 0)
        report_meant(gv, type, attr, &meant);
}

/* Of a source without contents, for which numbers would be drawn. */
static void check_absent(struct graph_verifier *gv, const struct op *op)
{
    const struct op_type *type = op_type_find(gv->module, op->type);
    bool absent = op_lacks_contents(gv->module, gv->graph, op);
    for (uint32_t i = 0; absent && i < op->attrs.count; i++)
        check_stranger(gv, type, &gv->module->attrs.at[op->attrs.first + i]);
}

/* --------------------------------------------------------------------------- an op ---- */

static void check_contents(const struct given *given)
{
    enum dtype_class class = dtype_info(given->type->dtype)->class;
    uint32_t kind = given->attr->value.kind;
    if (class == CLASS_HANDLE && given->type->dtype != DTYPE_UNKNOWN)
        diag_at(given->gv->diags, DIAG_contents, key_span(given), "a tensor of %s has no contents",
                dtype_info(given->type->dtype)->name);
    else if (kind == ATTR_DICT)
        check_file(given);
    else if (kind != ATTR_LIST && !is_number(&given->attr->value))
        report(given, key_span(given), form, NULL);
    else if (class == CLASS_COMPLEX)
        report(given, key_span(given), "complex numbers cannot stand in the text",
               "put them into a file: value = {file = \"PATH\"}");
    else if (kind == ATTR_LIST)
        check_list(given);
    else
        check_number(given, NONE, &given->attr->value);
}

void verify_contents(struct graph_verifier *gv, const struct op *op)
{
    const struct attr *attr = op_contents_attr(gv->module, gv->graph, op);
    uint32_t type = attr ? gv->graph->values.at[op->results.first].type : NONE;
    if (!attr)
        check_absent(gv, op);
    if (type == NONE)
        return;
    struct given given = {gv, attr, &gv->module->types.at[type], NONE};
    if (!type_elements(gv->module, type, &given.elements))
        given.elements = NONE;
    check_contents(&given);
}
