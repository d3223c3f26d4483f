#include "frontend/filetest/golden.h"

/* ------------------------------------------------------------------------------ input ---- */

/* An expectation in the new file. */
struct item {
    struct golden_diag diag; /* `host`: line of the old file that it is written on, or after */
    bool own_line;           /* it gets a line of its own after its host */
    uint32_t order;          /* among the items of one host */
    size_t size;             /* of its text */
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

static void add_item(struct rewrite *rewrite, const struct golden_diag *diag, uint32_t command)
{
    struct item item = {.diag = *diag, .order = rewrite->items.count, .size = strlen(diag->text)};
    item.diag.command = command;
    vec_push(&rewrite->items, item);
}

/* At the end of its line; on a line of its own where it has none, or one that cannot carry it. Text
 * that would begin another expectation is left out. */
static void add_new(struct rewrite *rewrite, const struct golden_diag *reported, uint32_t command)
{
    const struct golden *golden = rewrite->golden;
    uint32_t n_lines = golden->lines.count, header = header_lines(golden), line = reported->line;
    const char *end = strstr(reported->text, "//!");
    add_item(rewrite, reported, command);
    struct item *item = &rewrite->items.at[rewrite->items.count - 1];
    item->size = end ? (size_t)(end - reported->text) : item->size;
    while (item->size && reported->text[item->size - 1] == ' ')
        item->size--;
    item->own_line = line <= header || line > n_lines || golden->lines.at[line - 1].open_string;
    item->diag.host = line <= header ? header : line > n_lines ? n_lines : line;
    if (item->size == 0)
        rewrite->items.count--;
}

/* An expectation stays for the commands that hold it. */
static void keep_expected(struct rewrite *rewrite, const struct golden_outcome *outcomes)
{
    const struct golden *golden = rewrite->golden;
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        const struct golden_diag *expected = &golden->expected.at[i];
        uint32_t held = 0, commands = 0;
        for (uint32_t c = 0; c < golden->commands.count; c++) {
            commands += golden_is_for(expected, c);
            held += outcomes[c].held[i];
        }
        if (held == commands)
            add_item(rewrite, expected, expected->command);
        for (uint32_t c = 0; held < commands && c < golden->commands.count; c++)
            if (outcomes[c].held[i])
                add_item(rewrite, expected, c + 1);
    }
}

/* The first diagnostic of a command that equals `diag` and that no expectation holds, or NULL. */
static struct golden_diag *find_equal(const struct golden *golden, struct golden_outcome *outcomes,
                                      uint32_t command, const struct golden_diag *diag)
{
    for (uint32_t i = 0; i < outcomes[command].reported.count; i++) {
        struct golden_diag *other = &outcomes[command].reported.at[i];
        if (!other->matched && other->line == diag->line && other->severity == diag->severity &&
            strcmp(other->text, diag->text) == 0 && golden_is_required(golden, command, other))
            return other;
    }
    return NULL;
}

/* Whether all commands report the diagnostic; each of theirs then counts as matched. */
static bool take_shared(const struct golden *golden, struct golden_outcome *outcomes,
                        const struct golden_diag *diag)
{
    for (uint32_t c = 0; c < golden->commands.count; c++)
        if (!find_equal(golden, outcomes, c, diag))
            return false;
    for (uint32_t c = 0; c < golden->commands.count; c++)
        find_equal(golden, outcomes, c, diag)->matched = true;
    return true;
}

/* What commands have reported unexpectedly: by all commands, or by some. */
static void add_reported(struct rewrite *rewrite, struct golden_outcome *outcomes)
{
    const struct golden *golden = rewrite->golden;
    for (uint32_t c = 0; c < golden->commands.count; c++)
        for (uint32_t i = 0; i < outcomes[c].reported.count; i++) {
            struct golden_diag *diag = &outcomes[c].reported.at[i];
            if (!diag->matched && golden_is_required(golden, c, diag))
                add_new(rewrite, diag, take_shared(golden, outcomes, diag) ? 0 : c + 1);
        }
}

static int compare_hosts(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->diag.host != y->diag.host)
        return x->diag.host < y->diag.host ? -1 : 1;
    if (x->own_line != y->own_line)
        return x->own_line ? 1 : -1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* `row`: the line of the new file that it is written on. */
static void print_item(const struct rewrite *rewrite, const struct item *item, uint32_t row)
{
    struct text *text = rewrite->text;
    text_printf(text, "//! %s", golden_severity_text(item->diag.severity));
    if (item->diag.command)
        text_printf(text, "#%u", item->diag.command);
    if (item->diag.line == 0) {
        text_string(text, "@file");
    } else {
        uint32_t last = rewrite->new_line.count - 1;
        uint32_t target = rewrite->new_line.at[item->diag.line < last ? item->diag.line : last];
        if (target != row)
            text_printf(text, "@%+lld", (long long)target - (long long)row);
    }
    text_string(text, ": ");
    text_bytes(text, item->diag.text, item->size);
}

static void print_indent(struct text *text, struct part line, const char *blanks)
{
    for (size_t i = 0; i < line.size && strchr(blanks, line.text[i]); i++)
        text_char(text, line.text[i]);
}

/* The line of the old file, with the `count` expectations that it has now. */
static void print_line(const struct rewrite *rewrite, const struct golden_line *line,
                       const struct item *items, uint32_t count, uint32_t row)
{
    if (line->bare == 0 && count)
        print_indent(rewrite->text, line->text, " \t");
    size_t size = line->bare;
    while (count && size && line->text.text[size - 1] == '\r')
        size--;
    text_bytes(rewrite->text, line->text.text, size);
    for (uint32_t i = 0; i < count; i++) {
        if (line->bare || i)
            text_char(rewrite->text, ' ');
        print_item(rewrite, &items[i], row);
    }
    text_char(rewrite->text, '\n');
}

