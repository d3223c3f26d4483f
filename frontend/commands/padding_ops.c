#include "frontend/commands/padding_ops.h"
#include "frontend/commands/padding_folds.h"
#include "ir/calls.h"
#include "ir/memories.h"
#include "ir/op_tensors.h"
#include "ir/syntax/locate.h"

#include <stdlib.h>
#include <string.h>

enum mixes {
    MIXES_NONE,
    MIXES_APART,
    MIXES_LAST,
    MIXES_TAIL,
    MIXES_AXES,
    MIXES_BACK,
    MIXES_JOIN,
    MIXES_FROM,
    MIXES_INNER,
    MIXES_MATRIX,
    MIXES_VIEW,
    MIXES_ALL,
};

static const struct padding_op {
    const char *type;
    enum mixes mixes;
    const char *attr;
} padding_ops[] = {
#define PADDING_OP(type, mixes, attr) {#type, MIXES_##mixes, attr},
#include "frontend/commands/padding_ops.def"
#undef PADDING_OP
};

enum { N_PADDING_OPS = sizeof padding_ops / sizeof padding_ops[0] };

/* Values that have dimensions which are several. */
struct folds {
    struct id_map at; /* by value: index of `all` */
    VEC(struct fold) all;
};

struct op_watch {
    const struct module *module;
    const struct graph *graph;
    const struct padded_graphs *graphs;
    struct folds *folds;
    const struct op *op;
    struct padding_op how;
    struct op_tensors tensors; /* as they run; of an op whose `how` is not MIXES_ALL */
};

static struct padded_shape shape_of(const struct op_watch *watch, uint32_t value)
{
    uint32_t exact = watch->graphs->exact->values.at[value].type;
    uint32_t padded = watch->graphs->padded->values.at[value].type;
    const struct type *type = &watch->module->types.at[exact];
    struct padded_shape shape = {.rank = type->rank};
    if (type->rank != watch->module->types.at[padded].rank)
        shape.rank = RANK_UNKNOWN;
    for (uint32_t i = 0; shape.rank != RANK_UNKNOWN && i < type->rank; i++) {
        shape.exact[i] = type_dims(watch->module, exact)[i];
        shape.padded[i] = type_dims(watch->module, padded)[i];
    }
    return shape;
}

static bool any_is_padded(const struct padded_shape *shape)
{
    bool any = shape->rank == RANK_UNKNOWN;
    for (uint32_t i = 0; !any && i < shape->rank; i++)
        any = padded_dim(shape, i);
    return any;
}

/* ------------------------------------------------------------------------- attributes ---- */

static const struct attr *own_attr(const struct op_watch *watch, const char *name, size_t size)
{
    uint32_t key = intern_find(&watch->module->names, name, size);
    return key == NONE ? NULL : attr_find(watch->module, watch->op->attrs, key);
}

/* What the type's data has where the op says nothing; "" where that is nothing, too. */
static const char *fallback_of(const struct op_watch *watch, const char *name)
{
    const struct op_type *type = op_type_find(watch->module, watch->op->type);
    for (uint32_t i = 0; type && i < type->n_attrs; i++)
        if (strcmp(type->attrs[i].name, name) == 0 && type->attrs[i].fallback)
            return type->attrs[i].fallback;
    return "";
}

static bool is_axis(int64_t axis, uint32_t dim, uint32_t rank)
{
    return axis == (int64_t)dim || axis + (int64_t)rank == (int64_t)dim;
}

static bool text_has_axis(const char *text, uint32_t dim, uint32_t rank)
{
    for (char *end; *text; text = end) {
        long axis = strtol(text, &end, 10);
        if (end != text && is_axis(axis, dim, rank))
            return true;
        end += end == text;
    }
    return false;
}

static bool value_has_axis(const struct attr_value *value, uint32_t dim, uint32_t rank)
{
    return value->kind != ATTR_INT || is_axis(value->i, dim, rank);
}

/* Whether the dimension is one of the attribute's; without one all are. */
static bool has_axis(const struct op_watch *watch, uint32_t dim, uint32_t rank)
{
    const char *fallback = fallback_of(watch, watch->how.attr);
    const struct attr *attr = own_attr(watch, watch->how.attr, strlen(watch->how.attr));
    if (!attr)
        return !*fallback || text_has_axis(fallback, dim, rank);
    if (attr->value.kind != ATTR_LIST)
        return value_has_axis(&attr->value, dim, rank);
    for (uint32_t i = 0; i < attr->value.count; i++)
        if (value_has_axis(&watch->module->attr_values.at[attr->value.first + i], dim, rank))
            return true;
    return attr->value.count == 0;
}

