/* The functions of rules: each makes a value of those of its arguments, which are unknown, wrong or
 * what the function takes. */
#include "ir/optypes/op_eval.h"

#include <string.h>

/* ----------------------- cuts: StridedSlice with masks, StridedSliceV3 with axes ---- */

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
    int64_t length = down ? first - last : last - first;
    uint64_t by = down ? -(uint64_t)step.number : (uint64_t)step.number;
    return rule_known(length <= 0 ? 0 : (int64_t)(((uint64_t)length - 1) / by + 1));
}

/* `whole` axes of x are not named by any entry: those at the ellipsis, or after all. */
static void cut_all(struct cut *cut, uint32_t whole)
{
    const struct rule_value *x = &cut->args[X];
    uint32_t axis = 0, count = cut->args[BEGIN].count;
    struct rule_dim *out = cut->out.dims;
    for (cut->entry = 0; cut->entry <= count && !cut->e->failed; cut->entry++) {
        bool last = cut->entry == count;
        for (; (last || has_bit(cut, ELLIPSIS)) && whole > 0; whole--)
            *out++ = x->dims[axis++];
        if (last || has_bit(cut, ELLIPSIS))
            continue;
        if (has_bit(cut, NEW_AXIS)) {
            *out++ = rule_known(1);
            continue;
        }
        struct rule_dim dim = x->dims[axis++], begin = cut->args[BEGIN].dims[cut->entry];
        if (!has_bit(cut, SHRINK))
            *out++ = cut_axis(cut, dim);
        else if (dim.known && begin.known &&
                 (begin.number < -dim.number || begin.number >= dim.number))
            rule_fail(cut->e, NONE, NONE, "%s has no place %lld in a dimension of %lld, by '%s'",
                      cut->e->call->type->name, (long long)begin.number, (long long)dim.number,
                      rule_text(cut->e));
    }
    cut->out.count = (uint32_t)(out - cut->out.dims);
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
    uint32_t named = 0; /* axes of x that entries are about */
    for (unsigned i = BEGIN_MASK; i < ARGS; i++)
        if (!rule_as_number(&args[i]))
            return rule_unknown;
    if (!lists_fit(e, args))
        return rule_unknown;
    for (; cut.entry < args[BEGIN].count; cut.entry++)
        named += !has_bit(&cut, NEW_AXIS) && !has_bit(&cut, ELLIPSIS);
    if (named > args[X].count)
        return rule_fail_here(e, "more dimensions are cut than there are");
    cut.out = rule_new_list(e, (uint64_t)args[X].count + args[BEGIN].count);
    if (cut.out.kind == VALUE_LIST)
        cut_all(&cut, args[X].count - named);
    return cut.out;
}

static struct rule_value rule_sliced(struct evaluator *e, const struct rule_value *args)
{
    enum { AXES = 3, STEPS = 4 };
    const struct rule_value *x = &args[X], *axes = &args[AXES], *steps = &args[STEPS];
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
        int64_t axis = axes->count ? axes->dims[i].number : (int64_t)i;
        axis += axis < 0 ? x->count : 0;
        if (axis < 0 || axis >= x->count)
            return rule_fail_here(e, "an axis is not one of the shape");
        struct rule_value masks = rule_number(0);
        struct rule_value entry[ARGS] = {*x,    args[BEGIN], args[END], *steps, masks,
                                         masks, masks,       masks,     masks};
        struct cut cut = {.e = e, .args = entry, .entry = i};
        out.dims[axis] = cut_axis(&cut, x->dims[axis]);
    }
    return e->failed ? rule_unknown : out;
}

/* ------------------------------------------------------------ shapes and numbers ---- */

uint32_t rule_place(struct evaluator *e, const struct rule_value *place, uint32_t count)
{
    const int64_t *number = rule_as_number(place);
    if (!number)
        return NONE;
    int64_t at = *number < 0 ? *number + count : *number;
    if (at >= 0 && at < count)
        return (uint32_t)at;
    rule_fail(e, NONE, NONE, "%s has no dimension %lld of %u, of which '%s' speaks",
              e->call->type->name, (long long)*number, count, rule_text(e));
    return NONE;
}

