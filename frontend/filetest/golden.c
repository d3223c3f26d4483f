#define _GNU_SOURCE /* memmem */
#include "frontend/filetest/golden.h"
#include "frontend/filetest/golden_scan.h"
#include "ir/support/text.h"

static const char bom[] = "\xef\xbb\xbf";

/* A test to which an editor has added a byte order mark must not be skipped in silence. */
bool golden_is_test(const char *text, size_t size)
{
    const char *end = text + size;
    scan_take(&text, end, bom);
    return scan_take(&text, end, "//!");
}

/* ------------------------------------------------------------------------------ header ---- */

/* Sets the words of a command: split at blanks outside of double quotes, which are dropped. False
 * if a quote is open, or there is no word. */
static bool split_words(struct golden *golden, struct golden_command *command, const char *text,
                        size_t size)
{
    const char *end = text + size;
    char *out = arena_alloc(&golden->arena, size + 1);
    for (;;) {
        while (text < end && scan_is_blank(*text))
            text++;
        if (text == end)
            return command->words.count > 0;
        const char *word = out;
        bool quoted = false;
        for (; text < end && (quoted || !scan_is_blank(*text)); text++) {
            if (*text == '"')
                quoted = !quoted;
            else
                *out++ = *text;
        }
        *out++ = '\0';
        vec_push(&command->words, word);
        if (quoted)
            return false;
    }
}

/* What follows `//!` on a line, which is counted from 1; NULL if the line is no directive. */
static const char *header_line(const char *text, size_t size, unsigned number, size_t *rest)
{
    const char *end = text + size;
    *rest = 0;
    while (--number) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            return NULL;
        text = stop + 1;
    }
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    return scan_directive(text, (size_t)((stop ? stop : end) - text), rest);
}

const char *golden_claim(const char *text, size_t size, size_t *claim_size)
{
    const char *claim = header_line(text, size, 2, claim_size);
    return claim ? claim : "";
}

const char *golden_known_failure(const char *text, size_t size, size_t *reason_size)
{
    const char *line = header_line(text, size, 3, reason_size);
    if (!line)
        return NULL;
    const char *end = line + *reason_size;
    if (!scan_take(&line, end, "fails:"))
        return NULL;
    *reason_size = (size_t)(end - line);
    scan_trim(&line, reason_size);
    return line;
}

static bool parse_command(struct golden *golden, const char *text, size_t size, char *error,
                          size_t error_size)
{
    size_t rest;
    const char *words = header_line(text, size, 1, &rest);
    if (!words || !rest)
        return message_fail(error, error_size, "the first line is not '//! COMMAND ARGUMENTS'");
    vec_push(&golden->commands, (struct golden_command){.head = text});
    struct golden_command *command = &golden->commands.at[0];
    command->head_size = golden->lines.at[0].size;
    if (!split_words(golden, command, words, rest))
        return message_fail(error, error_size, "a quoted word of the first line has no end");
    if (strcmp(command->words.at[0], "test") == 0)
        return message_fail(error, error_size, "a test cannot run 'test'");
    return true;
}

static bool parse_header(struct golden *golden, const char *text, size_t size, char *error,
                         size_t error_size)
{
    size_t rest;
    if (!parse_command(golden, text, size, error, error_size))
        return false;
    const char *claim = golden_claim(text, size, &rest);
    if (!rest)
        return message_fail(error, error_size,
                            "the second line is not '//! CLAIM', what the test shows, in words");
    golden->claim = arena_strndup(&golden->arena, claim, rest);
    const char *reason = golden_known_failure(text, size, &rest);
    if (reason && !rest)
        return message_fail(error, error_size, "the third line is not '//! fails: REASON'");
    golden->fails = reason ? arena_strndup(&golden->arena, reason, rest) : NULL;
    return true;
}

/* ------------------------------------------------------------------ expected diagnostics ---- */

static const char *const severities[GOLDEN_SEVERITIES] = {"error", "warning", "remark", "note",
                                                          "help"};

const char *golden_severity_text(enum golden_severity severity)
{
    return severities[severity];
}

bool golden_is_for(const struct golden_diag *expected, uint32_t command)
{
    return expected->command == 0 || expected->command == command + 1;
}

bool golden_expects(const struct golden *golden, uint32_t command, enum golden_severity severity)
{
    for (uint32_t i = 0; i < golden->expected.count; i++)
        if (golden->expected.at[i].severity == severity &&
            golden_is_for(&golden->expected.at[i], command))
            return true;
    return false;
}

