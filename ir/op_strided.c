/* The shapes of what StridedSlice cuts out of another one, with TensorFlow's masks, and
 * StridedSliceV3, which names axes. */
#include "ir/op_eval.h"

enum { X, BEGIN, END, STRIDES, BEGIN_MASK, END_MASK, ELLIPSIS, NEW_AXIS, SHRINK, ARGS };

/* Entries of the lists, which are about axes of x in order; some are about none. */
struct cut {
    struct evaluator *e;
    const struct rule_value *args;
    uint32_t entry;
    struct rule_value out;
};

static bool has_bit(const struct cut *cut, unsigned mask)
{
    return cut->entry < 63 && (cut->args[mask].number.number >> cut->entry & 1) != 0;
}

/* A bound of an axis: counted from the end if it is negative, and held within the axis. */
static int64_t bound_of(int64_t value, int64_t dim, int64_t step)
{
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? dim - 1 : dim;
    value += value < 0 ? dim : 0;
    return value < low ? low : value > high ? high : value;
}

/* How many places there are from `first` up to `last`, or down to it. */
static int64_t count_places(int64_t first, int64_t last, int64_t step)
{
    int64_t length = step < 0 ? first - last : last - first;
    uint64_t by = step < 0 ? -(uint64_t)step : (uint64_t)step;
    return length <= 0 ? 0 : (int64_t)(((uint64_t)length - 1) / by + 1);
}

static void add(struct cut *cut, struct rule_dim dim)
{
    cut->out.dims[cut->out.count++] = dim;
}

/* The entry names one place of an axis, which the result does not have. */
static void shrink_axis(struct cut *cut, struct rule_dim dim)
{
    const struct rule_dim *begin = &cut->args[BEGIN].dims[cut->entry];
    if (!dim.known || !begin->known)
        return;
    if (begin->number < -dim.number || begin->number >= dim.number)
        rule_fail(cut->e, NONE, NONE, "%s has no place %lld in a dimension of %lld, by '%s'",
                  cut->e->call->type->name, (long long)begin->number, (long long)dim.number,
                  rule_text(cut->e));
}

static struct rule_dim cut_axis(const struct cut *cut, struct rule_dim dim)
{
    uint32_t i = cut->entry;
    struct rule_dim begin = cut->args[BEGIN].dims[i], end = cut->args[END].dims[i],
                    step = {true, 1};
    bool from_begin = has_bit(cut, BEGIN_MASK), to_end = has_bit(cut, END_MASK);
    if (cut->args[STRIDES].count)
        step = cut->args[STRIDES].dims[i];
    if (step.known && step.number == 0)
        rule_fail_here(cut->e, "a stride is 0");
    if (from_begin && to_end && step.known && (step.number == 1 || step.number == -1))
        return dim;
    if (!dim.known || !begin.known || !end.known || !step.known || cut->e->failed)
        return rule_unknown_dim();
    bool down = step.number < 0;
    int64_t first =
        from_begin ? (down ? dim.number - 1 : 0) : bound_of(begin.number, dim.number, step.number);
    int64_t last =
        to_end ? (down ? -1 : dim.number) : bound_of(end.number, dim.number, step.number);
    return rule_known(count_places(first, last, step.number));
}

/* How many axes of x the entries are about; those at the ellipsis, or behind all, are whole. */
static uint32_t count_named(struct cut *cut)
{
    uint32_t named = 0, count = cut->args[BEGIN].count;
    for (cut->entry = 0; cut->entry < count; cut->entry++)
        named += !has_bit(cut, NEW_AXIS) && !has_bit(cut, ELLIPSIS);
    return named;
}

static void cut_all(struct cut *cut, uint32_t whole)
{
    const struct rule_value *x = &cut->args[X];
    uint32_t axis = 0, count = cut->args[BEGIN].count;
    for (cut->entry = 0; cut->entry <= count && !cut->e->failed; cut->entry++) {
        bool last = cut->entry == count;
        for (; (last || has_bit(cut, ELLIPSIS)) && whole > 0; whole--)
            add(cut, x->dims[axis++]);
        if (last || has_bit(cut, ELLIPSIS))
            continue;
        if (has_bit(cut, NEW_AXIS))
            add(cut, rule_known(1));
        else if (has_bit(cut, SHRINK))
            shrink_axis(cut, x->dims[axis++]);
        else
            add(cut, cut_axis(cut, x->dims[axis])), axis++;
    }
}

static bool lists_fit(struct evaluator *e, const struct rule_value *args)
{
    uint32_t count = args[BEGIN].count;
    if (args[END].count != count || (args[STRIDES].count && args[STRIDES].count != count))
        rule_fail_here(e, "begin, end and strides differ in length");
    return !e->failed;
}

struct rule_value rule_strided(struct evaluator *e, const struct rule_value *args)
{
    struct cut cut = {.e = e, .args = args};
    for (unsigned i = 0; i < ARGS; i++)
        if (i <= STRIDES ? args[i].kind != VALUE_LIST : !rule_as_number(&args[i]))
            return rule_unknown;
    if (!lists_fit(e, args))
        return rule_unknown;
    uint32_t named = count_named(&cut);
    if (named > args[X].count)
        return rule_fail_here(e, "more dimensions are cut than there are");
    cut.out = rule_new_list(e, (uint64_t)args[X].count + args[BEGIN].count);
    if (cut.out.kind != VALUE_LIST)
        return rule_unknown;
    cut.out.count = 0;
    cut_all(&cut, args[X].count - named);
    return cut.out;
}

/* The axis of entry `i`, or NONE. */
static uint32_t named_axis(struct evaluator *e, const struct rule_value *axes, uint32_t i,
                           uint32_t rank)
{
    int64_t axis = axes->count ? axes->dims[i].number : (int64_t)i;
    axis += axis < 0 ? rank : 0;
    if (axis >= 0 && axis < rank)
        return (uint32_t)axis;
    rule_fail_here(e, "an axis is not one of the shape");
    return NONE;
}

struct rule_value rule_sliced(struct evaluator *e, const struct rule_value *args)
{
    enum { AXES = 3, STEPS = 4, LISTS = 5 };
    const struct rule_value *x = &args[X], *axes = &args[AXES], *steps = &args[STEPS];
    for (unsigned i = 0; i < LISTS; i++)
        if (args[i].kind != VALUE_LIST)
            return rule_unknown;
    if (!lists_fit(e, (struct rule_value[]){*x, args[BEGIN], args[END], *steps}))
        return rule_unknown;
    uint32_t count = args[BEGIN].count;
    if (axes->count && axes->count != count)
        return rule_fail_here(e, "begin and axes differ in length");
    struct rule_value out = rule_new_list(e, x->count);
    for (uint32_t i = 0; i < x->count && out.kind == VALUE_LIST; i++)
        out.dims[i] = x->dims[i];
    for (uint32_t i = 0; i < count && out.kind == VALUE_LIST; i++) {
        if (axes->count && !axes->dims[i].known)
            return rule_unknown;
        uint32_t axis = named_axis(e, axes, i, x->count);
        if (axis == NONE)
            return rule_unknown;
        struct rule_value masks = rule_number(0);
        struct rule_value entry[ARGS] = {*x,    args[BEGIN], args[END], *steps, masks,
                                         masks, masks,       masks,     masks};
        struct cut cut = {.e = e, .args = entry, .entry = i};
        out.dims[axis] = cut_axis(&cut, x->dims[axis]);
    }
    return e->failed ? rule_unknown : out;
}
