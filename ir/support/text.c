#include "ir/support/text.h"

#include <math.h>

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

/* The number of bytes of the well-formed code point in front of `size` bytes; 0: there is none. */
static size_t code_point_size(const unsigned char *bytes, size_t size)
{
    static const struct {
        unsigned char mask, lead;
        unsigned long least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    size_t more = 0;
    while (more < 4 && (bytes[0] & forms[more].mask) != forms[more].lead)
        more++;
    if (more >= 4 || more >= size)
        return 0;
    unsigned long code = bytes[0] & ~forms[more].mask & 0xff;
    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < forms[more].least || code > 0x10ffff || surrogate ? 0 : more + 1;
}

size_t utf8_well_formed(const char *bytes, size_t size)
{
    size_t at = 0, more = 1;
    while (at < size && more) {
        more = (unsigned char)bytes[at] < 0x80
                   ? 1
                   : code_point_size((const unsigned char *)bytes + at, size - at);
        at += more;
    }
    return at;
}

void text_utf8(struct text *text, const char *bytes, size_t size)
{
    while (size) {
        size_t good = utf8_well_formed(bytes, size);
        text_bytes(text, bytes, good);
        if (good == size)
            return;
        text_string(text, "\xef\xbf\xbd");
        bytes += good + 1;
        size -= good + 1;
    }
}

size_t utf8_prefix(const char *bytes, size_t size, size_t room)
{
    enum { MAX_CONTINUED = 3 };
    if (size <= room)
        return size;
    size_t shown = room;
    while (shown && room - shown < MAX_CONTINUED && continues_code_point(bytes[shown]))
        shown--;
    return shown;
}
