#include "ir/syntax/locate.h"
#include "ir/event_sides.h"
#include "ir/syntax/scanner.h"

#include <string.h>

/* A scanner at a construct. Scanning again interns only texts that are interned already, so a
 * module that callers see as constant does not change. */
struct walk {
    struct scanner scanner;
    union token_value value;
    int token;
    struct span last; /* of the token before this one */
};

static void walk_next(struct walk *walk)
{
    walk->last = scanner_span(&walk->scanner);
    walk->token = scanner_next(&walk->scanner, &walk->value);
}

static bool is_foreign(const struct module *module)
{
    return module->source && module->source->language == SOURCE_FOREIGN;
}

/* Where nothing can be scanned: the position itself, if there is any. */
static struct span recorded(const struct module *module, uint32_t loc)
{
    return is_foreign(module) && loc != NONE ? source_token(module->source, loc) : no_span;
}

static bool walk_begin(struct walk *walk, const struct module *module, uint32_t loc)
{
    if (!module->source || module->source->language != SOURCE_SKIR || loc == NONE)
        return false;
    scanner_init(&walk->scanner, module->source, (struct module *)module, NULL);
    scanner_seek(&walk->scanner, loc);
    walk_next(walk);
    return true;
}

static bool at_char(const struct walk *walk, char c)
{
    return walk->token == c;
}

static bool at_end(const struct walk *walk)
{
    return walk->token == TOKEN_END || walk->token == TOKEN_ERROR;
}

static bool at_keyword(const struct walk *walk, uint32_t word)
{
    return walk->token == TOKEN_KEYWORD + (int)word;
}

/* The n-th token of a kind in a list up to a closing character; leaves the walk behind it. */
static struct span walk_list(struct walk *walk, char close, uint32_t index)
{
    struct span found = no_span;
    uint32_t n = 0;
    for (; !at_end(walk) && !at_char(walk, close); walk_next(walk)) {
        if (at_char(walk, ',') || at_char(walk, '(') || at_char(walk, '['))
            continue;
        if (n++ == index)
            found = scanner_span(&walk->scanner);
    }
    walk_next(walk);
    return found;
}

static void walk_attrs(struct walk *walk)
{
    if (walk->token != TOKEN_ATTR_BRACE && !at_char(walk, '{'))
        return;
    unsigned depth = 0;
    do {
        depth += walk->token == TOKEN_ATTR_BRACE || at_char(walk, '{');
        depth -= at_char(walk, '}');
        walk_next(walk);
    } while (depth > 0 && !at_end(walk));
}

static struct span walk_type(struct walk *walk)
{
    struct span span = scanner_span(&walk->scanner);
    if (at_keyword(walk, W_token)) {
        walk_next(walk);
        return span;
    }
    while (!at_end(walk) && !at_char(walk, ']'))
        walk_next(walk);
    walk_next(walk);
    if (at_char(walk, ':')) {
        walk_next(walk);
        walk_next(walk);
    }
    span.end = walk->last.end;
    return span;
}

static bool at_type(const struct walk *walk)
{
    return walk->token == TOKEN_DTYPE || at_char(walk, '?') || at_keyword(walk, W_token);
}

/* One type, or several in parentheses, behind a ':' or '->'. */
static struct span walk_types(struct walk *walk, uint32_t index)
{
    struct span found = no_span;
    if (!at_char(walk, ':') && walk->token != TOKEN_ARROW)
        return found;
    walk_next(walk);
    bool several = at_char(walk, '(');
    if (several)
        walk_next(walk);
    for (uint32_t n = 0; at_type(walk); n++) {
        struct span type = walk_type(walk);
        if (n == index)
            found = type;
        if (at_char(walk, ','))
            walk_next(walk);
    }
    if (several && at_char(walk, ')'))
        walk_next(walk);
    return found;
}

/* A value or a list of values, the `index`-th of which is `*value`; `*n_values` counts them. */
static struct span walk_values(struct walk *walk, uint32_t index, uint32_t *n_values,
                               struct span *value)
{
    struct span span = scanner_span(&walk->scanner);
    bool more = at_char(walk, '[');
    do {
        if (walk->token == TOKEN_VALUE && (*n_values)++ == index)
            *value = scanner_span(&walk->scanner);
        more = more && !at_char(walk, ']');
        walk_next(walk);
    } while (more && !at_end(walk));
    span.end = walk->last.end;
    return span;
}

/* Up to and with the closing parenthesis. */
static void walk_operands(struct walk *walk, uint32_t index, struct span *found)
{
    uint32_t n_values = 0;
    for (uint32_t place = 0; !at_end(walk) && !at_char(walk, ')'); place++) {
        struct span label = no_span, whole = scanner_span(&walk->scanner);
        bool word = walk->token != TOKEN_VALUE && !at_char(walk, '[');
        if (word)
            walk_next(walk);
        if (word && at_char(walk, '=')) {
            label = whole;
            walk_next(walk);
        }
        if (!word || label.end) /* else it is `none` */
            whole = walk_values(walk, index, &n_values, &found[OP_OPERAND]);
        if (place == index) {
            found[OP_PLACE] = whole;
            found[OP_LABEL] = label;
        }
        if (at_char(walk, ','))
            walk_next(walk);
    }
    walk_next(walk);
}

