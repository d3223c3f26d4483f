#define _GNU_SOURCE /* memmem */
#include "frontend/golden/golden.h"
#include "ir/base/message.h"

#include <string.h>

static const char *const severities[GOLDEN_SEVERITIES] = {"error", "warning", "remark", "note",
                                                          "help"};

const char *golden_severity_text(enum golden_severity severity)
{
    return severities[severity];
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Trims blanks at both ends of [*text, *text + *size). */
static void trim(const char **text, size_t *size)
{
    while (*size && is_blank(**text))
        ++*text, --*size;
    while (*size && is_blank((*text)[*size - 1]))
        --*size;
}

/* --------------------------------------------------------------------------- header ---- */

bool golden_is_test(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "//!", 3) == 0;
}

/* What follows `//!` on a line; NULL where it begins otherwise. */
static const char *directive(const char *line, size_t size, size_t *rest)
{
    if (!golden_is_test(line, size))
        return NULL;
    const char *text = line + 3;
    *rest = size - 3;
    trim(&text, rest);
    return text;
}

const char *golden_claim(const char *text, size_t size, size_t *claim_size)
{
    *claim_size = 0;
    const char *line = memchr(text, '\n', size);
    if (!line)
        return "";
    size_t left = size - (size_t)(++line - text);
    const char *end = memchr(line, '\n', left);
    const char *claim = directive(line, end ? (size_t)(end - line) : left, claim_size);
    return claim ? claim : "";
}

/* Splits at blanks outside of double quotes, which are dropped. False where a quote is open. */
static bool split_words(struct golden *golden, const char *text, size_t size)
{
    const char *end = text + size;
    for (;;) {
        while (text < end && is_blank(*text))
            text++;
        if (text == end)
            return true;
        char *word = arena_alloc(&golden->arena, (size_t)(end - text) + 1), *out = word;
        bool quoted = false;
        for (; text < end && (quoted || !is_blank(*text)); text++) {
            if (*text == '"')
                quoted = !quoted;
            else
                *out++ = *text;
        }
        *out = '\0';
        vec_push(&golden->words, word);
        if (quoted)
            return false;
    }
}

static bool parse_header(struct golden *golden, char *error, size_t error_size)
{
    size_t size;
    const char *text;
    if (golden->lines.count < 1 ||
        !(text = directive(golden->lines.at[0].text, golden->lines.at[0].size, &size)) || !size)
        return message_fail(error, error_size, "the first line is not '//! COMMAND ARGUMENTS'");
    if (!split_words(golden, text, size))
        return message_fail(error, error_size, "a quoted word of the first line has no end");
    if (strcmp(golden->words.at[0], "test") == 0)
        return message_fail(error, error_size, "a test cannot run 'test'");
    if (golden->lines.count < 2 ||
        !(text = directive(golden->lines.at[1].text, golden->lines.at[1].size, &size)) || !size)
        return message_fail(error, error_size,
                            "the second line is not '//! CLAIM', what the test shows, in words");
    golden->claim = arena_strndup(&golden->arena, text, size);
    return true;
}

/* --------------------------------------------------------------------- expectations ---- */

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
    const char *p = *text;
    if (p == end || *p != '@')
        return true;
    p++;
    if (end - p >= 4 && memcmp(p, "file", 4) == 0) {
        *line = 0;
        *text = p + 4;
        return true;
    }
    if (p == end || (*p != '+' && *p != '-'))
        return false;
    bool back = *p++ == '-';
    int64_t distance = 0;
    const char *digits = p;
    while (p < end && *p >= '0' && *p <= '9' && distance < UINT32_MAX)
        distance = distance * 10 + (*p++ - '0');
    int64_t target = back ? *line - distance : *line + distance;
    if (p == digits || target < 1 || target > UINT32_MAX)
        return false;
    *line = (uint32_t)target;
    *text = p;
    return true;
}

