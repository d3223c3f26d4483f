#include "frontend/exchange/translate/row_attrs.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[TRANSLATION_KINDS] = {
    [OF_INT] = "an integer",
    [OF_FLOAT] = "a number",
    [OF_BOOL] = "0 or 1",
    [OF_TEXT] = "a string",
    [OF_INTS] = "integers",
    [OF_FLOATS] = "numbers",
    [OF_DTYPE] = "a data type of skir",
    [OF_ANY] = "of another kind",
};

static const struct translation_attr *find(const struct translation *t, uint32_t key)
{
    const struct translation_attr *attr = t->row->attrs;
    for (; !translation_attr_is_end(attr); attr++)
        if (attr->name && name_is(t->module, key, attr->name))
            return attr;
    return NULL;
}

static const struct translation_attr *row_attr(const struct translation *t, const char *name)
{
    const struct translation_attr *attr = t->row->attrs;
    for (;; attr++) {
        assert(!translation_attr_is_end(attr));
        if (strcmp(attr->name ? attr->name : attr->target, name) == 0)
            break;
    }
    return attr;
}

static const struct attr_value *row_attr_said(const struct translation *t, const char *name)
{
    for (uint32_t i = 0; i < t->attrs.count; i++) {
        const struct attr *attr = &t->module->attrs.at[t->attrs.first + i];
        if (name_is(t->module, attr->key, name))
            return &attr->value;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- kinds ---- */

static bool are(const struct translation *t, const struct attr_value *list, bool floats)
{
    if (list->kind != ATTR_LIST)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t kind = t->module->attr_values.at[list->first + i].kind;
        if (kind != ATTR_INT && !(floats && kind == ATTR_FLOAT))
            return false;
    }
    return true;
}

static bool is_dtype(const struct attr_value *value)
{
    return value->kind == ATTR_WORD && value->id > W_BEFORE_DTYPES && value->id < W_DTYPE_END;
}

static enum dtype dtype_of(const struct attr_value *value)
{
    return (enum dtype)(value->id - W_BEFORE_DTYPES - 1);
}

static bool is_of_kind(const struct translation *t, const struct attr_value *value,
                       enum translation_kind kind)
{
    switch (kind) {
    case OF_INT: return value->kind == ATTR_INT;
    case OF_FLOAT: return value->kind == ATTR_FLOAT || value->kind == ATTR_INT;
    case OF_BOOL:
        return value->kind == ATTR_BOOL ||
               (value->kind == ATTR_INT && (value->i == 0 || value->i == 1));
    case OF_TEXT: return value->kind == ATTR_STRING;
    case OF_INTS: return are(t, value, false);
    case OF_FLOATS: return are(t, value, true);
    case OF_DTYPE: return is_dtype(value);
    default: return true;
    }
}

/* Appends a value as rows write them. */
static void print_value(struct text *text, const struct translation *t,
                        const struct attr_value *value)
{
    switch (value->kind) {
    case ATTR_INT:
    case ATTR_BOOL: text_signed(text, value->i); break;
    case ATTR_FLOAT: text_double(text, value->f); break;
    case ATTR_STRING: text_printf(text, "%.*s", NAME(t->module, value->id)); break;
    case ATTR_LIST:
        text_char(text, '[');
        for (uint32_t i = 0; i < value->count; i++) {
            text_string(text, i ? ", " : "");
            print_value(text, t, &t->module->attr_values.at[value->first + i]);
        }
        text_char(text, ']');
        break;
    default: text_string(text, "something else"); break;
    }
}

/* Whether a text is one of those between '|'. */
static bool is_among(const struct text *text, const char *words)
{
    for (const char *at = words; *at;) {
        size_t size = strcspn(at, "|");
        if (size == text->size && memcmp(at, text->at, size) == 0)
            return true;
        at += size + (at[size] == '|');
    }
    return false;
}

static void check_value(struct translation *t, const struct translation_attr *row,
                        const struct attr_value *value)
{
    struct text text = {NULL, 0, 0};
    print_value(&text, t, value);
    if (!is_of_kind(t, value, row->kind))
        tr_refuse(t, "attribute '%s' is %.*s, not %s", row->name, (int)text.size, text.at,
                  kinds[row->kind]);
    else if (row->allowed && !is_among(&text, row->allowed))
        tr_refuse(t, "attribute '%s' is %.*s", row->name, (int)text.size, text.at);
    text_free(&text);
}

static bool is_implied(const struct translation *t, uint32_t key)
{
    const char *const *name = t->table->implied;
    while (name && *name && !name_is(t->module, key, *name))
        name++;
    return name && *name;
}

void row_attrs_check(struct translation *t)
{
    for (uint32_t i = 0; i < t->attrs.count && !tr_refused(t); i++) {
        const struct attr *attr = &t->module->attrs.at[t->attrs.first + i];
        const struct intern_name *key = &t->module->names.names[attr->key];
        if (key->size > 0 && *key->text == '_')
            continue;
        const struct translation_attr *row = find(t, attr->key);
        if (row && t->dialect == DIALECT_ONNX && attr->value.kind == ATTR_WORD)
            tr_refuse(t, "attribute '%s' is an attribute of its function", row->name);
        else if (row)
            check_value(t, row, &attr->value);
        else if (!is_implied(t, attr->key))
            tr_refuse(t, "attribute '%.*s' is not translated", NAME(t->module, attr->key));
    }
}

/* --------------------------------------------------------------------------- values ---- */

/* "[1, 2]" */
static struct attr_value read_list(struct translation *t, const char *text, bool floats)
{
    VEC(struct attr_value) numbers = {NULL, 0, 0};
    for (text++; *text && *text != ']';) {
        char *end;
        struct attr_value value = {.kind = floats ? ATTR_FLOAT : ATTR_INT};
        if (floats)
            value.f = strtod(text, &end);
        else
            value.i = strtoll(text, &end, 10);
        vec_push(&numbers, value);
        text = end + strspn(end, ", ");
    }
    struct range range = module_add_values(t->module, numbers.at, numbers.count);
    struct attr_value list = {.kind = ATTR_LIST, .count = range.count};
    list.first = range.count ? range.first : floats ? W_float : W_int;
    vec_free(&numbers);
    return list;
}

static struct attr_value read_fallback(struct translation *t, const struct translation_attr *attr)
{
    const char *text = attr->fallback;
    struct attr_value value = {.kind = ATTR_INT};
    switch (attr->kind) {
    case OF_FLOAT:
        value.kind = ATTR_FLOAT;
        value.f = strtod(text, NULL);
        break;
    case OF_TEXT:
        value.kind = ATTR_STRING;
        value.id = module_name(t->module, text);
        break;
    case OF_INTS:
    case OF_FLOATS: value = read_list(t, text, attr->kind == OF_FLOATS); break;
    case OF_DTYPE:
        value.kind = ATTR_WORD;
        value.id = module_name(t->module, text);
        break;
    default: value.i = strtoll(text, NULL, 10); break;
    }
    return value;
}

static bool row_attr_value(struct translation *t, const struct translation_attr *attr,
                           struct attr_value *value)
{
    const struct attr_value *said = attr->name ? row_attr_said(t, attr->name) : NULL;
    if (said)
        *value = *said;
    else if (attr->fallback)
        *value = read_fallback(t, attr);
    else
        return false;
    if (attr->kind == OF_BOOL)
        value->kind = ATTR_BOOL;
    return true;
}

void row_attrs_map(struct translation *t)
{
    struct attr_value value;
    for (const struct translation_attr *attr = t->row->attrs; !translation_attr_is_end(attr);
         attr++)
        if (!attr->target || !row_attr_value(t, attr, &value))
            continue;
        else if (attr->kind == OF_DTYPE)
            tr_set_dtype(t, attr->target, dtype_of(&value));
        else
            tr_set(t, attr->target, value);
}

/* -------------------------------------------------------------------------- answers ---- */

bool tr_has(struct translation *t, const char *name)
{
    return row_attr_said(t, name) != NULL;
}

/* The value of an attribute that the node has or that has a fallback; else the node is refused. */
static struct attr_value value_of(struct translation *t, const char *name)
{
    struct attr_value value = {.kind = ATTR_INT};
    if (!row_attr_value(t, row_attr(t, name), &value))
        tr_refuse(t, "it has no attribute '%s'", name);
    return value;
}

bool tr_value(struct translation *t, const char *name, struct attr_value *value)
{
    return row_attr_value(t, row_attr(t, name), value);
}

enum dtype tr_dtype_of(struct translation *t, const char *name)
{
    struct attr_value value = value_of(t, name);
    return tr_refused(t) ? DTYPE_f32 : dtype_of(&value);
}

int64_t tr_int(struct translation *t, const char *name)
{
    return value_of(t, name).i;
}

double tr_float(struct translation *t, const char *name)
{
    struct attr_value value = value_of(t, name);
    return value.kind == ATTR_FLOAT ? value.f : (double)value.i;
}

bool tr_is(struct translation *t, const char *name, const char *text)
{
    struct attr_value value = value_of(t, name);
    return value.kind == ATTR_STRING && name_is(t->module, value.id, text);
}

static struct tr_ints copy_ints(struct translation *t, const struct attr_value *at, uint32_t count)
{
    int64_t *ints = arena_alloc(&t->translator->arena, (count + 1) * sizeof *ints);
    for (uint32_t i = 0; i < count; i++)
        ints[i] = at[i].i;
    return (struct tr_ints){ints, count};
}

struct tr_ints tr_ints(struct translation *t, const char *name)
{
    struct attr_value value = value_of(t, name);
    if (value.kind != ATTR_LIST || value.count == 0)
        return (struct tr_ints){NULL, 0};
    return copy_ints(t, t->module->attr_values.at + value.first, value.count);
}
