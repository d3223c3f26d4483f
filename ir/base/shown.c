#include "ir/base/shown.h"
#include "ir/base/escapes.h"
#include "ir/base/text.h"

#include <string.h>

/* Of one message; the escapes of a name that is longer are not shown to their end. */
enum { NAMES = 8, MOST = 256 };

static _Thread_local char texts[NAMES][MOST];
static _Thread_local unsigned next;

static bool has_nul(const struct intern_name *name)
{
    return name->size > 0 && memchr(name->text, '\0', name->size);
}

/* Writes it with escapes; returns how much of that there is room for. */
static size_t escape(const struct intern_name *name, char *to)
{
    struct text text = {NULL, 0, 0};
    escape_put(&text, name->text, name->size, ESCAPE_HEX);
    size_t size = text.size < MOST ? text.size : MOST;
    memcpy(to, text.at, size);
    text_free(&text);
    return size;
}

int shown_size(const struct intern_name *name)
{
    char text[MOST];
    return (int)(has_nul(name) ? escape(name, text) : name->size);
}

const char *shown_text(const struct intern_name *name)
{
    if (!has_nul(name))
        return name->text;
    char *text = texts[next++ % NAMES];
    escape(name, text);
    return text;
}
