/* JSON (RFC 8259): a cursor that walks through the members of an object or the elements of an
 * array, and of those inside it that it is told to enter. What it has passed is gone but for the
 * keys of the objects that it is in, none of which may stand twice.
 *
 *     struct json_item item;
 *     while (json_text_next(&json, &item))
 *         if (json_text_is(&item, "nodes"))
 *             read_nodes(&json);       // the same loop, behind json_text_enter(&json)
 */
#ifndef IR_BASE_JSON_TEXT_H
#define IR_BASE_JSON_TEXT_H

#include "ir/base/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Values within values that are read; beyond that the text is refused. */
enum { JSON_TEXT_DEPTH = 256 };

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_BOOL, JSON_NULL };

/* A member, an element, or the one value of the whole text. */
struct json_item {
    const char *key; /* of a member, as it is written between its quotes; not NUL-terminated */
    uint32_t key_size;
    enum json_kind kind;
    const char *text; /* the value as it is written; of a container: its bracket */
    uint32_t size;
    bool plain;                 /* a string without escapes */
    struct span key_span, span; /* of an element, both are that of the value */
};

struct json_level {
    const char *begin;   /* its bracket */
    uint32_t first_key;  /* of an object, in the cursor's `keys` */
    bool object, filled; /* filled: something stands in it */
};

struct json_text {
    const char *text, *at, *end;
    uint32_t base; /* the offset of its first byte, for positions */
    struct diags *diags;
    uint32_t depth;
    bool failed;
    bool pending;          /* the last value was a container that nobody has entered (yet) */
    struct text scratch;   /* the string decoded last */
    VEC(struct span) keys; /* of the open objects */
    struct json_level levels[JSON_TEXT_DEPTH + 1]; /* of the whole text first */
};

/* Over all of a source, or of a file that one includes, which begins at the offset `base`. A NUL
 * stands behind its end. Errors are diagnostics of id `foreign-syntax`. */
void json_text_init(struct json_text *json, const struct source *source, uint32_t base,
                    struct diags *diags);
void json_text_free(struct json_text *json);

/* The next item of the innermost container that was entered, and first of all the value of the
 * text. False at the end of the container, which is left then, and from the first error on
 * (`failed`). */
bool json_text_next(struct json_text *json, struct json_item *item);
/* The object or array that json_text_next returned last is the innermost one. */
void json_text_enter(struct json_text *json);

static inline bool json_text_is(const struct json_item *item, const char *key)
{
    size_t size = strlen(key);
    return item->key_size == size && memcmp(item->key, key, size) == 0;
}

/* Whether an item has one of the keys of a list that NULL ends. */
bool json_text_is_one(const struct json_item *item, const char *const *keys);

/* Whether the text begins as an object that has a member of one of these names, as far as it can be
 * read. The list ends with NULL. */
bool json_text_has_key(const struct source *source, const char *const *keys);

/* What messages call a kind of value. */
const char *json_kind_text(enum json_kind kind);

/* Values. Those of another kind, or out of range, are an error at the value, and false. */

/* Whether it is of the kind. */
bool json_text_want(struct json_text *json, const struct json_item *item, enum json_kind kind);
/* The same of a container, which is the innermost one then. */
bool json_text_open(struct json_text *json, const struct json_item *item, enum json_kind kind);
/* `for (EACH_JSON(json, item, container, kind))`: the items of a container; none where it is of
 * another kind. */
#define EACH_JSON(json, item, container, kind)                                                     \
    bool open_ = json_text_open(json, container, kind);                                            \
    open_ &&json_text_next(json, item);
/* The bytes, in UTF-8, without quotes and escapes. They are in the text itself or in the cursor's
 * scratch memory: the next call may overwrite them. */
bool json_text_string(struct json_text *json, const struct json_item *item, const char **bytes,
                      size_t *size);
/* Whether it is a string that has a whole number in its quotes. */
bool json_text_is_quoted_number(const struct json_item *item);
/* A whole number of 64 bits from `low` to `high`. */
bool json_text_integer(struct json_text *json, const struct json_item *item, int64_t low,
                       int64_t high, int64_t *value);
bool json_text_bool(struct json_text *json, const struct json_item *item, bool *value);

/* An error of id `foreign-form` at a place of the text. The cursor stops there. Returns false. */
bool json_text_fail(struct json_text *json, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
