/* The scanner of JSON. -*- c -*- */
#define _GNU_SOURCE /* qsort_r */
#include "ir/base/json_text.h"

#include <stdint.h>

void json_text_init(struct json_text *json, const struct source *source, uint32_t base,
                    struct diags *diags)
{
    json->text = json->at = source->text;
    json->end = source->text + source->size;
    json->base = base;
    json->diags = diags;
    json->depth = 0;
    json->failed = json->pending = false;
    json->scratch = (struct text){NULL, 0, 0};
    json->keys.at = NULL;
    json->keys.count = json->keys.capacity = 0;
    json->levels[0] = (struct json_level){.begin = json->text};
    if (source->size >= 3 && memcmp(json->text, "\xef\xbb\xbf", 3) == 0)
        json->at += 3;
}

void json_text_free(struct json_text *json)
{
    text_free(&json->scratch);
    vec_free(&json->keys);
}

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = at;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    digits = [0-9]+;
    number = "-"? ("0" | [1-9] [0-9]*) ("." digits)? ([eE] [-+]? digits)?;
    tail   = [\x80-\xbf];
    beyond = [\xc2-\xdf] tail | "\xe0" [\xa0-\xbf] tail | [\xe1-\xec\xee\xef] tail tail
           | "\xed" [\x80-\x9f] tail | "\xf0" [\x90-\xbf] tail tail | [\xf1-\xf3] tail tail tail
           | "\xf4" [\x80-\x8f] tail tail;
    hex    = [0-9a-fA-F];
    high   = "\\u" [dD] [89abAB] hex hex;
    low    = "\\u" [dD] [c-fC-F] hex hex;
    escape = "\\" ["\\/bfnrt] | "\\u" ([0-9abceABCEfF] hex hex hex | [dD] [0-7] hex hex)
           | high low;
    clear  = [\x20\x21\x23-\x5b\x5d-\x7f] | beyond;
    word   = [A-Za-z_] [A-Za-z_0-9]*;
    other  = [^];
*/

/* ---- What cannot be read ---- */

static struct span span_of(const struct json_text *json, const char *begin, const char *end)
{
    uint32_t first = json->base + (uint32_t)(begin - json->text);
    return (struct span){first, first + (uint32_t)(end - begin)};
}

/* Records a diagnostic and stops the cursor. Returns false. */
static bool fail(struct json_text *json, const char *begin, const char *end, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));
static bool fail(struct json_text *json, const char *begin, const char *end, const char *format,
                 ...)
{
    va_list args;
    va_start(args, format);
    diag_vat(json->diags, DIAG_foreign_syntax, span_of(json, begin, end), format, args);
    va_end(args);
    json->failed = true;
    return false;
}

static bool fail_expected(struct json_text *json, const char *at, const char *wanted)
{
    unsigned char byte = (unsigned char)*at;
    if (at == json->end)
        return fail(json, at, at, "the text ends where %s is expected", wanted);
    if (byte > 0x20 && byte < 0x7f)
        return fail(json, at, at + 1, "expected %s here, not '%c'", wanted, byte);
    return fail(json, at, at + 1, "expected %s here, not the byte 0x%02x", wanted, byte);
}

/* A string that went wrong at `at`. */
static bool fail_string(struct json_text *json, const char *start, const char *at)
{
    unsigned char byte = (unsigned char)*at;
    if (at == json->end || byte == '\n')
        return fail(json, start, at, "this string does not end on its line");
    if (byte == '\\')
        return fail(json, at, at + 1, "this escape is none of JSON's");
    if (byte < 0x20)
        return fail(json, at, at + 1, "the byte 0x%02x in a string must be escaped", byte);
    return fail(json, at, at + 1, "the byte 0x%02x is not UTF-8 here", byte);
}

/* ---- Tokens ---- */

static const char *skip_space(const struct json_text *json, const char *at)
{
    static const uint64_t spaces = UINT64_C(0x2020202020202020);
    for (;;) {
        uint64_t eight;
        while (json->end - at >= (ptrdiff_t)sizeof eight) {
            memcpy(&eight, at, sizeof eight);
            if (eight != spaces)
                break;
            at += sizeof eight;
        }
        if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t')
            return at;
        at++;
    }
}

static bool end_value(struct json_text *json, struct json_item *item, const char *at,
                      enum json_kind kind, bool plain)
{
    item->kind = kind;
    item->size = (uint32_t)(at - item->text);
    item->plain = plain;
    item->span = span_of(json, item->text, at);
    json->at = at;
    json->pending = kind == JSON_OBJECT || kind == JSON_ARRAY;
    return true;
}

/* The value at `at`. */
static bool scan_value(struct json_text *json, struct json_item *item, const char *at)
{
    const char *start = at, *marker;
    item->text = start;
    /*!re2c
    "{"       { return end_value(json, item, at, JSON_OBJECT, false); }
    "["       { return end_value(json, item, at, JSON_ARRAY, false); }
    ["] clear* ["] { return end_value(json, item, at, JSON_STRING, true); }
    ["] (clear | escape)* ["] { return end_value(json, item, at, JSON_STRING, false); }
    ["] (clear | escape)* { return fail_string(json, start, at); }
    number    { return end_value(json, item, at, JSON_NUMBER, false); }
    "true" | "false" { return end_value(json, item, at, JSON_BOOL, false); }
    "null"    { return end_value(json, item, at, JSON_NULL, false); }
    number [0-9A-Za-z_.]+ | "-" { return fail(json, start, at, "this number is malformed"); }
    word      {
        return fail(json, start, at, "'%.*s' is no value of JSON",
                    (int)(at - start < 40 ? at - start : 40), start);
    }
    other     { return fail_expected(json, start, "a value"); }
    */
}

