#include "frontend/golden/golden_lines.h"
#include "frontend/golden/golden_scan.h"

/* A line of what was printed, trimmed; empty ones are none. */
struct line {
    const char *text;
    size_t size;
    uint32_t number;
};

struct search {
    const struct golden_section *section;
    VEC(struct line) lines;
    struct captures *captures;
    struct text *report;
    struct golden_repairs *repairs;
    struct arena work;
    bool good;
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

static bool item_fits(struct search *search, const struct golden_item *item, uint32_t line)
{
    return template_matches(&item->template, search->lines.at[line].text,
                            search->lines.at[line].size, item->kind == ITEM_LINE, search->captures,
                            &search->work);
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
    search->good = false;
    text_printf(search->report, "  line %u: %s: ", item->line, what);
    text_bytes(search->report, item->text, item->size);
    text_char(search->report, '\n');
}

/* ------------------------------------------------------------------------ lines in order ---- */

/* How many lines of a run, from its first on, stand from `at` on. */
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

/* The first place behind `from` where the run stands; else where most of its first lines do. */
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

/* Where a run that is wrong may be at most: before the next one. */
static uint32_t limit_of(struct search *search, const struct run *run, uint32_t from)
{
    const struct golden_section *section = search->section;
    uint32_t first = run->end, place, most, known = search->captures->count;
    while (first < section->items.count && section->items.at[first].kind != ITEM_LINE)
        first++;
    struct run next = {first, first};
    while (next.end < section->items.count && section->items.at[next.end].kind == ITEM_LINE)
        next.end++;
    bool found = next.first < next.end && find_run(search, &next, from, &place, &most);
    search->captures->count = known;
    return found ? place : search->lines.count;
}

/* Puts the lines from `place` on where those of the run do not hold. False where that would take a
 * pattern away, or there are not as many. */
static bool repair_run(struct search *search, const struct run *run, uint32_t place)
{
    for (uint32_t i = run->first; search->repairs && i < run->end; i++) {
        uint32_t at = place + (i - run->first);
        const struct golden_item *item = &search->section->items.at[i];
        if (place == NONE || at >= search->lines.count)
            return false;
        if (item_fits(search, item, at))
            continue;
        if (item->template.patterns)
            return false;
        search->repairs->at[i] =
            (struct part){search->lines.at[at].text, search->lines.at[at].size};
    }
    return search->repairs;
}

static void report_run(struct search *search, const struct run *run, uint32_t from, uint32_t place,
                       uint32_t most)
{
    const struct golden_item *item = &search->section->items.at[run->first + most];
    uint32_t before, how_many;
    report_item(search, item, most ? "does not follow" : "not found");
    if (from < search->lines.count)
        report_line(search, "searched from", from);
    if (most) {
        report_line(search, "the lines before it end in", place + most - 1);
        if (place + most < search->lines.count)
            report_line(search, "there follows", place + most);
    } else if (from < search->lines.count) {
        uint32_t like = nearest(search, item, from, search->lines.count);
        if (like != NONE)
            report_line(search, "nearest is", like);
    } else {
        text_string(search->report, "    nothing is left to search\n");
    }
    if (!most && from && find_run(search, run, 0, &before, &how_many) && before < from)
        report_line(search, "it stands before that, in", before);
    report_captures(search);
}

/* Returns where to go on. */
static uint32_t judge_run(struct search *search, const struct run *run, uint32_t from)
{
    uint32_t place, most, size = run->end - run->first;
    if (find_run(search, run, from, &place, &most))
        return place + size;
    report_run(search, run, from, place, most);
    if (!search->repairs)
        return from;
    if (!most)
        place = nearest(search, &search->section->items.at[run->first], from,
                        limit_of(search, run, from));
    search->good = repair_run(search, run, place);
    return place == NONE ? from : place + size;
}

/* All lines in their order. After one that is missing, the next are not looked for: they might be
 * found anywhere. */
static void judge_order(struct search *search)
{
    const struct golden_section *section = search->section;
    uint32_t from = 0;
    for (uint32_t i = 0; search->good && i < section->items.count;) {
        struct run run = {i, i};
        while (run.end < section->items.count && section->items.at[run.end].kind == ITEM_LINE)
            run.end++;
        if (run.end > run.first)
            from = judge_run(search, &run, from);
        i = run.end + (run.end == run.first);
    }
}

/* --------------------------------------------------------------------- lines at any place ---- */

static void judge_not(struct search *search, const struct golden_item *item)
{
    uint32_t known = search->captures->count;
    for (uint32_t i = 0; i < search->lines.count; i++) {
        if (!item_fits(search, item, i))
            continue;
        search->captures->count = known;
        report_item(search, item, "is not to be there");
        report_line(search, "but it is in", i);
        report_captures(search);
        return;
    }
}

static void judge_anywhere(struct search *search, uint32_t index)
{
    const struct golden_item *item = &search->section->items.at[index];
    for (uint32_t i = 0; i < search->lines.count; i++)
        if (item_fits(search, item, i))
            return;
    report_item(search, item, "not found anywhere");
    uint32_t like = nearest(search, item, 0, search->lines.count);
    if (like != NONE)
        report_line(search, "nearest is", like);
    report_captures(search);
    if (search->repairs && like != NONE && !item->template.patterns) {
        search->repairs->at[index] =
            (struct part){search->lines.at[like].text, search->lines.at[like].size};
        search->good = true;
    }
}

static void judge_times(struct search *search, uint32_t index)
{
    const struct golden_item *item = &search->section->items.at[index];
    uint32_t known = search->captures->count, n = 0;
    char what[64];
    for (uint32_t i = 0; i < search->lines.count; i++) {
        n += item_fits(search, item, i);
        search->captures->count = known;
    }
    if (n == item->times)
        return;
    snprintf(what, sizeof what, "to be in %u line%s, but is in %u", item->times,
             item->times == 1 ? "" : "s", n);
    report_item(search, item, what);
    for (uint32_t i = 0, shown = 0; i < search->lines.count && shown < 20; i++) {
        if (item_fits(search, item, i)) {
            report_line(search, "it is in", i);
            shown++;
        }
        search->captures->count = known;
    }
    report_captures(search);
    if (search->repairs && n) {
        search->repairs->times[index] = n;
        search->good = true;
    }
}

/* ----------------------------------------------------------------------------- judgement ---- */

static bool judge_items(struct search *search)
{
    const struct golden_section *section = search->section;
    bool good = true;
    judge_order(search);
    for (uint32_t i = 0; i < section->items.count; i++) {
        good = good && search->good;
        search->good = true;
        if (section->items.at[i].kind == ITEM_NOT)
            judge_not(search, &section->items.at[i]);
        else if (section->items.at[i].kind == ITEM_ANYWHERE)
            judge_anywhere(search, i);
        else if (section->items.at[i].kind == ITEM_TIMES)
            judge_times(search, i);
    }
    return good && search->good;
}

bool golden_judge_lines(const struct golden_section *section, struct part text, uint32_t first,
                        struct captures *captures, struct text *report,
                        struct golden_repairs *repairs)
{
    struct search search = {.section = section,
                            .captures = captures,
                            .report = report,
                            .repairs = repairs,
                            .good = true};
    split_lines(&search, text, first);
    bool good = judge_items(&search);
    vec_free(&search.lines);
    arena_free(&search.work);
    return good;
}
