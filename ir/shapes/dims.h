/* Dimensions that depend on names: sums of products such as `2*b*s + c + 1`.
 *
 * In a type, such a dimension is the name of its normal text (DIM_GEAR), so that equal dimensions
 * are equal numbers. Normal are products by descending degree and then by their names, the names of
 * a product sorted, its coefficient before them unless it is 1, equal products added up, and none
 * that is 0. What comes out as an integer is one. */
#ifndef IR_SHAPES_DIMS_H
#define IR_SHAPES_DIMS_H

#include "ir/core/module.h"

enum { DIM_MAX_TERMS = 16, DIM_MAX_DEGREE = 8 };

/* A product. */
struct dim_term {
    int64_t coefficient; /* not negative */
    uint32_t degree;
    uint32_t names[DIM_MAX_DEGREE]; /* sorted by text */
};

/* In normal order; no two terms have the same names. */
struct dim_sum {
    uint32_t count;
    struct dim_term terms[DIM_MAX_TERMS];
};

enum dim_fault { DIM_FINE, DIM_OVERFLOW, DIM_TOO_MANY_TERMS, DIM_DEGREE_TOO_HIGH };

/* What is wrong, as "this dimension ...". */
const char *dim_fault_text(enum dim_fault fault);

static const struct dim_term dim_one = {.coefficient = 1};

/* Both leave the term as it was where they report a fault; `factor` is not negative. */
enum dim_fault dim_term_multiply(struct dim_term *term, int64_t factor);
enum dim_fault dim_term_multiply_name(struct dim_term *term, const struct module *module,
                                      uint32_t name);
/* The sum stays as it was where there is a fault. */
enum dim_fault dim_sum_add(struct dim_sum *sum, const struct module *module,
                           const struct dim_term *term);

/* The dimension that a sum is: an integer, or the name of its text. */
int64_t dim_of_sum(struct module *module, const struct dim_sum *sum);
/* Appends its normal text: "2*b + 1"; nothing of a sum without products. */
struct text;
void dim_spell_sum(struct text *text, const struct module *module, const struct dim_sum *sum);
/* The sum that a dimension is, which is not DIM_UNKNOWN. */
void dim_to_sum(const struct module *module, int64_t dim, struct dim_sum *sum);

/* Whether it depends on the name. */
bool dim_has_name(const struct module *module, int64_t dim, uint32_t name);

/* What a name stands for. */
struct dim_binding {
    uint32_t name;
    int64_t value; /* not negative */
};

/* That of a name; NULL. */
const struct dim_binding *dim_find_binding(const struct dim_binding *bindings, uint32_t count,
                                           uint32_t name);

/* Whether a sum is one name times a number, or that plus a constant. */
bool dim_sum_has_one_name(const struct dim_sum *sum);
/* The value of the name of such a sum that makes it the number; false where none does. */
bool dim_sum_solve(const struct dim_sum *sum, int64_t number, struct dim_binding *solution);

/* The dimension with the values for their names. Integers and DIM_UNKNOWN stay. */
enum dim_fault dim_bind(struct module *module, int64_t dim, const struct dim_binding *bindings,
                        uint32_t count, int64_t *bound);

#endif
