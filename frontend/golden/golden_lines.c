#include "frontend/golden/golden_lines.h"
#include "frontend/golden/golden_scan.h"

/* A line of what was printed, trimmed; empty ones are none. */
struct line {
    const char *text;
    size_t size;
    uint32_t number;
};

struct search {
    struct golden_section *section;
    VEC(struct line) lines;
    struct captures *captures;
    struct text *report;
    struct golden_check *check;
};

/* Items [first, end) whose lines follow each other. */
struct run {
    uint32_t first, end;
};

static void split_lines(struct search *search, struct part text, uint32_t number)
{
    const char *end = text.text + text.size;
    for (const char *line = text.text; line < end; number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        struct line found = {line, (size_t)(stop - line), number};
        scan_trim(&found.text, &found.size);
        if (found.size)
            vec_push(&search->lines, found);
        line = stop + 1;
    }
}

static bool item_fits(struct search *search, struct golden_item *item, uint32_t line)
{
    return template_matches(&item->template, search->lines.at[line].text,
                            search->lines.at[line].size, item->kind == ITEM_LINE, search->captures);
}

/* ------------------------------------------------------------------------------ nearness ---- */

/* How much of both stands at the same place, from either end: up to the size of both. */
static size_t likeness(const struct golden_item *item, const struct line *line)
{
    size_t limit = item->size < line->size ? item->size : line->size, front = 0, back = 0;
    while (front < limit && item->text[front] == line->text[front])
        front++;
    while (back < limit - front &&
           item->text[item->size - 1 - back] == line->text[line->size - 1 - back])
        back++;
    return 2 * (front + back);
}

