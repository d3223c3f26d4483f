/* Chunks of exponentials, at the machine's vector level. */
#ifndef BACKEND_KERNELS_EXPONENTIALS_H
#define BACKEND_KERNELS_EXPONENTIALS_H

#include "backend/kernels/elementary.h"
#include "backend/kernels/vectors.h"

/* x = e^(x - less) */
static inline void exponentials_by(float *x, float less, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = elementary_exp(x[i] - less);
}
VECTORS_OF(exponentials, (float *x, float less, int64_t n), (x, less, n))

#endif
