#include "frontend/tensor/tensor.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are kept, read and written as little-endian bytes");

enum { ALIGNMENT = 64, NZ_ROWS = 16, NZ_ROW_BYTES = 32 };

/* --------------------------------------------------------------------------- memory ---- */

static size_t item_size(const struct tensor *tensor)
{
    return dtype_info(tensor->dtype)->bits / 8;
}

/* False where the bytes pass what an object can have. */
static bool byte_size(const int64_t *dims, uint32_t rank, size_t item, size_t *size)
{
    *size = item;
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i] == 0) {
            *size = 0;
            return true;
        }
    for (uint32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(*size, dims[i], size))
            return false;
    return *size <= PTRDIFF_MAX - ALIGNMENT;
}

bool tensor_init(struct tensor *tensor, enum dtype dtype, const int64_t *dims, uint32_t rank,
                 char *error, size_t error_size)
{
    const struct dtype_info *info = dtype_info(dtype);
    *tensor = (struct tensor){.dtype = dtype, .rank = rank};
    if (rank > TENSOR_MAX_RANK)
        return message_fail(error, error_size,
                            "a tensor of %u dimensions; at most %d are supported", rank,
                            TENSOR_MAX_RANK);
    if (!info->host)
        return message_fail(error, error_size, "dtype %s is not supported", info->name);
    if (info->bits < 8)
        return message_fail(error, error_size,
                            "dtype %s has elements below a byte, which are not supported",
                            info->name);
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return message_fail(error, error_size, "dimension %u is not static", i);
        tensor->dims[i] = dims[i];
    }
    char shape[256];
    tensor_dims_text(dims, rank, shape, sizeof shape);
    if (!byte_size(dims, rank, info->bits / 8, &tensor->size))
        return message_fail(error, error_size, "a tensor %s of %s is too large", shape, info->name);
    tensor->memory = mem_try_calloc(1, tensor->size + ALIGNMENT);
    if (!tensor->memory)
        return message_fail(error, error_size, "no memory for a tensor %s of %s (%zu bytes)", shape,
                            info->name, tensor->size);
    uintptr_t misaligned = (uintptr_t)tensor->memory % ALIGNMENT;
    tensor->data = (unsigned char *)tensor->memory + (ALIGNMENT - misaligned);
    return true;
}

void tensor_free(struct tensor *tensor)
{
    mem_free(tensor->memory);
    *tensor = (struct tensor){.data = NULL};
}

/* ---------------------------------------------------------------------- differences ---- */

uint64_t tensor_first_difference(const struct tensor *a, const struct tensor *b, uint64_t *elements)
{
    assert(a->dtype == b->dtype && a->size == b->size);
    enum { CHUNK = 4096 }; /* a multiple of every item's size */
    size_t item = item_size(a), at = 0;
    *elements = a->size / item;
    for (; at < a->size; at += CHUNK)
        if (memcmp(a->data + at, b->data + at, a->size - at < CHUNK ? a->size - at : CHUNK) != 0)
            break;
    for (; at < a->size; at += item)
        if (memcmp(a->data + at, b->data + at, item) != 0)
            return at / item;
    return *elements;
}

/* ----------------------------------------------------------------------------- text ---- */

/* The shortest decimal number that is rounded to these bits; whole ones without an exponent where
 * that is below 10^16. */
static void float_text(struct float_format format, uint64_t bits, char *text, size_t size)
{
    double value = float_decode(format, bits);
    if (value != value) {
        snprintf(text, size, "nan(0x%llx)", (unsigned long long)bits);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (float_encode(format, strtod(text, NULL)) == bits)
            break;
    }
    if (strstr(text, "e+") && fabs(value) < 1e16)
        snprintf(text, size, "%.0f", value);
}

static void integer_text(const struct dtype_info *info, uint64_t bits, char *text, size_t size)
{
    unsigned unused = 64 - info->bits;
    if (info->class == CLASS_BOOL && bits <= 1)
        snprintf(text, size, "%s", bits ? "true" : "false");
    else if (info->class == CLASS_UINT)
        snprintf(text, size, "%llu", (unsigned long long)bits);
    else if (info->class == CLASS_SINT)
        snprintf(text, size, "%lld", (long long)((int64_t)(bits << unused) >> unused));
    else
        snprintf(text, size, "0x%02llx", (unsigned long long)bits);
}

