/* Rules are read in two steps: a parser by recursive descent makes trees of expressions, and a
 * check of types refuses those that cannot be right of any op, such as a division by a constant 0.
 * Both are linear in the rule's text, whose length and depth are bounded. */
#include "ir/optypes/op_rules.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------- types of expressions ---- */

static const struct rule_function_info functions[RULE_FUNCTIONS] = {
#define FUNCTION(name, takes, gives, about) {#name, takes, RULE_IS_##gives},
#include "ir/optypes/op_functions.def"
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

static bool misfit(struct checker *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool misfit(struct checker *c, const char *format, ...)
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
           (value->is == is || misfit(c, "'%.*s' is %s, not %s", EXPRESSION(c, rule),
                                      nouns[value->is], wanted ? wanted : nouns[is]));
}

/* A number or a list. */
static bool check_no_text(struct checker *c, const struct rule *rule, struct static_value *value)
{
    return check(c, rule, value) &&
           (value->is != RULE_IS_TEXT ||
            misfit(c, "'%.*s' is a text, not a number or a list", EXPRESSION(c, rule)));
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
        return misfit(c, "'%.*s' is what is in a tensor, not a number", EXPRESSION(c, rule));
    default: return misfit(c, "'%.*s' has fractions, which rules do not", EXPRESSION(c, rule));
    }
}

