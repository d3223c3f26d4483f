#include "ir/op_rule_types.h"

#include <stdio.h>
#include <string.h>

static const struct rule_function_info functions[RULE_FUNCTIONS] = {
#define FUNCTION(name, takes, gives, about) {#name, takes, RULE_IS_##gives},
#include "ir/op_functions.def"
#undef FUNCTION
};

const struct rule_function_info *rule_function_info(enum rule_function function)
{
    return &functions[function];
}

/* What is known of an expression. */
struct static_value {
    enum rule_type is;
    bool constant; /* it is `number`, whatever the op */
    int64_t number;
};

struct checker {
    const struct op_type *type;
    const struct rule_variables *variables;
    struct op_rule *rule;
    char *error;
    size_t error_size;
};

static bool check(struct checker *c, const struct rule *rule, struct static_value *value);

/* ------------------------------------------------------------------------- errors ---- */

static const char *const nouns[] = {
    [RULE_IS_NUMBER] = "a number", [RULE_IS_LIST] = "a list", [RULE_IS_TEXT] = "a text"};

static const char *text_of(const struct checker *c, const struct rule *rule)
{
    return c->rule->text + rule->begin;
}

#define EXPRESSION(c, rule) (int)((rule)->end - (rule)->begin), text_of(c, rule)

static bool fail(struct checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct checker *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->error, c->error_size, format, args);
    va_end(args);
    return false;
}

/* `wanted` for people, where that is not just what it is. */
static bool check_is(struct checker *c, const struct rule *rule, enum rule_type is,
                     const char *wanted, struct static_value *value)
{
    return check(c, rule, value) &&
           (value->is == is || fail(c, "'%.*s' is %s, not %s", EXPRESSION(c, rule),
                                    nouns[value->is], wanted ? wanted : nouns[is]));
}

/* A number or a list. */
static bool check_no_text(struct checker *c, const struct rule *rule, struct static_value *value)
{
    return check(c, rule, value) &&
           (value->is != RULE_IS_TEXT ||
            fail(c, "'%.*s' is a text, not a number or a list", EXPRESSION(c, rule)));
}

/* ------------------------------------------------------------------------- leaves ---- */

static bool check_attr(struct checker *c, const struct rule *rule, struct static_value *value)
{
    switch (c->type->attrs[rule->number].kind) {
    case OP_ATTR_INT:
    case OP_ATTR_BOOL: value->is = RULE_IS_NUMBER; return true;
    case OP_ATTR_STRING: value->is = RULE_IS_TEXT; return true;
    case OP_ATTR_INTS: value->is = RULE_IS_LIST; return true;
    case OP_ATTR_CONTENTS:
        return fail(c, "'%.*s' is what is in a tensor, not a number", EXPRESSION(c, rule));
    default: return fail(c, "'%.*s' has fractions, which rules do not", EXPRESSION(c, rule));
    }
}

/* New ones are only where the pattern binds them. */
static bool check_variable(struct checker *c, const struct rule *rule, struct static_value *value)
{
    if (rule->number >= c->variables->bound)
        return fail(c, "nothing says what '%s' is", rule->text);
    value->is = c->variables->lists[rule->number] ? RULE_IS_LIST : RULE_IS_NUMBER;
    return true;
}

/* -------------------------------------------------------------------------- lists ---- */

static bool check_list(struct checker *c, const struct rule *list, struct static_value *value)
{
    for (uint32_t i = 0; i < list->n_args; i++) {
        const struct rule *item = list->args[i];
        bool splice = item->kind == RULE_SPLICE;
        if (!check_is(c, splice ? item->args[0] : item, splice ? RULE_IS_LIST : RULE_IS_NUMBER,
                      NULL, value))
            return false;
    }
    *value = (struct static_value){.is = RULE_IS_LIST};
    return true;
}

