/* The table of formats, and the module that follows a text in some of them as comments. */
#define _GNU_SOURCE /* memmem */
#include "frontend/exchange.h"

#include <stdio.h>
#include <string.h>

#include "frontend/import/text/proto_text.h"
#include "ir/support/diag.h"
#include "ir/syntax/parse.h"

/* --------------------------------------------------------------- modules as comments ---- */

/* The comments begin with a line that has a hash (FNV-1a) of the text before it and of the lines of
 * the module after it. Bytes that are not ASCII, which the language has in quotes only, are written
 * as escapes, so that the comments are ASCII. */

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
        uint32_t loc = 0;
        exported_find(dump->source, &loc);
        if (!good)
            diag_at(dump->diags, DIAG_foreign_form, source_token(dump->source, loc),
                    "this is not as skirc export writes it: %s",
                    diags.list.count ? diags.list.at[0].text : "it is not text");
        diags_free(&diags);
        source_free(&source);
    }
    text_free(&text);
    return good;
}

static const struct exchange_format formats[] = {
#define READ_yes(name) exchange_looks_##name, exchange_read_##name
#define READ_no(name) NULL, NULL
#define WRITE_yes(name) exchange_write_##name, NULL, false
#define WRITE_some(name) exchange_write_##name, exchange_fits_##name, false
#define WRITE_graph(name) exchange_write_##name, exchange_fits_##name, true
#define WRITE_no(name) NULL, NULL, false
#define FORMAT(name, cli, suffix, reads, writes, summary)                                          \
    {cli, suffix, summary, READ_##reads(name), WRITE_##writes(name)},
#include "frontend/exchange.def"
#undef FORMAT
};

const struct exchange_table exchange_formats = {formats, sizeof formats / sizeof formats[0]};

static bool can(const struct exchange_format *format, enum exchange_use use)
{
    return use == EXCHANGE_READ ? format->read != NULL : format->write != NULL;
}

/* The formats for a use: "'a' (.a), 'b' (.b) or 'c' (.c)". */
static void list_formats(struct text *text, const struct exchange_table *table,
                         enum exchange_use use)
{
    unsigned left = 0;
    bool first = true;
    for (unsigned i = 0; i < table->count; i++)
        left += can(&table->formats[i], use);
    for (unsigned i = 0; i < table->count; i++) {
        const struct exchange_format *format = &table->formats[i];
        if (!can(format, use))
            continue;
        text_string(text, first ? "" : left == 1 ? " or " : ", ");
        text_printf(text, *format->suffix ? "'%s' (%s)" : "'%s'", format->name, format->suffix);
        first = false;
        left--;
    }
}

const struct exchange_format *exchange_choose(const struct exchange_table *table,
                                              enum exchange_use use, const char *name,
                                              const char *path, struct text *error)
{
    const struct exchange_format *format = NULL;
    struct suggest suggest = {.wanted = name, .wanted_size = name ? strlen(name) : 0};
    size_t size = path ? strlen(path) : 0;
    for (unsigned i = 0; i < table->count && !format; i++) {
        const struct exchange_format *row = &table->formats[i];
        size_t end = strlen(row->suffix);
        bool suffix = end > 0 && size > end && strcmp(path + size - end, row->suffix) == 0;
        if (name ? strcmp(row->name, name) == 0 : suffix)
            format = row;
        else if (name && can(row, use))
            suggest_offer_text(&suggest, row->name);
    }
    if (format && can(format, use))
        return format;
    if (format)
        text_printf(error, "the format '%s' cannot be %s, only ", format->name,
                    use == EXCHANGE_READ ? "read" : "written");
    else if (name)
        text_printf(error, "there is no format '%s', only ", name);
    else if (path)
        text_printf(error, "the name '%s' does not tell the format; ", path);
    if (!format && !name)
        text_string(error, "say by --format=NAME which: ");
    list_formats(error, table, use);
    if (!format && name)
        text_string(error, suggest_end(&suggest).text);
    return NULL;
}

const struct exchange_format *exchange_guess(const struct exchange_table *table,
                                             const struct source *source)
{
    for (unsigned i = 0; i < table->count; i++)
        if (table->formats[i].looks && table->formats[i].looks(source))
            return &table->formats[i];
    return NULL;
}

/* ---------------------------------------------------------------------- unknown texts ---- */

enum { SHOWN_FIELDS = 5, SHOWN_BYTES = 40 };

/* After blanks. */
static const char *first_text(const struct source *source)
{
    const char *at = source->text;
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return at;
}

/* Appends what the text of a source in no format looks like. False if it is malformed protobuf
 * text, whose error `diags` gets. */
static bool describe(const struct source *source, struct diags *diags, struct text *text)
{
    const char *begin = first_text(source);
    struct proto_text proto;
    struct proto_field field;
    proto_init(&proto, source, NULL);
    bool is_message = proto_next(&proto, &field);
    proto_free(&proto);
    if (source->size == 0) {
        text_string(text, "the file is empty");
    } else if (memchr(source->text, '\0', source->size)) {
        text_string(text, "the file is binary");
    } else if (*begin == '{' || *begin == '[') {
        text_string(text, "the text is JSON, but no graph");
    } else if (strncmp(begin, "skir ", 5) == 0 || strncmp(begin, "//", 2) == 0) {
        text_string(text, "the text is a .skir file already");
    } else if (!is_message) {
        size_t size = strcspn(begin, "\r\n");
        text_string(text, "the text is in no format that is known: it begins with '");
        text_bytes(text, begin, size < SHOWN_BYTES ? size : SHOWN_BYTES);
        text_char(text, '\'');
    } else {
        /* The names of the outermost fields, each once, the first few. */
        struct proto_field shown[SHOWN_FIELDS];
        uint32_t count = 0, i;
        text_string(text, "the text is protobuf text, but of no graph: its fields are ");
        proto_init(&proto, source, diags);
        while (proto_next(&proto, &field)) {
            for (i = 0; i < count && (shown[i].name_size != field.name_size ||
                                      memcmp(shown[i].name, field.name, field.name_size) != 0);)
                i++;
            if (i < count || count == SHOWN_FIELDS)
                continue;
            shown[count++] = field;
            text_printf(text, "%s'%.*s'", i ? ", " : "", (int)field.name_size, field.name);
        }
        is_message = !proto.failed;
        proto_free(&proto);
        return is_message;
    }
    return true;
}

void exchange_refuse(const struct exchange_table *table, const struct source *source,
                     struct diags *diags)
{
    struct text what = {NULL, 0, 0}, formats = {NULL, 0, 0};
    list_formats(&formats, table, EXCHANGE_READ);
    if (describe(source, diags, &what) &&
        diag_at(diags, DIAG_foreign_form, no_span, "%.*s", (int)what.size, what.at))
        diag_help(diags, "formats that can be read are %.*s", (int)formats.size, formats.at);
    text_free(&what);
    text_free(&formats);
}