/* New ones are only where the pattern binds them. */
static bool check_variable(struct checker *c, const struct rule *rule, struct static_value *value)
{
    if (rule->number >= c->variables->bound)
        return misfit(c, "nothing says what '%s' is", rule->text);
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
            return misfit(c, "'%s' is both a dimension and several", inner->text);
        if (is_new && splice && rest)
            return misfit(c, "'%.*s' and '%.*s' both have any length", EXPRESSION(c, rest),
                          EXPRESSION(c, item));
        if (is_new && splice)
            rest = item;
        if (!is_new && !check_is(c, inner, splice ? RULE_IS_LIST : RULE_IS_NUMBER, NULL, &value))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------- operators ---- */

bool rule_fold(enum rule_operator op, int64_t a, int64_t b, int64_t *number)
{
    switch (op) {
    case RULE_ADD: return !__builtin_add_overflow(a, b, number);
    case RULE_SUB: return !__builtin_sub_overflow(a, b, number);
    case RULE_MUL: return !__builtin_mul_overflow(a, b, number);
    case RULE_DIV: *number = a / b - (a % b < 0); return true;
    default: *number = a % b + (a % b < 0 ? b : 0); return true;
    }
}

static bool check_arithmetic(struct checker *c, const struct rule *rule, struct static_value *value)
{
    struct static_value left, right;
    if (!check_no_text(c, rule->args[0], &left) || !check_no_text(c, rule->args[1], &right))
        return false;
    bool divides = rule->number == RULE_DIV || rule->number == RULE_MOD;
    if (divides && right.constant && right.number <= 0)
        return misfit(c, "'%.*s' divides by %lld", EXPRESSION(c, rule), (long long)right.number);
    bool list = left.is == RULE_IS_LIST || right.is == RULE_IS_LIST;
    *value = (struct static_value){.is = list ? RULE_IS_LIST : RULE_IS_NUMBER,
                                   .constant = left.constant && right.constant};
    return !value->constant ||
           rule_fold((enum rule_operator)rule->number, left.number, right.number, &value->number) ||
           misfit(c, "'%.*s' does not fit 64 bits", EXPRESSION(c, rule));
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
           misfit(c, "'%.*s' compares %s with %s", EXPRESSION(c, rule), nouns[left.is],
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
           misfit(c, "'%.*s' is %s, but '%.*s' is %s", EXPRESSION(c, rule->args[1]),
                  nouns[value->is], EXPRESSION(c, rule->args[2]), nouns[other.is]);
}

/* ---------------------------------------------------------------------- functions ---- */

static bool check_slot(struct checker *c, const struct rule *arg, const char *function, char takes)
{
    if (arg->kind != RULE_SLOT)
        return misfit(c, "'%s' is of an operand or result, not of '%.*s'", function,
                      EXPRESSION(c, arg));
    if (takes != 'e')
        return true;
    c->rule->each = true;
    bool listed = c->type->slots[arg->number].presence == OP_LISTED;
    return (listed && arg->number == c->rule->slot) ||
           misfit(c, "'%s' is of the list that its rule is about, not of '%.*s'", function,
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

/* Whether each expression of a rule is what its place takes, and none can but fail. Notes in the
 * rule what the evaluator needs. */
static bool op_rule_has_types(const struct op_type *type, const struct rule_variables *variables,
                              struct op_rule *rule, enum rule_use use, char *error,
                              size_t error_size)
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

/* -------------------------------------------------------------------- the parser ---- */

/* Recursive descent over one line of text. */
struct rule_parser {
    struct arena *arena;
    const struct op_type *type;
    const char *text; /* of the rule */
    const char *at;   /* the next token; blanks in front of it are skipped */
    const char *end;  /* of the last token */
    struct rule_variables *variables;
    bool binds;    /* in a list, names that nobody knows are new variables */
    bool contents; /* there are elements and ranges */
    unsigned depth;
    char *error;
    size_t error_size;
};

static struct rule *fail(struct rule_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static struct rule *fail(struct rule_parser *parser, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(parser->error, parser->error_size, format, args);
    va_end(args);
    return NULL;
}

/* ------------------------------------------------------------------------- tokens ---- */

/* At the end of a token. */
static void skip_blanks(struct rule_parser *parser)
{
    parser->end = parser->at;
    while (*parser->at == ' ')
        parser->at++;
}

static bool take(struct rule_parser *parser, const char *token)
{
    size_t size = strlen(token);
    if (strncmp(parser->at, token, size) != 0)
        return false;
    parser->at += size;
    skip_blanks(parser);
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t word_size(const char *text)
{
    size_t size = 0;
    while (is_letter(text[size]) || (size && is_digit(text[size])))
        size++;
    return size;
}

static struct rule *fail_here(struct rule_parser *parser, const char *wanted)
{
    return *parser->at ? fail(parser, "%s is missing before '%s'", wanted, parser->at)
                       : fail(parser, "%s is missing at the end", wanted);
}

/* -------------------------------------------------------------------------- nodes ---- */

static struct rule *node(struct rule_parser *parser, enum rule_kind kind, int64_t number,
                         uint32_t n_args)
{
    struct rule *rule = arena_alloc(parser->arena, sizeof *rule);
    *rule = (struct rule){.kind = kind, .n_args = n_args, .number = number};
    rule->args = arena_alloc(parser->arena, (n_args + 1) * sizeof *rule->args);
    return rule;
}

static struct rule *node_of(struct rule_parser *parser, enum rule_kind kind, int64_t number,
                            const struct rule *a, const struct rule *b)
{
    struct rule *rule = node(parser, kind, number, b ? 2 : 1);
    if (!a)
        return NULL;
    rule->args[0] = a;
    rule->args[1] = b;
    return rule;
}

/* Says where an expression stands, from `begin` to the last token. NULL stays NULL. */
static struct rule *placed(const struct rule_parser *parser, struct rule *rule, const char *begin)
{
    if (rule) {
        rule->begin = (uint32_t)(begin - parser->text);
        rule->end = (uint32_t)(parser->end - parser->text);
    }
    return rule;
}

static struct rule *parse_expr(struct rule_parser *parser);

bool rule_speaks_of(const struct rule *rule, enum rule_element element)
{
    bool found = rule->kind == RULE_ELEMENT &&
                 (element == RULE_ELEMENTS || rule->number == (int64_t)element);
    for (uint32_t i = 0; i < rule->n_args && !found; i++)
        found = rule_speaks_of(rule->args[i], element);
    return found;
}

/* -------------------------------------------------------------------------- names ---- */

static bool is_text(const char *known, const char *text, size_t size)
{
    return strlen(known) == size && memcmp(known, text, size) == 0;
}

/* Operands stand before results, whose names they may share. */
static uint32_t find_slot(const struct op_type *type, const char *name, size_t size)
{
    for (uint32_t i = 0; i < type->n_operands + type->n_results; i++)
        if (is_text(type->slots[i].name, name, size))
            return i;
    return NONE;
}

static uint32_t find_attr(const struct op_type *type, const char *name, size_t size)
{
    for (uint32_t i = 0; i < type->n_attrs; i++)
        if (is_text(type->attrs[i].name, name, size))
            return i;
    return NONE;
}

/* `item`: alone in a list, where it may be new; `list`: it stands for several dimensions. */
static struct rule *variable(struct rule_parser *parser, const char *name, size_t size, bool item,
                             bool list)
{
    struct rule_variables *variables = parser->variables;
    uint32_t i = 0;
    while (i < variables->count && !is_text(variables->names[i], name, size))
        i++;
    if (i >= variables->bound && !(parser->binds && item))
        return fail(parser, "nothing says what '%.*s' is", (int)size, name);
    if (i == MAX_RULE_VARIABLES)
        return fail(parser, "there are more than %d variables", MAX_RULE_VARIABLES);
    if (i == variables->count) {
        variables->lists[i] = list;
        variables->names[variables->count++] = arena_strndup(parser->arena, name, size);
    }
    struct rule *rule = node(parser, RULE_VARIABLE, i, 0);
    rule->text = variables->names[i];
    return rule;
}

/* RULE_ELEMENTS where a word names none. */
static uint32_t find_element(const char *name, size_t size)
{
    static const char *const names[RULE_ELEMENTS] = {
        [ELEMENT_VALUE] = "element",
        [ELEMENT_PLACE] = "place",
        [ELEMENT_BEFORE] = "before",
        [ELEMENT_SUM] = "sum",
    };
    uint32_t i = 0;
    while (i < RULE_ELEMENTS && !is_text(names[i], name, size))
        i++;
    return i;
}

static struct rule *parse_name(struct rule_parser *parser, bool item, bool list)
{
    const char *name = parser->at;
    size_t size = word_size(name);
    parser->at += size;
    skip_blanks(parser);
    if (is_text("true", name, size) || is_text("false", name, size))
        return node(parser, RULE_NUMBER, *name == 't', 0);
    uint32_t slot = find_slot(parser->type, name, size);
    if (slot != NONE)
        return node(parser, RULE_SLOT, slot, 0);
    uint32_t attr = find_attr(parser->type, name, size);
    if (attr != NONE)
        return node(parser, RULE_ATTR, attr, 0);
    uint32_t element = parser->contents ? find_element(name, size) : RULE_ELEMENTS;
    if (element < RULE_ELEMENTS)
        return node(parser, RULE_ELEMENT, element, 0);
    return variable(parser, name, size, item, list);
}

/* ---------------------------------------------------------------------- functions ---- */

/* Expressions up to a closing bracket, the opening one being read. */
static struct rule *parse_list(struct rule_parser *parser, struct rule *rule, const char *close,
                               struct rule *(*item)(struct rule_parser *parser))
{
    VEC(const struct rule *) items = {NULL, 0, 0};
    bool ok = true;
    if (!take(parser, close))
        do {
            struct rule *next = item(parser);
            ok = next != NULL;
            vec_push(&items, next);
        } while (ok && take(parser, ","));
    if (ok && items.count && !take(parser, close))
        ok = fail_here(parser, close) != NULL;
    if (ok && items.count) {
        rule->n_args = items.count;
        rule->args = arena_alloc(parser->arena, items.count * sizeof(items.at[0]));
        memcpy(rule->args, items.at, items.count * sizeof(items.at[0]));
    }
    vec_free(&items);
    return ok ? rule : NULL;
}

static struct rule *parse_call(struct rule_parser *parser, const char *name, size_t size)
{
    uint32_t function = 0;
    while (function < RULE_FUNCTIONS && !is_text(rule_function_info(function)->name, name, size))
        function++;
    if (function == RULE_FUNCTIONS)
        return fail(parser, "there is no function '%.*s'", (int)size, name);
    struct rule *call = parse_list(parser, node(parser, RULE_CALL, function, 0), ")", parse_expr);
    uint32_t wanted = (uint32_t)strcspn(rule_function_info(function)->takes, "+");
    bool more = rule_function_info(function)->takes[wanted] != '\0';
    if (call && (more ? call->n_args < wanted : call->n_args != wanted))
        return fail(parser, "'%s' takes %u argument%s, not %u", rule_function_info(function)->name,
                    wanted,
                    more          ? " or more"
                    : wanted == 1 ? ""
                                  : "s",
                    call->n_args);
    if (call && function == RULE_FN_contents && !parser->contents)
        return fail(parser, "'contents' is for rules of 'values'");
    return call;
}

/* ------------------------------------------------------------------------ primary ---- */

static struct rule *parse_number(struct rule_parser *parser)
{
    int64_t number = 0;
    for (; is_digit(*parser->at); parser->at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *parser->at - '0', &number))
            return fail(parser, "a number is too large");
    skip_blanks(parser);
    return node(parser, RULE_NUMBER, number, 0);
}

static struct rule *parse_text(struct rule_parser *parser)
{
    size_t size = strcspn(parser->at + 1, "'");
    struct rule *rule = node(parser, RULE_TEXT, 0, 0);
    rule->text = arena_strndup(parser->arena, parser->at + 1, size);
    parser->at += 1 + size;
    return take(parser, "'") ? rule : fail_here(parser, "'");
}

/* `..x`, or an expression; a name alone may be a new variable. */
static struct rule *parse_item(struct rule_parser *parser)
{
    const char *begin = parser->at;
    bool splice = take(parser, "..");
    const char *inner = parser->at;
    size_t size = word_size(parser->at);
    size_t blanks = strspn(parser->at + size, " ");
    struct rule *rule = size && strchr(",]", parser->at[size + blanks])
                            ? placed(parser, parse_name(parser, true, splice), inner)
                            : parse_expr(parser);
    return splice ? placed(parser, node_of(parser, RULE_SPLICE, 0, rule, NULL), begin) : rule;
}

static struct rule *parse_primary(struct rule_parser *parser)
{
    size_t size = word_size(parser->at);
    if (size && parser->at[size] == '(') {
        const char *name = parser->at;
        parser->at += size;
        take(parser, "(");
        return parse_call(parser, name, size);
    }
    if (size)
        return parse_name(parser, false, false);
    if (is_digit(*parser->at))
        return parse_number(parser);
    if (*parser->at == '\'')
        return parse_text(parser);
    if (take(parser, "["))
        return parse_list(parser, node(parser, RULE_LIST, 0, 0), "]", parse_item);
    if (!take(parser, "("))
        return fail_here(parser, "a value");
    struct rule *rule = parse_expr(parser);
    return !rule || take(parser, ")") ? rule : fail_here(parser, ")");
}

static struct rule *parse_postfix(struct rule_parser *parser)
{
    const char *begin = parser->at;
    struct rule *rule = placed(parser, parse_primary(parser), begin);
    while (rule && take(parser, "[")) {
        struct rule *place = parse_expr(parser);
        rule = place ? node_of(parser, RULE_INDEX, 0, rule, place) : NULL;
        if (rule && !take(parser, "]"))
            return fail_here(parser, "]");
        placed(parser, rule, begin);
    }
    return rule;
}

/* ---------------------------------------------------------------------- operators ---- */

static struct rule *parse_unary(struct rule_parser *parser)
{
    if (parser->depth == MAX_RULE_DEPTH)
        return fail(parser, "this is nested too deep");
    parser->depth++;
    const char *begin = parser->at;
    struct rule *rule;
    if (take(parser, "-"))
        rule = node_of(parser, RULE_NEGATE, 0, parse_unary(parser), NULL);
    else if (parser->at[0] == '!' && parser->at[1] != '=' && take(parser, "!"))
        rule = node_of(parser, RULE_NOT, 0, parse_unary(parser), NULL);
    else
        rule = parse_postfix(parser);
    parser->depth--;
    return placed(parser, rule, begin);
}

/* Those that begin alike stand in the order of their length. */
static const struct {
    const char *text;
    int level;
} operators[RULE_OPERATORS] = {
    [RULE_OR] = {"||", 0}, [RULE_AND] = {"&&", 1}, [RULE_EQ] = {"==", 2}, [RULE_NE] = {"!=", 2},
    [RULE_LE] = {"<=", 2}, [RULE_GE] = {">=", 2},  [RULE_LT] = {"<", 2},  [RULE_GT] = {">", 2},
    [RULE_ADD] = {"+", 3}, [RULE_SUB] = {"-", 3},  [RULE_MUL] = {"*", 4}, [RULE_DIV] = {"/", 4},
    [RULE_MOD] = {"%", 4},
};

static int take_operator(struct rule_parser *parser, int level)
{
    for (int i = 0; i < RULE_OPERATORS; i++)
        if (operators[i].level == level && take(parser, operators[i].text))
            return i;
    return RULE_OPERATORS;
}

static struct rule *parse_level(struct rule_parser *parser, int level)
{
    if (level > operators[RULE_MOD].level)
        return parse_unary(parser);
    const char *begin = parser->at;
    struct rule *rule = parse_level(parser, level + 1);
    for (int found; rule && (found = take_operator(parser, level)) != RULE_OPERATORS;) {
        struct rule *right = parse_level(parser, level + 1);
        rule =
            right ? placed(parser, node_of(parser, RULE_BINARY, found, rule, right), begin) : NULL;
    }
    return rule;
}

static struct rule *parse_any(struct rule_parser *parser, bool range)
{
    if (parser->depth == MAX_RULE_DEPTH)
        return fail(parser, "this is nested too deep");
    parser->depth++;
    const char *begin = parser->at;
    struct rule *rule = parse_level(parser, 0);
    if (rule && range && take(parser, "..")) {
        struct rule *high = parse_level(parser, 0);
        rule = high ? placed(parser, node_of(parser, RULE_RANGE, 0, rule, high), begin) : NULL;
    } else if (rule && take(parser, "?")) {
        struct rule *choice = node(parser, RULE_CHOICE, 0, 3);
        choice->args[0] = rule;
        choice->args[1] = parse_any(parser, range);
        bool colon = choice->args[1] && take(parser, ":");
        choice->args[2] = colon ? parse_any(parser, range) : NULL;
        if (choice->args[1] && !colon)
            rule = fail_here(parser, ":");
        else
            rule = choice->args[2] ? placed(parser, choice, begin) : NULL;
    }
    parser->depth--;
    return rule;
}

static struct rule *parse_expr(struct rule_parser *parser)
{
    return parse_any(parser, false);
}

/* -------------------------------------------------------------------------- rules ---- */

/* "SLOT =" in front of an expression; NONE where it does not stand there. */
static uint32_t take_slot(struct rule_parser *parser)
{
    size_t size = word_size(parser->at), blanks = strspn(parser->at + size, " ");
    const char *sign = parser->at + size + blanks;
    uint32_t slot = find_slot(parser->type, parser->at, size);
    if (slot == NONE || sign[0] != '=' || sign[1] == '=')
        return NONE;
    parser->at = sign;
    take(parser, "=");
    return slot;
}

bool op_rule_parse(struct arena *arena, const struct op_type *type, const char *text,
                   enum rule_use use, struct rule_variables *variables, struct op_rule *rule,
                   char *error, size_t error_size)
{
    struct rule_parser parser = {.arena = arena,
                                 .type = type,
                                 .text = text,
                                 .at = text,
                                 .variables = variables,
                                 .contents = use == RULE_FOR_CONTENTS,
                                 .error = error,
                                 .error_size = error_size};
    skip_blanks(&parser);
    *rule =
        (struct op_rule){.text = text, .slot = use == RULE_FOR_NUMBER ? NONE : take_slot(&parser)};
    parser.binds = use == RULE_FOR_SHAPES && rule->slot < type->n_operands;
    rule->value = strlen(text) > MAX_RULE_TEXT
                      ? fail(&parser, "a rule may have %d bytes", MAX_RULE_TEXT)
                      : parse_any(&parser, parser.contents && rule->slot == NONE);
    if (rule->value && *parser.at)
        rule->value = fail(&parser, "'%s' is too much", parser.at);
    bool right = rule->value && op_rule_has_types(type, variables, rule, use, error, error_size);
    variables->bound = variables->count;
    return right;
}
