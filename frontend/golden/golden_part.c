#include "frontend/golden/golden_part.h"
#include "frontend/golden/golden_scan.h"

static size_t line_size(const struct part *part, const char *line)
{
    const char *end = part->text + part->size;
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    return (size_t)((stop ? stop : end) - line);
}

static const char *next_line(const struct part *part, const char *line)
{
    const char *end = part->text + part->size;
    line += line_size(part, line);
    return line < end ? line + 1 : end;
}

static size_t indent_of(const char *line, size_t size)
{
    size_t n = 0;
    while (n < size && line[n] == ' ')
        n++;
    return n;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$';
}

/* Whether the line begins with the words, which end there as a name does. */
static bool begins_with(const char *line, size_t size, const struct part *words)
{
    scan_trim(&line, &size);
    return size >= words->size && memcmp(line, words->text, words->size) == 0 &&
           (size == words->size || !is_name_byte(line[words->size]));
}

/* Where the block ends that begins with the line. */
static const char *block_end(const struct part *part, const char *line)
{
    const char *end = part->text + part->size;
    size_t size = line_size(part, line), indent = indent_of(line, size);
    const char *text = line, *behind = next_line(part, line);
    size_t trimmed = size;
    scan_trim(&text, &trimmed);
    if (trimmed == 0 || text[trimmed - 1] != '{')
        return behind;
    for (const char *at = behind; at < end; at = next_line(part, at)) {
        size = line_size(part, at);
        if (indent_of(at, size) == indent && indent < size && at[indent] == '}')
            return next_line(part, at);
    }
    return end;
}

static bool find_words(struct part *part, const struct part *words)
{
    const char *end = part->text + part->size;
    for (const char *line = part->text; line < end; line = next_line(part, line)) {
        if (!begins_with(line, line_size(part, line), words))
            continue;
        part->size = (size_t)(block_end(part, line) - line);
        part->text = line;
        return true;
    }
    return false;
}

/* Cuts the words before the next comma outside of quotes off the path. */
static struct part cut_words(const char **path)
{
    const char *p = *path, *begin = p;
    bool quoted = false;
    for (; *p && (quoted || *p != ','); p++)
        if (*p == '"')
            quoted = !quoted;
    struct part words = {begin, (size_t)(p - begin)};
    scan_trim(&words.text, &words.size);
    *path = *p ? p + 1 : p;
    return words;
}

bool golden_find_part(struct part *part, const char *path, struct part *missing)
{
    while (*path) {
        struct part words = cut_words(&path);
        *missing = words;
        if (words.size == 0 || part->size == 0 || !find_words(part, &words))
            return false;
    }
    return true;
}
