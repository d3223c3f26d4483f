/* Contents of tensors by the SPECs of the command line. A SPEC is read into a series, whose n-th
 * element is found without those before it, so that it depends on nothing but the series. */
#include "frontend/tensor/tensor.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tensor/npy.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"

/* A tensor to be filled, the SPEC, and where its errors go. */
struct filler {
    struct tensor *tensor;
    const char *spec;
    uint64_t seed; /* where the SPEC has none */
    char *error;
    size_t error_size;
    const struct dtype_info *info;
    bool is_float; /* or complex */
    struct float_format format;
    size_t item, part; /* bytes of an element, and of its parts where it is complex */
};

/* The bounds, or the first element and the step, are in `real` for floats, else in `whole`, in
 * two's complement. */
struct series {
    enum { SAME, STEPS, UNIFORM, NORMAL } kind;
    double real[2];
    uint64_t whole[2]; /* the first one: the bits of SAME, for floats, too */
    uint64_t seed;
};

/* ---------------------------------------------------------------- the normal quantile ---- */

/* Volatile, so that no machine fuses the multiplication with an addition. */
static double product(double a, double b)
{
    volatile double c = a * b;
    return c;
}

/* The coefficients of a polynomial, that of the highest power first. */
enum { TERMS = 8 };

static double polynomial(const double terms[TERMS], double x)
{
    double sum = terms[0];
    for (size_t i = 1; i < TERMS; i++)
        sum = product(sum, x) + terms[i];
    return sum;
}

/* By the series of the inverse hyperbolic tangent, on [sqrt(1/2), sqrt(2)). */
static double natural_logarithm(double x)
{
    static const double ln2 = 0x1.62e42fefa39efp-1;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m = m + m;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = product(s, s), sum = 0;
    for (int odd = 23; odd >= 1; odd -= 2)
        sum = product(sum, square) + 1.0 / odd;
    return product(2 * s, sum) + product(exponent, ln2);
}

/* One of the three ranges of AS 241. */
struct rational {
    double above[TERMS], below[TERMS];
};

static const struct rational centre = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
    {5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0},
};
static const struct rational middle = {
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
     1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187,
     1.0},
};
static const struct rational tail = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699,
     6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0},
};

static double quotient(const struct rational *rational, double x)
{
    return polynomial(rational->above, x) / polynomial(rational->below, x);
}

double normal_quantile(double p)
{
    assert(p > 0 && p < 1);
    double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return product(q, quotient(&centre, 0.180625 - product(q, q)));
    double r = sqrt(-natural_logarithm(q < 0 ? p : 1 - p));
    double x = r <= 5 ? quotient(&middle, r - 1.6) : quotient(&tail, r - 5);
    return q < 0 ? -x : x;
}

/* -------------------------------------------------------------------------- elements ---- */

/* Counter-based: the n-th number of a seed is found without those before it. The mixing steps are
 * those of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators). */
static const uint64_t golden = 0x9e3779b97f4a7c15;

