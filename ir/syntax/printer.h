/* Shared by the parts of the printer. */
#ifndef IR_SYNTAX_PRINTER_H
#define IR_SYNTAX_PRINTER_H

#include "ir/syntax/print.h"
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

/* Lines. Begins that of what stands at `loc` in the source; comments of the source come first. */
void print_line_begin(struct printer *printer, uint32_t loc, bool want_blank);

static inline void print_line_end(struct printer *printer)
{
    text_char(printer->text, '\n');
}

/* The braces of a block: the first ends its line, the last has its own. */
void print_open(struct printer *printer);
void print_close(struct printer *printer, uint32_t end_loc);
/* The comments of the source before `offset`: one that trails joins the line above, unless that
 * line is a comment itself. Returns whether any comment got its own line. */
bool print_comments(struct printer *printer, uint32_t offset, bool want_blank);

/* Where the line begins that a position of the source is on, blanks left out. */
uint32_t print_line_start(const struct printer *printer, uint32_t offset);

/* Spells a type that is met for the first time. */
void print_spell_type(struct printer *printer, uint32_t type);

static inline void print_type(struct printer *printer, uint32_t type)
{
    expensive_assert(type < printer->module->types.count);
    const struct type_text *place = &printer->type_places[type];
    if (place->size == 0)
        print_spell_type(printer, type);
    text_bytes(printer->text, printer->type_texts.at + place->first, place->size);
}

void print_attr(struct printer *printer, const struct attr *attr);
void print_dict(struct printer *printer, struct range attrs);

/* With a blank before it; nothing for no attributes. */
static inline void print_attrs(struct printer *printer, struct range attrs)
{
    if (attrs.count == 0)
        return;
    text_char(printer->text, ' ');
    print_dict(printer, attrs);
}

void print_graph(struct printer *printer, const struct graph *graph);

#endif
