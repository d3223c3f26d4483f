/* Types as dumps have them. */
#ifndef FRONTEND_IMPORT_DUMP_TYPES_H
#define FRONTEND_IMPORT_DUMP_TYPES_H

#include "frontend/import/dump/dump.h"

/* The domain in which ONNX models have ops of GE. */
#define ONNX_GE_DOMAIN "ge"

/* A row of dtypes.def. */
struct dump_dtype {
    unsigned dtype; /* enum dtype or DTYPE_UNKNOWN */
    const char *ge, *tf;
    int16_t numbers[4]; /* by enum dump_numbers */
};

extern const struct dump_dtype dump_dtypes[];
extern const unsigned dump_n_dtypes;

enum dump_numbers { DUMP_GE_PROTO, DUMP_GE, DUMP_ONNX, DUMP_TF };

/* The dtype of a name of GE or TensorFlow: an enum dtype or DTYPE_UNKNOWN. That it is none of
 * skir's, or none at all, is a remark at `loc`, the first time; of what says that nothing is known
 * (DT_UNDEFINED) there is none. */
unsigned dump_dtype_named(struct dump *dump, const char *text, size_t size, uint32_t loc);
/* The same of a number. */
unsigned dump_dtype_numbered(struct dump *dump, enum dump_numbers numbers, int64_t number,
                             uint32_t loc);

/* The row that a writer takes for a dtype. */
const struct dump_dtype *dump_dtype_row(unsigned dtype);

/* The format, a name id, of GE's name for it, with or without "FORMAT_" before it. What skir has
 * none for is ND, and where it says anything a remark at `loc`, the first time. */
uint32_t dump_format(struct dump *dump, const char *text, size_t size, uint32_t loc);

/* A shape that is being read. Zero-initialised is that of a scalar. */
struct dump_shape {
    int64_t dims[MAX_RANK];
    uint32_t rank; /* or RANK_UNKNOWN; MAX_RANK + 1 where there are too many dimensions */
};

/* A dimension as modules have it. */
static inline void dump_shape_add(struct dump_shape *shape, int64_t dim)
{
    if (shape->rank < MAX_RANK)
        shape->dims[shape->rank] = dim;
    if (shape->rank <= MAX_RANK)
        shape->rank++;
}

/* A number: below 0 it is not known. */
static inline void dump_shape_add_number(struct dump_shape *shape, int64_t dim)
{
    dump_shape_add(shape, dim < 0 ? DIM_UNKNOWN : dim);
}

/* A number of GE's, where -2 says that not even the rank is known. */
static inline void dump_shape_add_ge(struct dump_shape *shape, int64_t dim)
{
    if (dim == -2)
        shape->rank = RANK_UNKNOWN;
    else
        dump_shape_add_number(shape, dim);
}

/* The id of a type. More dimensions than a type can have are a remark at `loc`: its rank is not
 * known then. */
uint32_t dump_type(struct dump *dump, unsigned dtype, uint32_t format,
                   const struct dump_shape *shape, uint32_t loc);
/* That of which nothing is known. */
uint32_t dump_no_type(struct dump *dump);

/* Contents of constants, as dumps have them: what the attribute `value` of their ops says. Numbers
 * become a list, and one number where all are equal. Bytes do so where they are few, or where the
 * module cannot refer to them; others stay where they are, in the dump or in the file that it
 * names. False, with a remark at `loc`, where contents have no form. */

/* The memory of a tensor. */
struct dump_bytes {
    const char *bytes;
    size_t size;
    uint32_t literal; /* the place in the dump of the quote before them; NONE: they stand there in
                       * no string of their own */
    bool plain;       /* this string is one literal without escapes */
};

bool dump_contents_bytes(struct dump *dump, uint32_t type, const struct dump_bytes *bytes,
                         uint32_t loc, struct attr_value *value);

/* INT, FLOAT and BOOL. Where there are fewer than the tensor has elements, the last may be repeated
 * (`repeats`). */
bool dump_contents_numbers(struct dump *dump, uint32_t type, const struct attr_value *numbers,
                           uint32_t count, bool repeats, uint32_t loc, struct attr_value *value);

/* A part of a file: `bytes` may be NO_BYTES, those of the tensor. */
bool dump_contents_file(struct dump *dump, const char *path, size_t path_size, uint64_t offset,
                        uint64_t bytes, uint32_t loc, struct attr_value *value);

#endif
