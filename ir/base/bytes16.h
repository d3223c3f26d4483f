/* Texts looked at sixteen bytes at a time. */
#ifndef IR_BASE_BYTES16_H
#define IR_BASE_BYTES16_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of a comparison, a byte is all ones where it holds. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

static inline bytes16 bytes16_load(const char *at)
{
    bytes16 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* The index of the first byte that is not zero, or 16. */
static inline unsigned bytes16_first(bytes16 bytes)
{
    uint64_t half[2];
    memcpy(half, &bytes, sizeof half);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return half[0]   ? (unsigned)__builtin_ctzll(half[0]) >> 3
           : half[1] ? 8 + ((unsigned)__builtin_ctzll(half[1]) >> 3)
                     : 16;
#else
    return half[0]   ? (unsigned)__builtin_clzll(half[0]) >> 3
           : half[1] ? 8 + ((unsigned)__builtin_clzll(half[1]) >> 3)
                     : 16;
#endif
}

/* The first of two bytes in [at, end), or `end`. */
static inline const char *bytes16_either(const char *at, const char *end, char a, char b)
{
    while (end - at >= (ptrdiff_t)sizeof(bytes16)) {
        bytes16 bytes = bytes16_load(at);
        unsigned hit =
            bytes16_first((bytes16)((bytes == (unsigned char)a) | (bytes == (unsigned char)b)));
        at += hit;
        if (hit < sizeof bytes)
            return at;
    }
    while (at < end && *at != a && *at != b)
        at++;
    return at;
}

#endif
