/* Marks as they are written, on the command line and in files, and as nodes get them. */
#include "frontend/import/dump/marks.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/optypes/op_types.h"

/* What was met of a mark, in whichever graph. */
enum dump_mark_met {
    MARK_MET = 1,      /* a node that it is about */
    MARK_FROM = 2,     /* the first node of a range, */
    MARK_TO = 4,       /* the last one, */
    MARK_REVERSED = 8, /* and both in one graph, but the last one before the first */
};

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

/* Which ops a line is about. */
static bool take_subject(struct lines *lines, struct dump_mark *mark, struct mark_word word)
{
    static const char *const kinds[] = {
        [MARK_ALL] = "all", [MARK_NAME] = "name", [MARK_TYPE] = "type", [MARK_RANGE] = "range"};
    unsigned kind = 0, n_kinds = sizeof kinds / sizeof kinds[0];
    while (kind < n_kinds && strcmp(word.text, kinds[kind]) != 0)
        kind++;
    mark->subject = word.span;
    mark->kind = (enum dump_mark_kind)kind;
    if (kind == MARK_ALL)
        return true;
    if (kind == n_kinds)
        return fail(lines, word.span, "a line begins with 'name', 'type', 'range' or 'all'");
    if (!take_word(lines, &word))
        return false;
    mark->subject = word.span;
    mark->pattern = word.text;
    if (kind == MARK_RANGE)
        return (word.text && split_range(&lines->marks->arena, word.text, mark)) ||
               fail(lines, word.span,
                    "a range is FROM..TO, the names of its first and its last op");
    return (word.text && (word.quoted || find_key(&word) == N_KEYS)) ||
           fail(lines, word.span, "a pattern is missing");
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
    char *end;
    if (key == KEY_PRIORITY) {
        long priority = strtol(value, &end, 10);
        mark->priority = (int32_t)priority;
        return (end != value && !*end && priority >= -1024 && priority <= 1024) ||
               fail(lines, word->span, "a priority is a number from -1024 to 1024");
    }
    if (key != KEY_OPTIONS && !*value)
        return fail(lines, word->span, "a name is missing behind the '='");
    if (key == KEY_OPTIONS) {
        mark->options_span = value_span(lines, word, strlen(keys[key]));
        source_add_token(lines->source, mark->options_span);
    }
    *texts[key] = value;
    return true;
}

static void read_line(struct lines *lines)
{
    struct dump_mark mark = no_mark;
    struct mark_word word;
    bool fine = take_word(lines, &word);
    if (!fine || !word.text || !take_subject(lines, &mark, word))
        return;
    while ((fine = take_word(lines, &word)) && word.text)
        if (!take_setting(lines, &mark, &word))
            return;
    if (!fine)
        return;
    if (mark.options && !mark.scope)
        fail(lines, mark.options_span, "options are those of a scope, which is missing");
    else if (mark.priority != DUMP_NO_PRIORITY && !mark.stream)
        fail(lines, mark.subject, "a priority is that of a stream, which is missing");
    else if (!mark.scope && !mark.stream)
        fail(lines, mark.subject, "the line gives its ops neither a scope nor a stream");
    else
        vec_push(&lines->marks->list, mark);
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
    while (lines.at < file->text.size) {
        const char *end = memchr(lines.text + lines.at, '\n', file->text.size - lines.at);
        lines.end = end ? (uint32_t)(end - lines.text) : file->text.size;
        read_line(&lines);
        lines.at = lines.end + 1;
    }
    for (uint32_t i = 0; i < given.list.count; i++)
        vec_push(&marks->list, given.list.at[i]);
    vec_free(&given.list);
    return lines.fine;
}

/* ------------------------------------------------------------------------------- nodes ---- */

static void give(struct dump *dump, struct dump_node *node, struct dump_mark *mark)
{
    struct module *module = dump->module;
    const struct op_type *type = op_type_find(module, node->type);
    mark->met |= MARK_MET;
    if (node->role != DUMP_OP || (type && type->passive))
        return;
    if (mark->scope) { /* `none` is written as dumps say it */
        bool none = strcmp(mark->scope, "none") == 0;
        node->scope = module_name(module, none ? DUMP_SCOPE_NONE : mark->scope);
        node->options = mark->options ? module_name(module, mark->options) : NONE;
        node->options_loc = mark->options_span.begin;
    }
    if (mark->stream) {
        node->stream = module_name(module, mark->stream);
        node->priority = mark->priority;
    }
}

