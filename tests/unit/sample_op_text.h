/* What the tests of signatures of sample ops share: ops in text, and whether they are accepted. */
#ifndef TESTS_UNIT_SAMPLE_OP_TEXT_H
#define TESTS_UNIT_SAMPLE_OP_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/kernels/sample_ops.h"
#include "ir/optypes/op_types.h"

enum { TEXT_TENSORS = 33, TEXT_ATTRS = 5 };

/* An op in text: tensors "f32[2, 3]" or "i8[4, 5]:NZ", "none", lists of two equal ones
 * "2 * f32[3]", attributes "key=value", where a value may be a text, "'text", "[]" or "[1, 0]". */
struct op_text {
    const char *type;
    unsigned n_operands, n_results;
    const char *tensors[TEXT_TENSORS];
    const char *attrs[TEXT_ATTRS];
};

static inline uint32_t dtype_parse(const char *text, size_t length)
{
    static const char *const names[] = {
#define DTYPE(name, ...) #name,
#include "ir/core/dtypes.def"
#undef DTYPE
    };
    for (uint32_t i = 0; i < SKRT_DTYPE_COUNT; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
            return i;
    return SKRT_DTYPE_COUNT;
}

static inline struct skrt_tensor tensor_parse(const char *text)
{
    static struct skrt_tensor pair[2];
    if (strcmp(text, "none") == 0)
        return (struct skrt_tensor){.form = SKRT_ABSENT};
    if (strcmp(text, "0 *") == 0)
        return (struct skrt_tensor){.form = SKRT_LIST, .list = pair};
    if (strncmp(text, "2 * ", 4) == 0) {
        pair[0] = pair[1] = tensor_parse(text + 4);
        return (struct skrt_tensor){.form = SKRT_LIST, .count = 2, .list = pair};
    }
    const char *at = strchr(text, '[');
    struct skrt_tensor tensor = {.dtype = dtype_parse(text, (size_t)(at - text))};
    for (at++; *at != ']'; at += strspn(at, ", ")) {
        char *end;
        int64_t dim = strtoll(at, &end, 10);
        if (tensor.rank < SKRT_MAX_RANK)
            tensor.dims[tensor.rank] = dim;
        tensor.rank++;
        at = end;
    }
    tensor.format = strcmp(at, "]:NZ") == 0 ? SKRT_FRACTAL_NZ : at[1] == ':' ? 99 : SKRT_ND;
    return tensor;
}

static inline struct skrt_attr attr_of_ints(struct skrt_attr attr, const int64_t *ints,
                                            uint64_t count)
{
    attr.ints = ints;
    attr.count = count;
    return attr;
}

static inline struct skrt_attr attr_parse(const char *text)
{
    struct skrt_attr attr = {.i = 0};
    static const int64_t ints[] = {1, 0};
    size_t length = strcspn(text, "=");
    assert_true(length < sizeof attr.key);
    memcpy(attr.key, text, length);
    if (text[length + 1] == '\'')
        attr.text = text + length + 2;
    else if (text[length + 1] == '[')
        attr = attr_of_ints(attr, ints, text[length + 2] == ']' ? 0 : 2);
    attr.f = strtod(text + length + 1, NULL);
    attr.i = isfinite(attr.f) ? (int64_t)attr.f : 0;
    return attr;
}

/* What is known of op types. */
static struct op_types *known;

static inline bool op_check(const struct op_text *op, struct sample_op_error *error)
{
    struct skrt_tensor tensors[TEXT_TENSORS];
    struct skrt_attr attrs[TEXT_ATTRS];
    unsigned n_attrs = 0;
    for (unsigned i = 0; i < op->n_operands + op->n_results; i++)
        tensors[i] = tensor_parse(op->tensors[i]);
    for (; n_attrs < TEXT_ATTRS && op->attrs[n_attrs] != NULL; n_attrs++)
        attrs[n_attrs] = attr_parse(op->attrs[n_attrs]);
    memset(error, 0, sizeof *error);
    return sample_op_check(known, op->type, tensors, op->n_operands, op->n_results, attrs, n_attrs,
                           error);
}

#define DSQ "DequantSwigluQuant", 7, 2
#define NONES_2 "none", "none"
#define NONES_5 "none", "none", "none", "none", "none"
#define QBMM "QuantBatchMatmulV3", 6, 1
#define FIA "FusedInferAttentionScore", 31, 2
#define FAS "FlashAttentionScore", 12, 4
#define NONES_3 "none", "none", "none"
#define EMPTY_4 "0 *", "0 *", "0 *", "0 *"
#define GMM "GroupedMatmul", 9, 1
#define NONES_26                                                                                   \
    "none", "none", "none", "none", "none", "none", "none", "none", "none", "none", "none",        \
        "none", "none", "none", "none", "none", "none", "none", "none", "none", "none", "none",    \
        "none", "none", "none", "none"

static inline int read_types(void **state)
{
    (void)state;
    known = op_types_new();
    return 0;
}

static inline int free_types(void **state)
{
    (void)state;
    op_types_free(known);
    return 0;
}

#endif
