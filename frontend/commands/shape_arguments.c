#include "frontend/commands/shape_arguments.h"
#include "frontend/tensor/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool read_dim(const char **text, int64_t *dim)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *dim = strtoll(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* "2,4", or nothing of a scalar. */
static bool read_dims(const char *text, struct given_shape *shape)
{
    for (; *text; shape->rank++) {
        if (shape->rank && *text++ != ',')
            return false;
        if (shape->rank == MAX_RANK || !read_dim(&text, &shape->dims[shape->rank]))
            return false;
    }
    return true;
}

/* A name may have its `%`. */
static struct given_shape named_shape(const char *text, const char *sign)
{
    bool sigil = *text == '%';
    return (struct given_shape){.name = text + sigil, .size = (size_t)(sign - text - sigil)};
}

static bool read_option(struct shape_arguments *shapes, const struct invocation *invocation,
                        const char *text)
{
    const char *sign = strchr(text, '=');
    struct given_shape shape = named_shape(text, sign ? sign : text + strlen(text));
    shape.from = "--shape";
    if (!sign || !read_dims(sign + 1, &shape)) {
        usage_error(invocation, "--shape %s: expected NAME=N,N,..., whole numbers from 0", text);
        return false;
    }
    vec_push(shapes, shape);
    return true;
}

/* What cannot be read is reported by whoever reads the contents. */
static void read_file(struct shape_arguments *shapes, const char *text)
{
    struct npy_header header;
    char error[512];
    const char *sign = strchr(text, '=');
    if (!sign || !tensor_spec_is_file(sign + 1) ||
        !npy_read_header(&header, sign + 1, error, sizeof error))
        return;
    struct given_shape shape = named_shape(text, sign);
    shape.from = sign + 1;
    shape.file = true;
    shape.rank = header.rank;
    memcpy(shape.dims, header.dims, header.rank * sizeof *header.dims);
    vec_push(shapes, shape);
}

bool shape_arguments_read(struct shape_arguments *shapes, const struct invocation *invocation)
{
    const char *text;
    bool ok = true;
    if (option_exists(invocation, "shape"))
        for (unsigned i = 0; ok && (text = option_value_at(invocation, "shape", i)); i++)
            ok = read_option(shapes, invocation, text);
    if (option_exists(invocation, "input"))
        for (unsigned i = 0; ok && (text = option_value_at(invocation, "input", i)); i++)
            read_file(shapes, text);
    return ok;
}