static bool is_batch_first(const struct op_watch *watch)
{
    const struct attr *attr = own_attr(watch, watch->how.attr, strlen(watch->how.attr));
    if (!attr)
        return *fallback_of(watch, watch->how.attr) == 'B';
    return attr->value.kind == ATTR_STRING &&
           *watch->module->names.names[attr->value.id].text == 'B';
}

static bool has_flag(const struct op_watch *watch, const char *name)
{
    const struct attr *attr = own_attr(watch, name, strlen(name));
    return attr && (attr->value.kind != ATTR_BOOL || attr->value.i);
}

/* Whether the dimension is the attribute's or behind it. */
static bool is_from(const struct op_watch *watch, uint32_t dim, uint32_t rank)
{
    const struct attr *attr = own_attr(watch, watch->how.attr, strlen(watch->how.attr));
    int64_t from = attr ? attr->value.i : strtol(fallback_of(watch, watch->how.attr), NULL, 10);
    if (attr && attr->value.kind != ATTR_INT)
        return true;
    return (int64_t)dim >= (from < 0 ? from + (int64_t)rank : from);
}

static bool is_transposed(const struct op_watch *watch)
{
    for (const char *name = watch->how.attr; *name; name += strspn(name, " ")) {
        size_t size = strcspn(name, " ");
        const struct attr *attr = own_attr(watch, name, size);
        if (attr && (attr->value.kind != ATTR_BOOL || attr->value.i))
            return true;
        name += size;
    }
    return false;
}

/* ------------------------------------------------------------------------- dimensions ---- */

/* Dimensions of one side of a view, taken from the outermost. */
struct taken {
    const struct padded_shape *shape;
    uint32_t next;
    int64_t exact, padded; /* products of those of the group */
    bool inner;            /* one is padded that is not the group's outermost */
};

static bool take_dim(struct taken *taken)
{
    if (taken->next == taken->shape->rank)
        return false;
    uint32_t dim = taken->next++;
    taken->inner = taken->inner || (padded_dim(taken->shape, dim) && taken->padded > 1);
    return !__builtin_mul_overflow(taken->exact, taken->shape->exact[dim], &taken->exact) &&
           !__builtin_mul_overflow(taken->padded, taken->shape->padded[dim], &taken->padded);
}

/* Whether a view puts each element where it would be without padding: as large as one another are
 * groups of dimensions, of which at most the outermost is padded. */
static bool keeps_places(const struct padded_shape *from, const struct padded_shape *to)
{
    struct taken a = {.shape = from}, b = {.shape = to};
    while (a.next < from->rank || b.next < to->rank) {
        a.exact = a.padded = b.exact = b.padded = 1;
        if (!take_dim(a.next < from->rank ? &a : &b))
            return false;
        while (a.padded != b.padded || a.exact != b.exact)
            if (!take_dim(a.padded > b.padded || a.exact > b.exact ? &b : &a))
                return false;
        if (a.inner || b.inner)
            return false;
    }
    return true;
}

/* The slot that an operand is for; NONE: a token's. */
static uint32_t slot_of(const struct op_watch *watch, uint32_t operand)
{
    for (uint32_t i = 0; i < watch->tensors.call.n_tensors; i++)
        if (!watch->tensors.places[i].result && watch->tensors.places[i].index == operand)
            return watch->tensors.call.tensors[i].slot;
    return NONE;
}

static bool mixes_in_matrix(const struct op_watch *watch, uint32_t operand, uint32_t dim,
                            uint32_t rank)
{
    uint32_t slot = slot_of(watch, operand);
    bool rows = slot == 0 && dim + 2 == rank;
    return slot < 2 && dim + 2 >= rank && !(rows && !is_transposed(watch));
}

/* Whether it is one of the last dimensions, of which there are as many as the operand has that
 * `how` names. */
static bool is_in_tail(const struct op_watch *watch, uint32_t dim, uint32_t rank)
{
    const struct op_call *call = &watch->tensors.call;
    for (uint32_t i = 0; i < call->n_tensors; i++)
        if (strcmp(call->type->slots[call->tensors[i].slot].name, watch->how.attr) == 0)
            return call->tensors[i].rank >= rank - dim;
    return true;
}

