/* FusedInferAttentionScore: attention_out = softmax(query * key^T * scale) * value for each row of
 * each head, where a mask that is true leaves keys out; softmax_lse is the logarithm of the sum of
 * what is exponentiated.
 *
 * Tensors are [B, S, N * D] (three dimensions) or [B, N, S, D]. `key` and `value` are lists of one
 * tensor, or of one for each batch, which may differ in length; each of their
 * `num_key_value_heads` heads serves a group of query heads. Sums and the running maximum are f32,
 * in the order of the keys; a row all of whose keys are left out gives zeros.
 */
#include "backend/kernels/elementary.h"
#include "backend/kernels/kernel.h"

#include <math.h>

enum {
    FIA_QUERY,
    FIA_KEY,
    FIA_VALUE,
    FIA_MASK = 4,
    FIA_OUT = 31,
    FIA_LSE,
    FIA_TENSORS,
    FIA_MAX_DEPTH = 1024
};

struct fia {
    struct kernel kernel;
    int64_t batches, heads, shared, rows, depth;
    float scale;
    bool bsh;
};

/* A row under computation: the sums are relative to the maximum so far. */
struct fia_row {
    float query[FIA_MAX_DEPTH], out[FIA_MAX_DEPTH], max, sum;
};

static int64_t fia_int(const struct fia *op, const char *key)
{
    const struct skrt_attr *attr = kernel_attr(&op->kernel, key);
    return attr ? attr->i : 0;
}

/* Whether a list has the batches, heads and columns that it must. */
static bool fia_is_cache(const struct fia *op, unsigned tensor)
{
    const struct skrt_tensor *list = &op->kernel.tensors[tensor];
    bool fits =
        list->form == SKRT_LIST && (list->count == 1 || (int64_t)list->count == op->batches);
    for (uint64_t i = 0; fits && i < list->count; i++) {
        const struct skrt_tensor *part = &list->list[i];
        fits = part->rank == (op->bsh ? 3u : 4u) &&
               part->dims[0] == (list->count == 1 ? op->batches : 1) &&
               part->dims[part->rank - 1] == (op->bsh ? op->shared * op->depth : op->depth) &&
               (op->bsh || part->dims[1] == op->shared);
    }
    return fits;
}

/* Whether values are as the keys are, and the mask, which is for keys of one length, fits these. */
static bool fia_fits(const struct fia *op)
{
    const struct skrt_tensor *t = op->kernel.tensors, *mask = &t[FIA_MASK];
    uint32_t at = mask->rank == 4 ? 2 : 0, rows = op->bsh ? 1 : 2;
    bool fits = t[FIA_KEY].count == t[FIA_VALUE].count;
    for (uint64_t i = 0; fits && i < t[FIA_KEY].count; i++)
        fits =
            kernel_same_dims(&t[FIA_KEY].list[i], &t[FIA_VALUE].list[i]) &&
            (mask->form == SKRT_ABSENT ||
             (mask->rank == at + 2 && kernel_dtype_size(mask->dtype) == 1 &&
              mask->dims[at] == op->rows && mask->dims[at + 1] == t[FIA_KEY].list[i].dims[rows]));
    return fits && (mask->form == SKRT_ABSENT || at == 0 ||
                    (mask->dims[0] == op->batches && mask->dims[1] == 1));
}

static bool fia_open(struct fia *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, FIA_TENSORS, false))
        return false;
    const struct skrt_tensor *query = &op->kernel.tensors[FIA_QUERY];
    const struct skrt_attr *scale = kernel_attr(&op->kernel, "scale");
    op->heads = fia_int(op, "num_heads");
    op->shared = fia_int(op, "num_key_value_heads");
    op->shared = op->shared ? op->shared : op->heads;
    op->scale = scale ? (float)scale->f : 1;
    op->bsh = query->rank == 3;
    if ((query->rank != 3 && query->rank != 4) || op->heads < 1 || op->shared < 1)
        return false;
    op->batches = query->dims[0];
    op->rows = query->dims[op->bsh ? 1 : 2];
    op->depth = query->dims[query->rank - 1] / (op->bsh ? op->heads : 1);
    if (op->heads % op->shared != 0 ||
        (op->bsh ? op->depth * op->heads != query->dims[2] : query->dims[1] != op->heads))
        return false;
    const struct skrt_tensor *out = &op->kernel.tensors[FIA_OUT], *lse = out + 1;
    return op->depth <= FIA_MAX_DEPTH && fia_is_cache(op, FIA_KEY) && fia_is_cache(op, FIA_VALUE) &&
           fia_fits(op) && kernel_same_dims(query, out) && out->dtype == query->dtype &&
           lse->dtype == SKRT_f32 && kernel_elements(lse) == op->batches * op->heads * op->rows;
}

