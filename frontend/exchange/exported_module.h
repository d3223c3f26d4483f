/* The module that skirc export wrote in a format of others, as comments after the text in that
 * format. Formats of graphs have no place for kernels, blocks, events, names of dimensions and the
 * like: import takes the module instead of the graph, as long as the text is what export wrote. */
#ifndef FRONTEND_EXCHANGE_EXPORTED_MODULE_H
#define FRONTEND_EXCHANGE_EXPORTED_MODULE_H

#include "frontend/exchange/exchange.h"

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
