#include "ir/optypes/op_eval.h"
#include "ir/shapes/dims.h"
#include "ir/support/text.h"

#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------- sums of names ---- */

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

static bool multiply(const struct evaluator *e, const struct dim_sum *a, const struct dim_sum *b,
                     struct dim_sum *product)
{
    const struct module *module = e->call->module;
    product->count = 0;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++) {
            struct dim_term term = a->terms[i];
            bool fine = dim_term_multiply(&term, b->terms[j].coefficient) == DIM_FINE;
            for (uint32_t n = 0; fine && n < b->terms[j].degree; n++)
                fine = dim_term_multiply_name(&term, module, b->terms[j].names[n]) == DIM_FINE;
            if (!fine || dim_sum_add(product, module, &term) != DIM_FINE)
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

/* a OP b, of which one is no integer: what cannot be said as a sum is not known. `/` and `%` are
 * where nothing is left. */
static struct rule_dim rule_symbolic(struct evaluator *e, enum rule_operator op, struct rule_dim a,
                                     struct rule_dim b)
{
    struct dim_sum left, right, product;
    const struct dim_sum *result = op == RULE_ADD || op == RULE_SUB ? &left : &product;
    bool exact = false;
    if (!sum_of(e, a, &left) || !sum_of(e, b, &right))
        return rule_unknown_dim();
    switch (op) {
    case RULE_ADD: exact = add(e, &left, &right); break;
    case RULE_SUB: exact = subtract(&left, &right); break;
    case RULE_MUL: exact = multiply(e, &left, &right, &product); break;
    default: exact = divide(e, &left, &right, &product); break;
    }
    if (exact && (op == RULE_MOD || result->count == 0))
        return rule_known(0);
    if (exact && result->terms[0].degree == 0)
        return rule_known(result->terms[0].coefficient);
    if (!exact || e->sums.count == MAX_SUMS)
        return rule_unknown_dim();
    vec_push(&e->sums, *result);
    return (struct rule_dim){false, FIRST_OWN + e->sums.count - 1};
}

/* ------------------------------------------------------------------------- faults ---- */

void rule_fail(struct evaluator *e, uint32_t tensor, uint32_t other, const char *format, ...)
{
    if (e->failed)
        return;
    e->failed = true;
    e->fault->tensor = tensor;
    e->fault->other = other;
    va_list args;
    va_start(args, format);
    vsnprintf(e->fault->text, sizeof e->fault->text, format, args);
    va_end(args);
}

const char *rule_text(struct evaluator *e)
{
    enum { MOST = 120 };
    const char *text = e->rule->text;
    size_t size = strlen(text);
    if (size <= MOST)
        return text;
    return arena_printf(&e->arena, "%.*s...", (int)utf8_prefix(text, size, MOST - 3), text);
}

struct rule_value rule_fail_here(struct evaluator *e, const char *what)
{
    rule_fail(e, NONE, NONE, "%s, by which %s has '%s'", what, e->call->type->name, rule_text(e));
    return rule_unknown;
}

/* A symbolic dimension as it is written; what is not known is "?". */
static void add_dim(const struct evaluator *e, struct rule_dim dim, struct text *text)
{
    struct dim_sum sum;
    if (dim.known)
        text_signed(text, dim.number);
    else if (is_symbolic(dim) && sum_of(e, dim, &sum))
        dim_spell_sum(text, e->call->module, &sum);
    else
        text_char(text, '?');
}

struct value_text rule_value_text(const struct evaluator *e, const struct rule_value *value)
{
    static const char dots[] = "...]";
    struct value_text out;
    struct text text = {NULL, 0, 0};
    if (value->kind == VALUE_TEXT)
        text_printf(&text, "'%s'", value->text);
    else if (value->kind == VALUE_NUMBER)
        add_dim(e, value->number, &text);
    else
        text_char(&text, value->kind == VALUE_LIST ? '[' : '?');
    for (uint32_t i = 0; value->kind == VALUE_LIST && i < value->count; i++) {
        text_string(&text, i ? ", " : "");
        add_dim(e, value->dims[i], &text);
        if (text.size >= sizeof out.text)
            break;
    }
    text_string(&text, value->kind == VALUE_LIST ? "]" : "");
    bool fits = text.size < sizeof out.text;
    size_t size = fits ? text.size : utf8_prefix(text.at, text.size, sizeof out.text - sizeof dots);
    memcpy(out.text, text.at, size);
    strcpy(out.text + size, fits ? "" : value->kind == VALUE_LIST ? dots : "...");
    text_free(&text);
    return out;
}

/* ------------------------------------------------------------------------- values ---- */

struct rule_value rule_list(struct evaluator *e, uint64_t count)
{
    e->made += count;
    if (e->made > MAX_EVALUATED + (uint64_t)e->call->n_tensors * MAX_EVALUATED_EACH)
        return rule_fail_here(e, "the rules of this type make too many lists");
    struct rule_value value = {.kind = VALUE_LIST, .count = (uint32_t)count};
    value.dims = arena_alloc(&e->arena, (size_t)count * sizeof *value.dims + 1);
    return value;
}

struct rule_value rule_new_list(struct evaluator *e, uint64_t count)
{
    static const char text[] = "a list has more than 256 elements";
    _Static_assert(MAX_VALUE_DIMS == 256, "as the text says");
    return count > MAX_VALUE_DIMS ? rule_fail_here(e, text) : rule_list(e, count);
}

struct rule_value rule_shape(struct evaluator *e, uint32_t tensor)
{
    uint32_t rank = e->call->tensors[tensor].rank;
    if (rank == RANK_UNKNOWN)
        return rule_shape_in(e, tensor, NULL);
    struct rule_value value = rule_list(e, rank);
    return value.kind == VALUE_LIST ? rule_shape_in(e, tensor, value.dims) : value;
}

struct rule_value rule_shape_in(const struct evaluator *e, uint32_t tensor, struct rule_dim *dims)
{
    const struct op_tensor *found = &e->call->tensors[tensor];
    if (found->rank == RANK_UNKNOWN)
        return e->inferred ? e->inferred[tensor] : rule_unknown;
    for (uint32_t i = 0; i < found->rank; i++)
        dims[i] = (struct rule_dim){found->dims[i] >= 0, found->dims[i]};
    return (struct rule_value){.kind = VALUE_LIST, .count = found->rank, .dims = dims};
}

struct rule_value rule_contents(struct evaluator *e, uint32_t tensor)
{
    struct op_contents found;
    if (!e->call->contents || !e->call->contents(e->call, tensor, &e->arena, &found) ||
        found.count > MAX_VALUE_DIMS)
        return rule_unknown;
    struct rule_value value = rule_list(e, found.count);
    for (uint32_t i = 0; i < value.count; i++)
        value.dims[i] = rule_known(found.at[i]);
    return value;
}

uint32_t rule_tensor(const struct evaluator *e, uint32_t slot)
{
    for (uint32_t i = 0; i < e->call->n_tensors; i++)
        if (e->call->tensors[i].slot == slot)
            return i;
    return NONE;
}

bool rule_dims_agree(struct rule_dim a, struct rule_dim b)
{
    return !a.known || !b.known || a.number == b.number;
}

bool rule_lists_agree(const struct rule_value *a, const struct rule_value *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!rule_dims_agree(a->dims[i], b->dims[i]))
            return false;
    return true;
}

