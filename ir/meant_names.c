#include "ir/meant_names.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *type;
} op_names[] = {
#define OP_TYPE(name, type) {name, type},
#include "ir/meant_names.def"
};

static const char *const key_groups[] = {
#define KEYS(words) words,
#include "ir/meant_names.def"
};

static bool names_agree(const char *name, const char *text, size_t size)
{
    return strncasecmp(name, text, size) == 0 && name[size] == '\0';
}

const char *meant_op_type(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; i++)
        if (names_agree(op_names[i].name, name, size))
            return op_names[i].type;
    return NULL;
}

struct suggest meant_type(struct op_types *types, const char *name, size_t size)
{
    struct suggest suggest = {.wanted = name, .wanted_size = size};
    const char *meant = meant_op_type(name, size);
    op_types_offer(types, &suggest);
    if (meant && !(suggest.best && suggest.distance == 0)) {
        suggest.best = meant;
        suggest.best_size = strlen(meant);
    }
    return suggest;
}

/* Whether a group of words has this one. */
static bool group_has(const char *words, const char *text, size_t size)
{
    while (*words) {
        size_t length = strcspn(words, " ");
        if (length == size && strncasecmp(words, text, size) == 0)
            return true;
        words += length + (words[length] == ' ');
    }
    return false;
}

bool meant_keys_agree(const char *a, size_t a_size, const char *b, size_t b_size)
{
    for (size_t i = 0; i < sizeof key_groups / sizeof key_groups[0]; i++)
        if (group_has(key_groups[i], a, a_size) && group_has(key_groups[i], b, b_size))
            return true;
    return false;
}

struct suggest meant_key(const struct op_type *type, const char *key, size_t size)
{
    struct suggest suggest = {.wanted = key, .wanted_size = size};
    for (uint32_t i = 0; i < type->n_attrs; i++) {
        const char *name = type->attrs[i].name;
        if (!meant_keys_agree(key, size, name, strlen(name)))
            continue;
        suggest.best = name;
        suggest.best_size = strlen(name);
        return suggest;
    }
    for (uint32_t i = 0; i < type->n_attrs; i++)
        suggest_offer_text(&suggest, type->attrs[i].name);
    return suggest;
}