static uint64_t mix(uint64_t bits)
{
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

/* Uniform in [low, high) for floats, or `low` where they are the same; in [low, high] for
 * integers. */
static uint64_t uniform(const struct filler *filler, const struct series *series, uint64_t bits)
{
    if (filler->is_float) {
        /* Halves, as the difference may pass the greatest double. Volatile, so that no machine
         * fuses the multiplication with an addition: the values are the same on all. */
        double low = series->real[0], high = series->real[1];
        volatile double half = (double)(bits >> 11) * 0x1p-53 * (high * 0.5 - low * 0.5);
        uint64_t encoded = float_encode(filler->format, low + half + half);
        if (low < high && float_decode(filler->format, encoded) >= high)
            return float_below(filler->format, float_encode(filler->format, high));
        return encoded;
    }
    /* As many low bits as are needed, again where they are too great, which is less likely than
     * not. */
    uint64_t most = series->whole[1] - series->whole[0];
    uint64_t mask = most == 0 ? 0 : UINT64_MAX >> __builtin_clzll(most);
    while ((bits & mask) > most)
        bits = mix(bits + golden);
    return series->whole[0] + (bits & mask);
}

static uint64_t element(const struct filler *filler, const struct series *series, uint64_t index)
{
    /* Mixing the seed first keeps the sequences of neighbouring seeds apart. */
    uint64_t random = mix(mix(series->seed + golden) + (index + 1) * golden);
    volatile double offset;
    switch (series->kind) {
    case SAME: return series->whole[0];
    case STEPS:
        /* Each float is rounded once; integers past the range begin again at its other end. */
        offset = (double)index * series->real[1];
        return filler->is_float ? float_encode(filler->format, series->real[0] + offset)
                                : series->whole[0] + index * series->whole[1];
    case UNIFORM: return uniform(filler, series, random);
    case NORMAL: break;
    }
    /* The middles of 2^52 parts of (0, 1), which are exact. */
    double probability = ((double)(random >> 12) + 0.5) * 0x1p-52;
    return float_encode(filler->format, normal_quantile(probability));
}

/* Random parts of complex numbers are both random; the imaginary part of others is zero. */
static void fill(const struct filler *filler, const struct series *series)
{
    struct tensor *tensor = filler->tensor;
    bool random = series->kind == UNIFORM || series->kind == NORMAL;
    size_t stride = random ? filler->part : filler->item;
    memset(tensor->data, 0, tensor->size);
    for (size_t i = 0; i < tensor->size / stride; i++) {
        uint64_t bits = element(filler, series, i);
        memcpy(tensor->data + i * stride, &bits, filler->part);
    }
}

/* --------------------------------------------------------------------------- numbers ---- */

/* "'TEXT' in 'SPEC' is ..." */
__attribute__((format(printf, 3, 4))) static bool
bad_number(const struct filler *filler, const char *text, const char *format, ...)
{
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (strcmp(text, filler->spec) == 0)
        return message_fail(filler->error, filler->error_size, "'%s' is %s", text, what);
    return message_fail(filler->error, filler->error_size, "'%s' in '%s' is %s", text, filler->spec,
                        what);
}

static bool no_values(const struct filler *filler)
{
    return message_fail(filler->error, filler->error_size, "'%s' cannot make values of dtype %s",
                        filler->spec, filler->info->name);
}

/* A finite decimal number; `rounded` to the dtype, which has a finite neighbour of it. */
static bool read_real(const struct filler *filler, const char *text, bool rounded, double *number)
{
    char *end;
    *number = strtod(text, &end);
    /* strtod takes hexadecimal numbers, inf, nan and leading blanks as well. */
    if (text[strspn(text, "+-.0123456789eE")] != '\0' || *end != '\0' || end == text)
        return bad_number(filler, text, "no number");
    if (!rounded)
        return true;
    uint64_t bits = float_encode(filler->format, *number);
    *number = float_decode(filler->format, bits);
    return float_is_finite(filler->format, bits) ||
           bad_number(filler, text, "out of the range of %s, which is %.9g at most",
                      filler->info->name,
                      float_decode(filler->format, float_greatest(filler->format)));
}

/* A whole number, such as 12 or 1.5e3, of the dtype's range, or of 64 bits for a step. A long
 * double has all of these. */
static bool read_whole(const struct filler *filler, const char *text, bool step, uint64_t *number)
{
    const struct dtype_info *info = filler->info;
    unsigned bits = info->class == CLASS_BOOL ? 1 : info->bits;
    bool is_signed = info->class == CLASS_SINT, negative = *text == '-';
    uint64_t least = is_signed ? (uint64_t)1 << (bits - 1) : 0;
    uint64_t greatest = UINT64_MAX >> (64 - bits + is_signed);
    const char *digits = text + (negative || *text == '+');
    char *end;
    errno = 0;
    long double value = strtold(digits, &end);
    bool whole = *digits && strchr(".0123456789", *digits) &&
                 digits[strspn(digits, ".0123456789eE+-")] == '\0' && !*end && end != digits &&
                 value == floorl(value) && (value != 0 || errno == 0);
    if (step && (!whole || value > (long double)UINT64_MAX))
        return bad_number(filler, text, "no whole number, as steps of integers are");
    if (!whole)
        return bad_number(filler, text, "no whole number, which %s needs", info->name);
    if (!step && value > (long double)(negative ? least : greatest))
        return bad_number(filler, text, "out of the range of %s, which is %s%llu to %llu",
                          info->name, least > 0 ? "-" : "", (unsigned long long)least,
                          (unsigned long long)greatest);
    *number = negative ? -(uint64_t)value : (uint64_t)value;
    return true;
}

static bool read_seed(const struct filler *filler, const char *text, uint64_t *seed)
{
    errno = 0;
    *seed = text ? strtoull(text, NULL, 10) : filler->seed;
    return !text || (*text && text[strspn(text, "0123456789")] == '\0' && errno == 0) ||
           bad_number(filler, text, "no seed, which is a whole number below 2^64");
}

/* ----------------------------------------------------------------------------- forms ---- */

enum { MAX_NUMBER = 64 };

static bool copy_number(char text[MAX_NUMBER], const char *start, size_t size)
{
    if (size == 0 || size >= MAX_NUMBER)
        return false;
    memcpy(text, start, size);
    text[size] = '\0';
    return true;
}

static bool read_rand(const struct filler *filler, const char *text, struct series *series)
{
    char bounds[2][MAX_NUMBER];
    const char *dots = strstr(text, "..");
    size_t size = dots ? strcspn(dots + 2, ":") : 0;
    if (!dots || !copy_number(bounds[0], text, (size_t)(dots - text)) ||
        !copy_number(bounds[1], dots + 2, size))
        return message_fail(filler->error, filler->error_size,
                            "'%s' has no range: it is rand:LO..HI or rand:LO..HI:SEED",
                            filler->spec);
    series->kind = UNIFORM;
    if (!read_seed(filler, dots[2 + size] == ':' ? dots + 2 + size + 1 : NULL, &series->seed))
        return false;
    if (!filler->is_float && filler->info->class == CLASS_FLOAT)
        return no_values(filler);
    for (int i = 0; i < 2; i++)
        if (!(filler->is_float ? read_real(filler, bounds[i], true, &series->real[i])
                               : read_whole(filler, bounds[i], false, &series->whole[i])))
            return false;
    uint64_t low = series->whole[0], high = series->whole[1];
    bool above = filler->is_float                    ? series->real[0] > series->real[1]
                 : filler->info->class == CLASS_SINT ? (int64_t)low > (int64_t)high
                                                     : low > high;
    return !above || message_fail(filler->error, filler->error_size,
                                  "'%s' has its low end above its high end", filler->spec);
}

static bool read_normal(const struct filler *filler, const char *text, struct series *series)
{
    series->kind = NORMAL;
    if (!read_seed(filler, text, &series->seed))
        return false;
    if (filler->is_float)
        return true;
    return filler->info->class == CLASS_FLOAT
               ? no_values(filler)
               : message_fail(filler->error, filler->error_size,
                              "'%s' makes fractions, which %s does not have; rand:LO..HI makes "
                              "whole numbers",
                              filler->spec, filler->info->name);
}

static bool read_arange(const struct filler *filler, const char *text, struct series *series)
{
    char start[MAX_NUMBER] = "0";
    size_t size = text ? strcspn(text, ":") : 0;
    const char *step = text && text[size] ? text + size + 1 : "1";
    series->kind = STEPS;
    if (filler->info->class == CLASS_BOOL)
        return message_fail(filler->error, filler->error_size,
                            "'%s' counts, which bool does not; rand:0..1 makes both of its values",
                            filler->spec);
    if (text && !copy_number(start, text, size))
        return message_fail(filler->error, filler->error_size,
                            "'%s' has no start: it is arange, arange:START or arange:START:STEP",
                            filler->spec);
    if (filler->is_float)
        return read_real(filler, start, false, &series->real[0]) &&
               read_real(filler, step, false, &series->real[1]);
    return filler->info->class == CLASS_FLOAT
               ? no_values(filler)
               : read_whole(filler, start, false, &series->whole[0]) &&
                     read_whole(filler, step, true, &series->whole[1]);
}

static bool read_number(const struct filler *filler, const char *text, struct series *series)
{
    struct float_format format = filler->format;
    uint64_t *bits = &series->whole[0];
    bool negative = *text == '-', is_nan = strcmp(text, "nan") == 0;
    series->kind = SAME;
    if (filler->info->class == CLASS_BOOL &&
        (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        *bits = *text == 't';
        return true;
    }
    if (!filler->is_float)
        return filler->info->class == CLASS_FLOAT ? no_values(filler)
                                                  : read_whole(filler, text, false, bits);
    if (is_nan || strcmp(text + negative, "inf") == 0) {
        *bits = is_nan ? float_nan(format) : float_overflow(format);
        *bits |= negative ? float_sign(format) : 0;
        return is_nan || !format.finite ||
               bad_number(filler, text, "no number of this dtype: it has no infinity");
    }
    if (!read_real(filler, text, true, &series->real[0]))
        return false;
    *bits = float_encode(format, series->real[0]);
    return true;
}

static const char forms_text[] = "FILE.npy, a number, arange[:START[:STEP]], normal[:SEED], "
                                 "rand:LO..HI[:SEED], ones or zeros";

/* The forms that are words. `read` takes `number`, or what follows the colon; NULL where nothing
 * does. */
static const struct form {
    const char *name;
    bool takes_text, needs_text;
    bool (*read)(const struct filler *filler, const char *text, struct series *series);
    const char *number;
} forms[] = {
    {"arange", true, false, read_arange, NULL}, {"normal", true, false, read_normal, NULL},
    {"rand", true, true, read_rand, NULL},      {"ones", false, false, read_number, "1"},
    {"zeros", false, false, read_number, "0"},
};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

static bool unknown_spec(const struct filler *filler)
{
    struct suggest suggest = {.wanted = filler->spec, .wanted_size = strcspn(filler->spec, ":")};
    for (size_t i = 0; i < N_FORMS; i++)
        suggest_offer_text(&suggest, forms[i].name);
    if (suggest.best && strcmp(suggest.best, "rand") == 0)
        suggest.behind = ":LO..HI";
    return message_fail(filler->error, filler->error_size, "'%s' is none of %s%s", filler->spec,
                        forms_text, suggest_end(&suggest).text);
}

bool tensor_spec_is_file(const char *spec)
{
    static const char suffix[] = ".npy";
    size_t size = strlen(spec), suffix_size = sizeof suffix - 1;
    return strchr(spec, '/') ||
           (size > suffix_size && strcmp(spec + size - suffix_size, suffix) == 0);
}

/* Whether it can only be meant as a number. */
static bool is_number(const char *spec)
{
    static const char *const words[] = {"nan", "inf", "-inf", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(spec, words[i]) == 0)
            return true;
    return isdigit((unsigned char)spec[strspn(spec, "+-.")]) && !strchr(spec, ':');
}

bool tensor_fill(struct tensor *tensor, const char *spec, uint64_t seed, char *error,
                 size_t error_size)
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    struct filler filler = {tensor, spec, seed, error, error_size, info, .item = info->bits / 8};
    filler.part = filler.item / (info->class == CLASS_COMPLEX ? 2 : 1);
    filler.is_float = dtype_float_format(tensor->dtype, &filler.format);
    struct series series = {.kind = SAME};
    size_t size = strcspn(spec, ":");
    const char *text = spec[size] ? spec + size + 1 : NULL;
    bool ok = false, found = false;
    for (size_t i = 0; i < N_FORMS && !found; i++) {
        const struct form *form = &forms[i];
        found = strlen(form->name) == size && memcmp(spec, form->name, size) == 0 &&
                (text ? form->takes_text : !form->needs_text);
        ok = found && form->read(&filler, form->number ? form->number : text, &series);
    }
    if (!found && tensor_spec_is_file(spec))
        return npy_read(tensor, spec, error, error_size);
    if (!found && !is_number(spec))
        return npy_refuse_other(spec, error, error_size) && unknown_spec(&filler);
    if (!found)
        ok = read_number(&filler, spec, &series);
    if (ok)
        fill(&filler, &series);
    return ok;
}

bool tensor_fill_numbers(struct tensor *tensor, const struct contents *contents, char *error,
                         size_t error_size)
{
    const struct dtype_info *info = dtype_info(tensor->dtype);
    size_t item = info->bits / 8;
    for (size_t at = 0; at < tensor->size; at += item) {
        uint64_t bits;
        size_t index = contents->count == 1 ? 0 : at / item;
        if (number_encode(tensor->dtype, &contents->numbers[index], &bits) != NUMBER_FITS)
            return message_fail(error, error_size, "'contents' cannot make values of dtype %s",
                                info->name);
        memcpy(tensor->data + at, &bits, item);
    }
    return true;
}

/* -------------------------------------------------------------------------- expected ---- */

static bool alike(enum dtype found, enum dtype given)
{
    enum dtype_class a = dtype_info(found)->class, b = dtype_info(given)->class;
    bool ints = (a == CLASS_SINT || a == CLASS_UINT) && (b == CLASS_SINT || b == CLASS_UINT);
    return ints || a == b;
}

bool tensor_expect(struct tensor *expected, const struct tensor *found, const char *spec,
                   uint64_t seed, char *error, size_t error_size)
{
    enum dtype dtype = found->dtype, held;
    if (tensor_spec_is_file(spec) && npy_dtype(spec, &held) && alike(dtype, held))
        dtype = held;
    if (!tensor_init(expected, dtype, found->dims, found->rank, error, error_size))
        return false;
    if (tensor_fill(expected, spec, seed, error, error_size))
        return true;
    tensor_free(expected);
    return false;
}
