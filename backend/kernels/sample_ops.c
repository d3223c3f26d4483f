/* The signatures of the sample ops: one table row each. */
#include "backend/kernels/sample_ops.h"
#include "backend/kernels/nz.h"
#include "backend/kernels/sample_shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(SKRT_DTYPE_COUNT <= 32, "sets of dtypes are 32-bit masks");

/* Sets of dtypes. */
#define ONLY(dtype) (UINT32_C(1) << SKRT_##dtype)
#define FLOATS (ONLY(f32) | ONLY(f16) | ONLY(bf16))
#define HALVES (ONLY(f16) | ONLY(bf16))
#define WRAPPING_INTS (ONLY(i8) | ONLY(i32) | ONLY(i64))
#define CASTABLE (FLOATS | WRAPPING_INTS | ONLY(i16) | ONLY(u8) | ONLY(bool))
#define MOVABLE (CASTABLE | ONLY(f64) | ONLY(u16) | ONLY(u32) | ONLY(u64))

#define ANY_OF(set)                                                                                \
    {                                                                                              \
        .dtypes = (set)                                                                            \
    }
#define ANY_OF_NZ(set)                                                                             \
    {                                                                                              \
        .dtypes = (set), .nz = true                                                                \
    }
#define OPTIONAL(set)                                                                              \
    {                                                                                              \
        .dtypes = (set), .optional = true                                                          \
    }
#define LIST_OF(set)                                                                               \
    {                                                                                              \
        .dtypes = (set), .listed = true                                                            \
    }
#define LIST_LIKE(index)                                                                           \
    {                                                                                              \
        .like = true, .like_index = (index), .listed = true                                        \
    }
#define ABSENT                                                                                     \
    {                                                                                              \
        .optional = true                                                                           \
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
     {{"transpose_x1", VALUES_BOOL}, {"transpose_x2", VALUES_BOOL}},
     shapes_mat_mul},
    {"QuantBatchMatmulV3",
     6,
     1,
     {ANY_OF(ONLY(i8)), ANY_OF_NZ(ONLY(i8)), ANY_OF(ONLY(f32)), ABSENT, OPTIONAL(ONLY(i32)),
      OPTIONAL(ONLY(f32)), ANY_OF(HALVES)},
     {{0}},
     shapes_quant_matmul},
    {"DequantSwigluQuant",
     7,
     2,
     {ANY_OF(FLOATS | ONLY(i32)), OPTIONAL(ONLY(f32)), OPTIONAL(ONLY(f32)), ABSENT, ABSENT, ABSENT,
      ABSENT, ANY_OF(ONLY(i8)), ANY_OF(ONLY(f32))},
     {{"activate_left", VALUES_BOOL}},
     shapes_swiglu},
    {"AddN", 1, 1, {LIST_OF(FLOATS | WRAPPING_INTS), LIKE(0)}, {{"N", VALUES_INT}}, shapes_add_n},
    {"ConcatD",
     1,
     1,
     {LIST_OF(MOVABLE), LIKE(0)},
     {{"concat_dim", VALUES_INT}, {"N", VALUES_INT}},
     shapes_concat},
    {"FusedInferAttentionScore",
     31,
     2,
     {ANY_OF(FLOATS), LIST_LIKE(0), LIST_LIKE(0), ABSENT,
      OPTIONAL(ONLY(bool) | ONLY(i8) | ONLY(u8)), [31] = LIKE(0), [32] = ANY_OF(ONLY(f32))},
     {{"num_heads", VALUES_INT},
      {"num_key_value_heads", VALUES_INT},
      {"scale", VALUES_NON_NEGATIVE},
      {"softmax_lse_flag", VALUES_BOOL},
      {"input_layout", VALUES_LAYOUT}},
     shapes_attention},
    {"RmsNorm",
     2,
     2,
     {ANY_OF(FLOATS), LIKE_OR(0, ONLY(f32)), LIKE(0), ANY_OF(ONLY(f32))},
     {{"epsilon", VALUES_NON_NEGATIVE}},
     shapes_rms_norm},
    {"Softmax", 1, 1, {ANY_OF(FLOATS), LIKE(0)}, {{0}}, shapes_softmax},
    {"ScatterUpdate",
     3,
     1,
     {ANY_OF(MOVABLE), ANY_OF(ONLY(i32) | ONLY(i64)), LIKE(0), LIKE(0)},
     {{"axis", VALUES_INT}},
     shapes_scatter_update},
    {"Assign", 2, 0, {ANY_OF(MOVABLE), LIKE(0)}, {{0}}, shapes_same},
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

