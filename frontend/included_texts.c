#include "frontend/included_texts.h"
#include "ir/support/text.h"

#include <string.h>

/* Takes the last name off, if there is one that ".." can be the answer to. */
static bool drop_last(struct text *text, size_t root)
{
    size_t end = text->size;
    while (end > root && text->at[end - 1] != '/')
        end--;
    if (end == text->size || (text->size - end == 2 && memcmp(text->at + end, "..", 2) == 0))
        return false;
    text->size = end > root ? end - 1 : end;
    return true;
}

static void add_name(struct text *text, size_t root, const char *name, size_t size)
{
    if (size == 0 || (size == 1 && *name == '.'))
        return;
    if (size == 2 && memcmp(name, "..", 2) == 0 && drop_last(text, root))
        return;
    if (text->size > root)
        text_char(text, '/');
    text_bytes(text, name, size);
}

/* Appends the path without what means nothing in it: a path is the name of its text. */
static void normalise(struct text *text, const char *path)
{
    size_t root = *path == '/';
    if (root)
        text_char(text, '/');
    while (*path) {
        size_t size = strcspn(path, "/");
        add_name(text, root, path, size);
        path += size + (path[size] == '/');
    }
}

static bool identify(struct source_reader *reader, const char *path, struct text *identity,
                     char *error, size_t error_size)
{
    (void)reader, (void)error, (void)error_size;
    normalise(identity, path);
    return true;
}

static bool read_text(struct source_reader *reader, const char *path, struct file_bytes *bytes,
                      char *error, size_t error_size)
{
    const struct included_texts *texts = (const struct included_texts *)reader;
    struct text name = {NULL, 0, 0};
    size_t size = 0;
    normalise(&name, path);
    text_char(&name, '\0');
    const char *text = texts->include ? texts->include(texts->user, name.at, &size) : NULL;
    if (text) {
        *bytes = (struct file_bytes){.data = mem_realloc(NULL, size + 1, 1), .size = size};
        memcpy(bytes->data, text, size);
        bytes->data[size] = '\0';
    } else {
        message_fail(error, error_size, "there is no text for '%s'", name.at);
    }
    text_free(&name);
    return text != NULL;
}

struct included_texts included_texts(skir_include *include, void *user)
{
    return (struct included_texts){{identify, read_text}, include, user};
}
