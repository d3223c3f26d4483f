/* What the sample kernels take of their op types, whose data (ir/ops) says the rest: one table row
 * each. */
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
#define REALS (FLOATS | ONLY(f64))
#define INTS                                                                                       \
    (ONLY(i8) | ONLY(i16) | ONLY(i32) | ONLY(i64) | ONLY(u8) | ONLY(u16) | ONLY(u32) | ONLY(u64))
#define NUMBERS (REALS | INTS)
#define PRODUCTS (REALS | ONLY(i32) | ONLY(i64))
#define MOVABLE (NUMBERS | ONLY(bool))

/* ------------------------------------------------------------------------- the table ---- */

#define TENSOR(name, set, ...)                                                                     \
    {                                                                                              \
        .slot = name, .dtypes = set, ##__VA_ARGS__                                                 \
    }
#define ALL_OF_TYPE                                                                                \
    {                                                                                              \
        .slot = NULL                                                                               \
    }
#define TAKES(...) .tensors = {__VA_ARGS__}
#define ATTRS(...) .attrs = {__VA_ARGS__}
#define NEEDS(...) .needs = {__VA_ARGS__}
#define RULES(...) .rules = {__VA_ARGS__}
#define ONLY_VALUE(attr, number) .only = {attr, number}
#define DTYPES(function) .dtypes = function
#define WITHOUT_OPERANDS(n) .without_operands = n
#define WITHOUT_RESULTS(n) .without_results = n
#define MANY_RESULTS .many_results = true
#define WORKSPACE(n) .workspace = n
#define KERNEL(kernel, op_type, source, cores, blocks, memory_class, ...)                          \
    {.name = #op_type, .memory = SAMPLE_##memory_class, __VA_ARGS__},

/* Parts of rules: the key's heads in FusedInferAttentionScore, and the places of dimensions in
 * FlashAttentionScore's layouts. */
#define CACHE_HEADS "(num_key_value_heads == 0 ? num_heads : num_key_value_heads)"
#define CACHE(list)                                                                                \
    list " = rank(query) == 3 ? [count(" list ") == 1 ? query[0] : 1, "                            \
         "lengths(key, 1)[count(key) == 1 ? 0 : nth(" list ")], " CACHE_HEADS                      \
         " * (query[2] / num_heads)] : [count(" list ") == 1 ? query[0] : 1, " CACHE_HEADS         \
         ", lengths(key, 2)[count(key) == 1 ? 0 : nth(" list ")], query[3]]"
#define BATCH_AT "[input_layout == 'SBH' ? 1 : 0]"
#define HEADS_AT "[input_layout == 'BSND' ? 2 : 1]"
#define ROWS_AT "[input_layout == 'SBH' ? 0 : input_layout == 'BNSD' ? 2 : 1]"
#define HEAD_SIZE "(rank(query) == 3 ? query[2] / head_num : query[3])"
#define KEY_HEADS "(rank(query) == 3 ? key[2] / " HEAD_SIZE " : key" HEADS_AT ")"
/* Of GroupedMatmul: its groups, and the columns of a group. */
#define ONE_WEIGHT "(count(weight) == 1 && rank(weight) == 3)"
#define GROUPS "(" ONE_WEIGHT " ? weight[0] : count(weight))"
#define WEIGHT_ROWS(group)                                                                         \
    "lengths(weight, rank(weight) - (transpose_weight ? 1 : 2))[" ONE_WEIGHT " ? 0 : " group "]"
#define WEIGHT_COLUMNS(group)                                                                      \
    "lengths(weight, rank(weight) - (transpose_weight ? 2 : 1))[" ONE_WEIGHT " ? 0 : " group "]"
#define ROUND_MODE                                                                                 \
    "round_mode == 'round' || round_mode == 'Round' || round_mode == 'floor' || "                  \
    "round_mode == 'Floor' || round_mode == 'ceil' || round_mode == 'Ceil' || "                    \
    "round_mode == 'trunc' || round_mode == 'Trunc'"

#define CUT_MASKS "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"

static const struct op_row op_rows[] = {
#include "backend/kernels/sample_kernels.def"
};

enum { OP_ROWS = sizeof op_rows / sizeof op_rows[0] };

static const struct op_row *op_row_find(const struct op_type *type)
{
    if (type == NULL)
        return NULL;
    for (unsigned i = 0; i < OP_ROWS; i++)
        if (op_rows[i].name[0] == type->real[0] && strcmp(op_rows[i].name, type->real) == 0)
            return &op_rows[i];
    return NULL;
}

const char *sample_op_name(unsigned index)
{
    return index < OP_ROWS ? op_rows[index].name : NULL;
}

const char *const *sample_op_attrs(struct op_types *types, const char *op_type)
{
    static const char *const none[] = {NULL};
    const struct op_row *row = op_row_find(op_types_find(types, op_type, strlen(op_type)));
    return row != NULL ? row->attrs : none;
}

enum sample_memory sample_op_memory(struct op_types *types, const char *op_type)
{
    const struct op_row *row = op_row_find(op_types_find(types, op_type, strlen(op_type)));
    return row != NULL ? row->memory : SAMPLE_APART;
}

/* What is known of an op type, and the row; false where there is none. */
static bool op_check_init(struct op_check *check, struct op_types *types, const char *op_type)
{
    check->type = op_types_find(types, op_type, strlen(op_type));
    check->row = op_row_find(check->type);
    if (check->row == NULL)
        return false;
    check->operands = check->type->n_operands - check->row->without_operands;
    check->results = check->type->n_results - check->row->without_results;
    return true;
}

bool sample_op_arity(struct op_types *types, const char *op_type, unsigned *n_operands,
                     unsigned *n_results)
{
    struct op_check check;
    if (!op_check_init(&check, types, op_type))
        return false;
    *n_operands = check.operands;
    *n_results = check.results;
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
           op_fail(check, id, -1, "%s takes %u %s%s, but has %u", check->type->name, expected, noun,
                   expected == 1 ? "" : "s", found);
}

/* What the kernel has to say of a tensor: NULL where that is nothing. */
static const struct tensor_rule *rule_of(const struct op_check *check, unsigned tensor)
{
    const char *name = check->type->slots[op_tensor_slot(check, tensor)].name;
    for (const struct tensor_rule *rule = check->row->tensors; rule->slot != NULL; rule++)
        if (strcmp(rule->slot, name) == 0)
            return rule;
    return NULL;
}

/* The operand that a tensor is like, by the kernel or else by the type; NONE. */
static uint32_t like_operand(const struct op_check *check, unsigned tensor)
{
    const struct tensor_rule *rule = rule_of(check, tensor);
    if (rule != NULL && rule->like != NULL)
        return op_type_operand(check->type, rule->like, strlen(rule->like));
    return check->type->slots[op_tensor_slot(check, tensor)].like;
}

/* The dtype of an operand: that of the first of a list. */
static uint32_t dtype_of(const struct op_check *check, uint32_t operand)
{
    const struct skrt_tensor *found = &check->tensors[operand];
    if (found->form != SKRT_LIST)
        return found->dtype;
    return found->count > 0 ? found->list[0].dtype : SKRT_DTYPE_COUNT;
}

/* What a tensor may be; `alone`: only what the operand is that it is like. */
static uint32_t dtypes_of(const struct op_check *check, unsigned tensor, uint32_t like, bool *alone)
{
    const struct tensor_rule *rule = rule_of(check, tensor);
    bool own_like = rule != NULL && rule->like != NULL;
    uint64_t set = check->type->slots[op_tensor_slot(check, tensor)].dtypes;
    *alone = like != NONE && (own_like || set == 0);
    if (own_like)
        set = 0;
    if (like != NONE)
        set |= UINT64_C(1) << dtype_of(check, like);
    return (uint32_t)(rule != NULL && rule->dtypes != 0 ? set & rule->dtypes : set);
}

static bool check_dtype(const struct op_check *check, unsigned tensor,
                        const struct skrt_tensor *found)
{
    bool alone;
    uint32_t dtype = found->dtype, like = like_operand(check, tensor);
    uint32_t set = dtypes_of(check, tensor, like, &alone);
    if (dtype < SKRT_DTYPE_COUNT && (set >> dtype & 1) != 0)
        return true;
    char expected[SAMPLE_OP_ERROR_TEXT / 2];
    dtype_set_text(set, expected, sizeof expected);
    const char *id = tensor < check->operands ? "operand-dtype" : "result-dtype";
    if (alone)
        return op_fail(check, id, (int)tensor, "%s must be %s like %s, but is %s",
                       op_tensor_name(check, tensor).text, expected,
                       op_tensor_name(check, like).text, dtype_name(dtype));
    return op_fail(check, id, (int)tensor, "%s must be %s, but is %s",
                   op_tensor_name(check, tensor).text, expected, dtype_name(dtype));
}

static bool check_format(const struct op_check *check, unsigned tensor,
                         const struct skrt_tensor *found)
{
    const struct tensor_rule *rule = rule_of(check, tensor);
    bool nz = rule != NULL && rule->nz;
    const char *id = tensor < check->operands ? "operand-format" : "result-format";
    if (found->format == SKRT_ND)
        return true;
    if (!nz || found->format != SKRT_FRACTAL_NZ)
        return op_fail(check, id, (int)tensor, "%s must have the format ND%s",
                       op_tensor_name(check, tensor).text, nz ? " or FRACTAL_NZ" : "");
    return found->rank == 2 ||
           op_fail(check, id, (int)tensor,
                   "%s has the format FRACTAL_NZ, which takes 2 dimensions, but has %u",
                   op_tensor_name(check, tensor).text, found->rank);
}

/* Rank and dimensions must be such that kernels can compute sizes and offsets, in bytes and with
 * padding, without overflow, even where another dimension is 0. */
static bool check_size(const struct op_check *check, unsigned tensor,
                       const struct skrt_tensor *found)
{
    const char *id = op_shape_id(check, tensor);
    if (found->rank > SKRT_MAX_RANK)
        return op_fail(check, id, (int)tensor, "%s has %u dimensions, but %d is the most",
                       op_tensor_name(check, tensor).text, found->rank, SKRT_MAX_RANK);
    int64_t room = INT64_MAX / 8 / (NZ_ROWS * NZ_ROW_BYTES);
    for (uint32_t i = 0; i < found->rank; i++) {
        int64_t dim = found->dims[i];
        if (dim < 0)
            return op_fail(check, id, (int)tensor, "dimension %u of %s is %" PRId64, i,
                           op_tensor_name(check, tensor).text, dim);
        if (dim > room)
            return op_fail(check, id, (int)tensor, "%s is too large",
                           op_tensor_name(check, tensor).text);
        room /= dim > 1 ? dim : 1;
    }
    return true;
}

/* A list without a rule is one of optional operands. */
static bool check_filled(const struct op_check *check, unsigned tensor, uint64_t count)
{
    const struct tensor_rule *rule = rule_of(check, tensor);
    if (rule == NULL)
        return count == 0 || op_fail(check, "operand-form", (int)tensor,
                                     "the sample kernel has no %s: it must be '[]'",
                                     op_tensor_name(check, tensor).text);
    return count > 0 || rule->optional ||
           op_fail(check, "operand-form", (int)tensor, "%s is an empty list",
                   op_tensor_name(check, tensor).text);
}

/* Whether an operand is there, is a list or is absent as the type has it. */
static bool check_form(const struct op_check *check, unsigned tensor)
{
    enum op_presence presence = check->type->slots[op_tensor_slot(check, tensor)].presence;
    const struct skrt_tensor *found = &check->tensors[tensor];
    if (tensor >= check->operands)
        return true;
    if (found->form == SKRT_ABSENT)
        return presence == OP_OPTIONAL ||
               op_fail(check, "operand-form", (int)tensor, "%s must be there",
                       op_tensor_name(check, tensor).text);
    if (presence == OP_OPTIONAL && rule_of(check, tensor) == NULL)
        return op_fail(check, "operand-form", (int)tensor,
                       "the sample kernel has no %s: it must be 'none'",
                       op_tensor_name(check, tensor).text);
    if ((presence == OP_LISTED) != (found->form == SKRT_LIST))
        return op_fail(check, "operand-form", (int)tensor,
                       presence == OP_LISTED ? "%s must be a list: '[...]'" : "%s must be no list",
                       op_tensor_name(check, tensor).text);
    return found->form != SKRT_LIST || check_filled(check, tensor, found->count);
}

static bool check_rank(const struct op_check *check, unsigned tensor,
                       const struct skrt_tensor *found)
{
    const struct tensor_rule *rule = rule_of(check, tensor);
    if (rule == NULL || rule->rank == 0 || rule->rank == found->rank)
        return true;
    return op_fail(check, op_shape_id(check, tensor), (int)tensor,
                   "%s must have %u dimension%s, but has %u", op_tensor_name(check, tensor).text,
                   rule->rank, rule->rank == 1 ? "" : "s", found->rank);
}

static bool check_tensor(const struct op_check *check, unsigned tensor,
                         const struct skrt_tensor *found)
{
    return check_size(check, tensor, found) && check_dtype(check, tensor, found) &&
           check_format(check, tensor, found) && check_rank(check, tensor, found);
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
                           "tensor %" PRIu64 " of %s must be %s like the first, but is %s", i,
                           op_tensor_name(check, tensor).text, dtype_name(list->list[0].dtype),
                           dtype_name(list->list[i].dtype));
    }
    return true;
}