/* A list that an operand binds variables with; of these at most one has any length. */
static bool check_pattern(struct checker *c, const struct rule *list)
{
    const struct rule *rest = NULL;
    struct static_value value;
    for (uint32_t i = 0; i < list->n_args; i++) {
        const struct rule *item = list->args[i];
        bool splice = item->kind == RULE_SPLICE;
        const struct rule *inner = splice ? item->args[0] : item;
        bool is_new =
            inner->kind == RULE_VARIABLE && (uint32_t)inner->number >= c->variables->bound;
        if (is_new && c->variables->lists[inner->number] != splice)
            return fail(c, "'%s' is both a dimension and several", inner->text);
        if (is_new && splice && rest)
            return fail(c, "'%.*s' and '%.*s' both have any length", EXPRESSION(c, rest),
                        EXPRESSION(c, item));
        if (is_new && splice)
            rest = item;
        if (!is_new && !check_is(c, inner, splice ? RULE_IS_LIST : RULE_IS_NUMBER, NULL, &value))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------- operators ---- */

/* The number of two constants. */
static bool fold(struct checker *c, const struct rule *rule, int64_t a, int64_t b, int64_t *number)
{
    bool overflow = false;
    switch (rule->number) {
    case RULE_ADD: overflow = __builtin_add_overflow(a, b, number); break;
    case RULE_SUB: overflow = __builtin_sub_overflow(a, b, number); break;
    case RULE_MUL: overflow = __builtin_mul_overflow(a, b, number); break;
    case RULE_DIV: *number = a / b - (a % b < 0); break;
    default: *number = a % b + (a % b < 0 ? b : 0); break;
    }
    return !overflow || fail(c, "'%.*s' does not fit 64 bits", EXPRESSION(c, rule));
}

static bool check_arithmetic(struct checker *c, const struct rule *rule, struct static_value *value)
{
    struct static_value left, right;
    if (!check_no_text(c, rule->args[0], &left) || !check_no_text(c, rule->args[1], &right))
        return false;
    bool divides = rule->number == RULE_DIV || rule->number == RULE_MOD;
    if (divides && right.constant && right.number <= 0)
        return fail(c, "'%.*s' divides by %lld", EXPRESSION(c, rule), (long long)right.number);
    bool list = left.is == RULE_IS_LIST || right.is == RULE_IS_LIST;
    *value = (struct static_value){.is = list ? RULE_IS_LIST : RULE_IS_NUMBER,
                                   .constant = left.constant && right.constant};
    return !value->constant || fold(c, rule, left.number, right.number, &value->number);
}

/* Texts are equal to texts or not; all else can be compared with all else. */
static bool check_comparison(struct checker *c, const struct rule *rule)
{
    struct static_value left, right;
    if (rule->number != RULE_EQ && rule->number != RULE_NE)
        return check_no_text(c, rule->args[0], &left) && check_no_text(c, rule->args[1], &right);
    if (!check(c, rule->args[0], &left) || !check(c, rule->args[1], &right))
        return false;
    return (left.is == RULE_IS_TEXT) == (right.is == RULE_IS_TEXT) ||
           fail(c, "'%.*s' compares %s with %s", EXPRESSION(c, rule), nouns[left.is],
                nouns[right.is]);
}

static bool check_binary(struct checker *c, const struct rule *rule, struct static_value *value)
{
    struct static_value side;
    if (rule->number >= RULE_ADD)
        return check_arithmetic(c, rule, value);
    *value = (struct static_value){.is = RULE_IS_NUMBER};
    if (rule->number > RULE_AND)
        return check_comparison(c, rule);
    return check_is(c, rule->args[0], RULE_IS_NUMBER, "a condition", &side) &&
           check_is(c, rule->args[1], RULE_IS_NUMBER, "a condition", &side);
}

static bool check_negation(struct checker *c, const struct rule *rule, struct static_value *value)
{
    if (!check_no_text(c, rule->args[0], value))
        return false;
    value->constant = value->constant && value->number != INT64_MIN;
    value->number = value->constant ? -value->number : 0;
    return true;
}

static bool check_choice(struct checker *c, const struct rule *rule, struct static_value *value)
{
    struct static_value which, other;
    if (!check_is(c, rule->args[0], RULE_IS_NUMBER, "a condition", &which) ||
        !check(c, rule->args[1], value) || !check(c, rule->args[2], &other))
        return false;
    value->constant = false;
    return value->is == other.is ||
           fail(c, "'%.*s' is %s, but '%.*s' is %s", EXPRESSION(c, rule->args[1]), nouns[value->is],
                EXPRESSION(c, rule->args[2]), nouns[other.is]);
}

/* ---------------------------------------------------------------------- functions ---- */

static bool check_slot(struct checker *c, const struct rule *arg, const char *function, char takes)
{
    if (arg->kind != RULE_SLOT)
        return fail(c, "'%s' is of an operand or result, not of '%.*s'", function,
                    EXPRESSION(c, arg));
    if (takes != 'e')
        return true;
    c->rule->each = true;
    bool listed = c->type->slots[arg->number].presence == OP_LISTED;
    return (listed && arg->number == c->rule->slot) ||
           fail(c, "'%s' is of the list that its rule is about, not of '%.*s'", function,
                EXPRESSION(c, arg));
}

static bool check_call(struct checker *c, const struct rule *rule, struct static_value *value)
{
    const struct rule_function_info *info = rule_function_info((enum rule_function)rule->number);
    const char *takes = info->takes;
    for (uint32_t i = 0; i < rule->n_args; i++) {
        bool ok = *takes == 'v'   ? check_no_text(c, rule->args[i], value)
                  : *takes == 'l' ? check_is(c, rule->args[i], RULE_IS_LIST, NULL, value)
                  : *takes == 'n' ? check_is(c, rule->args[i], RULE_IS_NUMBER, NULL, value)
                                  : check_slot(c, rule->args[i], info->name, *takes);
        if (!ok)
            return false;
        takes += takes[1] != '+' && takes[1] != '\0';
    }
    *value = (struct static_value){.is = info->gives};
    return true;
}

/* -------------------------------------------------------------------- expressions ---- */

static bool check(struct checker *c, const struct rule *rule, struct static_value *value)
{
    struct static_value inner;
    *value = (struct static_value){.is = RULE_IS_NUMBER};
    switch (rule->kind) {
    case RULE_NUMBER: *value = (struct static_value){RULE_IS_NUMBER, true, rule->number}; break;
    case RULE_TEXT: value->is = RULE_IS_TEXT; break;
    case RULE_SLOT: value->is = RULE_IS_LIST; break;
    case RULE_ATTR: return check_attr(c, rule, value);
    case RULE_VARIABLE: return check_variable(c, rule, value);
    case RULE_LIST: return check_list(c, rule, value);
    case RULE_SPLICE: assert(!"a list checks what is in it"); break;
    case RULE_INDEX:
        return check_is(c, rule->args[0], RULE_IS_LIST, NULL, &inner) &&
               check_is(c, rule->args[1], RULE_IS_NUMBER, NULL, &inner);
    case RULE_CALL: return check_call(c, rule, value);
    case RULE_BINARY: return check_binary(c, rule, value);
    case RULE_NEGATE: return check_negation(c, rule, value);
    case RULE_NOT: return check_is(c, rule->args[0], RULE_IS_NUMBER, "a condition", &inner);
    case RULE_CHOICE: return check_choice(c, rule, value);
    case RULE_ELEMENT: break;
    case RULE_RANGE: assert(!"check_contents has taken it"); break;
    }
    return true;
}

/* What stands behind "OPERAND =": a pattern, a list, or a choice of them. */
static bool check_operand(struct checker *c, const struct rule *rule)
{
    struct static_value value;
    if (rule->kind == RULE_LIST)
        return check_pattern(c, rule);
    if (rule->kind == RULE_CHOICE)
        return check_is(c, rule->args[0], RULE_IS_NUMBER, "a condition", &value) &&
               check_operand(c, rule->args[1]) && check_operand(c, rule->args[2]);
    return check_is(c, rule, RULE_IS_LIST, "a shape", &value);
}

/* What an element may be: a range, a list, a condition, or a choice of them. */
static bool check_contents(struct checker *c, const struct rule *rule)
{
    struct static_value value;
    if (rule->kind == RULE_RANGE)
        return check_is(c, rule->args[0], RULE_IS_NUMBER, NULL, &value) &&
               check_is(c, rule->args[1], RULE_IS_NUMBER, NULL, &value);
    if (rule->kind == RULE_CHOICE)
        return check_is(c, rule->args[0], RULE_IS_NUMBER, "a condition", &value) &&
               check_contents(c, rule->args[1]) && check_contents(c, rule->args[2]);
    return check_no_text(c, rule, &value);
}

bool op_rule_has_types(const struct op_type *type, const struct rule_variables *variables,
                       struct op_rule *rule, enum rule_use use, char *error, size_t error_size)
{
    struct checker c = {type, variables, rule, error, error_size};
    struct static_value value;
    if (use == RULE_FOR_CONTENTS && rule->slot == NONE)
        return check_contents(&c, rule->value);
    if (use == RULE_FOR_SHAPES && rule->slot < type->n_operands)
        return check_operand(&c, rule->value);
    if (rule->slot != NONE)
        return check_is(&c, rule->value, RULE_IS_LIST, "a shape", &value);
    return check_is(&c, rule->value, RULE_IS_NUMBER, use == RULE_FOR_SHAPES ? "a condition" : NULL,
                    &value);
}
