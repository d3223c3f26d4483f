#include "ir/op_attr_defaults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A number at the beginning of a text; what is behind it and blanks, NULL where there is none that
 * fits. Of a float only that it is one is of interest. */
static const char *read_number(const char *text, bool is_float, int64_t *number)
{
    char *end;
    errno = 0;
    if (is_float)
        strtod(text, &end);
    else
        *number = strtoll(text, &end, 10);
    if (end == text || errno == ERANGE || strchr(" \t\n", *text))
        return NULL;
    return end + strspn(end, " ");
}

/* "[1, -1]" */
static bool read_list(struct op_attr *attr, struct arena *arena)
{
    const char *text = attr->fallback;
    int64_t *numbers = arena_alloc(arena, (strlen(text) + 1) * sizeof *numbers);
    attr->numbers = numbers;
    attr->n_numbers = 0;
    if (*text++ != '[')
        return false;
    text += strspn(text, " ");
    if (strcmp(text, "]") == 0)
        return true;
    for (;; text += 1 + strspn(text + 1, " ")) {
        text = read_number(text, attr->kind == OP_ATTR_FLOATS, &numbers[attr->n_numbers]);
        if (!text)
            return false;
        attr->n_numbers++;
        if (*text != ',')
            return strcmp(text, "]") == 0;
    }
}

static bool read_one(struct op_attr *attr, struct arena *arena)
{
    int64_t *number = arena_alloc(arena, sizeof *number);
    *number = 0;
    attr->numbers = number;
    attr->n_numbers = 1;
    if (attr->kind == OP_ATTR_BOOL) {
        *number = strcmp(attr->fallback, "true") == 0;
        return *number || strcmp(attr->fallback, "false") == 0;
    }
    const char *end = read_number(attr->fallback, attr->kind == OP_ATTR_FLOAT, number);
    return end && !*end;
}

bool op_attr_read_default(struct op_attr *attr, struct arena *arena)
{
    switch (attr->kind) {
    case OP_ATTR_STRING: return true;
    case OP_ATTR_INTS:
    case OP_ATTR_FLOATS: return read_list(attr, arena);
    case OP_ATTR_CONTENTS: return false;
    default: return read_one(attr, arena);
    }
}
