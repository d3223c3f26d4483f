#include "frontend/exchange/text/python_items.h"

static uint32_t add_item(struct python_items *items, enum py_sort sort)
{
    const struct python_text *python = &items->python;
    uint32_t index = items->list.count;
    struct py_item item = {.sort = (uint8_t)sort,
                           .at = (uint32_t)(python->start - python->text),
                           .size = (uint32_t)python->size,
                           .end = (uint32_t)(python->at - python->text),
                           .next = index + 1};
    vec_push(&items->list, item);
    return index;
}

/* All up to the token read last is in the item. */
static void close_item(struct python_items *items, uint32_t index)
{
    items->list.at[index].next = items->list.count;
    items->list.at[index].end = (uint32_t)(items->python.at - items->python.text);
}

static bool expected(struct python_items *items, const char *what)
{
    python_fail(&items->python, python_span(&items->python), "expected %s here", what);
    return false;
}

/* Elements up to the closing bracket, with or without a comma or colon between them. The scanner
 * limits the depth of brackets, and with it that of the calls. */
static bool read_elements(struct python_items *items, char close)
{
    struct python_text *python = &items->python;
    python_next(python);
    while (!python_is_char(python, close)) {
        if (!python_read_value(items))
            return false;
        if (python_is_char(python, ',') || (close == '}' && python_is_char(python, ':')))
            python_next(python);
    }
    return true;
}

static bool read_bracket(struct python_items *items, enum py_sort sort, char close)
{
    uint32_t index = add_item(items, sort);
    if (!read_elements(items, close))
        return false;
    close_item(items, index);
    python_next(&items->python);
    return true;
}

/* One argument; keywords are names in front of a `=`. */
static bool read_argument(struct python_items *items)
{
    uint32_t index = items->list.count;
    if (!python_read_value(items))
        return false;
    if (!python_is_char(&items->python, '='))
        return true;
    if (items->list.at[index].sort != PY_NAME)
        return expected(items, "a name before `=`");
    items->list.at[index].sort = PY_KEYWORD;
    python_next(&items->python);
    if (!python_read_value(items))
        return false;
    close_item(items, index);
    return true;
}

/* Behind the name and `(`, which is the token read last. */
static bool read_call(struct python_items *items, uint32_t index)
{
    struct python_text *python = &items->python;
    items->list.at[index].sort = PY_CALL;
    if (py_is(items, &items->list.at[index], "Tensor")) {
        python_raw(python, ",)");
        add_item(items, PY_NAME);
        python_next(python);
        if (python_is_char(python, ','))
            python_next(python);
    } else {
        python_next(python);
    }
    while (!python_is_char(python, ')')) {
        bool empty = python_is_char(python, ','); /* a value that has no form is printed as none */
        if (!empty && !read_argument(items))
            return false;
        if (python_is_char(python, ','))
            python_next(python);
        else if (!python_is_char(python, ')'))
            return expected(items, "`,` or `)`");
    }
    close_item(items, index);
    python_next(python);
    return true;
}

static bool read_name(struct python_items *items)
{
    uint32_t index = add_item(items, PY_NAME);
    python_next(&items->python);
    return !python_is_char(&items->python, '(') || read_call(items, index);
}

static bool read_simple(struct python_items *items, enum py_sort sort)
{
    add_item(items, sort);
    python_next(&items->python);
    return true;
}

bool python_read_value(struct python_items *items)
{
    switch (items->python.kind) {
    case PYTHON_NAME: return read_name(items);
    case PYTHON_NUMBER: return read_simple(items, PY_NUMBER);
    case PYTHON_STRING: return read_simple(items, PY_STRING);
    case PYTHON_OBJECT: return read_simple(items, PY_OBJECT);
    case PYTHON_CHAR: break;
    default: return expected(items, "a value");
    }
    switch (*items->python.start) {
    case '[': return read_bracket(items, PY_LIST, ']');
    case '{': return read_bracket(items, PY_DICT, '}');
    case '(': return read_bracket(items, PY_LIST, ')');
    default: return expected(items, "a value");
    }
}
