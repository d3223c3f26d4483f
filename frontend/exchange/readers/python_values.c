#include "frontend/exchange/readers/python_values.h"

#include <math.h>

void python_values_free(struct python_values *values)
{
    vec_free(&values->stack);
    text_free(&values->scratch);
}

static const struct py_item *item_at(const struct python_values *values, uint32_t index)
{
    return &values->items->list.at[index];
}

static bool is(const struct python_values *values, const struct py_item *item, const char *text)
{
    return py_is(values->items, item, text);
}

uint32_t python_name(struct python_values *values, uint32_t index)
{
    const struct py_item *item = item_at(values, index);
    const char *text = py_text(values->items, item);
    if (item->sort != PY_STRING)
        return dump_name(values->dump, text, item->end - item->at);
    if (*text == '"' && text[1] != '"' && !memchr(text, '\\', item->size))
        return dump_name(values->dump, text + 1, item->size - 2);
    values->scratch.size = 0;
    python_unquote(&values->scratch, text, item->size);
    return values->scratch.size ? dump_name(values->dump, values->scratch.at, values->scratch.size)
                                : dump_name(values->dump, "", 0);
}

bool python_int(const struct python_values *values, uint32_t index, int64_t *value)
{
    const struct py_item *item = item_at(values, index);
    return item->sort == PY_NUMBER &&
           python_integer(py_text(values->items, item), item->size, value);
}

/* Names that are values are no longer than this. */
enum { LONGEST_WORD = sizeof "False" - 1 };

/* A number or truth value. */
static bool read_scalar(const struct python_values *values, uint32_t index,
                        struct attr_value *value)
{
    const struct py_item *item = item_at(values, index);
    const char *text = py_text(values->items, item);
    *value = (struct attr_value){.kind = ATTR_INT};
    if (item->sort == PY_NUMBER && python_integer(text, item->size, &value->i))
        return true;
    value->kind = ATTR_FLOAT;
    if (item->sort == PY_NUMBER)
        return python_float(text, item->size, &value->f);
    if (item->sort != PY_NAME || item->size > LONGEST_WORD)
        return false;
    if (is(values, item, "inf") || is(values, item, "nan")) {
        value->f = *text == 'i' ? HUGE_VAL : (double)NAN;
        return true;
    }
    value->kind = ATTR_BOOL;
    value->i = is(values, item, "True");
    return value->i || is(values, item, "False");
}

/* tensor(...) and array(...), whose first argument is the contents. */
static bool is_printed(const struct python_values *values, const struct py_item *item)
{
    return item->sort == PY_CALL && item->next > (uint32_t)(item - values->items->list.at) + 1 &&
           (is(values, item, "tensor") || is(values, item, "array") ||
            is(values, item, "torch.tensor") || is(values, item, "np.array"));
}

static struct attr_value attr_list(struct python_values *values, uint32_t index)
{
    uint32_t first = values->stack.count;
    for (EACH_PY(values->items, i, index)) {
        struct attr_value value = python_attr_value(values, i);
        vec_push(&values->stack, value);
    }
    struct attr_value list = {.kind = ATTR_LIST, .count = values->stack.count - first};
    if (list.count)
        list.first =
            module_add_values(values->dump->module, values->stack.at + first, list.count).first;
    values->stack.count = first;
    return list;
}

struct attr_value python_attr_value(struct python_values *values, uint32_t index)
{
    struct attr_value value;
    const struct py_item *item = item_at(values, index);
    if (read_scalar(values, index, &value))
        return value;
    if (item->sort == PY_LIST)
        return attr_list(values, index);
    return (struct attr_value){.kind = ATTR_STRING, .id = python_name(values, index)};
}

bool python_is_contents(const struct python_values *values, uint32_t index)
{
    struct attr_value scalar;
    const struct py_item *item = item_at(values, index);
    if (is_printed(values, item) || (item->sort == PY_NAME && is(values, item, "...")))
        return true;
    if (item->sort != PY_LIST)
        return read_scalar(values, index, &scalar);
    for (EACH_PY(values->items, i, index))
        if (!python_is_contents(values, i))
            return false;
    return item->next > index + 1;
}

/* ---------------------------------------------------------------------- contents ---- */

static void walk(struct python_values *values, uint32_t index, struct python_contents *contents,
                 uint32_t depth);

static void walk_list(struct python_values *values, uint32_t index,
                      struct python_contents *contents, uint32_t depth)
{
    int64_t count = 0;
    if (depth == MAX_RANK) {
        contents->regular = contents->known = false;
        return;
    }
    for (EACH_PY(values->items, i, index)) {
        walk(values, i, contents, depth + 1);
        count++;
    }
    if (contents->dims[depth] == DIM_UNKNOWN)
        contents->dims[depth] = count;
    contents->regular &= contents->dims[depth] == count;
}

static void walk(struct python_values *values, uint32_t index, struct python_contents *contents,
                 uint32_t depth)
{
    struct attr_value value;
    if (item_at(values, index)->sort == PY_LIST) {
        walk_list(values, index, contents, depth);
        return;
    }
    if (contents->rank == UINT32_MAX)
        contents->rank = depth;
    contents->regular &= contents->rank == depth && read_scalar(values, index, &value);
    contents->known &= contents->regular;
    contents->elements++;
    if (contents->known)
        vec_push(&values->stack, value);
}

/* What an empty list has of lists: [] is one dimension. */
static uint32_t empty_rank(const struct python_contents *contents)
{
    uint32_t rank = 0;
    while (rank < MAX_RANK && contents->dims[rank] != DIM_UNKNOWN)
        rank++;
    return rank;
}

static struct attr_value as_value(struct python_values *values, uint32_t first,
                                  const struct python_contents *contents)
{
    const struct attr_value *all = values->stack.at + first;
    if (contents->rank == 0)
        return *all;
    uint32_t count = (uint32_t)contents->elements;
    return (struct attr_value){
        .kind = ATTR_LIST,
        .count = count,
        .first = module_add_values(values->dump->module, all, count).first,
    };
}

/* The argument `dtype` of a call. */
static void read_dtype(struct python_values *values, uint32_t index,
                       struct python_contents *contents)
{
    for (EACH_PY(values->items, i, index)) {
        const struct py_item *item = item_at(values, i);
        if (item->sort != PY_KEYWORD || !is(values, item, "dtype") || item->next == i + 1)
            continue;
        contents->dtype = py_text(values->items, item_at(values, i + 1));
        contents->dtype_size = item_at(values, i + 1)->size;
    }
}

void python_read_contents(struct python_values *values, uint32_t index,
                          struct python_contents *contents)
{
    uint32_t first = values->stack.count;
    *contents = (struct python_contents){.known = true, .regular = true, .rank = UINT32_MAX};
    for (uint32_t i = 0; i < MAX_RANK; i++)
        contents->dims[i] = DIM_UNKNOWN;
    if (is_printed(values, item_at(values, index)))
        read_dtype(values, index++, contents);
    walk(values, index, contents, 0);
    if (contents->rank == UINT32_MAX)
        contents->rank = empty_rank(contents);
    contents->known &= contents->regular && contents->elements > 0;
    if (contents->known)
        contents->value = as_value(values, first, contents);
    values->stack.count = first;
}
