#include "frontend/tensor/tensor_match.h"
#include "frontend/tensor/npy.h"
#include "frontend/tensor/number.h"
#include "ir/base/message.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------ comparison ---- */

struct matcher {
    const struct tensor *found, *expected;
    struct numbers a, b; /* of these */
    bool has_numbers;
    const struct tolerance *tolerance;
};

static bool is_nan(const struct numbers *numbers, uint64_t index)
{
    for (unsigned i = 0; i < numbers->parts; i++)
        if (isnan(number_at(numbers, index, i)))
            return true;
    return false;
}

static bool is_infinite(const struct numbers *numbers, uint64_t index)
{
    for (unsigned i = 0; i < numbers->parts; i++)
        if (isinf(number_at(numbers, index, i)))
            return true;
    return false;
}

/* The difference and the magnitude of what was expected, neither with NaN or infinity. */
static long double difference(const struct matcher *matcher, uint64_t i, long double *magnitude)
{
    long double parts[2] = {0, 0}, expected[2] = {0, 0};
    for (unsigned p = 0; p < matcher->a.parts; p++) {
        expected[p] = number_at(&matcher->b, i, p);
        parts[p] = number_at(&matcher->a, i, p) - expected[p];
    }
    bool is_complex = matcher->a.parts == 2;
    *magnitude = is_complex ? hypotl(expected[0], expected[1]) : fabsl(expected[0]);
    return is_complex ? hypotl(parts[0], parts[1]) : fabsl(parts[0]);
}

/* Numbers that are rounded to what was found are the same bits; ints are the same numbers. */
static bool same_part(const struct matcher *matcher, uint64_t i, unsigned part)
{
    const struct numbers *a = &matcher->a;
    long double found = number_at(a, i, part), expected = number_at(&matcher->b, i, part);
    if (!a->is_float)
        return found == expected;
    uint64_t bits = 0;
    memcpy(&bits, a->tensor->data + (i * a->parts + part) * a->part, a->part);
    return bits == float_encode(a->format, (double)expected) || (isnan(found) && isnan(expected));
}

static bool same_element(const struct matcher *matcher, uint64_t i)
{
    size_t item = dtype_info(matcher->found->dtype)->bits / 8;
    if (matcher->found->dtype == matcher->expected->dtype &&
        memcmp(matcher->found->data + i * item, matcher->expected->data + i * item, item) == 0)
        return true;
    for (unsigned part = 0; matcher->has_numbers && part < matcher->a.parts; part++)
        if (!same_part(matcher, i, part))
            return false;
    return matcher->has_numbers;
}

/* Where one of them is not finite. */
static bool special_matches(const struct matcher *matcher, uint64_t i)
{
    bool nan = is_nan(&matcher->a, i);
    if (nan || is_nan(&matcher->b, i))
        return nan && is_nan(&matcher->b, i);
    for (unsigned part = 0; part < matcher->a.parts; part++)
        if (number_at(&matcher->a, i, part) != number_at(&matcher->b, i, part))
            return false;
    return true;
}

static void note_errors(struct match *match, uint64_t i, double error, double magnitude)
{
    if (error > match->largest_absolute) {
        match->largest_absolute = error;
        match->at_absolute = i;
    }
    if (magnitude > 0 && error / magnitude > match->largest_relative) {
        match->largest_relative = error / magnitude;
        match->at_relative = i;
    }
}

static bool element_matches(const struct matcher *matcher, uint64_t i, struct match *match)
{
    const struct tolerance *tolerance = matcher->tolerance;
    bool exact = tolerance->exact && same_element(matcher, i);
    if (!matcher->has_numbers)
        return same_element(matcher, i);
    if (is_nan(&matcher->a, i) || is_nan(&matcher->b, i) || is_infinite(&matcher->a, i) ||
        is_infinite(&matcher->b, i))
        return tolerance->exact ? exact : special_matches(matcher, i);
    long double magnitude, error = difference(matcher, i, &magnitude);
    note_errors(match, i, (double)error, (double)magnitude);
    return tolerance->exact ? exact
                            : error <= tolerance->absolute + tolerance->relative * magnitude;
}

bool tensor_match(const struct tensor *found, const struct tensor *expected,
                  const struct tolerance *tolerance, struct match *match, char *error,
                  size_t error_size)
{
    struct matcher matcher = {.found = found, .expected = expected, .tolerance = tolerance};
    bool known = numbers_of(found, &matcher.a);
    matcher.has_numbers = numbers_of(expected, &matcher.b) && known;
    *match = (struct match){.elements = tensor_elements(found)};
    assert(match->elements == tensor_elements(expected));
    if (!matcher.has_numbers && found->dtype != expected->dtype)
        return message_fail(error, error_size, "the numbers of dtype %s are not known",
                            dtype_info(found->dtype)->name);
    if (found->dtype == expected->dtype && memcmp(found->data, expected->data, found->size) == 0)
        return true;
    for (uint64_t i = 0; i < match->elements; i++) {
        if (element_matches(&matcher, i, match))
            continue;
        if (match->different++ == 0)
            match->first = i;
    }
    return true;
}

/* ----------------------------------------------------------------------------- text ---- */

static void error_text(const struct tensor *tensor, const char *what, double error, uint64_t at,
                       struct text *text)
{
    char index[256];
    tensor_index_text(tensor, at, index, sizeof index);
    text_printf(text, "%s %.3g at %s", what, error, index);
}

void tensor_match_text(const struct tensor *found, const struct tensor *expected,
                       const struct match *match, struct text *text)
{
    char index[256], left[128], right[128];
    if (match->different > 0) {
        tensor_index_text(found, match->first, index, sizeof index);
        tensor_element_text(found, match->first, left, sizeof left);
        tensor_element_text(expected, match->first, right, sizeof right);
        text_printf(text, "%llu of %llu element%s differ%s, first %s: %s, expected %s",
                    (unsigned long long)match->different, (unsigned long long)match->elements,
                    match->elements == 1 ? "" : "s", match->different == 1 ? "s" : "", index, left,
                    right);
    }
    if (match->largest_absolute > 0)
        error_text(found, match->different ? "; largest error" : "largest error",
                   match->largest_absolute, match->at_absolute, text);
    if (match->largest_relative > 0)
        error_text(found, ", relative", match->largest_relative, match->at_relative, text);
}

/* ------------------------------------------------------------------------- expected ---- */

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
