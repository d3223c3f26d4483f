/* Marks as they are written, on the command line and in files. */
#include "frontend/exchange/dump/marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dump_marks_free(struct dump_marks *marks)
{
    vec_free(&marks->list);
    arena_free(&marks->arena);
    file_bytes_free(&marks->bytes);
}

static const struct dump_mark no_mark = {.priority = DUMP_NO_PRIORITY};

/* ------------------------------------------------------------------ the command line ---- */

/* FROM..TO; false where it is none. */
static bool split_range(struct arena *arena, const char *text, struct dump_mark *mark)
{
    const char *dots = strstr(text, "..");
    if (!dots || dots == text || !dots[2])
        return false;
    mark->kind = MARK_RANGE;
    mark->pattern = arena_strndup(arena, text, (size_t)(dots - text));
    mark->to = arena_strndup(arena, dots + 2, strlen(dots + 2));
    return true;
}

bool dump_marks_add(struct dump_marks *marks, const char *argument, char *error, size_t error_size)
{
    const char *equals = strchr(argument, '='),
               *end = equals ? equals : argument + strlen(argument);
    struct dump_mark mark = no_mark;
    if (end == argument || (equals && !equals[1])) {
        snprintf(error, error_size, "'%s' is neither NAME nor NAME=PATTERN nor NAME=FROM..TO",
                 argument);
        return false;
    }
    mark.scope = arena_strndup(&marks->arena, argument, (size_t)(end - argument));
    mark.kind = equals ? MARK_NAME : MARK_ALL;
    if (equals && !split_range(&marks->arena, equals + 1, &mark))
        mark.pattern = arena_strndup(&marks->arena, equals + 1, strlen(equals + 1));
    vec_push(&marks->list, mark);
    return true;
}

/* --------------------------------------------------------------------------- the file ---- */

/* A file on its way, line by line. Positions are offsets of the source that the file is one of. */
struct lines {
    struct dump_marks *marks;
    struct source *source;
    struct diags *diags;
    const char *text;
    uint32_t first; /* the offset of its first byte */
    uint32_t at, end;
    bool fine;
};

/* A word: what stands in double quotes is part of it, without them. */
struct mark_word {
    const char *text; /* NULL: there is none */
    struct span span; /* with its quotes; of none, the end of the line */
    bool quoted;      /* it begins with one */
};

static struct span span_of(const struct lines *lines, uint32_t begin, uint32_t end)
{
    return (struct span){lines->first + begin, lines->first + (end > begin ? end : begin + 1)};
}

