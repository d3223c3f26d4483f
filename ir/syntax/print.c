/* The printer walks the module in the order of its items and writes canonical text. Comments of the
 * source are printed before the first line that begins after them; spellings of types are kept by
 * type id. It takes linear time.
 */
#include "ir/syntax/print.h"
#include "ir/core/invariants.h"
#include "ir/core/operands.h"
#include "ir/syntax/spelling.h"

struct printer {
    struct text *text;
    struct print_sink *sink; /* NULL: all text is kept */
    bool stopped;            /* the sink wants no more */
    bool without_graphs;
    const uint8_t *marked; /* by place in the order: what alone is printed; NULL: all is */
    bool after_include;    /* the last item was one */
    bool whole;            /* what came by includes is printed, and their lines are not */
    const struct module *module;
    const struct spans *comments; /* NULL: no comments, no blank lines of the source */
    uint32_t next_comment;
    /* Of a module that passes have changed: which comments have been printed, by their index. Only
     * those that stand directly above something are, with it. NULL: all are, in their order. */
    uint8_t *above;
    unsigned indent;
    bool after_open; /* the last line opened a block: no blank line may follow */
    /* Spelling of each type that was met: its place in type_texts by type id, of size 0 before. */
    struct type_text {
        size_t first, size;
    } * type_places;
    struct text type_texts;
};

/* ------------------------------------------------------------ lines and comments ---- */

enum { INDENT = 2, PIECE = 1 << 16 };

/* Hands the text to the sink, except for its last byte: a comment may yet join the line. */
static void flush_text(struct printer *printer)
{
    struct text *text = printer->text;
    assert(text->size > 0);
    size_t size = text->size - 1;
    printer->stopped = !printer->sink->take(printer->sink, text->at, size);
    text->at[0] = text->at[size];
    text->size = 1;
}

