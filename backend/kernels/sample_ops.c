/* The signatures of the sample ops: one table row each, shape rules as functions. */
#include "backend/kernels/sample_ops.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/kernels/nz.h"

enum { MAX_TENSORS = 5, MAX_ATTRS = 2 };

_Static_assert(SKRT_DTYPE_COUNT <= 32, "sets of dtypes are 32-bit masks");

/* Sets of dtypes. */
#define ONLY(dtype) (UINT32_C(1) << SKRT_##dtype)
#define FLOATS (ONLY(f32) | ONLY(f16) | ONLY(bf16))
#define HALVES (ONLY(f16) | ONLY(bf16))
#define WRAPPING_INTS (ONLY(i8) | ONLY(i32) | ONLY(i64))
#define CASTABLE (FLOATS | WRAPPING_INTS | ONLY(i16) | ONLY(u8) | ONLY(bool))

/* What one tensor may be: of a dtype in `dtypes`, or of the same dtype as an earlier tensor. */
struct tensor_rule {
    uint32_t dtypes;
    bool like; /* the dtype of tensor `like_index` is fine too */
    uint8_t like_index;
    bool nz; /* FRACTAL_NZ is allowed, for rank 2 */
};

#define ANY_OF(set)                                                                                \
    {                                                                                              \
        .dtypes = (set)                                                                            \
    }
#define ANY_OF_NZ(set)                                                                             \
    {                                                                                              \
        .dtypes = (set), .nz = true                                                                \
    }
#define LIKE(index)                                                                                \
    {                                                                                              \
        .like = true, .like_index = (index)                                                        \
    }
#define LIKE_NZ(index)                                                                             \
    {                                                                                              \
        .like = true, .like_index = (index), .nz = true                                            \
    }
#define LIKE_OR(index, set)                                                                        \
    {                                                                                              \
        .dtypes = (set), .like = true, .like_index = (index)                                       \
    }

enum attr_kind { ATTR_BOOL, ATTR_NON_NEGATIVE };

struct attr_rule {
    const char *name; /* NULL ends the list */
    enum attr_kind kind;
};

/* An op under check. */
struct op_check {
    const struct op_row *row;
    const struct skrt_tensor *tensors;
    const struct skrt_attr *attrs;
    unsigned n_attrs;
    struct sample_op_error *error;
};

/* A row of the table. The shape rule may rely on the counts, dtypes, formats and attributes. */
struct op_row {
    const char *name;
    uint8_t operands, results;
    struct tensor_rule tensors[MAX_TENSORS];
    struct attr_rule attrs[MAX_ATTRS + 1];
    bool (*shapes)(const struct op_check *check);
};

/* ---------------------------------------------------------------------------- errors ---- */

/* Sets the error and returns false. */
static bool __attribute__((format(printf, 4, 5)))
op_fail(const struct op_check *check, const char *id, int tensor, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check->error->id = id;
    check->error->tensor = tensor;
    check->error->attribute = -1;
    vsnprintf(check->error->text, sizeof check->error->text, format, args);
    va_end(args);
    return false;
}

/* How messages call a tensor. */
struct tensor_name {
    const char *noun;
    unsigned index;
};

static struct tensor_name op_tensor_name(const struct op_check *check, unsigned tensor)
{
    unsigned operands = check->row->operands;
    if (tensor < operands)
        return (struct tensor_name){"operand", tensor};
    return (struct tensor_name){"result", tensor - operands};
}

static const char *op_shape_id(const struct op_check *check, unsigned tensor)
{
    return tensor < check->row->operands ? "operand-shape" : "result-shape";
}

static const char *dtype_name(uint32_t dtype)
{
    static const char *const names[] = {
#define DTYPE(name, bits, class, npy) [SKRT_##name] = #name,
#include "ir/dtypes.def"
#undef DTYPE
    };
    return dtype < SKRT_DTYPE_COUNT ? names[dtype] : "an unknown dtype";
}

/* Writes "f32, f16 or bf16" for a set. */
static void dtype_set_text(uint32_t set, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t dtype = 0; dtype < SKRT_DTYPE_COUNT; dtype++) {
        if ((set >> dtype & 1) == 0)
            continue;
        set &= ~(UINT32_C(1) << dtype);
        const char *before = used == 0 ? "" : set == 0 ? " or " : ", ";
        int n = snprintf(text + used, size - used, "%s%s", before, dtype_name(dtype));
        if (n < 0 || (size_t)n >= size - used)
            return;
        used += (size_t)n;
    }
}

