/* Growable arrays. A vector is any struct { T *at; uint32_t count, capacity; }, zero-initialised
 * when empty, so that element access stays plain C: v.at[i]. */
#ifndef IR_SUPPORT_VEC_H
#define IR_SUPPORT_VEC_H

#include "ir/support/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        uint32_t count, capacity;                                                                  \
    }

struct vec_u32 {
    uint32_t *at;
    uint32_t count, capacity;
};

/* The capacity that holds `need` elements, growing by half. 32-bit ids bound every array. */
static inline uint32_t vec_capacity(uint32_t capacity, uint64_t need)
{
    uint64_t grown = capacity + (uint64_t)capacity / 2 + 16;
    if (grown < need)
        grown = need;
    if (grown > UINT32_MAX)
        grown = UINT32_MAX;
    if (need > grown)
        mem_exhausted();
    return (uint32_t)grown;
}

/* Makes room for `extra` more elements. */
#define vec_reserve(v, extra)                                                                      \
    do {                                                                                           \
        uint64_t vec_need_ = (uint64_t)(v)->count + (extra);                                       \
        if (vec_need_ > (v)->capacity) {                                                           \
            uint32_t vec_capacity_ = vec_capacity((v)->capacity, vec_need_);                       \
            (v)->at = mem_realloc((v)->at, vec_capacity_, sizeof *(v)->at);                        \
            (v)->capacity = vec_capacity_;                                                         \
        }                                                                                          \
    } while (0)

/* Gives back room that is not used, where that is most. */
#define vec_fit(v)                                                                                 \
    do {                                                                                           \
        if ((v)->count < (v)->capacity / 2) {                                                      \
            (v)->capacity = (v)->count ? (v)->count : 1;                                           \
            (v)->at = mem_realloc((v)->at, (v)->capacity, sizeof *(v)->at);                        \
        }                                                                                          \
    } while (0)

#define vec_push(v, ...)                                                                           \
    do {                                                                                           \
        vec_reserve(v, 1);                                                                         \
        (v)->at[(v)->count++] = (__VA_ARGS__);                                                     \
    } while (0)

/* A copy of another one's struct, which has that one's elements: gives it its own. */
#define vec_own(v)                                                                                 \
    do {                                                                                           \
        const void *vec_elements_ = (v)->at;                                                       \
        uint32_t vec_count_ = (v)->count;                                                          \
        (v)->at = NULL;                                                                            \
        (v)->count = (v)->capacity = 0;                                                            \
        vec_reserve(v, vec_count_);                                                                \
        if (vec_count_)                                                                            \
            memcpy((v)->at, vec_elements_, vec_count_ * sizeof *(v)->at);                          \
        (v)->count = vec_count_;                                                                   \
    } while (0)

/* Sets `first` to the first of the places 0 to `count` that is not `before` what is sought, where
 * those that are stand ahead of those that are not: `before` is said of the place `i`. */
#define bisect(first, i, count, before)                                                            \
    do {                                                                                           \
        uint32_t bisect_end_ = (count);                                                            \
        (first) = 0;                                                                               \
        while ((first) < bisect_end_) {                                                            \
            uint32_t i = (first) + (bisect_end_ - (first)) / 2;                                    \
            if (before)                                                                            \
                (first) = i + 1;                                                                   \
            else                                                                                   \
                bisect_end_ = i;                                                                   \
        }                                                                                          \
    } while (0)

#define vec_free(v)                                                                                \
    do {                                                                                           \
        mem_free((v)->at);                                                                         \
        (v)->at = NULL;                                                                            \
        (v)->count = (v)->capacity = 0;                                                            \
    } while (0)

#endif