void tensor_element_text(const struct tensor *tensor, uint64_t index, char *text, size_t size)
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    bool is_complex = info->class == CLASS_COMPLEX;
    size_t item = item_size(tensor), part = is_complex ? item / 2 : item;
    struct float_format format;
    uint64_t bits[2] = {0, 0};
    assert(index < tensor->size / item);
    for (size_t i = 0; i < item / part; i++)
        memcpy(&bits[i], tensor->data + index * item + i * part, part);
    if (!dtype_float_format(tensor->dtype, &format)) {
        integer_text(info, bits[0], text, size);
    } else if (!is_complex) {
        float_text(format, bits[0], text, size);
    } else {
        char parts[2][64];
        for (int i = 0; i < 2; i++)
            float_text(format, bits[i], parts[i], sizeof parts[i]);
        snprintf(text, size, "(%s, %s)", parts[0], parts[1]);
    }
}

void tensor_dims_text(const int64_t *dims, uint32_t rank, char *text, size_t size)
{
    char all[TENSOR_MAX_RANK * 22 + 8] = "[";
    size_t used = 1;
    for (uint32_t i = 0; i < rank && i < TENSOR_MAX_RANK; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)dims[i]);
    snprintf(all + used, sizeof all - used, "%s]", rank > TENSOR_MAX_RANK ? ", ..." : "");
    snprintf(text, size, "%s", all);
}

void tensor_index(const struct tensor *tensor, uint64_t index, int64_t at[TENSOR_MAX_RANK])
{
    assert(index < tensor->size / item_size(tensor));
    for (uint32_t i = tensor->rank; i > 0; i--) {
        at[i - 1] = (int64_t)(index % (uint64_t)tensor->dims[i - 1]);
        index /= (uint64_t)tensor->dims[i - 1];
    }
}

void tensor_index_text(const struct tensor *tensor, uint64_t index, char *text, size_t size)
{
    int64_t at[TENSOR_MAX_RANK];
    tensor_index(tensor, index, at);
    tensor_dims_text(at, tensor->rank, text, size);
}

/* ----------------------------------------------------------------------- FRACTAL_NZ ---- */

/* The matrices of a tensor: in FRACTAL_NZ, each is its column groups of NZ_ROW_BYTES one after the
 * other, and a group is its padded rows one after the other. */
struct matrices {
    size_t count, rows, row_bytes; /* as in row-major order */
    size_t padded_rows, groups;
};

/* False where the tensor has no matrices; `count` is 0 where they are empty. */
static bool tensor_matrices(const struct tensor *tensor, struct matrices *matrices)
{
    if (tensor->rank < 2)
        return false;
    *matrices = (struct matrices){.count = 0};
    if (tensor->size == 0)
        return true;
    size_t rows = (size_t)tensor->dims[tensor->rank - 2];
    size_t row_bytes = (size_t)tensor->dims[tensor->rank - 1] * item_size(tensor);
    matrices->rows = rows;
    matrices->row_bytes = row_bytes;
    matrices->count = tensor->size / rows / row_bytes;
    matrices->padded_rows = (rows + NZ_ROWS - 1) / NZ_ROWS * NZ_ROWS;
    matrices->groups = (row_bytes + NZ_ROW_BYTES - 1) / NZ_ROW_BYTES;
    return true;
}

bool tensor_nz_size(const struct tensor *nd, size_t *size)
{
    struct matrices matrices;
    if (!tensor_matrices(nd, &matrices))
        return false;
    *size = matrices.count;
    return matrices.count == 0 ||
           (!__builtin_mul_overflow(*size, matrices.padded_rows, size) &&
            !__builtin_mul_overflow(*size, matrices.groups, size) &&
            !__builtin_mul_overflow(*size, NZ_ROW_BYTES, size) && *size <= PTRDIFF_MAX);
}

/* Copies all parts of rows that are in one column group, from row-major order to the storage or
 * back. What is left of NZ_ROW_BYTES is padding. */
static void copy_matrices(const struct matrices *matrices, unsigned char *nd,
                          unsigned char *storage, bool to_storage)
{
    for (size_t i = 0; i < matrices->count; i++)
        for (size_t group = 0; group < matrices->groups; group++)
            for (size_t row = 0; row < matrices->rows; row++) {
                size_t column = group * NZ_ROW_BYTES, left = matrices->row_bytes - column;
                size_t size = left < NZ_ROW_BYTES ? left : NZ_ROW_BYTES;
                unsigned char *a = nd + (i * matrices->rows + row) * matrices->row_bytes + column;
                unsigned char *b =
                    storage +
                    ((i * matrices->groups + group) * matrices->padded_rows + row) * NZ_ROW_BYTES;
                memcpy(to_storage ? b : a, to_storage ? a : b, size);
            }
}