static bool mixes_along(const struct op_watch *watch, uint32_t operand, uint32_t dim, uint32_t rank)
{
    switch (watch->how.mixes) {
    case MIXES_NONE:
    case MIXES_APART: return false;
    case MIXES_LAST: return dim + 1 == rank;
    case MIXES_TAIL: return is_in_tail(watch, dim, rank);
    case MIXES_AXES: return has_axis(watch, dim, rank);
    case MIXES_BACK: return has_axis(watch, dim, rank) && has_flag(watch, "reverse");
    case MIXES_JOIN: return operand + 1 < watch->op->operands.count && has_axis(watch, dim, rank);
    case MIXES_FROM: return is_from(watch, dim, rank);
    case MIXES_INNER: return dim > 0 || !is_batch_first(watch);
    case MIXES_MATRIX: return mixes_in_matrix(watch, operand, dim, rank);
    case MIXES_VIEW:
    case MIXES_ALL: break;
    }
    return true;
}

/* Whether a dimension of 1 goes with each element of the result's, as it does not where it is
 * padded: then it goes with one of them. Batches are the first dimensions, all others are held
 * against one another from the last one on. */
static bool is_stretched(const struct op_watch *watch, const struct padded_shape *shape,
                         uint32_t dim)
{
    if (shape->exact[dim] != 1 || watch->op->operands.count < 2 || watch->how.mixes == MIXES_APART)
        return false;
    if (watch->op->results.count == 0)
        return true;
    struct padded_shape result = shape_of(watch, watch->op->results.first);
    uint32_t behind = shape->rank - dim;
    uint32_t place = watch->how.mixes == MIXES_INNER ? dim : result.rank - behind;
    if (result.rank == RANK_UNKNOWN || behind > result.rank || place >= result.rank)
        return true;
    return result.exact[place] != 1;
}

/* ------------------------------------------------------------------------------ folds ---- */

static const struct fold *fold_of(const struct op_watch *watch, uint32_t value)
{
    uint32_t at = id_map_find(&watch->folds->at, value);
    return at == NONE ? NULL : &watch->folds->all.at[at];
}

static void set_fold(const struct op_watch *watch, uint32_t value, const struct fold *fold)
{
    id_map_set(&watch->folds->at, value, watch->folds->all.count);
    vec_push(&watch->folds->all, *fold);
}

/* Whether a view puts each element where it would be without padding, or where others will find
 * it. */
static bool view_keeps(const struct op_watch *watch, uint32_t value,
                       const struct padded_shape *shape)
{
    uint32_t result = watch->op->results.first;
    struct padded_shape to = shape_of(watch, result);
    const struct fold *from = fold_of(watch, value);
    struct fold fold;
    bool folded;
    if (to.rank == RANK_UNKNOWN)
        return false;
    if (!from && keeps_places(shape, &to))
        return true;
    if (!fold_view(shape, from, &to, &fold, &folded))
        return false;
    if (!from)
        fold.origin = (uint32_t)(watch->op - watch->graph->ops.at);
    if (folded)
        set_fold(watch, result, &fold);
    return true;
}

/* Whether another operand has at a dimension what goes with any element of it, or the same. */
static bool goes_with(const struct op_watch *watch, uint32_t value, uint32_t rank,
                      const struct fold *fold, uint32_t dim)
{
    struct padded_shape shape = shape_of(watch, value);
    const struct fold *own = fold_of(watch, value);
    uint32_t behind = rank - dim;
    if (shape.rank == RANK_UNKNOWN)
        return false;
    if (behind > shape.rank)
        return true;
    uint32_t place = shape.rank - behind;
    return (shape.exact[place] == 1 && shape.padded[place] == 1) ||
           (own && fold_agrees(fold, dim, own, place));
}

static bool all_go_with(const struct op_watch *watch, uint32_t operand, uint32_t rank,
                        const struct fold *fold)
{
    const uint32_t *values = watch->graph->refs.at + watch->op->operands.first;
    for (uint32_t d = 0; d < rank; d++)
        for (uint32_t i = 0; fold_has(fold, d) && i < watch->op->operands.count; i++) {
            bool rows = watch->how.mixes == MIXES_MATRIX && d + 2 == rank && slot_of(watch, i) == 1;
            if (i != operand && !rows && !goes_with(watch, values[i], rank, fold, d))
                return false;
        }
    return true;
}

/* Whether the op treats all elements along dimensions alike that are several, and so its results
 * have them, too. It mixes along none of them. */