/* An integer says more than names, and these more than nothing. */
static bool says_more(struct rule_dim a, struct rule_dim b)
{
    return !b.known && (a.known || b.number == DIM_UNKNOWN);
}

void rule_refine(struct rule_value *a, const struct rule_value *b)
{
    if (says_more(b->number, a->number))
        a->number = b->number;
    for (uint32_t i = 0; i < a->count; i++)
        if (says_more(b->dims[i], a->dims[i]))
            a->dims[i] = b->dims[i];
}

bool rule_pair(struct evaluator *e, const struct rule_value *a, const struct rule_value *b,
               uint32_t *count)
{
    bool lists[] = {a->kind == VALUE_LIST, b->kind == VALUE_LIST};
    if ((!lists[0] && a->kind != VALUE_NUMBER) || (!lists[1] && b->kind != VALUE_NUMBER))
        return false;
    *count = lists[0] ? a->count : lists[1] ? b->count : 1;
    if (lists[0] && lists[1] && a->count != b->count)
        rule_fail(e, NONE, NONE, "%s has '%s', but %s and %s differ in length", e->call->type->name,
                  rule_text(e), rule_value_text(e, a).text, rule_value_text(e, b).text);
    return !e->failed;
}

struct rule_dim rule_arithmetic(struct evaluator *e, enum rule_operator op, struct rule_dim a,
                                struct rule_dim b)
{
    int64_t n;
    if (op == RULE_MUL && ((a.known && a.number == 0) || (b.known && b.number == 0)))
        return rule_known(0);
    if (op == RULE_MUL && a.known && a.number == 1)
        return b;
    if ((op == RULE_MUL || op == RULE_DIV) && b.known && b.number == 1)
        return a;
    if ((op == RULE_DIV || op == RULE_MOD) && b.known && b.number <= 0) {
        rule_fail_here(e, "a number is divided by 0 or less");
        return rule_unknown_dim();
    }
    if (!a.known || !b.known)
        return rule_symbolic(e, op, a, b);
    if (rule_fold(op, a.number, b.number, &n))
        return rule_known(n);
    rule_fail(e, NONE, NONE, "the shape is too large: numbers of '%s', which %s has, pass 64 bits",
              rule_text(e), e->call->type->name);
    return rule_unknown_dim();
}

/* ---------------------------------------------------------------------- attributes ---- */

struct rule_value rule_attr(struct evaluator *e, uint32_t index)
{
    uint32_t count = e->call->type->n_attrs;
    const struct op_attr *attr = &e->call->type->attrs[index];
    if (!e->attrs) {
        e->attrs = arena_alloc(&e->arena, count * sizeof *e->attrs);
        e->attr_known = arena_alloc(&e->arena, count * sizeof *e->attr_known);
        memset(e->attr_known, 0, count * sizeof *e->attr_known);
    }
    struct rule_value *value = &e->attrs[index];
    if (e->attr_known[index])
        return *value;
    struct op_attr_value given = {attr->numbers, attr->n_numbers, attr->fallback};
    if (e->call->attr)
        e->call->attr(e->call, attr, &e->arena, &given);
    e->attr_known[index] = true;
    *value = rule_unknown;
    if (attr->kind == OP_ATTR_STRING && given.text)
        *value = (struct rule_value){.kind = VALUE_TEXT, .text = given.text};
    else if (attr->kind == OP_ATTR_INTS && given.numbers)
        *value = rule_list(e, given.count);
    else if (attr->kind != OP_ATTR_STRING && given.numbers && given.count == 1)
        *value = rule_number(given.numbers[0]);
    for (uint32_t i = 0; i < value->count; i++)
        value->dims[i] = rule_known(given.numbers[i]);
    return *value;
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

int64_t rule_dim_of_type(const struct evaluator *e, struct module *module, struct rule_dim dim)
{
    if (dim.known || dim.number < FIRST_OWN || dim.number == DIM_UNKNOWN)
        return dim.number;
    return module ? dim_of_sum(module, &e->sums.at[dim.number - FIRST_OWN]) : DIM_UNKNOWN;
}
