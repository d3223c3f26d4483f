/* y = the part of matrices near the diagonal, else 0: on and above a diagonal (Triu), on and below
 * it (Tril), or from some below the main one to some above it (MatrixBandPart; all if negative). */
#include "backend/kernels/ints.h"

enum { triu_operands = 1, tril_operands = 1, matrix_band_part_operands = 3 };
enum { triu_upper = 1, tril_upper = 0, matrix_band_part_upper = 0 };
enum { Y = SAMPLE_OWN(_operands) };

/* The columns of row r are those from r + low up to r + high. */
struct band {
    int64_t low, high;
};

/* Held within what no matrix exceeds. */
static int64_t band_limit(int64_t number)
{
    const int64_t most = INT64_MAX / 4;
    return number < -most ? -most : number > most ? most : number;
}

static bool band_open(struct band *band, const struct kernel *kernel)
{
    struct ints lower, upper;
    int64_t diagonal = band_limit(kernel_int(kernel, "diagonal", 0));
    *band = (struct band){band_limit(INT64_MIN), band_limit(INT64_MAX)};
    if (Y == 1) {
        *(SAMPLE_OWN(_upper) ? &band->low : &band->high) = diagonal;
        return true;
    }
    if (!ints_of_operand(&lower, kernel, 1) || !ints_of_operand(&upper, kernel, 2) ||
        lower.count != 1 || upper.count != 1)
        return false;
    if (lower.at[0] >= 0)
        band->low = -band_limit(lower.at[0]);
    if (upper.at[0] >= 0)
        band->high = band_limit(upper.at[0]);
    return true;
}

skrt_kernel_fn SAMPLE;

void SAMPLE(skrt_core *core, uint64_t args_offset)
{
    struct kernel kernel;
    struct band band;
    if (!kernel_open(&kernel, core, args_offset, Y + 1, false) || !band_open(&band, &kernel))
        return;
    const struct skrt_tensor *x = &kernel.tensors[0], *y = &kernel.tensors[Y];
    int64_t size = kernel_dtype_size(x->dtype);
    struct kernel_range left = kernel_block_range(core, kernel_elements(y));
    int64_t columns = x->dims[x->rank - 1], rows = x->dims[x->rank - 2];
    for (struct kernel_row row; kernel_next_row(&left, columns, &row);) {
        int64_t r = row.n % rows, from = r + band.low, to = r + band.high + 1;
        from = from < row.begin ? row.begin : kernel_min(from, row.end);
        to = to < from ? from : kernel_min(to, row.end);
        const char *source = (const char *)kernel_slot(&kernel, 0) + row.n * columns * size;
        char *target = (char *)kernel_slot(&kernel, Y) + row.n * columns * size;
        memset(target + row.begin * size, 0, (size_t)((from - row.begin) * size));
        memcpy(target + from * size, source + from * size, (size_t)((to - from) * size));
        memset(target + to * size, 0, (size_t)((row.end - to) * size));
    }
}
