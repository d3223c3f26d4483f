/* What the kernels of the computing families take of shapes and attributes. */
#include "backend/kernels/sample_shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t elements(const struct skrt_tensor *tensor)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        n *= tensor->dims[i];
    return n;
}

/* An attribute, if it is there, must have this value: all that the kernel does. */
static bool require_number(const struct op_check *check, const char *name, double value)
{
    const struct skrt_attr *attr = op_check_attr(check, name);
    return attr == NULL || attr->f == value ||
           op_fail_attr(check, name, "the sample kernel has \"%s\" = %g only", name, value);
}

/* Operand `tensor` must be broadcast to a shape but for its last `without` dimensions. */
static bool require_broadcast(const struct op_check *check, unsigned tensor,
                              const struct skrt_tensor *to, uint32_t without)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    bool fits = found->rank <= to->rank && found->rank >= without;
    for (uint32_t back = without + 1; fits && back <= found->rank; back++)
        fits = found->dims[found->rank - back] == 1 ||
               found->dims[found->rank - back] == to->dims[to->rank - back];
    return fits || op_fail(check, "operand-shape", (int)tensor,
                           "%s cannot be broadcast to what it is used with",
                           op_tensor_name(check, tensor).text);
}

bool shapes_product(const struct op_check *check)
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

bool shapes_softmax(const struct op_check *check)
{
    return check->tensors[0].dtype != SKRT_f64 || check->tensors[1].dtype == SKRT_f64 ||
           op_fail(check, "result-dtype", 1, "%s must be f64 like %s",
                   op_tensor_name(check, 1).text, op_tensor_name(check, 0).text);
}

bool shapes_round(const struct op_check *check)
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

bool shapes_matmul(const struct op_check *check)
{
    if (!shapes_product(check))
        return false;
    const struct skrt_tensor *bias = &check->tensors[2], *y = &check->tensors[4];
    int64_t columns = y->dims[y->rank - 1];
    return bias->form == SKRT_ABSENT || elements(bias) == columns ||
           op_fail(check, "operand-shape", 2,
                   "%s must have %" PRId64 " elements, one for each column, but has %" PRId64,
                   op_tensor_name(check, 2).text, columns, elements(bias));
}

bool shapes_rotary(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0], *r = &check->tensors[1];
    const struct skrt_attr *mode = op_check_attr(check, "mode");
    if (mode != NULL && mode->i != 0 && mode->i != 1)
        return op_fail_attr(check, "mode",
                            "the sample kernel has \"mode\" 0 and 1, but not %" PRId64, mode->i);
    return (r->rank > 0 && r->dims[r->rank - 1] == x->dims[x->rank - 1]) ||
           op_fail(check, "operand-shape", 1, "%s must have the last dimension of %s",
                   op_tensor_name(check, 1).text, op_tensor_name(check, 0).text);
}

bool shapes_masked_softmax(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    if (x->rank < 2)
        return op_fail(check, "operand-shape", 0, "%s must have 2 dimensions or more, but has %u",
                       op_tensor_name(check, 0).text, x->rank);
    return check->tensors[1].form == SKRT_ABSENT || require_broadcast(check, 1, x, 0);
}

/* ------------------------------------------------------------------------- quantisation ---- */

static bool require_rounding(const struct op_check *check)
{
    static const char *const known[] = {"round", "Round", "floor", "Floor",
                                        "ceil",  "Ceil",  "trunc", "Trunc"};
    const struct skrt_attr *attr = op_check_attr(check, "round_mode");
    for (size_t i = 0; attr != NULL && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], attr->text) == 0)
            return true;
    return attr == NULL ||
           op_fail_attr(check, "round_mode",
                        "\"round_mode\" must be \"round\", \"floor\", \"ceil\" or \"trunc\"");
}

/* Scale and offset of AscendQuantV2. */
static bool require_listed(const struct op_check *check, unsigned tensor, int64_t places)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    return found->form == SKRT_ABSENT || elements(found) == 1 || elements(found) == places ||
           op_fail(check, "operand-shape", (int)tensor,
                   "%s must have 1 element, or one for each of %" PRId64
                   " places of the axis, but has %" PRId64,
                   op_tensor_name(check, tensor).text, places, elements(found));
}

