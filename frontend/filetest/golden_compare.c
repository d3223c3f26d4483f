/* What is wrong with an outcome. Diagnostics are matched one to one with expectations, in order: an
 * expectation takes the first reported diagnostic of its line and severity that contains its text
 * and that no earlier expectation has taken. What is printed is cut to the part of a section; then
 * all of it, its changes against the canonical input, or some of its lines are compared. */
#define _GNU_SOURCE /* memmem */
#include "frontend/driver/diff.h"
#include "frontend/filetest/golden.h"
#include "frontend/filetest/golden_scan.h"
#include "ir/support/ids.h"

/* ------------------------------------------------------------------------------- parts ---- */

static size_t line_size(const struct part *part, const char *line)
{
    const char *end = part->text + part->size;
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    return (size_t)((stop ? stop : end) - line);
}

static const char *next_line(const struct part *part, const char *line)
{
    const char *end = part->text + part->size;
    line += line_size(part, line);
    return line < end ? line + 1 : end;
}

static size_t indent_of(const char *line, size_t size)
{
    size_t n = 0;
    while (n < size && line[n] == ' ')
        n++;
    return n;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

/* Whether the line begins with the words, which end there as a name does. */
static bool begins_with(const char *line, size_t size, const struct part *words)
{
    scan_trim(&line, &size);
    return size >= words->size && memcmp(line, words->text, words->size) == 0 &&
           (size == words->size || !is_name_byte(line[words->size]));
}

/* Where the block ends that begins with the line. */
static const char *block_end(const struct part *part, const char *line)
{
    const char *end = part->text + part->size;
    size_t size = line_size(part, line), indent = indent_of(line, size);
    const char *text = line, *behind = next_line(part, line);
    size_t trimmed = size;
    scan_trim(&text, &trimmed);
    if (trimmed == 0 || text[trimmed - 1] != '{')
        return behind;
    for (const char *at = behind; at < end; at = next_line(part, at)) {
        size = line_size(part, at);
        if (indent_of(at, size) == indent && indent < size && at[indent] == '}')
            return next_line(part, at);
    }
    return end;
}

static bool find_words(struct part *part, const struct part *words)
{
    const char *end = part->text + part->size;
    for (const char *line = part->text; line < end; line = next_line(part, line)) {
        if (!begins_with(line, line_size(part, line), words))
            continue;
        part->size = (size_t)(block_end(part, line) - line);
        part->text = line;
        return true;
    }
    return false;
}

/* Cuts the words before the next comma outside of quotes off the path. */
static struct part cut_words(const char **path)
{
    const char *p = *path, *begin = p;
    bool quoted = false;
    for (; *p && (quoted || *p != ','); p++)
        if (*p == '"')
            quoted = !quoted;
    struct part words = {begin, (size_t)(p - begin)};
    scan_trim(&words.text, &words.size);
    *path = *p ? p + 1 : p;
    return words;
}

/* Narrows `*part` to the lines of the part that `path` names: words that a line begins with, from
 * that line to the one that begins with '}' as deep as it; after a comma words of a line in
 * there. False where there is none; `*missing` is then what was looked for last. */
static bool golden_find_part(struct part *part, const char *path, struct part *missing)
{
    while (*path) {
        struct part words = cut_words(&path);
        *missing = words;
        if (words.size == 0 || part->size == 0 || !find_words(part, &words))
            return false;
    }
    return true;
}

/* A block of a text: its lines up to an empty one. */
struct block {
    struct part text;
    size_t head;      /* bytes of its first two words */
    bool same;        /* the other text has it */
    uint32_t partner; /* a block of the other text with the same head; NONE: there is none */
};

struct blocks {
    struct block *at;
    uint32_t count, capacity;
};

/* ------------------------------------------------------------------------------- blocks ---- */

/* "entry @e" of "entry @e : aiv_only {". */
static size_t head_size(const struct part *text)
{
    unsigned words = 0;
    for (size_t i = 0; i < text->size; i++) {
        char c = text->text[i];
        if (c == '\n' || c == '(' || c == ':' || (c == ' ' && ++words == 2))
            return i;
    }
    return text->size;
}

static void add_block(struct blocks *blocks, const char *begin, const char *end)
{
    struct block block = {.text = {begin, (size_t)(end - begin)}, .partner = NONE};
    block.head = head_size(&block.text);
    if (end > begin)
        vec_push(blocks, block);
}

static void split_blocks(struct blocks *blocks, struct part text)
{
    const char *end = text.text + text.size, *begin = text.text;
    for (const char *line = begin; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == line) {
            add_block(blocks, begin, line);
            begin = line + 1;
        }
        line = stop ? stop + 1 : end;
    }
    add_block(blocks, begin, end);
}