static bool passes(const struct op_watch *watch, uint32_t operand, const struct padded_shape *shape,
                   const struct fold *fold)
{
    enum mixes mixes = watch->how.mixes;
    bool elementwise = mixes == MIXES_NONE && !watch->how.type;
    if (!(elementwise || mixes == MIXES_LAST || mixes == MIXES_TAIL || mixes == MIXES_AXES ||
          (mixes == MIXES_MATRIX && slot_of(watch, operand) == 0)) ||
        op_writes(watch->module, watch->graph, watch->op,
                  watch->graph->refs.at[watch->op->operands.first + operand]) ||
        !all_go_with(watch, operand, shape->rank, fold))
        return false;
    const struct fold from = *fold; /* which moves */
    for (uint32_t i = 0; i < watch->op->results.count; i++) {
        uint32_t value = watch->op->results.first + i;
        struct padded_shape result = shape_of(watch, value);
        struct fold made;
        if (!any_is_padded(&result))
            continue;
        if ((result.rank < shape->rank && mixes != MIXES_LAST) ||
            !fold_pass(&from, shape->rank, &result, &made))
            return false;
        set_fold(watch, value, &made);
    }
    return true;
}

/* -------------------------------------------------------------------------------- ops ---- */

/* The mixed dimension of an operand; `*dim` is NONE where it is not one alone. */
struct mixed {
    uint32_t value, dim;
};

static bool operand_mixes(const struct op_watch *watch, uint32_t operand, struct mixed *mixed)
{
    uint32_t value = watch->graph->refs.at[watch->op->operands.first + operand];
    struct padded_shape shape = shape_of(watch, value);
    *mixed = (struct mixed){value, NONE};
    if (!any_is_padded(&shape))
        return false;
    if (shape.rank == RANK_UNKNOWN)
        return true;
    if (watch->how.mixes == MIXES_VIEW)
        return !view_keeps(watch, value, &shape);
    for (uint32_t d = 0; d < shape.rank; d++)
        if (padded_dim(&shape, d) &&
            (mixes_along(watch, operand, d, shape.rank) || is_stretched(watch, &shape, d))) {
            mixed->dim = d;
            return true;
        }
    const struct fold *fold = fold_of(watch, value);
    return fold && !passes(watch, operand, &shape, fold);
}

static struct padding_op find_how(const struct op_type *type)
{
    for (unsigned i = 0; i < N_PADDING_OPS; i++)
        if (strcmp(type->real, padding_ops[i].type) == 0)
            return padding_ops[i];
    bool elementwise = strcmp(type->family, "elementwise") == 0;
    return (struct padding_op){NULL, elementwise ? MIXES_NONE : MIXES_ALL, ""};
}

/* Of an op whose operands are not those of its type nothing is known. */
static void learn(struct op_watch *watch, struct arena *arena)
{
    const struct op_type *type = op_is_unchecked(watch->module, watch->op)
                                     ? NULL
                                     : op_type_find(watch->module, watch->op->type);
    watch->how = type ? find_how(type) : (struct padding_op){NULL, MIXES_ALL, ""};
    if (watch->how.mixes == MIXES_ALL)
        return;
    op_tensors_init(&watch->tensors, watch->module, watch->graphs->padded, watch->op, type, arena);
    if (watch->tensors.misfit != OP_FITS)
        watch->how.mixes = MIXES_ALL;
}

/* Whether an op without a type computes a padded result of what is not padded: it may be of sizes.
 */
static bool result_mixes(const struct op_watch *watch, struct mixed *mixed)
{
    for (uint32_t i = 0; i < watch->op->results.count; i++) {
        struct padded_shape shape = shape_of(watch, watch->op->results.first + i);
        *mixed = (struct mixed){watch->op->results.first + i, NONE};
        if (any_is_padded(&shape))
            return true;
    }
    return false;
}

static bool op_mixes(const struct op_watch *watch, struct mixed *mixed)
{
    for (uint32_t i = 0; i < watch->op->operands.count; i++)
        if (operand_mixes(watch, i, mixed))
            return true;
    return !op_type_find(watch->module, watch->op->type) && result_mixes(watch, mixed);
}

static void warn(struct input *input, const struct op_watch *watch, const struct mixed *mixed,
                 uint32_t others)
{
    const struct module *module = watch->module;
    struct padded_shape shape = shape_of(watch, mixed->value);
    struct span span = locate_op(module, watch->op, OP_TYPE_NAME, 0);
    bool told =
        mixed->dim == NONE
            ? diag_at(&input->diags, DIAG_padding, span,
                      "%.*s may put elsewhere what padding has added to '%%%.*s'",
                      NAME(module, watch->op->type),
                      NAME(module, watch->graph->values.at[mixed->value].name))
            : diag_at(&input->diags, DIAG_padding, span,
                      "%.*s may mix elements along dimension %u of '%%%.*s', which is padded from "
                      "%lld to %lld",
                      NAME(module, watch->op->type), mixed->dim,
                      NAME(module, watch->graph->values.at[mixed->value].name),
                      (long long)shape.exact[mixed->dim], (long long)shape.padded[mixed->dim]);
    if (told && others)
        diag_help(&input->diags, "so may %u more op%s; --compare=exact shows what it changes",
                  others, others == 1 ? "" : "s");
    else if (told)
        diag_help(&input->diags, "--compare=exact shows what it changes");
}