/* Where one dimension is 0, the others may be as large as they are. */
static struct rule_dim rule_product(struct evaluator *e, const struct rule_value *list)
{
    struct rule_dim size = rule_known(1);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->dims[i].known && list->dims[i].number == 0)
            return list->dims[i];
    for (uint32_t i = 0; i < list->count; i++)
        size = rule_arithmetic(e, RULE_MUL, size, list->dims[i]);
    return size;
}

static struct rule_value bytes_of(struct evaluator *e, uint32_t slot)
{
    struct rule_dim sum = rule_known(0);
    struct rule_dim dims[MAX_RANK];
    for (uint32_t i = 0; i < e->call->n_tensors; i++) {
        if (e->call->tensors[i].slot != slot)
            continue;
        struct rule_value shape = rule_shape_in(e, i, dims);
        if (shape.kind != VALUE_LIST || e->call->tensors[i].bits == 0)
            return rule_unknown;
        struct rule_dim bits = rule_arithmetic(e, RULE_MUL, rule_product(e, &shape),
                                               rule_known(e->call->tensors[i].bits));
        bits = rule_arithmetic(e, RULE_ADD, bits, rule_known(7));
        sum = rule_arithmetic(e, RULE_ADD, sum, rule_arithmetic(e, RULE_DIV, bits, rule_known(8)));
    }
    return rule_dim_value(sum);
}

/* One dimension of two; false where they cannot be broadcast. */
static bool broadcast_dim(const struct evaluator *e, struct rule_dim a, struct rule_dim b,
                          struct rule_dim *out)
{
    if (a.known && a.number == 1)
        *out = b;
    else if (b.known && b.number == 1)
        *out = a;
    else if (a.known != b.known)
        *out = a.known ? a : b;
    else
        *out = rule_same(e, a, b) ? a : rule_unknown_dim();
    return !a.known || !b.known || a.number == b.number || a.number == 1 || b.number == 1;
}

/* Shapes that are broadcast to one, from left to right. */
static struct rule_value call_broadcast(struct evaluator *e, const struct rule *rule,
                                        struct rule_value *args)
{
    for (uint32_t i = 1; i < rule->n_args && args[0].kind == VALUE_LIST; i++) {
        const struct rule *first = rule->args[0], *second = rule->args[i];
        const struct rule_value *a = &args[0], *b = &args[i];
        if (b->kind != VALUE_LIST)
            return rule_unknown;
        struct rule_value out = rule_list(e, a->count > b->count ? a->count : b->count);
        for (uint32_t back = 1; back <= out.count; back++) {
            struct rule_dim left = back <= a->count ? a->dims[a->count - back] : rule_known(1);
            struct rule_dim right = back <= b->count ? b->dims[b->count - back] : rule_known(1);
            if (broadcast_dim(e, left, right, &out.dims[out.count - back]))
                continue;
            bool named = first->kind == RULE_SLOT && second->kind == RULE_SLOT;
            rule_fail(e, named ? rule_tensor(e, (uint32_t)second->number) : NONE,
                      named ? rule_tensor(e, (uint32_t)first->number) : NONE,
                      "%s cannot broadcast %s and %s to one shape", e->call->type->name,
                      rule_value_text(e, a).text, rule_value_text(e, b).text);
            return rule_unknown;
        }
        args[0] = out;
    }
    return args[0].kind == VALUE_LIST ? args[0] : rule_unknown;
}