/* One expectation: what stands behind `//!`. */
static bool parse_expectation(struct golden *golden, uint32_t host, const char *text, size_t size)
{
    const char *end = text + size;
    for (int severity = 0; severity < GOLDEN_SEVERITIES; severity++) {
        size_t word = strlen(severities[severity]);
        if ((size_t)(end - text) <= word || memcmp(text, severities[severity], word) != 0)
            continue;
        const char *p = text + word;
        uint32_t line = host;
        if (!take_place(&p, end, &line) || p == end || *p != ':')
            return false;
        size_t rest = (size_t)(end - ++p);
        trim(&p, &rest);
        if (rest == 0)
            return false;
        vec_push(&golden->expected,
                 (struct golden_diag){.severity = (enum golden_severity)severity,
                                      .line = line,
                                      .host = host,
                                      .text = arena_strndup(&golden->arena, p, rest),
                                      .match = NONE});
        return true;
    }
    return false;
}

/* Cuts a comment at each `//!`; all pieces behind one are expectations. */
static bool parse_line(struct golden *golden, uint32_t number, char *error, size_t error_size)
{
    struct golden_line *line = &golden->lines.at[number - 1];
    const char *end = line->text + line->size;
    const char *at = line->text + find_comment(line->text, line->size, &line->open_string);
    at = memmem(at, (size_t)(end - at), "//!", 3);
    if (!at)
        return true;
    line->bare = (uint32_t)(at - line->text);
    while (line->bare && is_blank(line->text[line->bare - 1]))
        line->bare--;
    while (at) {
        const char *text = at + 3;
        at = memmem(text, (size_t)(end - text), "//!", 3);
        size_t size = (size_t)((at ? at : end) - text);
        trim(&text, &size);
        if (!parse_expectation(golden, number, text, size))
            return message_fail(error, error_size,
                                "line %u: '//! %.*s' is no expectation; it is 'SEVERITY: TEXT' or "
                                "'SEVERITY@PLACE: TEXT', with error, warning, remark, note or "
                                "help, and file, +N or -N",
                                number, size < 80 ? (int)size : 80, text);
    }
    return true;
}

/* ------------------------------------------------------------------ what is asked ---- */

bool golden_expects(const struct golden *golden, enum golden_severity severity)
{
    for (uint32_t i = 0; i < golden->expected.count; i++)
        if (golden->expected.at[i].severity == severity)
            return true;
    return false;
}

bool golden_is_required(const struct golden *golden, const struct golden_diag *diag)
{
    return diag->severity == GOLDEN_ERROR || diag->severity == GOLDEN_WARNING ||
           (diag->severity == GOLDEN_REMARK && golden_expects(golden, GOLDEN_REMARK));
}

bool golden_compares_output(const struct golden *golden, const struct golden_outcome *outcome)
{
    return golden->output || golden->expected.count == 0 || outcome->status != EXIT_DONE;
}

/* ----------------------------------------------------------------------------- file ---- */

static void split_lines(struct golden *golden, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *start = text + at, *end = memchr(start, '\n', size - at);
        size_t length = end ? (size_t)(end - start) : size - at;
        at += length + 1;
        vec_push(&golden->lines,
                 (struct golden_line){start, (uint32_t)length, (uint32_t)length, false});
    }
}

bool golden_parse(struct golden *golden, const char *path, const char *text, size_t size,
                  char *error, size_t error_size)
{
    *golden = (struct golden){.path = path};
    if (size >= UINT32_MAX)
        return message_fail(error, error_size, "the file is larger than 4 GiB");
    const char *expect = source_find_expect(text, size);
    size_t input = expect ? (size_t)(expect - text) : size;
    if (expect) {
        const char *end = memchr(expect, '\n', size - input);
        golden->output = end ? end + 1 : text + size;
        golden->output_size = size - (size_t)(golden->output - text);
    }
    split_lines(golden, text, input);
    if (!parse_header(golden, error, error_size))
        return false;
    for (uint32_t number = 3; number <= golden->lines.count; number++)
        if (!parse_line(golden, number, error, error_size))
            return false;
    return true;
}

void golden_free(struct golden *golden)
{
    vec_free(&golden->words);
    vec_free(&golden->lines);
    vec_free(&golden->expected);
    arena_free(&golden->arena);
}
