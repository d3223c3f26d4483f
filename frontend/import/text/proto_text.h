/* Protobuf's text format without a schema: a cursor that walks through the fields of a message, and
 * of those inside it that it is told to enter. What it has passed is gone: memory does not grow
 * with the text.
 *
 *     struct proto_field field;
 *     while (proto_next(&proto, &field))
 *         if (proto_is(&field, "node"))
 *             read_node(&proto);       // the same loop, behind proto_enter(&proto)
 */
#ifndef FRONTEND_IMPORT_TEXT_PROTO_TEXT_H
#define FRONTEND_IMPORT_TEXT_PROTO_TEXT_H

#include "ir/support/diag.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Messages within messages that are read; beyond that the text is refused. */
enum { PROTO_DEPTH = 256 };

enum proto_kind {
    PROTO_MESSAGE, /* { ... } or < ... >: proto_enter, or it is passed over */
    PROTO_STRING,  /* one literal or several */
    PROTO_NUMBER,  /* an integer or a float, as it is written */
    PROTO_WORD,    /* an identifier: true, inf, the name of an enumerator ...; maybe behind a '-' */
};

/* A field, or one element of a field whose value is a list. */
struct proto_field {
    const char *name; /* not NUL-terminated; of an extension or an Any: what is in the brackets */
    uint32_t name_size;
    bool bracketed;
    enum proto_kind kind;
    const char *text;            /* the value as it is written; of a message: its opening bracket */
    uint32_t size;               /* of all literals of a string, with what is between them */
    uint32_t plain;              /* of a string: 1 if it is one literal without escapes */
    struct span name_span, span; /* `span` is that of the value, cut off behind its first line */
};

/* A message that was entered; the outermost one is the text. */
struct proto_level {
    const char *begin; /* its opening bracket */
    const char *list;  /* the name of the field whose list is being walked through, or NULL */
    uint32_t list_size;
    char close;     /* the bracket that ends the message */
    bool bracketed; /* the name of the list */
};

struct proto_text {
    const char *text, *at, *end;
    struct diags *diags; /* NULL: nothing is said */
    struct span within;  /* of a text that is no part of the source: where it came from */
    bool inner;          /* it is such a text */
    bool failed;
    bool first;   /* nothing of the message, or of the list, was read yet */
    bool pending; /* the last field was a message that nobody has entered (yet) */
    uint32_t depth;
    char *copy;                                 /* owned: the text, where it had to be copied */
    struct text scratch;                        /* the string decoded last */
    struct proto_level levels[PROTO_DEPTH + 1]; /* up to `depth` */
};

/* Over all of a source. Errors are diagnostics of id `foreign-syntax`; without `diags` they are
 * only told by `failed`. */
void proto_init(struct proto_text *proto, const struct source *source, struct diags *diags);
/* Over bytes that proto_string gave, all of whose errors are at `within`. They must stay as they
 * are until proto_free. */
void proto_init_inner(struct proto_text *proto, const char *bytes, size_t size, struct span within,
                      struct diags *diags);
void proto_free(struct proto_text *proto);

/* The next field of the innermost message that was entered. False at the end of this message, which
 * is left then, and from the first error on (`failed`). Of what is in messages that are not
 * entered, no more is looked at than brackets, strings and comments. */
bool proto_next(struct proto_text *proto, struct proto_field *field);
/* The message that proto_next returned last is the innermost one. */
void proto_enter(struct proto_text *proto);

static inline bool proto_is(const struct proto_field *field, const char *name)
{
    size_t size = strlen(name);
    return field->name_size == size && memcmp(field->name, name, size) == 0;
}

/* Values. Those of another kind, or out of range, are an error at the value, and false; but where
 * `proto` is NULL nothing is said (and strings that are not plain cannot be read). */

/* The bytes, joined, without quotes and escapes. They are in the text itself or in the cursor's
 * scratch memory: the next call may overwrite them. */
bool proto_string(struct proto_text *proto, const struct proto_field *field, const char **bytes,
                  size_t *size);
/* Signed 64 bits; what is unsigned and larger wraps to the same bits. */
bool proto_integer(struct proto_text *proto, const struct proto_field *field, int64_t *value);
/* Any number, inf and nan; a trailing f is none of the value. */
bool proto_float(struct proto_text *proto, const struct proto_field *field, double *value);
/* true, True, t, 1, false, False, f, 0. */
bool proto_bool(struct proto_text *proto, const struct proto_field *field, bool *value);

/* An error at a place of the text. The cursor stops there. */
void proto_fail(struct proto_text *proto, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
