#include "frontend/exchange/dump/types.h"

/* --------------------------------------------------------------------------- dtypes ---- */

const struct dump_dtype dump_dtypes[] = {
#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number)                                  \
    {DTYPE_##dtype, ge, tf, proto, number, onnx, tf_number},
#include "ir/foreign_dtypes.def"
#undef DUMP_DTYPE
};

const unsigned dump_n_dtypes = sizeof dump_dtypes / sizeof dump_dtypes[0];

static int number_of(const struct dump_dtype *row, enum dump_numbers numbers)
{
    switch (numbers) {
    case DUMP_GE_PROTO: return row->proto;
    case DUMP_GE: return row->number;
    case DUMP_ONNX: return row->onnx;
    case DUMP_TF: return row->tf_number;
    }
    return -1;
}

static bool is_text(const char *text, size_t size, const char *name)
{
    return strlen(name) == size && memcmp(text, name, size) == 0;
}

/* The row of a name, which may be a reference to the type. */
static const struct dump_dtype *find_named(const char *text, size_t size)
{
    size_t plain = size > 4 && memcmp(text + size - 4, "_REF", 4) == 0 ? size - 4 : size;
    for (const struct dump_dtype *row = dump_dtypes; row < dump_dtypes + dump_n_dtypes; row++) {
        if (size > 0 && (is_text(text, size, row->ge) || is_text(text, size, row->tf)))
            return row;
        if (plain < size && is_text(text, plain, row->tf))
            return row;
    }
    return NULL;
}

static const struct dump_dtype *find_numbered(enum dump_numbers numbers, int64_t number)
{
    if (numbers == DUMP_TF && number > 100)
        number -= 100;
    for (const struct dump_dtype *row = dump_dtypes; row < dump_dtypes + dump_n_dtypes; row++)
        if (number >= 0 && number_of(row, numbers) == number)
            return row;
    return NULL;
}

const struct dump_dtype *dump_dtype_row(unsigned dtype)
{
    assert(dtype != DTYPE_UNKNOWN);
    for (const struct dump_dtype *row = dump_dtypes; row < dump_dtypes + dump_n_dtypes; row++)
        if (row->dtype == dtype)
            return row;
    return NULL;
}

/* What a row says, from now on also of `name`, as which the dump has it. */
static unsigned settle(struct dump *dump, uint32_t name, const struct dump_dtype *row, uint32_t loc)
{
    unsigned dtype = row ? row->dtype : DTYPE_UNKNOWN;
    id_map_set(&dump->dtypes, name, dtype);
    if (dtype == DTYPE_UNKNOWN)
        dump_drop(dump, loc, "the dtype '%.*s', which skir %s", NAME(dump->module, name),
                  row ? "does not have" : "does not know");
    return dtype;
}

unsigned dump_dtype_named(struct dump *dump, const char *text, size_t size, uint32_t loc)
{
    uint32_t name = intern_copy(&dump->module->names, text, size);
    uint32_t known = id_map_find(&dump->dtypes, name);
    if (known != NONE)
        return known;
    if (size == 0 || is_text(text, size, "DT_UNDEFINED") || is_text(text, size, "DT_INVALID"))
        return DTYPE_UNKNOWN;
    return settle(dump, name, find_named(text, size), loc);
}

unsigned dump_dtype_numbered(struct dump *dump, enum dump_numbers numbers, int64_t number,
                             uint32_t loc)
{
    const struct dump_dtype *row = find_numbered(numbers, number);
    if (row && row->dtype != DTYPE_UNKNOWN)
        return row->dtype;
    if (number == (numbers == DUMP_GE ? 28 : 0))
        return DTYPE_UNKNOWN;
    uint32_t name = !row       ? module_name_printf(dump->module, "%lld", (long long)number)
                    : *row->ge ? module_name(dump->module, row->ge)
                               : module_name(dump->module, row->tf);
    uint32_t known = id_map_find(&dump->dtypes, name);
    return known != NONE ? known : settle(dump, name, row, loc);
}

/* -------------------------------------------------------------------------- formats ---- */

static bool has_format(const char *text, size_t size)
{
#define FORMAT(name, ...)                                                                          \
    if (is_text(text, size, #name))                                                                \
        return true;
#include "ir/formats.def"
#undef FORMAT
    return false;
}

/* Without "FORMAT_", and without the number of a variant, which stands behind a colon. */
static void cut_format(const char **text, size_t *size)
{
    if (*size > 7 && memcmp(*text, "FORMAT_", 7) == 0) {
        *text += 7;
        *size -= 7;
    }
    const char *colon = *size ? memchr(*text, ':', *size) : NULL;
    if (colon)
        *size = (size_t)(colon - *text);
}

uint32_t dump_format(struct dump *dump, const char *text, size_t size, uint32_t loc)
{
    uint32_t name = intern_copy(&dump->module->names, text, size);
    uint32_t format = id_map_find(&dump->formats, name);
    if (format != NONE)
        return format;
    bool variant = size && memchr(text, ':', size);
    const char *plain = dump->module->names.names[name].text;
    cut_format(&plain, &size);
    bool known = has_format(plain, size);
    format = known ? intern_copy(&dump->module->names, plain, size) : W_ND;
    id_map_set(&dump->formats, name, format);
    bool says = size && !is_text(plain, size, "RESERVED");
    if (says && (!known || variant))
        dump_drop(dump, loc, "the format '%.*s', which becomes %.*s", NAME(dump->module, name),
                  NAME(dump->module, format));
    return format;
}

/* ---------------------------------------------------------------------------- types ---- */

uint32_t dump_type(struct dump *dump, unsigned dtype, uint32_t format,
                   const struct dump_shape *shape, uint32_t loc)
{
    uint32_t rank = shape->rank;
    if (rank > MAX_RANK && rank != RANK_UNKNOWN) {
        dump_drop(dump, loc, "a shape of more than %d dimensions", MAX_RANK);
        rank = RANK_UNKNOWN;
    }
    return module_type(dump->module, (enum dtype)dtype, format, shape->dims, rank);
}

uint32_t dump_no_type(struct dump *dump)
{
    return module_type(dump->module, (enum dtype)DTYPE_UNKNOWN, W_ND, NULL, RANK_UNKNOWN);
}
