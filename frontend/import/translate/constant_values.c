/* Integers that values hold: constants, and what follows from them. Models compute shapes so. */
#include "frontend/import/translate/build_ops.h"
#include "ir/analysis/contents.h"
#include "ir/core/operands.h"

#include <string.h>

/* One number may fill a constant of any size; rows look at no more elements. */
enum { MOST_CONTENTS = 4096 };

/* Ops that are looked through, one after the other. */
enum { MOST_DEEP = 16 };

/* The numbers that the text gives to the constant that a value is; 0: there are none. */
static uint32_t numbers_of(const struct translation *t, uint32_t value,
                           const struct attr_value **numbers, uint64_t *elements)
{
    uint32_t source = value == NONE ? NONE : viewed_value(t->module, t->graph, value);
    uint32_t def = source == NONE ? NONE : t->graph->values.at[source].def;
    if (def >= t->graph->ops.count || (source < t->written->count && t->written->at[source]))
        return 0;
    const struct op *op = &t->graph->ops.at[def];
    const struct attr *attr =
        name_is(t->module, op->type, "Variable") ? NULL : op_contents_attr(t->module, t->graph, op);
    if (!attr || !type_elements(t->module, t->graph->values.at[source].type, elements))
        return 0;
    struct contents contents = contents_read(t->module, attr);
    *numbers = contents.numbers;
    return contents.numbers && (contents.count == 1 || contents.count == *elements) ? contents.count
                                                                                    : 0;
}

/* The integers of a constant. */
static bool constant_ints(struct translation *t, uint32_t value, struct tr_ints *ints)
{
    const struct attr_value *numbers;
    uint64_t elements = 0;
    uint32_t count = numbers_of(t, value, &numbers, &elements);
    if (count == 0 || elements > MOST_CONTENTS)
        return false;
    int64_t *at = tr_array(t, (uint32_t)elements);
    for (uint64_t i = 0; i < elements; i++) {
        const struct attr_value *number = &numbers[count == 1 ? 0 : i];
        if (number->kind != ATTR_INT && number->kind != ATTR_BOOL)
            return false;
        at[i] = number->i;
    }
    *ints = (struct tr_ints){at, (uint32_t)elements};
    return true;
}

/* ------------------------------------------------------------------- ops of constants ---- */

static bool known(struct translation *t, uint32_t value, struct tr_ints *ints, unsigned deep);

/* An op whose result is asked for. */
struct asked {
    const struct op *op;
    const char *pairs; /* of an op on pairs of elements, or a reduction: the op on a pair */
    enum dtype dtype;
    uint32_t count; /* elements of the result */
    unsigned deep;
};

static uint32_t operand(const struct translation *t, const struct asked *asked, uint32_t i)
{
    return i < asked->op->operands.count ? t->graph->refs.at[asked->op->operands.first + i] : NONE;
}

/* The integers of an operand of at most `most_rank` dimensions; MAX_RANK: its rank need not be
 * known. */
static bool known_operand(struct translation *t, const struct asked *asked, uint32_t i,
                          uint32_t most_rank, struct tr_ints *ints)
{
    uint32_t value = operand(t, asked, i);
    return (most_rank == MAX_RANK || tr_rank(t, value) <= most_rank) &&
           known(t, value, ints, asked->deep);
}

/* The one integer of an operand. */
static bool known_number(struct translation *t, const struct asked *asked, uint32_t i,
                         int64_t *number)
{
    struct tr_ints ints;
    bool one = known_operand(t, asked, i, MAX_RANK, &ints) && ints.count == 1;
    *number = one ? *ints.at : 0;
    return one;
}