/* ---------------------------------------------------------------------------- comparison ---- */

static bool is_alike(const struct block *a, const struct block *b, bool whole)
{
    size_t size = whole ? a->text.size : a->head;
    return size == (whole ? b->text.size : b->head) &&
           memcmp(a->text.text, b->text.text, size) == 0;
}

/* Pairs blocks that are equal, or have equal heads, each with the first that is left. */
static void pair(struct blocks *old, struct blocks *new, bool whole)
{
    for (uint32_t i = 0; i < new->count; i++)
        for (uint32_t j = 0; new->at[i].partner == NONE &&j < old->count; j++) {
            if (old->at[j].partner != NONE || !is_alike(&old->at[j], &new->at[i], whole))
                continue;
            new->at[i].partner = j;
            old->at[j].partner = i;
            new->at[i].same = whole;
        }
}

/* ------------------------------------------------------------------------------ printing ---- */

static void print_gone(struct text *out, const struct part *text)
{
    const char *end = memchr(text->text, '\n', text->size);
    text_char(out, '-');
    text_bytes(out, text->text, end ? (size_t)(end - text->text) : text->size);
    text_char(out, '\n');
}

/* Appends the blocks of `new` (what stands between empty lines) that `old` has not. One that begins
 * with the same two words as one of `old` is shown as what differs: lines with '-' and '+', and
 * "..." for the others. Of those that only `old` has, the first line is shown, with a '-'. */
static void golden_changes(struct text *out, struct part old_text, struct part new_text)
{
    struct blocks old = {NULL, 0, 0}, new = {NULL, 0, 0};
    split_blocks(&old, old_text);
    split_blocks(&new, new_text);
    pair(&old, &new, true);
    pair(&old, &new, false);
    const char *between = "";
    for (uint32_t i = 0; i < new.count; i++) {
        const struct block *block = &new.at[i];
        if (block->same)
            continue;
        text_string(out, between);
        between = "\n";
        if (block->partner == NONE) {
            text_bytes(out, block->text.text, block->text.size);
            if (block->text.text[block->text.size - 1] != '\n')
                text_char(out, '\n');
            continue;
        }
        const struct part *before = &old.at[block->partner].text;
        diff_brief(out, before->text, before->size, block->text.text, block->text.size);
    }
    for (uint32_t i = 0; i < old.count; i++) {
        if (old.at[i].partner != NONE)
            continue;
        text_string(out, between);
        between = "\n";
        print_gone(out, &old.at[i].text);
    }
    vec_free(&old);
    vec_free(&new);
}

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

static bool item_fits(struct search *search, struct golden_item *item, uint32_t line)
{
    return template_matches(&item->template, search->lines.at[line].text,
                            search->lines.at[line].size, item->kind == ITEM_LINE, search->captures);
}

/* ------------------------------------------------------------------------------ nearness ---- */