bool shapes_quant(const struct op_check *check)
{
    enum { I8 = 2 };
    const struct skrt_tensor *x = &check->tensors[0];
    const struct skrt_attr *attr = op_check_attr(check, "axis");
    int64_t axis = attr != NULL ? attr->i : -1;
    if (!require_number(check, "dst_type", I8) || !require_rounding(check))
        return false;
    if (strcmp(check->row->name, "AscendQuantV2") != 0)
        return true;
    axis += axis < 0 ? x->rank : 0;
    return require_listed(check, 1, x->dims[axis]) && require_listed(check, 2, x->dims[axis]);
}

bool shapes_dequant(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    return require_listed(check, 1, x->rank > 0 ? x->dims[x->rank - 1] : 1);
}

/* ----------------------------------------------------------------------- grouped products ---- */

enum { GROUPED_X, GROUPED_WEIGHT, GROUPED_BIAS, GROUPED_LIST = 7, GROUPED_Y = 9 };

/* One tensor with a part for each group, or one for each: how many groups that makes. -1 after an
 * error. */
static int64_t require_parts(const struct op_check *check, unsigned tensor, uint32_t rank)
{
    const struct skrt_tensor *list = &check->tensors[tensor];
    if (list->count == 1 && list->list[0].rank == rank + 1)
        return list->list[0].dims[0];
    for (uint64_t i = 0; i < list->count; i++)
        if (list->list[i].rank != rank) {
            op_fail(check, "operand-shape", (int)tensor,
                    "%s must have a tensor of %u dimension%s for each group, or one of %u for all",
                    op_tensor_name(check, tensor).text, rank, rank == 1 ? "" : "s", rank + 1);
            return -1;
        }
    return (int64_t)list->count;
}

/* What else than products of groups of rows the type has. */
static bool require_plain_groups(const struct op_check *check, int64_t groups)
{
    const struct skrt_attr *type = op_check_attr(check, "group_type");
    const struct skrt_attr *kind = op_check_attr(check, "group_list_type");
    const struct skrt_attr *item = op_check_attr(check, "split_item");
    if (type != NULL && type->i != 0 && type->i != -1)
        return op_fail_attr(check, "group_type",
                            "the sample kernel has groups of rows: \"group_type\" must be 0 or -1");
    if (kind != NULL && kind->i != 0 && kind->i != 1)
        return op_fail_attr(check, "group_list_type", "\"group_list_type\" must be 0 or 1");
    if (check->results == 1 && groups > 1 && (item == NULL || item->i < 2))
        return op_fail(check, "attribute", -1,
                       "with one result for all groups, \"split_item\" must be 2 or 3");
    if (check->results > 1 && item != NULL && item->i > 1)
        return op_fail_attr(check, "split_item",
                            "with a result for each group, \"split_item\" must be 0 or 1");
    return require_number(check, "transpose_x", 0) && require_number(check, "act_type", 0);
}

/* A group's matrices fit; adds its rows. */
static bool require_group(const struct op_check *check, uint64_t group, int64_t *rows)
{
    unsigned result = check->results > 1 ? GROUPED_Y + (unsigned)group : GROUPED_Y;
    const struct skrt_tensor *t = check->tensors, *y = &t[result];
    const struct skrt_tensor *x = &t[GROUPED_X].list[t[GROUPED_X].count > 1 ? group : 0];
    const struct skrt_tensor *w = &t[GROUPED_WEIGHT].list[t[GROUPED_WEIGHT].count > 1 ? group : 0];
    const struct skrt_attr *turned = op_check_attr(check, "transpose_weight");
    uint32_t k = w->rank - (turned != NULL && turned->i ? 1 : 2), n = w->rank + w->rank - 3 - k;
    if (x->rank != 2 || x->dims[1] != w->dims[k])
        return op_fail(check, "operand-shape", GROUPED_X,
                       "tensor %d of %s must have 2 dimensions, the last of %" PRId64,
                       t[GROUPED_X].count > 1 ? (int)group : 0,
                       op_tensor_name(check, GROUPED_X).text, w->dims[k]);
    *rows += t[GROUPED_X].count > 1 || group == 0 ? x->dims[0] : 0;
    if (y->rank != 2 || y->dims[1] != w->dims[n])
        return op_fail(check, "result-shape", (int)result,
                       "%s must have 2 dimensions, the last of %" PRId64,
                       op_tensor_name(check, result).text, w->dims[n]);
    return check->results == 1 || t[GROUPED_X].count == 1 || y->dims[0] == x->dims[0] ||
           op_fail(check, "result-shape", (int)result,
                   "%s must have %" PRId64 " rows, but has %" PRId64,
                   op_tensor_name(check, result).text, x->dims[0], y->dims[0]);
}

