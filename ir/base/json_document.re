/* JSON as a document. -*- c -*- */
#include "ir/base/json_document.h"

#include <errno.h>
#include <stdlib.h>

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
    some   = [1-9a-fA-F];
    escape = "\\" ["\\/bfnrt] | high low
           | "\\u" ([1-9abceABCEfF] hex hex hex | [dD] [0-7] hex hex | "0" some hex hex
                   | "00" some hex | "000" some);
    clear  = [\x20\x21\x23-\x5b\x5d-\x7f] | beyond;
    word   = [A-Za-z_] [A-Za-z_0-9]*;
    other  = [^];
*/

/* ---- Errors ---- */

bool json_fail_as(struct json_document *document, enum diag_id id, struct span span,
                  const char *format, ...)
{
    struct file_fault *fault = document->fault;
    va_list args;
    va_start(args, format);
    document->failed = true;
    if (document->diags) {
        diag_vat(document->diags, id, span, format, args);
    } else {
        fault->path = document->source.path;
        fault->span = span;
        fault->at = source_position(&document->source, span.begin);
        vsnprintf(fault->text, sizeof fault->text, format, args);
    }
    va_end(args);
    return false;
}

static struct span span_of(const struct json_document *document, const char *begin, const char *end)
{
    uint32_t first = document->base + (uint32_t)(begin - document->text);
    return (struct span){first, first + (uint32_t)(end - begin)};
}

/* An error of the scan, at [begin, end). */
#define fail(document, begin, end, ...)                                                            \
    json_fail_as(document, DIAG_foreign_syntax, span_of(document, begin, end), __VA_ARGS__)

static bool fail_expected(struct json_document *document, const char *wanted)
{
    const char *at = document->at;
    unsigned char byte = (unsigned char)*at;
    if (at == document->end)
        return fail(document, at, at, "the text ends where %s is expected", wanted);
    if (byte > 0x20 && byte < 0x7f)
        return fail(document, at, at + 1, "expected %s here, not '%c'", wanted, byte);
    return fail(document, at, at + 1, "expected %s here, not the byte 0x%02x", wanted, byte);
}

/* A string that went wrong at `at`. */
static bool fail_string(struct json_document *document, const char *at)
{
    unsigned char byte = (unsigned char)*at;
    if (at == document->end || byte == '\n')
        return fail(document, document->at, at, "this string does not end on its line");
    if (strncmp(at, "\\u0000", 6) == 0)
        return fail(document, at, at + 6, "a string cannot have a NUL");
    if (byte == '\\')
        return fail(document, at, at + 1, "this escape is none of JSON's");
    if (byte < 0x20)
        return fail(document, at, at + 1, "the byte 0x%02x in a string must be escaped", byte);
    return fail(document, at, at + 1, "the byte 0x%02x is not UTF-8 here", byte);
}

/* ---- The scan ---- */

/* Passes over a token that was found up to `at`, and the space after it. */
static bool pass(struct json_document *document, const char *at)
{
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
        at++;
    document->at = at;
    return true;
}

enum { NUMBER_BYTES = 63 }; /* cJSON reads no longer number */

/* A value that is no container; `end` is where it ends. */
static bool scan_token(struct json_document *document, const char **end)
{
    const char *start = document->at, *at = start, *marker;
    /*!re2c
    ["] (clear | escape)* ["] { goto found; }
    ["] (clear | escape)* { return fail_string(document, at); }
    number    {
        if (at - start <= NUMBER_BYTES)
            goto found;
        return fail(document, start, at, "a number has at most %d characters", NUMBER_BYTES);
    }
    "true" | "false" | "null" { goto found; }
    number [0-9A-Za-z_.]+ | "-" { return fail(document, start, at, "this number is malformed"); }
    word      {
        return fail(document, start, at, "'%.*s' is no value of JSON",
                    (int)(at - start < 40 ? at - start : 40), start);
    }
    other     { return fail_expected(document, "a value"); }
    */
found:
    *end = at;
    return pass(document, at);
}

/* A key and its colon. */
static bool scan_key(struct json_document *document)
{
    const char *end;
    if (*document->at != '"')
        return fail_expected(document, "a key in double quotes");
    if (!scan_token(document, &end))
        return false;
    return *document->at == ':' ? pass(document, document->at + 1) : fail_expected(document, "':'");
}

static bool scan_value(struct json_document *document, const char *key, uint32_t depth);

/* A container; `end` is after its closing bracket. */
static bool scan_items(struct json_document *document, uint32_t depth, const char **end)
{
    const char *bracket = document->at;
    bool object = *bracket == '{';
    char close = object ? '}' : ']';
    if (depth == JSON_DEPTH)
        return fail(document, bracket, bracket + 1, "values are nested more than %d deep",
                    JSON_DEPTH);
    pass(document, bracket + 1);
    bool more = *document->at != close;
    while (more && document->at != document->end) {
        const char *key = document->at;
        if ((object && !scan_key(document)) || !scan_value(document, key, depth + 1))
            return false;
        more = *document->at == ',' && pass(document, document->at + 1);
    }
    if (document->at == document->end)
        return fail(document, bracket, bracket + 1, "this '%c' is not ended by '%c'", *bracket,
                    close);
    if (*document->at != close)
        return fail_expected(document, object ? "',' or '}'" : "',' or ']'");
    *end = document->at + 1;
    return pass(document, *end);
}

static bool scan_value(struct json_document *document, const char *key, uint32_t depth)
{
    uint32_t number = document->places.count;
    const char *at = document->at, *end;
    struct json_place place = {(uint32_t)(key - document->text), (uint32_t)(at - document->text),
                               UINT32_MAX};
    vec_push(&document->places, place);
    if (!(*at == '{' || *at == '[' ? scan_items(document, depth, &end)
                                   : scan_token(document, &end)))
        return false;
    document->places.at[number].end = (uint32_t)(end - document->text);
    return true;
}

static bool scan_text(struct json_document *document)
{
    static const char mark[] = "\xef\xbb\xbf";
    bool marked = strncmp(document->text, mark, sizeof mark - 1) == 0;
    pass(document, document->text + (marked ? sizeof mark - 1 : 0));
    return scan_value(document, document->at, 0) &&
           (document->at == document->end || fail_expected(document, "the end of the text"));
}

/* ---- Nodes ---- */

/* By their keys, and equal ones in the order of the text. */
static int compare_keys(const void *a, const void *b)
{
    const cJSON *x = *(const cJSON *const *)a, *y = *(const cJSON *const *)b;
    int order = strcmp(x->string, y->string);
    return order ? order : (x->valueint > y->valueint) - (x->valueint < y->valueint);
}

static void fail_duplicate(struct json_document *document, const cJSON *first, const cJSON *second)
{
    struct span span = json_key_span(document, second);
    document->failed = true;
    if (!document->diags)
        json_fail_span(document, span, "this object has the key \"%s\" twice", second->string);
    else if (diag_at(document->diags, DIAG_duplicate, span, "this object has the key \"%s\" twice",
                     second->string))
        diag_note(document->diags, json_key_span(document, first), "it is here too");
}

enum { FEW_KEYS = 16 };

static void check_few_keys(struct json_document *document, const cJSON *object)
{
    for (const cJSON *item = object->child; item; item = item->next)
        for (const cJSON *other = object->child; other != item; other = other->next)
            if (*other->string == *item->string && strcmp(other->string, item->string) == 0) {
                fail_duplicate(document, other, item);
                return;
            }
}

static void check_keys(struct json_document *document, const cJSON *object, uint32_t count)
{
    if (count <= FEW_KEYS) {
        check_few_keys(document, object);
        return;
    }
    const cJSON **items = mem_calloc(count, sizeof *items);
    uint32_t n = 0;
    for (const cJSON *item = object->child; item; item = item->next)
        items[n++] = item;
    qsort(items, count, sizeof *items, compare_keys);
    for (uint32_t i = 1; i < count && !document->failed; i++)
        if (strcmp(items[i - 1]->string, items[i]->string) == 0)
            fail_duplicate(document, items[i - 1], items[i]);
    mem_free(items);
}

/* Numbers a node and what is in it, from `next` on; returns the number of the node after these. */
static uint32_t number_nodes(struct json_document *document, cJSON *node, uint32_t next)
{
    uint32_t count = 0;
    node->valueint = (int)next++;
    for (cJSON *item = node->child; item && !document->failed; item = item->next, count++)
        next = number_nodes(document, item, next);
    if (cJSON_IsObject(node) && !document->failed)
        check_keys(document, node, count);
    return next;
}

static void release(void *root)
{
    cJSON_Delete(root);
}

static bool read_document(struct json_document *document)
{
    size_t size = (size_t)(document->end - document->text);
    if (size > JSON_BYTES)
        return fail(document, document->text, document->text, "the text is larger than %d MiB",
                    JSON_BYTES >> 20);
    if (!scan_text(document))
        return false;
    document->root = cJSON_ParseWithLength(document->text, size);
    if (!document->root) /* the scan has let only JSON pass */
        mem_exhausted();
    mem_guard(&document->guard, release, document->root);
    uint32_t count = number_nodes(document, document->root, 0);
    assert(count == document->places.count || document->failed);
    (void)count;
    return !document->failed;
}

bool json_document_read(struct json_document *document, const struct source *source, uint32_t base,
                        struct diags *diags)
{
    *document = (struct json_document){.text = source->text,
                                       .end = source->text + source->size,
                                       .base = base,
                                       .diags = diags};
    return read_document(document);
}

bool json_document_read_file(struct json_document *document, const char *path, const char *text,
                             size_t size, struct file_fault *fault)
{
    *document = (struct json_document){.text = text, .end = text + size, .fault = fault};
    if (!source_init_foreign(&document->source, path, text, size))
        return file_fault_say(fault, "%s: the file is too large", path);
    return read_document(document);
}

void json_document_free(struct json_document *document)
{
    mem_unguard(&document->guard);
    cJSON_Delete(document->root);
    vec_free(&document->places);
    source_free(&document->source);
}

/* The members of the outermost object are the places that no other one has in it. */
bool json_has_key(const struct source *source, const char *const *keys)
{
    struct diags unheard;
    struct json_document document = {
        .text = source->text, .end = source->text + source->size, .diags = &unheard};
    bool found = false;
    diags_init(&unheard, NULL, NULL);
    scan_text(&document);
    bool object = document.places.count && document.text[document.places.at[0].begin] == '{';
    for (uint32_t i = 1, end = 0; object && i < document.places.count && !found; i++) {
        const struct json_place *place = &document.places.at[i];
        if (place->begin < end || place->key == place->begin)
            continue;
        end = place->end;
        for (const char *const *key = keys; *key && !found; key++) {
            size_t size = strlen(*key);
            const char *written = document.text + place->key + 1;
            found = strncmp(written, *key, size) == 0 && written[size] == '"';
        }
    }
    json_document_free(&document);
    diags_free(&unheard);
    return found;
}

/* ---- Positions ---- */

static const struct json_place *place_of(const struct json_document *document, const cJSON *item)
{
    return &document->places.at[item->valueint];
}

const char *json_written(const struct json_document *document, const cJSON *item, size_t *size)
{
    const struct json_place *place = place_of(document, item);
    *size = place->end - place->begin;
    return document->text + place->begin;
}

struct span json_span(const struct json_document *document, const cJSON *item)
{
    const struct json_place *place = place_of(document, item);
    uint32_t end = item->type & (cJSON_Object | cJSON_Array) ? place->begin + 1 : place->end;
    return (struct span){document->base + place->begin, document->base + end};
}

struct span json_key_span(const struct json_document *document, const cJSON *item)
{
    const char *key = document->text + place_of(document, item)->key, *end = key + 1;
    if (!item->string)
        return json_span(document, item);
    while (*end != '"')
        end += *end == '\\' ? 2 : 1;
    return span_of(document, key, end + 1);
}

/* ---- Values ---- */

bool json_is_one(const cJSON *item, const char *const *keys)
{
    while (*keys && !json_is(item, *keys))
        keys++;
    return *keys;
}

static const char *kind_text(int kind)
{
    switch (kind & 0xff) {
    case cJSON_Object: return "an object";
    case cJSON_Array: return "a list";
    case cJSON_String: return "a string";
    case cJSON_Number: return "a number";
    case cJSON_NULL: return "null";
    default: return "true or false";
    }
}

bool json_want(struct json_document *document, const cJSON *item, int kind)
{
    return item->type & kind ||
           json_fail(document, item, "this must be %s, not %s", kind_text(kind),
                     kind_text(item->type));
}

const char *json_as_text(struct json_document *document, const cJSON *item)
{
    return json_want(document, item, cJSON_String) ? item->valuestring : NULL;
}

bool json_is_quoted_number(const cJSON *item)
{
    if (!cJSON_IsString(item))
        return false;
    const char *digits = item->valuestring + (*item->valuestring == '-');
    return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

bool json_as_integer(struct json_document *document, const cJSON *item, int64_t low, int64_t high,
                  int64_t *value)
{
    if (json_is_quoted_number(item))
        return json_fail(document, item,
                         "this must be a number, not a string: write it without quotes");
    if (!json_want(document, item, cJSON_Number))
        return false;
    size_t size;
    const char *text = json_written(document, item, &size);
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end != text + size)
        return json_fail(document, item, "this must be a whole number");
    return (errno == 0 && *value >= low && *value <= high) ||
           json_fail_as(document, DIAG_number_range, json_span(document, item),
                        "this must be a number from %lld to %lld", (long long)low,
                        (long long)high);
}

bool json_as_bool(struct json_document *document, const cJSON *item, bool *value)
{
    *value = cJSON_IsTrue(item);
    return json_want(document, item, JSON_BOOL);
}

const cJSON *json_need(struct json_document *document, const cJSON *object, const char *key,
                       int kind)
{
    const cJSON *member = json_member(object, key);
    if (member && member->type & kind)
        return member;
    if (member)
        json_fail(document, member, "'%s' must be %s, not %s", key, kind_text(kind),
                  kind_text(member->type));
    else if (cJSON_IsObject(object))
        json_fail(document, object, "this object has no '%s', which is %s", key, kind_text(kind));
    else
        json_fail(document, object, "this must be an object with '%s', not %s", key,
                  kind_text(object->type));
    return NULL;
}
