#include "frontend/tensor/spec.h"
#include "ir/base/message.h"

#include <stdlib.h>
#include <string.h>

bool spec_bad_number(const struct filler *filler, const char *text, const char *what)
{
    if (strcmp(text, filler->spec) == 0)
        return message_fail(filler->error, filler->error_size, "'%s' is %s", text, what);
    return message_fail(filler->error, filler->error_size, "'%s' in '%s' is %s", text, filler->spec,
                        what);
}

bool spec_digits(const char *text, uint64_t *number)
{
    *number = 0;
    for (const char *at = text; *at; at++)
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
            return false;
    return *text != '\0';
}

bool spec_seed(const struct filler *filler, const char *text, uint64_t *seed)
{
    *seed = filler->seed;
    return !text || spec_digits(text, seed) ||
           spec_bad_number(filler, text, "no seed, which is a whole number below 2^64");
}

bool spec_double(const struct filler *filler, const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    /* strtod takes hexadecimal numbers, inf, nan and leading blanks as well. */
    if (text[strspn(text, "+-.0123456789eE")] != '\0' || *end != '\0' || end == text)
        return spec_bad_number(filler, text, "no number");
    return true;
}

bool spec_float(const struct filler *filler, struct float_format format, const char *text,
                double *number)
{
    double value;
    if (!spec_double(filler, text, &value))
        return false;
    uint64_t bits = float_encode(format, value);
    if (!float_is_finite(format, bits)) {
        char what[128];
        snprintf(what, sizeof what, "out of the range of %s, which is %.9g at most",
                 dtype_info(filler->tensor->dtype)->name,
                 float_decode(format, float_greatest(format)));
        return spec_bad_number(filler, text, what);
    }
    *number = float_decode(format, bits);
    return true;
}

/* The least and the greatest number of an integer dtype or bool; the least is negated. */
static void integer_limits(enum dtype dtype, uint64_t *least, uint64_t *greatest)
{
    const struct dtype_info *info = dtype_info(dtype);
    unsigned bits = info->class == CLASS_BOOL ? 1 : info->bits;
    bool is_signed = info->class == CLASS_SINT;
    *least = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    *greatest = UINT64_MAX >> (64 - bits + is_signed);
}

bool spec_integer(const struct filler *filler, const char *text, uint64_t *number)
{
    const char *name = dtype_info(filler->tensor->dtype)->name;
    bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    uint64_t least, greatest;
    char what[128];
    integer_limits(filler->tensor->dtype, &least, &greatest);
    if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
        snprintf(what, sizeof what, "no whole number, which %s needs", name);
        return spec_bad_number(filler, text, what);
    }
    if (!spec_digits(digits, number) || *number > (negative ? least : greatest)) {
        snprintf(what, sizeof what, "out of the range of %s, which is %s%llu to %llu", name,
                 least > 0 ? "-" : "", (unsigned long long)least, (unsigned long long)greatest);
        return spec_bad_number(filler, text, what);
    }
    if (negative)
        *number = -*number;
    return true;
}

bool spec_no_values(const struct filler *filler)
{
    return message_fail(filler->error, filler->error_size, "'%s' cannot make values of dtype %s",
                        filler->spec, dtype_info(filler->tensor->dtype)->name);
}

void spec_fill_bits(const struct filler *filler, uint64_t bits)
{
    struct tensor *tensor = filler->tensor;
    const struct dtype_info *info = dtype_info(tensor->dtype);
    size_t item = info->bits / 8, part = info->class == CLASS_COMPLEX ? item / 2 : item;
    memset(tensor->data, 0, tensor->size);
    for (size_t at = 0; at < tensor->size; at += item)
        memcpy(tensor->data + at, &bits, part);
}
