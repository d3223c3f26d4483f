/* Fuzz target of the readers of other formats: a text is read as what it looks like, and as one of
 * the formats, which its size decides; or only as the one that SKIR_FUZZ_FORMAT names. What can be
 * read is counted and made a module, with the options that keep the most of it; the module's text
 * must parse. Further parts (parts.h) are the files that a dump names, what says where scopes are,
 * and two lines that say gears as GE does. */
#include "frontend/exchange.h"
#include "frontend/import/dump/dump.h"
#include "frontend/import/dump/marks.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/print_diags.h"
#include "tests/fuzz/replay.h"
#include "tests/unit/parsed_module.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void give_up(const char *what, struct diags *diags)
{
    fprintf(stderr, "%s\n", what);
    diags_print(diags, stderr, false);
    abort();
}

static void check_module(const struct module *module)
{
    struct text text = {NULL, 0, 0};
    struct parsed_module parsed;
    print_module(&text, module, NULL);
    text_char(&text, '\0');
    parsed_init(&parsed, text.at, text.size - 1);
    if (!parsed.module)
        give_up("what was printed does not parse", &parsed.diags);
    parsed_free(&parsed);
    text_free(&text);
}

/* What belongs to an import besides its text. */
static void take_parts(const struct parts *parts, struct dump_options *options,
                       struct dump_marks *marks, struct arena *arena)
{
    if (parts->count > 2) {
        marks->path = "scopes";
        marks->bytes = copy_of(parts->at[2].text, parts->at[2].size);
        options->marks = marks;
    }
    if (parts->count > 3) {
        const char *line = parts->at[3].text;
        const char *end = memchr(line, '\n', parts->at[3].size);
        size_t first = end ? (size_t)(end - line) : parts->at[3].size;
        size_t rest = parts->at[3].size - first - (end ? 1 : 0);
        options->input_shape = arena_printf(arena, "%.*s", (int)first, line);
        options->dynamic_dims = end ? arena_printf(arena, "%.*s", (int)rest, end + 1) : NULL;
    }
}

static void import(const struct exchange_format *format, struct source *source,
                   const struct parts *parts, struct diags *diags)
{
    struct dump dump;
    struct text counts = {NULL, 0, 0};
    struct dump_marks marks = {.path = NULL};
    struct arena arena = {NULL, 0};
    struct dump_options options = {.keep = DUMP_KEEP_ALL, .dangling_params = true};
    take_parts(parts, &options, &marks, &arena);
    dump_init(&dump, source, diags, &options);
    if (format->read(&dump)) {
        dump_count_graphs(&dump);
        dump_print_counts(&dump, &counts);
        if (dump_finish(&dump))
            check_module(dump.module);
        else if (!diags->counts[SEVERITY_ERROR])
            give_up("no module was made, and nothing says why", diags);
    } else if (!diags->counts[SEVERITY_ERROR]) {
        give_up("the text was refused, and nothing says why", diags);
    }
    text_free(&counts);
    dump_free(&dump);
    dump_marks_free(&marks);
    arena_free(&arena);
}

/* In the format that it looks like where `format` is NULL. */
static void read_as(const struct exchange_format *format, const uint8_t *bytes, size_t size)
{
    struct source source;
    struct diags diags;
    struct parts parts;
    parts_split(&parts, bytes, size);
    struct file_bytes text = copy_of(parts.at[0].text, parts.at[0].size);
    diags_init(&diags, &source, "dump");
    if (source_init_foreign(&source, "dump", text.data, text.size)) {
        source.reader = &parts.reader;
        format = format ? format : exchange_guess(&exchange_formats, &source);
        if (format)
            import(format, &source, &parts, &diags);
        else
            exchange_refuse(&exchange_formats, &source, &diags);
        print_diags(&diags);
    }
    source_free(&source);
    diags_free(&diags);
    file_bytes_free(&text);
}

/* The n-th that can be read; NULL where there are not so many. */
static const struct exchange_format *reader_at(size_t n)
{
    for (unsigned i = 0; i < exchange_formats.count; i++)
        if (exchange_formats.formats[i].read && n-- == 0)
            return &exchange_formats.formats[i];
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct text error = {NULL, 0, 0};
    const char *name = getenv("SKIR_FUZZ_FORMAT");
    size_t readers = 0;
    while (reader_at(readers))
        readers++;
    if (name) {
        read_as(exchange_choose(&exchange_formats, EXCHANGE_READ, name, NULL, &error), bytes, size);
    } else {
        read_as(NULL, bytes, size);
        read_as(reader_at(size % readers), bytes, size);
    }
    text_free(&error);
    return 0;
}
