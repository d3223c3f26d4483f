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
static bool heads_open(struct heads *to, const struct skrt_tensor *tensor, const char *layout,
                       int64_t heads, int64_t depth)
{
    const int64_t *d = tensor->dims;
    bool bsh = strcmp(layout, "BSH") == 0, sbh = strcmp(layout, "SBH") == 0;
    if (tensor->rank != strlen(layout))
        return false;
    if (strcmp(layout, "BNSD") == 0)
        *to = (struct heads){d[0], d[1], d[2], d[3], d[1] * d[2] * d[3], d[2] * d[3], d[3]};
    else if (strcmp(layout, "BSND") == 0)
        *to = (struct heads){d[0], d[2], d[1], d[3], d[1] * d[2] * d[3], d[3], d[2] * d[3]};
    else if (bsh || sbh)
        *to = (struct heads){d[sbh], heads, d[bsh], depth, 0, depth, 0};
    else
        return false;
    if (bsh || sbh) {
        to->batch = bsh ? d[1] * d[2] : d[2];
        to->row = bsh ? d[2] : d[1] * d[2];
    }
    return (!bsh && !sbh) || d[2] == heads * depth;
}

static bool attention_heads(struct attention *op)
{
    const struct skrt_tensor *t = op->kernel.tensors;
    const struct skrt_attr *layout = kernel_attr(&op->kernel, "input_layout");
    const struct skrt_attr *attr = kernel_attr(&op->kernel, "head_num");
    int64_t heads = attr != NULL ? attr->i : 0;
    if (heads < 1 || layout == NULL || layout->text == NULL || t[QUERY].rank < 3 || t[KEY].rank < 3)
        return false;
    int64_t depth = t[QUERY].rank == 3 ? t[QUERY].dims[2] / heads : t[QUERY].dims[3];
    return heads_open(&op->query, &t[QUERY], layout->text, heads, depth) &&
           heads_open(&op->key, &t[KEY], layout->text, depth ? t[KEY].dims[2] / depth : 0, depth) &&
           op->query.heads == heads;
}

static bool attention_open(struct attention *op, const skrt_core *core, uint64_t args_offset)
{
    const struct skrt_attr *scale;
    if (!kernel_open(&op->kernel, core, args_offset, TENSORS, false) || !attention_heads(op))
        return false;
    const struct skrt_tensor *t = op->kernel.tensors;
    const struct heads *q = &op->query, *k = &op->key;
    scale = kernel_attr(&op->kernel, "scale_value");
    op->scale = scale != NULL ? (float)scale->f : 1;
    op->scores = (struct skrt_tensor){.rank = 4, .dims = {q->batches, q->heads, q->rows, k->rows}};
    int64_t each = q->batches * q->heads * q->rows * COPIES;
    return q->depth <= MAX_DEPTH && k->depth == q->depth && k->batches == q->batches &&
           k->heads > 0 && q->heads % k->heads == 0 && kernel_same_dims(&t[KEY], &t[VALUE]) &&
           kernel_same_dims(&t[QUERY], &t[OUT]) && kernel_elements(&t[MAX]) == each &&
           kernel_elements(&t[SUM]) == each && t[MAX].dtype == SKRT_f32 &&
           t[SUM].dtype == SKRT_f32 &&
           (t[MASK].form == SKRT_ABSENT ||
            (kernel_dtype_size(t[MASK].dtype) == 1 && broadcast_fits(&t[MASK], &op->scores, 0)));
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
