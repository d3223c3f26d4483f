/* The function `strided` of rules: the shape that StridedSlice gives, with TensorFlow's masks. Bit
 * i of a mask is about entry i of the lists. */
#include "ir/op_eval.h"

/* Its arguments, as numbers where they are known. */
enum {
    X,
    BEGIN,
    END,
    STRIDES,
    BEGIN_MASK,
    END_MASK,
    ELLIPSIS_MASK,
    NEW_AXIS_MASK,
    SHRINK_AXIS_MASK
};

struct cut {
    struct evaluator *e;
    const struct rule_value *args;
    struct rule_value out;
};

static bool has(const struct cut *cut, uint32_t mask, uint32_t i)
{
    return i < 63 && (cut->args[mask].number.number >> i & 1) != 0;
}

static void add_dim(struct cut *cut, struct rule_dim dim)
{
    cut->out.dims[cut->out.count++] = dim;
}

/* A bound of an axis: counted from the end if it is negative, and held within the axis. */
static int64_t held(int64_t value, int64_t dim, int64_t step)
{
    value += value < 0 ? dim : 0;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? dim - 1 : dim;
    return value < low ? low : value > high ? high : value;
}

/* How many places entry `i` takes of a dimension. */
static int64_t places(const struct cut *cut, uint32_t i, int64_t dim)
{
    int64_t begin = cut->args[BEGIN].dims[i].number, end = cut->args[END].dims[i].number;
    int64_t step = cut->args[STRIDES].dims[i].number;
    begin = has(cut, BEGIN_MASK, i) ? (step < 0 ? dim - 1 : 0) : held(begin, dim, step);
    end = has(cut, END_MASK, i) ? (step < 0 ? -1 : dim) : held(end, dim, step);
    uint64_t length = (uint64_t)(step < 0 ? begin - end : end - begin);
    uint64_t by = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    bool empty = step < 0 ? begin <= end : end <= begin;
    return empty ? 0 : (int64_t)((length - 1) / by + 1);
}

/* One place of a dimension, which the result has not. */
static void shrink(struct cut *cut, uint32_t i, struct rule_dim dim)
{
    struct rule_dim at = cut->args[BEGIN].dims[i];
    if (dim.known && at.known && (at.number < -dim.number || at.number >= dim.number))
        rule_fail_here(cut->e, "a place is outside of a dimension");
}

/* Entry `i` is about a dimension. */
static void cut_dim(struct cut *cut, uint32_t i, struct rule_dim dim)
{
    struct rule_dim step = cut->args[STRIDES].dims[i];
    if (step.known && step.number == 0)
        rule_fail_here(cut->e, "a stride is 0");
    else if (has(cut, SHRINK_AXIS_MASK, i))
        shrink(cut, i, dim);
    else if (dim.known && step.known &&
             (cut->args[BEGIN].dims[i].known || has(cut, BEGIN_MASK, i)) &&
             (cut->args[END].dims[i].known || has(cut, END_MASK, i)))
        add_dim(cut, rule_known(places(cut, i, dim.number)));
    else
        add_dim(cut, rule_unknown_dim());
}

/* Dimensions that no entry is about stand where the ellipsis is, else at the end. */
static void cut_all(struct cut *cut)
{
    const struct rule_value *x = &cut->args[X];
    uint32_t entries = cut->args[BEGIN].count, dim = 0, named = 0;
    for (uint32_t i = 0; i < entries; i++)
        named += !has(cut, NEW_AXIS_MASK, i) && !has(cut, ELLIPSIS_MASK, i);
    if (named > x->count) {
        rule_fail_here(cut->e, "there are more entries than dimensions");
        return;
    }
    uint32_t whole = x->count - named;
    for (uint32_t i = 0; i <= entries; i++) {
        bool last = i == entries, rest = last || has(cut, ELLIPSIS_MASK, i);
        for (; rest && whole > 0; whole--)
            add_dim(cut, x->dims[dim++]);
        if (!rest && has(cut, NEW_AXIS_MASK, i))
            add_dim(cut, rule_known(1));
        else if (!rest)
            cut_dim(cut, i, x->dims[dim++]);
    }
}

struct rule_value rule_strided(struct evaluator *e, const struct rule_value *args)
{
    for (uint32_t i = X; i <= SHRINK_AXIS_MASK; i++)
        if (i <= STRIDES ? args[i].kind != VALUE_LIST : !rule_as_number(&args[i]))
            return rule_unknown;
    if (args[BEGIN].count != args[END].count || args[BEGIN].count != args[STRIDES].count)
        return rule_fail_here(e, "lists differ in length");
    struct cut cut = {e, args, rule_list(e, (uint64_t)args[X].count + args[BEGIN].count)};
    if (cut.out.kind != VALUE_LIST)
        return rule_unknown;
    cut.out.count = 0;
    cut_all(&cut);
    return e->failed ? rule_unknown : cut.out;
}