/* The line of [begin, end) that is most like an item; NONE where none has a third of it. */
static uint32_t nearest(const struct search *search, const struct golden_item *item, uint32_t begin,
                        uint32_t end)
{
    uint32_t best = NONE;
    size_t most = 0;
    for (uint32_t i = begin; i < end; i++) {
        const struct line *line = &search->lines.at[i];
        /* How much of both stands at the same place, from either end: up to the size of both. */
        size_t limit = item->size < line->size ? item->size : line->size, front = 0, back = 0;
        while (front < limit && item->text[front] == line->text[front])
            front++;
        while (back < limit - front &&
               item->text[item->size - 1 - back] == line->text[line->size - 1 - back])
            back++;
        size_t like = 2 * (front + back);
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

static void golden_compare_lines(struct golden_section *section, struct golden_check *check,
                                 struct captures *captures, struct text *report)
{
    struct search search = {
        .section = section, .captures = captures, .report = report, .check = check};
    check->passed = check->repairable = true;
    check->repairs = mem_calloc(section->items.count, sizeof *check->repairs);
    uint32_t number = check->first;
    const char *end = check->actual.text + check->actual.size;
    for (const char *line = check->actual.text; line < end; number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        struct line found = {line, (size_t)(stop - line), number};
        scan_trim(&found.text, &found.size);
        if (found.size)
            vec_push(&search.lines, found);
        line = stop + 1;
    }
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

bool golden_is_required(const struct golden *golden, uint32_t command,
                        const struct golden_diag *diag)
{
    return diag->severity == GOLDEN_ERROR || diag->severity == GOLDEN_WARNING ||
           (diag->severity == GOLDEN_REMARK && golden_expects(golden, command, GOLDEN_REMARK));
}

/* ------------------------------------------------------------------------- diagnostics ---- */

static void report_diag(struct text *report, const char *what, const struct golden_diag *diag)
{
    text_printf(report, "  %s: ", what);
    if (diag->line)
        text_printf(report, "line %u: ", diag->line);
    text_printf(report, "%s: %s\n", golden_severity_text(diag->severity), diag->text);
}

static bool compare_diagnostics(const struct golden *golden, uint32_t command,
                                const struct golden_outcome *outcome, struct text *report)
{
    bool good = true;
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        const struct golden_diag *diag = &golden->expected.at[i];
        if (!outcome->held[i] && golden_is_for(diag, command)) {
            report_diag(report, "expected, but not reported", diag);
            good = false;
        }
    }
    for (uint32_t i = 0; i < outcome->reported.count; i++) {
        const struct golden_diag *diag = &outcome->reported.at[i];
        if (!diag->matched && golden_is_required(golden, command, diag)) {
            report_diag(report, "reported, but not expected", diag);
            good = false;
        }
    }
    if (!good) {
        for (uint32_t i = 0; i < golden->expected.count; i++)
            if (golden_is_for(&golden->expected.at[i], command))
                report_diag(report, "all expected", &golden->expected.at[i]);
        for (uint32_t i = 0; i < outcome->reported.count; i++)
            report_diag(report, "all reported", &outcome->reported.at[i]);
    }
    return good;
}

bool golden_is_acceptable(const struct golden_outcome *outcome)
{
    bool has_error = false;
    for (uint32_t i = 0; i < outcome->reported.count; i++)
        has_error |= outcome->reported.at[i].severity == GOLDEN_ERROR;
    return outcome->status == (has_error ? EXIT_INPUT : EXIT_DONE);
}

static bool compare_status(const struct golden *golden, uint32_t command,
                           const struct golden_outcome *outcome, struct text *report)
{
    int wanted = golden_expects(golden, command, GOLDEN_ERROR) ? EXIT_INPUT : EXIT_DONE;
    if (outcome->status == wanted)
        return true;
    text_printf(report, "  exit status %d instead of %d\n", outcome->status, wanted);
    if (outcome->err_size) {
        text_string(report, "  standard error:\n");
        text_bytes(report, outcome->err, outcome->err_size);
        if (outcome->err[outcome->err_size - 1] != '\n')
            text_char(report, '\n');
    }
    return false;
}

/* ------------------------------------------------------------------------------ output ---- */

static const char *stream_name(const struct golden_section *section)
{
    return section->report ? "report" : "standard output";
}

static uint32_t count_lines(const char *text, const char *end)
{
    uint32_t n = 0;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text))))
        n++, text++;
    return n;
}

/* A part always has an address, even if it is empty. */
static struct part part_of(const struct text *text)
{
    return (struct part){text->size ? text->at : "", text->size};
}

/* Finds what the section is about. */
static bool find_actual(const struct golden_section *section, const struct golden_outcome *outcome,
                        struct golden_check *check, struct text *report)
{
    struct part all = {outcome->out, outcome->out_size}, missing;
    struct part old = part_of(&outcome->canonical);
    if (section->report)
        all = part_of(&outcome->report);
    check->actual = all;
    check->first = 1;
    if (section->part && !golden_find_part(&check->actual, section->part, &missing)) {
        text_printf(report, "  line %u: the %s has no '%.*s'\n", section->line,
                    stream_name(section), (int)missing.size, missing.text);
        return false;
    }
    if (section->part && !golden_find_part(&old, section->part, &missing))
        old.size = 0;
    if (check->actual.size)
        check->first += count_lines(all.text, check->actual.text);
    if (section->kind == GOLDEN_CHANGES) {
        golden_changes(&check->changes, old, check->actual);
        check->actual = part_of(&check->changes);
    }
    return true;
}

