#include "backend/kernels/sample_shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DIMS_TEXT = 96 }; /* longer shapes are cut in messages */

/* Writes "[2, 3]". */
static void dims_text(const struct skrt_tensor *tensor, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "[");
    for (uint32_t i = 0; i < tensor->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i == 0 ? "" : ", ",
                                 tensor->dims[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

static bool require_rank(const struct op_check *check, unsigned tensor, uint32_t rank)
{
    if (check->tensors[tensor].rank == rank)
        return true;
    struct tensor_name name = op_tensor_name(check, tensor);
    return op_fail(check, op_shape_id(check, tensor), (int)tensor,
                   "%s %u must have %u dimension%s, but has %u", name.noun, name.index, rank,
                   rank == 1 ? "" : "s", check->tensors[tensor].rank);
}

static bool require_rank_from(const struct op_check *check, unsigned tensor, uint32_t rank)
{
    if (check->tensors[tensor].rank >= rank)
        return true;
    struct tensor_name name = op_tensor_name(check, tensor);
    return op_fail(check, op_shape_id(check, tensor), (int)tensor,
                   "%s %u must have at least %u dimension%s, but has %u", name.noun, name.index,
                   rank, rank == 1 ? "" : "s", check->tensors[tensor].rank);
}

/* A dimension by its place and by what messages call it ("rows"). */
struct axis {
    unsigned tensor;
    uint32_t index;
    const char *what;
};

static int64_t axis_size(const struct op_check *check, struct axis axis)
{
    return check->tensors[axis.tensor].dims[axis.index];
}

/* The first of two axes, which is at fault if they differ, must be as long as the other. */
static bool require_equal(const struct op_check *check, struct axis axis, struct axis other)
{
    int64_t found = axis_size(check, axis), expected = axis_size(check, other);
    if (found == expected)
        return true;
    struct tensor_name name = op_tensor_name(check, axis.tensor);
    struct tensor_name from = op_tensor_name(check, other.tensor);
    return op_fail(check, op_shape_id(check, axis.tensor), (int)axis.tensor,
                   "%s %u has %" PRId64 " %s, but %s %u has %" PRId64 " %s", name.noun, name.index,
                   found, axis.what, from.noun, from.index, expected, other.what);
}

static bool require_dims(const struct op_check *check, unsigned tensor,
                         const struct skrt_tensor *expected)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    if (found->rank == expected->rank &&
        memcmp(found->dims, expected->dims, found->rank * sizeof found->dims[0]) == 0)
        return true;
    char found_text[DIMS_TEXT], expected_text[DIMS_TEXT];
    dims_text(found, found_text, sizeof found_text);
    dims_text(expected, expected_text, sizeof expected_text);
    struct tensor_name name = op_tensor_name(check, tensor);
    return op_fail(check, op_shape_id(check, tensor), (int)tensor,
                   "%s %u must have the shape %s, but has %s", name.noun, name.index, expected_text,
                   found_text);
}

bool shapes_same(const struct op_check *check)
{
    return require_dims(check, 1, &check->tensors[0]);
}

bool shapes_softmax(const struct op_check *check)
{
    return require_rank_from(check, 0, 1) && shapes_same(check);
}

bool shapes_broadcast(const struct op_check *check)
{
    const struct skrt_tensor *x1 = &check->tensors[0], *x2 = &check->tensors[1];
    struct skrt_tensor y = {.rank = x1->rank > x2->rank ? x1->rank : x2->rank};
    for (uint32_t back = 1; back <= y.rank; back++) {
        int64_t dim1 = back <= x1->rank ? x1->dims[x1->rank - back] : 1;
        int64_t dim2 = back <= x2->rank ? x2->dims[x2->rank - back] : 1;
        if (dim1 != dim2 && dim1 != 1 && dim2 != 1) {
            char text1[DIMS_TEXT], text2[DIMS_TEXT];
            dims_text(x1, text1, sizeof text1);
            dims_text(x2, text2, sizeof text2);
            return op_fail(check, "operand-shape", 1,
                           "operand 1 of shape %s cannot be broadcast with operand 0 of shape %s",
                           text2, text1);
        }
        y.dims[y.rank - back] = dim1 == 1 ? dim2 : dim1;
    }
    return require_dims(check, 2, &y);
}

static bool op_attr_flag(const struct op_check *check, const char *name)
{
    for (unsigned i = 0; i < check->n_attrs; i++)
        if (strcmp(check->attrs[i].key, name) == 0)
            return check->attrs[i].i != 0;
    return false;
}

bool shapes_mat_mul(const struct op_check *check)
{
    const struct skrt_tensor *x1 = &check->tensors[0];
    if (!require_rank_from(check, 0, 2) || !require_rank(check, 1, x1->rank))
        return false;
    uint32_t batch = x1->rank - 2;
    for (uint32_t i = 0; i < batch; i++)
        if (!require_equal(check, (struct axis){1, i, "batches"}, (struct axis){0, i, "batches"}))
            return false;
    bool transpose_x1 = op_attr_flag(check, "transpose_x1");
    bool transpose_x2 = op_attr_flag(check, "transpose_x2");
    struct axis k1 = {0, batch + !transpose_x1, transpose_x1 ? "rows (transposed)" : "columns"};
    struct axis k2 = {1, batch + transpose_x2, transpose_x2 ? "columns (transposed)" : "rows"};
    if (!require_equal(check, k2, k1))
        return false;
    struct skrt_tensor y = *x1;
    y.dims[batch] = x1->dims[batch + transpose_x1];
    y.dims[batch + 1] = check->tensors[1].dims[batch + !transpose_x2];
    return require_dims(check, 2, &y);
}

/* Whether an optional operand is a vector of this length, if it is there. */
static bool require_vector(const struct op_check *check, unsigned tensor, struct axis like)
{
    return check->tensors[tensor].form == SKRT_ABSENT ||
           (require_rank(check, tensor, 1) &&
            require_equal(check, (struct axis){tensor, 0, "elements"}, like));
}

bool shapes_quant_matmul(const struct op_check *check)
{
    if (!require_rank(check, 0, 2) || !require_rank(check, 1, 2))
        return false;
    struct axis rows = {0, 0, "rows"}, columns = {1, 1, "columns"};
    struct skrt_tensor y = {.rank = 2, .dims = {axis_size(check, rows), axis_size(check, columns)}};
    return require_equal(check, (struct axis){1, 0, "rows"}, (struct axis){0, 1, "columns"}) &&
           require_vector(check, 2, columns) && require_vector(check, 4, columns) &&
           require_vector(check, 5, rows) && require_dims(check, 6, &y);
}

bool shapes_swiglu(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    if (!require_rank(check, 0, 2))
        return false;
    if (x->dims[1] % 2 != 0)
        return op_fail(check, "operand-shape", 0,
                       "operand 0 must have an even number of columns, but has %" PRId64,
                       x->dims[1]);
    struct skrt_tensor y = {.rank = 2, .dims = {x->dims[0], x->dims[1] / 2}};
    struct skrt_tensor scale = {.rank = 1, .dims = {x->dims[0]}};
    return require_vector(check, 1, (struct axis){0, 1, "columns"}) &&
           require_vector(check, 2, (struct axis){0, 0, "rows"}) && require_dims(check, 7, &y) &&
           require_dims(check, 8, &scale);
}

bool shapes_rms_norm(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    if (!require_rank_from(check, 0, 1) || !require_rank(check, 1, 1))
        return false;
    uint32_t last = x->rank - 1;
    struct skrt_tensor rstd = *x;
    rstd.dims[last] = 1;
    return require_equal(check, (struct axis){1, 0, "elements"},
                         (struct axis){0, last, "columns"}) &&
           require_dims(check, 2, x) && require_dims(check, 3, &rstd);
}

static int64_t op_attr_int(const struct op_check *check, const char *name, int64_t absent)
{
    for (unsigned i = 0; i < check->n_attrs; i++)
        if (strcmp(check->attrs[i].key, name) == 0)
            return check->attrs[i].i;
    return absent;
}

bool shapes_scatter_update(const struct op_check *check)
{
    const struct skrt_tensor *var = &check->tensors[0];
    int64_t axis = op_attr_int(check, "axis", 0);
    if (!require_rank_from(check, 0, 1) || !require_rank(check, 1, 1))
        return false;
    if (axis < -(int64_t)var->rank || axis >= (int64_t)var->rank)
        return op_fail(check, "operand-shape", 0,
                       "operand 0 has %u dimensions, but \"axis\" is %" PRId64, var->rank, axis);
    struct skrt_tensor updates = *var;
    updates.dims[axis < 0 ? axis + var->rank : axis] = check->tensors[1].dims[0];
    return require_dims(check, 2, &updates) && require_dims(check, 3, var);
}

/* ----------------------------------------------------------------------------- lists ---- */

/* An element of operand `tensor`, which is a list, must have these dimensions. */
static bool require_element(const struct op_check *check, unsigned tensor, uint64_t n,
                            const struct skrt_tensor *expected)
{
    const struct skrt_tensor *found = &check->tensors[tensor].list[n];
    char found_text[DIMS_TEXT], expected_text[DIMS_TEXT];
    if (found->rank == expected->rank &&
        memcmp(found->dims, expected->dims, found->rank * sizeof found->dims[0]) == 0)
        return true;
    dims_text(found, found_text, sizeof found_text);
    dims_text(expected, expected_text, sizeof expected_text);
    return op_fail(check, "operand-shape", (int)tensor,
                   "tensor %" PRIu64 " of operand %u must have the shape %s, but has %s", n, tensor,
                   expected_text, found_text);
}

bool shapes_add_n(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    for (uint64_t i = 1; i < x->count; i++)
        if (!require_element(check, 0, i, &x->list[0]))
            return false;
    return require_dims(check, 1, &x->list[0]);
}

bool shapes_concat(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0];
    struct skrt_tensor y = x->list[0];
    int64_t dim = op_attr_int(check, "concat_dim", 0);
    if (dim < -(int64_t)y.rank || dim >= (int64_t)y.rank)
        return op_fail(check, "operand-shape", 0,
                       "tensors of operand 0 have %u dimensions, but \"concat_dim\" is %" PRId64,
                       y.rank, dim);
    dim += dim < 0 ? y.rank : 0;
    for (uint64_t i = 1; i < x->count; i++) {
        struct skrt_tensor expected = x->list[0];
        if (x->list[i].rank == expected.rank)
            expected.dims[dim] = x->list[i].dims[dim];
        if (!require_element(check, 0, i, &expected))
            return false;
        if (__builtin_add_overflow(y.dims[dim], x->list[i].dims[dim], &y.dims[dim]))
            return op_fail(check, "operand-shape", 0, "operand 0 is too large");
    }
    return require_dims(check, 1, &y);
}

