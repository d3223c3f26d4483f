/* JSON as a document. */
#include "ir/support/json_document.h"
#include "ir/support/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

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

#define fail(document, begin, end, ...)                                                            \
    json_fail_as(document, DIAG_foreign_syntax, span_of(document, begin, end), __VA_ARGS__)

/* The innermost bracket that the text does not close, NULL where there is none. */
static const char *unclosed_bracket(const struct json_document *document)
{
    const char *open[CJSON_NESTING_LIMIT];
    size_t depth = 0;
    for (const char *at = document->text; at < document->end; at++) {
        if (*at == '"')
            for (at++; at < document->end && *at != '"'; at++)
                at += *at == '\\';
        else if ((*at == '[' || *at == '{') && depth < CJSON_NESTING_LIMIT)
            open[depth++] = at;
        else if ((*at == ']' || *at == '}') && depth > 0)
            depth--;
    }
    return depth ? open[depth - 1] : NULL;
}

/* cJSON does not accept the text at `at`, or, where a key is expected, one byte before it. */
static bool fail_at(struct json_document *document, const char *at)
{
    if (at >= document->end) {
        const char *open = unclosed_bracket(document);
        if (!open)
            return fail(document, at, at, "the text ends within a value of JSON");
        return fail(document, open, open + 1, "this '%c' is not ended by '%c'", *open,
                    *open == '{' ? '}' : ']');
    }
    const char *before = at - (at > document->text), *end;
    while (before > document->text && (unsigned char)before[-1] <= ' ')
        before--;
    if (before > document->text && strchr("{,", before[-1]) && !strchr("\"[ ", at[-1]))
        at--;
    end = at + 1;
    unsigned char byte = (unsigned char)*at;
    if (byte == '\\')
        return fail(document, at, end, "this escape is none of JSON's");
    if (byte == '[' || byte == '{')
        return fail(document, at, end, "'%c' is unexpected here, or nested more than %d deep", byte,
                    CJSON_NESTING_LIMIT);
    while (isalpha(byte) && (isalnum((unsigned char)*end) || *end == '_'))
        end++;
    if (byte > 0x20 && byte < 0x7f)
        return fail(document, at, end, "'%.*s' is unexpected here",
                    (int)(end - at < 40 ? end - at : 40), at);
    return fail(document, at, end, "the byte 0x%02x is unexpected here", byte);
}

/* ---- Positions of nodes ---- */

/* cJSON takes all control characters for space. */
static const char *skip_space(struct json_document *document, const char *at)
{
    for (; (unsigned char)*at <= ' ' && at < document->end; at++)
        if (*at != ' ' && *at != '\n' && *at != '\t' && *at != '\r')
            fail_at(document, at);
    return at;
}

/* The byte after a string that begins with the quote at `at`; NULL after an error: cJSON accepts
 * more than JSON does. */
static const char *pass_string(struct json_document *document, const char *at)
{
    const char *begin = ++at;
    bool ascii = true;
    for (unsigned char byte; (byte = (unsigned char)*at) != '"'; at++) {
        if (byte > '\\' && byte < 0x80)
            continue;
        ascii &= byte < 0x80;
        if (byte < ' ')
            fail(document, at, at + 1, "the byte 0x%02x in a string must be escaped", byte);
        else if (byte == '\\' && strncmp(at, "\\u0000", 6) == 0)
            fail(document, at, at + 6, "a string cannot have a NUL");
        if (document->failed)
            return NULL;
        at += byte == '\\';
    }
    size_t size = (size_t)(at - begin), good = ascii ? size : utf8_well_formed(begin, size);
    if (good < size) {
        at = begin + good;
        fail(document, at, at + 1, "the byte 0x%02x is not UTF-8 here", (unsigned char)*at);
        return NULL;
    }
    return at + 1;
}

/* By their keys, and equal ones in the order of the text. */
static int compare_keys(const void *a, const void *b)
{
    const cJSON *x = *(const cJSON *const *)a, *y = *(const cJSON *const *)b;
    int order = strcmp(x->string, y->string);
    return order ? order : (x->valueint > y->valueint) - (x->valueint < y->valueint);
}

enum { FEW_KEYS = 16 };

/* Refuses a second member of one key. The members are put at the end of `members` for that, and
 * sorted, unless a few are seen to differ. */
