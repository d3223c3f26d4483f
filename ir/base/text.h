/* Text under construction. */
#ifndef IR_BASE_TEXT_H
#define IR_BASE_TEXT_H

#include "ir/base/vec.h"

#include <stdarg.h>
#include <string.h>

struct text {
    char *at;
    size_t size, capacity;
};

void text_grow(struct text *text, size_t extra);
void text_vprintf(struct text *text, const char *format, va_list args);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

static inline void text_bytes(struct text *text, const char *bytes, size_t size)
{
    if (text->capacity - text->size <= size) /* after this, at is not NULL even for no bytes */
        text_grow(text, size);
    memcpy(text->at + text->size, bytes, size);
    text->size += size;
}

/* What is in another one, which may hold nothing at all. */
static inline void text_append(struct text *text, const struct text *other)
{
    if (other->size)
        text_bytes(text, other->at, other->size);
}

static inline void text_string(struct text *text, const char *string)
{
    text_bytes(text, string, strlen(string));
}

static inline void text_char(struct text *text, char c)
{
    text_bytes(text, &c, 1);
}

void text_unsigned(struct text *text, uint64_t number);
void text_signed(struct text *text, int64_t number);
/* The shortest decimal form that reads back as the same number, never like an integer. */
void text_double(struct text *text, double number);

#endif
