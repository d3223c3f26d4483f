#include "frontend/exchange/readers/ge_meta.h"

/* Behind the next `text` in [at, end), or NULL. */
static const char *find_behind(const char *at, const char *end, const char *text)
{
    size_t size = strlen(text);
    for (; (size_t)(end - at) >= size; at++)
        if (memcmp(at, text, size) == 0)
            return at + size;
    return NULL;
}

/* A number, or the name of a dimension; an expression is not known. */
static int64_t read_dim(struct dump *dump, uint32_t graph, const char *text, size_t size)
{
    int64_t number = 0;
    size_t i = 0;
    while (i < size && i < 18 && text[i] >= '0' && text[i] <= '9')
        number = number * 10 + (text[i++] - '0');
    if (i == size && size > 0)
        return number;
    return graph == NONE ? DIM_UNKNOWN : dump_dim(dump, text, size);
}

/* The end of the element at `at` of a list in brackets; expressions may have brackets, too. */
static const char *element_end(const char *at, const char *end)
{
    for (uint32_t depth = 0; at < end; at++) {
        if (depth == 0 && (*at == ',' || *at == ']'))
            return at;
        if (*at == '(' || *at == '[')
            depth++;
        else if (depth > 0 && (*at == ')' || *at == ']'))
            depth--;
    }
    return NULL;
}

/* The elements of a list, behind its bracket. RANK_UNKNOWN: it does not end. */
static void read_dims(struct dump *dump, uint32_t graph, const char *at, const char *end,
                      struct dump_shape *shape)
{
    shape->rank = 0;
    for (;;) {
        while (at < end && *at == ' ')
            at++;
        const char *close = element_end(at, end);
        if (!close) {
            shape->rank = RANK_UNKNOWN;
            return;
        }
        if (close > at)
            dump_shape_add(shape, read_dim(dump, graph, at, (size_t)(close - at)));
        if (*close == ']')
            return;
        at = close + 1;
    }
}

void ge_meta_shape(struct dump *dump, uint32_t graph, const char *text, size_t size,
                   struct dump_shape *shape)
{
    const char *end = text + size, *dims = find_behind(text, end, "shape=torch.Size([");
    const char *list = find_behind(text, end, "'list'>([");
    shape->rank = RANK_UNKNOWN;
    if (dims) {
        read_dims(dump, graph, dims, end, shape);
    } else if (list) {
        /* The list is the tensor. */
        read_dims(dump, NONE, list, end, shape);
        if (shape->rank <= MAX_RANK) {
            shape->dims[0] = shape->rank;
            shape->rank = 1;
        }
    } else if (find_behind(text, end, "torch.Sym")) {
        shape->rank = 0;
    }
}
