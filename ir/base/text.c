#include "ir/base/text.h"

#include <math.h>
#include <stdio.h>

void text_grow(struct text *text, size_t extra)
{
    size_t need = text->size + extra;
    size_t capacity = text->capacity + text->capacity / 2 + 256;
    if (capacity < need)
        capacity = need;
    text->at = mem_realloc(text->at, capacity, 1);
    text->capacity = capacity;
}

void text_free(struct text *text)
{
    mem_free(text->at);
    *text = (struct text){NULL, 0, 0};
}

void text_vprintf(struct text *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = text->capacity - text->size;
    int size = vsnprintf(room ? text->at + text->size : NULL, room, format, args);
    if (size < 0) /* more than can be counted */
        mem_exhausted();
    if ((size_t)size >= room && size > 0) {
        text_grow(text, (size_t)size + 1);
        vsnprintf(text->at + text->size, (size_t)size + 1, format, again);
    }
    text->size += (size_t)size;
    va_end(again);
}

void text_printf(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_vprintf(text, format, args);
    va_end(args);
}

void text_unsigned(struct text *text, uint64_t number)
{
    char digits[20], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + number % 10);
    while (number /= 10);
    text_bytes(text, p, (size_t)(digits + sizeof digits - p));
}

void text_signed(struct text *text, int64_t number)
{
    if (number < 0)
        text_char(text, '-');
    text_unsigned(text, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void text_double(struct text *text, double number)
{
    char digits[40];
    if (isnan(number)) {
        text_string(text, "nan");
        return;
    }
    if (isinf(number)) {
        text_string(text, number < 0 ? "-inf" : "inf");
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    /* The exponent form of printf may lack a point ("1e+20"), which the scanner takes as it is. */
    text_string(text, digits);
    if (!strpbrk(digits, ".e"))
        text_string(text, ".0");
}