/* The end of what stands before `offset` in the source, blanks of its line left out. */
static const char *before_blanks(const struct printer *printer, uint32_t offset)
{
    const char *text = printer->module->source->text, *p = text + offset;
    while (p > text && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\r'))
        p--;
    return p;
}

/* Whether this position of the source is the first on its line but for blanks. */
static bool begins_line(const struct printer *printer, uint32_t offset)
{
    const char *p = before_blanks(printer, offset);
    return p == printer->module->source->text || p[-1] == '\n';
}

/* Whether a blank line stands before this position of the source. */
static bool blank_before(const struct printer *printer, uint32_t offset)
{
    const char *text = printer->module->source->text, *p = before_blanks(printer, offset);
    if (p == text || p[-1] != '\n')
        return false;
    p = before_blanks(printer, (uint32_t)(p - 1 - text));
    return p > text && p[-1] == '\n';
}

static void print_indent(struct printer *printer)
{
    static const char blanks[] = "                                ";
    for (unsigned n = printer->indent * INDENT; n > 0;) {
        unsigned part = n < sizeof blanks - 1 ? n : (unsigned)sizeof blanks - 1;
        text_bytes(printer->text, blanks, part);
        n -= part;
    }
}

static void print_blank(struct printer *printer)
{
    if (!printer->after_open && printer->text->size > 0)
        text_char(printer->text, '\n');
    printer->after_open = true; /* and no second one */
}

static void print_comment(struct printer *printer, struct span comment)
{
    const char *start = printer->module->source->text + comment.begin;
    size_t size = comment.end - comment.begin;
    while (size > 0 &&
           (start[size - 1] == ' ' || start[size - 1] == '\t' || start[size - 1] == '\r'))
        size--;
    text_bytes(printer->text, start, size);
    text_char(printer->text, '\n');
}

static bool print_comments(struct printer *printer, uint32_t offset, bool want_blank)
{
    bool own_line = false, joined = false;
    while (printer->next_comment < printer->comments->count &&
           printer->comments->at[printer->next_comment].begin < offset) {
        struct span comment = printer->comments->at[printer->next_comment++];
        assert(printer->next_comment == 1 ||
               comment.begin >= printer->comments->at[printer->next_comment - 2].end);
        if (!own_line && !joined && printer->text->size > 0 &&
            !begins_line(printer, comment.begin)) {
            printer->text->at[printer->text->size - 1] = ' ';
            print_comment(printer, comment);
            joined = true;
            continue;
        }
        if ((want_blank && !own_line) || blank_before(printer, comment.begin))
            print_blank(printer);
        print_indent(printer);
        print_comment(printer, comment);
        printer->after_open = false;
        own_line = true;
    }
    return own_line;
}

/* ------------------------------------------------------- what passes leave of comments ---- */

static uint32_t print_line_start(const struct printer *printer, uint32_t offset)
{
    const char *text = printer->module->source->text, *p = text + offset;
    while (p > text && p[-1] != '\n')
        p--;
    while (*p == ' ' || *p == '\t')
        p++;
    return (uint32_t)(p - text);
}

/* Whether the comment is a line by itself, and the next line begins with what is at `offset`. */
static bool is_above(const struct printer *printer, struct span comment, uint32_t offset)
{
    const char *p = before_blanks(printer, offset);
    return p > printer->module->source->text && p[-1] == '\n' &&
           p - 1 == printer->module->source->text + comment.end &&
           begins_line(printer, comment.begin);
}

/* The lines of comments directly above `loc`, each where it is printed first: a pass may have made
 * several things of what stood there. */
static void print_above(struct printer *printer, uint32_t loc)
{
    const struct spans *comments = printer->comments;
    uint32_t end, first, below = loc;
    bisect(end, i, comments->count, comments->at[i].begin < loc);
    first = end;
    while (first > 0 && is_above(printer, comments->at[first - 1], below))
        below = comments->at[--first].begin;
    for (; first < end; first++) {
        struct span comment = comments->at[first];
        /* A directive of a golden file is for that file alone. */
        bool directive = comment.end - comment.begin > 2 &&
                         printer->module->source->text[comment.begin + 2] == '!';
        if (printer->above[first] || directive)
            continue;
        printer->above[first] = 1;
        print_indent(printer);
        print_comment(printer, comment);
    }
}

/* ----------------------------------------------------------------------------- lines ---- */

static void print_line_begin(struct printer *printer, uint32_t loc, bool want_blank)
{
    bool commented = false;
    if (printer->sink && printer->text->size > PIECE)
        flush_text(printer);
    if (printer->comments && loc != NONE && !printer->above) {
        commented = print_comments(printer, loc, want_blank);
        want_blank = (want_blank && !commented) || blank_before(printer, loc);
    }
    if (want_blank)
        print_blank(printer);
    printer->after_open = false;
    if (printer->above && printer->comments && loc != NONE)
        print_above(printer, loc);
    print_indent(printer);
}

static void print_open(struct printer *printer)
{
    text_bytes(printer->text, "{\n", 2);
    printer->indent++;
    printer->after_open = true;
}

static void print_close(struct printer *printer, uint32_t end_loc)
{
    if (printer->comments && end_loc != NONE && !printer->above)
        print_comments(printer, end_loc, false);
    assert(printer->indent > 0);
    printer->indent--;
    printer->after_open = false;
    print_indent(printer);
    text_bytes(printer->text, "}\n", 2);
}

static void print_line_end(struct printer *printer)
{
    text_char(printer->text, '\n');
}

/* ---------------------------------------------------------- types and attributes ---- */

static void print_type(struct printer *printer, uint32_t type)
{
    expensive_assert(type < printer->module->types.count);
    struct type_text *place = &printer->type_places[type];
    if (place->size == 0) {
        place->first = printer->type_texts.size;
        spell_type(&printer->type_texts, printer->module, type);
        place->size = printer->type_texts.size - place->first;
    }
    text_bytes(printer->text, printer->type_texts.at + place->first, place->size);
}

static void print_attr_value(struct printer *printer, const struct attr_value *value);

static void print_attr(struct printer *printer, const struct attr *attr)
{
    spell_word(printer->text, printer->module, attr->key);
    if (attr->value.kind == ATTR_BOOL && attr->value.i)
        return;
    text_bytes(printer->text, " = ", 3);
    print_attr_value(printer, &attr->value);
}

static void print_dict(struct printer *printer, struct range attrs)
{
    text_char(printer->text, '{');
    for (uint32_t i = 0; i < attrs.count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        print_attr(printer, &printer->module->attrs.at[attrs.first + i]);
    }
    text_char(printer->text, '}');
}

static void print_list(struct printer *printer, const struct attr_value *list)
{
    text_char(printer->text, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        print_attr_value(printer, &printer->module->attr_values.at[list->first + i]);
    }
    text_char(printer->text, ']');
    if (list->count == 0 && list->first) {
        text_char(printer->text, ':');
        spell_word(printer->text, printer->module, list->first);
    }
}

static void print_attr_value(struct printer *printer, const struct attr_value *value)
{
    struct text *text = printer->text;
    const struct module *module = printer->module;
    switch ((enum attr_kind)value->kind) {
    case ATTR_INT: text_signed(text, value->i); break;
    case ATTR_FLOAT: text_double(text, value->f); break;
    case ATTR_BOOL:
        if (value->i)
            text_bytes(text, "true", 4);
        else
            text_bytes(text, "false", 5);
        break;
    case ATTR_STRING: {
        const struct intern_name *name = &module->names.names[value->id];
        spell_quoted(text, name->text, name->size);
        break;
    }
    case ATTR_WORD: spell_word(text, module, value->id); break;
    case ATTR_SYMBOL: spell_symbol(text, module, value->id); break;
    case ATTR_VALUE: spell_value(text, module, value->id); break;
    case ATTR_TYPE:
        if (printer->type_places)
            print_type(printer, value->id);
        else
            spell_type(text, module, value->id);
        break;
    case ATTR_LIST: print_list(printer, value); break;
    case ATTR_DICT: print_dict(printer, (struct range){value->first, value->count}); break;
    }
}

void spell_attr(struct text *text, const struct module *module, const struct attr *attr)
{
    struct printer printer = {.text = text, .module = module};
    print_attr(&printer, attr);
}

/* With a blank before it; nothing for no attributes. */
static void print_attrs(struct printer *printer, struct range attrs)
{
    if (attrs.count == 0)
        return;
    text_char(printer->text, ' ');
    print_dict(printer, attrs);
}

/* ------------------------------------------------------------------------ graphs ---- */

enum { MAX_COLUMN = 100 };

static void print_values(struct printer *printer, const struct graph *graph, const uint32_t *ids,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        spell_value(printer->text, printer->module, graph->values.at[ids[i]].name);
    }
}