static bool has_crlf(const char *text, size_t size)
{
    return size && memmem(text, size, "\r\n", 2);
}

static bool compare_exact(const struct golden_section *section, const struct part *actual,
                          struct text *report)
{
    char name[300];
    const char *what = section->kind == GOLDEN_CHANGES ? "changes" : stream_name(section);
    size_t before = report->size, size = section->nothing ? 0 : section->size;
    if (section->part)
        snprintf(name, sizeof name, "%s in %s", what, section->part);
    else
        snprintf(name, sizeof name, "%s", what);
    diff_unified(report, "expected", section->text, size, name, actual->text, actual->size);
    if (report->size == before)
        return true;
    if (has_crlf(section->text, size) && !has_crlf(actual->text, actual->size))
        text_string(report, "  the lines of the test end in CR LF, those of the output in LF\n");
    return false;
}

static bool compare_section(struct golden_section *section, const struct golden_outcome *outcome,
                            struct golden_check *check, struct captures *captures,
                            struct text *report)
{
    check->found = find_actual(section, outcome, check, report);
    if (check->found && section->kind == GOLDEN_LINES)
        golden_compare_lines(section, check, captures, report);
    else if (check->found)
        check->passed = compare_exact(section, &check->actual, report);
    return check->passed;
}

static bool expects_diagnostics(const struct golden *golden, uint32_t command)
{
    for (uint32_t i = 0; i < golden->expected.count; i++)
        if (golden_is_for(&golden->expected.at[i], command))
            return true;
    return false;
}

static bool compare_output(const struct golden *golden, uint32_t index,
                           struct golden_outcome *outcome, struct captures *captures,
                           struct text *report)
{
    const struct golden_command *command = &golden->commands.at[index];
    bool good = true;
    if (command->sections.count == 0) {
        /* The output of a command without sections must be empty, unless the command succeeds and
         * diagnostics are expected of it. */
        bool silent = expects_diagnostics(golden, index);
        if (silent && outcome->status == EXIT_DONE)
            return true;
        size_t before = report->size;
        diff_unified(report, "expected", "", 0, "standard output", outcome->out, outcome->out_size);
        if (!silent)
            text_printf(
                report,
                "  nothing is expected of '%s': add '//! expect' and its output after the input, "
                "or '//! expect nothing'%s\n",
                golden->commands.at[index].words.at[0],
                golden_is_acceptable(outcome) ? "; --bless adds them" : "");
        return report->size == before;
    }
    outcome->n_checks = command->sections.count;
    outcome->checks = mem_calloc(outcome->n_checks, sizeof *outcome->checks);
    for (uint32_t i = 0; i < outcome->n_checks; i++)
        good &= compare_section(&command->sections.at[i], outcome, &outcome->checks[i], captures,
                                report);
    return good;
}

static bool compare_command(const struct golden *golden, uint32_t command,
                            struct golden_outcome *outcome, struct captures *captures,
                            struct text *report)
{
    outcome->held = mem_calloc(golden->expected.count, sizeof *outcome->held);
    for (uint32_t i = 0; i < golden->expected.count; i++) {
        const struct golden_diag *expected = &golden->expected.at[i];
        if (!golden_is_for(expected, command))
            continue;
        for (uint32_t k = 0; !outcome->held[i] && k < outcome->reported.count; k++) {
            struct golden_diag *diag = &outcome->reported.at[k];
            if (!diag->matched && diag->line == expected->line &&
                diag->severity == expected->severity && strstr(diag->text, expected->text))
                outcome->held[i] = diag->matched = true;
        }
    }
    bool diagnostics = compare_diagnostics(golden, command, outcome, report);
    bool status = compare_status(golden, command, outcome, report);
    bool output = compare_output(golden, command, outcome, captures, report);
    return diagnostics && status && output;
}

bool golden_compare(const struct golden *golden, struct golden_outcome *outcomes,
                    struct text *report)
{
    struct captures captures = {NULL, 0, 0};
    bool good = true;
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        struct text wrong = {NULL, 0, 0};
        const struct golden_command *command = &golden->commands.at[i];
        if (!compare_command(golden, i, &outcomes[i], &captures, &wrong)) {
            good = false;
            if (golden->commands.count > 1)
                text_printf(report, "  %.*s\n", (int)command->head_size, command->head);
            text_append(report, &wrong);
        }
        text_free(&wrong);
    }
    vec_free(&captures);
    return good;
}