/* ------------------------------------------------------------------------------- marks ---- */

/* The first place from `place` on whose node has this name; NONE. */
static uint32_t find_place(const struct dump *dump, const struct dump_graph *graph,
                           const uint32_t *order, const char *text, uint32_t place)
{
    uint32_t name = intern_find(&dump->module->names, text, strlen(text));
    for (; name != NONE && place < graph->nodes.count; place++)
        if (graph->nodes.at[order[place]].name == name)
            return place;
    return NONE;
}

/* Whether a name matches a pattern. */
static bool matches(const struct intern_name *name, const char *pattern)
{
    size_t literal = strcspn(pattern, "*?[\\"); /* bytes that stand for themselves */
    bool same = name->size >= literal && memcmp(name->text, pattern, literal) == 0;
    if (!same || !pattern[literal])
        return same && name->size == literal;
    struct text text = {NULL, 0, 0};
    text_bytes(&text, name->text, name->size);
    text_char(&text, '\0');
    same = fnmatch(pattern, text.at, 0) == 0;
    text_free(&text);
    return same;
}

void dump_mark_nodes(struct dump *dump, uint32_t index, const uint32_t *order)
{
    struct dump_marks *marks = dump->options->marks;
    struct dump_graph *graph = &dump->graphs.at[index];
    for (uint32_t i = 0; marks && i < marks->list.count; i++) {
        struct dump_mark *mark = &marks->list.at[i];
        uint32_t first = 0, end = graph->nodes.count;
        if (mark->kind == MARK_RANGE) {
            first = find_place(dump, graph, order, mark->pattern, 0);
            uint32_t last = find_place(dump, graph, order, mark->to, 0);
            mark->met |= (first != NONE ? MARK_FROM : 0) | (last != NONE ? MARK_TO : 0);
            if (first == NONE || last == NONE)
                continue;
            last = find_place(dump, graph, order, mark->to, first);
            mark->met |= last == NONE ? MARK_REVERSED : 0;
            end = last == NONE ? first : last + 1;
        }
        for (; first < end; first++) {
            struct dump_node *node = &graph->nodes.at[order[first]];
            uint32_t key = mark->kind == MARK_TYPE ? node->type : node->name;
            if (mark->kind == MARK_ALL || mark->kind == MARK_RANGE ||
                (key != NONE && matches(&dump->module->names.names[key], mark->pattern)))
                give(dump, node, mark);
        }
    }
}

/* ----------------------------------------------------------------------------- reports ---- */

void dump_report_marks(struct dump *dump)
{
    const struct dump_marks *marks = dump->options->marks;
    for (uint32_t i = 0; marks && i < marks->list.count; i++) {
        const struct dump_mark *mark = &marks->list.at[i];
        const char *from = mark->pattern, *to = mark->to;
        struct text text = {NULL, 0, 0};
        unsigned ends = mark->met & (MARK_FROM | MARK_TO);
        if (mark->met & MARK_MET)
            continue;
        if (mark->kind == MARK_ALL)
            text_string(&text, "there is no op");
        else if (mark->kind != MARK_RANGE)
            text_printf(&text, "no op's %s fits '%s'", mark->kind == MARK_TYPE ? "type" : "name",
                        from);
        else if (mark->met & MARK_REVERSED)
            text_printf(&text, "the range is reversed: '%s' stands before '%s'", to, from);
        else if (ends == (MARK_FROM | MARK_TO))
            text_printf(&text, "the range has its ends '%s' and '%s' in different graphs", from,
                        to);
        else if (ends)
            text_printf(&text, "the range has no %s: no op is '%s'",
                        ends == MARK_FROM ? "end" : "begin", ends == MARK_FROM ? to : from);
        else
            text_printf(&text, "the range has no ends: no op is '%s', and none is '%s'", from, to);
        diag_at(dump->diags, DIAG_idle_mark, mark->subject, "%s%.*s",
                mark->subject.end ? "" : "--scope: ", (int)text.size, text.at);
        text_free(&text);
    }
}
