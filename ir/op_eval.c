#include "ir/op_eval.h"

#include <string.h>

/* ----------------------------------------------------------------------- operators ---- */

static struct rule_value arithmetic(struct evaluator *e, enum rule_operator op,
                                    const struct rule_value *a, const struct rule_value *b)
{
    if (a->kind == VALUE_NUMBER && b->kind == VALUE_NUMBER)
        return rule_dim_value(rule_arithmetic(e, op, a->number, b->number));
    if (a->kind != VALUE_LIST || b->kind != VALUE_LIST)
        return rule_unknown;
    if (a->count != b->count)
        return rule_fail_here(e, "lists differ in length");
    struct rule_value value = rule_list(e, a->count);
    for (uint32_t i = 0; i < value.count; i++)
        value.dims[i] = rule_arithmetic(e, op, a->dims[i], b->dims[i]);
    return value;
}

/* Lists are equal where they cannot but be, and differ where they cannot but do. */
static struct rule_value lists_equal(const struct rule_value *a, const struct rule_value *b)
{
    if (!rule_lists_agree(a, b))
        return rule_number(false);
    for (uint32_t i = 0; i < a->count; i++)
        if (!a->dims[i].known || !b->dims[i].known)
            return rule_unknown;
    return rule_number(true);
}

static struct rule_value is_equal(const struct rule_value *a, const struct rule_value *b)
{
    if (a->kind == VALUE_TEXT && b->kind == VALUE_TEXT)
        return rule_number(strcmp(a->text, b->text) == 0);
    if (a->kind == VALUE_LIST && b->kind == VALUE_LIST)
        return lists_equal(a, b);
    const int64_t *left = rule_as_number(a), *right = rule_as_number(b);
    return left && right ? rule_number(*left == *right) : rule_unknown;
}

static struct rule_value compare(enum rule_operator op, const struct rule_value *a,
                                 const struct rule_value *b)
{
    if (op == RULE_EQ || op == RULE_NE) {
        struct rule_value equal = is_equal(a, b);
        const int64_t *is = rule_as_number(&equal);
        return is ? rule_number(*is == (op == RULE_EQ)) : rule_unknown;
    }
    const int64_t *left = rule_as_number(a), *right = rule_as_number(b);
    if (!left || !right)
        return rule_unknown;
    switch (op) {
    case RULE_LT: return rule_number(*left < *right);
    case RULE_LE: return rule_number(*left <= *right);
    case RULE_GT: return rule_number(*left > *right);
    default: return rule_number(*left >= *right);
    }
}

/* One side may decide where the other is not known. */
static struct rule_value logic(enum rule_operator op, const struct rule_value *a,
                               const struct rule_value *b)
{
    const int64_t *left = rule_as_number(a), *right = rule_as_number(b);
    bool decides = op == RULE_OR;
    if ((left && (*left != 0) == decides) || (right && (*right != 0) == decides))
        return rule_number(decides);
    return left && right ? rule_number(!decides) : rule_unknown;
}

static struct rule_value eval_binary(struct evaluator *e, const struct rule *rule)
{
    enum rule_operator op = (enum rule_operator)rule->number;
    struct rule_value a = rule_eval(e, rule->args[0]), b = rule_eval(e, rule->args[1]);
    if (op <= RULE_AND)
        return logic(op, &a, &b);
    if (op <= RULE_GT)
        return compare(op, &a, &b);
    return arithmetic(e, op, &a, &b);
}

static struct rule_value eval_unary(struct evaluator *e, const struct rule *rule)
{
    struct rule_value value = rule_eval(e, rule->args[0]), zero = rule_number(0);
    const int64_t *number = rule_as_number(&value);
    if (!number)
        return rule_unknown;
    return rule->kind == RULE_NOT ? rule_number(!*number) : arithmetic(e, RULE_SUB, &zero, &value);
}

/* --------------------------------------------------------------------- expressions ---- */

static struct rule_value eval_call(struct evaluator *e, const struct rule *rule)
{
    struct rule_value *args = arena_alloc(&e->arena, rule->n_args * sizeof *args);
    for (uint32_t i = 0; i < rule->n_args; i++)
        args[i] = rule_eval(e, rule->args[i]);
    return e->failed ? rule_unknown : rule_call(e, rule, args);
}

static struct rule_value eval_index(struct evaluator *e, const struct rule *rule)
{
    struct rule_value list = rule_eval(e, rule->args[0]), place = rule_eval(e, rule->args[1]);
    uint32_t at = list.kind == VALUE_LIST ? rule_place(e, &place, list.count) : NONE;
    return at == NONE ? rule_unknown : rule_dim_value(list.dims[at]);
}

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
    struct rule_value out = rule_list(e, count);
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

static struct rule_value eval_choice(struct evaluator *e, const struct rule *rule)
{
    struct rule_value which = rule_eval(e, rule->args[0]);
    const int64_t *number = rule_as_number(&which);
    return number ? rule_eval(e, rule->args[*number ? 1 : 2]) : rule_unknown;
}

struct rule_value rule_eval(struct evaluator *e, const struct rule *rule)
{
    uint32_t tensor;
    switch (rule->kind) {
    case RULE_NUMBER: return rule_number(rule->number);
    case RULE_TEXT: return (struct rule_value){.kind = VALUE_TEXT, .text = rule->text};
    case RULE_SLOT:
        tensor = rule_tensor(e, (uint32_t)rule->number);
        return tensor == NONE ? rule_unknown : rule_shape(e, tensor);
    case RULE_ATTR: return rule_attr(e, &e->call->type->attrs[rule->number]);
    case RULE_VARIABLE: return e->bindings[rule->number].value;
    case RULE_LIST: return eval_list(e, rule);
    case RULE_SPLICE: return rule_unknown;
    case RULE_INDEX: return eval_index(e, rule);
    case RULE_CALL: return eval_call(e, rule);
    case RULE_BINARY: return eval_binary(e, rule);
    case RULE_NEGATE:
    case RULE_NOT: return eval_unary(e, rule);
    case RULE_CHOICE: return eval_choice(e, rule);
    case RULE_ELEMENT: return rule_number(e->element[rule->number]);
    case RULE_RANGE: break;
    }
    return rule_unknown;
}
