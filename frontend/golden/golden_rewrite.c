#include "frontend/golden/golden_rewrite.h"

#include <string.h>

/* An expectation in the new file. */
struct item {
    enum golden_severity severity;
    uint32_t host;    /* line of the old file that it is written on, or behind which */
    bool own_line;    /* it gets a line of its own behind its host */
    uint32_t line;    /* of the old file that it is about; 0: the file */
    uint32_t command; /* number of the only one that it is for; 0: all */
    uint32_t row;     /* line of the new file that it is written on */
    uint32_t order;   /* among the items of one host */
    const char *text;
    size_t size;
};

struct rewrite {
    const struct golden *golden;
    VEC(struct item) items;
    struct vec_u32 new_line; /* by old line: its number in the new file; one more for the end */
    struct text *text;
};

/* How many lines of the file say what the test is. */
static uint32_t header_lines(const struct golden *golden)
{
    return golden->fails ? 3 : 2;
}

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

static void add_kept(struct rewrite *rewrite, const struct golden_diag *expected, uint32_t command)
{
    struct item item = {.severity = expected->severity,
                        .host = expected->host,
                        .line = expected->line,
                        .command = command,
                        .order = rewrite->items.count,
                        .text = expected->text,
                        .size = strlen(expected->text)};
    vec_push(&rewrite->items, item);
}

/* At the end of its line; on a line of its own where it has none, or one that cannot carry it. */
static void add_new(struct rewrite *rewrite, const struct golden_diag *reported, uint32_t command)
{
    uint32_t n_lines = rewrite->golden->lines.count, header = header_lines(rewrite->golden);
    struct item item = {.severity = reported->severity,
                        .host = reported->line,
                        .line = reported->line,
                        .command = command,
                        .order = rewrite->items.count,
                        .text = reported->text,
                        .size = text_size(reported->text)};
    if (item.size == 0)
        return;
    if (item.host <= header || item.host > n_lines || line_at(rewrite, item.host)->open_string) {
        item.own_line = true;
        item.host = item.host <= header ? header : item.host > n_lines ? n_lines : item.host;
    }
    vec_push(&rewrite->items, item);
}

/* An expectation stays for the commands that hold it. */
static void keep_expected(struct rewrite *rewrite, const struct golden_outcome *outcomes)
{
    const struct golden *golden = rewrite->golden;
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        const struct golden_diag *expected = &golden->expected.at[i];
        uint32_t held = 0, asked = 0;
        for (uint32_t c = 0; c < golden->commands.count; c++) {
            asked += golden_is_for(expected, c);
            held += outcomes[c].partners[i] != NONE;
        }
        if (held == asked)
            add_kept(rewrite, expected, expected->command);
        for (uint32_t c = 0; held < asked && c < golden->commands.count; c++)
            if (outcomes[c].partners[i] != NONE)
                add_kept(rewrite, expected, c + 1);
    }
}

/* What a command has reported without being asked. */
struct reported {
    const struct golden_diag *diag;
    uint32_t command;
    uint32_t nth; /* of those of its command that are alike */
};

static int compare_reported(const void *a, const void *b)
{
    const struct reported *x = a, *y = b;
    if (x->diag->line != y->diag->line)
        return x->diag->line < y->diag->line ? -1 : 1;
    if (x->diag->severity != y->diag->severity)
        return x->diag->severity < y->diag->severity ? -1 : 1;
    int order = strcmp(x->diag->text, y->diag->text);
    if (order)
        return order;
    if (x->nth != y->nth)
        return x->nth < y->nth ? -1 : 1;
    return x->command < y->command ? -1 : x->command > y->command;
}

static bool is_alike(const struct reported *a, const struct reported *b)
{
    return a->diag->line == b->diag->line && a->diag->severity == b->diag->severity &&
           strcmp(a->diag->text, b->diag->text) == 0;
}

/* Numbers those that are alike, by command, and puts the first of all before the second of any. */
static void sort_reported(struct reported *at, uint32_t count)
{
    qsort(at, count, sizeof *at, compare_reported);
    for (uint32_t i = 1; i < count; i++)
        if (is_alike(&at[i - 1], &at[i]) && at[i - 1].command == at[i].command)
            at[i].nth = at[i - 1].nth + 1;
    qsort(at, count, sizeof *at, compare_reported);
}

/* What all commands report alike is expected of all. */
static void add_shared(struct rewrite *rewrite, struct reported *at, uint32_t count)
{
    uint32_t n_commands = rewrite->golden->commands.count;
    for (uint32_t i = 0; i < count;) {
        uint32_t n = 1;
        while (n < n_commands && i + n < count && is_alike(&at[i], &at[i + n]) &&
               at[i + n].nth == at[i].nth)
            n++;
        bool all = n == n_commands;
        for (uint32_t k = 0; k < (all ? 1 : n); k++)
            add_new(rewrite, at[i + k].diag, all ? 0 : at[i + k].command + 1);
        i += n;
    }
}

static void collect(struct rewrite *rewrite, const struct golden_outcome *outcomes)
{
    const struct golden *golden = rewrite->golden;
    VEC(struct reported) fresh = {NULL, 0, 0};
    keep_expected(rewrite, outcomes);
    for (uint32_t c = 0; c < golden->commands.count; c++)
        for (uint32_t i = 0; i < outcomes[c].reported.count; i++) {
            const struct golden_diag *diag = &outcomes[c].reported.at[i];
            if (diag->match == NONE && golden_is_required(golden, c, diag))
                vec_push(&fresh, (struct reported){diag, c, 0});
        }
    if (golden->commands.count == 1) {
        for (uint32_t i = 0; i < fresh.count; i++)
            add_new(rewrite, fresh.at[i].diag, 0);
    } else if (fresh.count) {
        sort_reported(fresh.at, fresh.count);
        add_shared(rewrite, fresh.at, fresh.count);
    }
    vec_free(&fresh);
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
    return hosts || line->bare || line->size == 0 || number <= header_lines(rewrite->golden);
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
    if (item->command)
        text_printf(text, "#%u", item->command);
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

void golden_rewrite_input(const struct golden *golden, const struct golden_outcome *outcomes,
                          struct text *text, bool *expects)
{
    struct rewrite rewrite = {.golden = golden, .text = text};
    vec_reserve(&rewrite.items, 1); /* no pointer into it is NULL */
    collect(&rewrite, outcomes);
    if (rewrite.items.count)
        qsort(rewrite.items.at, rewrite.items.count, sizeof *rewrite.items.at, compare_hosts);
    number_lines(&rewrite);
    print_lines(&rewrite);
    for (uint32_t c = 0; c < golden->commands.count; c++)
        expects[c] = false;
    for (uint32_t i = 0; i < rewrite.items.count; i++)
        for (uint32_t c = 0; c < golden->commands.count; c++)
            expects[c] |= rewrite.items.at[i].command == 0 || rewrite.items.at[i].command == c + 1;
    vec_free(&rewrite.items);
    vec_free(&rewrite.new_line);
}
