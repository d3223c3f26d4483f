#include "ir/optypes/op_eval.h"

#include <string.h>

/* ----------------------------------------------------------------------- operators ---- */

static struct rule_value arithmetic(struct evaluator *e, enum rule_operator op,
                                    const struct rule_value *a, const struct rule_value *b)
{
    uint32_t count;
    if (a->kind == VALUE_NUMBER && b->kind == VALUE_NUMBER)
        return rule_dim_value(rule_arithmetic(e, op, a->number, b->number));
    if (!rule_pair(e, a, b, &count))
        return rule_unknown;
    struct rule_value value = rule_list(e, count);
    for (uint32_t i = 0; i < value.count; i++)
        value.dims[i] = rule_arithmetic(e, op, rule_element(a, i), rule_element(b, i));
    return value;
}

static bool holds(enum rule_operator op, int64_t left, int64_t right)
{
    switch (op) {
    case RULE_EQ: return left == right;
    case RULE_NE: return left != right;
    case RULE_LT: return left < right;
    case RULE_LE: return left <= right;
    case RULE_GT: return left > right;
    default: return left >= right;
    }
}

/* Of lists, whether it holds of each element: not, as soon as it does not of one. */
static struct rule_value compare_each(struct evaluator *e, enum rule_operator op,
                                      const struct rule_value *a, const struct rule_value *b)
{
    uint32_t count;
    bool known = true;
    if (!rule_pair(e, a, b, &count))
        return rule_unknown;
    for (uint32_t i = 0; i < count; i++) {
        struct rule_dim left = rule_element(a, i), right = rule_element(b, i);
        bool same = rule_same(e, left, right), told = same || (left.known && right.known);
        known &= told;
        if (told && !(same ? holds(op, 0, 0) : holds(op, left.number, right.number)))
            return rule_number(false);
    }
    return known ? rule_number(true) : rule_unknown;
}

/* Two lists and two texts are equal as a whole: lists where they cannot but be. */
static struct rule_value compare(struct evaluator *e, enum rule_operator op,
                                 const struct rule_value *a, const struct rule_value *b)
{
    bool texts = a->kind == VALUE_TEXT && b->kind == VALUE_TEXT;
    bool equal = texts ? strcmp(a->text, b->text) == 0 : rule_lists_agree(a, b);
    if (!texts && (op > RULE_NE || a->kind != VALUE_LIST || b->kind != VALUE_LIST))
        return compare_each(e, op, a, b);
    for (uint32_t i = 0; !texts && equal && i < a->count; i++)
        if (!rule_same(e, a->dims[i], b->dims[i]))
            return rule_unknown;
    return rule_number(equal == (op == RULE_EQ));
}

/* Where the left side decides, the right one is not evaluated. That one may decide, too, where the
 * left one is not known. */
static struct rule_value eval_logic(struct evaluator *e, const struct rule *rule)
{
    bool decides = rule->number == RULE_OR;
    struct rule_value a = rule_eval(e, rule->args[0]);
    const int64_t *left = rule_as_number(&a);
    if (left && (*left != 0) == decides)
        return rule_number(decides);
    struct rule_value b = rule_eval(e, rule->args[1]);
    const int64_t *right = rule_as_number(&b);
    if (right && (*right != 0) == decides)
        return rule_number(decides);
    return left && right ? rule_number(!decides) : rule_unknown;
}

/* --------------------------------------------------------------------- expressions ---- */

static struct rule_value eval_list(struct evaluator *e, const struct rule *rule)
{
    struct rule_value *items = arena_alloc(&e->arena, (rule->n_args + 1) * sizeof *items);
    uint64_t count = 0;
    for (uint32_t i = 0; i < rule->n_args; i++) {
        bool splice = rule->args[i]->kind == RULE_SPLICE;
        items[i] = rule_eval(e, splice ? rule->args[i]->args[0] : rule->args[i]);
        if (splice && items[i].kind != VALUE_LIST)
            return rule_unknown;
        count += splice ? items[i].count : 1;
    }
    struct rule_value out = rule_new_list(e, count);
    if (out.kind != VALUE_LIST)
        return rule_unknown;
    uint32_t n = 0;
    for (uint32_t i = 0; i < rule->n_args; i++) {
        if (rule->args[i]->kind != RULE_SPLICE)
            out.dims[n++] = items[i].kind == VALUE_NUMBER ? items[i].number : rule_unknown_dim();
        else if (items[i].count)
            memcpy(out.dims + n, items[i].dims, items[i].count * sizeof *out.dims);
        if (rule->args[i]->kind == RULE_SPLICE)
            n += items[i].count;
    }
    return out;
}

struct rule_value rule_eval(struct evaluator *e, const struct rule *rule)
{
    const struct rule **args = rule->args;
    enum rule_operator op = (enum rule_operator)rule->number; /* of RULE_BINARY */
    uint32_t tensor, place;
    struct rule_value a, b, *values;
    const int64_t *number;
    switch (rule->kind) {
    case RULE_NUMBER: return rule_number(rule->number);
    case RULE_TEXT: return (struct rule_value){.kind = VALUE_TEXT, .text = rule->text};
    case RULE_SLOT:
        tensor = rule_tensor(e, (uint32_t)rule->number);
        return tensor == NONE ? rule_unknown : rule_shape(e, tensor);
    case RULE_ATTR: return rule_attr(e, (uint32_t)rule->number);
    case RULE_VARIABLE: return e->bindings[rule->number].value;
    case RULE_LIST: return eval_list(e, rule);
    case RULE_INDEX:
        a = rule_eval(e, args[0]);
        b = rule_eval(e, args[1]);
        place = a.kind == VALUE_LIST ? rule_place(e, &b, a.count) : NONE;
        return place == NONE ? rule_unknown : rule_dim_value(a.dims[place]);
    case RULE_CALL:
        values = arena_alloc(&e->arena, rule->n_args * sizeof *values);
        for (uint32_t i = 0; i < rule->n_args; i++)
            values[i] = rule_eval(e, args[i]);
        return e->failed ? rule_unknown : rule_call(e, rule, values);
    case RULE_BINARY:
        if (op <= RULE_AND)
            return eval_logic(e, rule);
        a = rule_eval(e, args[0]);
        b = rule_eval(e, args[1]);
        return op <= RULE_GT ? compare(e, op, &a, &b) : arithmetic(e, op, &a, &b);
    case RULE_NEGATE:
        a = rule_number(0);
        b = rule_eval(e, args[0]);
        return arithmetic(e, RULE_SUB, &a, &b);
    case RULE_NOT:
        a = rule_eval(e, args[0]);
        number = rule_as_number(&a);
        return number ? rule_number(!*number) : rule_unknown;
    case RULE_CHOICE:
        a = rule_eval(e, args[0]);
        number = rule_as_number(&a);
        return number ? rule_eval(e, args[*number ? 1 : 2]) : rule_unknown;
    case RULE_ELEMENT: return rule_number(e->element[rule->number]);
    case RULE_SPLICE:
    case RULE_RANGE: break;
    }
    return rule_unknown;
}
