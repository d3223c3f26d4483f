/* Numbers in 8 bits. */
#ifndef BACKEND_KERNELS_QUANTISE_H
#define BACKEND_KERNELS_QUANTISE_H

#include "backend/kernels/kernel.h"

#include <math.h>

enum quantise_round { QUANTISE_NEAREST, QUANTISE_FLOOR, QUANTISE_CEIL, QUANTISE_TRUNC };

/* What the attribute says; without, or with other words, to nearest even. */
static inline enum quantise_round quantise_round(const struct kernel *kernel, const char *key)
{
    char first = (char)(kernel_text(kernel, key, "round")[0] | 0x20);
    return first == 'f'   ? QUANTISE_FLOOR
           : first == 'c' ? QUANTISE_CEIL
           : first == 't' ? QUANTISE_TRUNC
                          : QUANTISE_NEAREST;
}

/* Held within what i8 has; NaN becomes 0. */
static inline int8_t quantise_i8(float x, enum quantise_round round)
{
    x = round == QUANTISE_FLOOR   ? floorf(x)
        : round == QUANTISE_CEIL  ? ceilf(x)
        : round == QUANTISE_TRUNC ? truncf(x)
                                  : rintf(x);
    if (x != x)
        return 0;
    return x > 127 ? 127 : x < -128 ? -128 : (int8_t)x;
}

#endif