/* The shape of one list of FusedInferAttentionScore: like the query's, with other heads and
 * rows. */
static bool require_cache(const struct op_check *check, unsigned tensor, int64_t batch,
                          int64_t heads, int64_t depth)
{
    const struct skrt_tensor *query = &check->tensors[0], *list = &check->tensors[tensor];
    uint32_t rows = query->rank == 3 ? 1 : 2;
    if (list->count != 1 && (int64_t)list->count != batch)
        return op_fail(check, "operand-shape", (int)tensor,
                       "operand %u must have one tensor, or one for each of %" PRId64
                       " batches, but has %" PRIu64,
                       tensor, batch, list->count);
    for (uint64_t i = 0; i < list->count; i++) {
        const struct skrt_tensor *like =
            &check->tensors[1].list[i < check->tensors[1].count ? i : 0];
        struct skrt_tensor expected = {.rank = query->rank};
        expected.dims[0] = list->count == 1 ? batch : 1;
        expected.dims[rows] = like->rank == query->rank ? like->dims[rows] : 0;
        expected.dims[query->rank - 1] = query->rank == 3 ? heads * depth : depth;
        if (query->rank == 4)
            expected.dims[1] = heads;
        if (!require_element(check, tensor, i, &expected))
            return false;
    }
    return list->count == check->tensors[1].count ||
           op_fail(check, "operand-shape", (int)tensor,
                   "operands 1 and 2 must have as many tensors");
}

