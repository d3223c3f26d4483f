/* Fuzzed bytes of several parts, which lines "----" stand between: a text, and behind it what it
 * includes, which is read as files are, whatever their paths. */
#ifndef TESTS_FUZZ_PARTS_H
#define TESTS_FUZZ_PARTS_H

#include "ir/support/memory.h"
#include "ir/support/source.h"

#include <stdint.h>
#include <string.h>

enum { MOST_PARTS = 4 };

struct parts {
    struct source_reader reader; /* of the part behind the first; files with different names are
                                  * different ones, with the same bytes */
    struct {
        const char *text;
        size_t size;
    } at[MOST_PARTS];
    unsigned count;
};

static inline bool identify_part(struct source_reader *reader, const char *path,
                                 struct text *identity, char *error, size_t error_size)
{
    (void)reader;
    if (((struct parts *)reader)->count < 2) {
        snprintf(error, error_size, "there is no '%s'", path);
        return false;
    }
    text_string(identity, path);
    return true;
}

/* A copy, as of file_read_text. */
static inline struct file_bytes copy_of(const char *text, size_t size)
{
    struct file_bytes bytes = {mem_realloc(NULL, size + 1, 1), size};
    if (size)
        memcpy(bytes.data, text, size);
    bytes.data[size] = '\0';
    return bytes;
}

static inline bool read_part(struct source_reader *reader, const char *path,
                             struct file_bytes *bytes, char *error, size_t error_size)
{
    const struct parts *parts = (const struct parts *)reader;
    (void)path;
    (void)error;
    (void)error_size;
    *bytes = copy_of(parts->at[1].text, parts->at[1].size);
    return true;
}

static inline void parts_split(struct parts *parts, const uint8_t *data, size_t size)
{
    static const char line[] = "\n----\n";
    const size_t line_size = sizeof line - 1;
    const char *text = (const char *)data;
    *parts = (struct parts){.reader = {identify_part, read_part}};
    size_t begin = 0;
    for (size_t at = 0; at + line_size <= size && parts->count + 1 < MOST_PARTS; at++)
        if (memcmp(text + at, line, line_size) == 0) {
            parts->at[parts->count].text = text + begin;
            parts->at[parts->count++].size = at + 1 - begin;
            begin = at + line_size;
        }
    parts->at[parts->count].text = text + begin;
    parts->at[parts->count++].size = size - begin;
}

#endif