static bool fail(struct lines *lines, struct span span, const char *what)
{
    diag_at(lines->diags, DIAG_scopes_syntax, span, "%s", what);
    lines->fine = false;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* False where a quote has no end. At the end of the line, or a comment, there is no word. */
static bool take_word(struct lines *lines, struct mark_word *word)
{
    const char *text = lines->text;
    while (lines->at < lines->end && is_blank(text[lines->at]))
        lines->at++;
    uint32_t begin = lines->at, quote = NONE;
    *word = (struct mark_word){NULL, span_of(lines, begin, begin + 1), false};
    if (begin == lines->end || text[begin] == '#')
        return true;
    char *copy = arena_alloc(&lines->marks->arena, lines->end - begin + 1), *to = copy;
    for (; lines->at < lines->end && (quote != NONE || !is_blank(text[lines->at])); lines->at++) {
        if (text[lines->at] == '"')
            quote = quote == NONE ? lines->at : NONE;
        else
            *to++ = text[lines->at];
    }
    *to = '\0';
    *word = (struct mark_word){copy, span_of(lines, begin, lines->at), text[begin] == '"'};
    return quote == NONE || fail(lines, span_of(lines, quote, lines->end), "this quote has no end");
}

static const char *const keys[] = {"scope=", "stream=", "options=", "priority="};
enum { KEY_SCOPE, KEY_STREAM, KEY_OPTIONS, KEY_PRIORITY, N_KEYS };

static unsigned find_key(const struct mark_word *word)
{
    unsigned key = 0;
    while (key < N_KEYS && strncmp(word->text, keys[key], strlen(keys[key])) != 0)
        key++;
    return key;
}

static bool take_pattern(struct lines *lines, struct dump_mark *mark)
{
    struct mark_word word;
    if (!take_word(lines, &word))
        return false;
    if (!word.text || (!word.quoted && find_key(&word) < N_KEYS))
        return fail(lines, word.span, "a pattern is missing");
    mark->pattern = word.text;
    mark->subject = word.span;
    return true;
}

static bool take_range(struct lines *lines, struct dump_mark *mark)
{
    struct mark_word word;
    if (!take_word(lines, &word))
        return false;
    mark->subject = word.span;
    return (word.text && split_range(&lines->marks->arena, word.text, mark)) ||
           fail(lines, word.span, "a range is FROM..TO, the names of its first and its last op");
}

/* Which ops a line is about. */
static bool take_subject(struct lines *lines, struct dump_mark *mark, const struct mark_word *word)
{
    mark->subject = word->span;
    mark->kind = MARK_ALL;
    if (strcmp(word->text, "all") == 0)
        return true;
    if (strcmp(word->text, "range") == 0)
        return take_range(lines, mark);
    bool type = strcmp(word->text, "type") == 0;
    if (!type && strcmp(word->text, "name") != 0)
        return fail(lines, word->span, "a line begins with 'name', 'type', 'range' or 'all'");
    mark->kind = type ? MARK_TYPE : MARK_NAME;
    return take_pattern(lines, mark);
}

static bool take_priority(struct lines *lines, struct dump_mark *mark, const char *value,
                          struct span span)
{
    char *end;
    long priority = strtol(value, &end, 10);
    if (end == value || *end || priority < -1024 || priority > 1024)
        return fail(lines, span, "a priority is a number from -1024 to 1024");
    mark->priority = (int32_t)priority;
    return true;
}

/* Where the value of a setting stands, as far as it stands there byte for byte. */
static struct span value_span(const struct lines *lines, const struct mark_word *word, size_t key)
{
    struct span span = word->span;
    const char *text = lines->text + (span.begin - lines->first);
    size_t size = strlen(word->text) - key;
    if (word->quoted || span.end - span.begin < key + size)
        return span;
    span.begin += (uint32_t)key;
    if (span.end - span.begin == size + 2 && text[key] == '"')
        return (struct span){span.begin + 1, span.end - 1};
    return span.begin < span.end ? span : word->span;
}

/* What the ops get: KEY=VALUE. */
static bool take_setting(struct lines *lines, struct dump_mark *mark, const struct mark_word *word)
{
    const char **texts[] = {&mark->scope, &mark->stream, &mark->options};
    unsigned key = find_key(word);
    if (key == N_KEYS)
        return fail(lines, word->span,
                    "ops get 'scope=NAME', 'options=TEXT', 'stream=LABEL' or 'priority=N'");
    const char *value = word->text + strlen(keys[key]);
    if (key == KEY_PRIORITY)
        return take_priority(lines, mark, value, word->span);
    if (key != KEY_OPTIONS && !*value)
        return fail(lines, word->span, "a name is missing behind the '='");
    if (key == KEY_OPTIONS) {
        mark->options_span = value_span(lines, word, strlen(keys[key]));
        source_add_token(lines->source, mark->options_span);
    }
    *texts[key] = value;
    return true;
}

/* Whether a line gives what belongs together. */
static bool is_whole(struct lines *lines, const struct dump_mark *mark)
{
    if (mark->options && !mark->scope)
        return fail(lines, mark->options_span, "options are those of a scope, which is missing");
    if (mark->priority != DUMP_NO_PRIORITY && !mark->stream)
        return fail(lines, mark->subject, "a priority is that of a stream, which is missing");
    return mark->scope || mark->stream ||
           fail(lines, mark->subject, "the line gives its ops neither a scope nor a stream");
}

static void read_line(struct lines *lines)
{
    struct dump_mark mark = no_mark;
    struct mark_word word;
    if (!take_word(lines, &word) || !word.text || !take_subject(lines, &mark, &word))
        return;
    for (;;) {
        if (!take_word(lines, &word))
            return;
        if (!word.text)
            break;
        if (!take_setting(lines, &mark, &word))
            return;
    }
    if (is_whole(lines, &mark))
        vec_push(&lines->marks->list, mark);
}

static void read_lines(struct lines *lines, uint32_t size)
{
    while (lines->at < size) {
        const char *end = memchr(lines->text + lines->at, '\n', size - lines->at);
        lines->end = end ? (uint32_t)(end - lines->text) : size;
        read_line(lines);
        lines->at = lines->end + 1;
    }
}

bool dump_marks_open(struct dump_marks *marks, const char *path, char *error, size_t error_size)
{
    marks->path = path;
    return file_read(path, &marks->bytes, error, error_size);
}

bool dump_marks_read(struct dump_marks *marks, struct dump *dump)
{
    char error[512];
    if (!marks->path)
        return true;
    const struct source_file *file =
        source_join(dump->source, marks->path, &marks->bytes, error, sizeof error);
    if (!file) {
        diag_at(dump->diags, DIAG_file, no_span, "%s", error);
        return false;
    }
    struct lines lines = {.marks = marks,
                          .source = dump->source,
                          .diags = dump->diags,
                          .text = file->text.text,
                          .first = file->begin,
                          .fine = true};
    struct dump_marks given = {.list.at = marks->list.at, .list.count = marks->list.count};
    marks->list.at = NULL;
    marks->list.count = marks->list.capacity = 0;
    read_lines(&lines, file->text.size);
    for (uint32_t i = 0; i < given.list.count; i++)
        vec_push(&marks->list, given.list.at[i]);
    vec_free(&given.list);
    return lines.fine;
}
