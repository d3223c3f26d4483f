/* Conversions between the 16-bit float formats and f32, by bit arithmetic.
 *
 * Hand-written because neither compiler offers these types on every baseline the host target
 * runs on. Free of branches that depend on the data, so loops over them vectorise.
 */
#ifndef BACKEND_KERNELS_FLOAT16_H
#define BACKEND_KERNELS_FLOAT16_H

#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Exact. A subnormal f16 becomes a subnormal f32 first; the multiplication normalises it. */
static inline float float_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t shifted = (uint32_t)(half & 0x7fffu) << 13;
    uint32_t finite = float_bits(float_from_bits(shifted) * 0x1p112f);
    uint32_t special = shifted | 0x7f800000u;
    return float_from_bits(sign | ((half & 0x7c00u) == 0x7c00u ? special : finite));
}

/* Rounds to nearest even; too large becomes infinity, a NaN a quiet NaN. */
static inline uint16_t float_to_f16(float value)
{
    uint32_t bits = float_bits(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    /* Between 0.5 and 1 floats are 2^-24 apart, as subnormal f16 are: the addition rounds. */
    uint32_t subnormal = float_bits(float_from_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t normal = ((magnitude + 0xfffu + (magnitude >> 13 & 1u)) >> 13) - (112u << 10);
    uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
    return (uint16_t)(sign | (magnitude >= 0x47800000u ? special : finite));
}

static inline float float_from_bf16(uint16_t bits)
{
    return float_from_bits((uint32_t)bits << 16);
}

/* Rounds to nearest even; a NaN becomes a quiet NaN. */
static inline uint16_t float_to_bf16(float value)
{
    uint32_t bits = float_bits(value);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    uint32_t nan = bits >> 16 | 0x40u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

#endif
