#define _GNU_SOURCE /* memmem */
#include "ir/base/source.h"

#include <assert.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Whether the line is `//! WORD`; `*alone`: and nothing else. */
static bool is_directive(const char *line, size_t size, const char *word, bool *alone)
{
    size_t n = strlen(word);
    if (size < 4 + n || memcmp(line, "//! ", 4) != 0 || memcmp(line + 4, word, n) != 0)
        return false;
    size_t at = 4 + n;
    if (at < size && !is_blank(line[at]))
        return false;
    while (at < size && is_blank(line[at]))
        at++;
    *alone = at == size;
    return true;
}

bool source_is_expect(const char *line, size_t size)
{
    bool alone;
    return is_directive(line, size, "expect", &alone) || is_directive(line, size, "also", &alone);
}

const char *source_find_expect(const char *text, size_t size)
{
    static const char mark[] = "\n//! ";
    const char *end = text + size, *at = text, *claim = memchr(text, '\n', size);
    if (size < 3 || memcmp(text, "//!", 3) != 0)
        return NULL;
    while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1))) {
        const char *line = at + 1, *stop = memchr(line, '\n', (size_t)(end - line));
        size_t line_size = (size_t)((stop ? stop : end) - line);
        bool alone = false, expect = is_directive(line, line_size, "expect", &alone) && alone;
        /* The second line is a claim, which may begin with such a word. */
        if (expect || (at != claim && source_is_expect(line, line_size)))
            return line;
        at = line;
    }
    return NULL;
}

bool source_init(struct source *source, const char *path, char *data, size_t size)
{
    *source = (struct source){.path = path, .text = data};
    if (size >= UINT32_MAX)
        return false;
    const char *expect = source_find_expect(data, size);
    if (expect) {
        size_t program = (size_t)(expect - data);
        data[program] = '\0';
        source->tail = expect + 1;
        source->tail_size = size - program - 1;
        size = program;
    }
    source->size = (uint32_t)size;
    return true;
}

bool source_init_foreign(struct source *source, const char *path, const char *text, size_t size)
{
    *source = (struct source){.language = SOURCE_FOREIGN, .path = path, .text = text};
    source->size = size < UINT32_MAX ? (uint32_t)size : 0;
    return size < UINT32_MAX;
}

void source_free(struct source *source)
{
    for (uint32_t i = 0; i < source->files.count; i++) {
        source_free(&source->files.at[i]->text);
        file_bytes_free(&source->files.at[i]->bytes);
    }
    vec_free(&source->files);
    intern_free(&source->identities);
    arena_free(&source->arena);
    vec_free(&source->tokens);
    vec_free(&source->lines);
}

/* ---------------------------------------------------------------------------- files ---- */

const struct source_file *source_file_at(const struct source *source, uint32_t offset)
{
    uint32_t low;
    if (offset <= source->size)
        return NULL;
    bisect(low, i, source->files.count, source->files.at[i]->begin <= offset);
    return low ? source->files.at[low - 1] : NULL;
}

struct source *source_at(struct source *source, uint32_t *offset)
{
    struct source_file *file = (struct source_file *)source_file_at(source, *offset);
    if (!file)
        return source;
    *offset -= file->begin;
    return &file->text;
}

/* --------------------------------------------------------------------------- tokens ---- */

void source_add_token(struct source *source, struct span token)
{
    uint32_t count = source->tokens.count;
    assert(source->language == SOURCE_FOREIGN && token.begin < token.end);
    assert(token.end <= source->size || source_file_at(source, token.begin));
    assert(count == 0 || source->tokens.at[count - 1].end <= token.begin);
    vec_push(&source->tokens, token);
}

struct span source_token(const struct source *source, uint32_t offset)
{
    uint32_t low;
    assert(source->language == SOURCE_FOREIGN);
    assert(offset <= source->size || source_file_at(source, offset));
    bisect(low, i, source->tokens.count, source->tokens.at[i].begin < offset);
    if (low < source->tokens.count && source->tokens.at[low].begin == offset)
        return source->tokens.at[low];
    return (struct span){offset, offset + 1};
}

/* ---------------------------------------------------------------------------- lines ---- */

static void map_lines(struct source *source)
{
    if (source->lines.count)
        return;
    vec_push(&source->lines, 0);
    const char *end = source->text + source->size;
    for (const char *p = source->text; p < end && (p = memchr(p, '\n', (size_t)(end - p)));)
        vec_push(&source->lines, (uint32_t)(++p - source->text));
}

struct position source_position(struct source *source, uint32_t offset)
{
    source = source_at(source, &offset);
    map_lines(source);
    uint32_t line; /* from 1 on: the lines that begin at the offset or before; one always does */
    bisect(line, i, source->lines.count, source->lines.at[i] <= offset);
    uint32_t from = source->lines.at[line - 1], column = 1;
    if (source->last.line == line && source->last.offset <= offset) {
        from = source->last.offset;
        column = source->last.column;
    }
    for (; from < offset && from < source->size; from++)
        column += !continues_code_point(source->text[from]);
    source->last.line = line;
    source->last.column = column;
    source->last.offset = from;
    return (struct position){line, column};
}

const char *source_line(struct source *source, uint32_t line, size_t *size)
{
    map_lines(source);
    assert(line >= 1 && line <= source->lines.count);
    uint32_t begin = source->lines.at[line - 1];
    uint32_t end = line < source->lines.count ? source->lines.at[line] : source->size;
    while (end > begin && (source->text[end - 1] == '\n' || source->text[end - 1] == '\r'))
        end--;
    *size = end - begin;
    return source->text + begin;
}
