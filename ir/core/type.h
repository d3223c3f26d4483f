/* Types of values: element type, format and dimensions. They are ids of a module, where equal types
 * have one id. */
#ifndef IR_CORE_TYPE_H
#define IR_CORE_TYPE_H

#include "ir/support/check.h"
#include "ir/support/ids.h"

#include <stdbool.h>
#include <stdint.h>

struct module;

enum dtype {
#define DTYPE(name, ...) DTYPE_##name,
#include "ir/core/dtypes.def"
#undef DTYPE
    DTYPE_COUNT
};

enum dtype_class { CLASS_FLOAT, CLASS_SINT, CLASS_UINT, CLASS_BOOL, CLASS_COMPLEX, CLASS_HANDLE };

struct dtype_info {
    const char *name;
    unsigned bits;
    enum dtype_class class;
    const char *npy;
    bool host;
};
const struct dtype_info *dtype_info(enum dtype dtype);

/* The element type of a token, which is no tensor: an op's last result may be one, to be named by
 * `after`. It has no dimensions, no memory and no slot. */
#define DTYPE_TOKEN DTYPE_COUNT

/* `?`, an element type that is not known, which fits any. Its dtype_info has no bits and the class
 * of what is no number. */
#define DTYPE_UNKNOWN (DTYPE_COUNT + 1)

/* Dimensions are >= 0, DIM_UNKNOWN (`?`), or depend on names that a graph declares, by `dims` or
 * as gears: DIM_GEAR and the id of their normal text (ir/shapes/dims.h), which for one name is
 * the name. */
#define DIM_UNKNOWN ((int64_t)-1)
#define DIM_GEAR (INT64_MIN)

static inline bool dim_is_gear(int64_t dim)
{
    return dim < DIM_UNKNOWN;
}

static inline uint32_t dim_gear(int64_t dim)
{
    assert(dim_is_gear(dim));
    return (uint32_t)(dim - DIM_GEAR);
}

enum { MAX_RANK = 64 };

/* `[..]`: the number of dimensions is not known, nor is any of them. */
#define RANK_UNKNOWN UINT32_MAX

struct type {
    enum dtype dtype;
    uint32_t format; /* name id */
    uint32_t rank;   /* or RANK_UNKNOWN */
    uint32_t dims;   /* first of `rank` in module.dims */
};

/* How many dimensions can be looked at: none where the rank is not known. */
static inline uint32_t type_n_dims(const struct type *type)
{
    return type->rank == RANK_UNKNOWN ? 0 : type->rank;
}

/* The id of a type; `dims` are copied. With RANK_UNKNOWN they may be NULL. */
uint32_t module_type(struct module *module, enum dtype dtype, uint32_t format, const int64_t *dims,
                     uint32_t rank);
/* The id of the type of tokens. */
uint32_t module_token(struct module *module);
const int64_t *type_dims(const struct module *module, uint32_t type);
/* Number of elements. False where the rank is not known, a dimension is not static or the product
 * passes 2^62. */
bool type_elements(const struct module *module, uint32_t type, uint64_t *elements);
/* Whether dtype, rank and format of two types agree: each is equal or not known of one. A type of
 * which neither dtype nor rank is known says nothing of the format where it is ND. */
bool type_kinds_agree(const struct type *a, const struct type *b);

/* Whether the elements of a tensor of the format stand in memory in some order of its dimensions,
 * and nothing else does. */
bool format_is_plain(const struct module *module, uint32_t format);
/* Whether tensors of the format are to the host what those of ND are: ND, NCHW and the like. */
bool format_is_row_major(const struct module *module, uint32_t format);

#endif
