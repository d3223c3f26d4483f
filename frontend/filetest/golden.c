#define _GNU_SOURCE /* memmem */
#include "frontend/filetest/golden.h"
#include "ir/support/text.h"

static const char bom[] = "\xef\xbb\xbf";

/* A test to which an editor has added a byte order mark must not be skipped in silence. */
bool golden_is_test(struct part text)
{
    scan_take(&text, bom);
    return scan_take(&text, "//!");
}

/* ------------------------------------------------------------------------------ header ---- */

/* Sets the words of a command: split at blanks outside of double quotes, which are dropped. False
 * if a quote is open, or there is no word. */
static bool split_words(struct golden *golden, struct golden_command *command, struct part rest)
{
    const char *text = rest.text, *end = text + rest.size;
    char *out = arena_alloc(&golden->arena, rest.size + 1);
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

struct golden_header golden_header(struct part text)
{
    struct golden_header header = {.claim = {"", 0}};
    struct part line, third;
    if (scan_take_line(&text, &line))
        scan_directive(line, &header.command);
    if (scan_take_line(&text, &line))
        scan_directive(line, &header.claim);
    if (scan_take_line(&text, &line) && scan_directive(line, &third) && scan_take(&third, "fails:"))
        header.fails = scan_trim(third);
    return header;
}

static bool parse_header(struct golden *golden, struct part input, char *error, size_t error_size)
{
    struct golden_header header = golden_header(input);
    if (header.command.size == 0)
        return message_fail(error, error_size, "the first line is not '//! COMMAND ARGUMENTS'");
    vec_push(&golden->commands, (struct golden_command){.head = golden->lines.at[0].text});
    struct golden_command *command = &golden->commands.at[0];
    if (!split_words(golden, command, header.command))
        return message_fail(error, error_size, "a quoted word of the first line has no end");
    if (strcmp(command->words.at[0], "test") == 0)
        return message_fail(error, error_size, "a test cannot run 'test'");
    if (header.claim.size == 0)
        return message_fail(error, error_size,
                            "the second line is not '//! CLAIM', what the test shows, in words");
    if (header.fails.text && header.fails.size == 0)
        return message_fail(error, error_size, "the third line is not '//! fails: REASON'");
    if (header.fails.text)
        golden->fails = arena_strndup(&golden->arena, header.fails.text, header.fails.size);
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

/* Takes `@file`, `@+N` or `@-N`. `*line` is the host's number before. */
static bool take_place(struct part *text, uint32_t *line)
{
    uint32_t distance;
    if (!scan_take(text, "@"))
        return true;
    if (scan_take(text, "file")) {
        *line = 0;
        return true;
    }
    bool back = scan_take(text, "-");
    if ((!back && !scan_take(text, "+")) || !scan_take_number(text, &distance))
        return false;
    int64_t target = back ? (int64_t)*line - distance : (int64_t)*line + distance;
    *line = (uint32_t)target;
    return target >= 1 && target < UINT32_MAX;
}

/* One expectation: what follows `//!`. */
static bool parse_expectation(struct golden *golden, uint32_t host, struct part text)
{
    struct golden_diag diag = {.line = host, .host = host};
    int severity = 0;
    while (severity < GOLDEN_SEVERITIES && !scan_take(&text, severities[severity]))
        severity++;
    if (severity == GOLDEN_SEVERITIES)
        return false;
    diag.severity = (enum golden_severity)severity;
    if (scan_take(&text, "#") && (!scan_take_number(&text, &diag.command) || diag.command == 0 ||
                                  diag.command > golden->commands.count))
        return false;
    if (!take_place(&text, &diag.line) || !scan_take(&text, ":"))
        return false;
    text = scan_trim(text);
    diag.text = arena_strndup(&golden->arena, text.text, text.size);
    vec_push(&golden->expected, diag);
    return text.size > 0;
}

/* Cuts the comment of an input line at each `//!`; the pieces that follow one are expectations. */
static bool parse_comment(struct golden *golden, uint32_t number, char *error, size_t error_size)
{
    struct golden_line *line = &golden->lines.at[number - 1];
    const char *at = line->text.text, *end = at + line->text.size;
    bool quoted = false;
    for (; at < end && (quoted || end - at < 2 || at[0] != '/' || at[1] != '/'); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (quoted && *at == '\\' && end - at > 1)
            at++;
    }
    line->open_string = quoted;
    at = memmem(at, (size_t)(end - at), "//!", 3);
    if (!at)
        return true;
    line->bare = (size_t)(at - line->text.text);
    while (line->bare && scan_is_blank(line->text.text[line->bare - 1]))
        line->bare--;
    while (at) {
        const char *text = at + 3;
        at = memmem(text, (size_t)(end - text), "//!", 3);
        struct part part = scan_trim((struct part){text, (size_t)((at ? at : end) - text)});
        if (!parse_expectation(golden, number, part))
            return message_fail(
                error, error_size,
                "line %u: '//! %.*s' is not an expectation; it is 'SEVERITY: TEXT' or "
                "'SEVERITY@PLACE: TEXT', with error, warning, remark, note or help, and file, +N "
                "or -N; 'SEVERITY#N' is for the N-th command. '//! expect' and '//! also COMMAND' "
                "begin their line after the input, '//! fails: REASON' is the third line",
                number, part.size < 80 ? (int)part.size : 80, part.text);
    }
    return true;
}

/* -------------------------------------------------------------------------------- sections ---- */

/* The text after the input, line by line. */
struct reader {
    struct golden *golden;
    struct part rest; /* after this line */
    struct part line; /* without its end; NULL at the end */
    uint32_t number;
    char *error;
    size_t error_size;
};

static void next_line(struct reader *reader)
{
    reader->number++;
    if (!scan_take_line(&reader->rest, &reader->line))
        reader->line = (struct part){NULL, 0};
}

/* Whether the line does not begin a section or a command. */
static bool is_in_body(const struct reader *reader)
{
    return reader->line.text && !source_is_expect(reader->line.text, reader->line.size);
}

#define fail(reader, ...) message_fail((reader)->error, (reader)->error_size, __VA_ARGS__)

/* A line of the output, `...`, `not: TEXT`, `anywhere: TEXT` or `N times: TEXT`. */
static bool parse_item(struct reader *reader, struct golden_section *section)
{
    struct golden_item item = {.line = reader->number, .text = scan_trim(reader->line)};
    struct part directive;
    char what[200];
    if (scan_directive(item.text, &directive)) {
        bool known = true;
        item.text = directive;
        if (scan_take(&item.text, "not:")) {
            item.kind = ITEM_NOT;
        } else if (scan_take(&item.text, "anywhere:")) {
            item.kind = ITEM_ANYWHERE;
        } else {
            item.kind = ITEM_TIMES;
            known = scan_take_number(&item.text, &item.times) &&
                    (scan_take(&item.text, " times:") || scan_take(&item.text, " time:"));
        }
        item.text = scan_trim(item.text);
        int shown = directive.size < 80 ? (int)directive.size : 80;
        if (item.times == UINT32_MAX)
            return fail(reader, "line %u: '//! %.*s': no output has more than %u lines",
                        reader->number, shown, directive.text, UINT32_MAX - 1);
        if (!known || item.text.size == 0)
            return fail(reader,
                        "line %u: '//! %.*s' is not an expectation of lines; it is 'not: TEXT', "
                        "'anywhere: TEXT' or 'N times: TEXT'",
                        reader->number, shown, directive.text);
    } else if (scan_is(item.text, (struct part){"...", 3})) {
        item.kind = ITEM_GAP;
    }
    if (item.kind != ITEM_GAP && !template_parse(&item.template, &reader->golden->arena,
                                                 item.text.text, item.text.size, what, sizeof what))
        return fail(reader, "line %u: %s", item.line, what);
    if (item.text.size)
        vec_push(&section->items, item);
    return true;
}

/* `nothing`, `no changes`, or `[lines | changes] [of report] [in PART]`. */
static bool parse_head(struct reader *reader, struct golden_section *section, struct part text)
{
    struct part rest = text;
    section->nothing = scan_take_word(&rest, "nothing");
    if (!section->nothing && scan_take_word(&rest, "no")) {
        section->nothing = scan_take_word(&rest, "changes");
        section->kind = GOLDEN_CHANGES;
        rest = section->nothing ? rest : text;
    } else if (!section->nothing) {
        if (scan_take_word(&rest, "lines"))
            section->kind = GOLDEN_LINES;
        else if (scan_take_word(&rest, "changes"))
            section->kind = GOLDEN_CHANGES;
        if (section->kind != GOLDEN_CHANGES && scan_take_word(&rest, "of"))
            section->report = scan_take_word(&rest, "report");
        struct part in = rest;
        if (scan_take_word(&in, "in") && in.size) {
            section->part = arena_strndup(&reader->golden->arena, in.text, in.size);
            rest.size = 0;
        }
    }
    return rest.size == 0 ||
           fail(reader,
                "line %u: 'expect %.*s' is not an expectation; it is 'expect', 'expect nothing', "
                "'expect no changes', 'expect changes' or 'expect lines'; 'of report' and 'in "
                "PART' may follow",
                section->line, text.size < 80 ? (int)text.size : 80, text.text);
}

/* A head and what follows it, up to the next one. */
static bool parse_section(struct reader *reader, struct part text)
{
    struct golden *golden = reader->golden;
    struct golden_command *command = &golden->commands.at[golden->commands.count - 1];
    vec_push(&command->sections,
             (struct golden_section){.head = reader->line, .line = reader->number});
    struct golden_section *section = &command->sections.at[command->sections.count - 1];
    if (!parse_head(reader, section, text))
        return false;
    section->text = (struct part){reader->rest.text, 0};
    bool blank = true, lines = false;
    for (next_line(reader); is_in_body(reader); next_line(reader)) {
        bool empty = scan_trim(reader->line).size == 0;
        blank &= empty;
        if (section->kind == GOLDEN_LINES && !parse_item(reader, section))
            return false;
        section->raw_size = (size_t)(reader->rest.text - section->text.text);
        if (reader->line.size)
            section->text.size = section->raw_size;
    }
    if (!reader->line.text) /* empty lines at the end of the file are expected */
        section->text.size = section->raw_size;
    if (section->nothing && !blank)
        return fail(reader, "line %u: lines follow, though the section expects nothing",
                    section->line);
    for (uint32_t i = 0; i < section->items.count; i++)
        lines |= section->items.at[i].kind != ITEM_GAP;
    return section->kind != GOLDEN_LINES || lines ||
           fail(reader, "line %u: this expects no line: '...' matches any lines, even none",
                section->line);
}

/* `also COMMAND ARGUMENTS` */
static bool parse_also(struct reader *reader, struct part text)
{
    struct golden *golden = reader->golden;
    vec_push(&golden->commands, (struct golden_command){.head = reader->line});
    struct golden_command *command = &golden->commands.at[golden->commands.count - 1];
    if (!split_words(golden, command, text))
        return fail(reader, "line %u: expected '//! also COMMAND ARGUMENTS' with all quotes closed",
                    reader->number);
    if (strcmp(command->words.at[0], "test") == 0)
        return fail(reader, "line %u: a test cannot run 'test'", reader->number);
    for (next_line(reader); is_in_body(reader); next_line(reader))
        if (scan_trim(reader->line).size)
            return fail(reader, "line %u: this text precedes any '//! expect' of the command",
                        reader->number);
    return true;
}

/* -------------------------------------------------------------------------------- file ---- */

bool golden_parse(struct golden *golden, const char *path, struct part text, char *error,
                  size_t error_size)
{
    *golden = (struct golden){.path = path};
    if (text.size >= UINT32_MAX)
        return message_fail(error, error_size, "the file is larger than 4 GiB");
    struct part after_bom = text;
    if (scan_take(&after_bom, bom))
        return message_fail(error, error_size,
                            "the file begins with a byte order mark; it must begin with '//!'");
    const char *expect = source_find_expect(text.text, text.size);
    struct part input = {text.text, expect ? (size_t)(expect - text.text) : text.size}, line;
    for (struct part rest = input; scan_take_line(&rest, &line);)
        vec_push(&golden->lines, (struct golden_line){line, line.size, false});
    if (!parse_header(golden, input, error, error_size))
        return false;
    /* Commands first: expectations may be for one of them. */
    struct reader reader = {.golden = golden,
                            .rest = scan_skip(text, input.size),
                            .number = golden->lines.count,
                            .error = error,
                            .error_size = error_size};
    next_line(&reader);
    while (reader.line.text) {
        struct part head = reader.line;
        scan_directive(reader.line, &head);
        bool also = scan_take_word(&head, "also");
        if (!also)
            scan_take_word(&head, "expect");
        if (!(also ? parse_also(&reader, head) : parse_section(&reader, head)))
            return false;
    }
    for (uint32_t number = golden->fails ? 4 : 3; number <= golden->lines.count; number++)
        if (!parse_comment(golden, number, error, error_size))
            return false;
    return true;
}

void golden_free(struct golden *golden)
{
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        struct golden_command *command = &golden->commands.at[i];
        for (uint32_t j = 0; j < command->sections.count; j++) {
            struct golden_section *section = &command->sections.at[j];
            for (uint32_t k = 0; k < section->items.count; k++)
                template_free(&section->items.at[k].template);
            vec_free(&section->items);
            text_free(&section->changes);
        }
        vec_free(&command->sections);
        vec_free(&command->words);
    }
    vec_free(&golden->commands);
    vec_free(&golden->lines);
    vec_free(&golden->expected);
    arena_free(&golden->arena);
}