/* What an op on two elements gives; false where that is not known. */
static bool combine(const char *type, int64_t a, int64_t b, int64_t *y)
{
    if (strcmp(type, "Add") == 0)
        return !__builtin_add_overflow(a, b, y);
    if (strcmp(type, "Sub") == 0)
        return !__builtin_sub_overflow(a, b, y);
    if (strcmp(type, "Mul") == 0)
        return !__builtin_mul_overflow(a, b, y);
    if (strcmp(type, "TruncateDiv") == 0 && b != 0 && (a != INT64_MIN || b != -1))
        *y = a / b;
    else if (strcmp(type, "FloorDiv") == 0 && b > 0)
        *y = a / b - (a % b < 0);
    else if (strcmp(type, "Maximum") == 0)
        *y = a > b ? a : b;
    else if (strcmp(type, "Minimum") == 0)
        *y = a < b ? a : b;
    else if (strcmp(type, "Equal") == 0)
        *y = a == b;
    else
        return false;
    return true;
}

static int64_t element(struct tr_ints ints, uint32_t i)
{
    return ints.at[ints.count == 1 ? 0 : i];
}

/* Operands that are lists of the result's length, or have one element. */
static bool known_lists(struct translation *t, const struct asked *asked, uint32_t count,
                        struct tr_ints *of)
{
    for (uint32_t n = 0; n < count; n++)
        if (!known_operand(t, asked, n, 1, &of[n]) ||
            (of[n].count != asked->count && of[n].count != 1))
            return false;
    return true;
}

static bool eval_pairs(struct translation *t, const struct asked *asked, int64_t *y)
{
    struct tr_ints of[2];
    if (asked->op->operands.count != 2 || !known_lists(t, asked, 2, of))
        return false;
    for (uint32_t i = 0; i < asked->count; i++)
        if (!combine(asked->pairs, element(of[0], i), element(of[1], i), &y[i]))
            return false;
    return true;
}

static bool eval_select(struct translation *t, const struct asked *asked, int64_t *y)
{
    struct tr_ints of[3];
    if (!known_lists(t, asked, 3, of))
        return false;
    for (uint32_t i = 0; i < asked->count; i++)
        y[i] = element(of[0], i) ? element(of[1], i) : element(of[2], i);
    return true;
}

/* Casts, and numbers less than none. */
static bool eval_each(struct translation *t, const struct asked *asked, int64_t *y)
{
    struct tr_ints x;
    bool negative = name_is(t->module, asked->op->type, "Neg");
    if (!known_operand(t, asked, 0, MAX_RANK, &x) || x.count != asked->count)
        return false;
    for (uint32_t i = 0; i < asked->count; i++) {
        y[i] = asked->dtype == DTYPE_bool ? x.at[i] != 0 : x.at[i];
        if (negative && __builtin_sub_overflow((int64_t)0, x.at[i], &y[i]))
            return false;
    }
    return true;
}

/* Whether an operand is the axis of a list. */
static bool is_axis(struct translation *t, const struct asked *asked, uint32_t i)
{
    int64_t axis;
    return known_number(t, asked, i, &axis) && (axis == 0 || axis == -1);
}

static int64_t attr_of(const struct translation *t, const struct asked *asked, const char *key)
{
    uint32_t name = intern_find(&t->module->names, key, strlen(key));
    const struct attr *attr = name == NONE ? NULL : attr_find(t->module, asked->op->attrs, name);
    return attr ? attr->value.i : 0;
}

/* Lists one after the other, along their only axis, which may be the last operand. */
static bool eval_joined(struct translation *t, const struct asked *asked, int64_t *y)
{
    bool axis_last = name_is(t->module, asked->op->type, "ConcatV2");
    uint32_t count = 0, lists = asked->op->operands.count - axis_last;
    struct tr_ints x;
    if ((axis_last && !is_axis(t, asked, lists)) ||
        (name_is(t->module, asked->op->type, "Pack") && attr_of(t, asked, "axis") != 0))
        return false;
    for (uint32_t n = 0; n < lists; n++) {
        if (!known_operand(t, asked, n, 1, &x) || x.count > asked->count - count)
            return false;
        for (uint32_t i = 0; i < x.count; i++)
            y[count++] = x.at[i];
    }
    return count == asked->count;
}

