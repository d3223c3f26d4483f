/* What the sample sub-kernels share: parameters, the split of work over blocks, and access to
 * tensor elements in chunks of one compute type (f32 or i64).
 *
 * Everything here is static: an object of a sub-kernel defines no symbol but its functions.
 *
 * A kernel relies on what sample_op_check() has checked: data types, ranks, dimensions and
 * attributes. It checks what that cannot see: numbers that operands hold when the kernel runs. With
 * numbers that do not fit it leaves its results alone; it never touches memory outside the tensors.
 */
#ifndef BACKEND_KERNELS_KERNEL_H
#define BACKEND_KERNELS_KERNEL_H

#include <string.h>

#include "backend/kernels/float16.h"
#include "backend/runtime/skrt.h"

/* A source is compiled for each of its kernels, with SAMPLE defined as the kernel's name: SAMPLE is
 * then its function, and SAMPLE_OWN(_f32) what the source calls `NAME_f32`. What only some of the
 * kernels need is SAMPLE_SOME. */
#define SAMPLE_JOIN_EXPANDED(name, suffix) name##suffix
#define SAMPLE_JOIN(name, suffix) SAMPLE_JOIN_EXPANDED(name, suffix)
#define SAMPLE_OWN(suffix) SAMPLE_JOIN(SAMPLE, suffix)
#define SAMPLE_SOME __attribute__((unused)) static

/* Elements of a chunk: small enough for a core's stack and the first-level cache. */
enum { KERNEL_CHUNK = 256 };

/* The parameters of one call: tensors in order, an optional workspace, the tiling. */
struct kernel {
    const uint64_t *slots;
    const struct skrt_tiling *tiling;
    const struct skrt_tensor *tensors;
};

struct kernel_range {
    int64_t begin, end;
};

/* Fails if the tiling does not describe `n_tensors` tensors. */
static inline bool kernel_open(struct kernel *kernel, const skrt_core *core, uint64_t args_offset,
                               unsigned n_tensors, bool workspace)
{
    kernel->slots = skrt_args(core, args_offset);
    kernel->tiling = (const struct skrt_tiling *)(uintptr_t)kernel->slots[n_tensors + workspace];
    if (kernel->tiling == NULL || kernel->tiling->n_tensors != n_tensors)
        return false;
    kernel->tensors = kernel->tiling->tensors;
    return true;
}

/* The same for a kernel whose op has any number of results: the tiling is behind the operands, and
 * the results behind that. */
static inline bool kernel_open_results(struct kernel *kernel, const skrt_core *core,
                                       uint64_t args_offset, unsigned operands)
{
    kernel->slots = skrt_args(core, args_offset);
    kernel->tiling = (const struct skrt_tiling *)(uintptr_t)kernel->slots[operands];
    if (kernel->tiling == NULL || kernel->tiling->n_tensors <= operands)
        return false;
    kernel->tensors = kernel->tiling->tensors;
    return true;
}

/* The n-th result of such a kernel. */
static inline void *kernel_result(const struct kernel *kernel, unsigned operands, uint32_t n)
{
    return (void *)(uintptr_t)kernel->slots[operands + 1 + n];
}

static inline void *kernel_slot(const struct kernel *kernel, unsigned slot)
{
    return (void *)(uintptr_t)kernel->slots[slot];
}

/* The address of the n-th tensor of a slot's list. */
static inline void *kernel_listed(const struct kernel *kernel, unsigned slot, uint32_t n)
{
    return skrt_list_address((const uint64_t *)kernel_slot(kernel, slot), n);
}

static inline const struct skrt_attr *kernel_attr(const struct kernel *kernel, const char *key)
{
    for (uint32_t i = 0; i < kernel->tiling->n_attrs; i++)
        if (strncmp(kernel->tiling->attrs[i].key, key, SKRT_ATTR_KEY) == 0)
            return &kernel->tiling->attrs[i];
    return NULL;
}

/* An attribute that is an integer. */
static inline int64_t kernel_int(const struct kernel *kernel, const char *key, int64_t otherwise)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    return attr != NULL ? attr->i : otherwise;
}

static inline float kernel_float(const struct kernel *kernel, const char *key, double otherwise)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    return (float)(attr != NULL ? attr->f : otherwise);
}

static inline bool kernel_flag(const struct kernel *kernel, const char *key, bool otherwise)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    return attr != NULL ? attr->i != 0 : otherwise;
}

static inline const char *kernel_text(const struct kernel *kernel, const char *key,
                                      const char *otherwise)
{
    const struct skrt_attr *attr = kernel_attr(kernel, key);
    return attr != NULL && attr->text != NULL ? attr->text : otherwise;
}

/* Product of the dimensions from `first` up to, not including, `last`. */
static inline int64_t kernel_product(const struct skrt_tensor *tensor, uint32_t first,
                                     uint32_t last)
{
    int64_t product = 1;
    for (uint32_t i = first; i < last; i++)
        product *= tensor->dims[i];
    return product;
}

