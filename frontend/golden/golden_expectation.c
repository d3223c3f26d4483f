#define _GNU_SOURCE /* memmem */
#include "frontend/golden/golden_expectation.h"
#include "frontend/golden/golden_scan.h"
#include "ir/base/message.h"
#include "ir/base/suggest.h"

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

/* One expectation: what stands behind `//!`. */
static bool parse_expectation(struct golden *golden, uint32_t host, const char *text, size_t size)
{
    const char *end = text + size;
    for (int severity = 0; severity < GOLDEN_SEVERITIES; severity++) {
        const char *p = text;
        struct golden_diag diag = {
            .severity = (enum golden_severity)severity, .line = host, .host = host, .match = NONE};
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

/* What may be meant by what is no expectation: words that have places of their own. */
static void explain(char *hint, size_t hint_size, const char *text, size_t size)
{
    static const char *const words[] = {"expect", "also", "fails"};
    static const char *const places[] = {
        "'//! expect' begins its line, behind the input",
        "'//! also COMMAND ARGUMENTS' begins its line, behind the input",
        "'//! fails: REASON' is the third line"};
    struct suggest suggest = {.wanted = text, .wanted_size = 0};
    while (suggest.wanted_size < size && !scan_is_blank(text[suggest.wanted_size]) &&
           text[suggest.wanted_size] != ':')
        suggest.wanted_size++;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        suggest_offer_text(&suggest, words[i]);
    for (int severity = 0; severity < GOLDEN_SEVERITIES; severity++)
        suggest_offer_text(&suggest, severities[severity]);
    hint[0] = '\0';
    for (size_t i = 0; suggest.best && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(suggest.best, words[i]) == 0)
            snprintf(hint, hint_size, "; %s", places[i]);
}

static bool refuse(uint32_t number, const char *text, size_t size, char *error, size_t error_size)
{
    char hint[100];
    explain(hint, sizeof hint, text, size);
    return message_fail(error, error_size, "line %u: '//! %.*s' is no expectation%s", number,
                        size < 80 ? (int)size : 80, text,
                        hint[0] ? hint
                                : "; it is 'SEVERITY: TEXT' or 'SEVERITY@PLACE: TEXT', with error, "
                                  "warning, remark, note or help, and file, +N or -N; "
                                  "'SEVERITY#N' is for the N-th command");
}

/* Cuts a comment at each `//!`; all pieces behind one are expectations. */
bool golden_parse_expectations(struct golden *golden, uint32_t number, char *error,
                               size_t error_size)
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
            return refuse(number, text, size, error, error_size);
    }
    return true;
}
