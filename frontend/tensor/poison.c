#include "frontend/tensor/poison.h"

#include <string.h>

/* ------------------------------------------------------------------------- patterns ---- */

/* An element of a dtype, or a part of it where it is complex. Elements below a byte count by the
 * byte. */
struct pattern {
    uint64_t word;      /* as many of them as there is room for */
    uint64_t ones, top; /* in that word: the lowest and the highest bit of each */
    size_t size, parts; /* bytes of a part; parts of an element */
};

static struct pattern pattern_of(enum dtype dtype, enum poison poison)
{
    const struct dtype_info *info = dtype_info(dtype);
    bool is_complex = info->class == CLASS_COMPLEX;
    size_t item = info->bits < 8 ? 1 : info->bits / 8;
    size_t size = is_complex ? item / 2 : item;
    uint64_t ones = UINT64_MAX / (UINT64_MAX >> (64 - 8 * size));
    return (struct pattern){.word = poison * (UINT64_MAX / UINT8_MAX),
                            .ones = ones,
                            .top = ones << (8 * size - 1),
                            .size = size,
                            .parts = is_complex ? 2 : 1};
}

static const struct type *type_of(const struct storage *storage, uint32_t id)
{
    return &storage->module->types.at[storage->graph->values.at[id].type];
}

/* -------------------------------------------------------------------------- filling ---- */

bool poison_is_for(const struct storages *storages, uint32_t graph, uint32_t id)
{
    const struct storage *storage = &storages->at[graph];
    return storage->guarded[id].at && !storage->given[id];
}

/* In a format with padding, that is what stays zero. */
static void fill_memory(const struct storage *storage, uint32_t id, enum poison poison)
{
    struct tensor tensor;
    char error[200];
    if (format_is_row_major(storage->module, type_of(storage, id)->format)) {
        memset(storage->guarded[id].at, (int)poison, storage->guarded[id].size);
    } else if (storage_take(storage, id, &tensor, error, sizeof error)) {
        memset(tensor.data, (int)poison, tensor.size);
        tensor_to_nz(&tensor, storage->guarded[id].at);
        tensor_free(&tensor);
    }
}

void poison_fill(const struct storages *storages, enum poison poison)
{
    for (uint32_t graph = 0; graph < storages->count; graph++) {
        const struct storage *storage = &storages->at[graph];
        for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++)
            if (poison_is_for(storages, graph, i))
                fill_memory(storage, i, poison);
    }
}

void poison_fill_beside(const struct storages *storages, enum poison poison)
{
    for (uint32_t graph = 0; graph < storages->count; graph++) {
        const struct storage *storage = &storages->at[graph];
        for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++)
            if (storage->guarded[i].at)
                guarded_set_pattern(&storage->guarded[i], (unsigned char)poison);
    }
}

/* -------------------------------------------------------------------------- finding ---- */

/* The two sides of a search, in row-major order; the second is NULL where there is one. */
struct search {
    const unsigned char *first, *second;
    struct pattern patterns[2];
    uint64_t size; /* bytes */
};

/* Whether any part in these bytes may be the pattern: always where one is. */
static bool may_hold(const unsigned char *at, const struct pattern *pattern)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    word ^= pattern->word;
    return ((word - pattern->ones) & ~word & pattern->top) != 0;
}

static bool holds(const struct search *search, uint64_t at)
{
    const struct pattern *patterns = search->patterns;
    return memcmp(search->first + at, &patterns[0].word, patterns[0].size) == 0 &&
           (!search->second ||
            memcmp(search->second + at, &patterns[1].word, patterns[1].size) == 0);
}

/* Counts elements, word by word of bytes; complex ones have two parts, and count once. */
static void count(const struct search *search, struct unwritten *found)
{
    size_t size = search->patterns[0].size, parts = search->patterns[0].parts;
    uint64_t counted = 0;
    found->elements = search->size / size / parts;
    for (uint64_t word = 0; word < search->size; word += sizeof(uint64_t)) {
        bool whole = word + sizeof(uint64_t) <= search->size;
        if (whole && !may_hold(search->first + word, &search->patterns[0]))
            continue;
        for (uint64_t at = word; at < word + sizeof(uint64_t) && at + size <= search->size;
             at += size) {
            uint64_t element = at / size / parts;
            if (element < counted || !holds(search, at))
                continue;
            if (found->count++ == 0)
                found->first = element;
            counted = element + 1;
        }
    }
}

bool poison_find(const struct storage *storage, const struct storage *second, uint32_t id,
                 struct unwritten *unwritten)
{
    const struct type *type = type_of(storage, id);
    bool padded = !format_is_row_major(storage->module, type->format);
    struct tensor a = {.data = NULL}, b = {.data = NULL};
    char error[200];
    struct search search = {
        .first = storage->data[id],
        .second = second ? second->data[id] : NULL,
        .patterns = {pattern_of(type->dtype, POISON_HIGH), pattern_of(type->dtype, POISON_LOW)},
        .size = storage->sizes[id]};
    *unwritten =
        (struct unwritten){.graph = graph_id(storage->module, storage->graph), .value = id};
    bool taken = padded && storage_take(storage, id, &a, error, sizeof error) &&
                 (!second || storage_take(second, id, &b, error, sizeof error));
    if (taken) {
        search.first = a.data;
        search.second = b.data;
        search.size = a.size;
    }
    if (taken || !padded)
        count(&search, unwritten);
    tensor_free(&a);
    tensor_free(&b);
    return unwritten->count > 0;
}

uint64_t poison_sum(enum dtype dtype, const void *memory, uint64_t size)
{
    const struct pattern high = pattern_of(dtype, POISON_HIGH), low = pattern_of(dtype, POISON_LOW);
    const unsigned char *at = memory;
    uint64_t sum = 0;
    for (uint64_t i = 0; i + high.size <= size; i += high.size) {
        uint64_t part = 0;
        if (memcmp(at + i, &high.word, high.size) != 0 && memcmp(at + i, &low.word, low.size) != 0)
            memcpy(&part, at + i, high.size);
        sum = (sum ^ part) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
    }
    return sum;
}
