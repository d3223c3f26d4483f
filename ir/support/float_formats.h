/* Binary floating-point formats of up to 64 bits, by bit arithmetic on the bits of a double.
 *
 * Every format has a sign, `exponent` bits with a bias of half their range, and `fraction` bits;
 * the least exponent holds zero and the subnormal numbers. In formats like those of IEEE 754 the
 * greatest exponent holds infinity and NaN; in a `finite` format it holds numbers like any other,
 * and only the greatest magnitude of all is a NaN (as in E4M3 of the OCP 8-bit formats).
 */
#ifndef IR_SUPPORT_FLOAT_FORMATS_H
#define IR_SUPPORT_FLOAT_FORMATS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct float_format {
    uint8_t exponent, fraction; /* bits */
    bool finite;
};

static inline uint64_t float_sign(struct float_format format)
{
    return (uint64_t)1 << (format.exponent + format.fraction);
}

/* The greatest finite number. */
static inline uint64_t float_greatest(struct float_format format)
{
    uint64_t magnitudes = float_sign(format);
    return format.finite ? magnitudes - 2 : magnitudes - ((uint64_t)1 << format.fraction) - 1;
}

static inline bool float_is_finite(struct float_format format, uint64_t bits)
{
    return (bits & (float_sign(format) - 1)) <= float_greatest(format);
}

/* What numbers above the greatest become: infinity, or the NaN of a finite format. */
static inline uint64_t float_overflow(struct float_format format)
{
    return float_greatest(format) + 1;
}

static inline uint64_t float_nan(struct float_format format)
{
    uint64_t quiet = (uint64_t)1 << (format.fraction - 1);
    return format.finite ? float_sign(format) - 1 : float_overflow(format) | quiet;
}

/* Rounds to nearest, ties to even. A NaN becomes a quiet one. The format's exponent has at most 11
 * bits and its fraction at most 52, as a double has. */
static inline uint64_t float_encode(struct float_format format, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t sign = bits >> 63 ? float_sign(format) : 0;
    uint64_t magnitude = bits & (UINT64_MAX >> 1);
    if (magnitude > (uint64_t)0x7ff << 52)
        return sign | float_nan(format);
    if (format.exponent == 11 && format.fraction == 52)
        return bits;
    /* Subnormal doubles are far below half of every smaller format's least number. */
    if (magnitude >> 52 == 0)
        return sign;
    int bias = (1 << (format.exponent - 1)) - 1;
    int exponent = (int)(magnitude >> 52) - 1023 + bias;
    uint64_t significand = (magnitude & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    int shift = 52 - format.fraction;
    if (exponent < 1) {
        shift += 1 - exponent;
        exponent = 1;
    }
    if (shift > 54)
        return sign;
    uint64_t half = shift > 0 ? (uint64_t)1 << (shift - 1) : 0;
    uint64_t odd = significand >> shift & 1;
    /* A carry out of the fraction goes on into the exponent, as it should. */
    uint64_t rounded = shift > 0 ? (significand + half - 1 + odd) >> shift : significand;
    uint64_t result = ((uint64_t)(exponent - 1) << format.fraction) + rounded;
    return sign | (result > float_greatest(format) ? float_overflow(format) : result);
}

/* Exact. */
static inline double float_decode(struct float_format format, uint64_t bits)
{
    uint64_t magnitude = bits & (float_sign(format) - 1);
    int bias = (1 << (format.exponent - 1)) - 1;
    double value;
    if (!float_is_finite(format, bits)) {
        value = magnitude == float_overflow(format) && !format.finite ? INFINITY : NAN;
    } else {
        int exponent = (int)(magnitude >> format.fraction);
        uint64_t one = (uint64_t)1 << format.fraction;
        uint64_t significand = (magnitude & (one - 1)) | (exponent > 0 ? one : 0);
        value = ldexp((double)significand, (exponent > 0 ? exponent : 1) - bias - format.fraction);
    }
    return bits & float_sign(format) ? -value : value;
}

/* The next number below a finite one. */
static inline uint64_t float_below(struct float_format format, uint64_t bits)
{
    uint64_t sign = float_sign(format);
    if ((bits & (sign - 1)) == 0)
        return sign | 1;
    return bits & sign ? bits + 1 : bits - 1;
}

#endif
