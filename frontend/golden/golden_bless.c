#include "frontend/golden/golden.h"

#include <string.h>

/* An expectation in the new file. */
struct item {
    enum golden_severity severity;
    uint32_t host;  /* line of the old file that it is written on, or behind which */
    bool own_line;  /* it gets a line of its own behind its host */
    uint32_t line;  /* of the old file that it is about; 0: the file */
    uint32_t row;   /* line of the new file that it is written on */
    uint32_t order; /* among the items of one host */
    const char *text;
    size_t size;
};

struct rewrite {
    const struct golden *golden;
    VEC(struct item) items;
    struct vec_u32 new_line; /* by old line: its number in the new file; one more for the end */
    struct text *text;
};

static const struct golden_line *line_at(const struct rewrite *rewrite, uint32_t number)
{
    return &rewrite->golden->lines.at[number - 1];
}

/* ---------------------------------------------------------------------- expectations ---- */

/* Text that would begin another expectation is left out. */
static size_t text_size(const char *text)
{
    const char *end = strstr(text, "//!");
    size_t size = end ? (size_t)(end - text) : strlen(text);
    while (size && text[size - 1] == ' ')
        size--;
    return size;
}

static void add_kept(struct rewrite *rewrite, const struct golden_diag *expected)
{
    struct item item = {.severity = expected->severity,
                        .host = expected->host,
                        .line = expected->line,
                        .order = rewrite->items.count,
                        .text = expected->text,
                        .size = strlen(expected->text)};
    vec_push(&rewrite->items, item);
}

/* At the end of its line; on a line of its own where it has none, or one that cannot carry it. */
static void add_new(struct rewrite *rewrite, const struct golden_diag *reported)
{
    uint32_t n_lines = rewrite->golden->lines.count;
    struct item item = {.severity = reported->severity,
                        .host = reported->line,
                        .line = reported->line,
                        .order = rewrite->items.count,
                        .text = reported->text,
                        .size = text_size(reported->text)};
    if (item.size == 0)
        return;
    if (item.host < 3 || item.host > n_lines || line_at(rewrite, item.host)->open_string) {
        item.own_line = true;
        item.host = item.host < 3 ? 2 : item.host > n_lines ? n_lines : item.host;
    }
    vec_push(&rewrite->items, item);
}

static void collect(struct rewrite *rewrite, const struct golden_outcome *outcome)
{
    const struct golden *golden = rewrite->golden;
    for (uint32_t i = 0; i < golden->expected.count; i++)
        if (golden->expected.at[i].match != NONE)
            add_kept(rewrite, &golden->expected.at[i]);
    for (uint32_t i = 0; i < outcome->reported.count; i++) {
        const struct golden_diag *diag = &outcome->reported.at[i];
        if (diag->match == NONE && golden_is_required(golden, diag))
            add_new(rewrite, diag);
    }
}

/* ------------------------------------------------------------------------------ lines ---- */

static int compare_hosts(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->own_line != y->own_line)
        return x->own_line ? 1 : -1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* A line that had nothing but expectations goes with the last of them. */
static bool line_stays(const struct rewrite *rewrite, uint32_t number, bool hosts)
{
    const struct golden_line *line = line_at(rewrite, number);
    return hosts || line->bare || line->size == 0 || number < 3;
}

/* Numbers the lines of the new file. */
static void number_lines(struct rewrite *rewrite)
{
    struct item *item = rewrite->items.at, *end = item + rewrite->items.count;
    uint32_t row = 0;
    vec_push(&rewrite->new_line, 0);
    for (uint32_t number = 1; number <= rewrite->golden->lines.count; number++) {
        bool hosts = item < end && item->host == number && !item->own_line;
        row += line_stays(rewrite, number, hosts);
        vec_push(&rewrite->new_line, row);
        for (; item < end && item->host == number; item++)
            item->row = item->own_line ? ++row : row;
    }
    vec_push(&rewrite->new_line, row + 1);
}

static void print_item(const struct rewrite *rewrite, const struct item *item)
{
    struct text *text = rewrite->text;
    text_printf(text, "//! %s", golden_severity_text(item->severity));
    if (item->line == 0) {
        text_string(text, "@file");
    } else {
        uint32_t last = rewrite->new_line.count - 1;
        uint32_t target = rewrite->new_line.at[item->line < last ? item->line : last];
        if (target != item->row)
            text_printf(text, "@%+lld", (long long)target - (long long)item->row);
    }
    text_string(text, ": ");
    text_bytes(text, item->text, item->size);
}

static void print_indent(const struct rewrite *rewrite, const struct golden_line *line)
{
    for (uint32_t i = 0; i < line->size && (line->text[i] == ' ' || line->text[i] == '\t'); i++)
        text_char(rewrite->text, line->text[i]);
}

/* The line of the old file, with the `count` expectations that it has now. */
static void print_line(const struct rewrite *rewrite, const struct golden_line *line,
                       const struct item *items, uint32_t count)
{
    if (line->bare == 0 && count)
        print_indent(rewrite, line);
    uint32_t size = line->bare;
    while (count && size && line->text[size - 1] == '\r')
        size--;
    text_bytes(rewrite->text, line->text, size);
    for (uint32_t i = 0; i < count; i++) {
        if (line->bare || i)
            text_char(rewrite->text, ' ');
        print_item(rewrite, &items[i]);
    }
    text_char(rewrite->text, '\n');
}

static void print_lines(const struct rewrite *rewrite)
{
    const struct item *item = rewrite->items.at, *end = item + rewrite->items.count;
    for (uint32_t number = 1; number <= rewrite->golden->lines.count; number++) {
        const struct item *first = item;
        while (item < end && item->host == number && !item->own_line)
            item++;
        if (line_stays(rewrite, number, item > first))
            print_line(rewrite, line_at(rewrite, number), first, (uint32_t)(item - first));
        for (; item < end && item->host == number; item++) {
            print_indent(rewrite, line_at(rewrite, number));
            print_item(rewrite, item);
            text_char(rewrite->text, '\n');
        }
    }
}

void golden_bless(const struct golden *golden, const struct golden_outcome *outcome,
                  struct text *text)
{
    struct rewrite rewrite = {.golden = golden, .text = text};
    vec_reserve(&rewrite.items, 1); /* no pointer into it is NULL */
    collect(&rewrite, outcome);
    if (rewrite.items.count)
        qsort(rewrite.items.at, rewrite.items.count, sizeof *rewrite.items.at, compare_hosts);
    number_lines(&rewrite);
    print_lines(&rewrite);
    bool failed = outcome->status != EXIT_DONE;
    bool compares = golden->output || (rewrite.items.count == 0 && !failed);
    if (compares && (outcome->out_size || (golden->output && !failed))) {
        text_string(text, "//! expect\n");
        text_bytes(text, outcome->out, outcome->out_size);
    }
    vec_free(&rewrite.items);
    vec_free(&rewrite.new_line);
}
