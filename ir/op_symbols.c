#include "ir/op_symbols.h"
#include "ir/dims.h"

#include <string.h>

/* Sums that an evaluation has made are numbered behind the names of types. */
#define FIRST_OWN (DIM_GEAR + ((int64_t)1 << 32))

/* So that an op makes no more of them than there may be in a module of that size. */
enum { MAX_SUMS = 4096 };

static bool is_symbolic(struct rule_dim dim)
{
    return !dim.known && dim.number < DIM_UNKNOWN;
}

/* The sum that a dimension is; false where it is none. */
static bool sum_of(const struct evaluator *e, struct rule_dim dim, struct dim_sum *sum)
{
    if (!e->call->module || dim.number == DIM_UNKNOWN || (dim.known && dim.number < 0))
        return false;
    if (!dim.known && dim.number >= FIRST_OWN)
        *sum = e->sums.at[dim.number - FIRST_OWN];
    else
        dim_to_sum(e->call->module, dim.number, sum);
    return true;
}

static struct rule_dim dim_of(struct evaluator *e, const struct dim_sum *sum)
{
    if (sum->count == 0)
        return rule_known(0);
    if (sum->terms[0].degree == 0)
        return rule_known(sum->terms[0].coefficient);
    if (e->sums.count == MAX_SUMS)
        return rule_unknown_dim();
    vec_push(&e->sums, *sum);
    return (struct rule_dim){false, FIRST_OWN + e->sums.count - 1};
}

/* ------------------------------------------------------------------------- algebra ---- */

static bool names_equal(const struct dim_term *a, const struct dim_term *b)
{
    return a->degree == b->degree && memcmp(a->names, b->names, a->degree * sizeof *a->names) == 0;
}

static bool sums_equal(const struct dim_sum *a, const struct dim_sum *b)
{
    bool equal = a->count == b->count;
    for (uint32_t i = 0; equal && i < a->count; i++)
        equal = a->terms[i].coefficient == b->terms[i].coefficient &&
                names_equal(&a->terms[i], &b->terms[i]);
    return equal;
}

static bool add(const struct evaluator *e, struct dim_sum *sum, const struct dim_sum *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        if (dim_sum_add(sum, e->call->module, &other->terms[i]) != DIM_FINE)
            return false;
    return true;
}

/* Takes away what is there. */
static bool subtract(struct dim_sum *sum, const struct dim_sum *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        uint32_t at = 0;
        while (at < sum->count && !names_equal(&sum->terms[at], &other->terms[i]))
            at++;
        if (at == sum->count || sum->terms[at].coefficient < other->terms[i].coefficient)
            return false;
        sum->terms[at].coefficient -= other->terms[i].coefficient;
        if (sum->terms[at].coefficient == 0) {
            memmove(&sum->terms[at], &sum->terms[at + 1],
                    (sum->count - at - 1) * sizeof sum->terms[0]);
            sum->count--;
        }
    }
    return true;
}

static bool multiply_terms(const struct module *module, struct dim_term *term,
                           const struct dim_term *factor)
{
    bool fine = dim_term_multiply(term, factor->coefficient) == DIM_FINE;
    for (uint32_t i = 0; fine && i < factor->degree; i++)
        fine = dim_term_multiply_name(term, module, factor->names[i]) == DIM_FINE;
    return fine;
}

static bool multiply(const struct evaluator *e, const struct dim_sum *a, const struct dim_sum *b,
                     struct dim_sum *product)
{
    product->count = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            struct dim_term term = a->terms[i];
            if (!multiply_terms(e->call->module, &term, &b->terms[j]) ||
                dim_sum_add(product, e->call->module, &term) != DIM_FINE)
                return false;
        }
    return true;
}

/* Takes the names of a divisor out of a term, whose names are in the same order. */
static bool divide_term(struct dim_term *term, const struct dim_term *divisor)
{
    uint32_t kept = 0, found = 0;
    if (term->coefficient % divisor->coefficient)
        return false;
    for (uint32_t i = 0; i < term->degree; i++)
        if (found < divisor->degree && term->names[i] == divisor->names[found])
            found++;
        else
            term->names[kept++] = term->names[i];
    term->coefficient /= divisor->coefficient;
    term->degree = kept;
    return found == divisor->degree;
}

/* By one product, each term; or by the sum itself. */
static bool divide(const struct evaluator *e, const struct dim_sum *sum,
                   const struct dim_sum *divisor, struct dim_sum *quotient)
{
    struct dim_sum one = {.count = 1, .terms = {dim_one}};
    quotient->count = 0;
    if (sums_equal(sum, divisor))
        return add(e, quotient, &one);
    for (uint32_t i = 0; divisor->count == 1 && i < sum->count; i++) {
        struct dim_term term = sum->terms[i];
        if (!divide_term(&term, &divisor->terms[0]) ||
            dim_sum_add(quotient, e->call->module, &term) != DIM_FINE)
            return false;
    }
    return divisor->count == 1;
}

/* ----------------------------------------------------------------------- dimensions ---- */

struct rule_dim rule_symbolic(struct evaluator *e, enum rule_operator op, struct rule_dim a,
                              struct rule_dim b)
{
    struct dim_sum left, right, result;
    bool exact = false;
    if (!sum_of(e, a, &left) || !sum_of(e, b, &right))
        return rule_unknown_dim();
    switch (op) {
    case RULE_ADD: exact = add(e, &left, &right); break;
    case RULE_SUB: exact = subtract(&left, &right); break;
    case RULE_MUL: exact = multiply(e, &left, &right, &result); break;
    default: exact = divide(e, &left, &right, &result); break;
    }
    if (exact && op == RULE_MOD)
        return rule_known(0);
    return exact ? dim_of(e, op == RULE_ADD || op == RULE_SUB ? &left : &result)
                 : rule_unknown_dim();
}

bool rule_same(const struct evaluator *e, struct rule_dim a, struct rule_dim b)
{
    struct dim_sum left, right;
    if (a.known || b.known)
        return a.known && b.known && a.number == b.number;
    if (!is_symbolic(a) || !is_symbolic(b))
        return false;
    return a.number == b.number ||
           (sum_of(e, a, &left) && sum_of(e, b, &right) && sums_equal(&left, &right));
}

bool rule_spell_symbolic(const struct evaluator *e, struct rule_dim dim, struct text *text)
{
    struct dim_sum sum;
    bool symbolic = is_symbolic(dim) && sum_of(e, dim, &sum);
    if (symbolic)
        dim_spell_sum(text, e->call->module, &sum);
    return symbolic;
}

int64_t rule_dim_of_type(const struct evaluator *e, struct module *module, struct rule_dim dim)
{
    if (dim.known || dim.number < FIRST_OWN || dim.number == DIM_UNKNOWN)
        return dim.number;
    return module ? dim_of_sum(module, &e->sums.at[dim.number - FIRST_OWN]) : DIM_UNKNOWN;
}