static struct span walk_clause(struct walk *walk, uint32_t keyword, char close, uint32_t index)
{
    if (!at_keyword(walk, keyword))
        return no_span;
    walk_next(walk);
    return walk_list(walk, close, index);
}

struct span locate_op(const struct module *module, const struct op *op, enum op_part part,
                      uint32_t index)
{
    struct walk walk;
    if (!walk_begin(&walk, module, op->loc))
        return recorded(module, op->loc);
    struct span found[OP_WHOLE + 1] = {{0, 0}};
    found[OP_WHOLE] = scanner_span(&walk.scanner);
    if (walk.token == TOKEN_VALUE)
        found[OP_RESULT] = walk_list(&walk, '=', index);
    found[OP_TYPE_NAME] = scanner_span(&walk.scanner);
    walk_next(&walk);
    walk_next(&walk);
    walk_operands(&walk, index, found);
    walk_attrs(&walk);
    found[OP_RESULT_TYPE] = walk_types(&walk, index);
    if (at_keyword(&walk, W_via)) {
        walk_next(&walk);
        found[OP_KERNEL] = scanner_span(&walk.scanner);
        walk_next(&walk);
    }
    found[OP_AFTER] = walk_clause(&walk, W_after, ')', index);
    found[OP_SEND] = walk_clause(&walk, W_send, ']', index);
    found[OP_RECV] = walk_clause(&walk, W_recv, ']', index);
    found[OP_WHOLE].end = walk.last.end;
    scanner_free(&walk.scanner);
    if (part == OP_RESULT_TYPE && !found[part].end)
        part = found[OP_RESULT].end ? OP_RESULT : OP_TYPE_NAME;
    return found[part];
}

struct span locate_block_event(const struct module *module, const struct block *block,
                               enum op_part part, uint32_t index)
{
    struct walk walk;
    if (!walk_begin(&walk, module, block->loc))
        return recorded(module, block->loc);
    walk_next(&walk);
    struct span name = scanner_span(&walk.scanner);
    walk_next(&walk);
    walk_attrs(&walk);
    struct span send = walk_clause(&walk, W_send, ']', index);
    struct span found = part == OP_SEND ? send : walk_clause(&walk, W_recv, ']', index);
    scanner_free(&walk.scanner);
    return found.end ? found : name;
}

struct span locate_event_side(const struct module *module, const struct graph *graph,
                              const struct event_side *side, enum op_part part)
{
    return side->op != NONE
               ? locate_op(module, &graph->ops.at[side->op], part, side->index)
               : locate_block_event(module, &graph->blocks.at[side->block], part, side->index);
}

struct span locate_return(const struct module *module, const struct graph *graph, uint32_t index)
{
    struct walk walk;
    if (!walk_begin(&walk, module, graph->return_loc))
        return recorded(module, graph->return_loc);
    walk_next(&walk);
    struct span found = walk_list(&walk, '}', index);
    scanner_free(&walk.scanner);
    return found;
}

struct span locate_token(const struct module *module, uint32_t loc)
{
    struct walk walk;
    if (!walk_begin(&walk, module, loc))
        return recorded(module, loc);
    scanner_free(&walk.scanner);
    return scanner_span(&walk.scanner);
}

struct span locate_name(const struct module *module, uint32_t loc)
{
    struct walk walk;
    if (!walk_begin(&walk, module, loc))
        return recorded(module, loc);
    struct span first = scanner_span(&walk.scanner);
    for (int i = 0; i < 3 && !at_end(&walk); i++) {
        if (walk.token == TOKEN_SYMBOL || walk.token == TOKEN_STRING) {
            first = scanner_span(&walk.scanner);
            break;
        }
        walk_next(&walk);
    }
    scanner_free(&walk.scanner);
    return first;
}

struct span locate_instr(const struct module *module, const struct instr *instr)
{
    struct walk walk;
    if (!walk_begin(&walk, module, instr->loc))
        return recorded(module, instr->loc);
    struct span span = scanner_span(&walk.scanner);
    if (instr_info(instr->op)->effect == EFFECT_EVENT)
        walk_next(&walk); /* the event may have the name of an instruction */
    do
        walk_next(&walk);
    while (!at_end(&walk) && !at_char(&walk, '}') && walk.token != TOKEN_INSTR);
    span.end = walk.last.end;
    scanner_free(&walk.scanner);
    return span;
}

void locate_instrs(const struct module *module, const struct program *program, struct vec_u32 *locs)
{
    struct walk walk;
    if (!walk_begin(&walk, module, program->loc))
        return;
    walk.scanner.in_program = true;
    for (; !at_end(&walk) && !at_char(&walk, '}'); walk_next(&walk)) {
        if (walk.token != TOKEN_INSTR && walk.token != TOKEN_EVENT_INSTR)
            continue;
        vec_push(locs, scanner_span(&walk.scanner).begin);
        if (walk.token == TOKEN_EVENT_INSTR)
            walk_next(&walk); /* the event may have the name of an instruction */
    }
    scanner_free(&walk.scanner);
}

