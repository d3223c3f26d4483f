/* Contents of tensors by a SPEC of the command line. */
#include "frontend/tensor/npy.h"
#include "frontend/tensor/tensor.h"
#include "ir/base/message.h"
#include "ir/base/suggest.h"

#include <stdlib.h>
#include <string.h>

static const char forms[] = "FILE.npy, rand:LO..HI[:SEED], ones or zeros";

/* A SPEC in the making of a tensor, and where its errors go. */
struct filler {
    struct tensor *tensor;
    const char *spec;
    char *error;
    size_t error_size;
};

/* -------------------------------------------------------------------------- numbers ---- */

/* Counter-based: the n-th number of a seed is found without those before it. The mixing steps are
 * those of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators). */
static const uint64_t golden = 0x9e3779b97f4a7c15;

static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

/* Mixing the seed first keeps the sequences of neighbouring seeds apart. */
static uint64_t random_bits(uint64_t seed, uint64_t index)
{
    return mix(mix(seed + golden) + (index + 1) * golden);
}

/* Uniform in [0, most]: as many low bits as it needs, again where they are too great, which is less
 * likely than not. */
static uint64_t random_below(uint64_t bits, uint64_t most)
{
    uint64_t mask = most == 0 ? 0 : UINT64_MAX >> __builtin_clzll(most);
    while ((bits & mask) > most)
        bits = mix(bits + golden);
    return bits & mask;
}

/* The bits of a number of the format, uniform in [low, high), or `low` where they are the same. */
static uint64_t random_float(uint64_t bits, struct float_format format, double low, double high)
{
    /* Halves, as the difference may pass the greatest double. Volatile, so that no machine fuses
     * the multiplication with an addition: the values are the same on all. */
    volatile double half = (double)(bits >> 11) * 0x1p-53 * (high * 0.5 - low * 0.5);
    uint64_t encoded = float_encode(format, low + half + half);
    if (low < high && float_decode(format, encoded) >= high)
        return float_below(format, float_encode(format, high));
    return encoded;
}

/* -------------------------------------------------------------------------- parsing ---- */

enum { MAX_NUMBER = 64 };

/* The bounds and the seed of rand:LO..HI[:SEED], as text. */
struct range_text {
    char low[MAX_NUMBER], high[MAX_NUMBER];
    const char *seed; /* NULL: none */
};

static bool copy_number(char text[MAX_NUMBER], const char *start, size_t size)
{
    if (size == 0 || size >= MAX_NUMBER)
        return false;
    memcpy(text, start, size);
    text[size] = '\0';
    return true;
}

/* `text` is what follows "rand:". */
static bool split_range(const struct filler *filler, const char *text, struct range_text *range)
{
    const char *dots = strstr(text, "..");
    size_t size = dots ? strcspn(dots + 2, ":") : 0;
    if (!dots || !copy_number(range->low, text, (size_t)(dots - text)) ||
        !copy_number(range->high, dots + 2, size))
        return message_fail(filler->error, filler->error_size,
                            "'%s' has no range: it is rand:LO..HI or rand:LO..HI:SEED",
                            filler->spec);
    range->seed = dots[2 + size] == ':' ? dots + 2 + size + 1 : NULL;
    return true;
}

static bool bad_number(const struct filler *filler, const char *text, const char *what)
{
    return message_fail(filler->error, filler->error_size, "'%s' in '%s' is %s", text, filler->spec,
                        what);
}

static bool bad_order(const struct filler *filler)
{
    return message_fail(filler->error, filler->error_size,
                        "'%s' has its low end above its high end", filler->spec);
}

/* Decimal digits, and nothing else. */
static bool parse_digits(const char *text, uint64_t *number)
{
    *number = 0;
    for (const char *at = text; *at; at++)
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
            return false;
    return *text != '\0';
}

