/* Rules are read in two steps: a parser by recursive descent makes trees of expressions, and a
 * check of types refuses those that cannot be right of any op, such as a division by a constant 0.
 * Both are linear in the rule's text, whose length and depth are bounded. */
#include "ir/optypes/op_rules.h"

#include <stdio.h>
#include <string.h>

static const struct rule_function_info functions[RULE_FUNCTIONS] = {
#define FUNCTION(name, takes, gives, about) {#name, takes, RULE_IS_##gives},
#include "ir/optypes/op_functions.def"
#undef FUNCTION
};

const struct rule_function_info *rule_function_info(enum rule_function function)
{
    return &functions[function];
}

/* Recursive descent over one line of text. */
struct rule_parser {
    struct arena *arena;
    const struct op_type *type;
    const char *text; /* of the rule */
    const char *at;   /* the next token; blanks in front of it are skipped */
    const char *end;  /* of the last token */
    struct op_rule *rule;
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t rule_word_size(const char *text)
{
    static const char bytes[] = "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return is_digit(*text) ? 0 : strspn(text, bytes);
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
    struct rule *rule = a ? node(parser, kind, number, b ? 2 : 1) : NULL;
    if (rule) {
        rule->args[0] = a;
        rule->args[1] = b;
    }
    return rule;
}

/* Notes where an expression is, from `begin` to the last token. NULL stays NULL. */
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

/* Operands come before results, whose names they may share. */
static uint32_t find_slot(const struct op_type *type, const char *name, size_t size)
{
    for (uint32_t i = 0; i < type->n_operands + type->n_results; i++)
        if (is_text(type->slots[i].name, name, size))
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

static struct rule *parse_name(struct rule_parser *parser, bool item, bool list)
{
    static const char *const elements[RULE_ELEMENTS] = {
        [ELEMENT_VALUE] = "element",
        [ELEMENT_PLACE] = "place",
        [ELEMENT_BEFORE] = "before",
        [ELEMENT_SUM] = "sum",
    };
    const char *name = parser->at;
    size_t size = rule_word_size(name);
    parser->at += size;
    skip_blanks(parser);
    if (is_text("true", name, size) || is_text("false", name, size))
        return node(parser, RULE_NUMBER, *name == 't', 0);
    uint32_t slot = find_slot(parser->type, name, size);
    if (slot != NONE)
        return node(parser, RULE_SLOT, slot, 0);
    const struct op_attr *attr = op_type_attr(parser->type, name, size);
    if (attr)
        return node(parser, RULE_ATTR, attr - parser->type->attrs, 0);
    for (uint32_t i = 0; parser->contents && i < RULE_ELEMENTS; i++)
        if (is_text(elements[i], name, size))
            return node(parser, RULE_ELEMENT, i, 0);
    return variable(parser, name, size, item, list);
}

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

/* ------------------------------------------------------------------------ primary ---- */

/* `..x`, or an expression; a name alone may be a new variable. */
static struct rule *parse_item(struct rule_parser *parser)
{
    const char *begin = parser->at;
    bool splice = take(parser, "..");
    const char *inner = parser->at;
    size_t size = rule_word_size(parser->at);
    size_t blanks = strspn(parser->at + size, " ");
    struct rule *rule = size && strchr(",]", parser->at[size + blanks])
                            ? placed(parser, parse_name(parser, true, splice), inner)
                            : parse_expr(parser);
    return splice ? placed(parser, node_of(parser, RULE_SPLICE, 0, rule, NULL), begin) : rule;
}

static struct rule *parse_call(struct rule_parser *parser)
{
    const char *name = parser->at;
    size_t size = rule_word_size(name);
    uint32_t function = 0;
    parser->at += size;
    take(parser, "(");
    while (function < RULE_FUNCTIONS && !is_text(functions[function].name, name, size))
        function++;
    if (function == RULE_FUNCTIONS)
        return fail(parser, "there is no function '%.*s'", (int)size, name);
    struct rule *call = parse_list(parser, node(parser, RULE_CALL, function, 0), ")", parse_expr);
    uint32_t wanted = (uint32_t)strcspn(functions[function].takes, "+");
    bool more = functions[function].takes[wanted] != '\0';
    if (call && (more ? call->n_args < wanted : call->n_args != wanted))
        return fail(parser, "'%s' takes %u argument%s, not %u", functions[function].name, wanted,
                    more          ? " or more"
                    : wanted == 1 ? ""
                                  : "s",
                    call->n_args);
    if (call && function == RULE_FN_contents && !parser->contents)
        return fail(parser, "'contents' is for rules of 'values'");
    return call;
}

static struct rule *parse_primary(struct rule_parser *parser)
{
    size_t size = rule_word_size(parser->at);
    struct rule *rule;
    if (size)
        return parser->at[size] == '(' ? parse_call(parser) : parse_name(parser, false, false);
    if (is_digit(*parser->at)) {
        int64_t number = 0;
        for (; is_digit(*parser->at); parser->at++)
            if (__builtin_mul_overflow(number, 10, &number) ||
                __builtin_add_overflow(number, *parser->at - '0', &number))
                return fail(parser, "a number is too large");
        skip_blanks(parser);
        return node(parser, RULE_NUMBER, number, 0);
    }
    if (*parser->at == '\'') {
        size = strcspn(parser->at + 1, "'");
        rule = node(parser, RULE_TEXT, 0, 0);
        rule->text = arena_strndup(parser->arena, parser->at + 1, size);
        parser->at += 1 + size;
        return take(parser, "'") ? rule : fail_here(parser, "'");
    }
    if (take(parser, "["))
        return parse_list(parser, node(parser, RULE_LIST, 0, 0), "]", parse_item);
    if (!take(parser, "("))
        return fail_here(parser, "a value");
    rule = parse_expr(parser);
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

/* Those that begin alike are in the order of their length. */
static const struct {
    const char *text;
    int level;
} operators[RULE_OPERATORS] = {
    [RULE_OR] = {"||", 0}, [RULE_AND] = {"&&", 1}, [RULE_EQ] = {"==", 2}, [RULE_NE] = {"!=", 2},
    [RULE_LE] = {"<=", 2}, [RULE_GE] = {">=", 2},  [RULE_LT] = {"<", 2},  [RULE_GT] = {">", 2},
    [RULE_ADD] = {"+", 3}, [RULE_SUB] = {"-", 3},  [RULE_MUL] = {"*", 4}, [RULE_DIV] = {"/", 4},
    [RULE_MOD] = {"%", 4},
};

static struct rule *parse_level(struct rule_parser *parser, int level)
{
    if (level > operators[RULE_MOD].level)
        return parse_unary(parser);
    const char *begin = parser->at;
    struct rule *rule = parse_level(parser, level + 1);
    for (int i = 0; rule && i < RULE_OPERATORS; i++)
        if (operators[i].level == level && take(parser, operators[i].text)) {
            struct rule *right = parse_level(parser, level + 1);
            rule = right ? node_of(parser, RULE_BINARY, i, rule, right) : NULL;
            placed(parser, rule, begin);
            i = -1; /* any of the level may follow */
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

/* ---------------------------------------------------------- types of expressions ---- */

/* What is known of an expression. */
struct static_value {
    enum rule_type is;
    bool constant; /* it is `number`, whatever the op */
    int64_t number;
};

static const char *const nouns[] = {
    [RULE_IS_NUMBER] = "a number", [RULE_IS_LIST] = "a list", [RULE_IS_TEXT] = "a text"};

/* An expression as arguments for "%.*s". */
#define EXPRESSION(rule) (int)((rule)->end - (rule)->begin), parser->text + (rule)->begin

static bool check(struct rule_parser *parser, const struct rule *rule, struct static_value *value);

/* `wanted` for people, where that is not just what it is. */
static bool check_is(struct rule_parser *parser, const struct rule *rule, enum rule_type is,
                     const char *wanted, struct static_value *value)
{
    return check(parser, rule, value) &&
           (value->is == is || fail(parser, "'%.*s' is %s, not %s", EXPRESSION(rule),
                                    nouns[value->is], wanted ? wanted : nouns[is]));
}

/* A number or a list. */
static bool check_no_text(struct rule_parser *parser, const struct rule *rule,
                          struct static_value *value)
{
    return check(parser, rule, value) &&
           (value->is != RULE_IS_TEXT ||
            fail(parser, "'%.*s' is a text, not a number or a list", EXPRESSION(rule)));
}

/* `binds`: an operand binds new variables with it; of these at most one has any length. */
static bool check_list(struct rule_parser *parser, const struct rule *list, bool binds)
{
    const struct rule *rest = NULL;
    struct static_value value;
    for (uint32_t i = 0; i < list->n_args; i++) {
        const struct rule *item = list->args[i];
        bool splice = item->kind == RULE_SPLICE;
        const struct rule *inner = splice ? item->args[0] : item;
        bool is_new = binds && inner->kind == RULE_VARIABLE &&
                      (uint32_t)inner->number >= parser->variables->bound;
        if (is_new && parser->variables->lists[inner->number] != splice)
            return fail(parser, "'%s' is both a dimension and several", inner->text);
        if (is_new && splice && rest)
            return fail(parser, "'%.*s' and '%.*s' both have any length", EXPRESSION(rest),
                        EXPRESSION(item));
        if (is_new && splice)
            rest = item;
        if (!is_new &&
            !check_is(parser, inner, splice ? RULE_IS_LIST : RULE_IS_NUMBER, NULL, &value))
            return false;
    }
    return true;
}

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

/* Texts are equal to texts or not; all else can be compared with all else. */
static bool check_binary(struct rule_parser *parser, const struct rule *rule,
                         struct static_value *value)
{
    const struct rule *a = rule->args[0], *b = rule->args[1];
    struct static_value left, right;
    if (rule->number <= RULE_AND)
        return check_is(parser, a, RULE_IS_NUMBER, "a condition", &left) &&
               check_is(parser, b, RULE_IS_NUMBER, "a condition", &right);
    if (rule->number == RULE_EQ || rule->number == RULE_NE)
        return check(parser, a, &left) && check(parser, b, &right) &&
               ((left.is == RULE_IS_TEXT) == (right.is == RULE_IS_TEXT) ||
                fail(parser, "'%.*s' compares %s with %s", EXPRESSION(rule), nouns[left.is],
                     nouns[right.is]));
    if (!check_no_text(parser, a, &left) || !check_no_text(parser, b, &right))
        return false;
    if (rule->number < RULE_ADD)
        return true;
    bool divides = rule->number == RULE_DIV || rule->number == RULE_MOD;
    if (divides && right.constant && right.number <= 0)
        return fail(parser, "'%.*s' divides by %lld", EXPRESSION(rule), (long long)right.number);
    bool list = left.is == RULE_IS_LIST || right.is == RULE_IS_LIST;
    *value = (struct static_value){.is = list ? RULE_IS_LIST : RULE_IS_NUMBER,
                                   .constant = left.constant && right.constant};
    return !value->constant ||
           rule_fold((enum rule_operator)rule->number, left.number, right.number, &value->number) ||
           fail(parser, "'%.*s' does not fit 64 bits", EXPRESSION(rule));
}

static bool check_slot(struct rule_parser *parser, const struct rule *arg, const char *function,
                       char takes)
{
    if (arg->kind != RULE_SLOT)
        return fail(parser, "'%s' is of an operand or result, not of '%.*s'", function,
                    EXPRESSION(arg));
    if (takes != 'e')
        return true;
    parser->rule->each = true;
    bool listed = parser->type->slots[arg->number].presence == OP_LISTED;
    return (listed && arg->number == parser->rule->slot) ||
           fail(parser, "'%s' is of the list that its rule is about, not of '%.*s'", function,
                EXPRESSION(arg));
}

static bool check_call(struct rule_parser *parser, const struct rule *rule,
                       struct static_value *value)
{
    const struct rule_function_info *info = rule_function_info((enum rule_function)rule->number);
    const char *takes = info->takes;
    for (uint32_t i = 0; i < rule->n_args; i++) {
        const struct rule *arg = rule->args[i];
        bool ok = *takes == 'v'   ? check_no_text(parser, arg, value)
                  : *takes == 'l' ? check_is(parser, arg, RULE_IS_LIST, NULL, value)
                  : *takes == 'n' ? check_is(parser, arg, RULE_IS_NUMBER, NULL, value)
                                  : check_slot(parser, arg, info->name, *takes);
        if (!ok)
            return false;
        takes += takes[1] != '+' && takes[1] != '\0';
    }
    *value = (struct static_value){.is = info->gives};
    return true;
}

/* Whether each part of an expression is what its place takes, and none can but fail. */
static bool check(struct rule_parser *parser, const struct rule *rule, struct static_value *value)
{
    struct static_value other;
    *value = (struct static_value){.is = RULE_IS_NUMBER};
    switch (rule->kind) {
    case RULE_NUMBER: *value = (struct static_value){RULE_IS_NUMBER, true, rule->number}; break;
    case RULE_TEXT: value->is = RULE_IS_TEXT; break;
    case RULE_SLOT: value->is = RULE_IS_LIST; break;
    case RULE_ATTR:
        switch (parser->type->attrs[rule->number].kind) {
        case OP_ATTR_INT:
        case OP_ATTR_BOOL: break;
        case OP_ATTR_STRING: value->is = RULE_IS_TEXT; break;
        case OP_ATTR_INTS: value->is = RULE_IS_LIST; break;
        case OP_ATTR_CONTENTS:
            return fail(parser, "'%.*s' is what is in a tensor, not a number", EXPRESSION(rule));
        default: return fail(parser, "'%.*s' has fractions, which rules do not", EXPRESSION(rule));
        }
        break;
    case RULE_VARIABLE: /* new ones are only where an operand binds them */
        if (rule->number >= parser->variables->bound)
            return fail(parser, "nothing says what '%s' is", rule->text);
        value->is = parser->variables->lists[rule->number] ? RULE_IS_LIST : RULE_IS_NUMBER;
        break;
    case RULE_LIST: value->is = RULE_IS_LIST; return check_list(parser, rule, false);
    case RULE_INDEX:
        return check_is(parser, rule->args[0], RULE_IS_LIST, NULL, &other) &&
               check_is(parser, rule->args[1], RULE_IS_NUMBER, NULL, &other);
    case RULE_CALL: return check_call(parser, rule, value);
    case RULE_BINARY: return check_binary(parser, rule, value);
    case RULE_NEGATE:
        if (!check_no_text(parser, rule->args[0], value))
            return false;
        value->constant = value->constant && value->number != INT64_MIN;
        value->number = value->constant ? -value->number : 0;
        break;
    case RULE_NOT: return check_is(parser, rule->args[0], RULE_IS_NUMBER, "a condition", &other);
    case RULE_CHOICE:
        if (!check_is(parser, rule->args[0], RULE_IS_NUMBER, "a condition", &other) ||
            !check(parser, rule->args[1], value) || !check(parser, rule->args[2], &other))
            return false;
        value->constant = false;
        return value->is == other.is ||
               fail(parser, "'%.*s' is %s, but '%.*s' is %s", EXPRESSION(rule->args[1]),
                    nouns[value->is], EXPRESSION(rule->args[2]), nouns[other.is]);
    case RULE_ELEMENT: break;
    case RULE_SPLICE:
    case RULE_RANGE: assert(!"check_list and check_arms have taken it"); break;
    }
    return true;
}

/* What follows "OPERAND =": a list that binds variables, a shape, or a choice of them. What an
 * element may be: a range, a list, a condition, or a choice of them. */
static bool check_arms(struct rule_parser *parser, const struct rule *rule)
{
    struct static_value value;
    if (rule->kind == RULE_CHOICE)
        return check_is(parser, rule->args[0], RULE_IS_NUMBER, "a condition", &value) &&
               check_arms(parser, rule->args[1]) && check_arms(parser, rule->args[2]);
    if (rule->kind == RULE_RANGE)
        return check_is(parser, rule->args[0], RULE_IS_NUMBER, NULL, &value) &&
               check_is(parser, rule->args[1], RULE_IS_NUMBER, NULL, &value);
    if (parser->contents)
        return check_no_text(parser, rule, &value);
    return rule->kind == RULE_LIST ? check_list(parser, rule, true)
                                   : check_is(parser, rule, RULE_IS_LIST, "a shape", &value);
}

/* -------------------------------------------------------------------------- rules ---- */

bool op_rule_parse(struct arena *arena, const struct op_type *type, const char *text,
                   enum rule_use use, struct rule_variables *variables, struct op_rule *rule,
                   char *error, size_t error_size)
{
    struct rule_parser parser = {.arena = arena,
                                 .type = type,
                                 .text = text,
                                 .at = text,
                                 .rule = rule,
                                 .variables = variables,
                                 .contents = use == RULE_FOR_CONTENTS,
                                 .error = error,
                                 .error_size = error_size};
    struct static_value value;
    *rule = (struct op_rule){.text = text, .slot = NONE};
    skip_blanks(&parser);
    size_t size = rule_word_size(parser.at);
    const char *sign = parser.at + size + strspn(parser.at + size, " ");
    if (use != RULE_FOR_NUMBER && sign[0] == '=' && sign[1] != '=')
        rule->slot = find_slot(type, parser.at, size);
    if (rule->slot != NONE) {
        parser.at = sign;
        take(&parser, "=");
    }
    parser.binds = use == RULE_FOR_SHAPES && rule->slot < type->n_operands;
    bool arms = parser.binds || (parser.contents && rule->slot == NONE);
    rule->value = strlen(text) > MAX_RULE_TEXT
                      ? fail(&parser, "a rule may have %d bytes", MAX_RULE_TEXT)
                      : parse_any(&parser, parser.contents && rule->slot == NONE);
    if (rule->value && *parser.at)
        rule->value = fail(&parser, "'%s' is too much", parser.at);
    bool right = rule->value != NULL;
    if (right && arms)
        right = check_arms(&parser, rule->value);
    else if (right && rule->slot != NONE)
        right = check_is(&parser, rule->value, RULE_IS_LIST, "a shape", &value);
    else if (right)
        right = check_is(&parser, rule->value, RULE_IS_NUMBER,
                         use == RULE_FOR_SHAPES ? "a condition" : NULL, &value);
    variables->bound = variables->count;
    return right;
}
