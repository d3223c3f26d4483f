/* Tensors of `skirc run`: what goes into a graph and what comes out. */
#ifndef FRONTEND_TENSOR_TENSOR_H
#define FRONTEND_TENSOR_TENSOR_H

#include "ir/analysis/contents.h"
#include "ir/support/text.h"

enum { TENSOR_MAX_RANK = 8 };

/* Elements lie in row-major order without gaps; dtypes below 8 bits are not supported. */
struct tensor {
    enum dtype dtype;
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK];
    size_t size;         /* bytes */
    unsigned char *data; /* aligned to 64; never NULL, even where size is 0 */
    void *memory;        /* that `data` is in */
};

/* Zeroed. False, with a text in `error`, where the rank, dtype or size is not supported; there is
 * nothing to free then. */
bool tensor_init(struct tensor *tensor, enum dtype dtype, const int64_t *dims, uint32_t rank,
                 char *error, size_t error_size);
void tensor_free(struct tensor *tensor);

/* Fills by a SPEC of the command line:
 *   FILE.npy           a file whose shape and dtype must be the tensor's. A name without a slash
 *                      needs the suffix.
 *   rand:LO..HI[:SEED] uniform in [LO, HI) for floats, in [LO, HI] for integers and bool, and for
 *                      both parts of a complex number like for a float. Floats take the bounds as
 *                      the dtype rounds them; where those are the same, every element is LO. The
 *                      values depend on nothing but dtype, bounds and seed: `seed` without a SEED.
 *   normal[:SEED]      standard normal floats, which whole numbers and bool have none of
 *   arange[:START[:STEP]]  START (0), START + STEP (1), ... in row-major order, each rounded to the
 *                      dtype; integers begin again past their range, bool is refused
 *   a number           in every element, in the range of the dtype: also nan, inf, -inf for
 *                      floats, true and false for bool
 *   ones, zeros
 * False, with a text in `error`, where the SPEC is wrong or the file does not fit; the contents are
 * unspecified then. hif8 and f8e8m0 are refused: nothing can be made or read for them. */
bool tensor_fill(struct tensor *tensor, const char *spec, uint64_t seed, char *error,
                 size_t error_size);
/* Whether a SPEC is the name of a file. */
bool tensor_spec_is_file(const char *spec);
/* Fills by contents as a module has them, the one number of which fills all. They must fit, as the
 * verifier sees to. hif8 and f8e8m0 are refused. */
bool tensor_fill_numbers(struct tensor *tensor, const struct contents *contents, char *error,
                         size_t error_size);

/* The number below which a standard normal variable is with the probability p, 0 < p < 1: by the
 * algorithm AS 241 (Wichura: The Percentage Points of the Normal Distribution), whose relative
 * error is about 1e-16. Nothing but sums, products, quotients and square roots of doubles, each
 * rounded by itself, so that the bits of the result do not depend on the machine. */
double normal_quantile(double p);

/* Writes a .npy file (version 1.0, C order), atomically, or to standard output ("-"). */
bool tensor_write_npy(const struct tensor *tensor, const char *path, char *error,
                      size_t error_size);

/* The index of the first element whose bytes differ, or `*elements`, which is set to their number,
 * where there is none. The tensors have the same shape and dtype. */
uint64_t tensor_first_difference(const struct tensor *a, const struct tensor *b,
                                 uint64_t *elements);
/* One element as text, for messages: the shortest decimal number that reads back as the same, with
 * the bits of what is no number. */
void tensor_element_text(const struct tensor *tensor, uint64_t index, char *text, size_t size);
/* The multi-dimensional index of an element, and as text: "[1, 7]". */
void tensor_index(const struct tensor *tensor, uint64_t index, int64_t at[TENSOR_MAX_RANK]);
void tensor_index_text(const struct tensor *tensor, uint64_t index, char *text, size_t size);
/* A shape or index as text: "[1, 7]". */
void tensor_dims_text(const int64_t *dims, uint32_t rank, char *text, size_t size);

/* FRACTAL_NZ storage of the last two dimensions: C0 = 32 bytes of columns, 16 rows, zero-padded.
 * The size of the storage in bytes, and the conversion both ways (`storage` has that size). False
 * where the rank is below 2 or the size passes what memory can hold. */
bool tensor_nz_size(const struct tensor *nd, size_t *size);
void tensor_to_nz(const struct tensor *nd, unsigned char *storage);
void tensor_from_nz(struct tensor *nd, unsigned char *storage);

/* Long double: it has every 64-bit integer. Where it does not, the last digits of integers above
 * 2^53 may be wrong. */
struct numbers {
    const struct tensor *tensor;
    struct float_format format; /* of floats and parts of complex numbers */
    bool is_float;
    unsigned parts; /* 2 for complex numbers */
    size_t part;    /* bytes */
};

/* False where nothing is known of the dtype's numbers (hif8, f8e8m0). */
bool numbers_of(const struct tensor *tensor, struct numbers *numbers);

/* Of elements whose parts are finite. */
struct summary {
    long double low, high; /* where `count` is not 0; of real parts */
    double sum[2];         /* of parts */
    uint64_t count, nans, infinities;
};

/* False where nothing is known of the dtype's numbers. */
bool tensor_summarise(const struct tensor *tensor, struct summary *summary);

/* Appends the least and the greatest number, the mean, and how many NaN and infinities there are,
 * which the others leave out: "min 1  max 6  mean 3.5  nan 0  inf 0". Integers and bool have the
 * first three, complex numbers the last three; nothing is appended for what has no numbers. */
void tensor_print_summary(const struct tensor *tensor, struct text *text);

/* Appends the elements as lines, as NumPy prints arrays: of many in a dimension the first and the
 * last three, of many matrices the first and the last. Numbers have up to 6 digits. */
void tensor_print_elements(const struct tensor *tensor, struct text *text);

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
