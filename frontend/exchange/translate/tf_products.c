/* Operators of TensorFlow on matrices and channels. */
#include "frontend/exchange/translate/tf_rows.h"

#include <string.h>

/* -------------------------------------------------------------------------- Einsum ---- */

/* Labels of an equation of two operands: what each is for. */
enum label_use {
    LABEL_BATCH, /* in both operands and the result */
    LABEL_LEFT,  /* in the first and the result */
    LABEL_RIGHT, /* in the second and the result */
    LABEL_SUM,   /* in both operands only */
    LABEL_USES
};

struct labels {
    char at[MAX_RANK + 1];
    uint32_t count;
};

struct einsum {
    struct translation *t;
    struct labels in[2], out;
};

static bool has_label(const struct labels *labels, char label)
{
    return memchr(labels->at, label, labels->count) != NULL;
}

/* Reads labels up to `end`. */
static void read_labels(struct einsum *e, struct labels *labels, const char *text, const char *end)
{
    labels->count = 0;
    for (; text < end; text++) {
        if (*text == ' ')
            continue;
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (!letter || has_label(labels, *text) || labels->count == MAX_RANK) {
            tr_refuse(e->t, "its equation is not one of two operands whose labels are different "
                            "letters");
            return;
        }
        labels->at[labels->count++] = *text;
    }
}

static void read_equation(struct einsum *e)
{
    struct attr_value said;
    const struct intern_name *text =
        tr_value(e->t, "equation", &said) ? &e->t->module->names.names[said.id] : NULL;
    const char *begin = text ? text->text : "", *end = begin + (text ? text->size : 0);
    const char *comma = memchr(begin, ',', (size_t)(end - begin));
    const char *arrow = comma ? memchr(comma, '-', (size_t)(end - comma)) : NULL;
    if (!arrow || end - arrow < 2 || arrow[1] != '>') {
        tr_refuse(e->t, "its equation is not one of two operands with '->'");
        return;
    }
    read_labels(e, &e->in[0], begin, comma);
    read_labels(e, &e->in[1], comma + 1, arrow);
    read_labels(e, &e->out, arrow + 2, end);
}

static enum label_use use_of(const struct einsum *e, char label)
{
    bool left = has_label(&e->in[0], label), right = has_label(&e->in[1], label);
    if (!has_label(&e->out, label))
        return left && right ? LABEL_SUM : LABEL_USES;
    if (left && right)
        return LABEL_BATCH;
    return left ? LABEL_LEFT : right ? LABEL_RIGHT : LABEL_USES;
}

/* Refuses equations that are no batched product of matrices. */
static void check_equation(struct einsum *e)
{
    const struct labels *all[] = {&e->in[0], &e->in[1], &e->out};
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t k = 0; k < all[i]->count; k++)
            if (use_of(e, all[i]->at[k]) == LABEL_USES)
                tr_refuse(e->t, "its label '%c' is summed over one operand, or only in the result",
                          all[i]->at[k]);
}

/* Appends the labels of one use, in the order of `from`. */
static void take(const struct einsum *e, struct labels *to, const struct labels *from,
                 enum label_use use)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (use_of(e, from->at[i]) == use)
            to->at[to->count++] = from->at[i];
}

static uint32_t transpose(struct translation *t, uint32_t value, const struct labels *from,
                          const struct labels *to)
{
    int64_t perm[MAX_RANK];
    bool same = true;
    for (uint32_t i = 0; i < to->count; i++) {
        perm[i] = (const char *)memchr(from->at, to->at[i], from->count) - from->at;
        same &= perm[i] == (int64_t)i;
    }
    if (same)
        return value;
    return tr_make(t, "Transpose", value,
                   tr_const_ints(t, "perm", (struct tr_ints){perm, to->count}));
}

/* The dimension of a label. */
static int64_t dim_of(const struct einsum *e, char label)
{
    for (unsigned i = 0; i < 2; i++) {
        const char *at = memchr(e->in[i].at, label, e->in[i].count);
        int64_t dim = at ? tr_dim(e->t, e->t->operands[i], (uint32_t)(at - e->in[i].at)) : -1;
        if (dim >= 0)
            return dim;
    }
    return -1;
}