void tensor_to_nz(const struct tensor *nd, unsigned char *storage)
{
    struct matrices matrices;
    size_t size;
    if (!tensor_matrices(nd, &matrices) || !tensor_nz_size(nd, &size) || size == 0)
        return;
    memset(storage, 0, size);
    copy_matrices(&matrices, nd->data, storage, true);
}

void tensor_from_nz(struct tensor *nd, unsigned char *storage)
{
    struct matrices matrices;
    if (tensor_matrices(nd, &matrices))
        copy_matrices(&matrices, nd->data, storage, false);
}

/* The elements of a tensor. */
static uint64_t tensor_elements(const struct tensor *tensor)
{
    return tensor->size / (dtype_info(tensor->dtype)->bits / 8);
}

bool numbers_of(const struct tensor *tensor, struct numbers *numbers)
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    *numbers = (struct numbers){.tensor = tensor, .parts = info->class == CLASS_COMPLEX ? 2 : 1};
    numbers->part = info->bits / 8 / numbers->parts;
    numbers->is_float = dtype_float_format(tensor->dtype, &numbers->format);
    return numbers->is_float || info->class == CLASS_SINT || info->class == CLASS_UINT ||
           info->class == CLASS_BOOL;
}

static long double float_number(const struct numbers *numbers, const unsigned char *at)
{
    uint64_t bits = 0;
    if (numbers->tensor->dtype == DTYPE_f32) {
        float single;
        memcpy(&single, at, sizeof single);
        return single;
    }
    memcpy(&bits, at, numbers->part);
    return float_decode(numbers->format, bits);
}

/* A part of an element: the real one is 0, the imaginary one 1. */
static long double number_at(const struct numbers *numbers, uint64_t index, unsigned part)
{
    const struct dtype_info *info = dtype_info(numbers->tensor->dtype);
    const unsigned char *at =
        numbers->tensor->data + (index * numbers->parts + part) * numbers->part;
    uint64_t bits = 0;
    unsigned unused = 64 - (unsigned)numbers->part * 8;
    assert(part < numbers->parts);
    if (numbers->is_float)
        return float_number(numbers, at);
    memcpy(&bits, at, numbers->part);
    if (info->class == CLASS_SINT)
        return (long double)((int64_t)(bits << unused) >> unused);
    return (long double)bits;
}

enum { INDENT = 2, NUMBER_SIZE = 80 };

/* -------------------------------------------------------------------------- summary ---- */

static void add_element(struct summary *summary, const struct numbers *numbers, uint64_t index)
{
    bool is_nan = false, is_infinite = false;
    long double parts[2] = {0, 0};
    for (unsigned i = 0; i < numbers->parts; i++) {
        parts[i] = number_at(numbers, index, i);
        is_nan = is_nan || isnan(parts[i]);
        is_infinite = is_infinite || isinf(parts[i]);
    }
    summary->nans += is_nan;
    summary->infinities += is_infinite && !is_nan;
    if (is_nan || is_infinite)
        return;
    if (summary->count == 0 || parts[0] < summary->low)
        summary->low = parts[0];
    if (summary->count == 0 || parts[0] > summary->high)
        summary->high = parts[0];
    summary->count++;
    summary->sum[0] += (double)parts[0];
    summary->sum[1] += (double)parts[1];
}

bool tensor_summarise(const struct tensor *tensor, struct summary *summary)
{
    struct numbers numbers;
    *summary = (struct summary){.count = 0};
    if (!numbers_of(tensor, &numbers))
        return false;
    for (uint64_t i = 0; i < tensor_elements(tensor); i++)
        add_element(summary, &numbers, i);
    return true;
}

void tensor_print_summary(const struct tensor *tensor, struct text *text)
{
    struct numbers numbers;
    struct summary summary;
    if (!numbers_of(tensor, &numbers) || !tensor_summarise(tensor, &summary))
        return;
    double count = (double)summary.count;
    if (summary.count && numbers.parts == 2)
        text_printf(text, "  mean (%.6g, %.6g)", summary.sum[0] / count, summary.sum[1] / count);
    else if (summary.count)
        text_printf(text,
                    numbers.is_float ? "  min %.6Lg  max %.6Lg  mean %.6g"
                                     : "  min %.0Lf  max %.0Lf  mean %.6g",
                    summary.low, summary.high, summary.sum[0] / count);
    if (numbers.is_float)
        text_printf(text, "  nan %llu  inf %llu", (unsigned long long)summary.nans,
                    (unsigned long long)summary.infinities);
}

