#include "frontend/exchange/dump/marks.h"
#include "ir/base/file.h"
#include "ir/op_types.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dump_marks_free(struct dump_marks *marks)
{
    vec_free(&marks->list);
    arena_free(&marks->arena);
}

static const struct dump_mark no_mark = {.priority = DUMP_NO_PRIORITY};

/* ------------------------------------------------------------------ the command line ---- */

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
    const char *range = equals ? strstr(equals + 1, "..") : NULL;
    if (range && range > equals + 1 && range[2]) {
        mark.kind = MARK_RANGE;
        mark.pattern = arena_strndup(&marks->arena, equals + 1, (size_t)(range - equals - 1));
        mark.to = arena_strndup(&marks->arena, range + 2, strlen(range + 2));
    } else if (equals) {
        mark.pattern = arena_strndup(&marks->arena, equals + 1, strlen(equals + 1));
    }
    vec_push(&marks->list, mark);
    return true;
}

/* --------------------------------------------------------------------------- the file ---- */

/* A line of a file on its way. */
struct line {
    const char *at, *end;
    const char *path;
    unsigned number;
    struct arena *arena;
    char *error;
    size_t error_size;
};

static bool fail(const struct line *line, const char *what)
{
    snprintf(line->error, line->error_size, "%s:%u: %s", line->path, line->number, what);
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word, up to a blank; what stands in double quotes is part of it, without them. NULL at
 * the end of the line, or a comment. */
static const char *take_word(struct line *line)
{
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    if (line->at == line->end || *line->at == '#')
        return NULL;
    char *word = arena_alloc(line->arena, (size_t)(line->end - line->at) + 1), *to = word;
    bool quoted = false;
    for (; line->at < line->end && (quoted || !is_blank(*line->at)); line->at++) {
        if (*line->at == '"')
            quoted = !quoted;
        else
            *to++ = *line->at;
    }
    *to = '\0';
    return word;
}

static bool take_range(struct line *line, struct dump_mark *mark, const char *word)
{
    const char *dots = word ? strstr(word, "..") : NULL;
    if (!dots || dots == word || !dots[2])
        return fail(line, "a range is FROM..TO, the names of its first and its last op");
    mark->kind = MARK_RANGE;
    mark->pattern = arena_strndup(line->arena, word, (size_t)(dots - word));
    mark->to = dots + 2;
    return true;
}

/* Which ops a line is about. */
static bool take_subject(struct line *line, struct dump_mark *mark, const char *word)
{
    if (strcmp(word, "all") == 0) {
        mark->kind = MARK_ALL;
        return true;
    }
    if (strcmp(word, "range") == 0)
        return take_range(line, mark, take_word(line));
    bool type = strcmp(word, "type") == 0;
    if (!type && strcmp(word, "name") != 0)
        return fail(line, "a line begins with 'name', 'type', 'range' or 'all'");
    mark->kind = type ? MARK_TYPE : MARK_NAME;
    mark->pattern = take_word(line);
    return mark->pattern || fail(line, "a pattern is missing");
}

static bool take_priority(struct line *line, struct dump_mark *mark, const char *value)
{
    char *end;
    long priority = strtol(value, &end, 10);
    if (end == value || *end || priority < -1024 || priority > 1024)
        return fail(line, "a priority is a number from -1024 to 1024");
    mark->priority = (int32_t)priority;
    return true;
}

/* What the ops get: KEY=VALUE. */
static bool take_setting(struct line *line, struct dump_mark *mark, const char *word)
{
    static const char *const keys[] = {"scope=", "stream=", "options=", "priority="};
    const char **texts[] = {&mark->scope, &mark->stream, &mark->options, NULL};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        size_t size = strlen(keys[i]);
        if (strncmp(word, keys[i], size) != 0)
            continue;
        if (!texts[i])
            return take_priority(line, mark, word + size);
        *texts[i] = word + size;
        return true;
    }
    return fail(line, "ops get 'scope=NAME', 'options=TEXT', 'stream=LABEL' or 'priority=N'");
}

static bool read_line(struct line *line, struct dump_marks *marks)
{
    struct dump_mark mark = no_mark;
    mark.line = line->number;
    const char *word = take_word(line);
    if (!word)
        return true;
    if (!take_subject(line, &mark, word))
        return false;
    while ((word = take_word(line)))
        if (!take_setting(line, &mark, word))
            return false;
    if (!mark.scope && !mark.stream)
        return fail(line, "the line gives its ops neither a scope nor a stream");
    vec_push(&marks->list, mark);
    return true;
}