/* A number that the format has a finite neighbour of, rounded to the format. */
static bool parse_float(const struct filler *filler, struct float_format format, const char *text,
                        double *number)
{
    char *end;
    double value = strtod(text, &end);
    /* strtod takes hexadecimal numbers, inf, nan and leading blanks as well. */
    if (text[strspn(text, "+-.0123456789eE")] != '\0' || *end != '\0' || end == text)
        return bad_number(filler, text, "no number");
    uint64_t bits = float_encode(format, value);
    if (!float_is_finite(format, bits)) {
        char what[128];
        snprintf(what, sizeof what, "out of the range of %s, which is %.9g at most",
                 dtype_info(filler->tensor->dtype)->name,
                 float_decode(format, float_greatest(format)));
        return bad_number(filler, text, what);
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

/* A number in the dtype's range, negative ones in two's complement. */
static bool parse_integer(const struct filler *filler, const char *text, uint64_t *number)
{
    const char *name = dtype_info(filler->tensor->dtype)->name;
    bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    uint64_t least, greatest;
    char what[128];
    integer_limits(filler->tensor->dtype, &least, &greatest);
    if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
        snprintf(what, sizeof what, "no whole number, which %s needs", name);
        return bad_number(filler, text, what);
    }
    if (!parse_digits(digits, number) || *number > (negative ? least : greatest)) {
        snprintf(what, sizeof what, "out of the range of %s, which is %s%llu to %llu", name,
                 least > 0 ? "-" : "", (unsigned long long)least, (unsigned long long)greatest);
        return bad_number(filler, text, what);
    }
    if (negative)
        *number = -*number;
    return true;
}

/* -------------------------------------------------------------------------- filling ---- */

static bool no_values(const struct filler *filler)
{
    return message_fail(filler->error, filler->error_size, "'%s' cannot make values of dtype %s",
                        filler->spec, dtype_info(filler->tensor->dtype)->name);
}

static bool fill_random_floats(const struct filler *filler, struct float_format format,
                               const struct range_text *range, uint64_t seed)
{
    double low, high;
    if (!parse_float(filler, format, range->low, &low) ||
        !parse_float(filler, format, range->high, &high))
        return false;
    if (low > high)
        return bad_order(filler);
    struct tensor *tensor = filler->tensor;
    size_t part = (1u + format.exponent + format.fraction) / 8;
    for (size_t i = 0; i < tensor->size / part; i++) {
        uint64_t bits = random_float(random_bits(seed, i), format, low, high);
        memcpy(tensor->data + i * part, &bits, part);
    }
    return true;
}

static bool fill_random_integers(const struct filler *filler, const struct range_text *range,
                                 uint64_t seed)
{
    uint64_t low, high;
    if (!parse_integer(filler, range->low, &low) || !parse_integer(filler, range->high, &high))
        return false;
    struct tensor *tensor = filler->tensor;
    const struct dtype_info *info = dtype_info(tensor->dtype);
    if (info->class == CLASS_SINT ? (int64_t)low > (int64_t)high : low > high)
        return bad_order(filler);
    size_t item = info->bits / 8;
    for (size_t i = 0; i < tensor->size / item; i++) {
        uint64_t bits = low + random_below(random_bits(seed, i), high - low);
        memcpy(tensor->data + i * item, &bits, item);
    }
    return true;
}

static bool fill_random(const struct filler *filler, const char *text, uint64_t seed)
{
    struct range_text range;
    struct float_format format;
    enum dtype dtype = filler->tensor->dtype;
    enum dtype_class class = dtype_info(dtype)->class;
    if (!split_range(filler, text, &range))
        return false;
    if (range.seed && !parse_digits(range.seed, &seed))
        return bad_number(filler, range.seed, "no seed, which is a whole number below 2^64");
    if (dtype_float_format(dtype, &format))
        return fill_random_floats(filler, format, &range, seed);
    if (class == CLASS_FLOAT)
        return no_values(filler);
    return fill_random_integers(filler, &range, seed);
}

static bool fill_constant(const struct filler *filler, unsigned number)
{
    struct tensor *tensor = filler->tensor;
    const struct dtype_info *info = dtype_info(tensor->dtype);
    size_t item = info->bits / 8;
    struct float_format format;
    uint64_t bits = number;
    if (dtype_float_format(tensor->dtype, &format))
        bits = float_encode(format, number);
    else if (info->class == CLASS_FLOAT)
        return no_values(filler);
    memset(tensor->data, 0, tensor->size);
    /* The imaginary part of a complex number stays zero. */
    size_t part = info->class == CLASS_COMPLEX ? item / 2 : item;
    for (size_t at = 0; at < tensor->size; at += item)
        memcpy(tensor->data + at, &bits, part);
    return true;
}

bool tensor_fill_numbers(struct tensor *tensor, const struct contents *contents, char *error,
                         size_t error_size)
{
    const struct filler filler = {tensor, "contents", error, error_size};
    size_t item = dtype_info(tensor->dtype)->bits / 8;
    for (size_t at = 0; at < tensor->size; at += item) {
        uint64_t bits;
        size_t index = contents->count == 1 ? 0 : at / item;
        if (number_encode(tensor->dtype, &contents->numbers[index], &bits) != NUMBER_FITS)
            return no_values(&filler);
        memcpy(tensor->data + at, &bits, item);
    }
    return true;
}

static bool unknown_spec(const struct filler *filler)
{
    size_t size = strcspn(filler->spec, ":");
    struct suggest suggest = {.wanted = filler->spec, .wanted_size = size};
    if (filler->spec[size] == '\0') {
        suggest_offer_text(&suggest, "ones");
        suggest_offer_text(&suggest, "zeros");
    }
    suggest_offer_text(&suggest, "rand");
    if (suggest.best && strcmp(suggest.best, "rand") == 0)
        suggest.behind = ":LO..HI";
    return message_fail(filler->error, filler->error_size, "'%s' is none of %s%s", filler->spec,
                        forms, suggest_end(&suggest).text);
}

static bool is_file(const char *spec)
{
    static const char suffix[] = ".npy";
    size_t size = strlen(spec), suffix_size = sizeof suffix - 1;
    return strchr(spec, '/') ||
           (size > suffix_size && strcmp(spec + size - suffix_size, suffix) == 0);
}

bool tensor_fill(struct tensor *tensor, const char *spec, uint64_t seed, char *error,
                 size_t error_size)
{
    static const char rand_prefix[] = "rand:";
    size_t prefix_size = sizeof rand_prefix - 1;
    const struct filler filler = {tensor, spec, error, error_size};
    if (strcmp(spec, "ones") == 0)
        return fill_constant(&filler, 1);
    if (strcmp(spec, "zeros") == 0)
        return fill_constant(&filler, 0);
    if (strncmp(spec, rand_prefix, prefix_size) == 0)
        return fill_random(&filler, spec + prefix_size, seed);
    return is_file(spec) ? npy_read(tensor, spec, error, error_size) : unknown_spec(&filler);
}
