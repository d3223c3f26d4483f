/* What operators of TensorFlow make of known integers: graphs compute the shapes of their Reshape
 * ops that way, from `Shape` of an operand whose dimensions are known. */
#include "frontend/exchange/translate/tf_rows.h"

#include <string.h>

enum { MOST_OPERANDS = 16, MOST_NUMBERS = 64 };

/* Up to this all integers are doubles. */
#define MOST_EXACT 9007199254740992.0

/* Numbers in a scalar or vector of i32 or i64. */
struct numbers {
    int64_t at[MOST_NUMBERS];
    uint32_t count, rank;
};

struct fold {
    struct translation *t;
    const struct numbers *in; /* of all operands */
    uint32_t n;
    enum dtype dtype; /* of the result */
    struct numbers out;
};

static bool push(struct numbers *to, int64_t number)
{
    if (to->count == MOST_NUMBERS)
        return false;
    to->at[to->count++] = number;
    return true;
}

/* Whether it is the axis of a vector. */
static bool is_axis(const struct numbers *axis)
{
    return axis->count == 1 && (axis->at[0] == 0 || axis->at[0] == -1);
}

/* ------------------------------------------------------------------------ arithmetic ---- */

static bool add(int64_t x, int64_t y, int64_t *z)
{
    return !__builtin_add_overflow(x, y, z);
}

static bool sub(int64_t x, int64_t y, int64_t *z)
{
    return !__builtin_sub_overflow(x, y, z);
}

static bool mul(int64_t x, int64_t y, int64_t *z)
{
    return !__builtin_mul_overflow(x, y, z);
}

static bool larger(int64_t x, int64_t y, int64_t *z)
{
    *z = x > y ? x : y;
    return true;
}

static bool smaller(int64_t x, int64_t y, int64_t *z)
{
    *z = x < y ? x : y;
    return true;
}

static bool divide_down(int64_t x, int64_t y, int64_t *z)
{
    if (y <= 0)
        return false;
    *z = x / y - (x % y < 0);
    return true;
}

typedef bool binary_fn(int64_t x, int64_t y, int64_t *z);

static bool fold_binary(struct fold *f, binary_fn *function)
{
    const struct numbers *x = &f->in[0], *y = &f->in[1];
    int64_t z;
    if (f->n != 2 || (x->count != y->count && x->count != 1 && y->count != 1))
        return false;
    uint32_t count = x->count == 1 ? y->count : x->count;
    f->out.rank = x->rank > y->rank ? x->rank : y->rank;
    for (uint32_t i = 0; i < count; i++)
        if (!function(x->at[x->count == 1 ? 0 : i], y->at[y->count == 1 ? 0 : i], &z) ||
            !push(&f->out, z))
            return false;
    return true;
}

static bool fold_reduction(struct fold *f, binary_fn *function, int64_t first)
{
    const struct numbers *x = &f->in[0];
    if (f->n != 2 || x->rank != 1 || !is_axis(&f->in[1]) || x->count == 0)
        return false;
    int64_t all = first < 0 ? x->at[0] : first;
    for (uint32_t i = 0; i < x->count; i++)
        if (!function(all, x->at[i], &all))
            return false;
    f->out.rank = tr_int(f->t, "keep_dims") != 0;
    return push(&f->out, all);
}

#define BINARY(name, function)                                                                     \
    static bool name(struct fold *f)                                                               \
    {                                                                                              \
        return fold_binary(f, function);                                                           \
    }
BINARY(fold_add, add)
BINARY(fold_sub, sub)
BINARY(fold_mul, mul)
BINARY(fold_floor_div, divide_down)
BINARY(fold_maximum, larger)
BINARY(fold_minimum, smaller)
#undef BINARY

/* Without a first number, that of the operand: the result of one is itself. */
#define REDUCTION(name, function, first)                                                           \
    static bool name(struct fold *f)                                                               \
    {                                                                                              \
        return fold_reduction(f, function, first);                                                 \
    }
REDUCTION(fold_sum, add, 0)
REDUCTION(fold_prod, mul, 1)
REDUCTION(fold_max, larger, -1)
REDUCTION(fold_min, smaller, -1)
#undef REDUCTION

/* ------------------------------------------------------------------------------ parts ---- */

static bool fold_same(struct fold *f)
{
    f->out = f->in[0];
    return f->n == 1;
}

static bool fold_join(struct fold *f, uint32_t first, uint32_t end, uint32_t rank)
{
    f->out.rank = 1;
    for (uint32_t i = first; i < end; i++)
        for (uint32_t k = 0; k < f->in[i].count; k++)
            if (f->in[i].rank != rank || !push(&f->out, f->in[i].at[k]))
                return false;
    return true;
}

static bool fold_pack(struct fold *f)
{
    return fold_join(f, 0, f->n, 0);
}

static bool fold_concat(struct fold *f)
{
    return is_axis(&f->in[0]) && fold_join(f, 1, f->n, 1);
}

static bool fold_concat_v2(struct fold *f)
{
    return is_axis(&f->in[f->n - 1]) && fold_join(f, 0, f->n - 1, 1);
}

static bool fold_gather(struct fold *f)
{
    if (f->n < 2 || f->in[0].rank != 1 ||
        (f->n == 3 && (!is_axis(&f->in[2]) || tr_int(f->t, "batch_dims") != 0)))
        return false;
    f->out.rank = f->in[1].rank;
    for (uint32_t i = 0; i < f->in[1].count; i++) {
        int64_t place = f->in[1].at[i];
        if (place < 0 || place >= f->in[0].count || !push(&f->out, f->in[0].at[place]))
            return false;
    }
    return true;
}

