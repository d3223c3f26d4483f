#include "frontend/commands/padding_ops.h"
#include "ir/op_tensors.h"
#include "ir/syntax/locate.h"

#include <stdlib.h>
#include <string.h>

enum mixes {
    MIXES_NONE,
    MIXES_LAST,
    MIXES_TAIL,
    MIXES_AXES,
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

/* A shape as it was asked for, and as it runs. */
struct padded_shape {
    uint32_t rank; /* RANK_UNKNOWN: nothing is known */
    int64_t exact[MAX_RANK], padded[MAX_RANK];
};

struct op_watch {
    const struct module *module;
    const struct graph *graph;
    const struct padded_graphs *graphs;
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

/* What is not known may be padded. */
static bool is_padded(const struct padded_shape *shape, uint32_t dim)
{
    return shape->exact[dim] != shape->padded[dim] || shape->padded[dim] < 0;
}

static bool any_is_padded(const struct padded_shape *shape)
{
    bool any = shape->rank == RANK_UNKNOWN;
    for (uint32_t i = 0; !any && i < shape->rank; i++)
        any = is_padded(shape, i);
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
    taken->inner = taken->inner || (is_padded(taken->shape, dim) && taken->padded > 1);
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
    case MIXES_NONE: return false;
    case MIXES_LAST: return dim + 1 == rank;
    case MIXES_TAIL: return is_in_tail(watch, dim, rank);
    case MIXES_AXES: return has_axis(watch, dim, rank);
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
    if (shape->exact[dim] != 1 || watch->op->operands.count < 2)
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
    if (watch->how.mixes == MIXES_VIEW) {
        struct padded_shape result = shape_of(watch, watch->op->results.first);
        return result.rank == RANK_UNKNOWN || !keeps_places(&shape, &result);
    }
    for (uint32_t d = 0; d < shape.rank; d++)
        if (is_padded(&shape, d) &&
            (mixes_along(watch, operand, d, shape.rank) || is_stretched(watch, &shape, d))) {
            mixed->dim = d;
            return true;
        }
    return false;
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

void padding_ops_warn(struct input *input, const struct graph *graph,
                      const struct padded_graphs *graphs)
{
    struct op_watch first = {.op = NULL};
    struct mixed mixed, where = {NONE, NONE};
    struct arena arena = {NULL, 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        struct op_watch watch = {
            .module = input->module, .graph = graph, .graphs = graphs, .op = &graph->ops.at[i]};
        learn(&watch, &arena);
        if (op_mixes(&watch, &mixed) && count++ == 0) {
            first = watch;
            where = mixed;
        }
    }
    if (count)
        warn(input, &first, &where, count - 1);
    arena_free(&arena);
}
