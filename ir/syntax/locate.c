#include "ir/analysis/dep_graph.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/scanner.h"
#include "ir/syntax/spelling.h"

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

/* Begins at a construct, whose first token `found` becomes. Where nothing can be scanned, that is
 * the position itself, if there is any, and the result is false. The scanner takes no memory. */
static bool walk_begin(struct walk *walk, const struct module *module, uint32_t loc,
                       struct span *found)
{
    *found = no_span;
    if (loc == NONE || !module->source)
        return false;
    if (is_foreign(module)) {
        *found = source_token(module->source, loc);
        return false;
    }
    scanner_init(&walk->scanner, module->source, (struct module *)module, NULL);
    scanner_seek(&walk->scanner, loc);
    walk_next(walk);
    *found = scanner_span(&walk->scanner);
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
    for (uint32_t n = 0;
         walk->token == TOKEN_DTYPE || at_char(walk, '?') || at_keyword(walk, W_token); n++) {
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
    struct span found[OP_WHOLE + 1] = {{0, 0}};
    struct walk walk;
    if (!walk_begin(&walk, module, op->loc, &found[OP_WHOLE]))
        return found[OP_WHOLE];
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
    if (part == OP_RESULT_TYPE && !found[part].end)
        part = found[OP_RESULT].end ? OP_RESULT : OP_TYPE_NAME;
    return found[part];
}

/* Of a super kernel: its name where it has no such event. */
struct span locate_event_side(const struct module *module, const struct graph *graph,
                              const struct event_side *side, enum op_part part)
{
    struct walk walk;
    struct span name;
    if (side->op != NONE)
        return locate_op(module, &graph->ops.at[side->op], part, side->index);
    if (!walk_begin(&walk, module, graph->blocks.at[side->block].loc, &name))
        return name;
    walk_next(&walk);
    name = scanner_span(&walk.scanner);
    walk_next(&walk);
    walk_attrs(&walk);
    struct span found = walk_clause(&walk, W_send, ']', side->index);
    if (part != OP_SEND)
        found = walk_clause(&walk, W_recv, ']', side->index);
    return found.end ? found : name;
}

struct span locate_return(const struct module *module, const struct graph *graph, uint32_t index)
{
    struct walk walk;
    struct span found;
    if (!walk_begin(&walk, module, graph->return_loc, &found))
        return found;
    walk_next(&walk);
    return walk_list(&walk, '}', index);
}

struct span locate_token(const struct module *module, uint32_t loc)
{
    struct walk walk;
    struct span found;
    walk_begin(&walk, module, loc, &found);
    return found;
}

struct span locate_name(const struct module *module, uint32_t loc)
{
    struct walk walk;
    struct span first;
    if (walk_begin(&walk, module, loc, &first))
        for (int i = 0; i < 3 && !at_end(&walk); i++, walk_next(&walk))
            if (walk.token == TOKEN_SYMBOL || walk.token == TOKEN_STRING)
                return scanner_span(&walk.scanner);
    return first;
}

struct span locate_instr(const struct module *module, const struct instr *instr)
{
    struct walk walk;
    struct span span;
    if (!walk_begin(&walk, module, instr->loc, &span))
        return span;
    if (instr_info(instr->op)->effect == EFFECT_EVENT)
        walk_next(&walk); /* the event may have the name of an instruction */
    do
        walk_next(&walk);
    while (!at_end(&walk) && !at_char(&walk, '}') && walk.token != TOKEN_INSTR);
    span.end = walk.last.end;
    return span;
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
    struct span found;
    if (!walk_begin(&walk, module, param->loc, &found))
        return found;
    walk_next(&walk);
    return walk_types(&walk, 0);
}

struct span locate_graph_result(const struct module *module, const struct graph *graph,
                                uint32_t index)
{
    struct walk walk;
    struct span found;
    if (!walk_begin(&walk, module, graph->loc, &found))
        return found;
    while (!at_end(&walk) && walk.token != TOKEN_ARROW)
        walk_next(&walk);
    return walk_types(&walk, index);
}

struct span locate_name_in(const struct module *module, struct span span, uint32_t name)
{
    const struct intern_name *text = &module->names.names[name];
    struct walk walk;
    struct span at;
    if (!module->source || is_foreign(module) || span.end <= span.begin ||
        !walk_begin(&walk, module, span.begin, &at))
        return span;
    for (; !at_end(&walk); walk_next(&walk)) {
        at = scanner_span(&walk.scanner);
        if (at.end > span.end)
            break;
        if (at.end - at.begin == text->size &&
            memcmp(walk.scanner.start, text->text, text->size) == 0)
            return at;
    }
    return span;
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

struct span locate_listed(const struct module *module, uint32_t loc, uint32_t index)
{
    struct walk walk;
    struct span element, found;
    if (!walk_begin(&walk, module, loc, &found))
        return found;
    found = no_span;
    while (!at_end(&walk) && !at_char(&walk, '['))
        walk_next(&walk);
    for (uint32_t n = 0; n <= index && !at_end(&walk) && (n == 0 || at_char(&walk, ',')); n++) {
        walk_next(&walk);
        element = walk_element(&walk);
        if (n == index)
            found = element;
    }
    return found;
}

struct span locate_group(const struct module *module, const struct arg_group *group)
{
    struct walk walk;
    struct span args;
    if (!walk_begin(&walk, module, group->loc, &args))
        return args;
    walk_next(&walk);
    return at_char(&walk, '[') || at_end(&walk) ? args : scanner_span(&walk.scanner);
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

/* A part of the module; it ends where the next begins. */
struct part {
    uint32_t loc;
    struct range attrs;
    bool again; /* more of a construct that has another part */
};

struct parts {
    struct part *at;
    uint32_t count, capacity;
};

static void add(struct parts *parts, uint32_t loc, struct range attrs)
{
    if (loc != NONE)
        vec_push(parts, (struct part){loc, attrs, false});
}

static int compare(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

static void find_parts(struct parts *parts, const struct module *module)
{
    for (uint32_t i = 0; i < module->targets.count; i++)
        add(parts, module->targets.at[i].loc, module->targets.at[i].attrs);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        add(parts, module->kernels.at[i].loc, module->kernels.at[i].attrs);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        static const struct range none = {0, 0};
        add(parts, graph->loc, graph->attrs);
        uint32_t loc = graph->attrs.count ? module->attrs.at[graph->attrs.first].loc : NONE;
        if (loc != NONE) /* after its attributes are the types of its results */
            vec_push(parts, (struct part){loc, graph->attrs, true});
        for (uint32_t k = 0; k < graph->params.count; k++)
            add(parts, graph->params.at[k].loc, graph->params.at[k].attrs);
        for (uint32_t k = 0; k < graph->blocks.count; k++) {
            add(parts, graph->blocks.at[k].loc, graph->blocks.at[k].attrs);
            add(parts, graph->blocks.at[k].end_loc, none);
        }
        for (uint32_t k = 0; k < graph->ops.count; k++)
            add(parts, graph->ops.at[k].loc, graph->ops.at[k].attrs);
        add(parts, graph->return_loc, none);
        add(parts, graph->end_loc, none);
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        add(parts, module->entries.at[i].loc, module->entries.at[i].attrs);
    if (parts->count)
        qsort(parts->at, parts->count, sizeof *parts->at, compare);
}

/* ------------------------------------------------------------------------- origins ---- */

/* Whether a text is FILE:LINE. The file may have colons; the line is from 1. */
static bool is_place(const struct intern_name *text)
{
    const char *end = text->text + text->size, *digits = end;
    while (digits > text->text && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits < end && *digits != '0' && digits - text->text >= 2 && digits[-1] == ':';
}

/* The origin that attributes say, or NULL. */
static const struct intern_name *origin_of(const struct module *module, struct range attrs)
{
    uint32_t text = attr_string(module, attrs, W__loc);
    return text != NONE && is_place(&module->names.names[text]) ? &module->names.names[text] : NULL;
}

static bool has_origins(const struct module *module)
{
    for (uint32_t i = 0; module_may_have(module, W__loc) && i < module->attrs.count; i++)
        if (module->attrs.at[i].key == W__loc)
            return true;
    return false;
}

/* That of the part that a position is in. */
static struct diag_origin find_origin(const struct module *module, const struct parts *parts,
                                      struct span span)
{
    const struct intern_name *origin = NULL;
    uint32_t low = 0;
    if (span.end)
        bisect(low, i, parts->count, parts->at[i].loc <= span.begin);
    if (low)
        origin = origin_of(module, parts->at[low - 1].attrs);
    return origin ? (struct diag_origin){origin->text, origin->size}
                  : (struct diag_origin){NULL, 0};
}

void origins_mark(const struct module *module, struct diags *diags)
{
    struct parts parts = {NULL, 0, 0};
    if (diags->list.count == 0 || !has_origins(module))
        return;
    find_parts(&parts, module);
    for (uint32_t i = 0; i < diags->list.count; i++) {
        struct diag *diag = &diags->list.at[i];
        diag->origin = find_origin(module, &parts, diag->span);
        for (struct diag_note *note = diag->notes; note; note = note->next)
            note->origin = find_origin(module, &parts, note->span);
    }
    vec_free(&parts);
}

void origins_check(const struct module *module, struct diags *diags)
{
    struct parts parts = {NULL, 0, 0};
    if (!has_origins(module))
        return;
    find_parts(&parts, module);
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct attr *attr = attr_find(module, parts.at[i].attrs, W__loc);
        if (attr && !parts.at[i].again && !origin_of(module, parts.at[i].attrs) &&
            diag_at(diags, DIAG_location, locate_token(module, attr->loc),
                    "'_loc' is no place of a source"))
            diag_help(diags, "a place is written \"FILE:LINE\", with lines from 1");
    }
    vec_free(&parts);
}

void instr_numbers_free(struct instr_numbers *numbers)
{
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&numbers->locs[core]);
}

bool instr_is_added(const struct entry *entry, enum core_type core, uint32_t index)
{
    const struct program *program = &entry->programs[core];
    return program->loc != NONE && program->instrs.at[index].loc == NONE;
}

uint32_t instr_number(struct instr_numbers *numbers, enum core_type core, uint32_t index)
{
    const struct program *program = &numbers->entry->programs[core];
    struct vec_u32 *locs = &numbers->locs[core];
    struct walk walk;
    struct span first;
    if (!numbers->looked[core] && walk_begin(&walk, numbers->module, program->loc, &first)) {
        walk.scanner.in_program = true;
        for (; !at_end(&walk) && !at_char(&walk, '}'); walk_next(&walk)) {
            if (walk.token != TOKEN_INSTR && walk.token != TOKEN_EVENT_INSTR)
                continue;
            vec_push(locs, scanner_span(&walk.scanner).begin);
            if (walk.token == TOKEN_EVENT_INSTR)
                walk_next(&walk); /* the event may have the name of an instruction */
        }
    }
    numbers->looked[core] = true;
    if (program->loc == NONE || (locs->count == 0 && !instr_is_added(numbers->entry, core, index)))
        return index;
    while (index < program->instrs.count && program->instrs.at[index].loc == NONE)
        index++;
    if (index == program->instrs.count)
        return locs->count;
    uint32_t before; /* of the text's instructions */
    bisect(before, i, locs->count, locs->at[i] < program->instrs.at[index].loc);
    return before;
}

const char *instr_place_text(struct instr_numbers *numbers, enum core_type core, uint32_t index,
                             const char *part, struct arena *arena)
{
    const struct instr *instr = &numbers->entry->programs[core].instrs.at[index];
    const char *text = instr_text(numbers->module, numbers->entry, instr, arena);
    uint32_t number = instr_number(numbers, core, index);
    const char *type = core_type_name(core), *of = part ? " of " : "";
    part = part ? part : "";
    if (!instr_is_added(numbers->entry, core, index))
        return arena_printf(arena, "%s instruction %u (%s%s%s)", type, number, part, of, text);
    if (number == numbers->locs[core].count)
        return arena_printf(arena, "the '%s%s%s' of a pass at the end of the %s program", part, of,
                            text, type);
    return arena_printf(arena, "the '%s%s%s' of a pass before %s instruction %u", part, of, text,
                        type, number);
}
