#include "backend/kernels/sample_shapes.h"
#include "ir/op_shapes.h"

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

bool shapes_require(const struct op_check *check, unsigned tensor,
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
                   "%s must have the shape %s, but has %s", name.text, expected_text, found_text);
}

/* -------------------------------------------------------------------- rules of types ---- */

/* The tensors of an op for the rules of its type, with the place of each. */
struct rule_tensors {
    struct op_tensor *tensors;
    uint32_t *places;
    uint32_t count;
};

static void add_rule_tensor(struct rule_tensors *all, const struct op_check *check, unsigned place,
                            const struct skrt_tensor *tensor)
{
    all->places[all->count] = place;
    all->tensors[all->count++] =
        (struct op_tensor){.slot = op_tensor_slot(check, place),
                           .rank = tensor->rank,
                           .dims = tensor->dims,
                           .bits = dtype_info((enum dtype)tensor->dtype)->bits};
}

static void rule_tensors_init(struct rule_tensors *all, const struct op_check *check,
                              struct arena *arena)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < check->operands + check->results; i++)
        count += check->tensors[i].form == SKRT_LIST ? check->tensors[i].count : 1;
    *all = (struct rule_tensors){arena_alloc(arena, (count + 1) * sizeof *all->tensors),
                                 arena_alloc(arena, (count + 1) * sizeof *all->places), 0};
    for (unsigned i = 0; i < check->operands + check->results; i++) {
        const struct skrt_tensor *tensor = &check->tensors[i];
        if (tensor->form == SKRT_TENSOR)
            add_rule_tensor(all, check, i, tensor);
        for (uint64_t n = 0; tensor->form == SKRT_LIST && n < tensor->count; n++)
            add_rule_tensor(all, check, i, &tensor->list[n]);
    }
}

static bool attr_of_check(const struct op_call *call, const struct op_attr *attr,
                          struct arena *arena, struct op_attr_value *value)
{
    const struct op_check *check = call->user;
    (void)arena;
    for (unsigned i = 0; i < check->n_attrs; i++) {
        if (strncmp(check->attrs[i].key, attr->name, SKRT_ATTR_KEY) != 0)
            continue;
        *value = (struct op_attr_value){.numbers = &check->attrs[i].i, .count = 1};
        if (check->attrs[i].ints != NULL)
            *value =
                (struct op_attr_value){check->attrs[i].ints, (uint32_t)check->attrs[i].count, NULL};
        value->text = check->attrs[i].text;
        return true;
    }
    return false;
}

bool shapes_of_type(const struct op_check *check)
{
    struct arena scratch = {NULL, 0};
    struct rule_tensors all;
    struct op_fault fault;
    rule_tensors_init(&all, check, &scratch);
    struct op_call call = {.type = check->type,
                           .tensors = all.tensors,
                           .n_tensors = all.count,
                           .attr = attr_of_check,
                           .user = check};
    bool ok = op_shapes_check(&call, &fault);
    if (!ok) {
        uint32_t place = fault.tensor == NONE ? 0 : all.places[fault.tensor];
        op_fail(check, op_shape_id(check, place), (int)place, "%s", fault.text);
    }
    arena_free(&scratch);
    return ok;
}

/* ------------------------------------------------------------------ rules of kernels ---- */

static int64_t op_attr_int(const struct op_check *check, const char *name, int64_t absent)
{
    const struct skrt_attr *attr = op_check_attr(check, name);
    return attr != NULL ? attr->i : absent;
}

/* Operand `tensor`, if it is there, has an element for each row or column (what). */
static bool require_each(const struct op_check *check, unsigned tensor, int64_t expected,
                         const char *what)
{
    const struct skrt_tensor *found = &check->tensors[tensor];
    return found->form == SKRT_ABSENT || found->dims[0] == expected ||
           op_fail(check, "operand-shape", (int)tensor,
                   "%s must have an element for each of %" PRId64 " %ss, but has %" PRId64,
                   op_tensor_name(check, tensor).text, expected, what, found->dims[0]);
}

/* Whether a tensor is these parts one behind the other along an axis. */
static bool is_joined(const struct skrt_tensor *whole, const struct skrt_tensor *parts,
                      uint64_t count, uint32_t axis)
{
    int64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (parts[i].rank != whole->rank)
            return false;
        for (uint32_t d = 0; d < whole->rank; d++)
            if (d != axis && parts[i].dims[d] != whole->dims[d])
                return false;
        sum += parts[i].dims[axis];
    }
    return sum == whole->dims[axis];
}

static bool is_joined_somewhere(const struct skrt_tensor *whole, const struct skrt_tensor *parts,
                                uint64_t count)
{
    for (uint32_t axis = 0; axis < whole->rank; axis++)
        if (is_joined(whole, parts, count, axis))
            return true;
    return false;
}

bool shapes_concat(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0], *y = &check->tensors[check->operands];
    return is_joined_somewhere(y, x->list, x->count) ||
           op_fail(check, "result-shape", (int)check->operands,
                   "the tensors of %s are not %s in parts along any dimension",
                   op_tensor_name(check, 0).text, op_tensor_name(check, check->operands).text);
}

