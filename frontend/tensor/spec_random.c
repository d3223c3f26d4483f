/* Contents of tensors by the SPECs that are random. */
#include "frontend/tensor/normal.h"
#include "frontend/tensor/spec.h"
#include "ir/base/message.h"

#include <string.h>

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

/* -------------------------------------------------------------------------- uniform ---- */

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

static bool bad_order(const struct filler *filler)
{
    return message_fail(filler->error, filler->error_size,
                        "'%s' has its low end above its high end", filler->spec);
}

static bool fill_random_floats(const struct filler *filler, struct float_format format,
                               const struct range_text *range, uint64_t seed)
{
    double low, high;
    if (!spec_float(filler, format, range->low, &low) ||
        !spec_float(filler, format, range->high, &high))
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
    if (!spec_integer(filler, range->low, &low) || !spec_integer(filler, range->high, &high))
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

bool spec_rand(const struct filler *filler, const char *text)
{
    struct range_text range;
    struct float_format format;
    enum dtype dtype = filler->tensor->dtype;
    uint64_t seed;
    if (!split_range(filler, text ? text : "", &range) || !spec_seed(filler, range.seed, &seed))
        return false;
    if (dtype_float_format(dtype, &format))
        return fill_random_floats(filler, format, &range, seed);
    if (dtype_info(dtype)->class == CLASS_FLOAT)
        return spec_no_values(filler);
    return fill_random_integers(filler, &range, seed);
}

/* --------------------------------------------------------------------------- normal ---- */

/* The middles of 2^52 parts of (0, 1), which are exact. */
static double random_probability(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

static bool refuse_normal(const struct filler *filler)
{
    return message_fail(filler->error, filler->error_size,
                        "'%s' makes fractions, which %s does not have; rand:LO..HI makes whole "
                        "numbers",
                        filler->spec, dtype_info(filler->tensor->dtype)->name);
}

bool spec_normal(const struct filler *filler, const char *text)
{
    struct tensor *tensor = filler->tensor;
    struct float_format format;
    uint64_t seed;
    if (!spec_seed(filler, text, &seed))
        return false;
    if (!dtype_float_format(tensor->dtype, &format))
        return dtype_info(tensor->dtype)->class == CLASS_FLOAT ? spec_no_values(filler)
                                                               : refuse_normal(filler);
    size_t part = (1u + format.exponent + format.fraction) / 8;
    for (size_t i = 0; i < tensor->size / part; i++) {
        double p = random_probability(random_bits(seed, i));
        uint64_t bits = float_encode(format, normal_quantile(p));
        memcpy(tensor->data + i * part, &bits, part);
    }
    return true;
}
