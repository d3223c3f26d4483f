/* What the sample kernels take of their op types, whose data (ir/optypes/ops) says the rest: one
 * table row each; and the checks of an op by them. */
#include "backend/kernels/sample_ops.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/kernels/nz.h"
#include "ir/optypes/op_rules.h"
#include "ir/optypes/op_shapes.h"
#include "ir/optypes/op_types.h"

enum { MAX_TENSORS = 12, MAX_ATTRS = 12, MAX_RULES = 16 };

/* What the kernel takes of an operand or result, within what the type's data says of it. Of those
 * without a rule, optional operands must be absent. */
struct tensor_rule {
    const char *slot; /* its name in the type's data; NULL ends the list */
    uint32_t dtypes;  /* a set; 0: those of the type */
    uint32_t rank;    /* 0: any */
    const char *like; /* an operand, whose dtype it has; NULL: any */
    bool nz;          /* FRACTAL_NZ is allowed, for rank 2 */
    bool optional;    /* a list may be empty */
};

/* An op under check. */
struct op_check {
    const struct op_type *type;
    const struct op_row *row;
    const struct skrt_tensor *tensors; /* operands, then results */
    unsigned operands, results;        /* that the kernel takes */
    const struct skrt_attr *attrs;
    unsigned n_attrs;
    struct sample_op_error *error;
};

/* A row of the table. Its rules are those of the kernel alone, not of all ops of the type. */
struct op_row {
    const char *name; /* of the op type */
    enum sample_memory memory;
    struct tensor_rule tensors[MAX_TENSORS + 1];
    const char *attrs[MAX_ATTRS + 1]; /* that the kernel takes; NULL ends the list */
    const char *rules[MAX_RULES + 1]; /* of shapes and attributes, as op data has them */
    struct {
        const char *name; /* of an attribute; NULL: none */
        double value;     /* the only one that the kernel computes */
    } only;
    bool (*dtypes)(const struct op_check *check); /* what rules cannot say; NULL: nothing */
    /* The type's last operands and results, so many, are no parameters of the kernel. */
    uint8_t without_operands, without_results;
    bool many_results; /* the type's result is a list: any number of parameters */
    uint8_t workspace; /* bytes for each element of result 0 */
};

/* How messages call a tensor: "operand 'x1'"; of a listed result "result 2". */
struct tensor_name {
    char text[96];
};
struct tensor_name op_tensor_name(const struct op_check *check, unsigned tensor);

/* Sets the error, which is one sentence about a tensor (-1: none), and returns false. */
static bool op_fail(const struct op_check *check, const char *id, int tensor, const char *format,
                    ...)
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

/* An attribute of the op; NULL where it does not have it. */
static const struct skrt_attr *op_check_attr(const struct op_check *check, const char *name)
{
    for (unsigned i = 0; i < check->n_attrs; i++)
        if (strncmp(check->attrs[i].key, name, SKRT_ATTR_KEY) == 0)
            return &check->attrs[i];
    return NULL;
}

/* The same about an attribute that the op has. */
static bool op_fail_attr(const struct op_check *check, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check->error->id = "attribute";
    check->error->tensor = -1;
    check->error->attribute = (int)(op_check_attr(check, name) - check->attrs);
    vsnprintf(check->error->text, sizeof check->error->text, format, args);
    va_end(args);
    return false;
}

/* The operand or result of the type that a tensor is. */
static uint32_t op_tensor_slot(const struct op_check *check, unsigned tensor)
{
    uint32_t last = check->type->n_operands + check->type->n_results - 1;
    uint32_t slot = tensor < check->operands ? tensor : tensor + check->row->without_operands;
    return slot < last ? slot : last;
}

struct tensor_name op_tensor_name(const struct op_check *check, unsigned tensor)
{
    struct tensor_name name;
    const struct op_slot *slot = &check->type->slots[op_tensor_slot(check, tensor)];
    if (tensor >= check->operands && slot->presence == OP_LISTED)
        snprintf(name.text, sizeof name.text, "result %u", tensor - check->operands);
    else
        snprintf(name.text, sizeof name.text, "%s '%.80s'",
                 tensor < check->operands ? "operand" : "result", slot->name);
    return name;
}

/* The id of an error about the shape of a tensor. */
static const char *op_shape_id(const struct op_check *check, unsigned tensor)
{
    return tensor < check->operands ? "operand-shape" : "result-shape";
}

/* Rules of a kernel are texts in the language of op data (docs/op-types.md), read and evaluated
 * after those of the op's type, whose variables they may use. */

/* ------------------------------------------------------------------------------- rules ---- */

/* The tensors of an op for the rules of its type, with the place of each. */
struct rule_tensors {
    struct op_tensor *tensors;
    uint32_t *places;
    uint32_t count;
};

static void add_rule_tensor(struct rule_tensors *all, const struct op_check *check, unsigned place,
                            const struct skrt_tensor *tensor)
{
    all->places[all->count] = place;
    all->tensors[all->count++] =
        (struct op_tensor){.slot = op_tensor_slot(check, place),
                           .rank = tensor->rank,
                           .dims = tensor->dims,
                           .bits = dtype_info((enum dtype)tensor->dtype)->bits};
}

