/* Times of runs, and what they allow to say. */
#ifndef FRONTEND_RUN_SAMPLES_H
#define FRONTEND_RUN_SAMPLES_H

#include "ir/support/vec.h"

#include <stdbool.h>

/* Seconds, in the order of the runs. Zero-initialised when empty. */
struct samples {
    double *at;
    uint32_t count, capacity;
};

/* The number below which a part of the samples lies, from 0 (the least) to 1, linear between two of
 * them. There is at least one. */
double samples_quantile(const struct samples *samples, double part);
/* The width of the middle half: the distance of the quartiles. */
double samples_spread(const struct samples *samples);

/* How much longer one way takes than another. */
struct ratio {
    double low, middle, high;
    bool known; /* there are enough pairs for an interval */
    bool clear; /* what it says is more than noise */
};

/* The ratio of `a` to `b`, whose n-th samples are a pair, taken one after the other. Its middle is
 * the median of the pairs' ratios. Whatever their distribution, if pairs do not depend on each
 * other, the true median lies between `low` and `high` in at least 99 % of all cases: they are the
 * ratios with such ranks that a fair coin decides. It is clear where that interval excludes 1 and
 * the middle is at least RATIO_LEAST away from it: less may come from where memory lies. */
#define RATIO_LEAST 0.02
struct ratio samples_ratio(const struct samples *a, const struct samples *b);

#endif
