/* Exponentials and powers of f32 that are the same bits on every machine and at every vector level:
 * they are computed in f64, in operations that are rounded one by one, and rounded to f32 at the
 * end. Without branches, so that loops over them vectorise.
 *
 * The polynomials go through the Chebyshev nodes of their intervals. Errors are relative, before
 * the last rounding.
 */
#ifndef BACKEND_KERNELS_ELEMENTARY_H
#define BACKEND_KERNELS_ELEMENTARY_H

#include "backend/kernels/float16.h"

#include <math.h>
#include <stdbool.h>

/* Elements of a chunk at most. */
enum { ELEMENTARY_CHUNK = 256 };

/* Beyond, f32 has nothing but 0 and infinity. */
#define ELEMENTARY_MOST 200.0

static inline double elementary_clamp(double z)
{
    z = z < -ELEMENTARY_MOST ? -ELEMENTARY_MOST : z;
    return z > ELEMENTARY_MOST ? ELEMENTARY_MOST : z;
}

/* The nearest integer to z, of which the low bits are also those of the sum: |z| below 2^51. */
static inline double elementary_whole(double z, uint64_t *bits)
{
    const double shift = 0x1.8p52;
    double sum = z + shift;
    memcpy(bits, &sum, sizeof *bits);
    return sum - shift;
}

/* x * 2^n for the n that elementary_whole has found; nothing overflows. */
static inline double elementary_scale(double x, uint64_t n)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += n << 52;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* 2^z, with an error below 2^-34. */
static inline double elementary_exp2(double z)
{
    uint64_t n;
    double f = z - elementary_whole(z, &n), f2 = f * f;
    double low = (0x1.ffffffffa7135p-1 + 0x1.62e42fef9cc69p-1 * f) +
                 (0x1.ebfbe0aa03df0p-3 + 0x1.c6b08da70cce3p-5 * f) * f2;
    double high = (0x1.3b29d8bb0b97ep-7 + 0x1.5d877598350dep-10 * f) +
                  (0x1.446c79efd4834p-13 + 0x1.00c0e4e15189cp-16 * f) * f2;
    return elementary_scale(low + high * (f2 * f2), n);
}

/* e^x, with the same error. */
static inline float elementary_exp(float x)
{
    float power = (float)elementary_exp2(elementary_clamp((double)x * 0x1.71547652b82fep+0));
    return x != x ? x : power;
}

/* The logarithm to base 2 of a positive x that is not subnormal, with an error of 2^-37, and `more`
 * on it: x is m * 2^e with m between the square roots of 1/2 and 2, and log(m) is the area tangent
 * of s = (m - 1) / (m + 1), twice. */
static inline double elementary_log2(float x, int32_t more)
{
    const uint32_t root = 0x3f3504f3;
    uint32_t bits = float_bits(x);
    int32_t exponent = (int32_t)(bits - root) >> 23;
    double m = (double)float_from_bits(bits - ((uint32_t)exponent << 23));
    double s = (m - 1) / (m + 1), t = s * s, t2 = t * t;
    double low = 0x1.71547652bed13p+1 + 0x1.ec709d13c0533p-1 * t;
    double high = 0x1.27777f463eed4p-1 + 0x1.a58dceb7ec581p-2 * t;
    double y = low + (high + 0x1.5ce39f776120ep-2 * t2) * t2;
    return (double)(exponent + more) + s * y;
}

/* Bits where a condition holds, else the others. */
static inline float elementary_select(bool condition, float x, float otherwise)
{
    uint32_t mask = 0 - (uint32_t)condition;
    return float_from_bits((float_bits(x) & mask) | (float_bits(otherwise) & ~mask));
}

/* `power` is that of |x|, unless an operand is 0, infinite or NaN: what powf has there, and the
 * sign. */
static inline float elementary_pow_finish(float x, float y, float power)
{
    /* All floats from 2^24 on are even. */
    float size = fabsf(x), small = elementary_select(fabsf(y) < 0x1p24f, y, 0);
    int32_t whole = (int32_t)small;
    bool is_whole = (float)whole == small, is_large = (size == 0) == (y < 0);
    uint32_t is_odd = (uint32_t)whole & (uint32_t)is_whole & 1;
    float extreme = elementary_select(is_large, INFINITY, 0);
    power = elementary_select((size == 0) | (size == INFINITY), extreme, power);
    power = elementary_select(size == 1, 1, power);
    power = elementary_select((x < 0) & (x > -INFINITY) & !is_whole, NAN, power);
    power = float_from_bits(float_bits(power) ^ (float_bits(x) & is_odd << 31));
    /* That of x, if both are NaN: poisons are known by their bits. */
    float nan = elementary_select(x != x, x + x, y + y);
    power = elementary_select((x != x) | (y != y), nan, power);
    return elementary_select((x == 1) | (y == 0), 1, power);
}

/* Whether no element of a chunk needs more than its logarithm and the power of 2: all x1 are
 * positive, neither subnormal nor infinite, and x2 so small that nothing overflows f64. */
static inline bool elementary_pow_is_plain(const float *x1, const float *x2, int64_t n)
{
    /* As integers, which without their signs are ordered as the floats are. What is outside has, or
     * leads to, a highest bit. */
    const uint32_t least = 0x00800000, most = 0x7f7fffff, few = 0x40c00000; /* 6 * 128 < 1022 */
    uint32_t outside = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t x = float_bits(x1[i]), y = float_bits(x2[i]) & 0x7fffffffu;
        outside |= x | (x - least) | (most - x) | (few - y);
    }
    return outside >> 31 == 0;
}

/* y = x1^x2 of as many elements as a chunk has at most, with an error below 2^-30. In loops of
 * their own, since compilers would move what only some elements need behind branches, and not
 * vectorise. */
static inline void elementary_pow(float *y, const float *x1, const float *x2, int64_t n)
{
    double logs[ELEMENTARY_CHUNK];
    bool plain = elementary_pow_is_plain(x1, x2, n);
    for (int64_t i = 0; plain && i < n; i++)
        logs[i] = (double)x2[i] * elementary_log2(x1[i], 0);
    for (int64_t i = 0; plain && i < n; i++)
        y[i] = (float)elementary_exp2(logs[i]);
    if (plain)
        return;
    for (int64_t i = 0; i < n; i++) {
        float size = fabsf(x1[i]);
        bool subnormal = size < 0x1p-126f;
        float scaled = elementary_select(subnormal, size * 0x1p23f, size);
        logs[i] = elementary_log2(scaled, -23 & (0 - (int32_t)subnormal));
    }
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)elementary_exp2(elementary_clamp((double)x2[i] * logs[i]));
    for (int64_t i = 0; i < n; i++)
        y[i] = elementary_pow_finish(x1[i], x2[i], y[i]);
}

#endif
