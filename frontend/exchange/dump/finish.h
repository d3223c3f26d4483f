/* From a dump to a module. */
#ifndef FRONTEND_EXCHANGE_DUMP_FINISH_H
#define FRONTEND_EXCHANGE_DUMP_FINISH_H

#include "frontend/exchange/dump/dump.h"

/* Resolves names, sorts nodes behind what they take, and makes the graphs of the dump's module.
 * What is wrong in the dump is a diagnostic at its place: false. */
bool dump_finish(struct dump *dump);

#endif
