/* Contents of tensors by a SPEC of the command line. */
#include "frontend/tensor/npy.h"
#include "frontend/tensor/spec.h"
#include "ir/base/message.h"
#include "ir/base/suggest.h"

#include <ctype.h>
#include <string.h>

/* -------------------------------------------------------------------------- numbers ---- */

/* The bits of a number that is not finite; false where the text is none of those. */
static bool special_bits(struct float_format format, const char *text, uint64_t *bits)
{
    bool negative = *text == '-', is_nan = strcmp(text, "nan") == 0;
    if (!is_nan && strcmp(text + negative, "inf") != 0)
        return false;
    *bits = is_nan ? float_nan(format) : float_overflow(format);
    *bits |= negative ? float_sign(format) : 0;
    return true;
}

static bool float_bits(const struct filler *filler, struct float_format format, const char *text,
                       uint64_t *bits)
{
    double value;
    if (special_bits(format, text, bits))
        return !format.finite || *text == 'n' ||
               spec_bad_number(filler, text, "no number of this dtype: it has no infinity");
    if (!spec_float(filler, format, text, &value))
        return false;
    *bits = float_encode(format, value);
    return true;
}

static bool fill_number(const struct filler *filler, const char *text)
{
    enum dtype dtype = filler->tensor->dtype;
    enum dtype_class class = dtype_info(dtype)->class;
    struct float_format format;
    uint64_t bits;
    if (dtype_float_format(dtype, &format)) {
        if (!float_bits(filler, format, text, &bits))
            return false;
    } else if (class == CLASS_FLOAT) {
        return spec_no_values(filler);
    } else if (class == CLASS_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        bits = *text == 't';
    } else if (!spec_integer(filler, text, &bits)) {
        return false;
    }
    spec_fill_bits(filler, bits);
    return true;
}

static bool fill_ones(const struct filler *filler, const char *unused)
{
    (void)unused;
    return fill_number(filler, "1");
}

static bool fill_zeros(const struct filler *filler, const char *unused)
{
    (void)unused;
    return fill_number(filler, "0");
}

bool tensor_fill_numbers(struct tensor *tensor, const struct contents *contents, char *error,
                         size_t error_size)
{
    const struct filler filler = {tensor, "contents", 0, error, error_size};
    size_t item = dtype_info(tensor->dtype)->bits / 8;
    for (size_t at = 0; at < tensor->size; at += item) {
        uint64_t bits;
        size_t index = contents->count == 1 ? 0 : at / item;
        if (number_encode(tensor->dtype, &contents->numbers[index], &bits) != NUMBER_FITS)
            return spec_no_values(&filler);
        memcpy(tensor->data + at, &bits, item);
    }
    return true;
}

/* --------------------------------------------------------------------------- arange ---- */

enum { MAX_NUMBER = 64 };

/* arange:START:STEP, as text. */
struct steps_text {
    char start[MAX_NUMBER];
    const char *step;
};

static bool split_steps(const struct filler *filler, const char *text, struct steps_text *steps)
{
    size_t size = text ? strcspn(text, ":") : 0;
    *steps = (struct steps_text){"0", "1"};
    if (!text)
        return true;
    if (size == 0 || size >= MAX_NUMBER)
        return message_fail(filler->error, filler->error_size,
                            "'%s' has no start: it is arange, arange:START or arange:START:STEP",
                            filler->spec);
    memcpy(steps->start, text, size);
    steps->start[size] = '\0';
    if (text[size])
        steps->step = text + size + 1;
    return true;
}

/* Each element is rounded once to its format. */
static bool fill_float_steps(const struct filler *filler, struct float_format format,
                             const struct steps_text *steps)
{
    struct tensor *tensor = filler->tensor;
    bool is_complex = dtype_info(tensor->dtype)->class == CLASS_COMPLEX;
    size_t part = (1u + format.exponent + format.fraction) / 8, item = part * (is_complex ? 2 : 1);
    double start, step;
    if (!spec_double(filler, steps->start, &start) || !spec_double(filler, steps->step, &step))
        return false;
    memset(tensor->data, 0, tensor->size);
    for (size_t i = 0; i < tensor->size / item; i++) {
        /* Volatile, so that no machine fuses the multiplication with the addition. */
        volatile double offset = (double)i * step;
        uint64_t bits = float_encode(format, start + offset);
        memcpy(tensor->data + i * item, &bits, part);
    }
    return true;
}

/* Numbers past the range begin again at its other end, which two's complement gives. */
static bool fill_integer_steps(const struct filler *filler, const struct steps_text *steps)
{
    struct tensor *tensor = filler->tensor;
    const char *text = steps->step;
    size_t item = dtype_info(tensor->dtype)->bits / 8;
    uint64_t start, step;
    bool huge;
    if (!spec_integer(filler, steps->start, &start))
        return false;
    if (!spec_whole(text + (*text == '-'), &step, &huge) || huge)
        return spec_bad_number(filler, text, "no whole number, as steps of integers are");
    step = *text == '-' ? -step : step;
    for (size_t i = 0; i < tensor->size / item; i++) {
        uint64_t bits = start + i * step;
        memcpy(tensor->data + i * item, &bits, item);
    }
    return true;
}

static bool fill_arange(const struct filler *filler, const char *text)
{
    struct float_format format;
    struct steps_text steps;
    enum dtype dtype = filler->tensor->dtype;
    enum dtype_class class = dtype_info(dtype)->class;
    if (class == CLASS_BOOL)
        return message_fail(filler->error, filler->error_size,
                            "'%s' counts, which bool does not; rand:0..1 makes both of its values",
                            filler->spec);
    if (!split_steps(filler, text, &steps))
        return false;
    if (dtype_float_format(dtype, &format))
        return fill_float_steps(filler, format, &steps);
    return class == CLASS_FLOAT ? spec_no_values(filler) : fill_integer_steps(filler, &steps);
}

/* ---------------------------------------------------------------------------- forms ---- */

static const char forms_text[] = "FILE.npy, a number, arange[:START[:STEP]], normal[:SEED], "
                                 "rand:LO..HI[:SEED], ones or zeros";

/* The forms that are words; `text` is what follows the colon, NULL where there is none. */
static const struct form {
    const char *name;
    bool takes_text, needs_text;
    bool (*fill)(const struct filler *filler, const char *text);
} forms[] = {
    {"arange", true, false, fill_arange}, {"normal", true, false, spec_normal},
    {"rand", true, true, spec_rand},      {"ones", false, false, fill_ones},
    {"zeros", false, false, fill_zeros},
};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

static const struct form *find_form(const char *spec)
{
    size_t size = strcspn(spec, ":");
    for (size_t i = 0; i < N_FORMS; i++)
        if (strlen(forms[i].name) == size && memcmp(spec, forms[i].name, size) == 0)
            return (spec[size] ? forms[i].takes_text : !forms[i].needs_text) ? &forms[i] : NULL;
    return NULL;
}

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
    const struct filler filler = {tensor, spec, seed, error, error_size};
    const struct form *form = find_form(spec);
    if (form) {
        const char *colon = strchr(spec, ':');
        return form->fill(&filler, colon ? colon + 1 : NULL);
    }
    if (tensor_spec_is_file(spec))
        return npy_read(tensor, spec, error, error_size);
    if (is_number(spec))
        return fill_number(&filler, spec);
    return npy_refuse_other(spec, error, error_size) && unknown_spec(&filler);
}
