/* Rows into columns: what is stored one row behind the other stands one column beside the other. */
#ifndef BACKEND_KERNELS_TURN_H
#define BACKEND_KERNELS_TURN_H

#include <stdint.h>
#include <string.h>

enum { TURN_ROWS = 4, TURN_MOST = 128 };

typedef float turn_vector __attribute__((vector_size(TURN_ROWS * sizeof(float))));

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define TURN_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
#ifndef TURN_SHUFFLE
typedef int32_t turn_places __attribute__((vector_size(TURN_ROWS * sizeof(int32_t))));
#define TURN_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (turn_places){__VA_ARGS__})
#endif

/* A square of both. */
static inline void turn_square(float *to, int64_t pitch, const float (*from)[TURN_MOST], int64_t at)
{
    turn_vector a, b, c, d;
    memcpy(&a, &from[0][at], sizeof a);
    memcpy(&b, &from[1][at], sizeof b);
    memcpy(&c, &from[2][at], sizeof c);
    memcpy(&d, &from[3][at], sizeof d);
    turn_vector ab = TURN_SHUFFLE(a, b, 0, 4, 1, 5), cd = TURN_SHUFFLE(c, d, 0, 4, 1, 5);
    turn_vector first = TURN_SHUFFLE(ab, cd, 0, 1, 4, 5);
    turn_vector second = TURN_SHUFFLE(ab, cd, 2, 3, 6, 7);
    ab = TURN_SHUFFLE(a, b, 2, 6, 3, 7), cd = TURN_SHUFFLE(c, d, 2, 6, 3, 7);
    turn_vector third = TURN_SHUFFLE(ab, cd, 0, 1, 4, 5);
    turn_vector fourth = TURN_SHUFFLE(ab, cd, 2, 3, 6, 7);
    memcpy(to, &first, sizeof first);
    memcpy(to + pitch, &second, sizeof second);
    memcpy(to + 2 * pitch, &third, sizeof third);
    memcpy(to + 3 * pitch, &fourth, sizeof fourth);
}

/* Element i of each row becomes to[i * pitch] and what is behind it, for i below n rounded up to
 * whole squares: what is behind the n-th is not defined. */
static inline void turn_rows(float *to, int64_t pitch, const float (*from)[TURN_MOST], int64_t n)
{
    for (int64_t i = 0; i < n; i += TURN_ROWS)
        turn_square(to + i * pitch, pitch, from, i);
}

#endif
