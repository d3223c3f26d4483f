#include "frontend/tensor/poison.h"

#include <string.h>

/* ------------------------------------------------------------------------- patterns ---- */

/* What an element of a dtype is, or a part of it where it is complex. */
struct pattern {
    unsigned char bytes[8];
    size_t size, parts; /* bytes of a part; parts of an element */
};

static uint64_t float_bits(enum dtype dtype, enum poison poison)
{
    bool first = poison == POISON_FIRST;
    switch (dtype) {
    case DTYPE_f32:
    case DTYPE_c64: return first ? 0x7fa5a5a5 : 0xff9a5a5a;
    case DTYPE_f64:
    case DTYPE_c128: return first ? 0x7ff5a5a5a5a5a5a5 : 0xfff25a5a5a5a5a5a;
    case DTYPE_f16: return first ? 0x7da5 : 0xfd5a;
    case DTYPE_bf16: return first ? 0x7fa5 : 0xff9a;
    case DTYPE_f8e5m2: return first ? 0x7d : 0xfd;
    case DTYPE_f8e4m3fn: return first ? 0x7f : 0xff;
    default: return first ? 0xa5a5a5a5a5a5a5a5 : 0x5a5a5a5a5a5a5a5a;
    }
}

/* Elements below a byte count by the byte. */
static struct pattern pattern_of(enum dtype dtype, enum poison poison)
{
    const struct dtype_info *info = dtype_info(dtype);
    bool is_complex = info->class == CLASS_COMPLEX;
    size_t item = info->bits < 8 ? 1 : info->bits / 8;
    struct pattern pattern = {.size = is_complex ? item / 2 : item, .parts = is_complex ? 2 : 1};
    uint64_t bits = float_bits(dtype, poison);
    memcpy(pattern.bytes, &bits, sizeof pattern.bytes);
    return pattern;
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
    for (uint64_t i = 0; i + pattern->size <= size; i += pattern->size)
        memcpy(at + i, pattern->bytes, pattern->size);
}

/* In a format with padding, that is what stays zero. */
static void fill_memory(const struct storage *storage, uint32_t id, const struct pattern *pattern)
{
    struct tensor tensor;
    char error[200];
    if (type_of(storage, id)->format == W_ND) {
        fill_bytes(storage->guarded[id].at, storage->guarded[id].size, pattern);
    } else if (storage_take(storage, id, &tensor, error, sizeof error)) {
        fill_bytes(tensor.data, tensor.size, pattern);
        tensor_to_nz(&tensor, storage->guarded[id].at);
        tensor_free(&tensor);
    }
}

void poison_fill(const struct storages *storages, enum poison poison)
{
    for (uint32_t graph = 0; graph < storages->count; graph++) {
        const struct storage *storage = &storages->at[graph];
        for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++)
            if (poison_is_for(storages, graph, i)) {
                struct pattern pattern = pattern_of(type_of(storage, i)->dtype, poison);
                fill_memory(storage, i, &pattern);
            }
    }
}

/* -------------------------------------------------------------------------- finding ---- */

/* The two sides of a search, in row-major order; the second is NULL where there is one. */
struct search {
    const unsigned char *first, *second;
    struct pattern patterns[2];
    uint64_t size; /* bytes */
};

/* `size` is that of the patterns, so that it is known where this is inlined. */
static inline __attribute__((always_inline)) void count_parts(const struct search *search,
                                                              size_t size, struct unwritten *found)
{
    uint64_t last = 0;
    for (uint64_t at = 0; at + size <= search->size; at += size) {
        if (memcmp(search->first + at, search->patterns[0].bytes, size) != 0 ||
            (search->second && memcmp(search->second + at, search->patterns[1].bytes, size) != 0))
            continue;
        uint64_t element = at / size / search->patterns[0].parts;
        if (found->count == 0)
            found->first = element;
        found->count += found->count == 0 || element != last; /* complex numbers have two parts */
        last = element;
    }
}

static void count(const struct search *search, struct unwritten *found)
{
    switch (search->patterns[0].size) {
    case 1: count_parts(search, 1, found); break;
    case 2: count_parts(search, 2, found); break;
    case 4: count_parts(search, 4, found); break;
    default: count_parts(search, 8, found); break;
    }
    found->elements = search->size / search->patterns[0].size / search->patterns[0].parts;
}

static void search_padded(const struct storage *storage, const struct storage *second, uint32_t id,
                          struct search *search, struct unwritten *found)
{
    struct tensor a = {.data = NULL}, b = {.data = NULL};
    char error[200];
    if (storage_take(storage, id, &a, error, sizeof error) &&
        (!second || storage_take(second, id, &b, error, sizeof error))) {
        search->first = a.data;
        search->second = b.data;
        search->size = a.size;
        count(search, found);
    }
    tensor_free(&a);
    tensor_free(&b);
}

bool poison_find(const struct storage *storage, const struct storage *second, uint32_t id,
                 struct unwritten *unwritten)
{
    const struct type *type = type_of(storage, id);
    struct search search = {
        .first = storage->data[id],
        .second = second ? second->data[id] : NULL,
        .patterns = {pattern_of(type->dtype, POISON_FIRST), pattern_of(type->dtype, POISON_SECOND)},
        .size = storage->sizes[id]};
    *unwritten = (struct unwritten){
        .graph = (uint32_t)(storage->graph - storage->module->graphs.at), .value = id};
    if (type->format == W_ND)
        count(&search, unwritten);
    else
        search_padded(storage, second, id, &search, unwritten);
    return unwritten->count > 0;
}
