#include "frontend/import/dump/types.h"

#include <stdio.h>

#include "ir/analysis/contents.h"
#include "ir/optypes/op_types.h"

/* --------------------------------------------------------------------------- dtypes ---- */

const struct dump_dtype dump_dtypes[] = {
#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number)                                  \
    {DTYPE_##dtype, ge, tf, {proto, number, onnx, tf_number}},
#include "ir/core/foreign_dtypes.def"
#undef DUMP_DTYPE
};

const unsigned dump_n_dtypes = sizeof dump_dtypes / sizeof dump_dtypes[0];

static bool is_text(const char *text, size_t size, const char *name)
{
    return strlen(name) == size && memcmp(text, name, size) == 0;
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
    bool is_reference = size > 4 && memcmp(text + size - 4, "_REF", 4) == 0;
    const struct dump_dtype *row = dump_dtypes, *end = dump_dtypes + dump_n_dtypes;
    while (row < end && !is_text(text, size, row->ge) && !is_text(text, size, row->tf) &&
           !(is_reference && is_text(text, size - 4, row->tf)))
        row++;
    return settle(dump, name, row < end ? row : NULL, loc);
}

unsigned dump_dtype_numbered(struct dump *dump, enum dump_numbers numbers, int64_t number,
                             uint32_t loc)
{
    const struct dump_dtype *row = dump_dtypes, *end = dump_dtypes + dump_n_dtypes;
    int64_t plain = numbers == DUMP_TF && number > 100 ? number - 100 : number;
    while (row < end && (plain < 0 || row->numbers[numbers] != plain))
        row++;
    row = row < end ? row : NULL;
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

/* Names may begin with "FORMAT_", and end in the number of a variant, which follows a colon. */
uint32_t dump_format(struct dump *dump, const char *text, size_t size, uint32_t loc)
{
    static const char *const formats[] = {
#define FORMAT(name, ...) #name,
#include "ir/core/formats.def"
#undef FORMAT
    };
    uint32_t name = intern_copy(&dump->module->names, text, size);
    uint32_t format = id_map_find(&dump->formats, name);
    if (format != NONE)
        return format;
    const char *plain = dump->module->names.names[name].text, *end = plain + size;
    plain += size > 7 && memcmp(plain, "FORMAT_", 7) == 0 ? 7 : 0;
    const char *colon = plain < end ? memchr(plain, ':', (size_t)(end - plain)) : NULL;
    size = (size_t)((colon ? colon : end) - plain);
    unsigned row = 0;
    while (row < sizeof formats / sizeof *formats && !is_text(plain, size, formats[row]))
        row++;
    bool known = row < sizeof formats / sizeof *formats;
    format = known ? intern_copy(&dump->module->names, plain, size) : W_ND;
    id_map_set(&dump->formats, name, format);
    if (size && !is_text(plain, size, "RESERVED") && (!known || colon))
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

/* -------------------------------------------------------------------------- numbers ---- */

static struct attr_value integer(int64_t i)
{
    return (struct attr_value){.kind = ATTR_INT, .i = i};
}

/* The shortest decimal form that the dtype rounds to the same bits; integers with all digits. */
static struct attr_value shortest(enum dtype dtype, double exact, uint64_t bits)
{
    struct attr_value number = {.kind = ATTR_FLOAT, .f = exact};
    char text[40];
    if (fabs(exact) < 1e6 && exact == trunc(exact))
        return number;
    for (int digits = 1; digits < 17 && isfinite(exact); digits++) {
        uint64_t rounded;
        snprintf(text, sizeof text, "%.*g", digits, exact);
        number.f = strtod(text, NULL);
        if (number_encode(dtype, &number, &rounded) == NUMBER_FITS && rounded == bits)
            return number;
    }
    number.f = exact;
    return number;
}

/* The number of an element's bits, as the text has it. False for NaNs other than the one that the
 * text has, and for what is no number. */
static bool decode(enum dtype dtype, uint64_t bits, struct attr_value *number)
{
    const struct dtype_info *info = dtype_info(dtype);
    struct float_format format;
    uint64_t again, mask = info->bits < 64 ? ((uint64_t)1 << info->bits) - 1 : UINT64_MAX;
    if (info->class == CLASS_FLOAT && dtype_float_format(dtype, &format)) {
        *number = shortest(dtype, float_decode(format, bits), bits);
    } else if (info->class == CLASS_SINT) {
        unsigned unused = 64 - info->bits;
        *number = integer((int64_t)(bits << unused) >> unused);
    } else if (info->class == CLASS_UINT && bits <= INT64_MAX) {
        *number = integer((int64_t)bits);
    } else if (info->class == CLASS_BOOL && bits <= 1) {
        *number = (struct attr_value){.kind = ATTR_BOOL, .i = (int64_t)bits};
    } else {
        return false;
    }
    return number_encode(dtype, number, &again) == NUMBER_FITS && (again & mask) == bits;
}

static bool decode_bytes(enum dtype dtype, const char *bytes, struct attr_value *number)
{
    unsigned size = dtype_info(dtype)->bits / 8;
    uint64_t bits = 0;
    for (unsigned i = 0; i < size; i++)
        bits |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
    return decode(dtype, bits, number);
}

static void set_list(struct dump *dump, const struct attr_value *numbers, uint32_t count,
                     struct attr_value *value)
{
    struct range range = module_add_values(dump->module, numbers, count);
    *value = (struct attr_value){.kind = ATTR_LIST, .count = range.count};
    value->first = count ? range.first : 0;
}

/* As numbers, unless there are more than `most` different ones. */
static bool say_bytes(struct dump *dump, enum dtype dtype, const char *bytes, size_t size,
                      size_t most, struct attr_value *value)
{
    VEC(struct attr_value) numbers = {NULL, 0, 0};
    size_t element = dtype_info(dtype)->bits / 8;
    if (element == 0 || size % element || dtype_info(dtype)->class == CLASS_HANDLE)
        return false;
    bool all_equal =
        size == element || (size > element && memcmp(bytes, bytes + element, size - element) == 0);
    if (all_equal)
        return decode_bytes(dtype, bytes, value);
    size_t count = size / element;
    bool known = count <= most;
    for (size_t i = 0; i < count && known; i++) {
        struct attr_value number;
        known = decode_bytes(dtype, bytes + i * element, &number);
        vec_push(&numbers, number);
    }
    if (known)
        set_list(dump, numbers.at, numbers.count, value);
    vec_free(&numbers);
    return known;
}

/* ---------------------------------------------------------------------------- files ---- */

static void set_file(struct dump *dump, uint32_t path, uint64_t offset, uint64_t bytes,
                     bool escaped, struct attr_value *value)
{
    struct attr attrs[4] = {{W_file, NONE, {.kind = ATTR_STRING, .id = path}}};
    uint32_t count = 1;
    if (offset)
        attrs[count++] = (struct attr){W_offset, NONE, integer((int64_t)offset)};
    if (bytes != NO_BYTES)
        attrs[count++] = (struct attr){W_bytes, NONE, integer((int64_t)bytes)};
    if (escaped)
        attrs[count++] = (struct attr){W_escaped, NONE, {.kind = ATTR_BOOL, .i = 1}};
    struct range range = module_add_attrs(dump->module, attrs, count);
    *value = (struct attr_value){.kind = ATTR_DICT, .count = range.count};
    value->first = range.first;
}

bool dump_contents_file(struct dump *dump, const char *path, size_t path_size, uint64_t offset,
                        uint64_t bytes, uint32_t loc, struct attr_value *value)
{
    bool fits = offset <= INT64_MAX && (bytes <= INT64_MAX || bytes == NO_BYTES);
    if (path_size == 0 || memchr(path, '\0', path_size) || !fits) {
        dump_lose(dump, loc,
                  "contents in a file that is not named, or whose place in it cannot be");
        return false;
    }
    set_file(dump, intern_copy(&dump->module->names, path, path_size), offset, bytes, false, value);
    return true;
}

/* ------------------------------------------------------------------------- contents ---- */

/* The dtype of a type that can have contents, and its elements. */
static bool take_type(struct dump *dump, uint32_t type, uint32_t loc, enum dtype *dtype,
                      uint64_t *elements)
{
    if (type == NONE || dump->module->types.at[type].dtype == DTYPE_UNKNOWN ||
        dump->module->types.at[type].rank == RANK_UNKNOWN ||
        !type_elements(dump->module, type, elements)) {
        dump_lose(dump, loc, "the contents of a constant whose type is not known");
        return false;
    }
    *dtype = dump->module->types.at[type].dtype;
    if (dtype_info(*dtype)->class != CLASS_HANDLE)
        return true;
    dump_lose(dump, loc, "the contents of a constant of dtype %s", dtype_info(*dtype)->name);
    return false;
}

/* Bytes of more elements stay where they are. */
enum { FEW_ELEMENTS = 64 };
/* Elements that a list gets which the dump does not write one by one, at most: it limits what a
 * short text can make skirc allocate. */
enum { MANY_ELEMENTS = 1 << 20 };

bool dump_contents_bytes(struct dump *dump, uint32_t type, const struct dump_bytes *bytes,
                         uint32_t loc, struct attr_value *value)
{
    enum dtype dtype;
    uint64_t elements, bits;
    if (!take_type(dump, type, loc, &dtype, &elements))
        return false;
    if (__builtin_mul_overflow(elements, (uint64_t)dtype_info(dtype)->bits, &bits) ||
        bits / 8 + (bits % 8 > 0) != bytes->size) {
        dump_lose(dump, loc, "contents of %zu bytes, which are not those of the constant's type",
                  bytes->size);
        return false;
    }
    bool is_pipe = strcmp(dump->source->path, "<stdin>") == 0;
    size_t most = is_pipe || bytes->literal == NONE ? MANY_ELEMENTS : FEW_ELEMENTS;
    if (say_bytes(dump, dtype, bytes->bytes, bytes->size, most, value))
        return true;
    if (is_pipe) {
        dump_lose(dump, loc, "contents of %zu bytes, which are in no file: the dump came by a pipe",
                  bytes->size);
        return false;
    }
    if (bytes->literal == NONE) {
        dump_lose(dump, loc, "contents of %zu bytes, which have no place of their own in the dump",
                  bytes->size);
        return false;
    }
    const char *slash = strrchr(dump->source->path, '/');
    set_file(dump, module_name(dump->module, slash ? slash + 1 : dump->source->path),
             bytes->literal + (uint64_t)bytes->plain, bytes->size, !bytes->plain, value);
    return true;
}

bool dump_contents_numbers(struct dump *dump, uint32_t type, const struct attr_value *numbers,
                           uint32_t count, bool repeats, uint32_t loc, struct attr_value *value)
{
    VEC(struct attr_value) list = {NULL, 0, 0};
    enum dtype dtype;
    uint64_t elements, bits;
    if (!take_type(dump, type, loc, &dtype, &elements))
        return false;
    /* The last of them may repeat one before it. */
    uint32_t needed = count;
    while (needed > 1 && numbers[needed - 1].kind == numbers[needed - 2].kind &&
           numbers[needed - 1].i == numbers[needed - 2].i)
        needed--;
    bool endless = needed > 1 && elements > count && elements - count > MANY_ELEMENTS && repeats;
    bool fits = (repeats ? count <= elements && (count > 0 || elements == 0) : count == elements) &&
                !endless;
    for (uint32_t i = 0; i < needed && fits; i++)
        fits = number_encode(dtype, &numbers[i], &bits) == NUMBER_FITS;
    if (!fits) {
        const char *why = endless ? "the last of which repeats too often to become a list"
                                  : "which are not those of its type";
        dump_lose(dump, loc, "%u number%s for a constant of %llu element%s, %s", count,
                  count == 1 ? "" : "s", (unsigned long long)elements, elements == 1 ? "" : "s",
                  why);
        return false;
    }
    if (needed == 1) {
        *value = numbers[0];
        return true;
    }
    for (uint32_t i = 0; i < elements; i++)
        vec_push(&list, numbers[i < count ? i : count - 1]);
    set_list(dump, list.at, list.count, value);
    vec_free(&list);
    return true;
}
