/* Tensors as text for people. */
#ifndef FRONTEND_TENSOR_TENSOR_PRINT_H
#define FRONTEND_TENSOR_TENSOR_PRINT_H

#include "frontend/tensor/tensor.h"
#include "ir/base/text.h"

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

#endif
