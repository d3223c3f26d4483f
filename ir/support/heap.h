/* A binary heap of (key, id), smallest key first. */
#ifndef IR_SUPPORT_HEAP_H
#define IR_SUPPORT_HEAP_H

#include "ir/support/vec.h"

#include <assert.h>

/* Zero-initialised is empty. */
struct heap {
    uint64_t *at; /* key << 32 | id */
    uint32_t count, capacity;
};

static inline void heap_push(struct heap *heap, uint32_t key, uint32_t id)
{
    vec_push(heap, 0);
    uint64_t item = (uint64_t)key << 32 | id;
    uint32_t i = heap->count - 1;
    for (; i > 0 && heap->at[(i - 1) / 2] > item; i = (i - 1) / 2)
        heap->at[i] = heap->at[(i - 1) / 2];
    heap->at[i] = item;
}

static inline uint32_t heap_top(const struct heap *heap)
{
    assert(heap->count > 0);
    return (uint32_t)heap->at[0];
}

static inline uint32_t heap_top_key(const struct heap *heap)
{
    assert(heap->count > 0);
    return (uint32_t)(heap->at[0] >> 32);
}

/* Removes the smallest and returns its id. */
static inline uint32_t heap_pop(struct heap *heap)
{
    uint32_t id = heap_top(heap), i = 0;
    uint64_t item = heap->at[--heap->count];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= heap->count)
            break;
        if (child + 1 < heap->count && heap->at[child + 1] < heap->at[child])
            child++;
        if (heap->at[child] >= item)
            break;
        heap->at[i] = heap->at[child];
        i = child;
    }
    if (heap->count)
        heap->at[i] = item;
    return id;
}

static inline void heap_free(struct heap *heap)
{
    vec_free(heap);
}

#endif