/* Writes "[2, 3]". */
static void dims_text(const struct skrt_tensor *tensor, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "[");
    for (uint32_t i = 0; i < tensor->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i == 0 ? "" : ", ",
                                 tensor->dims[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

/* ------------------------------------------------------------------------ shape rules ---- */

enum { DIMS_TEXT = 96 }; /* longer shapes are cut in messages */

static bool require_rank(const struct op_check *check, unsigned tensor, uint32_t rank)
{
    if (check->tensors[tensor].rank == rank)
        return true;
    struct tensor_name name = op_tensor_name(check, tensor);
    return op_fail(check, op_shape_id(check, tensor), (int)tensor,
                   "%s %u must have %u dimension%s, but has %u", name.noun, name.index, rank,
                   rank == 1 ? "" : "s", check->tensors[tensor].rank);
}

static bool require_rank_from(const struct op_check *check, unsigned tensor, uint32_t rank)
{
    if (check->tensors[tensor].rank >= rank)
        return true;
    struct tensor_name name = op_tensor_name(check, tensor);
    return op_fail(check, op_shape_id(check, tensor), (int)tensor,
                   "%s %u must have at least %u dimension%s, but has %u", name.noun, name.index,
                   rank, rank == 1 ? "" : "s", check->tensors[tensor].rank);
}

/* A dimension by its place and by what messages call it ("rows"). */
struct axis {
    unsigned tensor;
    uint32_t index;
    const char *what;
};

static int64_t axis_size(const struct op_check *check, struct axis axis)
{
    return check->tensors[axis.tensor].dims[axis.index];
}

/* The first of two axes, which is at fault if they differ, must be as long as the other. */
static bool require_equal(const struct op_check *check, struct axis axis, struct axis other)
{
    int64_t found = axis_size(check, axis), expected = axis_size(check, other);
    if (found == expected)
        return true;
    struct tensor_name name = op_tensor_name(check, axis.tensor);
    struct tensor_name from = op_tensor_name(check, other.tensor);
    return op_fail(check, op_shape_id(check, axis.tensor), (int)axis.tensor,
                   "%s %u has %" PRId64 " %s, but %s %u has %" PRId64 " %s", name.noun, name.index,
                   found, axis.what, from.noun, from.index, expected, other.what);
}

static bool require_dims(const struct op_check *check, unsigned tensor,
                         const struct skrt_tensor *expected)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    if (found->rank == expected->rank &&
        memcmp(found->dims, expected->dims, found->rank * sizeof found->dims[0]) == 0)
        return true;
    char found_text[DIMS_TEXT], expected_text[DIMS_TEXT];
    dims_text(found, found_text, sizeof found_text);
    dims_text(expected, expected_text, sizeof expected_text);
    struct tensor_name name = op_tensor_name(check, tensor);
    return op_fail(check, op_shape_id(check, tensor), (int)tensor,
                   "%s %u must have the shape %s, but has %s", name.noun, name.index, expected_text,
                   found_text);
}

/* Operand 0 in, result 0 out: the same shape. */
static bool shapes_same(const struct op_check *check)
{
    return require_dims(check, 1, &check->tensors[0]);
}

static bool shapes_softmax(const struct op_check *check)
{
    return require_rank_from(check, 0, 1) && shapes_same(check);
}

static bool shapes_broadcast(const struct op_check *check)
{
    const struct skrt_tensor *x1 = &check->tensors[0], *x2 = &check->tensors[1];
    struct skrt_tensor y = {.rank = x1->rank > x2->rank ? x1->rank : x2->rank};
    for (uint32_t back = 1; back <= y.rank; back++) {
        int64_t dim1 = back <= x1->rank ? x1->dims[x1->rank - back] : 1;
        int64_t dim2 = back <= x2->rank ? x2->dims[x2->rank - back] : 1;
        if (dim1 != dim2 && dim1 != 1 && dim2 != 1) {
            char text1[DIMS_TEXT], text2[DIMS_TEXT];
            dims_text(x1, text1, sizeof text1);
            dims_text(x2, text2, sizeof text2);
            return op_fail(check, "operand-shape", 1,
                           "operand 1 of shape %s cannot be broadcast with operand 0 of shape %s",
                           text2, text1);
        }
        y.dims[y.rank - back] = dim1 == 1 ? dim2 : dim1;
    }
    return require_dims(check, 2, &y);
}

static bool attr_flag(const struct op_check *check, const char *name)
{
    for (unsigned i = 0; i < check->n_attrs; i++)
        if (strcmp(check->attrs[i].key, name) == 0)
            return check->attrs[i].i != 0;
    return false;
}

static bool shapes_mat_mul(const struct op_check *check)
{
    const struct skrt_tensor *x1 = &check->tensors[0];
    if (!require_rank_from(check, 0, 2) || !require_rank(check, 1, x1->rank))
        return false;
    uint32_t batch = x1->rank - 2;
    for (uint32_t i = 0; i < batch; i++)
        if (!require_equal(check, (struct axis){1, i, "batches"}, (struct axis){0, i, "batches"}))
            return false;
    bool transpose_x1 = attr_flag(check, "transpose_x1");
    bool transpose_x2 = attr_flag(check, "transpose_x2");
    struct axis k1 = {0, batch + !transpose_x1, transpose_x1 ? "rows (transposed)" : "columns"};
    struct axis k2 = {1, batch + transpose_x2, transpose_x2 ? "columns (transposed)" : "rows"};
    if (!require_equal(check, k2, k1))
        return false;
    struct skrt_tensor y = *x1;
    y.dims[batch] = x1->dims[batch + transpose_x1];
    y.dims[batch + 1] = check->tensors[1].dims[batch + !transpose_x2];
    return require_dims(check, 2, &y);
}

static bool shapes_quant_matmul(const struct op_check *check)
{
    for (unsigned i = 0; i < 4; i++)
        if (!require_rank(check, i, i < 2 ? 2 : 1))
            return false;
    struct axis rows = {0, 0, "rows"}, columns = {1, 1, "columns"};
    struct skrt_tensor y = {.rank = 2, .dims = {axis_size(check, rows), axis_size(check, columns)}};
    return require_equal(check, (struct axis){1, 0, "rows"}, (struct axis){0, 1, "columns"}) &&
           require_equal(check, (struct axis){2, 0, "elements"}, columns) &&
           require_equal(check, (struct axis){3, 0, "elements"}, rows) &&
           require_dims(check, 4, &y);
}

static bool shapes_swiglu(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    if (!require_rank(check, 0, 2) || !require_rank(check, 1, 1))
        return false;
    if (x->dims[1] % 2 != 0)
        return op_fail(check, "operand-shape", 0,
                       "operand 0 must have an even number of columns, but has %" PRId64,
                       x->dims[1]);
    struct skrt_tensor y = {.rank = 2, .dims = {x->dims[0], x->dims[1] / 2}};
    struct skrt_tensor scale = {.rank = 1, .dims = {x->dims[0]}};
    return require_equal(check, (struct axis){1, 0, "elements"}, (struct axis){0, 1, "columns"}) &&
           require_dims(check, 2, &y) && require_dims(check, 3, &scale);
}

static bool shapes_rms_norm(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    if (!require_rank_from(check, 0, 1) || !require_rank(check, 1, 1))
        return false;
    uint32_t last = x->rank - 1;
    struct skrt_tensor rstd = *x;
    rstd.dims[last] = 1;
    return require_equal(check, (struct axis){1, 0, "elements"},
                         (struct axis){0, last, "columns"}) &&
           require_dims(check, 2, x) && require_dims(check, 3, &rstd);
}

/* ------------------------------------------------------------------------- the table ---- */

static const struct op_row op_rows[] = {
    {"Add", 2, 1, {ANY_OF(FLOATS | WRAPPING_INTS), LIKE(0), LIKE(0)}, {{0}}, shapes_broadcast},
    {"Mul", 2, 1, {ANY_OF(FLOATS | WRAPPING_INTS), LIKE(0), LIKE(0)}, {{0}}, shapes_broadcast},
    {"Pows", 2, 1, {ANY_OF(FLOATS), LIKE(0), LIKE(0)}, {{0}}, shapes_broadcast},
    {"Cast", 1, 1, {ANY_OF(CASTABLE), ANY_OF(CASTABLE)}, {{0}}, shapes_same},
    {"IsInf", 1, 1, {ANY_OF(FLOATS), ANY_OF(ONLY(bool))}, {{0}}, shapes_same},
    {"IsFinite", 1, 1, {ANY_OF(FLOATS), ANY_OF(ONLY(bool))}, {{0}}, shapes_same},
    {"MatMul",
     2,
     1,
     {ANY_OF_NZ(FLOATS), LIKE_NZ(0), LIKE_OR(0, ONLY(f32))},
     {{"transpose_x1", ATTR_BOOL}, {"transpose_x2", ATTR_BOOL}},
     shapes_mat_mul},
    {"QuantBatchMatmulV3",
     4,
     1,
     {ANY_OF(ONLY(i8)), ANY_OF_NZ(ONLY(i8)), ANY_OF(ONLY(f32)), ANY_OF(ONLY(f32)), ANY_OF(HALVES)},
     {{0}},
     shapes_quant_matmul},
    {"DequantSwigluQuant",
     2,
     2,
     {ANY_OF(FLOATS | ONLY(i32)), ANY_OF(ONLY(f32)), ANY_OF(ONLY(i8)), ANY_OF(ONLY(f32))},
     {{"activate_left", ATTR_BOOL}},
     shapes_swiglu},
    {"RmsNorm",
     2,
     2,
     {ANY_OF(FLOATS), LIKE_OR(0, ONLY(f32)), LIKE(0), ANY_OF(ONLY(f32))},
     {{"epsilon", ATTR_NON_NEGATIVE}},
     shapes_rms_norm},
    {"Softmax", 1, 1, {ANY_OF(FLOATS), LIKE(0)}, {{0}}, shapes_softmax},
};

enum { OP_ROWS = sizeof op_rows / sizeof op_rows[0] };

static const struct op_row *op_row_find(const char *name)
{
    for (unsigned i = 0; i < OP_ROWS; i++)
        if (strcmp(op_rows[i].name, name) == 0)
            return &op_rows[i];
    return NULL;
}

const char *sample_op_name(unsigned index)
{
    return index < OP_ROWS ? op_rows[index].name : NULL;
}

const char *sample_op_attr_name(const char *op_type, unsigned index)
{
    const struct op_row *row = op_row_find(op_type);
    return row != NULL && index < MAX_ATTRS ? row->attrs[index].name : NULL;
}

bool sample_op_arity(const char *op_type, unsigned *n_operands, unsigned *n_results)
{
    const struct op_row *row = op_row_find(op_type);
    if (row == NULL)
        return false;
    *n_operands = row->operands;
    *n_results = row->results;
    return true;
}

/* ---------------------------------------------------------------------- generic checks ---- */

static bool check_count(const struct op_check *check, const char *id, const char *noun,
                        unsigned expected, unsigned found)
{
    return found == expected ||
           op_fail(check, id, -1, "%s takes %u %s%s, but has %u", check->row->name, expected, noun,
                   expected == 1 ? "" : "s", found);
}

static bool check_dtype(const struct op_check *check, unsigned tensor)
{
    const struct tensor_rule *rule = &check->row->tensors[tensor];
    uint32_t dtype = check->tensors[tensor].dtype, set = rule->dtypes;
    if (rule->like)
        set |= UINT32_C(1) << check->tensors[rule->like_index].dtype;
    if (dtype < SKRT_DTYPE_COUNT && (set >> dtype & 1) != 0)
        return true;
    char expected[SAMPLE_OP_ERROR_TEXT / 2];
    dtype_set_text(set, expected, sizeof expected);
    struct tensor_name name = op_tensor_name(check, tensor);
    struct tensor_name like = op_tensor_name(check, rule->like_index);
    const char *id = tensor < check->row->operands ? "operand-dtype" : "result-dtype";
    if (rule->like && rule->dtypes == 0)
        return op_fail(check, id, (int)tensor, "%s %u must be %s like %s %u, but is %s", name.noun,
                       name.index, expected, like.noun, like.index, dtype_name(dtype));
    return op_fail(check, id, (int)tensor, "%s %u must be %s, but is %s", name.noun, name.index,
                   expected, dtype_name(dtype));
}

static bool check_format(const struct op_check *check, unsigned tensor)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    bool nz = check->row->tensors[tensor].nz;
    struct tensor_name name = op_tensor_name(check, tensor);
    const char *id = tensor < check->row->operands ? "operand-format" : "result-format";
    if (found->format == SKRT_ND)
        return true;
    if (!nz || found->format != SKRT_FRACTAL_NZ)
        return op_fail(check, id, (int)tensor, "%s %u must have the format ND%s", name.noun,
                       name.index, nz ? " or FRACTAL_NZ" : "");
    return found->rank == 2 ||
           op_fail(check, id, (int)tensor,
                   "%s %u has the format FRACTAL_NZ, which takes 2 dimensions, but has %u",
                   name.noun, name.index, found->rank);
}

