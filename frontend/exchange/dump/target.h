/* The target of an imported module. */
#ifndef FRONTEND_EXCHANGE_DUMP_TARGET_H
#define FRONTEND_EXCHANGE_DUMP_TARGET_H

#include "frontend/exchange/dump/dump.h"

/* Adds a target to the module where the user asked for one and it has none, before what is added
 * later. */
void dump_add_target(struct dump *dump);

#endif