/* Whether somebody sees the value as it lies: who gets it from the graph, or asks for it. */
static bool is_seen(const struct input *input, const struct graph *graph, uint32_t value)
{
    static const char *const options[] = {"output", "print", "expect"};
    const struct intern_name *name = &input->module->names.names[graph->values.at[value].name];
    const char *text;
    for (uint32_t i = 0; i < graph->returns.count; i++)
        if (graph->returns.at[i] == value)
            return true;
    for (unsigned n = 0; n < sizeof options / sizeof options[0]; n++)
        for (unsigned i = 0; option_exists(input->invocation, options[n]) &&
                             (text = option_value_at(input->invocation, options[n], i));
             i++) {
            text += *text == '%';
            if (strncmp(text, name->text, name->size) == 0 &&
                (text[name->size] == '=' || text[name->size] == '\0'))
                return true;
        }
    return false;
}

/* Ops that somebody sees something of: those whose results are seen, or go into such ops, and those
 * that do something else than compute results. By op, to be freed. */
static uint8_t *find_live(const struct input *input, const struct graph *graph)
{
    uint8_t *used = mem_calloc(graph->values.count + 1, 1);
    uint8_t *live = mem_calloc(graph->ops.count + 1, 1);
    for (uint32_t i = 0; i < graph->values.count; i++)
        used[i] = graph->values.at[i].name != NONE && is_seen(input, graph, i);
    for (uint32_t id = graph->ops.count; id-- > 0;) {
        const struct op *op = &graph->ops.at[id];
        live[id] = op->results.count == 0 || op_call_kind(op) != CALL_NONE;
        for (uint32_t i = 0; i < op->operands.count; i++)
            live[id] = live[id] ||
                       op_writes(input->module, graph, op, graph->refs.at[op->operands.first + i]);
        for (uint32_t i = 0; i < op->results.count; i++)
            live[id] = live[id] || used[op->results.first + i];
        for (uint32_t i = 0; live[id] && i < op->operands.count; i++)
            used[graph->refs.at[op->operands.first + i]] = 1;
    }
    mem_free(used);
    return live;
}

/* Ops that may mix, of which the first is told. */
struct told_ops {
    uint8_t *live, *marks; /* by op; marked are those that were counted */
    struct op_watch first;
    struct mixed where;
    uint32_t count;
};

static void tell(struct told_ops *told, const struct op_watch *watch, struct mixed mixed)
{
    uint32_t id = (uint32_t)(watch->op - watch->graph->ops.at);
    if (told->marks[id] || !told->live[id])
        return;
    told->marks[id] = 1;
    if (told->count++ > 0 && told->first.op <= watch->op)
        return;
    told->first = *watch;
    told->where = mixed;
}

/* Views whose results are seen, in which elements stand elsewhere. */
static void tell_seen(struct told_ops *told, struct op_watch *watch, const struct input *input)
{
    for (uint32_t value = 0; value < watch->graph->values.count; value++) {
        const struct fold *fold = fold_of(watch, value);
        if (!fold || watch->graph->values.at[value].name == NONE ||
            !is_seen(input, watch->graph, value))
            continue;
        watch->op = &watch->graph->ops.at[fold->origin];
        tell(told, watch, (struct mixed){watch->graph->refs.at[watch->op->operands.first], NONE});
    }
}

void padding_ops_warn(struct input *input, const struct graph *graph,
                      const struct padded_graphs *graphs)
{
    struct folds folds = {.all = {NULL, 0, 0}};
    struct op_watch watch = {
        .module = input->module, .graph = graph, .graphs = graphs, .folds = &folds};
    struct told_ops told = {.live = find_live(input, graph),
                            .marks = mem_calloc(graph->ops.count + 1, 1)};
    struct arena arena = {NULL, 0};
    struct mixed mixed;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        watch.op = &graph->ops.at[i];
        learn(&watch, &arena);
        if (op_mixes(&watch, &mixed))
            tell(&told, &watch, mixed);
    }
    tell_seen(&told, &watch, input);
    if (told.count)
        warn(input, &told.first, &told.where, told.count - 1);
    id_map_free(&folds.at);
    vec_free(&folds.all);
    mem_free(told.live);
    mem_free(told.marks);
    arena_free(&arena);
}
