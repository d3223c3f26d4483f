/* The FRACTAL_NZ layout of a matrix [rows, columns].
 *
 * Storage is [ceil(columns / C0)][ceil(rows / 16)][16][C0] with C0 = 32 bytes of elements; what
 * lies outside the matrix is zero. Because the 16 rows of a fractal follow one another, and so do
 * the fractals of one column group, a group is a plain row-major matrix of C0 columns whose rows
 * are padded to a multiple of 16.
 */
#ifndef BACKEND_KERNELS_NZ_H
#define BACKEND_KERNELS_NZ_H

#include <stdint.h>

enum { NZ_ROWS = 16, NZ_ROW_BYTES = 32 };

/* Columns of a group for an element size of 1, 2, 4 or 8 bytes. */
static inline int64_t nz_group_columns(int64_t element_size)
{
    return NZ_ROW_BYTES / element_size;
}

static inline int64_t nz_padded_rows(int64_t rows)
{
    return (rows + NZ_ROWS - 1) / NZ_ROWS * NZ_ROWS;
}

/* Elements from one column group to the next. */
static inline int64_t nz_group_stride(int64_t rows, int64_t element_size)
{
    return nz_padded_rows(rows) * nz_group_columns(element_size);
}

/* Elements of the whole matrix, padding included. */
static inline int64_t nz_elements(int64_t rows, int64_t columns, int64_t element_size)
{
    int64_t c0 = nz_group_columns(element_size);
    return (columns + c0 - 1) / c0 * nz_group_stride(rows, element_size);
}

/* Index of element (row, column) in a matrix of `rows` rows. */
static inline int64_t nz_offset(int64_t rows, int64_t element_size, int64_t row, int64_t column)
{
    int64_t c0 = nz_group_columns(element_size);
    return column / c0 * nz_group_stride(rows, element_size) + row * c0 + column % c0;
}

#endif