static bool check_keys(struct json_document *document, const cJSON *object)
{
    uint32_t first = document->members.count;
    bool differ = true;
    for (const cJSON *item = object->child; item; item = item->next) {
        uint32_t count = document->members.count - first;
        for (uint32_t i = 0; i < count && count < FEW_KEYS && differ; i++)
            differ = *document->members.at[first + i]->string != *item->string ||
                     strcmp(document->members.at[first + i]->string, item->string) != 0;
        vec_push(&document->members, item);
    }
    uint32_t count = document->members.count - first;
    const cJSON **members = document->members.at + first;
    if (differ && count <= FEW_KEYS)
        count = 0;
    if (count > 1)
        qsort(members, count, sizeof *members, compare_keys);
    for (uint32_t i = 1; i < count && !document->failed; i++) {
        const char *key = members[i]->string;
        if (strcmp(members[i - 1]->string, key) != 0)
            continue;
        uint32_t noted = document->diags ? document->diags->list.count : 0;
        json_fail_as(document, DIAG_duplicate, json_key_span(document, members[i]),
                     "this object has the key \"%s\" twice", key);
        if (document->diags && document->diags->list.count > noted)
            diag_note(document->diags, json_key_span(document, members[i - 1]), "it is here too");
    }
    document->members.count = first;
    return !document->failed;
}

/* Numbers a node, and finds it in the text, at the document's cursor, with all that it contains. */
static bool place_node(struct json_document *document, cJSON *node)
{
    const char *at = skip_space(document, document->at), *key = at;
    uint32_t number = document->places.count;
    node->valueint = (int)number;
    if (node->string) {
        at = pass_string(document, key);
        at = at ? skip_space(document, skip_space(document, at) + 1) : NULL;
    }
    if (!at)
        return false;
    struct json_place place = {(uint32_t)(key - document->text), (uint32_t)(at - document->text),
                               0};
    vec_push(&document->places, place);
    if (cJSON_IsString(node)) {
        at = pass_string(document, at);
    } else if (node->type & (cJSON_Object | cJSON_Array)) {
        document->at = at + 1;
        for (cJSON *item = node->child; item; item = item->next) {
            if (!place_node(document, item))
                return false;
            at = document->at = skip_space(document, document->at);
            document->at += *at == ',';
        }
        at = skip_space(document, document->at) + 1;
        if (cJSON_IsObject(node) && !check_keys(document, node))
            return false;
    } else {
        const char *digits = at + (*at == '-'), *begin = at;
        bool malformed = *digits == '0' && isdigit((unsigned char)digits[1]);
        for (; isalnum((unsigned char)*at) || *at == '-' || *at == '+' || *at == '.'; at++)
            malformed |= *at == '.' && !isdigit((unsigned char)at[1]);
        if (malformed)
            return fail(document, begin, at, "this number is malformed");
    }
    document->at = at;
    if (at)
        document->places.at[number].end = (uint32_t)(at - document->text);
    return !document->failed;
}

static void release(void *root)
{
    cJSON_Delete(root);
}

static bool read_document(struct json_document *document)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t size = (size_t)(document->end - document->text);
    const char *end;
    if (size > JSON_BYTES)
        return fail(document, document->text, document->text, "the text is larger than %d MiB",
                    JSON_BYTES >> 20);
    errno = 0;
    document->root = cJSON_ParseWithLengthOpts(document->text, size + 1, &end, false);
    if (!document->root && errno == ENOMEM)
        mem_exhausted();
    if (!document->root)
        return fail_at(document, end);
    mem_guard(&document->guard, release, document->root);
    end = skip_space(document, end);
    if (end != document->end)
        return fail(document, end, end + 1, "expected the end of the text here");
    bool marked = strncmp(document->text, mark, sizeof mark - 1) == 0;
    document->at = document->text + (marked ? sizeof mark - 1 : 0);
    return place_node(document, document->root);
}

bool json_document_read(struct json_document *document, const struct source *source, uint32_t base,
                        struct diags *diags)
{
    *document = (struct json_document){
        .text = source->text, .end = source->text + source->size, .base = base, .diags = diags};
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
    vec_free(&document->members);
    source_free(&document->source);
}

bool json_has_key(const struct source *source, const char *const *keys)
{
    const char *at = source->text + strspn(source->text, "\xef\xbb\xbf \t\r\n");
    for (unsigned depth = 0; *at && (depth || *at == '{'); at++) {
        const char *begin = at + 1;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        if (*at != '"')
            continue;
        for (at = begin; *at && *at != '"'; at++)
            at += *at == '\\' && at[1];
        const char *colon = *at ? at + 1 + strspn(at + 1, " \t\r\n") : at;
        for (const char *const *key = keys; depth == 1 && *colon == ':' && *key; key++)
            if (strlen(*key) == (size_t)(at - begin) && memcmp(*key, begin, strlen(*key)) == 0)
                return true;
        at -= !*at;
    }
    return false;
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
    return item->type & kind || json_fail(document, item, "this must be %s, not %s",
                                          kind_text(kind), kind_text(item->type));
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
                        "this must be a number from %lld to %lld", (long long)low, (long long)high);
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
