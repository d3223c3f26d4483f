#include "frontend/filetest/golden.h"
#include "frontend/filetest/golden_scan.h"

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

/* The first diagnostic of a command that equals `diag` and that no expectation holds; NULL if there
 * is none. */
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

static void print_indent(const struct rewrite *rewrite, const struct golden_line *line)
{
    for (uint32_t i = 0; i < line->size && (line->text[i] == ' ' || line->text[i] == '\t'); i++)
        text_char(rewrite->text, line->text[i]);
}

/* The line of the old file, with the `count` expectations that it has now. */
static void print_line(const struct rewrite *rewrite, const struct golden_line *line,
                       const struct item *items, uint32_t count, uint32_t row)
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
        bool stays = item > first || line->bare || line->size == 0 || number <= header;
        row += stays;
        if (!prints)
            vec_push(&rewrite->new_line, row);
        else if (stays)
            print_line(rewrite, line, first, (uint32_t)(item - first), row);
        for (; item < end && item->diag.host == number; item++) {
            row++;
            if (!prints)
                continue;
            print_indent(rewrite, line);
            print_item(rewrite, item, row);
            text_char(rewrite->text, '\n');
        }
    }
    if (!prints)
        vec_push(&rewrite->new_line, row + 1);
}

/* --------------------------------------------------------------------------- sections ---- */

static void end_line(struct text *text)
{
    if (text->size && text->at[text->size - 1] != '\n')
        text_char(text, '\n');
}

static void print_head(struct text *text, const char *head, size_t size)
{
    end_line(text);
    text_bytes(text, head, size);
    text_char(text, '\n');
}

/* The output that the section is about, with the empty lines that followed it before. */
static void print_exact(struct text *text, const struct golden_section *section,
                        const struct part *actual)
{
    bool changes = section->kind == GOLDEN_CHANGES;
    if (actual->size == 0)
        text_string(text, changes && !section->part ? "//! expect no changes\n"
                          : section->part           ? ""
                                                    : "//! expect nothing\n");
    else if (section->nothing)
        text_string(text, changes ? "//! expect changes\n" : "//! expect\n");
    if (actual->size ? !section->nothing : section->part != NULL)
        print_head(text, section->head, section->head_size);
    if (actual->size)
        text_bytes(text, actual->text, actual->size);
    for (size_t i = section->size; i < section->raw_size; i++)
        text_char(text, '\n');
}

static void print_repaired(struct text *text, const struct golden_item *item,
                           const struct golden_repair *repair)
{
    if (repair->times)
        text_printf(text, "//! %u time%s: %.*s", repair->times, repair->times == 1 ? "" : "s",
                    (int)item->size, item->text);
    if (!repair->line.text)
        return;
    if (item->kind == ITEM_ANYWHERE)
        text_string(text, "//! anywhere: ");
    /* A line in which no braces begin a regular expression. */
    const char *at = repair->line.text, *end = at + repair->line.size;
    while (at < end) {
        if (scan_take(&at, end, "{{"))
            text_string(text, "{{\\{\\{}}");
        else
            text_char(text, *at++);
    }
}

/* The lines of the section, each replaced by its repair if it has one. */
static void print_lines(struct text *text, const struct golden_section *section,
                        const struct golden_repair *repairs)
{
    const char *end = section->text + section->raw_size;
    uint32_t item = 0, number = section->line;
    print_head(text, section->head, section->head_size);
    for (const char *line = section->text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line)), *p = line;
        stop = stop ? stop : end;
        number++;
        while (item < section->items.count && section->items.at[item].line < number)
            item++;
        bool repaired = item < section->items.count && section->items.at[item].line == number &&
                        (repairs[item].times || repairs[item].line.text);
        for (; repaired && p < stop && scan_is_blank(*p); p++)
            text_char(text, *p);
        if (repaired)
            print_repaired(text, &section->items.at[item], &repairs[item]);
        else
            text_bytes(text, line, (size_t)(stop - line));
        text_char(text, '\n');
        line = stop + 1;
    }
}

static void bless_section(struct text *text, const struct golden_section *section,
                          const struct golden_check *check)
{
    if (section->kind == GOLDEN_LINES && !check->passed && check->repairable) {
        print_lines(text, section, check->repairs);
    } else if (section->kind == GOLDEN_LINES || check->passed || !check->found) {
        print_head(text, section->head, section->head_size);
        text_bytes(text, section->text, section->raw_size);
    } else {
        end_line(text);
        print_exact(text, section, &check->actual);
    }
}

/* For a command without sections; `silent`: diagnostics are expected. */
static void add_section(struct text *text, const struct golden_outcome *outcome, bool silent)
{
    bool failed = outcome->status != EXIT_DONE;
    if (silent && (!failed || outcome->out_size == 0))
        return;
    end_line(text);
    text_string(text, outcome->out_size ? "//! expect\n" : "//! expect nothing\n");
    text_bytes(text, outcome->out, outcome->out_size);
}

/* A section that has become empty because the command fails is redundant. */
static bool is_void(const struct golden_section *section, const struct golden_outcome *outcome)
{
    return section->kind == GOLDEN_EXACT && !section->nothing && !section->part &&
           !section->report && outcome->status != EXIT_DONE && outcome->out_size == 0;
}

void golden_bless(const struct golden *golden, struct golden_outcome *outcomes, struct text *text)
{
    bool *expects = mem_calloc(golden->commands.count, sizeof *expects);
    struct rewrite rewrite = {.golden = golden, .text = text};
    vec_reserve(&rewrite.items, 1); /* no pointer into it is NULL */
    keep_expected(&rewrite, outcomes);
    add_reported(&rewrite, outcomes);
    if (rewrite.items.count)
        qsort(rewrite.items.at, rewrite.items.count, sizeof *rewrite.items.at, compare_hosts);
    go_through(&rewrite, false);
    go_through(&rewrite, true);
    for (uint32_t c = 0; c < golden->commands.count; c++)
        expects[c] = false;
    for (uint32_t i = 0; i < rewrite.items.count; i++)
        for (uint32_t c = 0; c < golden->commands.count; c++)
            expects[c] |= golden_is_for(&rewrite.items.at[i].diag, c);
    vec_free(&rewrite.items);
    vec_free(&rewrite.new_line);
    for (uint32_t c = 0; c < golden->commands.count; c++) {
        const struct golden_command *command = &golden->commands.at[c];
        if (c)
            print_head(text, command->head, command->head_size);
        if (command->sections.count == 0)
            add_section(text, &outcomes[c], expects[c]);
        for (uint32_t i = 0; i < command->sections.count; i++)
            if (!is_void(&command->sections.at[i], &outcomes[c]))
                bless_section(text, &command->sections.at[i], &outcomes[c].checks[i]);
    }
    mem_free(expects);
}
