/* Tokens of Python text as programs print it: statements, one or more lines each, of names,
 * numbers, strings and brackets. Lines end where Python's do, so not within brackets. Besides, what
 * Python would not read: `<...>`, as objects without a form of their own are printed, and strings
 * in double quotes that were not escaped. */
#ifndef FRONTEND_EXCHANGE_TEXT_PYTHON_TEXT_H
#define FRONTEND_EXCHANGE_TEXT_PYTHON_TEXT_H

#include "ir/base/diag.h"

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

/* What the literal of a string says, appended. */
void python_unquote(struct text *out, const char *literal, size_t size);
/* A number that is written; false where it is none, or not within 64 bits. */
bool python_integer(const char *text, size_t size, int64_t *value);
bool python_float(const char *text, size_t size, double *value);

#endif
