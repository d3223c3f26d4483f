/* Gears of an imported graph, by what GE says of them. */
#ifndef FRONTEND_EXCHANGE_DUMP_GEARS_H
#define FRONTEND_EXCHANGE_DUMP_GEARS_H

#include "frontend/exchange/dump/dump.h"

/* Whether the key is one of GE's for gears (ir/ge_gears.h): its value is taken in, the first time
 * that there is one, with the place of the key; another one is an error that names both. */
bool dump_wants_gears(const struct dump *dump, uint32_t key);
bool dump_take_gears(struct dump *dump, const struct attr *attr, struct span key);

/* Makes gears of what the command line says, or else the dump, for the first graph: dimensions of
 * parameters that are -1 become names with values, and results whose dimensions are not known get
 * what follows. Where skirc export has written the gears themselves, these are held against it.
 * What is wrong is reported. */
void dump_add_gears(struct dump *dump);

#endif
