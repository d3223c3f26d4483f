#include "frontend/import/text/decimal.h"
#include "ir/support/memory.h"

#include <stdlib.h>

bool decimal_integer(const char *at, const char *end, int64_t *value)
{
    bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *first = at;
    for (*value = 0; at < end && *at >= '0' && *at <= '9' && at - first < 18; at++)
        *value = *value * 10 + (*at - '0');
    *value = minus ? -*value : *value;
    return at > first && at == end;
}

/* Without a NUL at its end, strtod could read on into what follows. */
bool decimal_float(const char *text, size_t size, double *value)
{
    char small[64], *copy = size < sizeof small ? small : mem_realloc(NULL, size + 1, 1), *end;
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '_')
            copy[n++] = text[i];
    copy[n] = '\0';
    *value = strtod(copy, &end);
    end += end > copy && (*end | 0x20) == 'f';
    bool whole = end > copy && *end == '\0';
    if (copy != small)
        mem_free(copy);
    return whole;
}
