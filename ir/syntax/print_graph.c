/* The printer's part for graphs. */
#include "ir/operands.h"
#include "ir/syntax/printer.h"

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

/* Types that begin with a small letter are words of the language where they are not quoted. */
static void print_op_type(struct printer *printer, uint32_t type)
{
    const struct intern_name *name = &printer->module->names.names[type];
    if (name->size > 0 && name->text[0] >= 'a')
        spell_quoted(printer->text, name->text, name->size);
    else
        spell_word(printer->text, printer->module, type);
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
    print_op_type(printer, op->type);
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

static void print_dims(struct printer *printer, const struct graph *graph)
{
    struct text *text = printer->text;
    for (uint32_t i = 0; i < graph->dims.count; i++) {
        text_string(text, i ? ", " : " dims (");
        spell_word(text, printer->module, graph->dims.at[i].name);
    }
    if (graph->dims.count)
        text_char(text, ')');
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
    print_dims(printer, graph);
    if (graph->gear_mode != GEARS_NONE)
        print_gears(printer, graph);
    print_results(printer, graph, wrap.line);
}

static void print_return(struct printer *printer, const struct graph *graph)
{
    print_line_begin(printer, graph->return_loc, false);
    text_string(printer->text, "return");
    if (graph->returns.count)
        text_char(printer->text, ' ');
    print_values(printer, graph, graph->returns.at, graph->returns.count);
    print_line_end(printer);
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

void print_graph(struct printer *printer, const struct graph *graph)
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
    if (graph->return_loc != NONE || graph->returns.count)
        print_return(printer, graph);
    print_close(printer, graph->end_loc);
}
