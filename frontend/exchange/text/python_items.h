/* Statements of Python text as items, one behind the other: what a program prints of calls and
 * their arguments. Nothing is decoded: items are places in the text. */
#ifndef FRONTEND_EXCHANGE_TEXT_PYTHON_ITEMS_H
#define FRONTEND_EXCHANGE_TEXT_PYTHON_ITEMS_H

#include "frontend/exchange/text/python_text.h"

enum py_sort {
    PY_NAME,
    PY_NUMBER,
    PY_STRING,
    PY_OBJECT,  /* <...> */
    PY_LIST,    /* [...] or (...); commas may be missing */
    PY_DICT,    /* {...}: keys and values in turn */
    PY_CALL,    /* NAME(...); of `Tensor(...)`: one name, whatever bytes stand up to a comma */
    PY_KEYWORD, /* NAME=, an argument of a call; the next item is its value */
};

struct py_item {
    uint8_t sort;  /* enum py_sort */
    uint32_t at;   /* offset of its first byte */
    uint32_t size; /* of the name, number or string; of a list or dict 1 */
    uint32_t end;  /* offset behind all of it */
    uint32_t next; /* index of the item behind it and all that is in it */
};

struct python_items {
    struct python_text python;
    VEC(struct py_item) list;
};

/* Reads what is an expression, from the token read last on, which is then the one behind it.
 * Appends its items. False after an error. */
bool python_read_value(struct python_items *items);

/* The items in a list, dict or call, or the value of a keyword, follow it up to `next`. */
#define EACH_PY(items, i, of)                                                                      \
    uint32_t i = (of) + 1;                                                                         \
    i < (items)->list.at[of].next;                                                                 \
    i = (items)->list.at[i].next

static inline const char *py_text(const struct python_items *items, const struct py_item *item)
{
    return items->python.text + item->at;
}

static inline bool py_is(const struct python_items *items, const struct py_item *item,
                         const char *text)
{
    size_t size = strlen(text);
    return item->size == size && memcmp(py_text(items, item), text, size) == 0;
}

static inline struct span py_span(const struct py_item *item)
{
    return (struct span){item->at, item->at + item->size};
}

#endif
