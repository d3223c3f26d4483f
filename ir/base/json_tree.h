/* JSON that is read as a whole and strictly: one value and nothing behind it, no key twice in an
 * object, not deeper than the cursor goes (ir/base/json_text.h), at most 16 MiB. Errors are one
 * line of text, "PATH:LINE:COLUMN: ...". */
#ifndef IR_BASE_JSON_TREE_H
#define IR_BASE_JSON_TREE_H

#include "ir/base/json_text.h"

/* A value, and the key that it has as a member. Keys and strings have no NUL but the one behind
 * them: they are names and paths, which that would cut off. */
struct json_node {
    enum json_kind kind;
    const char *key;         /* NULL of what is no member */
    const char *string;      /* of a string */
    const char *text;        /* as it is written; of a container: its bracket */
    struct span span;        /* of the value */
    struct json_node *first; /* of a container: what is in it */
    struct json_node *next;  /* in its container */
};

/* Zero-initialised is nothing to be freed. */
struct json_tree {
    struct json_node *root;
    struct source source;
    struct arena arena; /* of all nodes */
    char *error;
    size_t error_size;
};

/* Reads a text, which must outlive the tree and has a NUL behind its end. False, with an error,
 * where it is no such JSON. The tree is to be freed in any case; `error` must outlive it. */
bool json_tree_read(struct json_tree *tree, const char *path, const char *text, size_t size,
                    char *error, size_t error_size);
void json_tree_free(struct json_tree *tree);

/* An error at a value. Returns false. */
bool json_tree_fail(struct json_tree *tree, const struct json_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The member of an object; NULL where there is none, or the node is no object or NULL. */
const struct json_node *json_member(const struct json_node *node, const char *key);

/* A member that must be there and be of a kind. */
bool json_tree_member(struct json_tree *tree, const struct json_node *node, const char *key,
                      enum json_kind kind, const struct json_node **member);
/* The text of one that is a string with something in it. */
bool json_tree_string(struct json_tree *tree, const struct json_node *node, const char *key,
                      const char **string);
/* One that is a whole number from `low` to `high`, written in digits. */
bool json_tree_number(struct json_tree *tree, const struct json_node *node, const char *key,
                      uint32_t low, uint32_t high, uint32_t *number);

#endif
