/* Modules in the formats of others. */
#ifndef FRONTEND_EXCHANGE_H
#define FRONTEND_EXCHANGE_H

#include "frontend/import/dump/dump.h"
#include "ir/syntax/print.h"

/* Whether a text is in a format, by its first fields or lines. The first row of the table that says
 * so is taken. */
typedef bool exchange_sign(const struct source *source);
/* Fills a dump from its source: graphs, or else, where the format has kernels, elements of its
 * module and the counts. False where that fails, with diagnostics. */
typedef bool exchange_reader(struct dump *dump);
/* Hands the text of a correct module on, piece by piece. False where the sink did not take all. */
typedef bool exchange_writer(struct print_sink *sink, const struct module *module);
/* Whether a correct module can be written in a format; what is in the way is reported. */
typedef bool exchange_fit(const struct module *module, struct diags *diags);

struct exchange_format {
    const char *name, *suffix, *summary;
    exchange_sign *looks;  /* NULL as `read` is */
    exchange_reader *read; /* NULL: it cannot be read */
    exchange_writer *write;
    exchange_fit *fits; /* NULL: it can have every module */
    bool is_graph;      /* it has gears in GE's notation, and the module as comments */
};

struct exchange_table {
    const struct exchange_format *formats;
    unsigned count;
};

/* The rows of exchange.def. */
extern const struct exchange_table exchange_formats;

#define EXCHANGE_READ_yes(name)                                                                    \
    exchange_sign exchange_looks_##name;                                                           \
    exchange_reader exchange_read_##name;
#define EXCHANGE_READ_no(name)
#define EXCHANGE_WRITE_yes(name) exchange_writer exchange_write_##name;
#define EXCHANGE_WRITE_some(name)                                                                  \
    exchange_writer exchange_write_##name;                                                         \
    exchange_fit exchange_fits_##name;
#define EXCHANGE_WRITE_graph(name) EXCHANGE_WRITE_some(name)
#define EXCHANGE_WRITE_no(name)
#define FORMAT(name, cli, suffix, reads, writes, summary)                                          \
    EXCHANGE_READ_##reads(name) EXCHANGE_WRITE_##writes(name)
#include "frontend/exchange.def"
#undef FORMAT
#undef EXCHANGE_READ_yes
#undef EXCHANGE_READ_no
#undef EXCHANGE_WRITE_yes
#undef EXCHANGE_WRITE_some
#undef EXCHANGE_WRITE_graph
#undef EXCHANGE_WRITE_no

enum exchange_use { EXCHANGE_READ, EXCHANGE_WRITE };

/* The format of that name; where `name` is NULL, that of the suffix of `path`, which may be NULL,
 * too. NULL, with a line of text in `error` that says what there is, where that is no format for
 * this use. */
const struct exchange_format *exchange_choose(const struct exchange_table *table,
                                              enum exchange_use use, const char *name,
                                              const char *path, struct text *error);

/* The first format that the text of a source is in, or NULL. */
const struct exchange_format *exchange_guess(const struct exchange_table *table,
                                             const struct source *source);
/* Says that a text is in no format, and what it looks like: an error, or, where it is malformed
 * protobuf text, the error of that. */
void exchange_refuse(const struct exchange_table *table, const struct source *source,
                     struct diags *diags);

/* ---- Modules as comments ---- */

/* The module that skirc export wrote in a format of others, as comments after the text in that
 * format. Formats of graphs have no place for kernels, blocks, events, names of dimensions and the
 * like: import takes the module instead of the graph, as long as the text is what export wrote. */

/* Writes a correct module in a format, with the comments where the format can be read. False if the
 * sink did not take all. */
bool exported_write(const struct exchange_format *format, struct print_sink *sink,
                    const struct module *module);

/* Whether the source ends in such comments; `*loc` is then where they begin. */
bool exported_find(const struct source *source, uint32_t *loc);
/* Takes the module of the comments into the dump's, which must be empty. False if the text is not
 * what export wrote; if its hash claims that it is, with an error. */
bool exported_take(struct dump *dump);

#endif
