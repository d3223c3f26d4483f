/* Tensors of `skirc run`: what goes into a graph and what comes out. */
#ifndef FRONTEND_TENSOR_H
#define FRONTEND_TENSOR_H

#include "ir/module.h"

/* Elements lie in row-major order without gaps; dtypes below 8 bits are not supported. */
struct tensor {
    enum dtype dtype;
    uint32_t rank;
    int64_t dims[8];
    size_t size; /* bytes */
    unsigned char *data; /* owned; aligned to 64 */
};

/* Zeroed. False, with a text in `error`, where the rank, dtype or size is not supported. */
bool tensor_init(struct tensor *tensor, enum dtype dtype, const int64_t *dims, uint32_t rank,
                 char *error, size_t error_size);
void tensor_free(struct tensor *tensor);

/* Fills by a SPEC of the command line: `FILE.npy` (whose shape and dtype must be the tensor's),
 * `rand:LO..HI[:SEED]`, `ones`, `zeros`. `seed` is that of a rand without one. */
bool tensor_fill(struct tensor *tensor, const char *spec, uint64_t seed, char *error,
                 size_t error_size);
/* Writes a .npy file (version 1.0 or 2.0, C order), atomically. */
bool tensor_write_npy(const struct tensor *tensor, const char *path, char *error,
                      size_t error_size);

/* The index of the first element whose bytes differ, or `elements` where there is none. */
uint64_t tensor_first_difference(const struct tensor *a, const struct tensor *b,
                                 uint64_t *elements);
/* One element as text, for messages. */
void tensor_element_text(const struct tensor *tensor, uint64_t index, char *text, size_t size);
/* The multi-dimensional index of an element as text: "[1, 7]". */
void tensor_index_text(const struct tensor *tensor, uint64_t index, char *text, size_t size);

/* FRACTAL_NZ storage of the last two dimensions: C0 = 32 bytes of columns, 16 rows, zero-padded. The
 * size of the storage in bytes, and the conversion both ways (`storage` has that size). */
bool tensor_nz_size(const struct tensor *nd, size_t *size);
void tensor_to_nz(const struct tensor *nd, unsigned char *storage);
void tensor_from_nz(struct tensor *nd, const unsigned char *storage);

#endif
