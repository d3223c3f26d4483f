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

/* "e18": an exponent behind digits, held within what no 64-bit number has; false for what is
 * none. */
static bool read_exponent(const char *text, int *exponent)
{
    enum { MOST = 100000 };
    bool negative = *text && text[1] == '-';
    *exponent = 0;
    if (!*text)
        return true;
    text += 1 + (negative || text[1] == '+');
    if (!*text || text[strspn(text, "0123456789")] != '\0')
        return false;
    for (; *text; text++)
        *exponent = *exponent < MOST ? *exponent * 10 + (*text - '0') : MOST;
    *exponent = negative ? -*exponent : *exponent;
    return true;
}

/* Appends a decimal digit. */
static void add_digit(uint64_t *number, unsigned digit, bool *huge)
{
    *huge |= __builtin_mul_overflow(*number, 10, number) ||
             __builtin_add_overflow(*number, digit, number);
}

/* Digits behind the number's last one must be 0. */
bool spec_whole(const char *text, uint64_t *number, bool *huge)
{
    size_t whole = strspn(text, "0123456789"), point = text[whole] == '.';
    size_t fraction = point ? strspn(text + whole + 1, "0123456789") : 0;
    const char *behind = text + whole + point + fraction;
    int exponent;
    *number = 0;
    *huge = false;
    if (whole + fraction == 0 || (*behind && *behind != 'e' && *behind != 'E') ||
        !read_exponent(behind, &exponent))
        return false;
    long long places = (long long)whole + exponent; /* up to the decimal point */
    for (const char *at = text; at < behind; at++) {
        if (*at == '.')
            continue;
        if (places-- > 0)
            add_digit(number, (unsigned)(*at - '0'), huge);
        else if (*at != '0')
            return false;
    }
    for (; places > 0 && *number && !*huge; places--)
        add_digit(number, 0, huge);
    return true;
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
    bool huge;
    char what[128];
    integer_limits(filler->tensor->dtype, &least, &greatest);
    if (!spec_whole(digits, number, &huge)) {
        snprintf(what, sizeof what, "no whole number, which %s needs", name);
        return spec_bad_number(filler, text, what);
    }
    if (huge || *number > (negative ? least : greatest)) {
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
