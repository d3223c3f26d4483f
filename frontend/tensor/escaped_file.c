#include "frontend/tensor/escaped_file.h"
#include "ir/base/escapes.h"
#include "ir/base/file.h"
#include "ir/base/memory.h"
#include "ir/base/message.h"

#include <string.h>
#include <unistd.h>

enum { WINDOW = 1 << 16 };

/* The literals on their way. */
struct reading {
    const char *path;
    int fd;
    uint64_t next, end;      /* of the file: behind the window; of all */
    const char *at, *filled; /* of the window: what is not decoded yet */
    char *data;
    size_t size, decoded;
    char *error;
    size_t error_size;
    char window[WINDOW];
};

static unsigned long long place(const struct reading *r)
{
    return r->next - (uint64_t)(r->filled - r->at);
}

/* So that there is a whole escape in the window, if the file has one. */
static bool fill(struct reading *r)
{
    size_t left = (size_t)(r->filled - r->at);
    if (left > ESCAPE_MOST + 1 || r->next == r->end)
        return true;
    memmove(r->window, r->at, left);
    uint64_t more = r->end - r->next;
    more = more < WINDOW - left ? more : WINDOW - left;
    if (!file_read_at(r->fd, r->path, r->next, r->window + left, more, r->error, r->error_size))
        return false;
    r->next += more;
    r->at = r->window;
    r->filled = r->window + left + more;
    return true;
}

static bool put(struct reading *r, const char *bytes, size_t count)
{
    if (count > r->size - r->decoded)
        return message_fail(r->error, r->error_size,
                            "the string in '%s' has more than %zu bytes, as byte %llu tells",
                            r->path, r->size, place(r));
    memcpy(r->data + r->decoded, bytes, count);
    r->decoded += count;
    return true;
}

static bool put_escape(struct reading *r)
{
    char bytes[ESCAPE_BYTES], *out = bytes;
    const char *end = escape_take(r->at + 1, r->filled, &out);
    if (!end)
        return message_fail(r->error, r->error_size, "no escape begins at byte %llu of '%s'",
                            place(r), r->path);
    if (!put(r, bytes, (size_t)(out - bytes)))
        return false;
    r->at = end;
    return true;
}

static bool put_plain(struct reading *r, char quote)
{
    const char *p = r->at;
    while (p < r->filled && *p != quote && *p != '\\' && *p != '\n' && *p != '\0')
        p++;
    bool ok = put(r, r->at, (size_t)(p - r->at));
    r->at = p;
    return ok;
}

/* One literal, whose opening quote is the next byte. */
static bool read_literal(struct reading *r)
{
    unsigned long long begin = place(r);
    char quote = *r->at++;
    while (fill(r)) {
        char c = r->at < r->filled ? *r->at : '\n';
        if (c == quote) {
            r->at++;
            return true;
        }
        if (c == '\n' || c == '\0')
            return message_fail(r->error, r->error_size,
                                "the string at byte %llu of '%s' does not end on its line", begin,
                                r->path);
        if (!(c == '\\' ? put_escape(r) : put_plain(r, quote)))
            return false;
    }
    return false;
}

/* Behind blanks and comments. */
static bool skip_blank(struct reading *r)
{
    bool comment = false;
    while (fill(r) && r->at < r->filled) {
        char c = *r->at;
        comment = comment ? c != '\n' : c == '#';
        if (!comment && c != ' ' && (c < '\t' || c > '\r'))
            return true;
        r->at++;
    }
    return r->at == r->filled && r->next == r->end;
}

static bool at_quote(const struct reading *r)
{
    return r->at < r->filled && (*r->at == '"' || *r->at == '\'');
}

static bool read_literals(struct reading *r)
{
    if (!fill(r))
        return false;
    if (!at_quote(r))
        return message_fail(r->error, r->error_size, "no string begins at byte %llu of '%s'",
                            place(r), r->path);
    while (at_quote(r))
        if (!read_literal(r) || !skip_blank(r))
            return false;
    return r->decoded == r->size ||
           message_fail(r->error, r->error_size, "the string in '%s' has %zu bytes, not %zu",
                        r->path, r->decoded, r->size);
}

bool escaped_file_read(const char *path, uint64_t offset, char *data, size_t size, char *error,
                       size_t error_size)
{
    uint64_t has;
    int fd = file_open_regular(path, &has, error, error_size);
    if (fd < 0)
        return false;
    struct reading *r = mem_calloc(1, sizeof *r);
    r->path = path;
    r->fd = fd;
    r->end = has;
    r->next = offset < has ? offset : has;
    r->at = r->filled = r->window;
    r->data = data;
    r->size = size;
    r->error = error;
    r->error_size = error_size;
    bool ok = read_literals(r);
    mem_free(r);
    close(fd);
    return ok;
}