static void print_result_types(struct printer *printer, const struct graph *graph,
                               struct range results)
{
    bool untyped = results.count && graph->values.at[results.first].type == NONE;
    if (results.count == 0 || untyped)
        return;
    text_bytes(printer->text, " : ", 3);
    if (results.count > 1)
        text_char(printer->text, '(');
    for (uint32_t i = 0; i < results.count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        print_type(printer, graph->values.at[results.first + i].type);
    }
    if (results.count > 1)
        text_char(printer->text, ')');
}

static void print_events(struct printer *printer, const struct graph *graph, const char *clause,
                         struct range events)
{
    if (events.count == 0)
        return;
    text_printf(printer->text, " %s [", clause);
    for (uint32_t i = 0; i < events.count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        spell_event(printer->text, printer->module, graph->refs.at[events.first + i]);
    }
    text_char(printer->text, ']');
}

static void print_clauses(struct printer *printer, const struct graph *graph, const struct op *op)
{
    const struct clauses *clauses = op_clauses(graph, op);
    if (op->kernel != NONE) {
        text_bytes(printer->text, " via ", 5);
        spell_symbol(printer->text, printer->module, op->kernel);
    }
    if (clauses->after.count) {
        text_string(printer->text, " after (");
        print_values(printer, graph, graph->refs.at + clauses->after.first, clauses->after.count);
        text_char(printer->text, ')');
    }
    print_events(printer, graph, "send", clauses->send);
    print_events(printer, graph, "recv", clauses->recv);
}

