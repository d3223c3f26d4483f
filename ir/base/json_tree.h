/* JSON that is read as a whole and strictly: one value and nothing behind it, no key twice in an
 * object, not deeper than the cursor goes (ir/base/json_text.h), at most 16 MiB. Errors are faults
 * of the file, with their place. */
#ifndef IR_BASE_JSON_TREE_H
#define IR_BASE_JSON_TREE_H

#include "ir/base/file_fault.h"
#include "ir/base/json_text.h"

/* A value, and the key that it has as a member. Keys and strings have no NUL but the one behind
 * them: they are names and paths, which that would cut off. */
struct json_node {
    enum json_kind kind;
    const char *key;         /* NULL of what is no member */
    const char *string;      /* of a string */
    const char *text, *end;  /* as it is written, and behind that */
    struct span span;        /* of the value; of a container: its bracket */
    struct span key_span;    /* of the key, of the value where there is none */
    struct json_node *first; /* of a container: what is in it */
    struct json_node *next;  /* in its container */
};

/* Zero-initialised is nothing to be freed. */
struct json_tree {
    struct json_node *root;
    struct source source;
    struct arena arena; /* of all nodes */
    struct file_fault *fault;
};

/* Reads a text, which must outlive the tree and has a NUL behind its end. False, with a fault,
 * where it is no such JSON. The tree is to be freed in any case; `fault` must outlive it, and
 * `path` what is done with the fault. */
bool json_tree_read(struct json_tree *tree, const char *path, const char *text, size_t size,
                    struct file_fault *fault);
void json_tree_free(struct json_tree *tree);

/* An error at a value, or at a place. Return false. */
bool json_tree_fail(struct json_tree *tree, const struct json_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool json_tree_fail_at(struct json_tree *tree, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How many values are in a container; 0 of what is none, or NULL. */
uint32_t json_count(const struct json_node *node);
/* Whether two values are the same: members in any order, numbers as they are written. */
bool json_is_same(const struct json_node *a, const struct json_node *b);

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