enum sample_memory sample_op_memory(const char *op_type)
{
    static const struct {
        const char *name;
        enum sample_memory memory;
    } shared[] = {
        {"Add", SAMPLE_IN_PLACE},  {"Mul", SAMPLE_IN_PLACE},         {"Pows", SAMPLE_IN_PLACE},
        {"Cast", SAMPLE_IN_PLACE}, {"ScatterUpdate", SAMPLE_UPDATE}, {"Assign", SAMPLE_UPDATE},
    };
    for (unsigned i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (strcmp(shared[i].name, op_type) == 0)
            return shared[i].memory;
    return SAMPLE_APART;
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

static const char *dtype_name(uint32_t dtype)
{
    static const char *const names[] = {
#define DTYPE(name, ...) [SKRT_##name] = #name,
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

static bool check_count(const struct op_check *check, const char *id, const char *noun,
                        unsigned expected, unsigned found)
{
    return found == expected ||
           op_fail(check, id, -1, "%s takes %u %s%s, but has %u", check->row->name, expected, noun,
                   expected == 1 ? "" : "s", found);
}

/* What an element of an operand or result must be like: the first of a list. */
static uint32_t like_dtype(const struct op_check *check, unsigned tensor)
{
    const struct skrt_tensor *like = &check->tensors[tensor];
    return like->form == SKRT_LIST ? like->list[0].dtype : like->dtype;
}

static bool check_dtype(const struct op_check *check, unsigned tensor,
                        const struct skrt_tensor *found)
{
    const struct tensor_rule *rule = &check->row->tensors[tensor];
    uint32_t dtype = found->dtype, set = rule->dtypes;
    if (rule->like)
        set |= UINT32_C(1) << like_dtype(check, rule->like_index);
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

static bool check_format(const struct op_check *check, unsigned tensor,
                         const struct skrt_tensor *found)
{
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
static bool check_size(const struct op_check *check, unsigned tensor,
                       const struct skrt_tensor *found)
{
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

/* Whether an operand is there, is a list or is absent as its rule says. */
static bool check_form(const struct op_check *check, unsigned tensor)
{
    const struct tensor_rule *rule = &check->row->tensors[tensor];
    const struct skrt_tensor *found = &check->tensors[tensor];
    bool never = rule->dtypes == 0 && !rule->like;
    if (found->form == SKRT_ABSENT)
        return rule->optional || never ||
               op_fail(check, "operand-form", (int)tensor, "operand %u must be there", tensor);
    if (never)
        return op_fail(check, "operand-form", (int)tensor,
                       "the sample kernel has no operand %u: it must be 'none'", tensor);
    if (rule->listed != (found->form == SKRT_LIST))
        return op_fail(check, "operand-form", (int)tensor,
                       rule->listed ? "operand %u must be a list: '[...]'"
                                    : "operand %u must be no list",
                       tensor);
    return found->form != SKRT_LIST || found->count > 0 ||
           op_fail(check, "operand-form", (int)tensor, "operand %u is an empty list", tensor);
}

static bool check_tensor(const struct op_check *check, unsigned tensor,
                         const struct skrt_tensor *found)
{
    return check_size(check, tensor, found) && check_dtype(check, tensor, found) &&
           check_format(check, tensor, found);
}

/* The tensors of a list are of one dtype. */
static bool check_list(const struct op_check *check, unsigned tensor)
{
    const struct skrt_tensor *list = &check->tensors[tensor];
    for (uint64_t i = 0; i < list->count; i++) {
        if (!check_tensor(check, tensor, &list->list[i]))
            return false;
        if (list->list[i].dtype != list->list[0].dtype)
            return op_fail(check, "operand-dtype", (int)tensor,
                           "tensor %" PRIu64 " of operand %u must be %s like the first, but is %s",
                           i, tensor, dtype_name(list->list[0].dtype),
                           dtype_name(list->list[i].dtype));
    }
    return true;
}

static bool check_tensors(const struct op_check *check)
{
    unsigned n = check->row->operands + check->row->results;
    for (unsigned i = 0; i < n; i++) {
        const struct skrt_tensor *found = &check->tensors[i];
        if (!check_form(check, i))
            return false;
        if (found->form == SKRT_LIST && !check_list(check, i))
            return false;
        if (found->form == SKRT_TENSOR && !check_tensor(check, i, found))
            return false;
    }
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
    if (rule->values == VALUES_BOOL && attr->f != 0 && attr->f != 1)
        return "must be true or false";
    if (rule->values == VALUES_INT && !(isfinite(attr->f) && attr->f == (double)attr->i))
        return "must be an integer";
    if (rule->values == VALUES_NON_NEGATIVE && !(isfinite(attr->f) && attr->f >= 0))
        return "must be a number that is not negative";
    if (rule->values == VALUES_LAYOUT)
        return "must be a text";
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

bool sample_op_takes_text(const char *op_type, const char *key)
{
    const struct op_row *row = op_row_find(op_type);
    const struct attr_rule *rule = row ? attr_rule_find(row, key) : NULL;
    return rule != NULL && rule->values == VALUES_LAYOUT;
}

bool sample_op_check_text(const char *op_type, const struct skrt_tensor *tensors, const char *key,
                          const char *text, struct sample_op_error *error)
{
    struct op_check check = {.row = op_row_find(op_type), .tensors = tensors, .error = error};
    const char *layout = tensors[0].rank == 3 ? "BSH" : "BNSD";
    return strcmp(text, layout) == 0 ||
           op_fail(&check, "attribute", -1,
                   "\"%s\" must be \"%s\" where operand 0 has %u dimensions", key, layout,
                   tensors[0].rank);
}
