/* Standard normal numbers that are the same on all machines. */
#ifndef FRONTEND_TENSOR_NORMAL_H
#define FRONTEND_TENSOR_NORMAL_H

/* The number below which a standard normal variable is with the probability p, 0 < p < 1: by the
 * algorithm AS 241 (Wichura: The Percentage Points of the Normal Distribution), whose relative
 * error is about 1e-16. Nothing but sums, products, quotients and square roots of doubles, each
 * rounded by itself, so that the bits of the result do not depend on the machine. */
double normal_quantile(double p);

#endif
