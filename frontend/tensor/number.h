/* Elements of tensors as numbers. */
#ifndef FRONTEND_TENSOR_NUMBER_H
#define FRONTEND_TENSOR_NUMBER_H

#include "frontend/tensor/tensor.h"

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

/* A part of an element: the real one is 0, the imaginary one 1. */
long double number_at(const struct numbers *numbers, uint64_t index, unsigned part);

/* The elements of a tensor. */
uint64_t tensor_elements(const struct tensor *tensor);

#endif
