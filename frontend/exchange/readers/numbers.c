#include "frontend/exchange/readers/numbers.h"
#include "ir/contents.h"

struct attr_value numbers_list(struct numbers *numbers, struct module *module, uint32_t first,
                               uint32_t kind)
{
    uint32_t count = numbers->count - first;
    struct attr_value list = {.kind = ATTR_LIST, .count = 0, .first = kind};
    if (count) {
        struct range range = module_add_values(module, numbers->at + first, count);
        list.first = range.first;
        list.count = range.count;
    }
    numbers->count = first;
    return list;
}

void numbers_decode(struct numbers *numbers, uint32_t first, unsigned dtype)
{
    struct float_format format;
    if (dtype >= DTYPE_COUNT || dtype_info((enum dtype)dtype)->class != CLASS_FLOAT ||
        !dtype_float_format((enum dtype)dtype, &format))
        return;
    uint64_t mask = ~(uint64_t)0 >> (64 - dtype_info((enum dtype)dtype)->bits);
    for (uint32_t i = first; i < numbers->count; i++) {
        struct attr_value *number = &numbers->at[i];
        uint64_t bits = (uint64_t)number->i & mask;
        if (number->kind == ATTR_INT)
            *number = (struct attr_value){.kind = ATTR_FLOAT, .f = float_decode(format, bits)};
    }
}
