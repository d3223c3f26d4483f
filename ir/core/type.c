/* Types: equal ones have equal ids. */
#include "ir/core/module.h"
#include "ir/support/memory.h"

#include <string.h>

static uint32_t type_hash(const struct type *type, const int64_t *dims)
{
    uint64_t h = (uint64_t)type->dtype << 40 ^ (uint64_t)type->format << 8 ^ type->rank;
    for (uint32_t i = 0; i < type_n_dims(type); i++) {
        h = (h ^ (uint64_t)dims[i]) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
    }
    h *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static void type_slots_grow(struct module *module)
{
    uint32_t size = module->type_slots ? (module->type_mask + 1) * 2 : 64;
    mem_free(module->type_slots);
    module->type_slots = mem_calloc(size, sizeof *module->type_slots);
    module->type_mask = size - 1;
    for (uint32_t id = 0; id < module->types.count; id++) {
        const struct type *type = &module->types.at[id];
        uint32_t at = type_hash(type, module->dims.at + type->dims) & module->type_mask;
        while (module->type_slots[at])
            at = (at + 1) & module->type_mask;
        module->type_slots[at] = id + 1;
    }
}

uint32_t module_type(struct module *module, enum dtype dtype, uint32_t format, const int64_t *dims,
                     uint32_t rank)
{
    int64_t own[MAX_RANK + 1]; /* `dims` may be those of a type, which move */
    uint32_t n_dims = rank == RANK_UNKNOWN ? 0 : rank;
    part_leave();
    assert((unsigned)dtype <= DTYPE_UNKNOWN && n_dims <= MAX_RANK && format < module->names.count);
    if (n_dims)
        memcpy(own, dims, n_dims * sizeof *dims);
    if (!module->type_slots || module->types.count >= module->type_mask / 2)
        type_slots_grow(module);
    vec_reserve(&module->dims, n_dims + 1);
    struct type type = {dtype, format, rank, module->dims.count};
    uint32_t at = type_hash(&type, own) & module->type_mask;
    for (uint32_t id; (id = module->type_slots[at]); at = (at + 1) & module->type_mask) {
        const struct type *found = &module->types.at[id - 1];
        if (found->dtype == dtype && found->format == format && found->rank == rank &&
            memcmp(module->dims.at + found->dims, own, n_dims * sizeof *own) == 0)
            return id - 1;
    }
    memcpy(module->dims.at + module->dims.count, own, n_dims * sizeof *own);
    module->dims.count += n_dims;
    vec_push(&module->types, type);
    module->type_slots[at] = module->types.count;
    return module->types.count - 1;
}

uint32_t module_token(struct module *module)
{
    if (module->token == NONE)
        module->token = module_type(module, DTYPE_TOKEN, W_ND, NULL, 0);
    return module->token;
}

const int64_t *type_dims(const struct module *module, uint32_t type)
{
    assert(type < module->types.count);
    return module->dims.at + module->types.at[type].dims;
}

bool type_elements(const struct module *module, uint32_t type, uint64_t *elements)
{
    const struct type *t = &module->types.at[type];
    const int64_t *dims = type_dims(module, type);
    bool zero = false;
    uint64_t product = 1;
    if (t->rank == RANK_UNKNOWN)
        return false;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (dims[i] < 0)
            return false;
        if (dims[i] == 0)
            zero = true;
        else if (__builtin_mul_overflow(product, (uint64_t)dims[i], &product) || product >> 62)
            return false;
    }
    *elements = zero ? 0 : product;
    return true;
}

static bool says_nothing(const struct type *type)
{
    return type->dtype == DTYPE_UNKNOWN && type->rank == RANK_UNKNOWN && type->format == W_ND;
}

bool type_kinds_agree(const struct type *a, const struct type *b)
{
    if (a->dtype == DTYPE_TOKEN || b->dtype == DTYPE_TOKEN)
        return a->dtype == b->dtype;
    bool dtype = a->dtype == b->dtype || a->dtype == DTYPE_UNKNOWN || b->dtype == DTYPE_UNKNOWN;
    bool rank = a->rank == b->rank || a->rank == RANK_UNKNOWN || b->rank == RANK_UNKNOWN;
    return dtype && rank && (a->format == b->format || says_nothing(a) || says_nothing(b));
}

/* A row of formats.def. */
struct format_row {
    const char *name;
    bool plain, row_major;
};

/* Of a format that is not ND; NULL where there is none. */
static const struct format_row *find_format(const struct module *module, uint32_t format)
{
    static const struct format_row formats[] = {
#define FORMAT(name, plain, row_major) {#name, plain, row_major},
#include "ir/core/formats.def"
#undef FORMAT
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (name_is(module, format, formats[i].name))
            return &formats[i];
    return NULL;
}

bool format_is_plain(const struct module *module, uint32_t format)
{
    const struct format_row *row = format == W_ND ? NULL : find_format(module, format);
    return format == W_ND || (row && row->plain);
}

bool format_is_row_major(const struct module *module, uint32_t format)
{
    const struct format_row *row = format == W_ND ? NULL : find_format(module, format);
    return format == W_ND || (row && row->row_major);
}