/* The offset of the line's comment, or its size; says whether a string is open at its end. */
static uint32_t find_comment(const char *line, uint32_t size, bool *open_string)
{
    bool quoted = false;
    *open_string = false;
    for (uint32_t i = 0; i < size; i++) {
        if (quoted && line[i] == '\\')
            i++;
        else if (line[i] == '"')
            quoted = !quoted;
        else if (!quoted && line[i] == '/' && i + 1 < size && line[i + 1] == '/')
            return i;
    }
    *open_string = quoted;
    return size;
}

/* Takes `@file`, `@+N` or `@-N` off the front of *text. `*line` is the host's number before. */
static bool take_place(const char **text, const char *end, uint32_t *line)
{
    uint32_t distance = 0;
    if (!scan_take(text, end, "@"))
        return true;
    if (scan_take(text, end, "file")) {
        *line = 0;
        return true;
    }
    bool back = scan_take(text, end, "-");
    if ((!back && !scan_take(text, end, "+")) || !scan_take_number(text, end, &distance))
        return false;
    int64_t target = back ? (int64_t)*line - distance : (int64_t)*line + distance;
    if (target < 1 || target >= UINT32_MAX)
        return false;
    *line = (uint32_t)target;
    return true;
}

/* Takes `#N`, the number of a command. */
static bool take_command(const struct golden *golden, const char **text, const char *end,
                         uint32_t *command)
{
    return !scan_take(text, end, "#") || (scan_take_number(text, end, command) && *command > 0 &&
                                          *command <= golden->commands.count);
}

/* One expectation: what follows `//!`. */
static bool parse_expectation(struct golden *golden, uint32_t host, const char *text, size_t size)
{
    const char *end = text + size;
    for (int severity = 0; severity < GOLDEN_SEVERITIES; severity++) {
        const char *p = text;
        struct golden_diag diag = {
            .severity = (enum golden_severity)severity, .line = host, .host = host};
        if (!scan_take(&p, end, severities[severity]))
            continue;
        if (!take_command(golden, &p, end, &diag.command) || !take_place(&p, end, &diag.line) ||
            !scan_take(&p, end, ":"))
            return false;
        size_t rest = (size_t)(end - p);
        scan_trim(&p, &rest);
        if (rest == 0)
            return false;
        diag.text = arena_strndup(&golden->arena, p, rest);
        vec_push(&golden->expected, diag);
        return true;
    }
    return false;
}

/* Cuts the comment of an input line at each `//!`; the pieces that follow one are expectations. */
static bool parse_comment(struct golden *golden, uint32_t number, char *error, size_t error_size)
{
    struct golden_line *line = &golden->lines.at[number - 1];
    const char *end = line->text + line->size;
    const char *at = line->text + find_comment(line->text, line->size, &line->open_string);
    at = memmem(at, (size_t)(end - at), "//!", 3);
    if (!at)
        return true;
    line->bare = (uint32_t)(at - line->text);
    while (line->bare && scan_is_blank(line->text[line->bare - 1]))
        line->bare--;
    while (at) {
        const char *text = at + 3;
        at = memmem(text, (size_t)(end - text), "//!", 3);
        size_t size = (size_t)((at ? at : end) - text);
        scan_trim(&text, &size);
        if (!parse_expectation(golden, number, text, size))
            return message_fail(
                error, error_size,
                "line %u: '//! %.*s' is not an expectation; it is 'SEVERITY: TEXT' or "
                "'SEVERITY@PLACE: TEXT', with error, warning, remark, note or help, and file, +N "
                "or -N; 'SEVERITY#N' is for the N-th command. '//! expect' and '//! also COMMAND' "
                "begin their line after the input, '//! fails: REASON' is the third line",
                number, size < 80 ? (int)size : 80, text);
    }
    return true;
}

/* -------------------------------------------------------------------------------- sections ---- */

/* The text after the input. */
struct reader {
    struct golden *golden;
    const char *at, *end;
    uint32_t line; /* number of the line at `at` */
    char *error;
    size_t error_size;
};

static const char *line_end(const struct reader *reader, const char *line)
{
    const char *end = memchr(line, '\n', (size_t)(reader->end - line));
    return end ? end : reader->end;
}

static void next_line(struct reader *reader)
{
    const char *end = line_end(reader, reader->at);
    reader->at = end < reader->end ? end + 1 : end;
    reader->line++;
}

/* Whether the line begins a section or a command. */
static bool is_head(const struct reader *reader, const char *line)
{
    return source_is_expect(line, (size_t)(line_end(reader, line) - line));
}

static bool add_item(struct reader *reader, struct golden_section *section, struct golden_item item)
{
    char what[200];
    if (item.kind != ITEM_GAP && !template_parse(&item.template, &reader->golden->arena, item.text,
                                                 item.size, what, sizeof what))
        return message_fail(reader->error, reader->error_size, "line %u: %s", item.line, what);
    vec_push(&section->items, item);
    return true;
}

