/* The sub-kernels (x1, x2) -> y of one data type, with broadcasting: a row each. */
#ifndef BACKEND_KERNELS_BINARY_H
#define BACKEND_KERNELS_BINARY_H

#include <math.h>

#include "backend/kernels/elementary.h"
#include "backend/kernels/pairs.h"
#include "backend/kernels/vectors.h"

/* One op on chunks. `i64` is NULL where it has no integer form. */
struct binary {
    void (*f32)(float *y, const float *x1, const float *x2, int64_t n);
    void (*i64)(int64_t *y, const int64_t *x1, const int64_t *x2, int64_t n);
};

/* An op for floats, and one for integers too. */
#define BINARY_FLOAT(name, expression)                                                             \
    PAIRS_LOOP(name##_f32, float, float, expression)                                               \
    SAMPLE_SOME const struct binary name##_row = {.f32 = name##_f32};
#define BINARY(name, expression, integer)                                                          \
    PAIRS_LOOP(name##_f32, float, float, expression)                                               \
    PAIRS_LOOP(name##_i64, int64_t, int64_t, integer)                                              \
    SAMPLE_SOME const struct binary name##_row = {.f32 = name##_f32, .i64 = name##_i64};

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
static inline float binary_modulo(float a, float b)
{
    float rest = fmodf(a, b);
    if (rest != 0)
        return (rest < 0) != (b < 0) ? rest + b : rest;
    return copysignf(0, b);
}

static inline float binary_floor_divide(float a, float b)
{
    if (b == 0)
        return a / b;
    float rest = fmodf(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0))
        quotient -= 1;
    if (quotient == 0)
        return copysignf(0, a / b);
    float down = floorf(quotient);
    return quotient - down > 0.5F ? down + 1 : down;
}

/* The power of integers, which wraps; of negative exponents the truth is 1, -1 or, cut, 0. */
static inline int64_t binary_power(int64_t a, int64_t b)
{
    uint64_t power = 1, base = (uint64_t)a;
    if (b < 0)
        return a == 1 ? 1 : a != -1 ? 0 : b % 2 ? -1 : 1;
    for (; b > 0; b /= 2, base *= base)
        power *= b % 2 ? base : 1;
    return (int64_t)power;
}

BINARY(add, a + b, BINARY_WRAP(+))
BINARY(sub, a - b, BINARY_WRAP(-))
BINARY(mul, a *b, BINARY_WRAP(*))
BINARY(div_op, a / b, binary_divide(a, b))
BINARY_FLOAT(real_div, a / b)
BINARY(floor_div, binary_floor_divide(a, b), binary_divide_down(a, b))
BINARY(floor_mod, b == 0 ? NAN : binary_modulo(a, b), binary_remainder_up(a, b))
BINARY(mod, fmodf(a, b), binary_remainder(a, b))
BINARY(maximum, a > b || a != a ? a : b, a > b ? a : b)
BINARY(minimum, a < b || a != a ? a : b, a < b ? a : b)
PAIRS_LOOP(pow_op_i64, int64_t, int64_t, binary_power(a, b))
SAMPLE_SOME const struct binary pow_op_row = {.f32 = binary_pow, .i64 = pow_op_i64};
SAMPLE_SOME const struct binary pows_row = {.f32 = binary_pow};
BINARY(squared_difference, (a - b) * (a - b), binary_power(BINARY_WRAP(-), 2))

PAIRS_CHUNK(binary_chunk, struct binary, f32, float, f32, float)
PAIRS_CHUNK(binary_chunk_i64, struct binary, i64, int64_t, i64, int64_t)

/* One of so many parts of y. */
static inline void binary_compute(const struct kernel *kernel, const struct binary *row,
                                  uint32_t part, uint32_t parts)
{
    uint32_t dtype = kernel->tensors[2].dtype;
    if (kernel->tensors[0].dtype != dtype || kernel->tensors[1].dtype != dtype)
        return;
    if (kernel_is_float(dtype))
        elementwise_run(kernel, 2, binary_chunk, row, part, parts);
    else if (row->i64 != NULL)
        elementwise_run(kernel, 2, binary_chunk_i64, row, part, parts);
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