/* A place as of Python: from the end where it is negative, and within the list. */
static int64_t clamp(int64_t place, int64_t count, int64_t low, int64_t high)
{
    place += place < 0 ? count : 0;
    return place < low ? low : place > high ? high : place;
}

static bool fold_strided_slice(struct fold *f)
{
    const struct numbers *x = &f->in[0];
    struct translation *t = f->t;
    if (f->n != 4 || x->rank != 1 || f->in[1].count != 1 || f->in[2].count != 1 ||
        f->in[3].count != 1 || f->in[3].at[0] < 1 || tr_int(t, "ellipsis_mask") ||
        tr_int(t, "new_axis_mask"))
        return false;
    int64_t count = x->count, begin = f->in[1].at[0], end = f->in[2].at[0], stride = f->in[3].at[0];
    if (tr_int(t, "shrink_axis_mask") & 1) {
        begin += begin < 0 ? count : 0;
        f->out.rank = 0;
        return begin >= 0 && begin < count && push(&f->out, x->at[begin]);
    }
    begin = tr_int(t, "begin_mask") & 1 ? 0 : clamp(begin, count, 0, count);
    end = tr_int(t, "end_mask") & 1 ? count : clamp(end, count, 0, count);
    f->out.rank = 1;
    for (int64_t i = begin; i < end; i += stride)
        if (!push(&f->out, x->at[i]))
            return false;
    return true;
}

static bool fold_slice(struct fold *f)
{
    const struct numbers *x = &f->in[0];
    if (f->n != 3 || x->rank != 1 || f->in[1].count != 1 || f->in[2].count != 1)
        return false;
    int64_t begin = f->in[1].at[0], size = f->in[2].at[0];
    size = size == -1 ? x->count - begin : size;
    if (begin < 0 || size < 0 || begin > x->count || size > x->count - begin)
        return false;
    f->out.rank = 1;
    for (int64_t i = 0; i < size; i++)
        push(&f->out, x->at[begin + i]);
    return true;
}

static bool fold_range(struct fold *f)
{
    if (f->n != 3 || f->in[0].count != 1 || f->in[1].count != 1 || f->in[2].count != 1)
        return false;
    int64_t limit = f->in[1].at[0], delta = f->in[2].at[0];
    f->out.rank = 1;
    for (int64_t i = f->in[0].at[0]; delta > 0 ? i < limit : i > limit; i += delta)
        if (delta == 0 || !push(&f->out, i))
            return false;
    return true;
}

/* -------------------------------------------------------------------------- the table ---- */

static const struct {
    const char *op;
    bool (*fold)(struct fold *f);
} rows[] = {
    {"Add", fold_add},
    {"AddV2", fold_add},
    {"Cast", fold_same},
    {"Concat", fold_concat},
    {"ConcatV2", fold_concat_v2},
    {"FloorDiv", fold_floor_div},
    {"Gather", fold_gather},
    {"GatherV2", fold_gather},
    {"Max", fold_max},
    {"Maximum", fold_maximum},
    {"Min", fold_min},
    {"Minimum", fold_minimum},
    {"Mul", fold_mul},
    {"Pack", fold_pack},
    {"Prod", fold_prod},
    {"Range", fold_range},
    {"Slice", fold_slice},
    {"StridedSlice", fold_strided_slice},
    {"Sub", fold_sub},
    {"Sum", fold_sum},
};

static bool is_index(unsigned dtype)
{
    return dtype == DTYPE_i32 || dtype == DTYPE_i64;
}

static bool take(struct translation *t, uint32_t operand, struct numbers *numbers)
{
    struct tr_ints ints;
    numbers->rank = tr_rank(t, operand);
    if (!is_index(tr_dtype(t, operand)) || numbers->rank > 1 || !tr_contents(t, operand, &ints) ||
        ints.count > MOST_NUMBERS)
        return false;
    numbers->count = ints.count;
    for (uint32_t i = 0; i < ints.count; i++)
        numbers->at[i] = ints.at[i];
    return true;
}

/* The first operand that is no axis has the dtype of the result, but for Cast. */
static unsigned result_dtype(struct translation *t)
{
    if (strcmp(t->row->op, "Cast") == 0)
        return tr_dtype_of(t, "DstT");
    bool axis_first = strcmp(t->row->op, "Concat") == 0;
    return axis_first && t->n_operands < 2 ? DTYPE_UNKNOWN : tr_dtype(t, t->operands[axis_first]);
}

static bool give(struct fold *f)
{
    for (uint32_t i = 0; i < f->out.count; i++)
        if (f->dtype == DTYPE_i32 && f->out.at[i] != (int32_t)f->out.at[i])
            return false;
    const struct tr_ints ints = {f->out.at, f->out.count};
    const double number = (double)f->out.at[0];
    if (f->out.rank == 0 && (number < -MOST_EXACT || number > MOST_EXACT))
        return false;
    tr_give(f->t, 0,
            f->out.rank ? tr_const_list(f->t, "value", f->dtype, ints)
                        : tr_const(f->t, "value", f->dtype, number));
    return true;
}

bool tf_fold(struct translation *t)
{
    struct numbers in[MOST_OPERANDS];
    struct fold f = {.t = t, .in = in, .n = t->n_operands};
    unsigned row = 0;
    while (row < sizeof rows / sizeof rows[0] && strcmp(rows[row].op, t->row->op) != 0)
        row++;
    if (row == sizeof rows / sizeof rows[0] || f.n == 0 || f.n > MOST_OPERANDS || t->n_results != 1)
        return false;
    for (uint32_t i = 0; i < f.n; i++)
        if (t->operands[i] == NONE || !take(t, t->operands[i], &in[i]))
            return false;
    unsigned dtype = result_dtype(t);
    f.dtype = (enum dtype)dtype;
    return is_index(dtype) && rows[row].fold(&f) && give(&f);
}