static void print_operands(struct printer *printer, const struct graph *graph, const struct op *op)
{
    if (!op_has_forms(graph, op)) {
        print_values(printer, graph, op_operands(graph, op), op->operands.count);
        return;
    }
    struct range forms = op_clauses(graph, op)->forms;
    for (uint32_t i = 0; i < forms.count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        spell_operand(printer->text, printer->module, graph, graph->forms.at[forms.first + i]);
    }
}

static void print_op(struct printer *printer, const struct graph *graph, const struct op *op)
{
    print_line_begin(printer, op->loc, false);
    for (uint32_t i = 0; i < op->results.count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        spell_value(printer->text, printer->module, graph->values.at[op->results.first + i].name);
    }
    if (op->results.count)
        text_bytes(printer->text, " = ", 3);
    /* Types that begin with a small letter are words of the language where they are not quoted. */
    const struct intern_name *type = &printer->module->names.names[op->type];
    if (type->size > 0 && type->text[0] >= 'a')
        spell_quoted(printer->text, type->text, type->size);
    else
        spell_word(printer->text, printer->module, op->type);
    text_char(printer->text, '(');
    print_operands(printer, graph, op);
    text_char(printer->text, ')');
    print_attrs(printer, op->attrs);
    print_result_types(printer, graph, op->results);
    if (op->kernel != NONE || op->clauses)
        print_clauses(printer, graph, op);
    print_line_end(printer);
}

static void print_block_open(struct printer *printer, const struct graph *graph,
                             const struct block *block)
{
    struct text *text = printer->text;
    print_line_begin(printer, block->loc, false);
    switch (block->kind) {
    case BLOCK_SCOPE_NONE: text_string(text, "scope none"); break;
    case BLOCK_STREAM: {
        const struct intern_name *label = &printer->module->names.names[block->name];
        text_string(text, "stream ");
        spell_quoted(text, label->text, label->size);
        break;
    }
    case BLOCK_SCOPE:
    case BLOCK_SUPERKERNEL:
    case BLOCK_SUPERKERNEL_REST:
        text_string(text, block->kind == BLOCK_SCOPE ? "scope " : "superkernel ");
        spell_symbol(text, printer->module, block_name(graph, block));
        break;
    }
    print_attrs(printer, block->attrs);
    print_events(printer, graph, "send", block->send);
    print_events(printer, graph, "recv", block->recv);
    text_char(text, ' ');
    print_open(printer);
}

/* Appends a part of the header, on a new line below the opening parenthesis where it is too long
 * for this one. */
struct wrap {
    size_t line;     /* where the current line begins in the text */
    unsigned column; /* of the continuation lines */
};

static void wrap_part(struct printer *printer, struct wrap *wrap, const struct text *part,
                      bool first)
{
    struct text *text = printer->text;
    if (!first)
        text_char(text, ',');
    if (!first && text->size - wrap->line + 1 + part->size + 1 > MAX_COLUMN) {
        text_char(text, '\n');
        wrap->line = text->size;
        for (unsigned i = 0; i < wrap->column; i++)
            text_char(text, ' ');
    } else if (!first) {
        text_char(text, ' ');
    }
    text_bytes(text, part->at, part->size);
}

static void print_params(struct printer *printer, const struct graph *graph, struct wrap *wrap)
{
    struct text part = {NULL, 0, 0}, *text = printer->text;
    for (uint32_t i = 0; i < graph->n_params; i++) {
        part.size = 0;
        printer->text = &part;
        spell_value(&part, printer->module, graph->values.at[i].name);
        text_bytes(&part, ": ", 2);
        print_type(printer, graph->values.at[i].type);
        print_attrs(printer, graph->params.at[i].attrs);
        printer->text = text;
        wrap_part(printer, wrap, &part, i == 0);
    }
    text_free(&part);
}

static void print_gear_values(struct printer *printer, const struct graph *graph,
                              struct range values)
{
    struct text *text = printer->text;
    text_char(text, '[');
    for (uint32_t i = 0; i < values.count; i++) {
        if (i)
            text_bytes(text, ", ", 2);
        text_signed(text, graph->gear_values.at[values.first + i]);
    }
    text_char(text, ']');
}