struct span locate_value(const struct module *module, const struct graph *graph, uint32_t value)
{
    const struct value *v = &graph->values.at[value];
    if (v->def == DEF_PARAM)
        return locate_token(module, graph->params.at[value].loc);
    if (v->def == DEF_MISSING)
        return no_span;
    const struct op *op = &graph->ops.at[v->def];
    return locate_op(module, op, OP_RESULT, value - op->results.first);
}

struct span locate_param_type(const struct module *module, const struct param *param)
{
    struct walk walk;
    if (!walk_begin(&walk, module, param->loc))
        return recorded(module, param->loc);
    walk_next(&walk);
    struct span span = walk_types(&walk, 0);
    scanner_free(&walk.scanner);
    return span;
}

struct span locate_graph_result(const struct module *module, const struct graph *graph,
                                uint32_t index)
{
    struct walk walk;
    if (!walk_begin(&walk, module, graph->loc))
        return recorded(module, graph->loc);
    while (!at_end(&walk) && walk.token != TOKEN_ARROW)
        walk_next(&walk);
    struct span span = walk_types(&walk, index);
    scanner_free(&walk.scanner);
    return span;
}

struct span locate_name_in(const struct module *module, struct span span, uint32_t name)
{
    struct walk walk;
    const struct intern_name *text = &module->names.names[name];
    struct span found = span;
    if (is_foreign(module) || span.end <= span.begin || !walk_begin(&walk, module, span.begin))
        return span;
    for (struct span at = scanner_span(&walk.scanner); at.end <= span.end && !at_end(&walk);
         walk_next(&walk), at = scanner_span(&walk.scanner)) {
        if (at.end - at.begin == text->size &&
            memcmp(walk.scanner.start, text->text, text->size) == 0) {
            found = at;
            break;
        }
    }
    scanner_free(&walk.scanner);
    return found;
}

/* Leaves the walk behind the element. */
static struct span walk_element(struct walk *walk)
{
    struct span span = scanner_span(&walk->scanner);
    unsigned depth = 0;
    while (!at_end(walk) && (depth > 0 || !(at_char(walk, ',') || at_char(walk, ']')))) {
        depth += walk->token == TOKEN_ATTR_BRACE || at_char(walk, '{') || at_char(walk, '[');
        depth -= at_char(walk, '}') || at_char(walk, ']');
        walk_next(walk);
    }
    span.end = walk->last.end;
    return span;
}

/* The element of the first list at or behind `loc`. */
static struct span locate_listed(const struct module *module, uint32_t loc, uint32_t index)
{
    struct walk walk;
    struct span found = no_span;
    if (!walk_begin(&walk, module, loc))
        return recorded(module, loc);
    while (!at_end(&walk) && !at_char(&walk, '['))
        walk_next(&walk);
    for (uint32_t n = 0; n <= index && !at_end(&walk) && (n == 0 || at_char(&walk, ',')); n++) {
        walk_next(&walk);
        struct span element = walk_element(&walk);
        if (n == index)
            found = element;
    }
    scanner_free(&walk.scanner);
    return found;
}

struct span locate_group(const struct module *module, const struct arg_group *group)
{
    struct walk walk;
    if (!walk_begin(&walk, module, group->loc))
        return recorded(module, group->loc);
    struct span span = scanner_span(&walk.scanner);
    walk_next(&walk);
    if (!at_char(&walk, '[') && !at_end(&walk))
        span = scanner_span(&walk.scanner);
    scanner_free(&walk.scanner);
    return span;
}

struct span locate_arg(const struct module *module, const struct arg_group *group, uint32_t index)
{
    return locate_listed(module, group->loc, index);
}

struct span locate_element(const struct module *module, const struct attr *attr, uint32_t index)
{
    return locate_listed(module, attr->loc, index);
}

struct span locate_gear_value(const struct module *module, const struct gear *gear, uint32_t index)
{
    return locate_listed(module, gear->loc, index);
}

struct span locate_options(const struct module *module, const struct attr *attr)
{
    struct span key = locate_token(module, attr->loc);
    if (key.end == 0 || is_foreign(module))
        return key;
    struct span literal = locate_name(module, key.end);
    if (literal.end - literal.begin == (uint64_t)module->names.names[attr->value.id].size + 2)
        return (struct span){literal.begin + 1, literal.end - 1};
    return literal;
}

struct span locate_option(const struct module *module, const struct block *block,
                          enum sk_option option)
{
    const struct attr *attr = attr_find(module, block->attrs, W_options);
    if (!attr || attr->loc == NONE || attr->value.kind != ATTR_STRING)
        return locate_name(module, block->loc);
    const struct intern_name *text = &module->names.names[attr->value.id];
    const char *key = sk_options_find(text->text, text->size, option);
    struct span span = locate_options(module, attr);
    if (!key || is_foreign(module) || span.end - span.begin != text->size)
        return span;
    uint32_t begin = span.begin + (uint32_t)(key - text->text);
    return (struct span){begin, begin + (uint32_t)strlen(sk_option_key(option))};
}
