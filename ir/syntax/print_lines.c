/* The printer's part for lines: indentation, blank lines, comments. */
#include "ir/syntax/printer.h"

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

bool print_comments(struct printer *printer, uint32_t offset, bool want_blank)
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

uint32_t print_line_start(const struct printer *printer, uint32_t offset)
{
    const char *text = printer->module->source->text, *p = text + offset;
    while (p > text && p[-1] != '\n')
        p--;
    while (*p == ' ' || *p == '\t')
        p++;
    return (uint32_t)(p - text);
}

/* How many comments of the source begin before `offset`. */
static uint32_t count_before(const struct spans *comments, uint32_t offset)
{
    uint32_t low;
    bisect(low, i, comments->count, comments->at[i].begin < offset);
    return low;
}

/* Whether the comment is a line by itself, and the next line begins with what is at `offset`. */
static bool is_above(const struct printer *printer, struct span comment, uint32_t offset)
{
    const char *p = before_blanks(printer, offset);
    return p > printer->module->source->text && p[-1] == '\n' &&
           p - 1 == printer->module->source->text + comment.end &&
           begins_line(printer, comment.begin);
}

/* A directive of a golden file is for that file alone. */
static bool is_directive(const struct printer *printer, struct span comment)
{
    return comment.end - comment.begin > 2 &&
           printer->module->source->text[comment.begin + 2] == '!';
}

/* The lines of comments directly above `loc`, each where it is printed first: a pass may have made
 * several things of what stood there. */
static void print_above(struct printer *printer, uint32_t loc)
{
    const struct spans *comments = printer->comments;
    uint32_t end = count_before(comments, loc), first = end, below = loc;
    while (first > 0 && is_above(printer, comments->at[first - 1], below))
        below = comments->at[--first].begin;
    for (; first < end; first++) {
        if (printer->above[first] || is_directive(printer, comments->at[first]))
            continue;
        printer->above[first] = 1;
        print_indent(printer);
        print_comment(printer, comments->at[first]);
    }
}

/* ----------------------------------------------------------------------------- lines ---- */

void print_line_begin(struct printer *printer, uint32_t loc, bool want_blank)
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

void print_open(struct printer *printer)
{
    text_bytes(printer->text, "{\n", 2);
    printer->indent++;
    printer->after_open = true;
}

void print_close(struct printer *printer, uint32_t end_loc)
{
    if (printer->comments && end_loc != NONE && !printer->above)
        print_comments(printer, end_loc, false);
    assert(printer->indent > 0);
    printer->indent--;
    printer->after_open = false;
    print_indent(printer);
    text_bytes(printer->text, "}\n", 2);
}