static void print_gears(struct printer *printer, const struct graph *graph)
{
    struct text *text = printer->text;
    text_printf(text, " gears %s (", graph->gear_mode == GEARS_ZIP ? "zip" : "product");
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct gear *gear = &graph->gears.at[i];
        if (i)
            text_bytes(text, ", ", 2);
        spell_word(text, printer->module, gear->name);
        text_string(text, " = ");
        print_gear_values(printer, graph, gear->values);
    }
    text_char(text, ')');
}

/* The result types, on a line of their own where they do not fit behind the parameters. */
static void print_results(struct printer *printer, const struct graph *graph, size_t line)
{
    struct text part = {NULL, 0, 0};
    bool list = graph->result_types.count != 1;
    text_string(&part, list ? "-> (" : "-> ");
    for (uint32_t i = 0; i < graph->result_types.count; i++) {
        if (i)
            text_bytes(&part, ", ", 2);
        spell_type(&part, printer->module, graph->result_types.at[i]);
    }
    text_string(&part, list ? ") " : " ");
    bool fits = printer->text->size - line + 1 + part.size + 1 <= MAX_COLUMN;
    text_string(printer->text, fits ? " " : "\n    ");
    text_bytes(printer->text, part.at, part.size);
    text_free(&part);
}

static void print_graph_header(struct printer *printer, const struct graph *graph)
{
    struct text *text = printer->text;
    struct wrap wrap = {text->size, 0};
    text_string(text, "graph ");
    spell_symbol(text, printer->module, graph->name);
    text_char(text, '(');
    wrap.column = (unsigned)(text->size - wrap.line);
    print_params(printer, graph, &wrap);
    text_char(text, ')');
    print_attrs(printer, graph->attrs);
    for (uint32_t i = 0; i < graph->dims.count; i++) {
        text_string(text, i ? ", " : " dims (");
        spell_word(text, printer->module, graph->dims.at[i].name);
    }
    if (graph->dims.count)
        text_char(text, ')');
    if (graph->gear_mode != GEARS_NONE)
        print_gears(printer, graph);
    print_results(printer, graph, wrap.line);
}

/* All comments up to its name stand above a graph: lines between the keyword and the name are none
 * of its own, so the place is one in the name. Of those that passes keep, none is within its
 * line. */
static uint32_t graph_loc(const struct printer *printer, const struct graph *graph)
{
    bool above = printer->above && printer->comments && graph->loc != NONE;
    return above ? print_line_start(printer, graph->loc) : graph->loc + (graph->loc != NONE);
}

static void print_cases(struct printer *printer, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->cases.count && !printer->stopped; i++) {
        const struct gear_case *row = &graph->cases.at[i];
        print_line_begin(printer, row->loc, false);
        print_gear_values(printer, graph, row->values);
        text_char(printer->text, ' ');
        spell_symbol(printer->text, printer->module, row->graph);
        print_line_end(printer);
    }
}

static void print_graph(struct printer *printer, const struct graph *graph)
{
    print_line_begin(printer, graph_loc(printer, graph), true);
    print_graph_header(printer, graph);
    print_open(printer);
    print_cases(printer, graph);
    for (uint32_t i = 0; i < graph->body.count && !printer->stopped; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        switch (item_kind(graph->body.at[i])) {
        case ITEM_OP: print_op(printer, graph, &graph->ops.at[id]); break;
        case ITEM_OPEN: print_block_open(printer, graph, &graph->blocks.at[id]); break;
        case ITEM_CLOSE: print_close(printer, graph->blocks.at[id].end_loc); break;
        }
    }
    if (graph->return_loc != NONE || graph->returns.count) {
        print_line_begin(printer, graph->return_loc, false);
        text_string(printer->text, graph->returns.count ? "return " : "return");
        print_values(printer, graph, graph->returns.at, graph->returns.count);
        print_line_end(printer);
    }
    print_close(printer, graph->end_loc);
}

