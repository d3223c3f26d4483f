#include "ir/syntax/print.h"
#include "ir/syntax/spelling.h"

enum { INDENT = 2, MAX_COLUMN = 100, PIECE = 1 << 16 };

struct printer {
    struct text *text;
    struct print_sink *sink; /* NULL: all text is kept */
    bool stopped;            /* the sink wants no more */
    const struct module *module;
    const struct spans *comments; /* NULL: no comments, no blank lines of the source */
    uint32_t next_comment;
    unsigned indent;
    bool after_open; /* the last line opened a block: no blank line may follow */
    /* Spelling of each type that was met: its place in type_texts by type id, of size 0 for none. */
    struct type_text {
        size_t first, size;
    } * type_places;
    struct text type_texts;
};

/* Hands the text to the sink, except for its last byte: a comment may yet join the line. */
static void flush_text(struct printer *printer)
{
    struct text *text = printer->text;
    size_t size = text->size - 1;
    printer->stopped = !printer->sink->take(printer->sink, text->at, size);
    text->at[0] = text->at[size];
    text->size = 1;
}

/* ------------------------------------------------------------------------- line work ---- */

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

/* Prints the comments before `offset`: one that trails joins the line above, unless that line is a
 * comment itself. Returns whether any comment got its own line. */
static bool flush_comments(struct printer *printer, uint32_t offset, bool want_blank)
{
    bool own_line = false, joined = false;
    while (printer->next_comment < printer->comments->count &&
           printer->comments->at[printer->next_comment].begin < offset) {
        struct span comment = printer->comments->at[printer->next_comment++];
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

/* Begins the line of what stands at `loc` in the source. */
static void line_begin(struct printer *printer, uint32_t loc, bool want_blank)
{
    bool commented = false;
    if (printer->sink && printer->text->size > PIECE)
        flush_text(printer);
    if (printer->comments && loc != NONE) {
        commented = flush_comments(printer, loc, want_blank);
        want_blank = (want_blank && !commented) || blank_before(printer, loc);
    }
    if (want_blank)
        print_blank(printer);
    printer->after_open = false;
    print_indent(printer);
}

static void line_end(struct printer *printer)
{
    text_char(printer->text, '\n');
}

static void block_open(struct printer *printer)
{
    text_bytes(printer->text, "{\n", 2);
    printer->indent++;
    printer->after_open = true;
}

static void block_close(struct printer *printer, uint32_t end_loc)
{
    if (printer->comments && end_loc != NONE)
        flush_comments(printer, end_loc, false);
    printer->indent--;
    printer->after_open = false;
    print_indent(printer);
    text_bytes(printer->text, "}\n", 2);
}

/* ----------------------------------------------------------------- types, attributes ---- */

static void print_type(struct printer *printer, uint32_t type)
{
    struct type_text *place = &printer->type_places[type];
    struct text *texts = &printer->type_texts;
    if (place->size == 0) {
        place->first = texts->size;
        spell_type(texts, printer->module, type);
        place->size = texts->size - place->first;
    }
    text_bytes(printer->text, texts->at + place->first, place->size);
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
    case ATTR_TYPE: print_type(printer, value->id); break;
    case ATTR_LIST: print_list(printer, value); break;
    case ATTR_DICT: print_dict(printer, (struct range){value->first, value->count}); break;
    }
}

/* With a blank before it; nothing for no attributes. */
static void print_attrs(struct printer *printer, struct range attrs)
{
    if (attrs.count == 0)
        return;
    text_char(printer->text, ' ');
    print_dict(printer, attrs);
}

/* ---------------------------------------------------------------------------- graphs ---- */

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
    if (results.count == 0)
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

/* Event names: words, or integers as they were written. */
static void print_events(struct printer *printer, const struct graph *graph, const char *clause,
                         struct range events)
{
    if (events.count == 0)
        return;
    text_printf(printer->text, " %s [", clause);
    for (uint32_t i = 0; i < events.count; i++) {
        const struct intern_name *name =
            &printer->module->names.names[graph->refs.at[events.first + i]];
        if (i)
            text_bytes(printer->text, ", ", 2);
        text_bytes(printer->text, name->text, name->size);
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

/* An op type that is a keyword would not be taken for one. */
static void print_op_type(struct printer *printer, uint32_t type)
{
    const struct intern_name *name = &printer->module->names.names[type];
    if (type < W_DTYPE_END)
        spell_quoted(printer->text, name->text, name->size);
    else
        spell_word(printer->text, printer->module, type);
}

static void print_op(struct printer *printer, const struct graph *graph, const struct op *op)
{
    line_begin(printer, op->loc, false);
    for (uint32_t i = 0; i < op->results.count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        spell_value(printer->text, printer->module, graph->values.at[op->results.first + i].name);
    }
    if (op->results.count)
        text_bytes(printer->text, " = ", 3);
    print_op_type(printer, op->type);
    text_char(printer->text, '(');
    print_values(printer, graph, op_operands(graph, op), op->operands.count);
    text_char(printer->text, ')');
    print_attrs(printer, op->attrs);
    print_result_types(printer, graph, op->results);
    if (op->kernel != NONE || op->clauses)
        print_clauses(printer, graph, op);
    line_end(printer);
}

static void print_block_open(struct printer *printer, const struct block *block)
{
    struct text *text = printer->text;
    line_begin(printer, block->loc, false);
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
        text_string(text, block->kind == BLOCK_SCOPE ? "scope " : "superkernel ");
        spell_symbol(text, printer->module, block->name);
        break;
    }
    print_attrs(printer, block->attrs);
    text_char(text, ' ');
    block_open(printer);
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

static void print_gears(struct printer *printer, const struct graph *graph)
{
    struct text *text = printer->text;
    text_printf(text, " gears %s (", graph->gear_mode == GEARS_ZIP ? "zip" : "product");
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct gear *gear = &graph->gears.at[i];
        if (i)
            text_bytes(text, ", ", 2);
        spell_word(text, printer->module, gear->name);
        text_string(text, " = [");
        for (uint32_t j = 0; j < gear->values.count; j++) {
            if (j)
                text_bytes(text, ", ", 2);
            text_signed(text, graph->gear_values.at[gear->values.first + j]);
        }
        text_char(text, ']');
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
    if (graph->gear_mode != GEARS_NONE)
        print_gears(printer, graph);
    print_results(printer, graph, wrap.line);
}

static void print_return(struct printer *printer, const struct graph *graph)
{
    line_begin(printer, graph->return_loc, false);
    text_string(printer->text, "return");
    if (graph->returns.count)
        text_char(printer->text, ' ');
    print_values(printer, graph, graph->returns.at, graph->returns.count);
    line_end(printer);
}

static void print_graph(struct printer *printer, const struct graph *graph)
{
    line_begin(printer, graph->loc, true);
    print_graph_header(printer, graph);
    block_open(printer);
    for (uint32_t i = 0; i < graph->body.count && !printer->stopped; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        switch (item_kind(graph->body.at[i])) {
        case ITEM_OP: print_op(printer, graph, &graph->ops.at[id]); break;
        case ITEM_OPEN: print_block_open(printer, &graph->blocks.at[id]); break;
        case ITEM_CLOSE: block_close(printer, graph->blocks.at[id].end_loc); break;
        }
    }
    if (graph->return_loc != NONE || graph->returns.count)
        print_return(printer, graph);
    block_close(printer, graph->end_loc);
}

/* ------------------------------------------------------------------- other elements ---- */

static void print_target(struct printer *printer, const struct target *target)
{
    const struct intern_name *name = &printer->module->names.names[target->name];
    line_begin(printer, target->loc, true);
    text_string(printer->text, "target ");
    spell_quoted(printer->text, name->text, name->size);
    print_attrs(printer, target->attrs);
    line_end(printer);
}

static void print_kernel(struct printer *printer, const struct kernel *kernel)
{
    line_begin(printer, kernel->loc, true);
    text_string(printer->text, "kernel ");
    spell_symbol(printer->text, printer->module, kernel->name);
    text_printf(printer->text, " : %s", kernel_type_info(kernel->type)->name);
    if (kernel->attrs.count == 0) {
        line_end(printer);
        return;
    }
    text_char(printer->text, ' ');
    block_open(printer);
    for (uint32_t i = 0; i < kernel->attrs.count; i++) {
        const struct attr *attr = &printer->module->attrs.at[kernel->attrs.first + i];
        line_begin(printer, attr->loc, false);
        print_attr(printer, attr);
        text_string(printer->text, i + 1 < kernel->attrs.count ? ",\n" : "\n");
    }
    block_close(printer, kernel->end_loc);
}

static void print_program(struct printer *printer, const struct program *program,
                          enum core_type core)
{
    line_begin(printer, program->loc, false);
    text_printf(printer->text, "%s ", core_type_name(core));
    block_open(printer);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        line_begin(printer, program->instrs.at[i].loc, false);
        spell_instr(printer->text, printer->module, &program->instrs.at[i]);
        line_end(printer);
    }
    block_close(printer, program->end_loc);
}

static void print_entry(struct printer *printer, const struct entry *entry)
{
    line_begin(printer, entry->loc, true);
    text_string(printer->text, "entry ");
    spell_symbol(printer->text, printer->module, entry->name);
    text_printf(printer->text, " : %s", kernel_type_info(entry->type)->name);
    print_attrs(printer, entry->attrs);
    text_char(printer->text, ' ');
    block_open(printer);
    /* In the order of the source, which comments follow; cube cores first where there is none. */
    const struct program *aic = &entry->programs[CORE_AIC], *aiv = &entry->programs[CORE_AIV];
    bool swapped = aic->present && aiv->present && aiv->loc < aic->loc;
    for (int i = 0; i < CORE_TYPES; i++) {
        enum core_type core = swapped ? (enum core_type)(1 - i) : (enum core_type)i;
        if (entry->programs[core].present)
            print_program(printer, &entry->programs[core], core);
    }
    block_close(printer, entry->end_loc);
}

static void print_item(struct printer *printer, uint64_t item)
{
    const struct module *module = printer->module;
    uint32_t index = (uint32_t)(item >> 2);
    switch (item & 3) {
    case SYMBOL_KERNEL: print_kernel(printer, &module->kernels.at[index]); break;
    case SYMBOL_GRAPH: print_graph(printer, &module->graphs.at[index]); break;
    case SYMBOL_ENTRY: print_entry(printer, &module->entries.at[index]); break;
    case ORDER_TARGET: print_target(printer, &module->targets.at[index]); break;
    }
}

static void print_all(struct printer *printer)
{
    const struct module *module = printer->module;
    printer->type_places = mem_calloc(module->types.count, sizeof *printer->type_places);
    line_begin(printer, module->loc, false);
    text_string(printer->text, "skir 1\n");
    for (uint32_t i = 0; i < module->order.count && !printer->stopped; i++)
        print_item(printer, module->order.at[i]);
    if (printer->comments) {
        flush_comments(printer, UINT32_MAX, false);
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