/* ------------------------------------------------------------------------- elements ---- */

struct printing {
    const struct tensor *tensor;
    struct numbers numbers;
    bool has_numbers;
    struct text *text;
    unsigned width; /* of the widest element so far */
};

static void element_text(const struct printing *printing, uint64_t index, char text[NUMBER_SIZE])
{
    const struct numbers *numbers = &printing->numbers;
    if (!printing->has_numbers || !numbers->is_float)
        tensor_element_text(printing->tensor, index, text, NUMBER_SIZE);
    else if (numbers->parts == 1)
        snprintf(text, NUMBER_SIZE, "%.6Lg", number_at(numbers, index, 0));
    else
        snprintf(text, NUMBER_SIZE, "(%.6Lg, %.6Lg)", number_at(numbers, index, 0),
                 number_at(numbers, index, 1));
}

/* How many of a dimension's elements are shown at each end; 0: all are. */
static int64_t shown(const struct tensor *tensor, uint32_t axis)
{
    bool inner = axis + 2 >= tensor->rank;
    return tensor->dims[axis] <= (inner ? 8 : 2) ? 0 : inner ? 3 : 1;
}

/* The index after `i` that is shown; `*gap` where some in between are not. */
static int64_t next_shown(const struct tensor *tensor, uint32_t axis, int64_t i, bool *gap)
{
    int64_t ends = shown(tensor, axis);
    *gap = ends > 0 && i + 1 == ends;
    return *gap ? tensor->dims[axis] - ends : i + 1;
}

/* Before an element that is not the first: NumPy leaves one blank line less than the dimensions
 * that end there. */
static void separate(struct printing *printing, uint32_t axis)
{
    uint32_t rank = printing->tensor->rank;
    if (axis + 1 == rank) {
        text_char(printing->text, ' ');
        return;
    }
    for (uint32_t i = axis + 1; i < rank; i++)
        text_char(printing->text, '\n');
    text_printf(printing->text, "%*s", (int)(INDENT + axis + 1), "");
}

static void print_axis(struct printing *printing, uint32_t axis, uint64_t index)
{
    const struct tensor *tensor = printing->tensor;
    char text[NUMBER_SIZE];
    bool gap;
    if (axis == tensor->rank) {
        element_text(printing, index, text);
        unsigned size = (unsigned)strlen(text);
        printing->width = size > printing->width ? size : printing->width;
        text_printf(printing->text, "%*s", (int)printing->width, text);
        return;
    }
    text_char(printing->text, '[');
    for (int64_t i = 0; i < tensor->dims[axis];) {
        print_axis(printing, axis + 1, index * (uint64_t)tensor->dims[axis] + (uint64_t)i);
        i = next_shown(tensor, axis, i, &gap);
        if (gap) {
            separate(printing, axis);
            text_printf(printing->text, "...");
        }
        if (i < tensor->dims[axis])
            separate(printing, axis);
    }
    text_char(printing->text, ']');
}

void tensor_print_elements(const struct tensor *tensor, struct text *text)
{
    struct text measured = {NULL, 0, 0};
    struct printing printing = {.tensor = tensor, .text = &measured};
    printing.has_numbers = numbers_of(tensor, &printing.numbers);
    print_axis(&printing, 0, 0); /* the widest element is known after it */
    text_free(&measured);
    printing.text = text;
    text_printf(text, "%*s", INDENT, "");
    print_axis(&printing, 0, 0);
    text_char(text, '\n');
}

/* ------------------------------------------------------------------------ comparison ---- */

struct matcher {
    const struct tensor *found, *expected;
    struct numbers a, b; /* of these */
    bool has_numbers;
    const struct tolerance *tolerance;
};

/* Numbers that are rounded to what was found are the same bits; ints are the same numbers. */
static bool same_part(const struct matcher *matcher, uint64_t i, unsigned part)
{
    const struct numbers *a = &matcher->a;
    long double found = number_at(a, i, part), expected = number_at(&matcher->b, i, part);
    if (!a->is_float)
        return found == expected;
    uint64_t bits = 0;
    memcpy(&bits, a->tensor->data + (i * a->parts + part) * a->part, a->part);
    return bits == float_encode(a->format, (double)expected) || (isnan(found) && isnan(expected));
}