/* ------------------------------------------------------------------------- items ---- */

static void print_target(struct printer *printer, const struct target *target)
{
    const struct intern_name *name = &printer->module->names.names[target->name];
    print_line_begin(printer, target->loc, true);
    text_string(printer->text, "target ");
    spell_quoted(printer->text, name->text, name->size);
    print_attrs(printer, target->attrs);
    print_line_end(printer);
}

static void print_include(struct printer *printer, const struct include *include)
{
    const struct intern_name *path = &printer->module->names.names[include->path];
    print_line_begin(printer, include->loc, !printer->after_include);
    text_string(printer->text, "include ");
    spell_quoted(printer->text, path->text, path->size);
    print_line_end(printer);
}

static void print_kernel(struct printer *printer, const struct kernel *kernel)
{
    print_line_begin(printer, kernel->loc, true);
    text_string(printer->text, "kernel ");
    spell_symbol(printer->text, printer->module, kernel->name);
    text_printf(printer->text, " : %s", kernel_type_info(kernel->type)->name);
    if (kernel->attrs.count == 0) {
        print_line_end(printer);
        return;
    }
    text_char(printer->text, ' ');
    print_open(printer);
    for (uint32_t i = 0; i < kernel->attrs.count; i++) {
        const struct attr *attr = &printer->module->attrs.at[kernel->attrs.first + i];
        print_line_begin(printer, attr->loc, false);
        print_attr(printer, attr);
        text_string(printer->text, i + 1 < kernel->attrs.count ? ",\n" : "\n");
    }
    print_close(printer, kernel->end_loc);
}

static void print_group(struct printer *printer, const struct entry *entry,
                        const struct arg_group *group)
{
    struct text *text = printer->text;
    print_line_begin(printer, group->loc, false);
    text_string(text, "args ");
    if (group->name != NONE) {
        spell_group(text, printer->module, group->name, group->word);
        text_string(text, " = ");
    }
    text_char(text, '[');
    for (uint32_t i = 0; i < group->args.count; i++) {
        if (i)
            text_bytes(text, ", ", 2);
        spell_arg(text, printer->module, entry, &entry->args.at[group->args.first + i]);
    }
    text_char(text, ']');
    print_line_end(printer);
}

static void print_program(struct printer *printer, const struct entry *entry, enum core_type core)
{
    const struct program *program = &entry->programs[core];
    print_line_begin(printer, program->loc, false);
    text_printf(printer->text, "%s ", core_type_name(core));
    print_open(printer);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        print_line_begin(printer, program->instrs.at[i].loc, false);
        spell_instr(printer->text, printer->module, entry, &program->instrs.at[i]);
        print_line_end(printer);
    }
    print_close(printer, program->end_loc);
}

static void print_entry(struct printer *printer, const struct entry *entry)
{
    print_line_begin(printer, entry->loc, true);
    text_string(printer->text, "entry ");
    spell_symbol(printer->text, printer->module, entry->name);
    text_printf(printer->text, " : %s", kernel_type_info(entry->type)->name);
    print_attrs(printer, entry->attrs);
    text_char(printer->text, ' ');
    print_open(printer);
    for (uint32_t i = 0; i < entry->groups.count; i++)
        print_group(printer, entry, &entry->groups.at[i]);
    /* In the order of the source, which comments follow; cube cores first where there is none. */
    const struct program *aic = &entry->programs[CORE_AIC], *aiv = &entry->programs[CORE_AIV];
    bool swapped = aic->present && aiv->present && aiv->loc < aic->loc;
    for (int i = 0; i < CORE_TYPES; i++) {
        enum core_type core = swapped ? (enum core_type)(1 - i) : (enum core_type)i;
        if (entry->programs[core].present)
            print_program(printer, entry, core);
    }
    print_close(printer, entry->end_loc);
}