static inline int64_t kernel_elements(const struct skrt_tensor *tensor)
{
    return kernel_product(tensor, 0, tensor->rank);
}

static inline bool kernel_same_dims(const struct skrt_tensor *a, const struct skrt_tensor *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

/* An axis that may count from the end; false if a tensor of this rank has none such. */
static inline bool kernel_axis(int64_t axis, uint32_t rank, uint32_t *found)
{
    axis += axis < 0 ? rank : 0;
    *found = (uint32_t)axis;
    return axis >= 0 && axis < rank;
}

/* The part of [0, total) that belongs to `part` of `parts`; parts differ by one at most. */
static inline struct kernel_range kernel_split(int64_t total, uint32_t part, uint32_t parts)
{
    int64_t quotient = total / parts, remainder = total % parts;
    int64_t begin = part * quotient + (part < remainder ? part : remainder);
    return (struct kernel_range){begin, begin + quotient + (part < remainder)};
}

static inline struct kernel_range kernel_block_range(const skrt_core *core, int64_t total)
{
    return kernel_split(total, skrt_block_idx(core), skrt_block_num(core));
}

static inline int64_t kernel_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A part of one of the rows that a tensor is taken for. */
struct kernel_row {
    int64_t n;          /* which one it is */
    int64_t begin, end; /* elements of it */
};

/* Takes what belongs to the first row off a range of elements; false where none are left. */
static inline bool kernel_next_row(struct kernel_range *left, int64_t length,
                                   struct kernel_row *row)
{
    if (left->begin >= left->end)
        return false;
    int64_t n = left->begin / length, end = kernel_min(left->end, (n + 1) * length);
    *row = (struct kernel_row){n, left->begin - n * length, end - n * length};
    left->begin = end;
    return true;
}

static inline bool kernel_is_float(uint32_t dtype)
{
    return dtype == SKRT_f32 || dtype == SKRT_f16 || dtype == SKRT_bf16;
}

/* What elements are computed as: f16 and bf16 in f32, integers and bool in 64 bits. */
enum kernel_class { KERNEL_f32, KERNEL_f64, KERNEL_i64, KERNEL_u64 };

/* X(class, C type) for each of them. */
#define KERNEL_FLOATS(X) X(f32, float) X(f64, double)
#define KERNEL_CLASSES(X) KERNEL_FLOATS(X) X(i64, int64_t) X(u64, uint64_t)

static inline enum kernel_class kernel_class_of(uint32_t dtype)
{
    return kernel_is_float(dtype) ? KERNEL_f32
           : dtype == SKRT_f64    ? KERNEL_f64
           : dtype == SKRT_u64    ? KERNEL_u64
                                  : KERNEL_i64;
}

/* What a table or a family of functions has for a dtype: `at` is called as at(class). */
#define KERNEL_OF(dtype, at)                                                                       \
    (kernel_class_of(dtype) == KERNEL_f32   ? at(f32)                                              \
     : kernel_class_of(dtype) == KERNEL_f64 ? at(f64)                                              \
     : kernel_class_of(dtype) == KERNEL_u64 ? at(u64)                                              \
                                            : at(i64))

/* Bytes of one element; 0 for packed and unknown types. */
static inline int64_t kernel_dtype_size(uint32_t dtype)
{
    static const uint8_t sizes[] = {
#define DTYPE(name, bits, ...) [SKRT_##name] = (bits) / 8,
#include "ir/core/dtypes.def"
#undef DTYPE
    };
    return dtype < SKRT_DTYPE_COUNT ? sizes[dtype] : 0;
}

/* For few elements: a call of memcpy, or what compilers put in its place, would take longer. */
static inline void kernel_copy_f32(float *to, const float *from, int64_t n)
{
    enum { AT_ONCE = 16 };
    int64_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE)
        memcpy(to + i, from + i, AT_ONCE * sizeof *to);
    for (; i < n; i++)
        to[i] = from[i];
}

/* Loads `n` elements from element `offset` on. Other dtypes than the listed give zeros. */
static inline void kernel_load_f32(float *to, const void *data, uint32_t dtype, int64_t offset,
                                   int64_t n)
{
    const uint16_t *halves = (const uint16_t *)data + offset;
    switch (dtype) {
    case SKRT_f32: kernel_copy_f32(to, (const float *)data + offset, n); break;
    case SKRT_f16:
        for (int64_t i = 0; i < n; i++)
            to[i] = float_from_f16(halves[i]);
        break;
    case SKRT_bf16:
        for (int64_t i = 0; i < n; i++)
            to[i] = float_from_bf16(halves[i]);
        break;
    default: memset(to, 0, (size_t)n * sizeof *to); break;
    }
}

