#include "ir/base/utf8.h"

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
