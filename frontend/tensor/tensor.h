/* Tensors of `skirc run`: what goes into a graph and what comes out. */
#ifndef FRONTEND_TENSOR_TENSOR_H
#define FRONTEND_TENSOR_TENSOR_H

#include "ir/contents.h"

enum { TENSOR_MAX_RANK = 8 };

/* Elements lie in row-major order without gaps; dtypes below 8 bits are not supported. */
struct tensor {
    enum dtype dtype;
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK];
    size_t size;         /* bytes */
    unsigned char *data; /* aligned to 64; never NULL, even where size is 0 */
    void *memory;        /* that `data` is in */
};

/* Zeroed. False, with a text in `error`, where the rank, dtype or size is not supported; there is
 * nothing to free then. */
bool tensor_init(struct tensor *tensor, enum dtype dtype, const int64_t *dims, uint32_t rank,
                 char *error, size_t error_size);
void tensor_free(struct tensor *tensor);

/* Fills by a SPEC of the command line:
 *   FILE.npy           a file whose shape and dtype must be the tensor's. A name without a slash
 *                      needs the suffix.
 *   rand:LO..HI[:SEED] uniform in [LO, HI) for floats, in [LO, HI] for integers and bool, and for
 *                      both parts of a complex number like for a float. Floats take the bounds as
 *                      the dtype rounds them; where those are the same, every element is LO. The
 *                      values depend on nothing but dtype, bounds and seed: `seed` without a SEED.
 *   normal[:SEED]      standard normal floats, which whole numbers and bool have none of
 *   arange[:START[:STEP]]  START (0), START + STEP (1), ... in row-major order, each rounded to the
 *                      dtype; integers begin again past their range, bool is refused
 *   a number           in every element, in the range of the dtype: also nan, inf, -inf for
 *                      floats, true and false for bool
 *   ones, zeros
 * False, with a text in `error`, where the SPEC is wrong or the file does not fit; the contents are
 * unspecified then. hif8 and f8e8m0 are refused: nothing can be made or read for them. */
bool tensor_fill(struct tensor *tensor, const char *spec, uint64_t seed, char *error,
                 size_t error_size);
/* Whether a SPEC is the name of a file. */
bool tensor_spec_is_file(const char *spec);
/* Fills by contents as a module has them, the one number of which fills all. They must fit, as the
 * verifier sees to. hif8 and f8e8m0 are refused. */
bool tensor_fill_numbers(struct tensor *tensor, const struct contents *contents, char *error,
                         size_t error_size);
/* Writes a .npy file (version 1.0, C order), atomically, or to standard output ("-"). */
bool tensor_write_npy(const struct tensor *tensor, const char *path, char *error,
                      size_t error_size);

/* The index of the first element whose bytes differ, or `*elements`, which is set to their number,
 * where there is none. The tensors have the same shape and dtype. */
uint64_t tensor_first_difference(const struct tensor *a, const struct tensor *b,
                                 uint64_t *elements);
/* One element as text, for messages: the shortest decimal number that reads back as the same, with
 * the bits of what is no number. */
void tensor_element_text(const struct tensor *tensor, uint64_t index, char *text, size_t size);
/* The multi-dimensional index of an element, and as text: "[1, 7]". */
void tensor_index(const struct tensor *tensor, uint64_t index, int64_t at[TENSOR_MAX_RANK]);
void tensor_index_text(const struct tensor *tensor, uint64_t index, char *text, size_t size);
/* A shape or index as text: "[1, 7]". */
void tensor_dims_text(const int64_t *dims, uint32_t rank, char *text, size_t size);

/* FRACTAL_NZ storage of the last two dimensions: C0 = 32 bytes of columns, 16 rows, zero-padded.
 * The size of the storage in bytes, and the conversion both ways (`storage` has that size). False
 * where the rank is below 2 or the size passes what memory can hold. */
bool tensor_nz_size(const struct tensor *nd, size_t *size);
void tensor_to_nz(const struct tensor *nd, unsigned char *storage);
void tensor_from_nz(struct tensor *nd, const unsigned char *storage);

#endif