/* All elements of a list by an op on two of them. */
static bool eval_reduced(struct translation *t, const struct asked *asked, int64_t *y)
{
    struct tr_ints x;
    if (asked->op->operands.count != 2 || tr_rank(t, operand(t, asked, 0)) != 1 ||
        !known_operand(t, asked, 0, 1, &x) || !is_axis(t, asked, 1) || asked->count != 1 ||
        x.count == 0)
        return false;
    *y = *x.at;
    for (uint32_t i = 1; i < x.count; i++)
        if (!combine(asked->pairs, *y, x.at[i], y))
            return false;
    return true;
}

static bool eval_gather(struct translation *t, const struct asked *asked, int64_t *y)
{
    struct tr_ints x, indices;
    if (!known_operand(t, asked, 0, 1, &x) || !known_operand(t, asked, 1, MAX_RANK, &indices) ||
        indices.count != asked->count)
        return false;
    for (uint32_t i = 0; i < asked->count; i++) {
        int64_t place = indices.at[i] < 0 ? indices.at[i] + x.count : indices.at[i];
        if (place < 0 || place >= x.count)
            return false;
        y[i] = x.at[place];
    }
    return true;
}

/* The elements of a list from `place` on, `step` apart, as many as the result has. */
static bool take_steps(const struct asked *asked, struct tr_ints x, int64_t place, int64_t step,
                       int64_t *y)
{
    for (uint32_t i = 0; i < asked->count; i++, place += step) {
        if (place < 0 || place >= x.count)
            return false;
        y[i] = x.at[place];
    }
    return true;
}

/* A place as of Python: from the end if it is negative, and within the list. */
static int64_t first_place(int64_t begin, int64_t count, int64_t step)
{
    int64_t most = step > 0 ? count : count - 1;
    int64_t place = begin < 0 ? begin + count : begin;
    return place < 0 ? 0 : place > most ? most : place;
}

static bool eval_strided_slice(struct translation *t, const struct asked *asked, int64_t *y)
{
    struct tr_ints x;
    int64_t place, step;
    if (asked->op->operands.count != 4 || tr_rank(t, operand(t, asked, 0)) != 1 ||
        !known_operand(t, asked, 0, 1, &x) || !known_number(t, asked, 1, &place) ||
        !known_number(t, asked, 3, &step) || step == 0 || attr_of(t, asked, "ellipsis_mask") ||
        attr_of(t, asked, "new_axis_mask"))
        return false;
    if (attr_of(t, asked, "shrink_axis_mask") & 1)
        place += place < 0 ? x.count : 0;
    else if (attr_of(t, asked, "begin_mask") & 1)
        place = step > 0 ? 0 : (int64_t)x.count - 1;
    else
        place = first_place(place, x.count, step);
    return take_steps(asked, x, place, step, y);
}

/* The result is as long as the slice is; the first operands are the list and where it begins. */
static bool eval_slice(struct translation *t, const struct asked *asked, int64_t *y)
{
    struct tr_ints x;
    int64_t begin, step = 1;
    uint32_t last = asked->op->operands.count - 1;
    bool plain = name_is(t->module, asked->op->type, "Slice");
    if (!known_operand(t, asked, 0, 1, &x) || !known_number(t, asked, 1, &begin))
        return false;
    if (plain)
        return tr_rank(t, operand(t, asked, 0)) == 1 && take_steps(asked, x, begin, 1, y);
    return (op_n_places(t->graph, asked->op) <= 4 || known_number(t, asked, last, &step)) &&
           take_steps(asked, x, first_place(begin, x.count, step), step, y);
}