static bool check_tensors(const struct op_check *check)
{
    unsigned n = check->operands + check->results;
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

/* What the type says of an attribute; NULL where the kernel takes none of the name. */
static const struct op_attr *attr_find_named(const struct op_check *check, const char *key)
{
    bool taken = false;
    for (const char *const *name = check->row->attrs; *name != NULL; name++)
        taken |= strncmp(*name, key, SKRT_ATTR_KEY) == 0;
    for (uint32_t i = 0; taken && i < check->type->n_attrs; i++)
        if (strncmp(check->type->attrs[i].name, key, SKRT_ATTR_KEY) == 0)
            return &check->type->attrs[i];
    return NULL;
}

/* The text of the fault of attribute `index`, to follow its name; NULL if it has none. */
static const char *attr_fault(const struct op_check *check, unsigned index)
{
    const struct skrt_attr *attr = &check->attrs[index];
    const struct op_attr *rule = attr_find_named(check, attr->key);
    if (rule == NULL)
        return "is unknown";
    for (unsigned i = 0; i < index; i++)
        if (strncmp(check->attrs[i].key, attr->key, SKRT_ATTR_KEY) == 0)
            return "is given twice";
    if (rule->kind == OP_ATTR_BOOL && attr->f != 0 && attr->f != 1)
        return "must be true or false";
    if (rule->kind == OP_ATTR_INT && !(isfinite(attr->f) && attr->f == (double)attr->i))
        return "must be an integer";
    if (strcmp(rule->name, "epsilon") == 0 && !(isfinite(attr->f) && attr->f >= 0))
        return "must be a number that is not negative";
    if (rule->kind == OP_ATTR_FLOAT && !isfinite(attr->f))
        return "must be a finite number";
    if (rule->kind == OP_ATTR_STRING && attr->text == NULL)
        return "must be a text";
    if (rule->kind == OP_ATTR_INTS && attr->ints == NULL)
        return "must be a list of integers";
    return NULL;
}

static bool check_needs(const struct op_check *check)
{
    for (const char *const *name = check->row->needs; *name != NULL; name++)
        if (op_check_attr(check, *name) == NULL)
            return op_fail(check, "attribute", -1, "the sample kernel needs \"%s\"", *name);
    return true;
}

static bool check_attrs(const struct op_check *check)
{
    for (unsigned i = 0; i < check->n_attrs; i++) {
        const char *fault = attr_fault(check, i);
        if (fault == NULL)
            continue;
        op_fail(check, "attribute", -1, "attribute \"%.*s\" of %s %s", SKRT_ATTR_KEY,
                check->attrs[i].key, check->type->name, fault);
        check->error->attribute = (int)i;
        return false;
    }
    return check_needs(check);
}

static bool check_only(const struct op_check *check)
{
    const char *name = check->row->only.name;
    const struct skrt_attr *attr = name != NULL ? op_check_attr(check, name) : NULL;
    return attr == NULL || attr->f == check->row->only.value ||
           op_fail_attr(check, name, "the sample kernel has \"%s\" = %g only", name,
                        check->row->only.value);
}

bool sample_op_check(struct op_types *types, const char *op_type, const struct skrt_tensor *tensors,
                     unsigned n_operands, unsigned n_results, const struct skrt_attr *attrs,
                     unsigned n_attrs, struct sample_op_error *error)
{
    struct op_check check = {
        .tensors = tensors, .attrs = attrs, .n_attrs = n_attrs, .error = error};
    bool known = op_check_init(&check, types, op_type);
    if (known && check.row->many_results && n_results > 0)
        check.results = n_results;
    if (!known)
        return op_fail(&check, "op-type", -1, "there is no sample kernel for \"%.100s\"", op_type);
    return check_count(&check, "operand-count", "operand", check.operands, n_operands) &&
           check_count(&check, "result-count", "result", check.results, n_results) &&
           check_tensors(&check) && check_attrs(&check) && check_only(&check) &&
           shapes_check(&check) && (check.row->dtypes == NULL || check.row->dtypes(&check));
}

enum sample_attr sample_op_attr_kind(struct op_types *types, const char *op_type, const char *key)
{
    struct op_check check;
    const struct op_attr *attr =
        op_check_init(&check, types, op_type) ? attr_find_named(&check, key) : NULL;
    if (attr == NULL)
        return SAMPLE_NUMBER;
    return attr->kind == OP_ATTR_STRING ? SAMPLE_TEXT
           : attr->kind == OP_ATTR_INTS ? SAMPLE_INTS
                                        : SAMPLE_NUMBER;
}