/* Rank and dimensions must be such that kernels can compute sizes and offsets, in bytes and with
 * padding, without overflow, even where another dimension is 0. */
static bool check_size(const struct op_check *check, unsigned tensor)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    struct tensor_name name = op_tensor_name(check, tensor);
    const char *id = op_shape_id(check, tensor);
    if (found->rank > SKRT_MAX_RANK)
        return op_fail(check, id, (int)tensor, "%s %u has %u dimensions, but %d is the most",
                       name.noun, name.index, found->rank, SKRT_MAX_RANK);
    int64_t room = INT64_MAX / 8 / (NZ_ROWS * NZ_ROW_BYTES);
    for (uint32_t i = 0; i < found->rank; i++) {
        int64_t dim = found->dims[i];
        if (dim < 0)
            return op_fail(check, id, (int)tensor, "dimension %u of %s %u is %" PRId64, i,
                           name.noun, name.index, dim);
        if (dim > room)
            return op_fail(check, id, (int)tensor, "%s %u is too large", name.noun, name.index);
        room /= dim > 1 ? dim : 1;
    }
    return true;
}

static bool check_tensors(const struct op_check *check)
{
    unsigned n = check->row->operands + check->row->results;
    for (unsigned i = 0; i < n; i++)
        if (!check_size(check, i) || !check_dtype(check, i) || !check_format(check, i))
            return false;
    return true;
}

