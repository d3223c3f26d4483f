#include "frontend/tensor/normal.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

/* Volatile, so that no machine fuses the multiplication with an addition. */
static double product(double a, double b)
{
    volatile double c = a * b;
    return c;
}

/* The coefficients of a polynomial, that of the highest power first. */
enum { TERMS = 8 };

static double polynomial(const double terms[TERMS], double x)
{
    double sum = terms[0];
    for (size_t i = 1; i < TERMS; i++)
        sum = product(sum, x) + terms[i];
    return sum;
}

/* By the series of the inverse hyperbolic tangent, on [sqrt(1/2), sqrt(2)). */
static double natural_logarithm(double x)
{
    static const double ln2 = 0x1.62e42fefa39efp-1;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m = m + m;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = product(s, s), sum = 0;
    for (int odd = 23; odd >= 1; odd -= 2)
        sum = product(sum, square) + 1.0 / odd;
    return product(2 * s, sum) + product(exponent, ln2);
}

/* One of the three ranges of AS 241. */
struct rational {
    double above[TERMS], below[TERMS];
};

static const struct rational centre = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
    {5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0},
};
static const struct rational middle = {
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
     1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187,
     1.0},
};
static const struct rational tail = {
    {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699,
     6.6579046435011037772},
    {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0},
};

static double quotient(const struct rational *rational, double x)
{
    return polynomial(rational->above, x) / polynomial(rational->below, x);
}

double normal_quantile(double p)
{
    assert(p > 0 && p < 1);
    double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return product(q, quotient(&centre, 0.180625 - product(q, q)));
    double r = sqrt(-natural_logarithm(q < 0 ? p : 1 - p));
    double x = r <= 5 ? quotient(&middle, r - 1.6) : quotient(&tail, r - 5);
    return q < 0 ? -x : x;
}