static void print_element(struct printer *printer, uint64_t item)
{
    const struct module *module = printer->module;
    uint32_t index = order_index(item);
    switch (order_kind(item)) {
    case SYMBOL_KERNEL: print_kernel(printer, &module->kernels.at[index]); break;
    case SYMBOL_GRAPH:
        if (!printer->without_graphs)
            print_graph(printer, &module->graphs.at[index]);
        break;
    case SYMBOL_ENTRY: print_entry(printer, &module->entries.at[index]); break;
    case ORDER_TARGET: print_target(printer, &module->targets.at[index]); break;
    case ORDER_INCLUDE: print_include(printer, &module->includes.at[index]); break;
    }
}

/* Graphs and entries do not come by includes. */
static bool is_included(const struct module *module, uint64_t item)
{
    uint32_t index = order_index(item);
    switch (order_kind(item)) {
    case SYMBOL_KERNEL: return module_includes(module, module->kernels.at[index].loc);
    case ORDER_TARGET: return module_includes(module, module->targets.at[index].loc);
    case ORDER_INCLUDE: return module_includes(module, module->includes.at[index].loc);
    default: return false;
    }
}

/* What came by an include stands for its line, or the other way round. Comments are those of the
 * source itself. */
static void print_item(struct printer *printer, uint64_t item)
{
    const struct spans *comments = printer->comments;
    bool included = is_included(printer->module, item);
    if (printer->whole ? order_kind(item) == ORDER_INCLUDE : included)
        return;
    if (included)
        printer->comments = NULL;
    print_element(printer, item);
    printer->comments = comments;
    printer->after_include = order_kind(item) == ORDER_INCLUDE;
}

static void print_all(struct printer *printer)
{
    const struct module *module = printer->module;
    assert(!printer->comments || module->source->language == SOURCE_SKIR);
    expensive_assert(module_is_sound(module));
    printer->type_places = mem_calloc(module->types.count, sizeof *printer->type_places);
    print_line_begin(printer, module->loc, false);
    text_string(printer->text, "skir 1\n");
    for (uint32_t i = 0; i < module->order.count && !printer->stopped; i++)
        if (!printer->marked || printer->marked[i])
            print_item(printer, module->order.at[i]);
    assert(printer->indent == 0 || printer->stopped);
    if (printer->comments && !printer->above) {
        print_comments(printer, UINT32_MAX, false);
        if (module->source->tail) {
            text_char(printer->text, '/'); /* the byte that ends the program's text */
            text_bytes(printer->text, module->source->tail, module->source->tail_size);
        }
    }
    mem_free(printer->type_places);
    text_free(&printer->type_texts);
}

void print_module(struct text *text, const struct module *module, const struct spans *comments)
{
    struct printer printer = {.text = text, .module = module, .comments = comments};
    print_all(&printer);
}

/* The same with those comments that passes leave. */
static void print_above_all(struct printer *printer, const struct spans *comments)
{
    if (comments && comments->count > 0) {
        printer->comments = comments;
        printer->above = mem_calloc(comments->count, 1);
    }
    print_all(printer);
    mem_free(printer->above);
}

void print_changed_module(struct text *text, const struct module *module,
                          const struct spans *comments)
{
    struct printer printer = {.text = text, .module = module};
    print_above_all(&printer, comments);
}

void print_marked_module(struct text *text, const struct module *module,
                         const struct spans *comments, const uint8_t *marked)
{
    struct printer printer = {.text = text, .module = module, .marked = marked};
    print_above_all(&printer, comments);
}

void print_whole_module(struct text *text, const struct module *module,
                        const struct spans *comments)
{
    struct printer printer = {.text = text, .module = module, .whole = true};
    print_above_all(&printer, comments);
}

void print_without_graphs(struct text *text, const struct module *module,
                          const struct spans *comments)
{
    struct printer printer = {
        .text = text, .module = module, .whole = true, .without_graphs = true};
    print_above_all(&printer, comments);
}

bool print_module_to(struct print_sink *sink, const struct module *module,
                     const struct spans *comments)
{
    struct text text = {NULL, 0, 0};
    struct printer printer = {.text = &text, .sink = sink, .module = module, .comments = comments};
    print_all(&printer);
    bool complete = !printer.stopped && sink->take(sink, text.at, text.size);
    text_free(&text);
    return complete;
}