/* Shapes that must be alike but along the axis. */
static struct rule_value call_concat(struct evaluator *e, uint32_t slot,
                                     const struct rule_value *axis)
{
    struct rule_dim dims[MAX_RANK];
    uint32_t first = rule_tensor(e, slot);
    struct rule_value out = first == NONE ? rule_unknown : rule_shape(e, first);
    uint32_t at = out.kind == VALUE_LIST ? rule_place(e, axis, out.count) : NONE;
    for (uint32_t i = first + 1; at != NONE && i < e->call->n_tensors; i++) {
        if (e->call->tensors[i].slot != slot)
            continue;
        struct rule_value next = rule_shape_in(e, i, dims);
        if (next.kind != VALUE_LIST)
            return rule_unknown;
        struct rule_dim along = at < next.count ? next.dims[at] : rule_unknown_dim();
        if (at < next.count)
            next.dims[at] = out.dims[at];
        if (!rule_lists_agree(&out, &next)) {
            next = rule_shape_in(e, i, dims);
            rule_fail(e, i, first, "%s cannot join %s and %s along dimension %u",
                      e->call->type->name, rule_value_text(e, &out).text,
                      rule_value_text(e, &next).text, at);
            return rule_unknown;
        }
        rule_refine(&out, &next);
        out.dims[at] = rule_arithmetic(e, RULE_ADD, out.dims[at], along);
    }
    return at == NONE ? rule_unknown : out;
}

/* Which of `count` dimensions a list of axes names, `once`: each one once; NULL where that is not
 * known, or wrong. */
static const bool *mark_places(struct evaluator *e, const struct rule_value *axes, uint32_t count,
                               bool once)
{
    bool *marked = arena_alloc(&e->arena, count + 1);
    memset(marked, 0, count + 1);
    for (uint32_t i = 0; i < axes->count; i++) {
        struct rule_value axis = rule_dim_value(axes->dims[i]);
        uint32_t at = rule_place(e, &axis, count);
        if (at == NONE)
            return NULL;
        if (once && marked[at]) {
            rule_fail_here(e, "an axis stands twice");
            return NULL;
        }
        marked[at] = true;
    }
    return marked;
}

/* One axis, or a list of them. */
static struct rule_value call_has(struct evaluator *e, const struct rule_value *args)
{
    struct rule_dim axis = args[1].number;
    struct rule_value axes = {.kind = VALUE_LIST, .count = 1, .dims = &axis};
    if (args[1].kind == VALUE_LIST)
        axes = args[1];
    if (args[1].kind == VALUE_UNKNOWN || !mark_places(e, &axes, args[0].count, true))
        return rule_unknown;
    return rule_number(true);
}

static struct rule_value call_reduce(struct evaluator *e, const struct rule_value *args)
{
    const struct rule_value *shape = &args[0], *axes = &args[1];
    const int64_t *keep = rule_as_number(&args[2]);
    const bool *marked = keep ? mark_places(e, axes, shape->count, true) : NULL;
    if (!marked)
        return rule_unknown;
    struct rule_value out = rule_list(e, shape->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < shape->count; i++)
        if (!marked[i])
            out.dims[n++] = shape->dims[i];
        else if (*keep)
            out.dims[n++] = rule_known(1);
    out.count = n;
    return out;
}

static struct rule_value call_squeeze(struct evaluator *e, const struct rule_value *args)
{
    const struct rule_value *shape = &args[0], *axes = &args[1];
    const bool *marked = mark_places(e, axes, shape->count, true);
    if (!marked)
        return rule_unknown;
    struct rule_value out = rule_list(e, shape->count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < shape->count; i++) {
        struct rule_dim dim = shape->dims[i];
        if (!axes->count && !dim.known)
            return rule_unknown;
        if (marked[i] && dim.known && dim.number != 1)
            return rule_fail_here(e, "a dimension that is not 1 is left out");
        if (axes->count ? !marked[i] : dim.number != 1)
            out.dims[n++] = dim;
    }
    out.count = n;
    return out;
}

