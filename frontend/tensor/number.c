#include "frontend/tensor/number.h"

#include <assert.h>
#include <string.h>

uint64_t tensor_elements(const struct tensor *tensor)
{
    return tensor->size / (dtype_info(tensor->dtype)->bits / 8);
}

bool numbers_of(const struct tensor *tensor, struct numbers *numbers)
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    *numbers = (struct numbers){.tensor = tensor, .parts = info->class == CLASS_COMPLEX ? 2 : 1};
    numbers->part = info->bits / 8 / numbers->parts;
    numbers->is_float = dtype_float_format(tensor->dtype, &numbers->format);
    return numbers->is_float || info->class == CLASS_SINT || info->class == CLASS_UINT ||
           info->class == CLASS_BOOL;
}

static long double float_number(const struct numbers *numbers, const unsigned char *at)
{
    uint64_t bits = 0;
    if (numbers->tensor->dtype == DTYPE_f32) {
        float single;
        memcpy(&single, at, sizeof single);
        return single;
    }
    memcpy(&bits, at, numbers->part);
    return float_decode(numbers->format, bits);
}

long double number_at(const struct numbers *numbers, uint64_t index, unsigned part)
{
    const struct dtype_info *info = dtype_info(numbers->tensor->dtype);
    const unsigned char *at =
        numbers->tensor->data + (index * numbers->parts + part) * numbers->part;
    uint64_t bits = 0;
    unsigned unused = 64 - (unsigned)numbers->part * 8;
    assert(part < numbers->parts);
    if (numbers->is_float)
        return float_number(numbers, at);
    memcpy(&bits, at, numbers->part);
    if (info->class == CLASS_SINT)
        return (long double)((int64_t)(bits << unused) >> unused);
    return (long double)bits;
}
