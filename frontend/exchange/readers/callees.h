/* Graphs that nodes call, by their names. */
#ifndef FRONTEND_EXCHANGE_READERS_CALLEES_H
#define FRONTEND_EXCHANGE_READERS_CALLEES_H

#include "frontend/exchange/dump/dump.h"

/* Gives each node whose op type is the name of a function, a graph of the dump, the attribute `f`
 * with that graph. */
void callees_link(struct dump *dump, const struct id_map *functions);
/* A graph that is named, but is not there, cannot be called: its name becomes a string, which is
 * said. */
void callees_check(struct dump *dump);

/* A parameter of a graph that is called, which says which operand of the caller it is. */
struct ge_given {
    uint32_t graph, node;
    int64_t operand;
};

/* Gives such parameters their places among those of their graphs, which the callers tell. */
void ge_place_params(struct dump *dump, const struct ge_given *given, uint32_t count);

#endif
