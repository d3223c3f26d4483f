/* The .npy format of NumPy, versions 1.0, 2.0 and 3.0: a magic number, a version, the length of the
 * header, the header, which is a Python dictionary, and the elements.
 *
 * Supported are arrays in C order of little-endian items that a dtype has the type code of. bf16,
 * which NumPy has no type for, is raw two-byte items (V2); u2 is read as bf16 as well.
 */
#ifndef FRONTEND_TENSOR_NPY_H
#define FRONTEND_TENSOR_NPY_H

#include "frontend/tensor/tensor.h"

struct npy_header {
    char descr[24]; /* type of an item, such as "<f4"; printable */
    bool fortran_order;
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK];
    size_t size; /* bytes before the first element */
};

/* Reads the header of a file's bytes. False, with a text in `error`, where it is none that is
 * supported. The bytes may be hostile. */
bool npy_parse(struct npy_header *header, const void *bytes, size_t size, char *error,
               size_t error_size);

/* Whether bytes begin as such a file does, as far as there are some: four at least. */
bool npy_begins(const void *bytes, size_t size);

/* Fills a tensor from a file's bytes, whose shape and dtype must be the tensor's. */
bool npy_load(struct tensor *tensor, const void *bytes, size_t size, char *error,
              size_t error_size);

/* Fills a tensor from a regular file. Files that are much larger than the tensor are not read. */
bool npy_read(struct tensor *tensor, const char *path, char *error, size_t error_size);

/* Whether a file may be such a one, or raw bytes: false, with a text in `error`, where its name or
 * its first bytes are those of another kind (ir/analysis/contents.h). */
bool npy_refuse_other(const char *path, char *error, size_t error_size);

/* Reads the header of a regular file; false, with a text in `error`, where there is none that is
 * supported. */
bool npy_read_header(struct npy_header *header, const char *path, char *error, size_t error_size);

/* The dtype of a file's array: the first that has its type code, where there are several. False
 * where the file is none that is supported; npy_read says why. */
bool npy_dtype(const char *path, enum dtype *dtype);

#endif
