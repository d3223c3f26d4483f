/* Tokens of Python text as programs print it: statements, one or more lines each, of names,
 * numbers, strings and brackets. Lines end where Python's do, so not within brackets. Besides, what
 * Python would not read: `<...>`, as objects without a form of their own are printed, and strings
 * in double quotes that were not escaped. */
#ifndef FRONTEND_IMPORT_TEXT_PYTHON_TEXT_H
#define FRONTEND_IMPORT_TEXT_PYTHON_TEXT_H

#include "ir/support/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum python_kind {
    PYTHON_END,
    PYTHON_NEWLINE,
    PYTHON_NAME,   /* also with dots, and `...` */
    PYTHON_NUMBER, /* with its sign; of inf and nan only with one, else they are names */
    PYTHON_STRING,
    PYTHON_OBJECT, /* <...> */
    PYTHON_CHAR,   /* any other: its first byte says which */
    PYTHON_ERROR,
};

struct python_text {
    const char *text, *at, *end;
    struct diags *diags;
    uint32_t depth; /* brackets that are open */
    bool failed;
    /* The token read last: its bytes. */
    enum python_kind kind;
    const char *start;
    size_t size;
};

void python_init(struct python_text *python, const struct source *source, struct diags *diags);
/* Reads the next token. An error is a diagnostic of id `foreign-syntax`; behind it are only
 * errors. */
enum python_kind python_next(struct python_text *python);

/* Whether the token is a character, or a name. */
static inline bool python_is_char(const struct python_text *python, char c)
{
    return python->kind == PYTHON_CHAR && *python->start == c;
}

static inline bool python_is_name(const struct python_text *python, const char *name)
{
    size_t size = strlen(name);
    return python->kind == PYTHON_NAME && python->size == size &&
           memcmp(python->start, name, size) == 0;
}

/* The bytes up to the first of `ends`, which are on the same line, as one token of the kind of a
 * name; for what is printed without any form. Only directly behind the token read last. */
enum python_kind python_raw(struct python_text *python, const char *ends);
/* Passes over what is left of the line; the token is its end. */
void python_skip_line(struct python_text *python);

/* The token's bytes in the source, cut off behind its first line. */
struct span python_span(const struct python_text *python);
/* An error at a place of the text. Nothing is read any more. */
void python_fail(struct python_text *python, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Statements as items, one after the other: calls and their arguments. Nothing is decoded:
 * items are places in the text ---- */

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

/* Reads what is an expression, from the token read last on, which is then the one after it.
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

/* ---- Values ---- */

/* What the literal of a string says, appended. */
void python_unquote(struct text *out, const char *literal, size_t size);
/* An integer that is written; false where it is none, or not within 64 bits. */
bool python_integer(const char *text, size_t size, int64_t *value);

#endif