static const struct attr_rule *attr_rule_find(const struct op_row *row, const char *key)
{
    for (const struct attr_rule *rule = row->attrs; rule->name != NULL; rule++)
        if (strncmp(rule->name, key, SKRT_ATTR_KEY) == 0)
            return rule;
    return NULL;
}

/* The text of the fault of attribute `index`, to follow its name; NULL if it has none. */
static const char *attr_fault(const struct op_check *check, unsigned index)
{
    const struct skrt_attr *attr = &check->attrs[index];
    const struct attr_rule *rule = attr_rule_find(check->row, attr->key);
    if (rule == NULL)
        return "is unknown";
    for (unsigned i = 0; i < index; i++)
        if (strncmp(check->attrs[i].key, attr->key, SKRT_ATTR_KEY) == 0)
            return "is given twice";
    if (rule->kind == ATTR_BOOL && attr->f != 0 && attr->f != 1)
        return "must be true or false";
    if (rule->kind == ATTR_NON_NEGATIVE && !(isfinite(attr->f) && attr->f >= 0))
        return "must be a number that is not negative";
    return NULL;
}

static bool check_attrs(const struct op_check *check)
{
    for (unsigned i = 0; i < check->n_attrs; i++) {
        const char *fault = attr_fault(check, i);
        if (fault == NULL)
            continue;
        op_fail(check, "attribute", -1, "attribute \"%.*s\" of %s %s", SKRT_ATTR_KEY,
                check->attrs[i].key, check->row->name, fault);
        check->error->attribute = (int)i;
        return false;
    }
    return true;
}

