/* Values of JSON. */
#include "ir/base/json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool json_text_fail(struct json_text *json, struct span span, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diag_vat(json->diags, DIAG_foreign_form, span, format, args);
    va_end(args);
    json->failed = true;
    return false;
}

bool json_text_is_one(const struct json_item *item, const char *const *keys)
{
    while (*keys && !json_text_is(item, *keys))
        keys++;
    return *keys;
}

bool json_text_has_key(const struct source *source, const char *const *keys)
{
    struct json_text json;
    struct json_item item;
    struct diags unheard;
    bool found = false;
    diags_init(&unheard, NULL, NULL);
    json_text_init(&json, source, 0, &unheard);
    if (json_text_next(&json, &item) && item.kind == JSON_OBJECT) {
        json_text_enter(&json);
        while (!found && json_text_next(&json, &item))
            found = json_text_is_one(&item, keys);
    }
    json_text_free(&json);
    diags_free(&unheard);
    return found;
}

const char *json_kind_text(enum json_kind kind)
{
    static const char *const texts[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",       [JSON_STRING] = "a string",
        [JSON_NUMBER] = "a number",  [JSON_BOOL] = "true or false", [JSON_NULL] = "null",
    };
    return texts[kind];
}

bool json_text_want(struct json_text *json, const struct json_item *item, enum json_kind kind)
{
    if (item->kind == kind)
        return true;
    return json_text_fail(json, item->span, "this must be %s, not %s", json_kind_text(kind),
                          json_kind_text(item->kind));
}

bool json_text_open(struct json_text *json, const struct json_item *item, enum json_kind kind)
{
    if (json_text_want(json, item, kind))
        json_text_enter(json);
    return !json->failed;
}

/* ------------------------------------------------------------------------- strings ---- */

static uint32_t hex_value(const char *digits)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static void put_code_point(struct text *text, uint32_t c)
{
    if (c < 0x80) {
        text_char(text, (char)c);
        return;
    }
    if (c < 0x800) {
        text_char(text, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            text_char(text, (char)(0xe0 | c >> 12));
        } else {
            text_char(text, (char)(0xf0 | c >> 18));
            text_char(text, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        text_char(text, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    text_char(text, (char)(0x80 | (c & 0x3f)));
}

/* The escape behind the backslash at `at`; returns what stands behind it. The scanner has let only
 * whole pairs of surrogates pass. */
static const char *put_escape(struct text *text, const char *at)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *found = strchr(from, at[1]);
    if (at[1] != 'u') {
        text_char(text, found ? to[found - from] : at[1]);
        return at + 2;
    }
    uint32_t c = hex_value(at + 2);
    if (c < 0xd800 || c > 0xdbff) {
        put_code_point(text, c);
        return at + 6;
    }
    put_code_point(text, 0x10000 + ((c - 0xd800) << 10) + (hex_value(at + 8) - 0xdc00));
    return at + 12;
}

bool json_text_string(struct json_text *json, const struct json_item *item, const char **bytes,
                      size_t *size)
{
    if (!json_text_want(json, item, JSON_STRING))
        return false;
    const char *at = item->text + 1, *end = item->text + item->size - 1;
    *bytes = at;
    *size = (size_t)(end - at);
    if (item->plain)
        return true;
    json->scratch.size = 0;
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        text_bytes(&json->scratch, at, (size_t)((escape ? escape : end) - at));
        at = escape ? put_escape(&json->scratch, escape) : end;
    }
    *bytes = json->scratch.at;
    *size = json->scratch.size;
    return true;
}

/* ------------------------------------------------------------------------- others ---- */

bool json_text_is_quoted_number(const struct json_item *item)
{
    const char *at = item->text + 1;
    if (item->kind != JSON_STRING || item->size < 3)
        return false;
    at += *at == '-';
    return at + strspn(at, "0123456789") == item->text + item->size - 1 && *at != '"';
}

bool json_text_integer(struct json_text *json, const struct json_item *item, int64_t low,
                       int64_t high, int64_t *value)
{
    if (json_text_is_quoted_number(item))
        return json_text_fail(json, item->span,
                              "this must be a number, not a string: write it without quotes");
    if (!json_text_want(json, item, JSON_NUMBER))
        return false;
    char *end;
    errno = 0;
    *value = strtoll(item->text, &end, 10);
    if (end != item->text + item->size)
        return json_text_fail(json, item->span, "this must be a whole number");
    if (errno == 0 && *value >= low && *value <= high)
        return true;
    diag_at(json->diags, DIAG_number_range, item->span, "this must be a number from %lld to %lld",
            (long long)low, (long long)high);
    json->failed = true;
    return false;
}

bool json_text_bool(struct json_text *json, const struct json_item *item, bool *value)
{
    *value = *item->text == 't';
    return json_text_want(json, item, JSON_BOOL);
}