/* The line of [begin, end) that is most like an item; NONE where none has a third of it. */
static uint32_t nearest(const struct search *search, const struct golden_item *item, uint32_t begin,
                        uint32_t end)
{
    uint32_t best = NONE;
    size_t most = 0;
    for (uint32_t i = begin; i < end; i++) {
        const struct line *line = &search->lines.at[i];
        size_t like = likeness(item, line);
        if (3 * like < item->size + line->size)
            continue;
        /* Of two that have as much, the one that has less besides. */
        if (like > most || (like == most && line->size < search->lines.at[best].size)) {
            most = like;
            best = i;
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------- reports ---- */

static void report_line(struct search *search, const char *what, uint32_t line)
{
    const struct line *at = &search->lines.at[line];
    text_printf(search->report, "    %s output line %u: ", what, at->number);
    text_bytes(search->report, at->text, at->size);
    text_char(search->report, '\n');
}

static void report_captures(struct search *search)
{
    const struct captures *captures = search->captures;
    const char *between = "    captured: ";
    for (uint32_t i = 0; i < captures->count; i++) {
        const struct capture *capture = &captures->at[i];
        if (captures_find(captures, capture->name) != capture)
            continue;
        text_printf(search->report, "%s%s = %.*s", between, capture->name, (int)capture->size,
                    capture->value);
        between = ", ";
    }
    if (captures->count)
        text_char(search->report, '\n');
}

static void report_item(struct search *search, const struct golden_item *item, const char *what)
{
    search->check->passed = false;
    text_printf(search->report, "  line %u: %s: ", item->line, what);
    text_bytes(search->report, item->text, item->size);
    text_char(search->report, '\n');
}

/* Notes an output line as the text of an item that is not satisfied. False where that would lose a
 * regular expression. */
static bool repair_item(struct search *search, uint32_t item, uint32_t line)
{
    if (search->section->items.at[item].template.regexes)
        return false;
    search->check->repairs[item].line =
        (struct part){search->lines.at[line].text, search->lines.at[line].size};
    return true;
}

/* ------------------------------------------------------------------------ lines in order ---- */

/* How many lines of a run, from its first on, match the output from `at` on. */
static uint32_t count_fitting(struct search *search, const struct run *run, uint32_t at)
{
    uint32_t n = 0, known = search->captures->count;
    while (run->first + n < run->end && at + n < search->lines.count &&
           item_fits(search, &search->section->items.at[run->first + n], at + n))
        n++;
    if (run->first + n < run->end)
        search->captures->count = known;
    return n;
}

/* Finds the first place from `from` on where the run matches; else where most of its first lines
 * do. */
static bool find_run(struct search *search, const struct run *run, uint32_t from, uint32_t *place,
                     uint32_t *most)
{
    *place = NONE;
    *most = 0;
    for (uint32_t at = from; at < search->lines.count; at++) {
        uint32_t n = count_fitting(search, run, at);
        if (n <= *most)
            continue;
        *place = at;
        *most = n;
        if (run->first + n == run->end)
            return true;
    }
    return false;
}

static void report_run(struct search *search, const struct run *run, uint32_t from, uint32_t place,
                       uint32_t most)
{
    const struct golden_item *item = &search->section->items.at[run->first + most];
    uint32_t before, how_many;
    report_item(search, item, most ? "does not follow" : "not found");
    if (from < search->lines.count)
        report_line(search, "searched from", from);
    else
        text_string(search->report, "    nothing is left to search\n");
    if (most) {
        report_line(search, "the lines before it end in", place + most - 1);
        if (place + most < search->lines.count)
            report_line(search, "next is", place + most);
    } else if (place != NONE) {
        report_line(search, "most similar is", place);
    }
    if (!most && from && find_run(search, run, 0, &before, &how_many) && before < from)
        report_line(search, "it appears earlier, in", before);
    report_captures(search);
}

/* Replaces the lines of the run by those from `place` on. */
static bool repair_run(struct search *search, const struct run *run, uint32_t place)
{
    bool good = place != NONE && run->end - run->first <= search->lines.count - place;
    for (uint32_t i = run->first; good && i < run->end; i++) {
        uint32_t at = place + (i - run->first);
        good = item_fits(search, &search->section->items.at[i], at) || repair_item(search, i, at);
    }
    return good;
}

/* Returns where to continue. */
static uint32_t compare_run(struct search *search, const struct run *run, uint32_t from)
{
    uint32_t place, most, size = run->end - run->first;
    if (find_run(search, run, from, &place, &most))
        return place + size;
    if (!most)
        place = nearest(search, &search->section->items.at[run->first], from, search->lines.count);
    report_run(search, run, from, place, most);
    search->check->repairable = repair_run(search, run, place);
    return search->check->repairable ? place + size : NONE;
}

/* All lines in their order. After lines that are missing, and like no others, the next are not
 * searched for: they might be found anywhere. */
static void compare_order(struct search *search)
{
    const struct golden_section *section = search->section;
    uint32_t from = 0;
    for (uint32_t i = 0; from != NONE && i < section->items.count;) {
        struct run run = {i, i};
        while (run.end < section->items.count && section->items.at[run.end].kind == ITEM_LINE)
            run.end++;
        if (run.end > run.first)
            from = compare_run(search, &run, from);
        i = run.end + (run.end == run.first);
    }
}

/* -------------------------------------------------------------------- lines at any place ---- */

static void compare_not(struct search *search, struct golden_item *item)
{
    uint32_t known = search->captures->count;
    for (uint32_t i = 0; i < search->lines.count; i++) {
        if (!item_fits(search, item, i))
            continue;
        search->captures->count = known;
        report_item(search, item, "must not appear");
        report_line(search, "but is in", i);
        report_captures(search);
        search->check->repairable = false;
        return;
    }
}

static void compare_anywhere(struct search *search, uint32_t index)
{
    struct golden_item *item = &search->section->items.at[index];
    for (uint32_t i = 0; i < search->lines.count; i++)
        if (item_fits(search, item, i))
            return;
    report_item(search, item, "not found anywhere");
    uint32_t like = nearest(search, item, 0, search->lines.count);
    if (like != NONE)
        report_line(search, "most similar is", like);
    report_captures(search);
    search->check->repairable &= like != NONE && repair_item(search, index, like);
}

static void compare_times(struct search *search, uint32_t index)
{
    struct golden_item *item = &search->section->items.at[index];
    uint32_t known = search->captures->count, n = 0;
    char what[64];
    struct vec_u32 found = {NULL, 0, 0};
    for (uint32_t i = 0; i < search->lines.count; i++) {
        if (item_fits(search, item, i)) {
            n++;
            vec_push(&found, i);
        }
        search->captures->count = known;
    }
    if (n != item->times) {
        snprintf(what, sizeof what, "expected in %u line%s, found in %u", item->times,
                 item->times == 1 ? "" : "s", n);
        report_item(search, item, what);
        for (uint32_t i = 0; i < n && i < 20; i++)
            report_line(search, "it is in", found.at[i]);
        report_captures(search);
        search->check->repairs[index].times = n;
        search->check->repairable &= n > 0;
    }
    vec_free(&found);
}

/* -------------------------------------------------------------------------------- section ---- */

void golden_compare_lines(struct golden_section *section, struct golden_check *check,
                          struct captures *captures, struct text *report)
{
    struct search search = {
        .section = section, .captures = captures, .report = report, .check = check};
    check->passed = check->repairable = true;
    check->repairs = mem_calloc(section->items.count, sizeof *check->repairs);
    split_lines(&search, check->actual, check->first);
    compare_order(&search);
    for (uint32_t i = 0; i < section->items.count; i++) {
        if (section->items.at[i].kind == ITEM_NOT)
            compare_not(&search, &section->items.at[i]);
        else if (section->items.at[i].kind == ITEM_ANYWHERE)
            compare_anywhere(&search, i);
        else if (section->items.at[i].kind == ITEM_TIMES)
            compare_times(&search, i);
    }
    vec_free(&search.lines);
}
