/* What is wrong with an outcome. Diagnostics are matched one to one with expectations, in order: an
 * expectation takes the first reported diagnostic of its line and severity that contains its text
 * and that no earlier expectation has taken. What is printed is cut to the part of a section; then
 * all of it, its changes against the canonical input, or some of its lines are compared. */
#define _GNU_SOURCE /* memmem */
#include "frontend/driver/diff.h"
#include "frontend/filetest/golden.h"

/* ------------------------------------------------------------------------------- parts ---- */

static size_t indent_of(struct part line)
{
    size_t n = 0;
    while (n < line.size && line.text[n] == ' ')
        n++;
    return n;
}

/* Whether the line begins with the words, which end there as a name does. */
static bool begins_with(struct part line, struct part words)
{
    static const char name_bytes[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
    line = scan_trim(line);
    return line.size >= words.size && memcmp(line.text, words.text, words.size) == 0 &&
           (line.size == words.size ||
            !memchr(name_bytes, line.text[words.size], sizeof name_bytes - 1));
}

/* Narrows `*part` to the lines of the part that `path` names: words that a line begins with, from
 * that line to the one that begins with '}' as deep as it; after a comma outside of quotes words of
 * a line in there. False where there is none; `*words` is then what was looked for last. */
static bool find_part(struct part *part, const char *path, struct part *words)
{
    while (*path) {
        struct part rest = *part, line, last;
        const char *begin = path;
        bool quoted = false, found = false;
        for (; *path && (quoted || *path != ','); path++)
            quoted ^= *path == '"';
        *words = scan_trim((struct part){begin, (size_t)(path - begin)});
        path += *path == ',';
        while (!found && words->size && scan_take_line(&rest, &line))
            found = begins_with(line, *words);
        if (!found)
            return false;
        size_t indent = indent_of(line);
        struct part head = scan_trim(line);
        bool open = head.size && head.text[head.size - 1] == '{';
        while (open && scan_take_line(&rest, &last))
            open = indent_of(last) != indent || indent == last.size || last.text[indent] != '}';
        *part = (struct part){line.text, (size_t)(rest.text - line.text)};
    }
    return true;
}

/* ------------------------------------------------------------------------------- blocks ---- */

/* A block of a text: its lines up to an empty one. */
struct block {
    struct part text;
    struct part head; /* its first two words: "entry @e" of "entry @e : aiv_only {" */
    bool same;        /* the other text has it */
    uint32_t partner; /* a block of the other text with the same head; NONE: there is none */
};

struct blocks {
    struct block *at;
    uint32_t count, capacity;
};

static void split_blocks(struct blocks *blocks, struct part text)
{
    struct part rest = text, line;
    while (rest.size) {
        struct block block = {.text = {rest.text, 0}, .partner = NONE};
        while (scan_take_line(&rest, &line) && line.size)
            block.text.size = (size_t)(rest.text - block.text.text);
        block.head = (struct part){block.text.text, 0};
        for (unsigned words = 0; block.head.size < block.text.size; block.head.size++) {
            char c = block.text.text[block.head.size];
            if (c == '\n' || c == '(' || c == ':' || (c == ' ' && ++words == 2))
                break;
        }
        if (block.text.size)
            vec_push(blocks, block);
    }
}

/* Pairs blocks that are equal, or have equal heads, each with the first that is left. */
static void pair_blocks(struct blocks *old, struct blocks *new, bool whole)
{
    for (uint32_t i = 0; i < new->count; i++)
        for (uint32_t j = 0; new->at[i].partner == NONE &&j < old->count; j++) {
            struct block *a = &old->at[j], *b = &new->at[i];
            if (a->partner != NONE ||
                !(whole ? scan_is(a->text, b->text) : scan_is(a->head, b->head)))
                continue;
            b->partner = j;
            a->partner = i;
            b->same = whole;
        }
}

/* Appends the blocks of `new` (what is between empty lines) that `old` has not. One that begins
 * with the same two words as one of `old` is shown as what differs: lines with '-' and '+', and
 * "..." for the others. Of those that only `old` has, the first line is shown, with a '-'. */
static void print_changes(struct text *out, struct part old_text, struct part new_text)
{
    struct blocks old = {NULL, 0, 0}, new = {NULL, 0, 0};
    const char *between = "";
    split_blocks(&old, old_text);
    split_blocks(&new, new_text);
    pair_blocks(&old, &new, true);
    pair_blocks(&old, &new, false);
    for (uint32_t i = 0; i < new.count + old.count; i++) {
        bool gone = i >= new.count;
        const struct block *block = gone ? &old.at[i - new.count] : &new.at[i];
        struct part text = block->text, line;
        if (gone ? block->partner != NONE : block->same)
            continue;
        text_string(out, between);
        between = "\n";
        if (gone || block->partner == NONE) {
            for (bool more = scan_take_line(&text, &line); more;
                 more = !gone && scan_take_line(&text, &line)) {
                text_string(out, gone ? "-" : "");
                text_bytes(out, line.text, line.size);
                text_char(out, '\n');
            }
        } else {
            const struct part *before = &old.at[block->partner].text;
            diff_brief(out, before->text, before->size, text.text, text.size);
        }
    }
    vec_free(&old);
    vec_free(&new);
}

/* -------------------------------------------------------------------------------- lines ---- */

/* A line of what was printed, trimmed; empty ones are none. */
struct line {
    struct part text;
    uint32_t number;
};

/* Some lines of an output are searched for. */
struct search {
    struct golden_section *section;
    VEC(struct line) lines;
    struct captures *captures;
    struct text *report;
};

/* Items [first, end) whose lines follow each other. */
struct run {
    uint32_t first, end;
};

static bool item_fits(struct search *search, struct golden_item *item, uint32_t line)
{
    struct part text = search->lines.at[line].text;
    return template_matches(&item->template, text.text, text.size, item->kind == ITEM_LINE,
                            search->captures);
}

/* The line from `begin` on that is most like an item; NONE where none has a third of it. */
static uint32_t find_nearest(const struct search *search, const struct golden_item *item,
                             uint32_t begin)
{
    uint32_t best = NONE;
    size_t most = 0;
    for (uint32_t i = begin; i < search->lines.count; i++) {
        struct part a = item->text, b = search->lines.at[i].text;
        /* How much of both is the same from either end: up to the size of both. */
        size_t limit = a.size < b.size ? a.size : b.size, front = 0, back = 0;
        while (front < limit && a.text[front] == b.text[front])
            front++;
        while (back < limit - front && a.text[a.size - 1 - back] == b.text[b.size - 1 - back])
            back++;
        size_t like = 2 * (front + back);
        /* Of two that have as much, the one that has less besides. */
        if (3 * like >= a.size + b.size &&
            (like > most || (like == most && b.size < search->lines.at[best].text.size))) {
            most = like;
            best = i;
        }
    }
    return best;
}

static void report_line(struct search *search, const char *what, uint32_t line)
{
    const struct line *at = &search->lines.at[line];
    text_printf(search->report, "    %s output line %u: ", what, at->number);
    text_bytes(search->report, at->text.text, at->text.size);
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
    search->section->passed = false;
    text_printf(search->report, "  line %u: %s: ", item->line, what);
    text_bytes(search->report, item->text.text, item->text.size);
    text_char(search->report, '\n');
}

/* Gives an item that is not satisfied the text of an output line. False where that would lose a
 * regular expression. */
static bool repair_item(struct search *search, struct golden_item *item, uint32_t line)
{
    if (item->template.regexes == 0)
        item->new_text = search->lines.at[line].text;
    return item->template.regexes == 0;
}

/* Finds the first place from `from` on where the run matches; else where most of its first lines
 * do. */
static bool find_run(struct search *search, struct run run, uint32_t from, uint32_t *place,
                     uint32_t *most)
{
    *place = NONE;
    *most = 0;
    for (uint32_t at = from; at < search->lines.count; at++) {
        uint32_t n = 0, size = run.end - run.first, known = search->captures->count;
        while (n < size && at + n < search->lines.count &&
               item_fits(search, &search->section->items.at[run.first + n], at + n))
            n++;
        if (n < size)
            search->captures->count = known;
        if (n <= *most)
            continue;
        *place = at;
        *most = n;
        if (n == size)
            return true;
    }
    return false;
}

/* Returns where to continue; NONE after lines that are missing, and like no others: the next might
 * be found anywhere. */
static uint32_t compare_run(struct search *search, struct run run, uint32_t from)
{
    struct golden_item *items = search->section->items.at;
    uint32_t place, most, size = run.end - run.first, n_lines = search->lines.count;
    uint32_t before, how_many;
    if (find_run(search, run, from, &place, &most))
        return place + size;
    if (!most)
        place = find_nearest(search, &items[run.first], from);
    report_item(search, &items[run.first + most], most ? "does not follow" : "not found");
    if (from < n_lines)
        report_line(search, "searched from", from);
    else
        text_string(search->report, "    nothing is left to search\n");
    if (most) {
        report_line(search, "the lines before it end in", place + most - 1);
        if (place + most < n_lines)
            report_line(search, "next is", place + most);
    } else if (place != NONE) {
        report_line(search, "most similar is", place);
    }
    if (!most && from && find_run(search, run, 0, &before, &how_many) && before < from)
        report_line(search, "it appears earlier, in", before);
    report_captures(search);
    /* The lines from there on would do instead. */
    bool good = place != NONE && size <= n_lines - place;
    for (uint32_t i = 0; good && i < size; i++)
        good = item_fits(search, &items[run.first + i], place + i) ||
               repair_item(search, &items[run.first + i], place + i);
    search->section->repairable = good;
    return good ? place + size : NONE;
}

static void compare_anywhere(struct search *search, struct golden_item *item)
{
    bool *repairable = &search->section->repairable;
    uint32_t known = search->captures->count, n = 0, first = NONE;
    struct vec_u32 found = {NULL, 0, 0};
    char what[64];
    for (uint32_t i = 0; i < search->lines.count; i++) {
        if (!item_fits(search, item, i))
            continue;
        n++;
        vec_push(&found, i);
        if (item->kind == ITEM_ANYWHERE)
            break;
        search->captures->count = known;
    }
    if (item->kind == ITEM_NOT && n) {
        report_item(search, item, "must not appear");
        report_line(search, "but is in", found.at[0]);
        report_captures(search);
        *repairable = false;
    } else if (item->kind == ITEM_ANYWHERE && !n) {
        report_item(search, item, "not found anywhere");
        first = find_nearest(search, item, 0);
        if (first != NONE)
            report_line(search, "most similar is", first);
        report_captures(search);
        *repairable &= first != NONE && repair_item(search, item, first);
    } else if (item->kind == ITEM_TIMES && n != item->times) {
        snprintf(what, sizeof what, "expected in %u line%s, found in %u", item->times,
                 item->times == 1 ? "" : "s", n);
        report_item(search, item, what);
        for (uint32_t i = 0; i < n && i < 20; i++)
            report_line(search, "it is in", found.at[i]);
        report_captures(search);
        item->new_times = n;
        *repairable &= n > 0;
    }
    vec_free(&found);
}

/* `number`: of the first line of what is compared. Lines in order come first. */
static void compare_lines(struct golden_section *section, uint32_t number,
                          struct captures *captures, struct text *report)
{
    struct search search = {.section = section, .captures = captures, .report = report};
    struct part rest = section->actual, text;
    uint32_t n_items = section->items.count, from = 0;
    struct golden_item *items = section->items.at;
    section->passed = section->repairable = true;
    for (; scan_take_line(&rest, &text); number++) {
        struct line line = {scan_trim(text), number};
        if (line.text.size)
            vec_push(&search.lines, line);
    }
    for (struct run run = {0, 0}; from != NONE && run.first < n_items; run.first = ++run.end) {
        for (run.end = run.first; run.end < n_items && items[run.end].kind == ITEM_LINE;)
            run.end++;
        if (run.end > run.first)
            from = compare_run(&search, run, from);
    }
    for (uint32_t i = 0; i < n_items; i++)
        if (items[i].kind != ITEM_LINE && items[i].kind != ITEM_GAP)
            compare_anywhere(&search, &items[i]);
    vec_free(&search.lines);
}

/* ----------------------------------------------------------------------------- sections ---- */

/* A part always has an address, even if it is empty. */
static struct part part_of(const struct text *text)
{
    return (struct part){text->size ? text->at : "", text->size};
}

static void compare_section(struct golden_section *section, const struct golden_outcome *outcome,
                            struct captures *captures, struct text *report)
{
    const char *stream = section->report ? "report" : "standard output";
    bool changes = section->kind == GOLDEN_CHANGES;
    struct part all = part_of(section->report ? &outcome->report : &outcome->out), missing;
    struct part old = part_of(&outcome->canonical), expected = section->text;
    uint32_t number = 1;
    section->actual = all;
    section->passed = false;
    section->found = !section->part || find_part(&section->actual, section->part, &missing);
    if (!section->found) {
        text_printf(report, "  line %u: the %s has no '%.*s'\n", section->line, stream,
                    (int)missing.size, missing.text);
        return;
    }
    if (section->part && !find_part(&old, section->part, &missing))
        old.size = 0;
    for (const char *at = all.text; at < section->actual.text; at++)
        number += *at == '\n';
    if (section->kind == GOLDEN_LINES) {
        compare_lines(section, number, captures, report);
        return;
    }
    if (changes) {
        section->changes.size = 0;
        print_changes(&section->changes, old, section->actual);
        section->actual = part_of(&section->changes);
    }
    if (section->nothing)
        expected.size = 0;
    section->passed = scan_is(expected, section->actual);
    if (section->passed)
        return;
    struct text name = {NULL, 0, 0};
    text_printf(&name, "%s%s%s", changes ? "changes" : stream, section->part ? " in " : "",
                section->part ? section->part : "");
    text_char(&name, '\0');
    diff_unified(report, "expected", expected.text, expected.size, name.at, section->actual.text,
                 section->actual.size);
    text_free(&name);
    if (expected.size && memmem(expected.text, expected.size, "\r\n", 2) &&
        !memmem(section->actual.text, section->actual.size, "\r\n", 2))
        text_string(report, "  the lines of the test end in CR LF, those of the output in LF\n");
}

/* ------------------------------------------------------------------------- diagnostics ---- */

bool golden_is_required(const struct golden *golden, uint32_t command,
                        const struct golden_diag *diag)
{
    return diag->severity == GOLDEN_ERROR || diag->severity == GOLDEN_WARNING ||
           (diag->severity == GOLDEN_REMARK && golden_expects(golden, command, GOLDEN_REMARK));
}

static void report_diag(struct text *report, const char *what, const struct golden_diag *diag)
{
    text_printf(report, "  %s: ", what);
    if (diag->line)
        text_printf(report, "line %u: ", diag->line);
    text_printf(report, "%s: %s\n", golden_severity_text(diag->severity), diag->text);
}

/* Whether any diagnostic is expected of the command is `*expects`. */
static bool compare_diagnostics(const struct golden *golden, uint32_t command,
                                struct golden_outcome *outcome, struct text *report, bool *expects)
{
    const struct golden_diags *expected = &golden->expected, *reported = &outcome->reported;
    bool good = true;
    outcome->held = mem_calloc(expected->count, sizeof *outcome->held);
    *expects = false;
    for (uint32_t i = 0; i < expected->count; i++) {
        const struct golden_diag *wanted = &expected->at[i];
        if (!golden_is_for(wanted, command))
            continue;
        *expects = true;
        for (uint32_t k = 0; !outcome->held[i] && k < reported->count; k++) {
            struct golden_diag *diag = &reported->at[k];
            if (!diag->matched && diag->line == wanted->line &&
                diag->severity == wanted->severity && strstr(diag->text, wanted->text))
                outcome->held[i] = diag->matched = true;
        }
        if (!outcome->held[i])
            report_diag(report, "expected, but not reported", wanted);
        good &= outcome->held[i];
    }
    for (uint32_t i = 0; i < reported->count; i++) {
        const struct golden_diag *diag = &reported->at[i];
        if (!diag->matched && golden_is_required(golden, command, diag)) {
            report_diag(report, "reported, but not expected", diag);
            good = false;
        }
    }
    for (uint32_t i = 0; !good && i < expected->count; i++)
        if (golden_is_for(&expected->at[i], command))
            report_diag(report, "all expected", &expected->at[i]);
    for (uint32_t i = 0; !good && i < reported->count; i++)
        report_diag(report, "all reported", &reported->at[i]);
    return good;
}

bool golden_is_acceptable(const struct golden_outcome *outcome)
{
    bool has_error = false;
    for (uint32_t i = 0; i < outcome->reported.count; i++)
        has_error |= outcome->reported.at[i].severity == GOLDEN_ERROR;
    return outcome->status == (has_error ? EXIT_INPUT : EXIT_DONE);
}

/* ------------------------------------------------------------------------------ commands ---- */

static bool compare_command(struct golden *golden, uint32_t index, struct golden_outcome *outcome,
                            struct captures *captures, struct text *report)
{
    struct golden_command *command = &golden->commands.at[index];
    int status = golden_expects(golden, index, GOLDEN_ERROR) ? EXIT_INPUT : EXIT_DONE;
    bool expects, good = compare_diagnostics(golden, index, outcome, report, &expects);
    if (outcome->status != status) {
        good = false;
        text_printf(report, "  exit status %d instead of %d\n", outcome->status, status);
        if (outcome->err.size) {
            text_string(report, "  standard error:\n");
            text_append(report, &outcome->err);
            if (outcome->err.at[outcome->err.size - 1] != '\n')
                text_char(report, '\n');
        }
    }
    for (uint32_t i = 0; i < command->sections.count; i++) {
        compare_section(&command->sections.at[i], outcome, captures, report);
        good &= command->sections.at[i].passed;
    }
    /* The output of a command without sections must be empty, unless the command succeeds and
     * diagnostics are expected of it. */
    if (command->sections.count || (expects && outcome->status == EXIT_DONE))
        return good;
    diff_unified(report, "expected", "", 0, "standard output", outcome->out.at, outcome->out.size);
    if (!expects)
        text_printf(report,
                    "  nothing is expected of '%s': add '//! expect' and its output after the "
                    "input, or '//! expect nothing'%s\n",
                    command->words.at[0],
                    golden_is_acceptable(outcome) ? "; --bless adds them" : "");
    return good && expects && outcome->out.size == 0;
}

bool golden_compare(struct golden *golden, struct golden_outcome *outcomes, struct text *report)
{
    struct captures captures = {NULL, 0, 0};
    bool good = true;
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        struct text wrong = {NULL, 0, 0};
        struct part head = golden->commands.at[i].head;
        if (!compare_command(golden, i, &outcomes[i], &captures, &wrong)) {
            good = false;
            if (golden->commands.count > 1)
                text_printf(report, "  %.*s\n", (int)head.size, head.text);
            text_append(report, &wrong);
        }
        text_free(&wrong);
    }
    vec_free(&captures);
    return good;
}