static bool same_element(const struct matcher *matcher, uint64_t i)
{
    size_t item = dtype_info(matcher->found->dtype)->bits / 8;
    if (matcher->found->dtype == matcher->expected->dtype &&
        memcmp(matcher->found->data + i * item, matcher->expected->data + i * item, item) == 0)
        return true;
    for (unsigned part = 0; matcher->has_numbers && part < matcher->a.parts; part++)
        if (!same_part(matcher, i, part))
            return false;
    return matcher->has_numbers;
}

static bool element_matches(const struct matcher *matcher, uint64_t i, struct match *match)
{
    const struct tolerance *tolerance = matcher->tolerance;
    long double a[2] = {0, 0}, b[2] = {0, 0}, magnitude = 0, error = 0;
    bool nan_a = false, nan_b = false, finite = true, equal = true;
    if (!matcher->has_numbers)
        return same_element(matcher, i);
    for (unsigned part = 0; part < matcher->a.parts; part++) {
        a[part] = number_at(&matcher->a, i, part);
        b[part] = number_at(&matcher->b, i, part);
        nan_a |= isnan(a[part]);
        nan_b |= isnan(b[part]);
        finite &= isfinite(a[part]) && isfinite(b[part]);
        equal &= a[part] == b[part];
    }
    if (finite) {
        bool is_complex = matcher->a.parts == 2;
        magnitude = is_complex ? hypotl(b[0], b[1]) : fabsl(b[0]);
        error = is_complex ? hypotl(a[0] - b[0], a[1] - b[1]) : fabsl(a[0] - b[0]);
        if ((double)error > match->largest_absolute) {
            match->largest_absolute = (double)error;
            match->at_absolute = i;
        }
        if ((double)magnitude > 0 && (double)error / (double)magnitude > match->largest_relative) {
            match->largest_relative = (double)error / (double)magnitude;
            match->at_relative = i;
        }
    }
    if (tolerance->exact)
        return same_element(matcher, i);
    if (!finite)
        return nan_a || nan_b ? nan_a && nan_b : equal;
    return error <= tolerance->absolute + tolerance->relative * magnitude;
}

bool tensor_match(const struct tensor *found, const struct tensor *expected,
                  const struct tolerance *tolerance, struct match *match, char *error,
                  size_t error_size)
{
    struct matcher matcher = {.found = found, .expected = expected, .tolerance = tolerance};
    bool known = numbers_of(found, &matcher.a);
    matcher.has_numbers = numbers_of(expected, &matcher.b) && known;
    *match = (struct match){.elements = tensor_elements(found)};
    assert(match->elements == tensor_elements(expected));
    if (!matcher.has_numbers && found->dtype != expected->dtype)
        return message_fail(error, error_size, "the numbers of dtype %s are not known",
                            dtype_info(found->dtype)->name);
    if (found->dtype == expected->dtype && memcmp(found->data, expected->data, found->size) == 0)
        return true;
    for (uint64_t i = 0; i < match->elements; i++) {
        if (element_matches(&matcher, i, match))
            continue;
        if (match->different++ == 0)
            match->first = i;
    }
    return true;
}

/* ----------------------------------------------------------------------------- text ---- */

void tensor_match_text(const struct tensor *found, const struct tensor *expected,
                       const struct match *match, struct text *text)
{
    char index[256], left[128], right[128];
    if (match->different > 0) {
        tensor_index_text(found, match->first, index, sizeof index);
        tensor_element_text(found, match->first, left, sizeof left);
        tensor_element_text(expected, match->first, right, sizeof right);
        text_printf(text, "%llu of %llu element%s differ%s, first %s: %s, expected %s",
                    (unsigned long long)match->different, (unsigned long long)match->elements,
                    match->elements == 1 ? "" : "s", match->different == 1 ? "s" : "", index, left,
                    right);
    }
    if (match->largest_absolute > 0) {
        tensor_index_text(found, match->at_absolute, index, sizeof index);
        text_printf(text, "%slargest error %.3g at %s", match->different ? "; " : "",
                    match->largest_absolute, index);
    }
    if (match->largest_relative > 0) {
        tensor_index_text(found, match->at_relative, index, sizeof index);
        text_printf(text, ", relative %.3g at %s", match->largest_relative, index);
    }
}