bool shapes_split(const struct op_check *check)
{
    const struct skrt_tensor *x = &check->tensors[0], *y = &check->tensors[check->operands];
    const struct skrt_attr *dim = op_check_attr(check, "split_dim");
    int64_t axis = dim == NULL ? 0 : dim->i < 0 ? dim->i + x->rank : dim->i;
    bool fits = check->operands > 1           ? is_joined_somewhere(x, y, check->results)
                : axis < 0 || axis >= x->rank ? false
                                              : is_joined(x, y, check->results, (uint32_t)axis);
    return fits ||
           op_fail(check, "result-shape", (int)check->operands,
                   "the results are not %s in parts along %s", op_tensor_name(check, 0).text,
                   check->operands > 1 ? "any dimension" : "\"split_dim\"");
}

bool shapes_one_rank(const struct op_check *check)
{
    const struct skrt_attr *ranks = op_check_attr(check, "rank_size");
    if (ranks != NULL && ranks->i != 1)
        return op_fail_attr(check, "rank_size",
                            "the sample kernel is for one rank, but \"rank_size\" is %" PRId64,
                            ranks->i);
    return shapes_require(check, 1, &check->tensors[0]);
}

bool shapes_select(const struct op_check *check)
{
    const struct skrt_tensor *condition = &check->tensors[0], *y = &check->tensors[3];
    bool fits = condition->rank <= y->rank;
    for (uint32_t back = 1; fits && back <= condition->rank; back++)
        fits = condition->dims[condition->rank - back] == 1 ||
               condition->dims[condition->rank - back] == y->dims[y->rank - back];
    char found[DIMS_TEXT], wanted[DIMS_TEXT];
    dims_text(condition, found, sizeof found);
    dims_text(y, wanted, sizeof wanted);
    return fits || op_fail(check, "operand-shape", 0, "%s %s cannot be broadcast to the result %s",
                           op_tensor_name(check, 0).text, found, wanted);
}

bool shapes_quant_matmul(const struct op_check *check)
{
    const struct skrt_tensor *y = &check->tensors[6];
    return require_each(check, 2, y->dims[1], "column") &&
           require_each(check, 5, y->dims[0], "row");
}

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
                   "tensor %" PRIu64 " of %s must have the shape %s, but has %s", n,
                   op_tensor_name(check, tensor).text, expected_text, found_text);
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
                       "%s must have one tensor, or one for each of %" PRId64
                       " batches, but has %" PRIu64,
                       op_tensor_name(check, tensor).text, batch, list->count);
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
           op_fail(check, "operand-shape", (int)tensor, "%s and %s must have as many tensors",
                   op_tensor_name(check, 1).text, op_tensor_name(check, 2).text);
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
                           "with a mask, all tensors of %s must have as many rows",
                           op_tensor_name(check, 1).text);
    return shapes_require(check, 4, &expected);
}

bool shapes_attention(const struct op_check *check)
{
    enum { MAX_DEPTH = 1024 };
    const struct skrt_tensor *query = &check->tensors[0];
    int64_t heads = op_attr_int(check, "num_heads", 0);
    int64_t shared = op_attr_int(check, "num_key_value_heads", 0);
    if (query->rank != 3 && query->rank != 4)
        return op_fail(check, "operand-shape", 0,
                       "%s must have 3 dimensions (BSH) or 4 (BNSD), but has %u",
                       op_tensor_name(check, 0).text, query->rank);
    const struct skrt_attr *layout = op_check_attr(check, "input_layout");
    bool bsh = query->rank == 3;
    if (layout != NULL && strcmp(layout->text, bsh ? "BSH" : "BNSD") != 0)
        return op_fail_attr(check, "input_layout",
                            "\"input_layout\" must be \"%s\" where %s has %u dimensions",
                            bsh ? "BSH" : "BNSD", op_tensor_name(check, 0).text, query->rank);
    int64_t rows = query->dims[bsh ? 1 : 2], last = query->dims[query->rank - 1];
    shared = shared ? shared : heads;
    if (heads < 1 || shared < 1 || heads % shared != 0 ||
        (bsh ? last % heads != 0 : query->dims[1] != heads))
        return op_fail(check, "operand-shape", 0,
                       "%s does not have \"num_heads\" (%" PRId64
                       ") heads, in groups of \"num_key_value_heads\" (%" PRId64 ")",
                       op_tensor_name(check, 0).text, heads, shared);
    int64_t depth = bsh ? last / heads : last;
    if (depth > MAX_DEPTH)
        return op_fail(check, "operand-shape", 0, "a head may have %d columns, but has %" PRId64,
                       MAX_DEPTH, depth);
    struct skrt_tensor lse = {.rank = 4, .dims = {query->dims[0], heads, rows, 1}};
    return require_cache(check, 1, query->dims[0], shared, depth) &&
           require_cache(check, 2, query->dims[0], shared, depth) &&
           require_mask(check, query->dims[0], rows) && shapes_require(check, 31, query) &&
           shapes_require(check, 32, &lse);
}
