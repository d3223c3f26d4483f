/* JSON, appended to a text value by value. */
#ifndef IR_SUPPORT_JSON_H
#define IR_SUPPORT_JSON_H

#include "ir/support/text.h"

#include <stdbool.h>

/* Zero-initialised apart from these two, it stands before its one value. */
struct json {
    struct text *text;
    bool indented; /* for people: each member of an object on a line of its own */
    bool inside;   /* something stands in the innermost container */
    bool keyed;    /* a key waits for its value */
    bool line;     /* what comes next begins a line */
    unsigned depth;
};

/* Containers: what comes between is in them. */
void json_open_object(struct json *json);
void json_close_object(struct json *json);
void json_open_array(struct json *json);
void json_close_array(struct json *json);

/* The next value of an object is that of this key. */
void json_key(struct json *json, const char *key);
void json_key_bytes(struct json *json, const char *key, size_t size);

/* Strings are any bytes; what is no UTF-8 is replaced (ir/support/text.h). */
void json_string(struct json *json, const char *string);
void json_bytes(struct json *json, const char *bytes, size_t size);
void json_unsigned(struct json *json, uint64_t number);
void json_signed(struct json *json, int64_t number);
/* JSON has no word for numbers that are not finite. */
void json_double(struct json *json, double finite);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* Members: a key and its value; of a container, its beginning. */
void json_add_object(struct json *json, const char *key);
void json_add_array(struct json *json, const char *key);
void json_add_bool(struct json *json, const char *key, bool value);
void json_add_string(struct json *json, const char *key, const char *string);
void json_add_bytes(struct json *json, const char *key, const char *bytes, size_t size);
void json_add_unsigned(struct json *json, const char *key, uint64_t number);

/* The next key or element begins a line. */
void json_line(struct json *json);

#endif
