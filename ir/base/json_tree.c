#include "ir/base/json_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------- errors ---- */

static bool fail_at(struct json_tree *tree, struct span span, const char *what)
{
    struct file_fault *fault = tree->fault;
    fault->path = tree->source.path;
    fault->span = span;
    fault->at = source_position(&tree->source, span.begin);
    snprintf(fault->text, sizeof fault->text, "%s", what);
    return false;
}

bool json_tree_fail_at(struct json_tree *tree, struct span span, const char *format, ...)
{
    char what[sizeof tree->fault->text];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail_at(tree, span, what);
}

bool json_tree_fail(struct json_tree *tree, const struct json_node *node, const char *format, ...)
{
    char what[sizeof tree->fault->text];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail_at(tree, node->span, what);
}

/* ------------------------------------------------------------------------- reading ---- */

struct builder {
    struct json_tree *tree;
    struct json_text json;
};

static const char *read_string(struct builder *builder, const struct json_item *item)
{
    const char *bytes;
    size_t size;
    if (!json_text_string(&builder->json, item, &bytes, &size))
        return NULL;
    if (memchr(bytes, 0, size)) {
        json_text_fail(&builder->json, item->span, "a NUL cannot stand in this string");
        return NULL;
    }
    return arena_strndup(&builder->tree->arena, bytes, size);
}

/* An escape could spell a key that is there already. */
static const char *read_key(struct builder *builder, const struct json_item *item)
{
    if (memchr(item->key, '\\', item->key_size)) {
        json_text_fail(&builder->json, item->key_span, "a key is written without escapes here");
        return NULL;
    }
    return arena_strndup(&builder->tree->arena, item->key, item->key_size);
}

static struct json_node *make_node(struct builder *builder, const struct json_item *item)
{
    struct json_node *node = arena_alloc(&builder->tree->arena, sizeof *node);
    *node = (struct json_node){.kind = item->kind,
                               .text = item->text,
                               .end = item->text + item->size,
                               .span = item->span,
                               .key_span = item->key_span};
    if (item->key)
        node->key = read_key(builder, item);
    if (item->kind == JSON_STRING)
        node->string = read_string(builder, item);
    return node;
}

/* What is in the container that the cursor has come to; its depth is limited. */
static void read_inside(struct builder *builder, struct json_node *node)
{
    struct json_node **last = &node->first;
    struct json_item item;
    json_text_enter(&builder->json);
    while (json_text_next(&builder->json, &item)) {
        *last = make_node(builder, &item);
        if (item.kind == JSON_OBJECT || item.kind == JSON_ARRAY)
            read_inside(builder, *last);
        last = &(*last)->next;
    }
    node->end = builder->json.at;
}

/* The value, and that nothing stands behind it. */
static void read_all(struct builder *builder)
{
    struct json_item item;
    if (!json_text_next(&builder->json, &item))
        return;
    builder->tree->root = make_node(builder, &item);
    if (item.kind == JSON_OBJECT || item.kind == JSON_ARRAY)
        read_inside(builder, builder->tree->root);
    json_text_next(&builder->json, &item);
}

static bool take_error(struct json_tree *tree, const struct diags *diags)
{
    return diags->list.count == 0 || fail_at(tree, diags->list.at[0].span, diags->list.at[0].text);
}

/* A node is some thirty times as large as the shortest value. */
enum { MOST_BYTES = 16 << 20 };

bool json_tree_read(struct json_tree *tree, const char *path, const char *text, size_t size,
                    struct file_fault *fault)
{
    struct builder builder = {.tree = tree};
    struct diags diags;
    *tree = (struct json_tree){.fault = fault};
    if (size > MOST_BYTES || !source_init_foreign(&tree->source, path, text, size))
        return file_fault_say(fault, "%s: the file is larger than %d MiB", path, MOST_BYTES >> 20);
    diags_init(&diags, &tree->source, path);
    json_text_init(&builder.json, &tree->source, 0, &diags);
    read_all(&builder);
    bool ok = take_error(tree, &diags) && !builder.json.failed;
    json_text_free(&builder.json);
    diags_free(&diags);
    return ok;
}

void json_tree_free(struct json_tree *tree)
{
    source_free(&tree->source);
    arena_free(&tree->arena);
    *tree = (struct json_tree){.root = NULL};
}

/* -------------------------------------------------------------------------- values ---- */

uint32_t json_count(const struct json_node *node)
{
    uint32_t count = 0;
    for (const struct json_node *item = node ? node->first : NULL; item; item = item->next)
        count++;
    return count;
}

static bool text_is_same(const struct json_node *a, const struct json_node *b)
{
    uint32_t size = a->span.end - a->span.begin;
    return b->span.end - b->span.begin == size && memcmp(a->text, b->text, size) == 0;
}

/* No key stands twice, so that as many members of which each is in the other are the same. */
static bool object_is_same(const struct json_node *a, const struct json_node *b)
{
    for (const struct json_node *item = a->first; item; item = item->next)
        if (!json_is_same(item, json_member(b, item->key)))
            return false;
    return json_count(a) == json_count(b);
}

static bool array_is_same(const struct json_node *a, const struct json_node *b)
{
    const struct json_node *one = a->first, *other = b->first;
    for (; one && other && json_is_same(one, other); other = other->next)
        one = one->next;
    return !one && !other;
}

bool json_is_same(const struct json_node *a, const struct json_node *b)
{
    if (!a || !b || a->kind != b->kind)
        return a == b;
    switch (a->kind) {
    case JSON_OBJECT: return object_is_same(a, b);
    case JSON_ARRAY: return array_is_same(a, b);
    case JSON_STRING: return strcmp(a->string, b->string) == 0;
    default: return text_is_same(a, b);
    }
}

/* ------------------------------------------------------------------------- members ---- */

const struct json_node *json_member(const struct json_node *node, const char *key)
{
    if (!node || node->kind != JSON_OBJECT)
        return NULL;
    const struct json_node *member = node->first;
    while (member && strcmp(member->key, key) != 0)
        member = member->next;
    return member;
}

bool json_tree_member(struct json_tree *tree, const struct json_node *node, const char *key,
                      enum json_kind kind, const struct json_node **member)
{
    *member = json_member(node, key);
    if (!*member && node->kind != JSON_OBJECT)
        return json_tree_fail(tree, node, "this must be an object with '%s', not %s", key,
                              json_kind_text(node->kind));
    if (!*member)
        return json_tree_fail(tree, node, "this object has no '%s', which is %s", key,
                              json_kind_text(kind));
    return (*member)->kind == kind ||
           json_tree_fail(tree, *member, "'%s' must be %s, not %s", key, json_kind_text(kind),
                          json_kind_text((*member)->kind));
}

bool json_tree_string(struct json_tree *tree, const struct json_node *node, const char *key,
                      const char **string)
{
    const struct json_node *member;
    if (!json_tree_member(tree, node, key, JSON_STRING, &member))
        return false;
    *string = member->string;
    return **string || json_tree_fail(tree, member, "'%s' must not be empty", key);
}

bool json_tree_number(struct json_tree *tree, const struct json_node *node, const char *key,
                      uint32_t low, uint32_t high, uint32_t *number)
{
    const struct json_node *member;
    char *end;
    if (!json_tree_member(tree, node, key, JSON_NUMBER, &member))
        return false;
    errno = 0;
    long long value = strtoll(member->text, &end, 10);
    if (end != member->text + (member->span.end - member->span.begin) || errno || value < low ||
        value > high)
        return json_tree_fail(tree, member, "'%s' must be a whole number from %u to %u", key, low,
                              high);
    *number = (uint32_t)value;
    return true;
}