/* `not: TEXT`, `anywhere: TEXT`, `N times: TEXT`. */
static bool parse_directive(struct reader *reader, struct golden_section *section, const char *text,
                            size_t size)
{
    const char *p = text, *end = text + size;
    struct golden_item item = {.line = reader->line};
    bool known = true;
    if (scan_take(&p, end, "not:")) {
        item.kind = ITEM_NOT;
    } else if (scan_take(&p, end, "anywhere:")) {
        item.kind = ITEM_ANYWHERE;
    } else {
        item.kind = ITEM_TIMES;
        known = scan_take_number(&p, end, &item.times) &&
                (scan_take(&p, end, " times:") || scan_take(&p, end, " time:"));
    }
    item.size = (size_t)(end - p);
    scan_trim(&p, &item.size);
    item.text = p;
    if (item.kind == ITEM_TIMES && item.times == UINT32_MAX)
        return message_fail(reader->error, reader->error_size,
                            "line %u: '//! %.*s': no output has more than %u lines", reader->line,
                            size < 80 ? (int)size : 80, text, UINT32_MAX - 1);
    if (known && item.size)
        return add_item(reader, section, item);
    return message_fail(reader->error, reader->error_size,
                        "line %u: '//! %.*s' is not an expectation of lines; it is 'not: TEXT', "
                        "'anywhere: TEXT' or 'N times: TEXT'",
                        reader->line, size < 80 ? (int)size : 80, text);
}

static bool parse_item(struct reader *reader, struct golden_section *section)
{
    const char *text = reader->at, *directive;
    size_t size = (size_t)(line_end(reader, text) - text), rest;
    scan_trim(&text, &size);
    if (size == 0)
        return true;
    directive = scan_directive(text, size, &rest);
    if (directive)
        return parse_directive(reader, section, directive, rest);
    struct golden_item item = {.line = reader->line, .text = text, .size = size};
    if (size == 3 && memcmp(text, "...", 3) == 0)
        item.kind = ITEM_GAP;
    return add_item(reader, section, item);
}

static bool is_only_blank(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!scan_is_blank(text[i]) && text[i] != '\n')
            return false;
    return true;
}

/* `nothing`, `no changes`, or `[lines | changes] [of report] [in PART]`. */
static bool parse_head(struct reader *reader, struct golden_section *section, const char *text,
                       size_t size)
{
    const char *p = text, *end = text + size;
    if (scan_take_word(&p, end, "nothing")) {
        section->nothing = true;
    } else if (scan_take_word(&p, end, "no")) {
        section->nothing = true;
        section->kind = GOLDEN_CHANGES;
        if (!scan_take_word(&p, end, "changes"))
            p = text;
    } else {
        if (scan_take_word(&p, end, "lines"))
            section->kind = GOLDEN_LINES;
        else if (scan_take_word(&p, end, "changes"))
            section->kind = GOLDEN_CHANGES;
        if (section->kind != GOLDEN_CHANGES && scan_take_word(&p, end, "of"))
            section->report = scan_take_word(&p, end, "report");
        const char *in = p;
        if (scan_take_word(&p, end, "in"))
            section->part = arena_strndup(&reader->golden->arena, p, (size_t)(end - p));
        p = section->part && *section->part ? end : in;
    }
    if (p == end)
        return true;
    return message_fail(reader->error, reader->error_size,
                        "line %u: 'expect %.*s' is not an expectation; it is 'expect', 'expect "
                        "nothing', 'expect no changes', 'expect changes' or 'expect lines'; 'of "
                        "report' and 'in PART' may follow",
                        section->line, size < 80 ? (int)size : 80, text);
}

/* Whether any output would be wrong. */
static bool expects_lines(const struct golden_section *section)
{
    for (uint32_t i = 0; i < section->items.count; i++)
        if (section->items.at[i].kind != ITEM_GAP)
            return true;
    return false;
}

/* What follows a head, up to the next one. */
static bool parse_body(struct reader *reader, struct golden_section *section)
{
    section->text = reader->at;
    while (reader->at < reader->end && !is_head(reader, reader->at)) {
        if (section->kind == GOLDEN_LINES && !parse_item(reader, section))
            return false;
        next_line(reader);
    }
    section->size = section->raw_size = (size_t)(reader->at - section->text);
    while (reader->at < reader->end && section->size > 1 &&
           section->text[section->size - 1] == '\n' && section->text[section->size - 2] == '\n')
        section->size--;
    if (reader->at < reader->end && section->size == 1 && section->text[0] == '\n')
        section->size = 0;
    if (section->nothing && !is_only_blank(section->text, section->size))
        return message_fail(reader->error, reader->error_size,
                            "line %u: lines follow, though the section expects nothing",
                            section->line);
    if (section->kind == GOLDEN_LINES && !expects_lines(section))
        return message_fail(reader->error, reader->error_size,
                            "line %u: this expects no line: '...' matches any lines, even none",
                            section->line);
    return true;
}

