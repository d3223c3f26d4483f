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

static void walk_begin(struct walk *walk, const struct module *module, uint32_t loc)
{
    scanner_init(&walk->scanner, module->source, (struct module *)module, NULL);
    scanner_seek(&walk->scanner, loc);
    walk_next(walk);
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

/* What a finder is asked for: a part by its number, and the text that it is to be. */
struct wanted {
    enum op_part part;
    uint32_t index;
    const struct intern_name *name;
    struct span in; /* where to look */
};

/* Finds a part of the construct that a walk is at. */
typedef struct span finder(struct walk *walk, const struct wanted *wanted);

/* Where nothing can be scanned, the position itself, if there is any. */
static struct span locate(const struct module *module, uint32_t loc, finder *find,
                          struct wanted wanted)
{
    struct walk walk;
    if (loc == NONE || !module->source)
        return no_span;
    if (is_foreign(module))
        return source_token(module->source, loc);
    walk_begin(&walk, module, loc);
    struct span found = find(&walk, &wanted);
    scanner_free(&walk.scanner);
    return found;
}

static struct span find_in_op(struct walk *walk, const struct wanted *wanted)
{
    struct span found[OP_WHOLE + 1] = {{0, 0}};
    enum op_part part = wanted->part;
    uint32_t index = wanted->index;
    found[OP_WHOLE] = scanner_span(&walk->scanner);
    if (walk->token == TOKEN_VALUE)
        found[OP_RESULT] = walk_list(walk, '=', index);
    found[OP_TYPE_NAME] = scanner_span(&walk->scanner);
    walk_next(walk);
    walk_next(walk);
    walk_operands(walk, index, found);
    walk_attrs(walk);
    found[OP_RESULT_TYPE] = walk_types(walk, index);
    if (at_keyword(walk, W_via)) {
        walk_next(walk);
        found[OP_KERNEL] = scanner_span(&walk->scanner);
        walk_next(walk);
    }
    found[OP_AFTER] = walk_clause(walk, W_after, ')', index);
    found[OP_SEND] = walk_clause(walk, W_send, ']', index);
    found[OP_RECV] = walk_clause(walk, W_recv, ']', index);
    found[OP_WHOLE].end = walk->last.end;
    if (part == OP_RESULT_TYPE && !found[part].end)
        part = found[OP_RESULT].end ? OP_RESULT : OP_TYPE_NAME;
    return found[part];
}

struct span locate_op(const struct module *module, const struct op *op, enum op_part part,
                      uint32_t index)
{
    return locate(module, op->loc, find_in_op, (struct wanted){.part = part, .index = index});
}

/* Of a super kernel: its name where it has no such event. */
static struct span find_block_event(struct walk *walk, const struct wanted *wanted)
{
    walk_next(walk);
    struct span name = scanner_span(&walk->scanner);
    walk_next(walk);
    walk_attrs(walk);
    struct span send = walk_clause(walk, W_send, ']', wanted->index);
    struct span found =
        wanted->part == OP_SEND ? send : walk_clause(walk, W_recv, ']', wanted->index);
    return found.end ? found : name;
}

struct span locate_event_side(const struct module *module, const struct graph *graph,
                              const struct event_side *side, enum op_part part)
{
    return side->op != NONE ? locate_op(module, &graph->ops.at[side->op], part, side->index)
                            : locate(module, graph->blocks.at[side->block].loc, find_block_event,
                                     (struct wanted){.part = part, .index = side->index});
}

static struct span find_return(struct walk *walk, const struct wanted *wanted)
{
    walk_next(walk);
    return walk_list(walk, '}', wanted->index);
}

struct span locate_return(const struct module *module, const struct graph *graph, uint32_t index)
{
    return locate(module, graph->return_loc, find_return, (struct wanted){.index = index});
}

static struct span find_token(struct walk *walk, const struct wanted *wanted)
{
    (void)wanted;
    return scanner_span(&walk->scanner);
}

struct span locate_token(const struct module *module, uint32_t loc)
{
    return locate(module, loc, find_token, (struct wanted){0});
}

static struct span find_name(struct walk *walk, const struct wanted *wanted)
{
    struct span first = scanner_span(&walk->scanner);
    (void)wanted;
    for (int i = 0; i < 3 && !at_end(walk); i++, walk_next(walk))
        if (walk->token == TOKEN_SYMBOL || walk->token == TOKEN_STRING)
            return scanner_span(&walk->scanner);
    return first;
}

struct span locate_name(const struct module *module, uint32_t loc)
{
    return locate(module, loc, find_name, (struct wanted){0});
}

/* Part OP_SEND: of an instruction for an event, which may have the name of an instruction. */
static struct span find_instr(struct walk *walk, const struct wanted *wanted)
{
    struct span span = scanner_span(&walk->scanner);
    if (wanted->part == OP_SEND)
        walk_next(walk);
    do
        walk_next(walk);
    while (!at_end(walk) && !at_char(walk, '}') && walk->token != TOKEN_INSTR);
    span.end = walk->last.end;
    return span;
}

struct span locate_instr(const struct module *module, const struct instr *instr)
{
    bool event = instr_info(instr->op)->effect == EFFECT_EVENT;
    return locate(module, instr->loc, find_instr,
                  (struct wanted){.part = event ? OP_SEND : OP_WHOLE});
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

static struct span find_param_type(struct walk *walk, const struct wanted *wanted)
{
    walk_next(walk);
    return walk_types(walk, wanted->index);
}

struct span locate_param_type(const struct module *module, const struct param *param)
{
    return locate(module, param->loc, find_param_type, (struct wanted){0});
}

static struct span find_graph_result(struct walk *walk, const struct wanted *wanted)
{
    while (!at_end(walk) && walk->token != TOKEN_ARROW)
        walk_next(walk);
    return walk_types(walk, wanted->index);
}

struct span locate_graph_result(const struct module *module, const struct graph *graph,
                                uint32_t index)
{
    return locate(module, graph->loc, find_graph_result, (struct wanted){.index = index});
}

static struct span find_text(struct walk *walk, const struct wanted *wanted)
{
    const struct intern_name *name = wanted->name;
    for (; !at_end(walk); walk_next(walk)) {
        struct span at = scanner_span(&walk->scanner);
        if (at.end > wanted->in.end)
            break;
        if (at.end - at.begin == name->size &&
            memcmp(walk->scanner.start, name->text, name->size) == 0)
            return at;
    }
    return wanted->in;
}

struct span locate_name_in(const struct module *module, struct span span, uint32_t name)
{
    if (!module->source || is_foreign(module) || span.end <= span.begin)
        return span;
    return locate(module, span.begin, find_text,
                  (struct wanted){.name = &module->names.names[name], .in = span});
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

/* The element of the first list from there on. */
static struct span find_listed(struct walk *walk, const struct wanted *wanted)
{
    struct span found = no_span;
    while (!at_end(walk) && !at_char(walk, '['))
        walk_next(walk);
    for (uint32_t n = 0; n <= wanted->index && !at_end(walk) && (n == 0 || at_char(walk, ','));
         n++) {
        walk_next(walk);
        struct span element = walk_element(walk);
        if (n == wanted->index)
            found = element;
    }
    return found;
}

struct span locate_listed(const struct module *module, uint32_t loc, uint32_t index)
{
    return locate(module, loc, find_listed, (struct wanted){.index = index});
}

static struct span find_group(struct walk *walk, const struct wanted *wanted)
{
    struct span span = scanner_span(&walk->scanner);
    (void)wanted;
    walk_next(walk);
    return at_char(walk, '[') || at_end(walk) ? span : scanner_span(&walk->scanner);
}

struct span locate_group(const struct module *module, const struct arg_group *group)
{
    return locate(module, group->loc, find_group, (struct wanted){0});
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

/* After its attributes stand the types of its results. */
static void add_head(struct parts *parts, const struct module *module, const struct graph *graph)
{
    add(parts, graph->loc, graph->attrs);
    uint32_t loc = graph->attrs.count ? module->attrs.at[graph->attrs.first].loc : NONE;
    if (loc != NONE)
        vec_push(parts, (struct part){loc, graph->attrs, true});
}

static void add_graph(struct parts *parts, const struct module *module, const struct graph *graph)
{
    static const struct range none = {0, 0};
    add_head(parts, module, graph);
    for (uint32_t i = 0; i < graph->params.count; i++)
        add(parts, graph->params.at[i].loc, graph->params.at[i].attrs);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        add(parts, graph->blocks.at[i].loc, graph->blocks.at[i].attrs);
        add(parts, graph->blocks.at[i].end_loc, none);
    }
    for (uint32_t i = 0; i < graph->ops.count; i++)
        add(parts, graph->ops.at[i].loc, graph->ops.at[i].attrs);
    add(parts, graph->return_loc, none);
    add(parts, graph->end_loc, none);
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
    for (uint32_t i = 0; i < module->graphs.count; i++)
        add_graph(parts, module, &module->graphs.at[i]);
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

/* The part that an offset is in, or NULL. */
static const struct part *part_at(const struct parts *parts, uint32_t offset)
{
    uint32_t low;
    bisect(low, i, parts->count, parts->at[i].loc <= offset);
    return low ? &parts->at[low - 1] : NULL;
}

static struct diag_origin find_origin(const struct module *module, const struct parts *parts,
                                      struct span span)
{
    const struct part *part = span.end ? part_at(parts, span.begin) : NULL;
    const struct intern_name *origin = part ? origin_of(module, part->attrs) : NULL;
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

/* Adds the positions of all instructions that the text has in a program. */
static void find_instrs(const struct module *module, const struct program *program,
                        struct vec_u32 *locs)
{
    struct walk walk;
    if (program->loc == NONE || !module->source || is_foreign(module))
        return;
    walk_begin(&walk, module, program->loc);
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

uint32_t instr_number(struct instr_numbers *numbers, enum core_type core, uint32_t index)
{
    const struct program *program = &numbers->entry->programs[core];
    struct vec_u32 *locs = &numbers->locs[core];
    if (!numbers->looked[core])
        find_instrs(numbers->module, program, locs);
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
