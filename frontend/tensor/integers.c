#include "frontend/tensor/integers.h"

#include <string.h>

static bool is_integer(const struct dtype_info *info)
{
    if (info->bits < 8 || info->bits > 64)
        return false;
    return info->class == CLASS_SINT || (info->class == CLASS_UINT && info->bits < 64);
}

bool integers_read(const struct module *module, uint32_t type, const void *data,
                   struct arena *arena, struct op_contents *found)
{
    const struct dtype_info *info = dtype_info(module->types.at[type].dtype);
    uint64_t count;
    if (!is_integer(info) || !format_is_row_major(module, module->types.at[type].format) ||
        !type_elements(module, type, &count))
        return false;
    unsigned size = info->bits / 8, unused = 64 - info->bits;
    int64_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)data + i * size, size);
        numbers[i] =
            info->class == CLASS_SINT ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    }
    *found = (struct op_contents){numbers, count};
    return true;
}

void integer_write(enum dtype dtype, void *data, uint64_t place, int64_t number)
{
    unsigned size = dtype_info(dtype)->bits / 8;
    memcpy((char *)data + place * size, &number, size);
}

int64_t integer_lowest(enum dtype dtype)
{
    const struct dtype_info *info = dtype_info(dtype);
    return info->class == CLASS_SINT ? INT64_MIN >> (64 - info->bits) : 0;
}

int64_t integer_highest(enum dtype dtype)
{
    const struct dtype_info *info = dtype_info(dtype);
    return (int64_t)(UINT64_MAX >> (64 - info->bits + (info->class == CLASS_SINT)));
}
