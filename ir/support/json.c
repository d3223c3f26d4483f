#include "ir/support/json.h"
#include "ir/support/text.h"

#include <assert.h>
#include <math.h>

/* ------------------------------------------------------------------------- places ---- */

static void begin_line(struct json *json)
{
    text_char(json->text, '\n');
    for (unsigned i = 0; json->indented && i < json->depth; i++)
        text_char(json->text, '\t');
}

/* Separates an element or member from the one before it. */
static void begin_item(struct json *json, bool own_line)
{
    if (json->inside)
        text_char(json->text, ',');
    if (own_line || json->line)
        begin_line(json);
    else if (json->indented && json->inside)
        text_char(json->text, ' ');
    json->inside = true;
    json->line = false;
}

static void begin_value(struct json *json)
{
    if (!json->keyed)
        begin_item(json, false);
    json->keyed = false;
}

static void open_container(struct json *json, char bracket)
{
    begin_value(json);
    text_char(json->text, bracket);
    json->inside = false;
    json->depth++;
}

static void close_container(struct json *json, char bracket, bool own_line)
{
    assert(json->depth > 0 && !json->keyed);
    json->depth--;
    if (own_line && json->inside)
        begin_line(json);
    text_char(json->text, bracket);
    json->inside = true;
    json->line = false;
}

void json_open_object(struct json *json)
{
    open_container(json, '{');
}

void json_close_object(struct json *json)
{
    close_container(json, '}', json->indented);
}

void json_open_array(struct json *json)
{
    open_container(json, '[');
}

void json_close_array(struct json *json)
{
    close_container(json, ']', false);
}

void json_line(struct json *json)
{
    json->line = true;
}

/* ------------------------------------------------------------------------- values ---- */

static void put_escaped(struct text *text, unsigned char byte)
{
    switch (byte) {
    case '\b': text_string(text, "\\b"); break;
    case '\f': text_string(text, "\\f"); break;
    case '\n': text_string(text, "\\n"); break;
    case '\r': text_string(text, "\\r"); break;
    case '\t': text_string(text, "\\t"); break;
    case '"':
    case '\\':
        text_char(text, '\\');
        text_char(text, (char)byte);
        break;
    default: text_printf(text, "\\u%04x", byte);
    }
}

/* Runs of bytes that stand for themselves are copied as a whole. */
static void put_string(struct text *text, const char *bytes, size_t size)
{
    size_t run = 0;
    text_char(text, '"');
    for (size_t i = 0; i <= size; i++) {
        if (i < size && (unsigned char)bytes[i] >= 0x20 && bytes[i] != '"' && bytes[i] != '\\')
            continue;
        if (i > run) /* there may be no bytes at all */
            text_utf8(text, bytes + run, i - run);
        if (i < size)
            put_escaped(text, (unsigned char)bytes[i]);
        run = i + 1;
    }
    text_char(text, '"');
}

void json_key_bytes(struct json *json, const char *key, size_t size)
{
    assert(json->depth > 0 && !json->keyed);
    begin_item(json, json->indented);
    put_string(json->text, key, size);
    text_string(json->text, json->indented ? ":\t" : ":");
    json->keyed = true;
}

void json_key(struct json *json, const char *key)
{
    json_key_bytes(json, key, strlen(key));
}

void json_bytes(struct json *json, const char *bytes, size_t size)
{
    begin_value(json);
    put_string(json->text, bytes, size);
}

void json_string(struct json *json, const char *string)
{
    json_bytes(json, string, strlen(string));
}

void json_unsigned(struct json *json, uint64_t number)
{
    begin_value(json);
    text_unsigned(json->text, number);
}

void json_signed(struct json *json, int64_t number)
{
    begin_value(json);
    text_signed(json->text, number);
}

void json_double(struct json *json, double finite)
{
    assert(isfinite(finite));
    begin_value(json);
    text_double(json->text, finite);
}

void json_bool(struct json *json, bool value)
{
    begin_value(json);
    text_string(json->text, value ? "true" : "false");
}

void json_null(struct json *json)
{
    begin_value(json);
    text_string(json->text, "null");
}

/* ------------------------------------------------------------------------ members ---- */

void json_add_object(struct json *json, const char *key)
{
    json_key(json, key);
    json_open_object(json);
}

void json_add_array(struct json *json, const char *key)
{
    json_key(json, key);
    json_open_array(json);
}

void json_add_bool(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

void json_add_string(struct json *json, const char *key, const char *string)
{
    json_key(json, key);
    json_string(json, string);
}

void json_add_bytes(struct json *json, const char *key, const char *bytes, size_t size)
{
    json_key(json, key);
    json_bytes(json, bytes, size);
}

void json_add_unsigned(struct json *json, const char *key, uint64_t number)
{
    json_key(json, key);
    json_unsigned(json, number);
}
