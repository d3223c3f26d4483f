/* JSON (RFC 8259), read as a whole into the nodes of cJSON.
 *
 * A walk over the nodes and the text, in one order, then gives each node its position, by a number
 * in the member `valueint`: messages name it, and integers of 64 bits are read from the text, since
 * cJSON's numbers are doubles. The walk refuses strings that cJSON accepts although they are not
 * JSON, or that have a NUL, and keys that are equal once their escapes are decoded. The time is
 * O(n log n) for n bytes.
 *
 *     const cJSON *member;
 *     for (EACH_JSON(document, member, document->root, cJSON_Object))
 *         if (json_is(member, "nodes"))
 *             read_nodes(document, member);
 */
#ifndef IR_SUPPORT_JSON_DOCUMENT_H
#define IR_SUPPORT_JSON_DOCUMENT_H

#include "ir/support/file_fault.h"

#include <cjson/cJSON.h>

enum {
    JSON_BYTES = 64 << 20, /* of a text; its nodes may take 80 times as many */
    JSON_BOOL = cJSON_False | cJSON_True,
};

/* Where a value is in the text: offsets. */
struct json_place {
    uint32_t key, begin, end; /* key: its quote; of an element as `begin` */
};

/* Zero-initialised is nothing to be freed. It stays where it is while it is in use. */
struct json_document {
    cJSON *root;
    const char *text, *at, *end; /* at: of the walk */
    uint32_t base;               /* the offset of its first byte, for positions */
    bool failed;
    struct diags *diags;      /* NULL: the first error is `fault`, with its place in `source` */
    struct file_fault *fault; /* of a file that is no source of diagnostics */
    struct source source;
    VEC(struct json_place) places; /* by the nodes' `valueint` */
    VEC(const cJSON *) members;    /* of the object whose keys are compared */
    struct mem_guard guard;
};

/* Reads all of a source, or of a file that one includes, which begins at the offset `base`. A NUL
 * follows its end. False after an error, which has the id `foreign-syntax`, or `duplicate` for a
 * second key of one name. The document is to be freed in any case. */
bool json_document_read(struct json_document *document, const struct source *source, uint32_t base,
                        struct diags *diags);
/* The same of a text that is no source. `fault` must outlive the document, `path` the fault. */
bool json_document_read_file(struct json_document *document, const char *path, const char *text,
                             size_t size, struct file_fault *fault);
void json_document_free(struct json_document *document);

/* Whether a text, which may be malformed, begins as an object that has a member of one of these
 * names. The list ends with NULL. */
bool json_has_key(const struct source *source, const char *const *keys);

/* ---- positions and errors ---- */

/* Of a container the span is its bracket, of an element the key's is the value's. */
struct span json_span(const struct json_document *document, const cJSON *item);
struct span json_key_span(const struct json_document *document, const cJSON *item);
/* The value as it is written. */
const char *json_written(const struct json_document *document, const cJSON *item, size_t *size);

/* An error of id `foreign-form` at a value, or at a place of the text. Loops over items end. Always
 * false. */
#define json_fail(document, item, ...)                                                             \
    json_fail_span(document, json_span(document, item), __VA_ARGS__)
#define json_fail_span(document, span, ...)                                                        \
    json_fail_as(document, DIAG_foreign_form, span, __VA_ARGS__)
bool json_fail_as(struct json_document *document, enum diag_id id, struct span span,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- values ---- */

static inline bool json_is(const cJSON *item, const char *key)
{
    return item->string && strcmp(item->string, key) == 0;
}

/* The member of an object; NULL where there is none, or the item is no object or NULL. */
static inline const cJSON *json_member(const cJSON *item, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(item, key);
}

/* Whether an item has one of the keys of a list that NULL ends. */
bool json_is_one(const cJSON *item, const char *const *keys);

/* `for (EACH_JSON(document, item, container, kind))`: the items of a container up to the first
 * error; one of another kind is an error. */
#define EACH_JSON(document, item, container, kind)                                                 \
    item = json_want(document, container, kind) ? (container)->child : NULL;                       \
    item && !(document)->failed;                                                                   \
    item = item->next
/* `for (EACH_ITEM(item, container))`: the items of a container; none of another value or NULL. */
#define EACH_ITEM(item, container)                                                                 \
    item = (container) ? (container)->child : NULL;                                                \
    item;                                                                                          \
    item = item->next

/* A value of another kind, or out of range, is an error at the value. */

/* Whether it is of a kind: cJSON_Object, cJSON_Array, cJSON_String, cJSON_Number or JSON_BOOL. */
bool json_want(struct json_document *document, const cJSON *item, int kind);
/* The text of a string; NULL after an error. */
const char *json_as_text(struct json_document *document, const cJSON *item);
/* Whether it is a string that has a whole number in its quotes. */
bool json_is_quoted_number(const cJSON *item);
/* A whole number of 64 bits from `low` to `high`. */
bool json_as_integer(struct json_document *document, const cJSON *item, int64_t low, int64_t high,
                     int64_t *value);
bool json_as_bool(struct json_document *document, const cJSON *item, bool *value);

/* A member that must be there and be of a kind; NULL after an error. */
const cJSON *json_need(struct json_document *document, const cJSON *object, const char *key,
                       int kind);

#endif