static bool require_group_list(const struct op_check *check, int64_t groups)
{
    const struct skrt_tensor *list = &check->tensors[GROUPED_LIST];
    bool needed = check->tensors[GROUPED_X].count == 1 && groups != 1;
    if (list->form == SKRT_ABSENT)
        return !needed || op_fail(check, "operand-form", GROUPED_LIST,
                                  "%s must say where each of %" PRId64 " groups ends",
                                  op_tensor_name(check, GROUPED_LIST).text, groups);
    return (list->rank == 1 && list->dims[0] == groups) ||
           op_fail(check, "operand-shape", GROUPED_LIST,
                   "%s must have an element for each of %" PRId64 " groups",
                   op_tensor_name(check, GROUPED_LIST).text, groups);
}

bool shapes_grouped(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[GROUPED_X], *bias = &check->tensors[GROUPED_BIAS];
    const struct skrt_tensor *y = &check->tensors[GROUPED_Y];
    int64_t groups = require_parts(check, GROUPED_WEIGHT, 2), rows = 0;
    if (groups < 0 || !require_plain_groups(check, groups) || !require_group_list(check, groups))
        return false;
    if (x->count > 1 && (int64_t)x->count != groups)
        return op_fail(check, "operand-shape", GROUPED_X,
                       "%s must have one tensor, or one for each of %" PRId64 " groups",
                       op_tensor_name(check, GROUPED_X).text, groups);
    if (check->results > 1 && check->results != (uint64_t)groups)
        return op_fail(check, "result-count", -1,
                       "there must be one result, or one for each of %" PRId64 " groups", groups);
    for (int64_t group = 0; group < groups; group++)
        if (!require_group(check, (uint64_t)group, &rows))
            return false;
    if (check->results == 1 && y->dims[0] != rows && groups > 0)
        return op_fail(check, "result-shape", GROUPED_Y,
                       "%s must have %" PRId64 " rows, but has %" PRId64,
                       op_tensor_name(check, GROUPED_Y).text, rows, y->dims[0]);
    int64_t parts = bias->count > 0 ? require_parts(check, GROUPED_BIAS, 1) : groups;
    if (parts < 0)
        return false;
    for (uint64_t i = 0; i < bias->count; i++)
        if (parts != groups || bias->list[i].dims[bias->list[i].rank - 1] !=
                                   check->tensors[GROUPED_Y + (check->results > 1 ? i : 0)].dims[1])
            return op_fail(check, "operand-shape", GROUPED_BIAS,
                           "%s must have an element for each column of each group",
                           op_tensor_name(check, GROUPED_BIAS).text);
    return true;
}

/* ---------------------------------------------------------------------------- attention ---- */

/* Where the dimensions of a layout stand; without a place for heads they are columns. */
struct layout {
    const char *name;
    int8_t batch, heads, rows, columns;
};

static const struct layout layouts[] = {
    {"BSH", 0, -1, 1, 2}, {"SBH", 1, -1, 0, 2}, {"BNSD", 0, 1, 2, 3}, {"BSND", 0, 2, 1, 3}};

static const struct layout *require_layout(const struct op_check *check)
{
    const struct skrt_attr *attr = op_check_attr(check, "input_layout");
    for (size_t i = 0; attr != NULL && i < sizeof layouts / sizeof layouts[0]; i++)
        if (strcmp(layouts[i].name, attr->text) == 0)
            return &layouts[i];
    if (attr == NULL)
        op_fail(check, "attribute", -1, "the sample kernel needs \"input_layout\"");
    else
        op_fail_attr(check, "input_layout",
                     "\"input_layout\" must be \"BSH\", \"SBH\", \"BNSD\" or \"BSND\"");
    return NULL;
}

