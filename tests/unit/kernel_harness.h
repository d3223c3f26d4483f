/* What the tests of sample sub-kernels share: tensors with random contents, launches on the real
 * runtime, comparisons.
 *
 * References decode and encode elements by arithmetic on doubles, not by bits as the kernels do.
 * Every case runs with several block counts, which must give the same bytes. The seed is printed;
 * SKIR_TEST_SEED repeats a run.
 */
#ifndef TESTS_UNIT_KERNEL_HARNESS_H
#define TESTS_UNIT_KERNEL_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/runtime/skrt.h"

enum { MAX_TENSORS = 33, GUARD = 64, GUARD_BYTE = 0x5c };

#define DIMS(...)                                                                                  \
    (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint32_t float_dtypes[] = {SKRT_f32, SKRT_f16, SKRT_bf16};

/* -------------------------------------------------------------------------- elements ---- */

static inline size_t dtype_size(uint32_t dtype)
{
    switch (dtype) {
    case SKRT_i8:
    case SKRT_u8:
    case SKRT_bool: return 1;
    case SKRT_i16:
    case SKRT_f16:
    case SKRT_bf16: return 2;
    case SKRT_i64: return 8;
    default: return 4;
    }
}

/* Value of a float format with `fraction` explicit bits and exponent bias `bias`. */
static inline double decode_bits(unsigned bits, int fraction, int bias)
{
    int exponents = 15 - fraction, top = (1 << exponents) - 1;
    int exponent = (int)(bits >> fraction) & top, mantissa = (int)bits & ((1 << fraction) - 1);
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == top)
        return mantissa != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - fraction);
    return sign * ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
}

/* `value` rounded to the precision of a float format; beyond `max` it is infinite. */
static inline double round_to(double value, int fraction, int bias, double max)
{
    if (value == 0 || !isfinite(value))
        return value;
    int exponent = ilogb(value) > 1 - bias ? ilogb(value) : 1 - bias;
    double rounded = ldexp(nearbyint(ldexp(value, fraction - exponent)), exponent - fraction);
    return fabs(rounded) > max ? copysign(INFINITY, value) : rounded;
}

static inline double round_to_dtype(double value, uint32_t dtype)
{
    switch (dtype) {
    case SKRT_f16: return round_to(value, 10, 15, 65504);
    case SKRT_bf16: return round_to(value, 7, 127, 0x1.fep127);
    default: return (float)value;
    }
}

static inline bool is_float(uint32_t dtype)
{
    return dtype == SKRT_f32 || dtype == SKRT_f16 || dtype == SKRT_bf16;
}

static inline int64_t get_int(const void *data, uint32_t dtype, int64_t index)
{
    switch (dtype) {
    case SKRT_i8: return ((const int8_t *)data)[index];
    case SKRT_i16: return ((const int16_t *)data)[index];
    case SKRT_i32: return ((const int32_t *)data)[index];
    case SKRT_i64: return ((const int64_t *)data)[index];
    default: return ((const uint8_t *)data)[index];
    }
}

static inline double get(const void *data, uint32_t dtype, int64_t index)
{
    switch (dtype) {
    case SKRT_f32: return ((const float *)data)[index];
    case SKRT_f16: return decode_bits(((const uint16_t *)data)[index], 10, 15);
    case SKRT_bf16: return decode_bits(((const uint16_t *)data)[index], 7, 127);
    default: return (double)get_int(data, dtype, index);
    }
}

static inline void put_int(void *data, uint32_t dtype, int64_t index, int64_t value)
{
    switch (dtype) {
    case SKRT_i16: ((int16_t *)data)[index] = (int16_t)value; break;
    case SKRT_i32: ((int32_t *)data)[index] = (int32_t)value; break;
    case SKRT_i64: ((int64_t *)data)[index] = value; break;
    default: ((uint8_t *)data)[index] = (uint8_t)value; break;
    }
}

/* ---------------------------------------------------------------------------- random ---- */

static uint64_t random_state;

static inline uint64_t random_bits(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random_state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline double random_between(double low, double high)
{
    return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

/* ------------------------------------------------------------------------------- ops ---- */

struct op {
    unsigned n_tensors, n_attrs;
    struct skrt_tensor tensors[MAX_TENSORS];
    struct skrt_attr attrs[4];
    unsigned char *data[MAX_TENSORS];
    size_t bytes[MAX_TENSORS];
    size_t workspace;   /* bytes; 0: the kernel has no such parameter */
    unsigned tiling_at; /* the tensor before which the tiling is; 0: it is last */
};

static inline int64_t op_elements(const struct op *op, unsigned tensor)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < op->tensors[tensor].rank; i++)
        n *= op->tensors[tensor].dims[i];
    return n;
}