bool sample_op_check(const char *op_type, const struct skrt_tensor *tensors, unsigned n_operands,
                     unsigned n_results, const struct skrt_attr *attrs, unsigned n_attrs,
                     struct sample_op_error *error)
{
    const struct op_row *row = op_row_find(op_type);
    struct op_check check = {row, tensors, attrs, n_attrs, error};
    if (row == NULL)
        return op_fail(&check, "op-type", -1, "there is no sample kernel for \"%.100s\"", op_type);
    return check_count(&check, "operand-count", "operand", row->operands, n_operands) &&
           check_count(&check, "result-count", "result", row->results, n_results) &&
           check_tensors(&check) && check_attrs(&check) && row->shapes(&check);
}

/* ---------------------------------------------------------------------------- tilings ---- */

enum { SMALL_ELEMENTS = 4096 }; /* up to so many, one core is faster than the start of many */

/* (x1, x2) -> y: a small result on one core, a large one on all. */
static struct sample_tiling tiling_elementwise(const struct skrt_tensor *tensors, uint32_t aivs)
{
    const struct skrt_tensor *y = &tensors[2];
    int64_t elements = 1;
    for (uint32_t i = 0; i < y->rank && elements <= SMALL_ELEMENTS; i++) {
        if (y->dims[i] == 0)
            return (struct sample_tiling){0, 1};
        elements = y->dims[i] > SMALL_ELEMENTS ? SMALL_ELEMENTS + 1 : elements * y->dims[i];
    }
    return elements <= SMALL_ELEMENTS ? (struct sample_tiling){0, 1}
                                      : (struct sample_tiling){1, aivs};
}

static const struct {
    const char *object;
    unsigned n_tensors;
    struct sample_tiling (*tile)(const struct skrt_tensor *tensors, uint32_t aivs);
} tilings[] = {
    {"add_dynamic.o", 3, tiling_elementwise},
};

bool sample_op_tiling(const char *object, const struct skrt_tensor *tensors, unsigned n_tensors,
                      uint32_t aivs, struct sample_tiling *tiling)
{
    for (size_t i = 0; i < sizeof tilings / sizeof tilings[0]; i++) {
        if (strcmp(tilings[i].object, object) != 0 || tilings[i].n_tensors != n_tensors)
            continue;
        *tiling = tilings[i].tile(tensors, aivs);
        return true;
    }
    return false;
}