static struct rule_value call_unsqueeze(struct evaluator *e, const struct rule_value *args)
{
    const struct rule_value *shape = &args[0], *axes = &args[1];
    struct rule_value out = rule_new_list(e, (uint64_t)shape->count + axes->count);
    const bool *marked = out.kind == VALUE_LIST ? mark_places(e, axes, out.count, false) : NULL;
    if (!marked)
        return rule_unknown;
    uint32_t n = 0;
    for (uint32_t i = 0; i < out.count; i++) {
        if (!marked[i] && n == shape->count)
            return rule_fail_here(e, "a place stands twice");
        out.dims[i] = marked[i] ? rule_known(1) : shape->dims[n++];
    }
    return out;
}

static struct rule_value call_permute(struct evaluator *e, const struct rule_value *args)
{
    const struct rule_value *shape = &args[0], *order = &args[1];
    const bool *marked = mark_places(e, order, shape->count, false);
    if (!marked)
        return rule_unknown;
    struct rule_value out = rule_list(e, shape->count);
    for (uint32_t i = 0; i < shape->count; i++) {
        if (!marked[i] || order->count != shape->count)
            return rule_fail_here(e, "not every dimension stands in the order once");
        struct rule_value place = rule_dim_value(order->dims[i]);
        out.dims[i] = shape->dims[rule_place(e, &place, shape->count)];
    }
    return out;
}

/* Places between dimensions: 0 to count, from the end where they are negative. */
static bool cut_of(const struct rule_value *place, uint32_t count, uint32_t *cut)
{
    const int64_t *number = rule_as_number(place);
    if (!number)
        return false;
    int64_t at = *number < 0 ? *number + count : *number;
    *cut = at < 0 ? 0 : at > count ? count : (uint32_t)at;
    return true;
}

static struct rule_value call_slice(struct evaluator *e, const struct rule_value *args)
{
    const struct rule_value *shape = &args[0];
    uint32_t from, to;
    if (!cut_of(&args[1], shape->count, &from) || !cut_of(&args[2], shape->count, &to))
        return rule_unknown;
    struct rule_value out = rule_list(e, to > from ? to - from : 0);
    for (uint32_t i = 0; i < out.count; i++)
        out.dims[i] = shape->dims[from + i];
    return out;
}

static struct rule_value call_every(struct evaluator *e, const struct rule_value *args)
{
    const int64_t *step = rule_as_number(&args[2]);
    uint32_t from;
    if (!step || !cut_of(&args[1], args[0].count, &from))
        return rule_unknown;
    if (*step <= 0)
        return rule_fail_here(e, "a step is below 1");
    uint64_t left = args[0].count - from, most = left > 0 ? (left - 1) / (uint64_t)*step + 1 : 0;
    struct rule_value out = rule_list(e, most);
    for (uint32_t i = 0; i < out.count; i++)
        out.dims[i] = args[0].dims[from + i * (uint64_t)*step];
    return out;
}

static struct rule_value call_replace(struct evaluator *e, const struct rule_value *args,
                                      bool insert)
{
    const struct rule_value *shape = &args[0];
    if (args[2].kind != VALUE_NUMBER)
        return rule_unknown;
    uint32_t at = rule_place(e, &args[1], shape->count + insert);
    struct rule_value out = rule_new_list(e, (uint64_t)shape->count + insert);
    if (at == NONE || out.kind != VALUE_LIST)
        return rule_unknown;
    for (uint32_t i = 0; i < out.count; i++)
        if (i != at)
            out.dims[i] = shape->dims[i - (insert && i > at)];
    out.dims[at] = args[2].number;
    return out;
}

/* What -1 stands for in a reshape: the elements that the other dimensions leave. */
static struct rule_dim rest_of(struct evaluator *e, const struct rule_value *shape,
                               const struct rule_value *out, uint32_t rest)
{
    struct rule_dim others = rule_known(1), size = rule_product(e, shape);
    for (uint32_t i = 0; i < out->count; i++)
        if (i != rest)
            others = rule_arithmetic(e, RULE_MUL, others, out->dims[i]);
    if (others.known && others.number == 0)
        return rule_unknown_dim();
    if (others.known && size.known && size.number % others.number)
        rule_fail_here(e, "a shape has no such number of elements");
    return rule_arithmetic(e, RULE_DIV, size, others);
}

