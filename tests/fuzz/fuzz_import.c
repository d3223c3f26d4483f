/* Fuzz target of the readers of other formats: a text is read as what it looks like, and as one of
 * the formats, which its size decides; or only as the one that SKIR_FUZZ_FORMAT names. What can be
 * read is counted and made a module, with the options that keep the most of it; the module's text
 * must parse. */
#include "frontend/exchange/dump/finish.h"
#include "frontend/exchange/exchange.h"
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

static void import(const struct exchange_format *format, struct source *source, struct diags *diags)
{
    struct dump dump;
    struct text counts = {NULL, 0, 0};
    struct dump_options options = {.keep = DUMP_KEEP_ALL, .dangling_params = true};
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
}

/* In the format that it looks like where `format` is NULL. */
static void read_as(const struct exchange_format *format, const uint8_t *bytes, size_t size)
{
    struct source source;
    struct diags diags;
    char *copy = mem_realloc(NULL, size + 1, 1);
    if (size)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    diags_init(&diags, &source, "dump");
    if (source_init_foreign(&source, "dump", copy, size)) {
        format = format ? format : exchange_guess(&exchange_formats, &source);
        if (format)
            import(format, &source, &diags);
        else
            exchange_refuse(&exchange_formats, &source, &diags);
        print_diags(&diags);
    }
    source_free(&source);
    diags_free(&diags);
    mem_free(copy);
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
        read_as(exchange_find_reader(&exchange_formats, name, &error), bytes, size);
    } else {
        read_as(NULL, bytes, size);
        read_as(reader_at(size % readers), bytes, size);
    }
    text_free(&error);
    return 0;
}
