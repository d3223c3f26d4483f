#include "frontend/run/samples.h"

#include <math.h>
#include <string.h>

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *numbers, uint32_t count, double part)
{
    double place = part * (count - 1);
    uint32_t below = (uint32_t)place;
    double step = below + 1 < count ? numbers[below + 1] - numbers[below] : 0;
    return numbers[below] + (place - below) * step;
}

double samples_quantile(const struct samples *samples, double part)
{
    double *numbers = mem_calloc(samples->count, sizeof *numbers);
    memcpy(numbers, samples->at, samples->count * sizeof *numbers);
    qsort(numbers, samples->count, sizeof *numbers, compare_numbers);
    double found = quantile(numbers, samples->count, part);
    mem_free(numbers);
    return found;
}

double samples_spread(const struct samples *samples)
{
    return samples_quantile(samples, 0.75) - samples_quantile(samples, 0.25);
}

/* The largest number of ratios that an interval of at least 99 % leaves out on each side; where it
 * cannot be had, UINT32_MAX. The median is below the k-th of n with the chance that a fair coin
 * shows heads less than k times. */
static uint32_t left_out(uint32_t n)
{
    double chance = ldexp(1, n < 1000 ? -(int)n : -1000), sum = chance;
    uint32_t k = 0;
    if (n > 1000) /* the normal distribution's 99 % */
        return (uint32_t)(0.5 * n - 1.288 * sqrt(n)) - 1;
    if (2 * sum > 0.01)
        return UINT32_MAX;
    while (2 * (sum + chance * (n - k) / (k + 1)) <= 0.01) {
        chance *= (double)(n - k) / (k + 1);
        sum += chance;
        k++;
    }
    return k;
}

struct ratio samples_ratio(const struct samples *a, const struct samples *b)
{
    uint32_t n = a->count < b->count ? a->count : b->count, out = left_out(n);
    struct ratio ratio = {.known = out != UINT32_MAX};
    double *ratios = mem_calloc(n, sizeof *ratios);
    for (uint32_t i = 0; i < n; i++) {
        ratios[i] = a->at[i] / b->at[i];
        ratio.known = ratio.known && a->at[i] > 0 && b->at[i] > 0;
    }
    if (ratio.known) {
        qsort(ratios, n, sizeof *ratios, compare_numbers);
        ratio.low = ratios[out];
        ratio.high = ratios[n - 1 - out];
        ratio.middle = quantile(ratios, n, 0.5);
        ratio.clear = (ratio.low > 1 || ratio.high < 1) && fabs(ratio.middle - 1) >= RATIO_LEAST;
    }
    mem_free(ratios);
    return ratio;
}
