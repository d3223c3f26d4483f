/* A SPEC of the command line (tensor_fill) in the making of a tensor: what the forms share. */
#ifndef FRONTEND_TENSOR_SPEC_H
#define FRONTEND_TENSOR_SPEC_H

#include "frontend/tensor/tensor.h"
#include "ir/base/float_formats.h"

/* And where its errors go. */
struct filler {
    struct tensor *tensor;
    const char *spec;
    uint64_t seed; /* where the SPEC has none */
    char *error;
    size_t error_size;
};

/* These are false, with a text. `what` completes "'TEXT' in 'SPEC' is ". */
bool spec_bad_number(const struct filler *filler, const char *text, const char *what);
bool spec_no_values(const struct filler *filler);

/* Decimal digits, and nothing else, below 2^64. Says nothing. */
bool spec_digits(const char *text, uint64_t *number);
/* A decimal number without sign, also one with a fraction or an exponent, that is whole: 12, 1.5e3.
 * What does not fit 64 bits is `huge`. Says nothing. */
bool spec_whole(const char *text, uint64_t *number, bool *huge);
/* A seed, or the filler's where `text` is NULL. */
bool spec_seed(const struct filler *filler, const char *text, uint64_t *seed);
/* A finite decimal number. */
bool spec_double(const struct filler *filler, const char *text, double *number);
/* A number that the format has a finite neighbour of, rounded to the format. */
bool spec_float(const struct filler *filler, struct float_format format, const char *text,
                double *number);
/* A number in the range of the tensor's dtype, an integer or bool; negative ones in two's
 * complement. */
bool spec_integer(const struct filler *filler, const char *text, uint64_t *number);

/* Makes each element the number with these bits; the imaginary part of a complex one is zero. */
void spec_fill_bits(const struct filler *filler, uint64_t bits);

/* The forms rand and normal: `text` is what follows the colon, NULL where there is none. */
bool spec_rand(const struct filler *filler, const char *text);
bool spec_normal(const struct filler *filler, const char *text);

#endif
