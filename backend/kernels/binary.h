/* The sub-kernels (x1, x2) -> y of one data type, with broadcasting: a row each. */
#ifndef BACKEND_KERNELS_BINARY_H
#define BACKEND_KERNELS_BINARY_H

#include <tgmath.h>

#include "backend/kernels/elementary.h"
#include "backend/kernels/pairs.h"
#include "backend/kernels/vectors.h"

/* One op on chunks of each class; NULL where it has no such form. */
struct binary {
#define BINARY_MEMBER(as, type) void (*as)(type * y, const type *x1, const type *x2, int64_t n);
    KERNEL_CLASSES(BINARY_MEMBER)
};

/* Ops for floats, for integers, and for both. */
#define BINARY_LOOPS_FLOAT(name, expression)                                                       \
    PAIRS_LOOP(name##_f32, float, float, expression)                                               \
    PAIRS_LOOP(name##_f64, double, double, expression)
#define BINARY_LOOPS_INT(name, expression, of_unsigned)                                            \
    PAIRS_LOOP(name##_i64, int64_t, int64_t, expression)                                           \
    PAIRS_LOOP(name##_u64, uint64_t, uint64_t, of_unsigned)
#define BINARY_FLOAT(name, expression)                                                             \
    BINARY_LOOPS_FLOAT(name, expression)                                                           \
    SAMPLE_SOME const struct binary name##_row = {.f32 = name##_f32, .f64 = name##_f64};
#define BINARY_INT(name, expression, of_unsigned)                                                  \
    BINARY_LOOPS_INT(name, expression, of_unsigned)                                                \
    SAMPLE_SOME const struct binary name##_row = {.i64 = name##_i64, .u64 = name##_u64};
#define BINARY(name, expression, integer, of_unsigned)                                             \
    BINARY_LOOPS_FLOAT(name, expression)                                                           \
    BINARY_LOOPS_INT(name, integer, of_unsigned)                                                   \
    SAMPLE_SOME const struct binary name##_row = {name##_f32, name##_f64, name##_i64, name##_u64};

/* x1^x2 of a chunk of floats. */
static inline void binary_pow_by(float *y, const float *x1, const float *x2, int64_t n)
{
    elementary_pow(y, x1, x2, n);
}
VECTORS_OF(binary_pow, (float *y, const float *x1, const float *x2, int64_t n), (y, x1, x2, n))

/* Unsigned arithmetic wraps; the conversion back is two's complement. */
#define BINARY_WRAP(operation) ((int64_t)((uint64_t)a operation(uint64_t) b))

/* Division by 0 is 0, by -1 wraps. */
static inline int64_t binary_divide(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static inline int64_t binary_remainder(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

/* Rounded down; the remainder has the sign of b. */
static inline int64_t binary_divide_down(int64_t a, int64_t b)
{
    int64_t rest = binary_remainder(a, b);
    return binary_divide(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}

static inline int64_t binary_remainder_up(int64_t a, int64_t b)
{
    int64_t rest = binary_remainder(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* As NumPy's remainder, whose quotient floor_divide is. */
#define BINARY_DIVISION(as, type)                                                                  \
    static inline type binary_modulo_##as(type a, type b)                                          \
    {                                                                                              \
        type rest = fmod(a, b);                                                                    \
        if (b == 0)                                                                                \
            return (type)NAN;                                                                      \
        if (rest != 0)                                                                             \
            return (rest < 0) != (b < 0) ? rest + b : rest;                                        \
        return copysign((type)0, b);                                                               \
    }                                                                                              \
    static inline type binary_floor_divide_##as(type a, type b)                                    \
    {                                                                                              \
        if (b == 0)                                                                                \
            return a / b;                                                                          \
        type rest = fmod(a, b), quotient = (a - rest) / b;                                         \
        if (rest != 0 && (rest < 0) != (b < 0))                                                    \
            quotient -= 1;                                                                         \
        if (quotient == 0)                                                                         \
            return copysign((type)0, a / b);                                                       \
        type down = floor(quotient);                                                               \
        return quotient - down > (type)0.5 ? down + 1 : down;                                      \
    }
KERNEL_FLOATS(BINARY_DIVISION)
#define BINARY_BY(function) _Generic(a, float : function##_f32, double : function##_f64)(a, b)

/* The power of integers, which wraps; of negative exponents the truth is 1, -1 or, cut, 0. */
static inline uint64_t binary_power_whole(uint64_t base, uint64_t exponent)
{
    uint64_t power = 1;
    for (; exponent > 0; exponent /= 2, base *= base)
        power *= exponent % 2 ? base : 1;
    return power;
}

static inline int64_t binary_power(int64_t a, int64_t b)
{
    if (b < 0)
        return a == 1 ? 1 : a != -1 ? 0 : b % 2 ? -1 : 1;
    return (int64_t)binary_power_whole((uint64_t)a, (uint64_t)b);
}

/* All bits go where the count is negative or too large; the sign stays in those that come. */
#define BINARY_LEFT ((uint64_t)b > 63 ? 0 : (int64_t)((uint64_t)a << b))
#define BINARY_RIGHT (a >> ((uint64_t)b > 63 ? 63 : b))

BINARY(add, a + b, BINARY_WRAP(+), a + b)
BINARY(sub, a - b, BINARY_WRAP(-), a - b)
BINARY(mul, a *b, BINARY_WRAP(*), a *b)
BINARY(div_op, a / b, binary_divide(a, b), b == 0 ? 0 : a / b)
BINARY_FLOAT(real_div, a / b)
BINARY(truncate_div, trunc(a / b), binary_divide(a, b), b == 0 ? 0 : a / b)
BINARY(floor_div, BINARY_BY(binary_floor_divide), binary_divide_down(a, b), b == 0 ? 0 : a / b)
BINARY(div_no_nan, b == 0 ? 0 : a / b, binary_divide(a, b), b == 0 ? 0 : a / b)
BINARY(floor_mod, BINARY_BY(binary_modulo), binary_remainder_up(a, b), b == 0 ? 0 : a % b)
BINARY(mod, fmod(a, b), binary_remainder(a, b), b == 0 ? 0 : a % b)
BINARY(truncate_mod, fmod(a, b), binary_remainder(a, b), b == 0 ? 0 : a % b)
BINARY(maximum, a > b || a != a ? a : b, a > b ? a : b, a > b ? a : b)
BINARY(minimum, a < b || a != a ? a : b, a < b ? a : b, a < b ? a : b)
PAIRS_LOOP(pow_f64, double, double, pow(a, b))
BINARY_LOOPS_INT(pow_op, binary_power(a, b), binary_power_whole(a, b))
SAMPLE_SOME const struct binary pow_op_row = {binary_pow, pow_f64, pow_op_i64, pow_op_u64};
SAMPLE_SOME const struct binary pows_row = {.f32 = binary_pow, .f64 = pow_f64};
BINARY(squared_difference, (a - b) * (a - b), binary_power(BINARY_WRAP(-), 2), (a - b) * (a - b))
BINARY_FLOAT(atan2_op, atan2(a, b))
BINARY_FLOAT(xlogy, a == 0 ? 0 : a * log(b))
BINARY_FLOAT(xdivy, a == 0 ? 0 : a / b)
BINARY_FLOAT(p_relu, a > 0 ? a : a * b)
BINARY_INT(bitwise_and, a &b, a &b)
BINARY_INT(bitwise_or, a | b, a | b)
BINARY_INT(bitwise_xor, a ^ b, a ^ b)
BINARY_INT(left_shift, BINARY_LEFT, b > 63 ? 0 : a << b)
BINARY_INT(right_shift, BINARY_RIGHT, b > 63 ? 0 : a >> b)

#define BINARY_CHUNK(as, type) PAIRS_CHUNK(binary_chunk_##as, struct binary, as, type, as, type)
KERNEL_CLASSES(BINARY_CHUNK)

/* One of so many parts of y. */
static inline void binary_compute(const struct kernel *kernel, const struct binary *row,
                                  uint32_t part, uint32_t parts)
{
    uint32_t dtype = kernel->tensors[2].dtype;
#define BINARY_RUN(as) (row->as != NULL ? binary_chunk_##as : NULL)
    elementwise_fn *chunk = KERNEL_OF(dtype, BINARY_RUN);
    if (chunk != NULL)
        elementwise_run(kernel, 2, chunk, row, part, parts);
}

static inline void binary_part(const skrt_core *core, uint64_t args_offset,
                               const struct binary *row, uint32_t part, uint32_t parts)
{
    struct kernel kernel;
    if (kernel_open(&kernel, core, args_offset, 3, false))
        binary_compute(&kernel, row, part, parts);
}

/* The whole sub-kernel, each block one part. */
static inline void binary_run(const skrt_core *core, uint64_t args_offset, const struct binary *row)
{
    binary_part(core, args_offset, row, skrt_block_idx(core), skrt_block_num(core));
}

#endif
