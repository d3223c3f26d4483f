#define _GNU_SOURCE /* fopencookie */
#include "ir/support/stream.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(struct stream *stream, size_t extra)
{
    if (extra <= stream->capacity - stream->size)
        return true;
    size_t capacity = stream->capacity + stream->capacity / 2 + extra;
    char *bytes = realloc(stream->bytes, capacity);
    if (!bytes)
        return false;
    stream->bytes = bytes;
    stream->capacity = capacity;
    return true;
}

static ssize_t take(void *cookie, const char *bytes, size_t size)
{
    struct stream *stream = cookie;
    stream->exhausted = stream->exhausted || !reserve(stream, size);
    if (stream->exhausted)
        return 0;
    memcpy(stream->bytes + stream->size, bytes, size);
    stream->size += size;
    return (ssize_t)size;
}

static void drop(void *what)
{
    struct stream *stream = what;
    fclose(stream->file);
    free(stream->bytes);
}

void stream_open(struct stream *stream)
{
    *stream = (struct stream){.bytes = NULL};
    stream->file = fopencookie(stream, "w", (cookie_io_functions_t){.write = take});
    if (!stream->file)
        mem_exhausted();
    mem_guard(&stream->guard, drop, stream);
}

char *stream_close(struct stream *stream, size_t *size)
{
    if (fflush(stream->file) != 0 || stream->exhausted)
        mem_exhausted();
    char *text = mem_realloc(NULL, stream->size + 1, 1);
    if (stream->size)
        memcpy(text, stream->bytes, stream->size);
    text[stream->size] = '\0';
    if (size)
        *size = stream->size;
    mem_unguard(&stream->guard);
    drop(stream);
    return text;
}
