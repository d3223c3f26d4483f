/* FlashAttentionScore: attention_out = softmax(query * key^T * scale_value) * value for each row of
 * each head, where a mask that is true leaves keys out; softmax_max is the largest score of a row,
 * softmax_sum the sum of what is exponentiated, eight times each.
 *
 * Tensors are BSH, SBH, BSND or BNSD, as `input_layout` says; each head of key and value serves a
 * group of query heads. Scores and sums are f32, in the order of the keys; a row all of whose keys
 * are left out gives zeros.
 */
#include "backend/kernels/broadcast.h"
#include "backend/kernels/elementary.h"

#include <math.h>

enum {
    QUERY,
    KEY,
    VALUE,
    MASK = 6,
    MAX = 12,
    SUM,
    UNUSED,
    OUT,
    TENSORS,
    MAX_DEPTH = 1024,
    COPIES = 8
};

/* A tensor as [batches, heads, rows, depth], with the strides of the first three. */
struct heads {
    int64_t batches, heads, rows, depth;
    int64_t batch, head, row;
};

struct attention {
    struct kernel kernel;
    struct heads query, key;
    float scale;
    struct skrt_tensor scores; /* what a mask is broadcast to */
};

/* A row under computation: the sums are relative to the maximum so far. */
struct attention_row {
    float query[MAX_DEPTH], out[MAX_DEPTH], max, sum;
};

/* `heads`: of a tensor that has them and its columns in one dimension. */
static struct heads heads_of(const struct skrt_tensor *tensor, const char *layout, int64_t heads,
                             int64_t depth)
{
    const int64_t *d = tensor->dims;
    if (strcmp(layout, "BNSD") == 0)
        return (struct heads){d[0], d[1], d[2], d[3], d[1] * d[2] * d[3], d[2] * d[3], d[3]};
    if (strcmp(layout, "BSND") == 0)
        return (struct heads){d[0], d[2], d[1], d[3], d[1] * d[2] * d[3], d[3], d[2] * d[3]};
    if (strcmp(layout, "BSH") == 0)
        return (struct heads){d[0], heads, d[1], depth, d[1] * d[2], depth, d[2]};
    return (struct heads){d[1], heads, d[0], depth, d[2], depth, d[1] * d[2]};
}

static bool attention_open(struct attention *op, const skrt_core *core, uint64_t args_offset)
{
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false))
        return false;
    const struct skrt_tensor *query = &op->kernel.tensors[QUERY], *key = &op->kernel.tensors[KEY];
    const char *layout = kernel_text(&op->kernel, "input_layout", "BSH");
    int64_t heads = kernel_int(&op->kernel, "head_num", 1);
    int64_t depth = query->rank == 3 ? query->dims[2] / heads : query->dims[3];
    op->query = heads_of(query, layout, heads, depth);
    op->key = heads_of(key, layout, depth ? key->dims[2] / depth : 0, depth);
    op->scale = kernel_float(&op->kernel, "scale_value", 1);
    op->scores = (struct skrt_tensor){
        .rank = 4, .dims = {op->query.batches, op->query.heads, op->query.rows, op->key.rows}};
    return true;
}

/* `n`: of the row, among those of all heads and batches. */
static bool attention_leaves_out(const struct attention *op, int64_t n, int64_t key)
{
    const struct skrt_tensor *mask = &op->kernel.tensors[MASK];
    const uint8_t *left_out = kernel_slot(&op->kernel, MASK);
    return mask->form != SKRT_ABSENT &&
           left_out[broadcast_offset(mask, &op->scores, 0, n * op->key.rows + key)] != 0;
}

static void attention_load(const struct attention *op, unsigned tensor, float *to, int64_t offset)
{
    kernel_load_f32(to, kernel_slot(&op->kernel, tensor), op->kernel.tensors[tensor].dtype, offset,
                    op->query.depth);
}

/* Adds a key of this score, whose value is given. */
static void attention_add(const struct attention *op, struct attention_row *row, float score,
                          const float *value)
{
    float max = score > row->max ? score : row->max;
    float before = row->sum > 0 ? elementary_exp(row->max - max) : 0,
          weight = elementary_exp(score - max);
    for (int64_t i = 0; i < op->query.depth; i++)
        row->out[i] = row->out[i] * before + value[i] * weight;
    row->sum = row->sum * before + weight;
    row->max = max;
}

/* `keys`: where those of the row's head begin. */
static void attention_compute(const struct attention *op, struct attention_row *row, int64_t n,
                              int64_t keys)
{
    float loaded[MAX_DEPTH];
    row->max = -INFINITY;
    row->sum = 0;
    memset(row->out, 0, sizeof row->out);
    for (int64_t key = 0; key < op->key.rows; key++) {
        float score = 0;
        if (attention_leaves_out(op, n, key))
            continue;
        attention_load(op, KEY, loaded, keys + key * op->key.row);
        for (int64_t i = 0; i < op->query.depth; i++)
            score += row->query[i] * loaded[i];
        attention_load(op, VALUE, loaded, keys + key * op->key.row);
        attention_add(op, row, score * op->scale, loaded);
    }
    for (int64_t i = 0; i < op->query.depth && row->sum > 0; i++)
        row->out[i] /= row->sum;
}

static void attention_store(const struct attention *op, const struct attention_row *row, int64_t n,
                            int64_t offset)
{
    float *max = kernel_slot(&op->kernel, MAX), *sum = kernel_slot(&op->kernel, SUM);
    kernel_store_f32(kernel_slot(&op->kernel, OUT), op->kernel.tensors[OUT].dtype, offset, row->out,
                     op->query.depth);
    for (int i = 0; i < COPIES; i++) {
        max[n * COPIES + i] = row->max;
        sum[n * COPIES + i] = row->sum;
    }
}

skrt_kernel_fn flash_attention_score;

void flash_attention_score(skrt_core *core, uint64_t args_offset)
{
    struct attention op;
    struct attention_row row;
    if (!attention_open(&op, core, args_offset))
        return;
    const struct heads *q = &op.query;
    struct kernel_range range = kernel_block_range(core, q->batches * q->heads * q->rows);
    for (int64_t n = range.begin; n < range.end; n++) {
        int64_t batch = n / q->rows / q->heads, head = n / q->rows % q->heads;
        int64_t offset = batch * q->batch + head * q->head + n % q->rows * q->row;
        int64_t own = head / (q->heads / op.key.heads);
        attention_load(&op, QUERY, row.query, offset);
        attention_compute(&op, &row, n, batch * op.key.batch + own * op.key.head);
        attention_store(&op, &row, n, offset);
    }
}