/* One mask for all, or one for each batch; then keys of all batches are as long. */
static bool require_mask(const struct op_check *check, int64_t batch, int64_t rows)
{
    const struct skrt_tensor *mask = &check->tensors[4], *key = &check->tensors[1];
    if (mask->form == SKRT_ABSENT)
        return true;
    struct skrt_tensor expected = {.rank = mask->rank == 4 ? 4 : 2};
    uint32_t at = expected.rank - 2;
    int64_t keys = key->list[0].dims[key->list[0].rank == 3 ? 1 : 2];
    if (at) {
        expected.dims[0] = batch;
        expected.dims[1] = 1;
    }
    expected.dims[at] = rows;
    expected.dims[at + 1] = keys;
    for (uint64_t i = 1; i < key->count; i++)
        if (key->list[i].dims[key->list[i].rank == 3 ? 1 : 2] != keys)
            return op_fail(check, "operand-shape", 4,
                           "with a mask, all tensors of operand 1 must have as many rows");
    return require_dims(check, 4, &expected);
}

bool shapes_attention(const struct op_check *check)
{
    enum { MAX_DEPTH = 1024 };
    const struct skrt_tensor *query = &check->tensors[0];
    int64_t heads = op_attr_int(check, "num_heads", 0);
    int64_t shared = op_attr_int(check, "num_key_value_heads", 0);
    if (query->rank != 3 && query->rank != 4)
        return op_fail(check, "operand-shape", 0,
                       "operand 0 must have 3 dimensions (BSH) or 4 (BNSD), but has %u",
                       query->rank);
    bool bsh = query->rank == 3;
    int64_t rows = query->dims[bsh ? 1 : 2], last = query->dims[query->rank - 1];
    shared = shared ? shared : heads;
    if (heads < 1 || shared < 1 || heads % shared != 0 ||
        (bsh ? last % heads != 0 : query->dims[1] != heads))
        return op_fail(check, "operand-shape", 0,
                       "operand 0 does not have \"num_heads\" (%" PRId64
                       ") heads, in groups of \"num_key_value_heads\" (%" PRId64 ")",
                       heads, shared);
    int64_t depth = bsh ? last / heads : last;
    if (depth > MAX_DEPTH)
        return op_fail(check, "operand-shape", 0, "a head may have %d columns, but has %" PRId64,
                       MAX_DEPTH, depth);
    struct skrt_tensor lse = {.rank = 4, .dims = {query->dims[0], heads, rows, 1}};
    return require_cache(check, 1, query->dims[0], shared, depth) &&
           require_cache(check, 2, query->dims[0], shared, depth) &&
           require_mask(check, query->dims[0], rows) && require_dims(check, 31, query) &&
           require_dims(check, 32, &lse);
}