/* Goes through the lines of the new file: numbers them, or prints them. A line that had nothing but
 * expectations goes with the last of them. */
static void go_through(struct rewrite *rewrite, bool prints)
{
    const struct item *item = rewrite->items.at, *end = item + rewrite->items.count;
    uint32_t row = 0, header = header_lines(rewrite->golden);
    if (!prints)
        vec_push(&rewrite->new_line, 0);
    for (uint32_t number = 1; number <= rewrite->golden->lines.count; number++) {
        const struct golden_line *line = &rewrite->golden->lines.at[number - 1];
        const struct item *first = item;
        while (item < end && item->diag.host == number && !item->own_line)
            item++;
        bool stays = item > first || line->bare || line->text.size == 0 || number <= header;
        row += stays;
        if (!prints)
            vec_push(&rewrite->new_line, row);
        else if (stays)
            print_line(rewrite, line, first, (uint32_t)(item - first), row);
        for (; item < end && item->diag.host == number; item++) {
            row++;
            if (!prints)
                continue;
            print_indent(rewrite->text, line->text, " \t");
            print_item(rewrite, item, row);
            text_char(rewrite->text, '\n');
        }
    }
    if (!prints)
        vec_push(&rewrite->new_line, row + 1);
}

/* --------------------------------------------------------------------------- sections ---- */

static void print_head(struct text *text, struct part head)
{
    if (text->size && text->at[text->size - 1] != '\n')
        text_char(text, '\n');
    text_bytes(text, head.text, head.size);
    text_char(text, '\n');
}

/* The items that a line has, as they would pass. */
static void print_repaired(struct text *text, const struct golden_item *item)
{
    if (item->new_times)
        text_printf(text, "//! %u time%s: %.*s", item->new_times, item->new_times == 1 ? "" : "s",
                    (int)item->text.size, item->text.text);
    if (item->new_text.text && item->kind == ITEM_ANYWHERE)
        text_string(text, "//! anywhere: ");
    for (struct part rest = item->new_text; rest.size;) {
        if (scan_take(&rest, "{{")) {
            text_string(text, "{{\\{\\{}}"); /* braces that begin no regular expression */
        } else {
            text_char(text, *rest.text);
            rest = scan_skip(rest, 1);
        }
    }
}

/* The section as it passes, or as it is where that cannot be. */
static void bless_section(struct text *text, const struct golden_section *section)
{
    bool lines = section->kind == GOLDEN_LINES, changes = section->kind == GOLDEN_CHANGES;
    const char *head = NULL;
    if (section->passed || !section->found || (lines && !section->repairable)) {
        print_head(text, section->head);
        text_bytes(text, section->text.text, section->raw_size);
    } else if (lines) {
        struct part rest = {section->text.text, section->raw_size}, line;
        uint32_t i = 0, number = section->line;
        print_head(text, section->head);
        while (scan_take_line(&rest, &line)) {
            number++;
            while (i < section->items.count && section->items.at[i].line < number)
                i++;
            const struct golden_item *item = &section->items.at[i];
            if (i < section->items.count && item->line == number &&
                (item->new_times || item->new_text.text)) {
                print_indent(text, line, " \t\r");
                print_repaired(text, item);
            } else {
                text_bytes(text, line.text, line.size);
            }
            text_char(text, '\n');
        }
    } else {
        if (section->actual.size && section->nothing)
            head = changes ? "//! expect changes" : "//! expect";
        else if (section->actual.size == 0 && !section->part)
            head = changes ? "//! expect no changes" : "//! expect nothing";
        print_head(text, head ? (struct part){head, strlen(head)} : section->head);
        text_bytes(text, section->actual.text, section->actual.size);
        for (size_t i = section->text.size; i < section->raw_size; i++)
            text_char(text, '\n');
    }
}

void golden_bless(const struct golden *golden, struct golden_outcome *outcomes, struct text *text)
{
    bool *expects = mem_calloc(golden->commands.count, sizeof *expects);
    struct rewrite rewrite = {.golden = golden, .text = text};
    vec_reserve(&rewrite.items, 1); /* no pointer into it is NULL */
    keep_expected(&rewrite, outcomes);
    add_reported(&rewrite, outcomes);
    qsort(rewrite.items.at, rewrite.items.count, sizeof *rewrite.items.at, compare_hosts);
    go_through(&rewrite, false);
    go_through(&rewrite, true);
    for (uint32_t i = 0; i < rewrite.items.count; i++)
        for (uint32_t c = 0; c < golden->commands.count; c++)
            expects[c] |= golden_is_for(&rewrite.items.at[i].diag, c);
    vec_free(&rewrite.items);
    vec_free(&rewrite.new_line);
    for (uint32_t c = 0; c < golden->commands.count; c++) {
        const struct golden_command *command = &golden->commands.at[c];
        bool failed = outcomes[c].status != EXIT_DONE, silent = outcomes[c].out.size == 0;
        if (c)
            print_head(text, command->head);
        /* A command without sections gets one, unless diagnostics say enough. */
        if (command->sections.count == 0 && (!expects[c] || (failed && !silent))) {
            print_head(text, silent ? (struct part){"//! expect nothing", 18}
                                    : (struct part){"//! expect", 10});
            text_append(text, &outcomes[c].out);
        }
        for (uint32_t i = 0; i < command->sections.count; i++) {
            /* A section that has become empty because the command fails is redundant. */
            const struct golden_section *section = &command->sections.at[i];
            if (section->kind != GOLDEN_EXACT || section->nothing || section->part ||
                section->report || !failed || !silent)
                bless_section(text, section);
        }
    }
    mem_free(expects);
}
