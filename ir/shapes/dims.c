#include "ir/shapes/dims.h"
#include "ir/support/text.h"

#include <string.h>

const char *dim_fault_text(enum dim_fault fault)
{
    static const char *const texts[] = {
        [DIM_FINE] = "is fine",
        [DIM_OVERFLOW] = "has numbers that do not fit 64 bits",
        [DIM_TOO_MANY_TERMS] = "has more than 16 products",
        [DIM_DEGREE_TOO_HIGH] = "has a product of more than 8 names",
    };
    _Static_assert(DIM_MAX_TERMS == 16 && DIM_MAX_DEGREE == 8, "as the texts say");
    return texts[fault];
}

/* ---------------------------------------------------------------------------- order ---- */

static int compare_names(const struct module *module, uint32_t a, uint32_t b)
{
    const struct intern_name *x = &module->names.names[a], *y = &module->names.names[b];
    size_t size = x->size < y->size ? x->size : y->size;
    int order = a == b ? 0 : memcmp(x->text, y->text, size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* Terms of equal names are equal. */
static int compare_terms(const struct module *module, const struct dim_term *a,
                         const struct dim_term *b)
{
    if (a->degree != b->degree)
        return a->degree > b->degree ? -1 : 1;
    int order = 0;
    for (uint32_t i = 0; i < a->degree && order == 0; i++)
        order = compare_names(module, a->names[i], b->names[i]);
    return order;
}

/* -------------------------------------------------------------------------- algebra ---- */

enum dim_fault dim_term_multiply(struct dim_term *term, int64_t factor)
{
    int64_t product;
    assert(factor >= 0 && term->coefficient >= 0);
    if (__builtin_mul_overflow(term->coefficient, factor, &product))
        return DIM_OVERFLOW;
    term->coefficient = product;
    return DIM_FINE;
}

enum dim_fault dim_term_multiply_name(struct dim_term *term, const struct module *module,
                                      uint32_t name)
{
    uint32_t at = term->degree;
    if (at == DIM_MAX_DEGREE)
        return DIM_DEGREE_TOO_HIGH;
    for (; at > 0 && compare_names(module, term->names[at - 1], name) > 0; at--)
        term->names[at] = term->names[at - 1];
    term->names[at] = name;
    term->degree++;
    return DIM_FINE;
}

enum dim_fault dim_sum_add(struct dim_sum *sum, const struct module *module,
                           const struct dim_term *term)
{
    uint32_t at = 0;
    int64_t both;
    if (term->coefficient == 0)
        return DIM_FINE;
    while (at < sum->count && compare_terms(module, &sum->terms[at], term) < 0)
        at++;
    if (at < sum->count && compare_terms(module, &sum->terms[at], term) == 0) {
        if (__builtin_add_overflow(sum->terms[at].coefficient, term->coefficient, &both))
            return DIM_OVERFLOW;
        sum->terms[at].coefficient = both;
        return DIM_FINE;
    }
    if (sum->count == DIM_MAX_TERMS)
        return DIM_TOO_MANY_TERMS;
    memmove(&sum->terms[at + 1], &sum->terms[at], (sum->count - at) * sizeof *term);
    sum->terms[at] = *term;
    sum->count++;
    return DIM_FINE;
}

/* ----------------------------------------------------------------------------- text ---- */

void dim_spell_sum(struct text *text, const struct module *module, const struct dim_sum *sum)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct dim_term *term = &sum->terms[i];
        bool coefficient = term->coefficient != 1 || term->degree == 0;
        text_string(text, i ? " + " : "");
        if (coefficient)
            text_signed(text, term->coefficient);
        for (uint32_t n = 0; n < term->degree; n++) {
            const struct intern_name *name = &module->names.names[term->names[n]];
            text_string(text, n > 0 || coefficient ? "*" : "");
            text_bytes(text, name->text, name->size);
        }
    }
}

int64_t dim_of_sum(struct module *module, const struct dim_sum *sum)
{
    if (sum->count == 0)
        return 0;
    if (sum->terms[0].degree == 0)
        return sum->terms[0].coefficient;
    struct text text = {NULL, 0, 0};
    dim_spell_sum(&text, module, sum);
    uint32_t name = intern_copy(&module->names, text.at, text.size);
    text_free(&text);
    return DIM_GEAR + name;
}