/* Appends the dimensions of the labels of one use, or their product. */
static void add_dims(struct einsum *e, int64_t *dims, uint32_t *count, const struct labels *labels,
                     enum label_use use, bool product)
{
    int64_t all = 1;
    for (uint32_t i = 0; i < labels->count; i++) {
        if (use_of(e, labels->at[i]) != use)
            continue;
        int64_t dim = dim_of(e, labels->at[i]);
        if (dim < 0 && all >= 0)
            all = -1;
        else if (dim < 0 || (all < 0 && product) ||
                 (product && __builtin_mul_overflow(all, dim, &all)))
            tr_refuse(e->t, "too few of its dimensions are known");
        if (!product)
            dims[(*count)++] = dim;
    }
    if (product)
        dims[(*count)++] = all;
}

static uint32_t reshape(struct einsum *e, uint32_t value, const int64_t *dims, uint32_t count)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < count; i++)
        open += dims[i] < 0;
    if (open > 1)
        tr_refuse(e->t, "too few of its dimensions are known");
    return tr_reshape(e->t, value, (struct tr_ints){dims, count});
}

/* An operand as matrices: batch labels, then `rows`, then `columns`, each as one dimension. */
static uint32_t as_matrices(struct einsum *e, unsigned operand, enum label_use rows,
                            enum label_use columns)
{
    const struct labels *from = &e->in[operand];
    struct labels order = {.count = 0};
    int64_t dims[MAX_RANK + 2];
    uint32_t count = 0;
    take(e, &order, &e->in[0], LABEL_BATCH);
    uint32_t batch = order.count;
    take(e, &order, rows == LABEL_SUM ? &e->in[0] : from, rows);
    uint32_t n_rows = order.count - batch;
    take(e, &order, columns == LABEL_SUM ? &e->in[0] : from, columns);
    uint32_t n_columns = order.count - batch - n_rows;
    uint32_t value = transpose(e->t, e->t->operands[operand], from, &order);
    if (n_rows == 1 && n_columns == 1)
        return value;
    add_dims(e, dims, &count, &e->in[0], LABEL_BATCH, false);
    add_dims(e, dims, &count, rows == LABEL_SUM ? &e->in[0] : from, rows, true);
    add_dims(e, dims, &count, columns == LABEL_SUM ? &e->in[0] : from, columns, true);
    return reshape(e, value, dims, count);
}

static void make_einsum(struct translation *t)
{
    struct einsum e = {.t = t};
    struct labels made = {.count = 0};
    int64_t dims[MAX_RANK];
    uint32_t count = 0;
    if (t->n_operands != 2)
        tr_refuse(t, "it has %u operands, not 2", t->n_operands);
    read_equation(&e);
    if (tr_refused(t))
        return;
    check_equation(&e);
    for (unsigned i = 0; i < 2; i++)
        if (tr_need_rank(t, tr_operand(t, i)) != e.in[i].count)
            tr_refuse(t, "its equation has other ranks than its operands");
    if (!tr_is_float(t, t->operands[0]))
        tr_refuse(t, "its operands are no floats");
    if (tr_refused(t))
        return;
    uint32_t y = tr_make(t, "BatchMatMul", as_matrices(&e, 0, LABEL_LEFT, LABEL_SUM),
                         as_matrices(&e, 1, LABEL_SUM, LABEL_RIGHT));
    take(&e, &made, &e.in[0], LABEL_BATCH);
    uint32_t batch = made.count;
    take(&e, &made, &e.in[0], LABEL_LEFT);
    uint32_t left = made.count - batch;
    take(&e, &made, &e.in[1], LABEL_RIGHT);
    if (left != 1 || made.count - batch - left != 1) {
        add_dims(&e, dims, &count, &e.in[0], LABEL_BATCH, false);
        add_dims(&e, dims, &count, &e.in[0], LABEL_LEFT, false);
        add_dims(&e, dims, &count, &e.in[1], LABEL_RIGHT, false);
        y = reshape(&e, y, dims, count);
    }
    tr_give(t, 0, transpose(t, y, &made, &e.out));
}

/* -------------------------------------------------------------------------- channels ---- */

/* Whether the format has the channels as the second of `rank` dimensions, not as the last. */
static bool channels_first(struct translation *t, uint32_t rank)
{
    if (!tr_is(t, "data_format", "NCHW"))
        return false;
    if (rank != 4)
        tr_refuse(t, "its operand of format NCHW has %u dimensions, not 4", rank);
    return true;
}

/* The shape of a vector of channels over planes. */
static uint32_t plane_shape(struct translation *t)
{
    return tr_const_ints(t, "shape", (struct tr_ints){(const int64_t[]){-1, 1, 1}, 3});
}

static void make_bias_add(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), bias = tr_operand(t, 1);
    if (tr_is(t, "data_format", "NCHW") && channels_first(t, tr_need_rank(t, x)))
        bias = tr_make(t, "Reshape", bias, plane_shape(t));
    tr_give(t, 0, tr_make(t, "Add", x, bias));
}