/* Stores `n` elements, rounded to nearest even. Other dtypes than the listed store nothing. */
static inline void kernel_store_f32(void *data, uint32_t dtype, int64_t offset, const float *from,
                                    int64_t n)
{
    uint16_t *halves = (uint16_t *)data + offset;
    switch (dtype) {
    case SKRT_f32: kernel_copy_f32((float *)data + offset, from, n); break;
    case SKRT_f16:
        for (int64_t i = 0; i < n; i++)
            halves[i] = float_to_f16(from[i]);
        break;
    case SKRT_bf16:
        for (int64_t i = 0; i < n; i++)
            halves[i] = float_to_bf16(from[i]);
        break;
    default: break;
    }
}

/* The integer dtypes that kernels compute with, as KERNEL_INT(dtype, C type, value when loaded,
 * value when stored). */
#define KERNEL_INTS                                                                                \
    KERNEL_INT(SKRT_i8, int8_t, element, (int8_t)(uint8_t)value)                                   \
    KERNEL_INT(SKRT_u8, uint8_t, element, (uint8_t)value)                                          \
    KERNEL_INT(SKRT_i16, int16_t, element, (int16_t)(uint16_t)value)                               \
    KERNEL_INT(SKRT_u16, uint16_t, element, (uint16_t)value)                                       \
    KERNEL_INT(SKRT_i32, int32_t, element, (int32_t)(uint32_t)value)                               \
    KERNEL_INT(SKRT_u32, uint32_t, element, (uint32_t)value)                                       \
    KERNEL_INT(SKRT_i64, int64_t, element, value)                                                  \
    KERNEL_INT(SKRT_u64, uint64_t, (int64_t)element, (uint64_t)value)                              \
    KERNEL_INT(SKRT_bool, uint8_t, element != 0, value != 0)

/* As kernel_load_f32, for the integer dtypes and bool (any non-zero byte is 1). */
static inline void kernel_load_i64(int64_t *to, const void *data, uint32_t dtype, int64_t offset,
                                   int64_t n)
{
#define KERNEL_INT(dtype, type, loaded, stored)                                                    \
    case dtype:                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type element = ((const type *)data)[offset + i];                                       \
            to[i] = loaded;                                                                        \
        }                                                                                          \
        break;

    switch (dtype) {
        KERNEL_INTS
    default: memset(to, 0, (size_t)n * sizeof *to); break;
    }
#undef KERNEL_INT
}

/* As kernel_store_f32, for the integer dtypes (which wrap) and bool. */
static inline void kernel_store_i64(void *data, uint32_t dtype, int64_t offset, const int64_t *from,
                                    int64_t n)
{
#define KERNEL_INT(dtype, type, loaded, stored)                                                    \
    case dtype:                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                          \
            int64_t value = from[i];                                                               \
            ((type *)data)[offset + i] = stored;                                                   \
        }                                                                                          \
        break;

    switch (dtype) {
        KERNEL_INTS
    default: break;
    }
#undef KERNEL_INT
}

/* u64 in the same way: their bits are those of i64. */
static inline void kernel_load_u64(uint64_t *to, const void *data, uint32_t dtype, int64_t offset,
                                   int64_t n)
{
    kernel_load_i64((int64_t *)to, data, dtype, offset, n);
}

static inline void kernel_store_u64(void *data, uint32_t dtype, int64_t offset,
                                    const uint64_t *from, int64_t n)
{
    kernel_store_i64(data, dtype, offset, (const int64_t *)from, n);
}

static inline void kernel_load_f64(double *to, const void *data, uint32_t dtype, int64_t offset,
                                   int64_t n)
{
    if (dtype == SKRT_f64)
        memcpy(to, (const double *)data + offset, (size_t)n * sizeof *to);
}

static inline void kernel_store_f64(void *data, uint32_t dtype, int64_t offset, const double *from,
                                    int64_t n)
{
    if (dtype == SKRT_f64)
        memcpy((double *)data + offset, from, (size_t)n * sizeof *from);
}

/* A sum of floats in eight interleaved lanes: its order depends on nothing but the index of an
 * element, and it vectorises. */
enum { KERNEL_LANES = 8 };

/* NAME_add adds `n` elements; all calls but the last of a sum must pass a multiple of
 * KERNEL_LANES. */
#define KERNEL_SUM(name, type)                                                                     \
    struct name {                                                                                  \
        type lanes[KERNEL_LANES];                                                                  \
    };                                                                                             \
    static inline void name##_add(struct name *sum, const type *values, int64_t n)                 \
    {                                                                                              \
        int64_t i = 0;                                                                             \
        for (; i + KERNEL_LANES <= n; i += KERNEL_LANES)                                           \
            for (int lane = 0; lane < KERNEL_LANES; lane++)                                        \
                sum->lanes[lane] += values[i + lane];                                              \
        for (int lane = 0; i + lane < n; lane++)                                                   \
            sum->lanes[lane] += values[i + lane];                                                  \
    }                                                                                              \
    static inline type name##_total(const struct name *sum)                                        \
    {                                                                                              \
        const type *l = sum->lanes;                                                                \
        return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));                  \
    }
KERNEL_SUM(kernel_sum, float)
KERNEL_SUM(kernel_sum_f64, double)

#endif
