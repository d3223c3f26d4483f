#define _GNU_SOURCE /* memmem */
#include "ir/support/source.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ------------------------------------------------------------------- a reader of files ---- */

/* By what the file is, not by what it is called. What would never end, or would wait for somebody,
 * cannot be included. */
static bool identify_file(struct source_reader *reader, const char *path, struct text *identity,
                          char *error, size_t error_size)
{
    struct stat st;
    (void)reader;
    if (stat(path, &st) != 0)
        return message_fail(error, error_size, "cannot open '%s': %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return message_fail(error, error_size, "'%s' is a folder, not a file", path);
    if (!S_ISREG(st.st_mode))
        return message_fail(error, error_size, "'%s' is not a regular file", path);
    text_printf(identity, "%llu:%llu", (unsigned long long)st.st_dev,
                (unsigned long long)st.st_ino);
    return st.st_size < UINT32_MAX ||
           message_fail(error, error_size, "'%s' is larger than 4 GiB", path);
}

static bool read_file(struct source_reader *reader, const char *path, struct file_bytes *bytes,
                      char *error, size_t error_size)
{
    (void)reader;
    return file_read_text(path, bytes, error, error_size);
}

struct source_reader *source_file_reader(void)
{
    static struct source_reader reader = {identify_file, read_file};
    return &reader;
}

/* --------------------------------------------------------------------------- including ---- */

/* The bytes of a path up to its last slash, which is among them. */
static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* The path from the folder of the source. */
static const char *path_from_source(struct source *source, uint32_t from, const char *path)
{
    const struct source_file *file = source_file_at(source, from);
    while (path[0] == '.' && path[1] == '/')
        path += 2 + strspn(path + 2, "/");
    return path[0] == '/' || !file ? arena_printf(&source->arena, "%s", path)
                                   : arena_printf(&source->arena, "%s%s", file->folder, path);
}

/* The same path for the system, and for messages. */
static const char *path_to_open(struct source *source, const char *path)
{
    int folder = path[0] == '/' ? 0 : (int)folder_size(source->path);
    return arena_printf(&source->arena, "%.*s%s", folder, source->path, path);
}

/* Whether the file was met for the first time. */
static bool is_new(struct source *source, const struct text *identity)
{
    uint32_t count = source->identities.count;
    return intern_copy(&source->identities, identity->at, identity->size) == count;
}

/* A source that is no file, such as standard input, has no identity. */
static void meet_source(struct source *source)
{
    struct text identity = {NULL, 0, 0};
    char error[512];
    if (source->identities.count == 0 &&
        source->reader->identify(source->reader, source->path, &identity, error, sizeof error))
        is_new(source, &identity);
    text_free(&identity);
}

/* Adds a text, whose bytes the source takes. The offsets of a file begin after that of the end of
 * the text before. NULL where both together are too large. */
static struct source_file *add_text(struct source *source, const char *path,
                                    struct file_bytes *bytes, bool foreign, char *error,
                                    size_t error_size)
{
    uint32_t count = source->files.count;
    const struct source_file *last = count ? source->files.at[count - 1] : NULL;
    uint64_t begin = (last ? (uint64_t)last->begin + last->text.size : source->size) + 1;
    struct source_file *file = arena_alloc(&source->arena, sizeof *file);
    *file = (struct source_file){.begin = (uint32_t)begin, .folder = "", .bytes = *bytes};
    if (begin + bytes->size >= UINT32_MAX ||
        !(foreign ? source_init_foreign(&file->text, path, bytes->data, bytes->size)
                  : source_init(&file->text, path, bytes->data, bytes->size))) {
        message_fail(error, error_size, "with '%s', the text is larger than 4 GiB", path);
        return NULL;
    }
    *bytes = (struct file_bytes){0};
    vec_push(&source->files, file);
    return file;
}

static struct source_file *add_file(struct source *source, const char *path, const char *shown,
                                    char *error, size_t error_size)
{
    struct file_bytes bytes;
    if (!source->reader->read(source->reader, shown, &bytes, error, error_size))
        return NULL;
    struct source_file *file = add_text(source, shown, &bytes, false, error, error_size);
    file_bytes_free(&bytes);
    if (file)
        file->folder = arena_strndup(&source->arena, path, folder_size(path));
    return file;
}

enum include_status source_include(struct source *source, uint32_t from, const char *path,
                                   char *error, size_t error_size)
{
    struct text identity = {NULL, 0, 0};
    enum include_status status = INCLUDE_FAILED;
    assert(source->reader && source->language == SOURCE_SKIR);
    meet_source(source);
    path = path_from_source(source, from, path);
    const char *shown = path_to_open(source, path);
    if (source->reader->identify(source->reader, shown, &identity, error, error_size))
        status = !is_new(source, &identity)                         ? INCLUDE_KNOWN
                 : add_file(source, path, shown, error, error_size) ? INCLUDE_NEW
                                                                    : INCLUDE_FAILED;
    text_free(&identity);
    return status;
}

const struct source_file *source_add_file(struct source *source, const char *path, char *error,
                                          size_t error_size)
{
    struct text identity = {NULL, 0, 0};
    const char *shown = path_to_open(source, path);
    assert(source->reader && source->language == SOURCE_FOREIGN);
    const struct source_file *file =
        source->reader->identify(source->reader, shown, &identity, error, error_size)
            ? add_file(source, path, shown, error, error_size)
            : NULL;
    text_free(&identity);
    return file;
}

const struct source_file *source_join(struct source *source, const char *path,
                                      struct file_bytes *bytes, char *error, size_t error_size)
{
    return add_text(source, path, bytes, true, error, error_size);
}

const char *source_file_path(struct source *source, uint32_t offset, const char *name)
{
    const struct source_file *file = source_file_at(source, offset);
    if (!file || !file->folder[0] || name[0] == '/')
        return NULL;
    const char *path = arena_printf(&source->arena, "%s%s", file->folder, name);
    return access(path_to_open(source, path), R_OK) == 0 ? path : NULL;
}
