#include "ir/syntax/slip_operand.h"
#include "ir/op_types.h"

#include <ctype.h>
#include <stdio.h>

/* An operand as it stands in the text. */
struct place {
    const char *type, *type_end; /* the op's */
    uint32_t index;              /* among its operands */
    char value[64];              /* the number, or a list of them; cut off where it is long */
    bool listed, truth, fraction;
    uint32_t count; /* of numbers */
};

/* ---------------------------------------------------------------------------- the text ---- */

static bool is_number(const struct slip *slip)
{
    const char *p = slip->begin + (*slip->begin == '-' || *slip->begin == '.');
    return p < slip->end && isdigit((unsigned char)*p);
}

static bool is_truth(const struct slip *slip)
{
    size_t size = (size_t)(slip->end - slip->begin);
    return (size == 4 && memcmp(slip->begin, "true", 4) == 0) ||
           (size == 5 && memcmp(slip->begin, "false", 5) == 0);
}

/* Goes back over what operands may be to the parenthesis that they stand in. */
static const char *find_open(const struct slip *slip, struct place *place, const char **list)
{
    enum { MOST = 2000 };
    const char *first = slip->begin - slip->text > MOST ? slip->begin - MOST : slip->text;
    unsigned depth = 0;
    for (const char *p = slip->begin; p-- > first;) {
        if (*p == '(')
            return p;
        if (strchr("){}\"", *p))
            return NULL;
        depth += *p == ']';
        place->index += *p == ',' && depth == 0;
        if (*p == '[' && depth-- == 0) {
            *place = (struct place){.listed = true};
            *list = p;
            depth = 0;
        }
    }
    return NULL;
}

/* Where a list of nothing but numbers ends, on one line; NULL. */
static const char *list_end(const struct slip *slip, const char *list)
{
    for (const char *p = list + 1; p < slip->limit; p++)
        if (*p == ']')
            return p + 1;
        else if (!isalnum((unsigned char)*p) && !strchr("+-., ", *p))
            break;
    return NULL;
}

/* The token, or the list from its bracket on. */
static void take_value(const struct slip *slip, const char *list, struct place *place)
{
    const char *close = list ? list_end(slip, list) : NULL;
    const char *begin = close ? list : slip->begin, *end = close ? close : slip->end;
    place->listed = close != NULL;
    place->count = 1;
    for (const char *p = begin; p < end; p++) {
        place->count += *p == ',';
        place->fraction |= *p == '.';
    }
    bool fits = (size_t)(end - begin) < sizeof place->value;
    snprintf(place->value, sizeof place->value, "%.*s", fits ? (int)(end - begin) : 3,
             fits ? begin : "...");
}

static bool find_place(const struct slip *slip, struct place *place)
{
    const char *list = NULL, *open;
    *place = (struct place){.listed = false};
    if (!(open = find_open(slip, place, &list)))
        return false;
    place->type_end = place->type = open;
    while (place->type > slip->text &&
           (isalnum((unsigned char)place->type[-1]) || place->type[-1] == '_'))
        place->type--;
    place->truth = is_truth(slip);
    take_value(slip, list, place);
    return isupper((unsigned char)*place->type);
}

/* -------------------------------------------------------------------------- attributes ---- */

static bool kind_fits(const struct place *place, enum op_attr_kind kind)
{
    if (place->truth)
        return kind == OP_ATTR_BOOL;
    bool lists = kind == OP_ATTR_INTS || kind == OP_ATTR_FLOATS;
    bool floats = kind == OP_ATTR_FLOAT || kind == OP_ATTR_FLOATS;
    return (lists || (!place->listed && (kind == OP_ATTR_INT || floats))) &&
           (floats || !place->fraction);
}

/* The attribute that a number behind all operands is: the first, the second ... that it fits. */
static const struct op_attr *find_attr(const struct op_type *type, const struct place *place)
{
    uint32_t left = place->index < type->n_operands ? 0 : place->index - type->n_operands;
    for (uint32_t i = 0; i < type->n_attrs; i++)
        if (kind_fits(place, type->attrs[i].kind) && left-- == 0)
            return &type->attrs[i];
    return NULL;
}

/* Types that go by nearly the same name may have it. */
static const struct op_attr *find_other(const struct slip *slip, const struct op_type **type,
                                        const struct place *place)
{
    static const char *const endings[] = {"", "V2", "D"};
    char name[64];
    const struct op_type *first = *type;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t size = (size_t)snprintf(name, sizeof name, "%s%s", first->name, endings[i]);
        *type = size < sizeof name ? op_types_find(slip->types, name, size) : NULL;
        const struct op_attr *attr = *type ? find_attr(*type, place) : NULL;
        if (attr)
            return attr;
    }
    return NULL;
}

static void help_attr(const struct slip *slip, const struct op_type *type,
                      const struct op_attr *attr, const struct place *place)
{
    bool wrap = !place->listed && (attr->kind == OP_ATTR_INTS || attr->kind == OP_ATTR_FLOATS);
    diag_help(slip->diags, "it is an attribute: '%s(...) {%s = %s%s%s}'", type->name, attr->name,
              wrap ? "[" : "", place->value, wrap ? "]" : "");
}

/* ---------------------------------------------------------------------------- constants ---- */

static const char *dtype_for(const struct op_slot *slot, const struct place *place)
{
    static const enum dtype whole[] = {DTYPE_i32, DTYPE_i64};
    if (place->truth)
        return "bool";
    for (size_t i = 0; !place->fraction && i < sizeof whole / sizeof whole[0]; i++)
        if (slot && slot->dtypes != UINT64_MAX && slot->dtypes >> whole[i] & 1)
            return dtype_info(whole[i])->name;
    return "f32";
}

static void help_constant(const struct slip *slip, const struct op_slot *slot,
                          const struct place *place)
{
    char count[16] = "";
    if (place->listed)
        snprintf(count, sizeof count, "%u", place->count);
    diag_help(slip->diags,
              "an operand is a value; one that is a number is a constant: '%%%s = Const() {value = "
              "%s} : %s[%s]'",
              slot ? slot->name : "c", place->value, dtype_for(slot, place), count);
}

bool slip_help_operand(const struct slip *slip)
{
    struct place place;
    if (!(is_number(slip) || is_truth(slip)) || !find_place(slip, &place))
        return false;
    const struct op_type *type =
        op_types_find(slip->types, place.type, (size_t)(place.type_end - place.type));
    const struct op_type *owner = type;
    const struct op_slot *slot =
        type && place.index < type->n_operands ? &type->slots[place.index] : NULL;
    const struct op_attr *attr = type && !slot ? find_other(slip, &owner, &place) : NULL;
    if (attr)
        help_attr(slip, owner, attr, &place);
    else
        help_constant(slip, slot, &place);
    if (!type)
        diag_help(slip->diags, "or an attribute, behind the operands: '{KEY = %s}'", place.value);
    return true;
}