static void rule_tensors_init(struct rule_tensors *all, const struct op_check *check,
                              struct arena *arena)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < check->operands + check->results; i++)
        count += check->tensors[i].form == SKRT_LIST ? check->tensors[i].count : 1;
    *all = (struct rule_tensors){arena_alloc(arena, (count + 1) * sizeof *all->tensors),
                                 arena_alloc(arena, (count + 1) * sizeof *all->places), 0};
    for (unsigned i = 0; i < check->operands + check->results; i++) {
        const struct skrt_tensor *tensor = &check->tensors[i];
        if (tensor->form == SKRT_TENSOR)
            add_rule_tensor(all, check, i, tensor);
        for (uint64_t n = 0; tensor->form == SKRT_LIST && n < tensor->count; n++)
            add_rule_tensor(all, check, i, &tensor->list[n]);
    }
}

static bool attr_of_check(const struct op_call *call, const struct op_attr *attr,
                          struct arena *arena, struct op_attr_value *value)
{
    const struct op_check *check = call->user;
    (void)arena;
    for (unsigned i = 0; i < check->n_attrs; i++) {
        if (strncmp(check->attrs[i].key, attr->name, SKRT_ATTR_KEY) != 0)
            continue;
        *value = (struct op_attr_value){.numbers = &check->attrs[i].i, .count = 1};
        if (check->attrs[i].ints != NULL)
            *value =
                (struct op_attr_value){check->attrs[i].ints, (uint32_t)check->attrs[i].count, NULL};
        value->text = check->attrs[i].text;
        return true;
    }
    return false;
}

/* The type with the rules of the kernel after its own, which are read again to bind their
 * variables. */
static const struct op_type *type_with_rules(const struct op_check *check, struct arena *arena)
{
    struct rule_variables variables = {.count = 0};
    struct op_type *type = arena_alloc(arena, sizeof *type);
    struct op_rule *rules;
    uint32_t own = check->type->n_shape, count = own;
    char error[200];
    while (check->row->rules[count - own] != NULL)
        count++;
    rules = arena_alloc(arena, count * sizeof *rules);
    *type = *check->type;
    type->name = "the sample kernel"; /* in messages: rules of the type hold already */
    for (uint32_t i = 0; i < count; i++) {
        const char *text = i < own ? type->shape[i].text : check->row->rules[i - own];
        bool ok = op_rule_parse(arena, check->type, text, RULE_FOR_SHAPES, &variables, &rules[i],
                                error, sizeof error);
        assert(ok);
        (void)ok;
    }
    type->shape = rules;
    type->n_shape = count;
    return type;
}

static bool check_rules(const struct op_check *check, const struct op_type *type,
                        struct arena *scratch)
{
    struct rule_tensors all;
    struct op_fault fault;
    rule_tensors_init(&all, check, scratch);
    const struct op_call call = {.type = type,
                                 .tensors = all.tensors,
                                 .n_tensors = all.count,
                                 .attr = attr_of_check,
                                 .user = check};
    if (op_shapes_check(&call, &fault))
        return true;
    uint32_t place = fault.tensor == NONE ? 0 : all.places[fault.tensor];
    return op_fail(check, op_shape_id(check, place), (int)place, "%s", fault.text);
}

/* The rules of the type and of the kernel. */
static bool shapes_check(const struct op_check *check)
{
    struct arena scratch = {NULL, 0};
    bool ok = check_rules(check, check->type, &scratch) &&
              (check->row->rules[0] == NULL ||
               check_rules(check, type_with_rules(check, &scratch), &scratch));
    arena_free(&scratch);
    return ok;
}

/* ------------------------------------------------------------------------------ dtypes ---- */

/* What rules cannot say, as it depends on data types: of products, with f32, f16 and bf16 mixed; of
 * a softmax; of rounding. */
static bool dtypes_of_product(const struct op_check *check)
{
    const struct skrt_tensor *x = check->tensors;
    unsigned y = check->operands;
    bool tiled = x->dtype == SKRT_f32 || x->dtype == SKRT_f16 || x->dtype == SKRT_bf16;
    for (unsigned i = 1; i <= y; i++) {
        const struct skrt_tensor *other = &check->tensors[i];
        bool other_tiled =
            other->dtype == SKRT_f32 || other->dtype == SKRT_f16 || other->dtype == SKRT_bf16;
        if (other->form != SKRT_ABSENT && (tiled ? !other_tiled : other->dtype != x->dtype))
            return op_fail(check, i == y ? "result-dtype" : "operand-dtype", (int)i,
                           "%s must be %s %s", op_tensor_name(check, i).text,
                           tiled ? "f32, f16 or bf16, as is" : "of the data type of",
                           op_tensor_name(check, 0).text);
    }
    for (unsigned i = 0; i < 2; i++)
        if (!tiled && check->tensors[i].format != SKRT_ND)
            return op_fail(check, "operand-format", (int)i,
                           "%s of this data type must have the format ND",
                           op_tensor_name(check, i).text);
    return true;
}

static bool dtypes_of_softmax(const struct op_check *check)
{
    return check->tensors[0].dtype != SKRT_f64 || check->tensors[1].dtype == SKRT_f64 ||
           op_fail(check, "result-dtype", 1, "%s must be f64 like %s",
                   op_tensor_name(check, 1).text, op_tensor_name(check, 0).text);
}

static bool dtypes_of_round(const struct op_check *check)
{
    const struct skrt_attr *decimals = op_check_attr(check, "decimals");
    uint32_t dtype = check->tensors[0].dtype;
    bool floats = dtype == SKRT_f32 || dtype == SKRT_f16 || dtype == SKRT_bf16 || dtype == SKRT_f64;
    return decimals == NULL || decimals->i >= 0 || floats ||
           op_fail_attr(
               check, "decimals",
               "the sample kernel rounds integers with \"decimals\" of 0 or more, not %" PRId64,
               decimals->i);
}

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
#include "ir/core/dtypes.def"
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
    return true;
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
