#include "ir/op_rules.h"
#include "ir/op_rule_types.h"

#include <stdio.h>
#include <string.h>

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