/* A tensor as [batches, heads, rows, depth]; `heads` and `depth` where it does not say them. */
static bool require_heads(const struct op_check *check, unsigned tensor,
                          const struct layout *layout, int64_t heads, int64_t depth,
                          struct skrt_tensor *to)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    if (found->rank != strlen(layout->name))
        return op_fail(
            check, "operand-shape", (int)tensor, "%s must have %zu dimensions (%s), but has %u",
            op_tensor_name(check, tensor).text, strlen(layout->name), layout->name, found->rank);
    int64_t columns = found->dims[layout->columns];
    *to = (struct skrt_tensor){.rank = 4};
    to->dims[0] = found->dims[layout->batch];
    to->dims[1] = layout->heads >= 0 ? found->dims[layout->heads] : heads;
    to->dims[2] = found->dims[layout->rows];
    to->dims[3] = layout->heads >= 0 ? columns : depth;
    if (layout->heads >= 0 || columns == heads * depth)
        return true;
    if (tensor == 0)
        return op_fail(check, "operand-shape", 0,
                       "the %" PRId64 " columns of %s are not \"head_num\" (%" PRId64
                       ") heads of one size",
                       columns, op_tensor_name(check, 0).text, heads);
    return op_fail(
        check, "operand-shape", (int)tensor,
        "the %" PRId64 " columns of %s are no heads of %" PRId64 " columns, as those of %s are",
        columns, op_tensor_name(check, tensor).text, depth, op_tensor_name(check, 0).text);
}

/* What the plain form does not have. */
static bool require_plain(const struct op_check *check, int64_t rows, int64_t keys)
{
    const struct skrt_attr *before = op_check_attr(check, "pre_tockens");
    const struct skrt_attr *behind = op_check_attr(check, "next_tockens");
    if (!require_number(check, "keep_prob", 1) || !require_number(check, "sparse_mode", 0))
        return false;
    if (before != NULL && before->i < rows)
        return op_fail_attr(
            check, "pre_tockens",
            "the sample kernel has no band: \"pre_tockens\" must be %" PRId64 " at least", rows);
    return behind == NULL || behind->i >= keys ||
           op_fail_attr(check, "next_tockens",
                        "the sample kernel has no band: \"next_tockens\" must be %" PRId64
                        " at least",
                        keys);
}

static bool require_groups(const struct op_check *check, const struct skrt_tensor *query,
                           const struct skrt_tensor *key, int64_t heads)
{
    enum { MAX_DEPTH = 1024 };
    if (heads < 1 || query->dims[1] != heads)
        return op_fail(check, "operand-shape", 0,
                       "%s does not have \"head_num\" (%" PRId64 ") heads",
                       op_tensor_name(check, 0).text, heads);
    if (query->dims[3] > MAX_DEPTH)
        return op_fail(check, "operand-shape", 0, "a head may have %d columns, but has %" PRId64,
                       MAX_DEPTH, query->dims[3]);
    return (key->dims[0] == query->dims[0] && key->dims[3] == query->dims[3] && key->dims[1] > 0 &&
            heads % key->dims[1] == 0) ||
           op_fail(
               check, "operand-shape", 1,
               "%s does not have the batches and columns of %s, and heads for groups of its heads",
               op_tensor_name(check, 1).text, op_tensor_name(check, 0).text);
}

bool shapes_flash_attention(const struct op_check *check)
{
    enum { QUERY, KEY, VALUE, MASK = 6, MAX = 12, SUM, UNUSED, OUT, COPIES = 8 };
    const struct skrt_tensor *t = check->tensors;
    const struct layout *layout = require_layout(check);
    const struct skrt_attr *attr = op_check_attr(check, "head_num");
    int64_t heads = attr != NULL ? attr->i : 0;
    struct skrt_tensor query, key;
    if (layout == NULL ||
        !require_heads(check, QUERY, layout, heads,
                       heads > 0 && t[QUERY].rank == 3 ? t[QUERY].dims[2] / heads : 0, &query))
        return false;
    int64_t depth = query.dims[3], columns = t[KEY].rank == 3 ? t[KEY].dims[2] : 0;
    struct skrt_tensor each = query, scores = query;
    if (!require_heads(check, KEY, layout, depth > 0 ? columns / depth : 0, depth, &key) ||
        !require_groups(check, &query, &key, heads))
        return false;
    each.dims[3] = COPIES;
    scores.dims[3] = key.dims[2];
    if (elements(&t[UNUSED]) != 0)
        return op_fail(check, "result-shape", UNUSED,
                       "the sample kernel does not make %s: it must have no elements",
                       op_tensor_name(check, UNUSED).text);
    return require_plain(check, query.dims[2], key.dims[2]) &&
           shapes_require(check, VALUE, &t[KEY]) && shapes_require(check, OUT, &t[QUERY]) &&
           shapes_require(check, MAX, &each) && shapes_require(check, SUM, &each) &&
           (t[MASK].form == SKRT_ABSENT || require_broadcast(check, MASK, &scores, 0));
}
