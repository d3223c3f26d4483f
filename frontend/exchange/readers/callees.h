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

#endif