bool dump_marks_read(struct dump_marks *marks, const char *path, char *error, size_t error_size)
{
    struct file_bytes bytes;
    if (!file_read(path, &bytes, error, error_size))
        return false;
    struct line line = {bytes.data, NULL, path, 0, &marks->arena, error, error_size};
    bool fine = true;
    for (const char *end = bytes.data + bytes.size; fine && line.at < end; line.at = line.end + 1) {
        line.end = memchr(line.at, '\n', (size_t)(end - line.at));
        line.end = line.end ? line.end : end;
        line.number++;
        fine = read_line(&line, marks);
        line.at = line.end;
    }
    file_bytes_free(&bytes);
    return fine;
}

/* --------------------------------------------------------------------------- the nodes ---- */

struct marking {
    struct dump *dump;
    struct dump_graph *graph;
    const uint32_t *order;
    struct arena arena; /* of the texts that patterns are held against */
};

static uint32_t name_or_none(const struct marking *marking, const char *text)
{
    return text ? module_name(marking->dump->module, text) : NONE;
}

static bool is_passive(const struct marking *marking, const struct dump_node *node)
{
    const struct op_type *type = op_type_find(marking->dump->module, node->type);
    return node->role != DUMP_OP || (type && type->passive);
}

static void give(struct marking *marking, struct dump_node *node, struct dump_mark *mark)
{
    mark->met = true;
    if (is_passive(marking, node))
        return;
    if (mark->scope) {
        node->scope = name_or_none(marking, mark->scope);
        node->options = name_or_none(marking, mark->options);
    }
    if (mark->stream) {
        node->stream = name_or_none(marking, mark->stream);
        node->priority = mark->priority;
    }
}

/* Names are NUL-terminated for fnmatch in the arena; what has a NUL inside fits no pattern. */
static bool fits(struct marking *marking, uint32_t name, const char *pattern)
{
    if (name == NONE)
        return false;
    const struct intern_name *text = &marking->dump->module->names.names[name];
    if (!strpbrk(pattern, "*?[\\"))
        return text->size == strlen(pattern) && memcmp(text->text, pattern, text->size) == 0;
    bool fit = fnmatch(pattern, name_text(marking->dump->module, name, &marking->arena), 0) == 0;
    arena_free(&marking->arena);
    return fit;
}

static bool is_marked(struct marking *marking, const struct dump_node *node,
                      const struct dump_mark *mark)
{
    if (mark->kind == MARK_ALL)
        return true;
    return fits(marking, mark->kind == MARK_TYPE ? node->type : node->name, mark->pattern);
}

/* The place of the node with this name from `from` on; the number of nodes where there is none. */
static uint32_t find_place(struct marking *marking, const char *name, uint32_t from)
{
    for (; from < marking->graph->nodes.count; from++)
        if (fits(marking, marking->graph->nodes.at[marking->order[from]].name, name))
            break;
    return from;
}

static void mark_range(struct marking *marking, struct dump_mark *mark)
{
    uint32_t count = marking->graph->nodes.count;
    uint32_t first = find_place(marking, mark->pattern, 0);
    uint32_t last = find_place(marking, mark->to, first);
    for (uint32_t i = first; last < count && i <= last; i++)
        give(marking, &marking->graph->nodes.at[marking->order[i]], mark);
}

void dump_mark_nodes(struct dump *dump, uint32_t graph, const uint32_t *order)
{
    struct dump_marks *marks = dump->options->marks;
    struct marking marking = {.dump = dump, .graph = &dump->graphs.at[graph], .order = order};
    for (uint32_t m = 0; marks && m < marks->list.count; m++) {
        struct dump_mark *mark = &marks->list.at[m];
        for (uint32_t n = 0; mark->kind != MARK_RANGE && n < marking.graph->nodes.count; n++)
            if (is_marked(&marking, &marking.graph->nodes.at[n], mark))
                give(&marking, &marking.graph->nodes.at[n], mark);
        if (mark->kind == MARK_RANGE)
            mark_range(&marking, mark);
    }
}

void dump_report_marks(struct dump *dump)
{
    const struct dump_marks *marks = dump->options->marks;
    for (uint32_t i = 0; marks && i < marks->list.count; i++) {
        const struct dump_mark *mark = &marks->list.at[i];
        if (mark->met)
            continue;
        const char *to = mark->kind == MARK_RANGE ? mark->to : NULL;
        diag_at(dump->diags, DIAG_idle_mark, no_span, "no op is '%s%s%s', which should be in '%s'",
                mark->pattern ? mark->pattern : "all", to ? ".." : "", to ? to : "",
                mark->scope ? mark->scope : mark->stream);
    }
}