/* y = (x - mean) / sqrt(variance + epsilon) * scale + offset, in the statistics' data type. */
static void make_batch_norm(struct translation *t)
{
    uint32_t x = tr_operand(t, 0), vectors[4];
    if (tr_int(t, "is_training"))
        tr_refuse(t, "it is of training: it uses statistics of the batch");
    for (uint32_t i = 3; i < t->n_results; i++)
        if (tr_wants(t, i))
            tr_refuse(t, "its output %u is for training", i);
    enum dtype from = tr_need_dtype(t, x), in = tr_need_dtype(t, tr_operand(t, 1));
    bool first = tr_is(t, "data_format", "NCHW") && channels_first(t, tr_need_rank(t, x));
    uint32_t shape = first ? plane_shape(t) : NONE;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t vector = tr_operand(t, i + 1);
        vectors[i] = first ? tr_make(t, "Reshape", vector, shape) : vector;
    }
    uint32_t epsilon = tr_const(t, "epsilon", in, tr_float(t, "epsilon"));
    uint32_t factor =
        tr_make(t, "Mul", tr_make(t, "Rsqrt", tr_make(t, "Add", vectors[3], epsilon)), vectors[0]);
    uint32_t centred = tr_make(t, "Sub", tr_cast(t, x, in), vectors[2]);
    uint32_t y = tr_make(t, "Add", tr_make(t, "Mul", centred, factor), vectors[1]);
    tr_give(t, 0, tr_cast(t, y, from));
    for (uint32_t i = 1; i < 3; i++)
        if (tr_wants(t, i))
            tr_give(t, i, tr_operand(t, i + 2));
}

#define BATCH_NORM(name)                                                                           \
    {                                                                                              \
        name, .to = "Sub, Mul, Add, Rsqrt", make_batch_norm,                                       \
              .attrs =                                                                             \
                  {                                                                                \
                      {"epsilon", OF_FLOAT, "0.0001"},                                             \
                      {"exponential_avg_factor", OF_FLOAT, "1"},                                   \
                      {"data_format", OF_TEXT, "NHWC", NULL, "NHWC|NCHW"},                         \
                      {"is_training", OF_BOOL, "1"},                                               \
                  },                                                                               \
              .about = "not of training; results are y, the mean and the variance"                 \
    }

/* `grad_*` only concern gradients. */
#define BATCH_MATMUL(name)                                                                         \
    {                                                                                              \
        name, .to = "BatchMatMul", .attrs = {                                                      \
            {"adj_x", OF_BOOL, "0", "adj_x1"},                                                     \
            {"adj_y", OF_BOOL, "0", "adj_x2"},                                                     \
            {"grad_x", OF_BOOL, "0"},                                                              \
            {"grad_y", OF_BOOL, "0"},                                                              \
        }                                                                                          \
    }

const struct translation_row tf_products[] = {
    BATCH_MATMUL("BatchMatMul"),
    BATCH_MATMUL("BatchMatMulV2"),
    {"BatchMatMulV3", .to = "BatchMatMul",
     .attrs = {{"adj_x", OF_BOOL, "0", "adj_x1"},
               {"adj_y", OF_BOOL, "0", "adj_x2"},
               {"grad_x", OF_BOOL, "0"},
               {"grad_y", OF_BOOL, "0"},
               {"Ta", OF_ANY},
               {"Tb", OF_ANY}},
     .about = "all of one data type"},
    {"BiasAdd", .to = "Add", .make = make_bias_add,
     .attrs = {{"data_format", OF_TEXT, "NHWC", NULL, "NHWC|NCHW"}},
     .about = "NCHW of four dimensions only, with a Reshape of the bias"},
    {"BiasAddV1", .to = "Add"},
    {"Einsum", .to = "BatchMatMul, Transpose, Reshape", .make = make_einsum,
     .attrs = {{"equation", OF_TEXT}, {"N", OF_INT}},
     .about = "two operands whose labels are different letters, none of them in one operand only"},
    BATCH_NORM("FusedBatchNorm"),
    BATCH_NORM("FusedBatchNormV2"),
    BATCH_NORM("FusedBatchNormV3"),
    {"MatMul", .to = "MatMul",
     .attrs = {{"transpose_a", OF_BOOL, "0", "transpose_x1"},
               {"transpose_b", OF_BOOL, "0", "transpose_x2"},
               {"grad_a", OF_BOOL, "0"},
               {"grad_b", OF_BOOL, "0"}}},
    {NULL},
};