/* Adds a tensor with guard bytes behind it. Its elements are garbage. */
static inline unsigned op_add(struct op *op, uint32_t dtype, size_t rank, const int64_t *dims)
{
    unsigned index = op->n_tensors++;
    assert_true(index < MAX_TENSORS && rank <= SKRT_MAX_RANK);
    op->tensors[index] = (struct skrt_tensor){.dtype = dtype, .rank = (uint32_t)rank};
    if (rank > 0)
        memcpy(op->tensors[index].dims, dims, rank * sizeof *dims);
    op->bytes[index] = (size_t)op_elements(op, index) * dtype_size(dtype);
    op->data[index] = malloc(op->bytes[index] + GUARD);
    assert_non_null(op->data[index]);
    memset(op->data[index], 0xa5, op->bytes[index]);
    memset(op->data[index] + op->bytes[index], GUARD_BYTE, GUARD);
    return index;
}

/* Adds an operand that is absent. */
static inline unsigned op_add_absent(struct op *op)
{
    unsigned index = op_add(op, SKRT_u8, 0, NULL);
    op->tensors[index].form = SKRT_ABSENT;
    return index;
}

/* Adds a list of `count` tensors of another op, from `first` on, which must outlive this one: its
 * data is the table. */
static inline unsigned op_add_list(struct op *op, const struct op *parts, unsigned first,
                                   unsigned count)
{
    int64_t words = 1;
    for (unsigned i = 0; i < count; i++)
        words += 2 + parts->tensors[first + i].rank;
    unsigned index = op_add(op, SKRT_i64, 1, &words);
    uint64_t *table = (uint64_t *)op->data[index], *word = table + 1;
    op->tensors[index] =
        (struct skrt_tensor){.form = SKRT_LIST, .count = count, .list = parts->tensors + first};
    table[0] = (uint64_t)(words - count) * sizeof *table;
    for (unsigned i = 0; i < count; i++) {
        const struct skrt_tensor *part = &parts->tensors[first + i];
        *word++ = (uint64_t)i << 32 | part->rank;
        for (uint32_t d = 0; d < part->rank; d++)
            *word++ = (uint64_t)part->dims[d];
        table[words - count + i] = (uintptr_t)parts->data[first + i];
    }
    return index;
}

/* Floats between -2 and 2; integers over their whole range. */
static inline void op_fill(struct op *op, unsigned tensor)
{
    uint32_t dtype = op->tensors[tensor].dtype;
    for (int64_t i = 0; i < op_elements(op, tensor); i++) {
        float value = (float)random_between(-2, 2);
        uint16_t half = (uint16_t)((random_bits() & 0x87ff) + 0x3800);
        if (dtype == SKRT_f32)
            ((float *)op->data[tensor])[i] = value;
        else if (dtype == SKRT_f16)
            ((uint16_t *)op->data[tensor])[i] = half;
        else if (dtype == SKRT_bf16)
            ((uint16_t *)op->data[tensor])[i] = (uint16_t)((random_bits() & 0x81ff) + 0x3e00);
        else
            put_int(op->data[tensor], dtype, i, (int64_t)random_bits());
    }
}

static inline unsigned op_add_random(struct op *op, uint32_t dtype, size_t rank,
                                     const int64_t *dims)
{
    unsigned tensor = op_add(op, dtype, rank, dims);
    op_fill(op, tensor);
    return tensor;
}

static inline void op_add_attr(struct op *op, const char *key, double value)
{
    struct skrt_attr *attr = &op->attrs[op->n_attrs++];
    memset(attr, 0, sizeof *attr);
    snprintf(attr->key, sizeof attr->key, "%s", key);
    attr->i = (int64_t)value;
    attr->f = value;
}

static inline double op_get(const struct op *op, unsigned tensor, int64_t index)
{
    return get(op->data[tensor], op->tensors[tensor].dtype, index);
}

static inline void op_free(struct op *op)
{
    for (unsigned i = 0; i < op->n_tensors; i++) {
        for (size_t at = 0; at < GUARD; at++)
            assert_int_equal(op->data[i][op->bytes[i] + at], GUARD_BYTE);
        free(op->data[i]);
    }
    memset(op, 0, sizeof *op);
}

/* --------------------------------------------------------------------------- launches ---- */

struct subject {
    skrt_kernel_fn *aic, *aiv; /* either may be NULL */
};

static struct skrt_device *device;

/* AIVs per AI core: of a launch, and those that the kernel was built for. */
struct ratio {
    uint8_t launched, built;
};

