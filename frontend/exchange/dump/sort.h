/* The order of a dumped graph's nodes behind what they take. */
#ifndef FRONTEND_EXCHANGE_DUMP_SORT_H
#define FRONTEND_EXCHANGE_DUMP_SORT_H

#include "frontend/exchange/dump/links.h"

/* Fills `order` with the indices of all nodes: that of the dump, but for nodes that stand behind
 * those that take them, which come before the first of these. A circle is an error, or is cut where
 * the options say so: an input that closes it becomes a parameter. */
void dump_sort(struct dump *dump, uint32_t graph, struct dump_links *links, uint32_t *order);

#endif
