#include "frontend/import/text/decimal.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits from `at` on behind those of `*number`, as many as fit 18 in all; `*count` is of all. */
static const char *take_digits(const char *at, const char *end, uint64_t *number, int *count)
{
    for (; at < end && is_digit(*at) && *count < 18; at++, ++*count)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

static const char *take_sign(const char *at, const char *end, bool *minus)
{
    *minus = at < end && *at == '-';
    return at + (at < end && (*at == '-' || *at == '+'));
}

bool decimal_integer(const char *at, const char *end, int64_t *value)
{
    uint64_t number = 0;
    int count = 0;
    bool minus;
    at = take_digits(take_sign(at, end, &minus), end, &number, &count);
    *value = minus ? -(int64_t)number : (int64_t)number;
    return count > 0 && at == end;
}

static bool take_exponent(const char *at, const char *end, int *exponent)
{
    uint64_t number = 0;
    int count = 0;
    bool minus;
    if (at == end)
        return true;
    if ((*at | 0x20) != 'e')
        return false;
    at = take_digits(take_sign(at + 1, end, &minus), end, &number, &count);
    *exponent += minus ? -(int)(number % 1000) : (int)(number % 1000);
    return count > 0 && count < 4 && at == end;
}

/* Both numbers are doubles without loss, so that their product or quotient is rounded once. */
bool decimal_float(const char *at, const char *end, double *value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t number = 0;
    int count = 0, exponent = 0;
    bool minus;
    at = take_digits(take_sign(at, end, &minus), end, &number, &count);
    if (at < end && *at == '.') {
        int before = count;
        at = take_digits(at + 1, end, &number, &count);
        exponent = before - count;
    }
    if (count == 0 || number >> 53 || !take_exponent(at, end, &exponent) || exponent < -22 ||
        exponent > 22)
        return false;
    double size =
        exponent < 0 ? (double)number / powers[-exponent] : (double)number * powers[exponent];
    *value = minus ? -size : size;
    return true;
}