/* ---- Objects and arrays ---- */

static int compare_keys(const void *a, const void *b, void *text)
{
    const struct span *x = a, *y = b;
    uint32_t x_size = x->end - x->begin, y_size = y->end - y->begin;
    if (x_size != y_size)
        return x_size < y_size ? -1 : 1;
    int order = memcmp((const char *)text + x->begin, (const char *)text + y->begin, x_size);
    return order ? order : (x->begin > y->begin) - (x->begin < y->begin);
}

static bool same_key(const struct json_text *json, const struct span *x, const struct span *y)
{
    uint32_t size = x->end - x->begin;
    return y->end - y->begin == size &&
           memcmp(json->text + x->begin, json->text + y->begin, size) == 0;
}

static bool fail_twice(struct json_text *json, const struct span *first, const struct span *key)
{
    struct span span = {json->base + key->begin - 1, json->base + key->end + 1};
    struct span other = {json->base + first->begin - 1, json->base + first->end + 1};
    json->failed = true;
    if (diag_at(json->diags, DIAG_duplicate, span, "this object has the key \"%.*s\" twice",
                (int)(key->end - key->begin), json->text + key->begin))
        diag_note(json->diags, other, "it is here too");
    return false;
}

enum { FEW_KEYS = 16 };

static bool check_few_keys(struct json_text *json, const struct span *keys, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t n = 0; n < i; n++)
            if (same_key(json, &keys[n], &keys[i]))
                return fail_twice(json, &keys[n], &keys[i]);
    return true;
}

/* At the end of an object. */
static bool check_keys(struct json_text *json)
{
    uint32_t first = json->levels[json->depth].first_key, count = json->keys.count - first;
    json->keys.count = first;
    if (count == 0) /* there may be no memory */
        return true;
    struct span *keys = json->keys.at + first;
    if (count <= FEW_KEYS)
        return check_few_keys(json, keys, count);
    qsort_r(keys, count, sizeof *keys, compare_keys, (char *)json->text);
    for (uint32_t i = 1; i < count; i++)
        if (same_key(json, &keys[i - 1], &keys[i]))
            return fail_twice(json, &keys[i - 1], &keys[i]);
    return true;
}

static bool leave(struct json_text *json, const char *at)
{
    json->at = at + 1;
    if (json->levels[json->depth].object && !check_keys(json))
        return false;
    json->depth--;
    return false;
}

/* A key and its colon. */
static bool read_key(struct json_text *json, struct json_item *item, const char **at)
{
    if (**at != '"')
        return fail_expected(json, *at, "a key in double quotes");
    if (!scan_value(json, item, *at))
        return false;
    item->key = item->text + 1;
    item->key_size = item->size - 2;
    item->key_span = item->span;
    uint32_t begin = (uint32_t)(item->key - json->text);
    vec_push(&json->keys, (struct span){begin, begin + item->key_size});
    *at = skip_space(json, json->at);
    if (**at != ':')
        return fail_expected(json, *at, "':'");
    *at = skip_space(json, *at + 1);
    return true;
}

static bool next_inside(struct json_text *json, struct json_item *item)
{
    struct json_level *level = &json->levels[json->depth];
    char close = level->object ? '}' : ']';
    const char *at = skip_space(json, json->at);
    bool filled = level->filled;
    level->filled = true;
    if (*at == close)
        return leave(json, at);
    if (at == json->end)
        return fail(json, level->begin, level->begin + 1, "this '%c' is not ended by '%c'",
                    *level->begin, close);
    if (filled && *at != ',')
        return fail_expected(json, at, level->object ? "',' or '}'" : "',' or ']'");
    if (filled)
        at = skip_space(json, at + 1);
    *item = (struct json_item){.key = NULL};
    if (level->object && !read_key(json, item, &at))
        return false;
    bool read = scan_value(json, item, at);
    if (!level->object)
        item->key_span = item->span;
    return read;
}

/* The text is one value. */
static bool next_outside(struct json_text *json, struct json_item *item)
{
    const char *at = skip_space(json, json->at);
    bool filled = json->levels[0].filled;
    json->levels[0].filled = true;
    if (filled && at == json->end)
        return false;
    if (filled)
        return fail_expected(json, at, "the end of the text");
    *item = (struct json_item){.key = NULL};
    bool read = scan_value(json, item, at);
    item->key_span = item->span;
    return read;
}

void json_text_enter(struct json_text *json)
{
    if (json->failed || !json->pending)
        return;
    const char *bracket = json->at - 1;
    json->pending = false;
    if (json->depth == JSON_TEXT_DEPTH) {
        fail(json, bracket, bracket + 1, "values are nested more than %d deep", JSON_TEXT_DEPTH);
        return;
    }
    json->levels[++json->depth] = (struct json_level){
        .begin = bracket, .first_key = json->keys.count, .object = *bracket == '{'};
}

/* Passes over the container that nobody has entered. */
static void skip_pending(struct json_text *json)
{
    uint32_t depth = json->depth;
    struct json_item item;
    do {
        if (json->pending)
            json_text_enter(json);
        if (!json->failed)
            next_inside(json, &item);
    } while (!json->failed && json->depth > depth);
}

bool json_text_next(struct json_text *json, struct json_item *item)
{
    if (json->pending)
        skip_pending(json);
    if (json->failed)
        return false;
    return json->depth == 0 ? next_outside(json, item) : next_inside(json, item);
}
