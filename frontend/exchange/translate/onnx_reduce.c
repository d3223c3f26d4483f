/* Reductions of ONNX. */
#include "frontend/exchange/translate/onnx_rows.h"

/* Before operator set 18 (of ReduceSum, 13) the axes are an attribute, then an operand. */
static bool has_axes_attr(const struct translation *t)
{
    return t->row->until != 0;
}

/* What is reduced along: an operand of the node, or a constant. NONE: x stays as it is. */
static uint32_t axes_of(struct translation *t, uint32_t x, bool *none_is_all)
{
    uint32_t axes = has_axes_attr(t) ? NONE : tr_optional(t, 1);
    *none_is_all = has_axes_attr(t) || !tr_int(t, "noop_with_empty_axes");
    if (axes != NONE)
        return axes;
    if (has_axes_attr(t) && tr_has(t, "axes"))
        return tr_const_ints(t, "axes", tr_ints(t, "axes"));
    return *none_is_all ? tr_const_ints(t, "axes", tr_range(t, 0, tr_need_rank(t, x))) : NONE;
}

static uint32_t reduce(struct translation *t, const char *type, uint32_t x)
{
    bool none_is_all;
    uint32_t axes = axes_of(t, x, &none_is_all);
    if (axes == NONE)
        return x;
    tr_set_flag(t, "keep_dims", tr_int(t, "keepdims"));
    tr_set_flag(t, "noop_with_empty_axes", !none_is_all);
    return tr_make(t, type, x, axes);
}

/* An operator that also changes elements does so even where there is nothing to add up; operator
 * sets differ in that. */
static void refuse_noop(struct translation *t)
{
    struct tr_ints axes;
    uint32_t operand = has_axes_attr(t) ? NONE : tr_optional(t, 1);
    bool none =
        operand == NONE ? !has_axes_attr(t) : !tr_contents(t, operand, &axes) || !axes.count;
    if (none && !has_axes_attr(t) && tr_int(t, "noop_with_empty_axes"))
        tr_refuse(t, "attribute 'noop_with_empty_axes' is 1, and it may have no axes");
}

static void make_sum(struct translation *t)
{
    tr_give(t, 0, reduce(t, "ReduceSum", tr_operand(t, 0)));
}

static void make_mean(struct translation *t)
{
    tr_give(t, 0, reduce(t, "ReduceMean", tr_operand(t, 0)));
}

static void make_max(struct translation *t)
{
    tr_give(t, 0, reduce(t, "ReduceMax", tr_operand(t, 0)));
}

static void make_min(struct translation *t)
{
    tr_give(t, 0, reduce(t, "ReduceMin", tr_operand(t, 0)));
}

static void make_prod(struct translation *t)
{
    tr_give(t, 0, reduce(t, "ReduceProd", tr_operand(t, 0)));
}

static void make_l1(struct translation *t)
{
    refuse_noop(t);
    tr_give(t, 0, reduce(t, "ReduceSum", tr_make(t, "Abs", tr_operand(t, 0))));
}

static uint32_t sum_of_squares(struct translation *t)
{
    refuse_noop(t);
    return reduce(t, "ReduceSum", tr_make(t, "Square", tr_operand(t, 0)));
}

static void make_l2(struct translation *t)
{
    tr_give(t, 0, tr_make(t, "Sqrt", sum_of_squares(t)));
}

static void make_sum_square(struct translation *t)
{
    tr_give(t, 0, sum_of_squares(t));
}

static void make_log_sum(struct translation *t)
{
    refuse_noop(t);
    tr_give(t, 0, tr_make(t, "Log", reduce(t, "ReduceSum", tr_operand(t, 0))));
}

static void make_log_sum_exp(struct translation *t)
{
    refuse_noop(t);
    tr_give(t, 0, reduce(t, "ReduceLogSumExp", tr_operand(t, 0)));
}

/* All dimensions after the first two as one number. */
static void pool(struct translation *t, const char *type)
{
    uint32_t x = tr_operand(t, 0);
    uint32_t axes = tr_const_ints(t, "axes", tr_range(t, 2, tr_need_rank(t, x)));
    tr_set_flag(t, "keep_dims", true);
    tr_give(t, 0, tr_make(t, type, x, axes));
}

static void make_average_pool(struct translation *t)
{
    pool(t, "ReduceMean");
}

static void make_max_pool(struct translation *t)
{
    pool(t, "ReduceMax");
}

/* The two rows of a reduction, whose axes are an operand from `since` on. */
#define REDUCTION(op, since, to_, make_, about_)                                                   \
    {op,                                                                                           \
     1,                                                                                            \
     .until = (since)-1,                                                                           \
     .to = to_,                                                                                    \
     .make = make_,                                                                                \
     .attrs = {{"axes", OF_INTS}, {"keepdims", OF_BOOL, "1", "keep_dims"}},                        \
     .about = about_},                                                                             \
    {                                                                                              \
        op, since, .to = to_, .make = make_,                                                       \
                   .attrs = {{"keepdims", OF_BOOL, "1", "keep_dims"},                              \
                             {"noop_with_empty_axes", OF_BOOL, "0", "noop_with_empty_axes"}},      \
                   .about = about_                                                                 \
    }

static const char rank_known[] = "without axes the rank must be known";

const struct translation_row onnx_reduce[] = {
    {"GlobalAveragePool", 1, .to = "ReduceMean", .make = make_average_pool,
     .about = "the rank must be known"},
    {"GlobalMaxPool", 1, .to = "ReduceMax", .make = make_max_pool,
     .about = "the rank must be known"},
    REDUCTION("ReduceL1", 18, "Abs, ReduceSum", make_l1, rank_known),
    REDUCTION("ReduceL2", 18, "Square, ReduceSum, Sqrt", make_l2, rank_known),
    REDUCTION("ReduceLogSum", 18, "ReduceSum, Log", make_log_sum, rank_known),
    REDUCTION("ReduceLogSumExp", 18, "ReduceLogSumExp", make_log_sum_exp, rank_known),
    REDUCTION("ReduceMax", 18, "ReduceMax", make_max, rank_known),
    REDUCTION("ReduceMean", 18, "ReduceMean", make_mean, rank_known),
    REDUCTION("ReduceMin", 18, "ReduceMin", make_min, rank_known),
    REDUCTION("ReduceProd", 18, "ReduceProd", make_prod, rank_known),
    REDUCTION("ReduceSum", 13, "ReduceSum", make_sum, rank_known),
    REDUCTION("ReduceSumSquare", 18, "Square, ReduceSum", make_sum_square, rank_known),
    {NULL},
};
