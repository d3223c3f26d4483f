/* Imported graphs that the verifier accepts. */
#ifndef FRONTEND_EXCHANGE_DUMP_SETTLE_H
#define FRONTEND_EXCHANGE_DUMP_SETTLE_H

#include "frontend/exchange/dump/dump.h"

/* Verifies the module. An op that contradicts what skir knows of its type is taken as the dump has
 * it: as one of which nothing is known (`_unchecked`), with a remark that says why; and one that
 * cannot call the graphs that it names, as one that calls none (`_If`). Errors that are left are
 * reported. */
void dump_settle(struct dump *dump);

#endif