/* The element of a row's first column in a tensor with so many heads and rows. */
static int64_t fia_offset(const struct fia *op, int64_t batch, int64_t head, int64_t row,
                          int64_t heads, int64_t rows)
{
    return op->depth *
           (op->bsh ? (batch * rows + row) * heads + head : (batch * heads + head) * rows + row);
}

/* A list's tensor for a batch, and the batch's place in it. */
static uint32_t fia_listed(const struct fia *op, unsigned tensor, int64_t *batch)
{
    uint32_t n = op->kernel.tensors[tensor].count == 1 ? 0 : (uint32_t)*batch;
    *batch = op->kernel.tensors[tensor].count == 1 ? *batch : 0;
    return n;
}

static int64_t fia_keys(const struct fia *op, int64_t batch)
{
    const struct skrt_tensor *key =
        &op->kernel.tensors[FIA_KEY].list[fia_listed(op, FIA_KEY, &batch)];
    return key->dims[op->bsh ? 1 : 2];
}

/* Loads a row of a list's tensors. */
static void fia_load(const struct fia *op, unsigned tensor, float *to, int64_t batch, int64_t head,
                     int64_t row, int64_t keys)
{
    uint32_t n = fia_listed(op, tensor, &batch);
    kernel_load_f32(to, kernel_listed(&op->kernel, tensor, n),
                    op->kernel.tensors[tensor].list[n].dtype,
                    fia_offset(op, batch, head, row, op->shared, keys), op->depth);
}

static bool fia_is_masked(const struct fia *op, int64_t batch, int64_t row, int64_t key,
                          int64_t keys)
{
    const uint8_t *mask = kernel_slot(&op->kernel, FIA_MASK);
    if (!mask)
        return false;
    batch = op->kernel.tensors[FIA_MASK].rank == 4 ? batch : 0;
    return mask[(batch * op->rows + row) * keys + key] != 0;
}

/* Adds a key of this score, whose value is given. */
static void fia_add(const struct fia *op, struct fia_row *row, float score, const float *value)
{
    float max = score > row->max ? score : row->max;
    float before = row->sum > 0 ? elementary_exp(row->max - max) : 0,
          weight = elementary_exp(score - max);
    for (int64_t i = 0; i < op->depth; i++)
        row->out[i] = row->out[i] * before + value[i] * weight;
    row->sum = row->sum * before + weight;
    row->max = max;
}

static void fia_compute(const struct fia *op, struct fia_row *row, int64_t batch, int64_t head,
                        int64_t at)
{
    float loaded[FIA_MAX_DEPTH];
    int64_t keys = fia_keys(op, batch), own = head / (op->heads / op->shared);
    row->max = -INFINITY;
    row->sum = 0;
    memset(row->out, 0, sizeof row->out);
    for (int64_t key = 0; key < keys; key++) {
        float score = 0;
        if (fia_is_masked(op, batch, at, key, keys))
            continue;
        fia_load(op, FIA_KEY, loaded, batch, own, key, keys);
        for (int64_t i = 0; i < op->depth; i++)
            score += row->query[i] * loaded[i];
        fia_load(op, FIA_VALUE, loaded, batch, own, key, keys);
        fia_add(op, row, score * op->scale, loaded);
    }
    for (int64_t i = 0; i < op->depth && row->sum > 0; i++)
        row->out[i] /= row->sum;
}

skrt_kernel_fn fused_infer_attention_score;

void fused_infer_attention_score(skrt_core *core, uint64_t args_offset)
{
    struct fia op;
    struct fia_row row;
    if (!fia_open(&op, core, args_offset))
        return;
    float *lse = kernel_slot(&op.kernel, FIA_LSE);
    uint32_t dtype = op.kernel.tensors[FIA_QUERY].dtype;
    struct kernel_range range = kernel_block_range(core, op.batches * op.heads * op.rows);
    for (int64_t n = range.begin; n < range.end; n++) {
        int64_t batch = n / op.rows / op.heads, head = n / op.rows % op.heads, at = n % op.rows;
        int64_t offset = fia_offset(&op, batch, head, at, op.heads, op.rows);
        kernel_load_f32(row.query, kernel_slot(&op.kernel, FIA_QUERY), dtype, offset, op.depth);
        fia_compute(&op, &row, batch, head, at);
        kernel_store_f32(kernel_slot(&op.kernel, FIA_OUT), dtype, offset, row.out, op.depth);
        lse[n] = row.max + logf(row.sum);
    }
}