static bool parse_section(struct reader *reader, const char *text, size_t size, const char *head,
                          size_t head_size)
{
    struct golden_command *command =
        &reader->golden->commands.at[reader->golden->commands.count - 1];
    vec_push(&command->sections,
             (struct golden_section){.head = head, .head_size = head_size, .line = reader->line});
    struct golden_section *section = &command->sections.at[command->sections.count - 1];
    if (!parse_head(reader, section, text, size))
        return false;
    next_line(reader);
    return parse_body(reader, section);
}

/* `also COMMAND ARGUMENTS` */
static bool parse_also(struct reader *reader, const char *text, size_t size, const char *head,
                       size_t head_size)
{
    struct golden *golden = reader->golden;
    vec_push(&golden->commands, (struct golden_command){.head = head, .head_size = head_size});
    struct golden_command *command = &golden->commands.at[golden->commands.count - 1];
    if (!split_words(golden, command, text, size))
        return message_fail(reader->error, reader->error_size,
                            "line %u: expected '//! also COMMAND ARGUMENTS' with all quotes closed",
                            reader->line);
    if (strcmp(command->words.at[0], "test") == 0)
        return message_fail(reader->error, reader->error_size, "line %u: a test cannot run 'test'",
                            reader->line);
    next_line(reader);
    while (reader->at < reader->end && !is_head(reader, reader->at)) {
        if (!is_only_blank(reader->at, (size_t)(line_end(reader, reader->at) - reader->at)))
            return message_fail(reader->error, reader->error_size,
                                "line %u: this text precedes any '//! expect' of the command",
                                reader->line);
        next_line(reader);
    }
    return true;
}

static bool parse_sections(struct golden *golden, const char *text, size_t size, uint32_t line,
                           char *error, size_t error_size)
{
    struct reader reader = {golden, text, text + size, line, error, error_size};
    while (reader.at < reader.end) {
        const char *head = reader.at, *end = line_end(&reader, head);
        size_t head_size = (size_t)(end - head), rest = 0;
        const char *p = scan_directive(head, head_size, &rest), *stop = p + rest;
        bool good = scan_take_word(&p, stop, "also")
                        ? parse_also(&reader, p, (size_t)(stop - p), head, head_size)
                        : scan_take_word(&p, stop, "expect") &&
                              parse_section(&reader, p, (size_t)(stop - p), head, head_size);
        if (!good)
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------- file ---- */

bool golden_parse(struct golden *golden, const char *path, const char *text, size_t size,
                  char *error, size_t error_size)
{
    *golden = (struct golden){.path = path};
    if (size >= UINT32_MAX)
        return message_fail(error, error_size, "the file is larger than 4 GiB");
    if (size >= sizeof bom - 1 && memcmp(text, bom, sizeof bom - 1) == 0)
        return message_fail(error, error_size,
                            "the file begins with a byte order mark; it must begin with '//!'");
    const char *expect = source_find_expect(text, size);
    size_t input = expect ? (size_t)(expect - text) : size;
    for (size_t at = 0; at < input;) {
        const char *start = text + at, *end = memchr(start, '\n', input - at);
        size_t length = end ? (size_t)(end - start) : input - at;
        at += length + 1;
        vec_push(&golden->lines,
                 (struct golden_line){start, (uint32_t)length, (uint32_t)length, false});
    }
    if (!parse_header(golden, text, input, error, error_size))
        return false;
    /* Commands first: expectations may be for one of them. */
    if (!parse_sections(golden, text + input, size - input, golden->lines.count + 1, error,
                        error_size))
        return false;
    for (uint32_t number = golden->fails ? 4 : 3; number <= golden->lines.count; number++)
        if (!parse_comment(golden, number, error, error_size))
            return false;
    return true;
}

static void free_section(struct golden_section *section)
{
    for (uint32_t i = 0; i < section->items.count; i++)
        template_free(&section->items.at[i].template);
    vec_free(&section->items);
}

void golden_free(struct golden *golden)
{
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        struct golden_command *command = &golden->commands.at[i];
        for (uint32_t j = 0; j < command->sections.count; j++)
            free_section(&command->sections.at[j]);
        vec_free(&command->sections);
        vec_free(&command->words);
    }
    vec_free(&golden->commands);
    vec_free(&golden->lines);
    vec_free(&golden->expected);
    arena_free(&golden->arena);
}