/* One factor of a normal text; its end. */
static const char *read_factor(const struct module *module, struct dim_term *term, const char *p,
                               const char *end)
{
    const char *start = p;
    int64_t number = 0;
    while (p < end && *p != '*' && *p != ' ')
        p++;
    if (*start < '0' || *start > '9') {
        uint32_t name = intern_find(&module->names, start, (size_t)(p - start));
        assert(name != NONE && term->degree < DIM_MAX_DEGREE);
        term->names[term->degree++] = name;
        return p;
    }
    for (const char *digit = start; digit < p; digit++)
        number = number * 10 + (*digit - '0');
    term->coefficient = number;
    return p;
}

/* Normal texts are in order, and their numbers fit. */
static void read_text(const struct module *module, const struct intern_name *text,
                      struct dim_sum *sum)
{
    const char *p = text->text, *end = p + text->size;
    while (p < end) {
        assert(sum->count < DIM_MAX_TERMS);
        struct dim_term *term = &sum->terms[sum->count++];
        *term = dim_one;
        p = read_factor(module, term, p, end);
        while (p < end && *p == '*')
            p = read_factor(module, term, p + 1, end);
        p += p < end ? 3 : 0; /* " + " */
    }
}

void dim_to_sum(const struct module *module, int64_t dim, struct dim_sum *sum)
{
    assert(dim != DIM_UNKNOWN);
    sum->count = 0;
    if (dim_is_gear(dim)) {
        read_text(module, &module->names.names[dim_gear(dim)], sum);
    } else if (dim > 0) {
        sum->terms[sum->count] = dim_one;
        sum->terms[sum->count++].coefficient = dim;
    }
}

bool dim_has_name(const struct module *module, int64_t dim, uint32_t name)
{
    struct dim_sum sum;
    if (!dim_is_gear(dim))
        return false;
    dim_to_sum(module, dim, &sum);
    for (uint32_t i = 0; i < sum.count; i++)
        for (uint32_t n = 0; n < sum.terms[i].degree; n++)
            if (sum.terms[i].names[n] == name)
                return true;
    return false;
}

/* --------------------------------------------------------------------------- values ---- */

const struct dim_binding *dim_find_binding(const struct dim_binding *bindings, uint32_t count,
                                           uint32_t name)
{
    for (uint32_t i = 0; i < count; i++)
        if (bindings[i].name == name)
            return &bindings[i];
    return NULL;
}

/* Terms with a factor 0 go, whatever their other factors are. */
enum dim_fault dim_bind(struct module *module, int64_t dim, const struct dim_binding *bindings,
                        uint32_t count, int64_t *bound)
{
    struct dim_sum sum, result = {.count = 0};
    enum dim_fault fault = DIM_FINE;
    *bound = dim;
    if (!dim_is_gear(dim))
        return DIM_FINE;
    dim_to_sum(module, dim, &sum);
    for (uint32_t i = 0; i < sum.count && fault == DIM_FINE; i++) {
        const struct dim_term *from = &sum.terms[i];
        struct dim_term term = dim_one;
        term.coefficient = from->coefficient;
        for (uint32_t n = 0; n < from->degree; n++) {
            const struct dim_binding *binding = dim_find_binding(bindings, count, from->names[n]);
            if (binding && binding->value == 0)
                term.coefficient = 0;
        }
        for (uint32_t n = 0; n < from->degree && fault == DIM_FINE && term.coefficient; n++) {
            const struct dim_binding *binding = dim_find_binding(bindings, count, from->names[n]);
            fault = binding ? dim_term_multiply(&term, binding->value)
                            : dim_term_multiply_name(&term, module, from->names[n]);
        }
        if (fault == DIM_FINE)
            fault = dim_sum_add(&result, module, &term);
    }
    if (fault == DIM_FINE)
        *bound = dim_of_sum(module, &result);
    return fault;
}

/* ------------------------------------------------------------------------------ solving ---- */

bool dim_sum_has_one_name(const struct dim_sum *sum)
{
    return sum->count > 0 && sum->count <= 2 && sum->terms[0].degree == 1 &&
           (sum->count == 1 || sum->terms[1].degree == 0);
}

bool dim_sum_solve(const struct dim_sum *sum, int64_t number, struct dim_binding *solution)
{
    const struct dim_term *term = &sum->terms[0];
    int64_t constant = sum->count == 2 ? sum->terms[1].coefficient : 0;
    if (number < constant || (number - constant) % term->coefficient != 0)
        return false;
    *solution = (struct dim_binding){term->names[0], (number - constant) / term->coefficient};
    return true;
}
