/* The comments begin with a line that has a hash (FNV-1a) of the text before it and of the lines of
 * the module after it. Bytes that are not ASCII, which the language has in quotes only, are written
 * as escapes, so that the comments are ASCII. */
#define _GNU_SOURCE /* memmem */
#include "frontend/exchange/exported_module.h"
#include "ir/syntax/parse.h"

#include <stdio.h>

static const char head[] = "# The module of this graph, for skirc import; hash ";

enum { HASH_DIGITS = 16 };

/* ------------------------------------------------------------------------------- hash ---- */

static const uint64_t hash_begin = 0xcbf29ce484222325;

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
    return hash;
}

/* Hands text on, and hashes it. */
struct hashing_sink {
    struct print_sink sink;
    struct print_sink *next;
    uint64_t hash;
};

static bool take(struct print_sink *sink, const char *bytes, size_t size)
{
    struct hashing_sink *hashing = (struct hashing_sink *)sink;
    hashing->hash = hash_bytes(hashing->hash, bytes, size);
    return hashing->next->take(hashing->next, bytes, size);
}

/* ----------------------------------------------------------------------------- writing ---- */

static void append_comments(struct text *out, const struct text *module)
{
    bool begins = true;
    for (size_t i = 0; i < module->size; i++) {
        unsigned char byte = (unsigned char)module->at[i];
        if (begins)
            text_string(out, byte == '\n' ? "#" : "# ");
        begins = byte == '\n';
        if (byte >= 0x80)
            text_printf(out, "\\x%02x", byte);
        else
            text_char(out, (char)byte);
    }
}

bool exported_write(const struct exchange_format *format, struct print_sink *sink,
                    const struct module *module)
{
    struct hashing_sink hashing = {{take}, sink, hash_begin};
    struct text text = {NULL, 0, 0}, comments = {NULL, 0, 0};
    if (!format->is_graph)
        return format->write(sink, module);
    bool good = format->write(&hashing.sink, module);
    if (good) {
        print_whole_module(&text, module, NULL);
        append_comments(&comments, &text);
        text.size = 0;
        text_printf(&text, "%s%016llx\n", head,
                    (unsigned long long)hash_bytes(hashing.hash, comments.at, comments.size));
        good = sink->take(sink, text.at, text.size) && sink->take(sink, comments.at, comments.size);
    }
    text_free(&text);
    text_free(&comments);
    return good;
}

/* ----------------------------------------------------------------------------- reading ---- */

/* A line end is never within a string of such a text, so that a line like the head is one. */
bool exported_find(const struct source *source, uint32_t *loc)
{
    const char *at = source->text, *end = source->text + source->size;
    while ((at = memmem(at, (size_t)(end - at), head, sizeof head - 1))) {
        *loc = (uint32_t)(at - source->text);
        if (at == source->text || at[-1] == '\n')
            return true;
        at++;
    }
    return false;
}

/* The lines of the module, without what makes them comments. False if there is anything else. */
static bool strip_comments(struct text *module, const char *at, const char *end)
{
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop || *at != '#' || (at + 1 < stop && at[1] != ' '))
            return false;
        at += at + 1 < stop ? 2 : 1;
        text_bytes(module, at, (size_t)(stop + 1 - at));
        at = stop + 1;
    }
    return true;
}

/* The module's text. False if the hash says that a part of the source has changed. */
static bool read_comments(struct text *module, const struct source *source)
{
    uint32_t loc;
    char hash[HASH_DIGITS + 1];
    if (!exported_find(source, &loc))
        return false;
    const char *digits = source->text + loc + sizeof head - 1, *end = source->text + source->size;
    if (end - digits <= HASH_DIGITS || digits[HASH_DIGITS] != '\n')
        return false;
    const char *lines = digits + HASH_DIGITS + 1;
    uint64_t found = hash_bytes(hash_begin, source->text, loc);
    found = hash_bytes(found, lines, (size_t)(end - lines));
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)found);
    return memcmp(hash, digits, HASH_DIGITS) == 0 && strip_comments(module, lines, end);
}

static void report(struct dump *dump, const struct diags *inner)
{
    uint32_t loc = 0;
    exported_find(dump->source, &loc);
    diag_at(dump->diags, DIAG_foreign_form, source_token(dump->source, loc),
            "this is not as skirc export writes it: %s",
            inner->list.count ? inner->list.at[0].text : "it is not text");
}

bool exported_take(struct dump *dump)
{
    struct text text = {NULL, 0, 0};
    struct source source;
    struct diags diags;
    bool good = read_comments(&text, dump->source);
    if (good) { /* names of the module are parts of the text, which lasts as long as the dump */
        char *lasting = arena_strndup(&dump->arena, text.at, text.size);
        good = source_init(&source, dump->source->path, lasting, text.size);
        diags_init(&diags, &source, dump->source->path);
        good = good && parse_more(dump->module, &source, &diags);
        if (!good)
            report(dump, &diags);
        diags_free(&diags);
        source_free(&source);
    }
    text_free(&text);
    return good;
}