static struct rule_value call_reshape(struct evaluator *e, const struct rule_value *args)
{
    const struct rule_value *shape = &args[0], *wanted = &args[1];
    uint32_t rest = NONE;
    struct rule_dim size = rule_product(e, shape);
    struct rule_value out = rule_list(e, wanted->count);
    for (uint32_t i = 0; i < out.count; i++) {
        out.dims[i] = wanted->dims[i];
        if (out.dims[i].known && out.dims[i].number == 0) {
            if (i >= shape->count && !(size.known && size.number == 0))
                return rule_fail_here(e, "0 stands where there is no dimension to be kept");
            if (i < shape->count)
                out.dims[i] = shape->dims[i];
        }
        if (wanted->dims[i].known && wanted->dims[i].number < 0) {
            if (wanted->dims[i].number != -1)
                return rule_fail_here(e, "a dimension is negative");
            if (rest != NONE)
                return rule_fail_here(e, "-1 stands twice");
            rest = i;
        }
    }
    if (rest != NONE) {
        out.dims[rest] = rest_of(e, shape, &out, rest);
        return out;
    }
    return rule_dims_agree(size, rule_product(e, &out))
               ? out
               : rule_fail_here(e, "the numbers of elements differ");
}

static struct rule_value call_ones(struct evaluator *e, const struct rule_value *count)
{
    const int64_t *number = rule_as_number(count);
    if (number && *number < 0)
        return rule_fail_here(e, "a list has no negative number of elements");
    struct rule_value out = number ? rule_new_list(e, (uint64_t)*number) : rule_unknown;
    for (uint32_t i = 0; i < out.count; i++)
        out.dims[i] = rule_known(1);
    return out;
}

static struct rule_value call_fill(struct evaluator *e, const struct rule_value *args)
{
    uint32_t count;
    if (!rule_pair(e, &args[0], &args[1], &count))
        return rule_unknown;
    struct rule_value out = rule_list(e, count);
    for (uint32_t i = 0; i < out.count; i++) {
        out.dims[i] = args[0].dims[i];
        if (out.dims[i].known && out.dims[i].number == -1)
            out.dims[i] = rule_element(&args[1], i);
    }
    return out;
}

static struct rule_value call_extreme(const struct evaluator *e, const struct rule_value *args,
                                      bool max)
{
    if (args[0].kind == VALUE_NUMBER && args[1].kind == VALUE_NUMBER &&
        rule_same(e, args[0].number, args[1].number))
        return args[0];
    const int64_t *a = rule_as_number(&args[0]), *b = rule_as_number(&args[1]);
    return a && b ? rule_number((*a < *b) == max ? *b : *a) : rule_unknown;
}

/* What each tensor of a slot has along an axis. */
static struct rule_value call_lengths(struct evaluator *e, uint32_t slot,
                                      const struct rule_value *axis)
{
    struct rule_value out = rule_list(e, e->call->n_tensors);
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->call->n_tensors && out.kind == VALUE_LIST; i++) {
        if (e->call->tensors[i].slot != slot)
            continue;
        struct rule_value shape = rule_shape(e, i);
        uint32_t at = shape.kind == VALUE_LIST ? rule_place(e, axis, shape.count) : NONE;
        out.dims[n++] = at == NONE ? rule_unknown_dim() : shape.dims[at];
    }
    out.count = n;
    return out;
}

/* Whether the elements of a slot are the shape in parts along the axis. */
static bool is_joined(const struct evaluator *e, uint32_t slot, const struct rule_value *whole,
                      uint32_t axis)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < e->call->n_tensors; i++) {
        const struct op_tensor *part = &e->call->tensors[i];
        if (part->slot != slot)
            continue;
        if (part->rank != whole->count)
            return false;
        for (uint32_t d = 0; d < part->rank; d++)
            if (d != axis && part->dims[d] != whole->dims[d].number)
                return false;
        if (__builtin_add_overflow(sum, part->dims[axis], &sum))
            return false;
    }
    return sum == whole->dims[axis].number;
}

