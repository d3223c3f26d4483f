/* Whether a tensor is what was expected. */
#ifndef FRONTEND_TENSOR_TENSOR_MATCH_H
#define FRONTEND_TENSOR_TENSOR_MATCH_H

#include "frontend/tensor/tensor.h"
#include "ir/base/text.h"

/* A number is as expected where |found - expected| <= absolute + relative * |expected|; NaN is as
 * NaN, and infinity as the same infinity. `exact`: bit for bit instead, but for NaN, which is as
 * any NaN. */
struct tolerance {
    bool exact;
    double relative, absolute;
};

struct match {
    uint64_t elements, different; /* how many */
    uint64_t first;               /* of those that differ */
    /* Of numbers that are finite; relative to expected ones that are not 0. */
    double largest_absolute, largest_relative;
    uint64_t at_absolute, at_relative; /* where */
};

/* The expected tensor has the same shape; its dtype is the same, or of the same class (ints of any
 * kind are one). An `exact` comparison rounds floats to the dtype of what was found. False, with a
 * text in `error`, for another dtype whose numbers are not known. */
bool tensor_match(const struct tensor *found, const struct tensor *expected,
                  const struct tolerance *tolerance, struct match *match, char *error,
                  size_t error_size);

/* Appends a line that says what the match says: "12 of 64 elements differ, first [0, 3]: 1.5,
 * expected 2; largest error 0.5 at [0, 3], relative 0.25 at [0, 3]". */
void tensor_match_text(const struct tensor *found, const struct tensor *expected,
                       const struct match *match, struct text *text);

/* Makes the tensor that a SPEC (tensor_fill) gives for one like `found`; an array of a file may
 * have another dtype, as tensor_match takes it. False, with a text in `error`, and nothing to be
 * freed, where that fails. */
bool tensor_expect(struct tensor *expected, const struct tensor *found, const char *spec,
                   uint64_t seed, char *error, size_t error_size);

#endif
