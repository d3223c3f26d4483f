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

static bool fia_open(struct fia *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, FIA_TENSORS, false))
        return false;
    const struct skrt_tensor *query = &op->kernel.tensors[FIA_QUERY];
    op->heads = kernel_int(&op->kernel, "num_heads", 0);
    op->shared = kernel_int(&op->kernel, "num_key_value_heads", 0);
    op->shared = op->shared ? op->shared : op->heads;
    op->scale = kernel_float(&op->kernel, "scale", 1);
    op->bsh = query->rank == 3;
    op->batches = query->dims[0];
    op->rows = query->dims[op->bsh ? 1 : 2];
    op->depth = query->dims[query->rank - 1] / (op->bsh ? op->heads : 1);
    return true;
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
