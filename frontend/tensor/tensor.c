#include "frontend/tensor/tensor.h"
#include "ir/base/message.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

/* Where the part of a row that lies in a column group is, in both layouts. */
struct nz_piece {
    size_t nd, nz, size; /* offsets and size in bytes; the rest of NZ_ROW_BYTES is padding */
};

static struct nz_piece nz_piece(const struct matrices *matrices, size_t matrix, size_t group,
                                size_t row)
{
    size_t column = group * NZ_ROW_BYTES, left = matrices->row_bytes - column;
    return (struct nz_piece){
        .nd = (matrix * matrices->rows + row) * matrices->row_bytes + column,
        .nz = ((matrix * matrices->groups + group) * matrices->padded_rows + row) * NZ_ROW_BYTES,
        .size = left < NZ_ROW_BYTES ? left : NZ_ROW_BYTES,
    };
}

void tensor_to_nz(const struct tensor *nd, unsigned char *storage)
{
    struct matrices matrices;
    size_t size;
    if (!tensor_matrices(nd, &matrices) || !tensor_nz_size(nd, &size) || size == 0)
        return;
    memset(storage, 0, size);
    for (size_t i = 0; i < matrices.count; i++)
        for (size_t group = 0; group < matrices.groups; group++)
            for (size_t row = 0; row < matrices.rows; row++) {
                struct nz_piece piece = nz_piece(&matrices, i, group, row);
                memcpy(storage + piece.nz, nd->data + piece.nd, piece.size);
            }
}

void tensor_from_nz(struct tensor *nd, const unsigned char *storage)
{
    struct matrices matrices;
    if (!tensor_matrices(nd, &matrices))
        return;
    for (size_t i = 0; i < matrices.count; i++)
        for (size_t row = 0; row < matrices.rows; row++)
            for (size_t group = 0; group < matrices.groups; group++) {
                struct nz_piece piece = nz_piece(&matrices, i, group, row);
                memcpy(nd->data + piece.nd, storage + piece.nz, piece.size);
            }
}