static bool eval_range(struct translation *t, const struct asked *asked, int64_t *y)
{
    int64_t start, limit, delta, last;
    if (!known_number(t, asked, 0, &start) || !known_number(t, asked, 1, &limit) ||
        !known_number(t, asked, 2, &delta))
        return false;
    /* A length that the model says may be another. */
    if (__builtin_mul_overflow((int64_t)asked->count, delta, &last) ||
        __builtin_add_overflow(last, start, &last) ||
        (delta > 0 ? last < limit || last - delta >= limit : last > limit || last - delta <= limit))
        return false;
    for (uint32_t i = 0; i < asked->count; i++)
        if (__builtin_mul_overflow((int64_t)i, delta, &y[i]) ||
            __builtin_add_overflow(y[i], start, &y[i]))
            return false;
    return true;
}

/* Ops, and of reductions the op on a pair; all others are ops on pairs. */
static const struct {
    const char *type;
    bool (*eval)(struct translation *t, const struct asked *asked, int64_t *y);
    const char *pairs;
} rows[] = {
    {"Cast", eval_each, NULL},
    {"ConcatD", eval_joined, NULL},
    {"ConcatV2", eval_joined, NULL},
    {"Gather", eval_gather, NULL},
    {"GatherV2", eval_gather, NULL},
    {"Neg", eval_each, NULL},
    {"Pack", eval_joined, NULL},
    {"Range", eval_range, NULL},
    {"ReduceMax", eval_reduced, "Maximum"},
    {"ReduceMin", eval_reduced, "Minimum"},
    {"ReduceProd", eval_reduced, "Mul"},
    {"ReduceSum", eval_reduced, "Add"},
    {"SelectV2", eval_select, NULL},
    {"Slice", eval_slice, NULL},
    {"StridedSlice", eval_strided_slice, NULL},
    {"StridedSliceV3", eval_slice, NULL},
};

static bool eval(struct translation *t, struct asked *asked, int64_t *y)
{
    asked->pairs = name_text(t->module, asked->op->type, &t->translator->arena);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].type, asked->pairs) == 0) {
            asked->pairs = rows[i].pairs;
            return rows[i].eval(t, asked, y);
        }
    return eval_pairs(t, asked, y);
}

static bool op_ints(struct translation *t, uint32_t value, struct tr_ints *ints, unsigned deep)
{
    uint32_t source = viewed_value(t->module, t->graph, value);
    uint32_t def = t->graph->values.at[source].def;
    uint64_t elements;
    unsigned dtype = tr_dtype(t, value);
    if (def >= t->graph->ops.count || deep >= MOST_DEEP || dtype == DTYPE_UNKNOWN ||
        dtype == DTYPE_TOKEN || dtype_info((enum dtype)dtype)->class == CLASS_FLOAT ||
        !type_elements(t->module, t->graph->values.at[source].type, &elements) ||
        elements > MOST_CONTENTS)
        return false;
    struct asked asked = {.op = &t->graph->ops.at[def],
                          .dtype = (enum dtype)dtype,
                          .count = (uint32_t)elements,
                          .deep = deep + 1};
    int64_t *y = tr_array(t, asked.count);
    if (!eval(t, &asked, y))
        return false;
    for (uint32_t i = 0; i < asked.count; i++) {
        struct attr_value number = {.kind = ATTR_INT, .i = y[i]};
        uint64_t bits;
        if (number_encode(asked.dtype, &number, &bits) != NUMBER_FITS)
            return false;
    }
    *ints = (struct tr_ints){y, asked.count};
    return true;
}

static bool known(struct translation *t, uint32_t value, struct tr_ints *ints, unsigned deep)
{
    *ints = (struct tr_ints){NULL, 0};
    if (value == NONE)
        return false;
    if (tr_dim(t, value, 0) == 0 && tr_rank(t, value) == 1) /* it is empty */
        return true;
    return constant_ints(t, value, ints) || op_ints(t, value, ints, deep);
}

bool tr_contents(struct translation *t, uint32_t value, struct tr_ints *ints)
{
    return known(t, value, ints, 0);
}

bool tr_number(struct translation *t, uint32_t value, struct attr_value *number)
{
    const struct attr_value *numbers;
    uint64_t elements = 0;
    if (numbers_of(t, value, &numbers, &elements) != 1)
        return false;
    *number = *numbers;
    return true;
}