static struct rule_value call_joins(struct evaluator *e, uint32_t slot,
                                    const struct rule_value *whole)
{
    struct rule_dim dims[MAX_RANK];
    bool joined = false;
    for (uint32_t i = 0; i < whole->count; i++)
        if (!whole->dims[i].known)
            return rule_unknown;
    for (uint32_t i = 0; i < e->call->n_tensors; i++) {
        if (e->call->tensors[i].slot != slot)
            continue;
        struct rule_value part = rule_shape_in(e, i, dims);
        if (part.kind != VALUE_LIST)
            return rule_unknown;
        for (uint32_t d = 0; d < part.count; d++)
            if (!part.dims[d].known)
                return rule_unknown;
    }
    for (uint32_t axis = 0; axis < whole->count && !joined; axis++)
        joined = is_joined(e, slot, whole, axis);
    return rule_number(joined);
}

/* Lists that are not known make nothing, but for those of `broadcast`, of which the first may be
 * wrong already. */
struct rule_value rule_call(struct evaluator *e, const struct rule *rule, struct rule_value *args)
{
    const char *takes = rule_function_info((enum rule_function)rule->number)->takes;
    uint32_t slot = (uint32_t)rule->args[0]->number; /* of functions that take one */
    struct rule_dim sum = rule_known(0);
    int64_t count = 0;
    for (uint32_t i = 0; takes[i]; i++)
        if (takes[i] == 'l' && takes[i + 1] != '+' && args[i].kind != VALUE_LIST)
            return rule_unknown;
    switch ((enum rule_function)rule->number) {
    case RULE_FN_rank: return rule_number(args[0].count);
    case RULE_FN_size: return rule_dim_value(rule_product(e, &args[0]));
    case RULE_FN_sum:
        for (uint32_t i = 0; i < args[0].count; i++)
            sum = rule_arithmetic(e, RULE_ADD, sum, args[0].dims[i]);
        return rule_dim_value(sum);
    case RULE_FN_has: return call_has(e, args);
    case RULE_FN_ones: return call_ones(e, &args[0]);
    case RULE_FN_fill: return call_fill(e, args);
    case RULE_FN_min: return call_extreme(e, args, false);
    case RULE_FN_max: return call_extreme(e, args, true);
    case RULE_FN_broadcast: return call_broadcast(e, rule, args);
    case RULE_FN_reduce: return call_reduce(e, args);
    case RULE_FN_permute: return call_permute(e, args);
    case RULE_FN_slice: return call_slice(e, args);
    case RULE_FN_every: return call_every(e, args);
    case RULE_FN_strided: return rule_strided(e, args);
    case RULE_FN_sliced: return rule_sliced(e, args);
    case RULE_FN_replace: return call_replace(e, args, false);
    case RULE_FN_insert: return call_replace(e, args, true);
    case RULE_FN_squeeze: return call_squeeze(e, args);
    case RULE_FN_unsqueeze: return call_unsqueeze(e, args);
    case RULE_FN_reshape: return call_reshape(e, args);
    case RULE_FN_bytes: return bytes_of(e, slot);
    case RULE_FN_count:
        for (uint32_t i = 0; i < e->call->n_tensors; i++)
            count += e->call->tensors[i].slot == slot;
        return rule_number(count);
    case RULE_FN_contents:
        return rule_tensor(e, slot) == NONE ? rule_unknown : rule_contents(e, rule_tensor(e, slot));
    case RULE_FN_lengths: return call_lengths(e, slot, &args[1]);
    case RULE_FN_joins: return call_joins(e, slot, &args[1]);
    case RULE_FN_nth: return rule_number(e->nth);
    case RULE_FN_present: return rule_number(rule_tensor(e, slot) != NONE);
    case RULE_FN_concat: return call_concat(e, slot, &args[1]);
    case RULE_FUNCTIONS: break;
    }
    return rule_unknown;
}
