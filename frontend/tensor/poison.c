#include "frontend/tensor/poison.h"

#include <string.h>

/* ------------------------------------------------------------------------- patterns ---- */

/* What an element of a dtype is, or a part of it where it is complex. */
struct pattern {
    uint64_t word;      /* as many of them as there is room for */
    uint64_t ones, top; /* in that word: the lowest and the highest bit of each */
    size_t size, parts; /* bytes of a part; parts of an element */
};

static bool is_float(enum dtype dtype)
{
    const struct dtype_info *info = dtype_info(dtype);
    return info->class == CLASS_FLOAT || info->class == CLASS_COMPLEX;
}

unsigned char poison_byte(enum poison poison, enum dtype dtype)
{
    return poison == POISON_HIGH ? 0x7a : is_float(dtype) ? 0xf5 : 0x85;
}

static uint64_t element_bits(enum dtype dtype, enum poison poison)
{
    if (poison != POISON_NAN)
        return poison_byte(poison, dtype) * UINT64_C(0x0101010101010101);
    switch (dtype) {
    case DTYPE_f32:
    case DTYPE_c64: return 0x7fa5a5a5;
    case DTYPE_f64:
    case DTYPE_c128: return 0x7ff5a5a5a5a5a5a5;
    case DTYPE_f16: return 0x7da5;
    case DTYPE_bf16: return 0x7fa5;
    case DTYPE_f8e5m2: return 0x7d;
    case DTYPE_f8e4m3fn: return 0x7f;
    default: return 0xa5a5a5a5a5a5a5a5;
    }
}

/* Elements below a byte count by the byte. */
static struct pattern pattern_of(enum dtype dtype, enum poison poison)
{
    const struct dtype_info *info = dtype_info(dtype);
    bool is_complex = info->class == CLASS_COMPLEX;
    size_t item = info->bits < 8 ? 1 : info->bits / 8;
    size_t size = is_complex ? item / 2 : item;
    uint64_t lane = UINT64_MAX >> (64 - 8 * size), ones = UINT64_MAX / lane;
    return (struct pattern){.word = (element_bits(dtype, poison) & lane) * ones,
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

static void fill_bytes(unsigned char *at, uint64_t size, const struct pattern *pattern)
{
    uint64_t i = 0;
    for (; i + sizeof pattern->word <= size; i += sizeof pattern->word)
        memcpy(at + i, &pattern->word, sizeof pattern->word);
    memcpy(at + i, &pattern->word, size - i);
}

/* In a format with padding, that is what stays zero. */
static void fill_memory(const struct storage *storage, uint32_t id, enum poison poison)
{
    struct pattern pattern = pattern_of(type_of(storage, id)->dtype, poison);
    struct tensor tensor;
    char error[200];
    if (format_is_row_major(storage->module, type_of(storage, id)->format)) {
        fill_bytes(storage->guarded[id].at, storage->guarded[id].size, &pattern);
    } else if (storage_take(storage, id, &tensor, error, sizeof error)) {
        fill_bytes(tensor.data, tensor.size, &pattern);
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
                guarded_set_pattern(&storage->guarded[i],
                                    poison_byte(poison, type_of(storage, i)->dtype));
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
        .patterns = {pattern_of(type->dtype, POISON_NAN), pattern_of(type->dtype, POISON_HIGH)},
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

/* The bit that arithmetic sets in a signalling NaN; 0 where such NaNs are not poison. */
static uint64_t quiet_bit(enum dtype dtype)
{
    struct float_format format;
    return dtype_float_format(dtype, &format) && format.exponent + format.fraction >= 15
               ? UINT64_C(1) << (format.fraction - 1)
               : 0;
}

bool poison_was_read(const struct storage *storage, uint32_t id)
{
    enum dtype dtype = type_of(storage, id)->dtype;
    struct search search = {.first = storage->data[id],
                            .patterns = {pattern_of(dtype, POISON_NAN)},
                            .size = storage->sizes[id]};
    struct unwritten found = {.count = 0};
    search.patterns[0].word |= quiet_bit(dtype) * search.patterns[0].ones;
    if (quiet_bit(dtype))
        count(&search, &found);
    return found.count > 0;
}

uint64_t poison_sum(enum dtype dtype, const void *memory, uint64_t size, enum poison poison)
{
    const struct pattern pattern = pattern_of(dtype, poison);
    const unsigned char *at = memory;
    uint64_t sum = 0;
    for (uint64_t i = 0; i + pattern.size <= size; i += pattern.size) {
        uint64_t part = 0;
        if (memcmp(at + i, &pattern.word, pattern.size) != 0)
            memcpy(&part, at + i, pattern.size);
        sum = (sum ^ part) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
    }
    return sum;
}
