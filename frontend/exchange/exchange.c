#include "frontend/exchange/exchange.h"
#include "frontend/exchange/describe.h"
#include "ir/base/suggest.h"

static const struct exchange_format formats[] = {
#define READ_yes(name) exchange_looks_##name, exchange_read_##name
#define READ_no(name) NULL, NULL
#define WRITE_yes(name) exchange_write_##name, NULL, false
#define WRITE_some(name) exchange_write_##name, exchange_fits_##name, false
#define WRITE_graph(name) exchange_write_##name, exchange_fits_##name, true
#define WRITE_no(name) NULL, NULL, false
#define FORMAT(name, cli, suffix, reads, writes, summary)                                          \
    {cli, suffix, summary, READ_##reads(name), WRITE_##writes(name)},
#include "frontend/exchange/exchange.def"
#undef FORMAT
};

const struct exchange_table exchange_formats = {formats, sizeof formats / sizeof formats[0]};

static const char *const participles[] = {[EXCHANGE_READ] = "read", [EXCHANGE_WRITE] = "written"};

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

/* What a name says. */
static const struct exchange_format *find_name(const struct exchange_table *table,
                                               enum exchange_use use, const char *name,
                                               struct text *error)
{
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    for (unsigned i = 0; i < table->count; i++) {
        const struct exchange_format *format = &table->formats[i];
        if (strcmp(format->name, name) == 0)
            return format;
        if (can(format, use))
            suggest_offer_text(&suggest, format->name);
    }
    text_printf(error, "there is no format '%s', only ", name);
    list_formats(error, table, use);
    text_string(error, suggest_end(&suggest).text);
    return NULL;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t size = strlen(path), end = strlen(suffix);
    return end > 0 && size > end && strcmp(path + size - end, suffix) == 0;
}

/* What a path says. */
static const struct exchange_format *guess(const struct exchange_table *table,
                                           enum exchange_use use, const char *path,
                                           struct text *error)
{
    for (unsigned i = 0; path && i < table->count; i++)
        if (has_suffix(path, table->formats[i].suffix))
            return &table->formats[i];
    if (path)
        text_printf(error, "the name '%s' does not tell the format; ", path);
    text_string(error, "say by --format=NAME which: ");
    list_formats(error, table, use);
    return NULL;
}

const struct exchange_format *exchange_choose(const struct exchange_table *table,
                                              enum exchange_use use, const char *name,
                                              const char *path, struct text *error)
{
    const struct exchange_format *format =
        name ? find_name(table, use, name, error) : guess(table, use, path, error);
    if (!format || can(format, use))
        return format;
    text_printf(error, "the format '%s' cannot be %s, only ", format->name, participles[use]);
    list_formats(error, table, use);
    return NULL;
}

const struct exchange_format *exchange_find_reader(const struct exchange_table *table,
                                                   const char *name, struct text *error)
{
    return exchange_choose(table, EXCHANGE_READ, name, NULL, error);
}

const struct exchange_format *exchange_guess(const struct exchange_table *table,
                                             const struct source *source)
{
    for (unsigned i = 0; i < table->count; i++)
        if (table->formats[i].looks && table->formats[i].looks(source))
            return &table->formats[i];
    return NULL;
}

void exchange_refuse(const struct exchange_table *table, const struct source *source,
                     struct diags *diags)
{
    struct text what = {NULL, 0, 0}, formats = {NULL, 0, 0};
    list_formats(&formats, table, EXCHANGE_READ);
    if (exchange_describe(source, diags, &what) &&
        diag_at(diags, DIAG_foreign_form, no_span, "%.*s", (int)what.size, what.at))
        diag_help(diags, "formats that can be read are %.*s", (int)formats.size, formats.at);
    text_free(&what);
    text_free(&formats);
}
