#include "frontend/golden/golden_section.h"
#include "frontend/golden/golden_scan.h"
#include "ir/base/message.h"

/* The text behind the input. */
struct reader {
    struct golden *golden;
    const char *at, *end;
    uint32_t line; /* number of the line at `at` */
    char *error;
    size_t error_size;
};

bool golden_split_words(struct golden *golden, struct golden_command *command, const char *text,
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

/* ------------------------------------------------------------------------------- lines ---- */

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

/* ------------------------------------------------------------------------- partial ones ---- */

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
                        "line %u: '//! %.*s' is no expectation of lines; it is 'not: TEXT', "
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

/* ------------------------------------------------------------------------------- heads ---- */

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
                        "line %u: 'expect %.*s' is no expectation; it is 'expect', 'expect "
                        "nothing', 'expect no changes' or 'expect changes', or 'expect lines', and "
                        "then 'of report', 'in PART'",
                        section->line, size < 80 ? (int)size : 80, text);
}

/* Whether there is an output that is wrong. */
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
                            "line %u: lines follow, though nothing is expected", section->line);
    if (section->kind == GOLDEN_LINES && !expects_lines(section))
        return message_fail(reader->error, reader->error_size,
                            "line %u: no line is expected here: '...' is any lines, also none",
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
static bool parse_command(struct reader *reader, const char *text, size_t size, const char *head,
                          size_t head_size)
{
    struct golden *golden = reader->golden;
    vec_push(&golden->commands, (struct golden_command){.head = head, .head_size = head_size});
    struct golden_command *command = &golden->commands.at[golden->commands.count - 1];
    if (!golden_split_words(golden, command, text, size))
        return message_fail(reader->error, reader->error_size,
                            "line %u: it is '//! also COMMAND ARGUMENTS', with quotes closed",
                            reader->line);
    if (strcmp(command->words.at[0], "test") == 0)
        return message_fail(reader->error, reader->error_size, "line %u: a test cannot run 'test'",
                            reader->line);
    next_line(reader);
    while (reader->at < reader->end && !is_head(reader, reader->at)) {
        if (!is_only_blank(reader->at, (size_t)(line_end(reader, reader->at) - reader->at)))
            return message_fail(reader->error, reader->error_size,
                                "line %u: this stands before any '//! expect' of the command",
                                reader->line);
        next_line(reader);
    }
    return true;
}

bool golden_parse_sections(struct golden *golden, const char *text, size_t size, uint32_t line,
                           char *error, size_t error_size)
{
    struct reader reader = {golden, text, text + size, line, error, error_size};
    while (reader.at < reader.end) {
        const char *head = reader.at, *end = line_end(&reader, head);
        size_t head_size = (size_t)(end - head), rest = 0;
        const char *p = scan_directive(head, head_size, &rest), *stop = p + rest;
        bool good = scan_take_word(&p, stop, "also")
                        ? parse_command(&reader, p, (size_t)(stop - p), head, head_size)
                        : scan_take_word(&p, stop, "expect") &&
                              parse_section(&reader, p, (size_t)(stop - p), head, head_size);
        if (!good)
            return false;
    }
    return true;
}