static inline void op_launch_as(struct op *op, struct subject subject, uint32_t blocks,
                                struct ratio ratio)
{
    struct skrt_tiling tiling = {op->n_tensors, op->n_attrs, op->tensors, op->attrs};
    uint64_t params[MAX_TENSORS + 2];
    size_t n = 0;
    for (unsigned t = 0; t < op->n_tensors; t++) {
        if (op->tiling_at > 0 && t == op->tiling_at)
            params[n++] = (uintptr_t)&tiling;
        params[n++] = op->tensors[t].form == SKRT_ABSENT ? 0 : (uintptr_t)op->data[t];
    }
    void *workspace = malloc(op->workspace + 1);
    assert_non_null(workspace);
    memset(workspace, 0xee, op->workspace + 1);
    if (op->workspace > 0)
        params[n++] = (uintptr_t)workspace;
    if (op->tiling_at == 0)
        params[n++] = (uintptr_t)&tiling;

    bool mixed = subject.aic != NULL && subject.aiv != NULL;
    struct skrt_launch launch = {.name = "test",
                                 .blocks = blocks,
                                 .aics = subject.aic != NULL,
                                 .aivs = ratio.launched,
                                 .params = params,
                                 .n_params = n,
                                 .timeout_ms = 60000};
    launch.parts[SKRT_AIC] = (struct skrt_call){subject.aic, 0, blocks, ratio.built, false};
    launch.parts[SKRT_AIV] = (struct skrt_call){subject.aiv, 0, blocks, ratio.built, !mixed};
    struct skrt_result result;
    if (skrt_launch(device, &launch, &result) != SKRT_OK) {
        print_error("launch: %s\n%s\n", skrt_status_text(result.status), result.report);
        fflush(NULL);
        _exit(1); /* the device is unusable, and closing it may not return */
    }
    assert_int_equal(((unsigned char *)workspace)[op->workspace], 0xee);
    free(workspace);
}

/* A mixed kernel has two AIVs for each AIC. */
static inline void op_launch(struct op *op, struct subject subject, uint32_t blocks)
{
    uint8_t aivs = subject.aiv == NULL ? 0 : subject.aic == NULL ? 1 : 2;
    op_launch_as(op, subject, blocks, (struct ratio){aivs, aivs});
}

/* Runs with several block counts; results begin at tensor `first_result`. */
static inline void op_run(struct op *op, struct subject subject, unsigned first_result)
{
    const uint32_t blocks[] = {1, 3, 7, 24, 48};
    op_launch(op, subject, blocks[0]);
    for (size_t i = 1; i < COUNT(blocks) - (subject.aic != NULL); i++) {
        unsigned char *before[MAX_TENSORS] = {NULL};
        for (unsigned t = first_result; t < op->n_tensors; t++) {
            before[t] = op->data[t];
            op->data[t] = malloc(op->bytes[t] + GUARD);
            assert_non_null(op->data[t]);
            memset(op->data[t], 0x5a, op->bytes[t]);
            memset(op->data[t] + op->bytes[t], GUARD_BYTE, GUARD);
        }
        op_launch(op, subject, blocks[i]);
        for (unsigned t = first_result; t < op->n_tensors; t++) {
            assert_memory_equal(before[t], op->data[t], op->bytes[t] + GUARD);
            free(before[t]);
        }
    }
}

/* Equal as values; NaN equals NaN; zeros must agree in sign. */
static inline void assert_value(double found, double expected, const char *what, int64_t index)
{
    if (isnan(expected) ? isnan(found) : found == expected && signbit(found) == signbit(expected))
        return;
    fail_msg("%s[%" PRId64 "] is %.9g, expected %.9g", what, index, found, expected);
}

/* Equal within a relative error of f32 computation and of rounding to `dtype`. */
static inline void assert_near(double found, double expected, uint32_t dtype, const char *what,
                               int64_t index)
{
    double ulp = dtype == SKRT_f16 ? 0x1p-11 : dtype == SKRT_bf16 ? 0x1p-8 : 0;
    if (isnan(expected) ? isnan(found)
                        : fabs(found - expected) <= fabs(expected) * (ulp + 4e-6) + 0x1p-25)
        return;
    fail_msg("%s[%" PRId64 "] is %.9g, expected %.9g", what, index, found, expected);
}

/* Runs it at each vector level that this machine has, the widest last. */
static inline void at_vector_levels(void (*run)(void))
{
    for (unsigned level = 0; level <= SKRT_VECTORS_VNNI; level++)
        if (skrt_limit_vectors((enum skrt_vectors)level) == level)
            run();
}

/* -------------------------------------------------------------------------- fixture ---- */

static inline int suite_open(void **state)
{
    (void)state;
    const char *seed = getenv("SKIR_TEST_SEED");
    random_state = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    print_message("# seed %" PRIu64 "\n", random_state);
    struct skrt_device_config config = {.aic = 24, .aiv = 48, .threads = 2};
    device = skrt_device_open(&config);
    return device != NULL ? 0 : -1;
}

static inline int suite_close(void **state)
{
    (void)state;
    skrt_device_close(device);
    return 0;
}

#endif
