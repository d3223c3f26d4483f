/* Kernels of imported ops. */
#ifndef FRONTEND_EXCHANGE_DUMP_STUBS_H
#define FRONTEND_EXCHANGE_DUMP_STUBS_H

#include "frontend/exchange/dump/dump.h"

/* Declares a stub kernel for each op type that needs a kernel and has no sample kernel that fits,
 * and binds its ops to it: as large as the target, for the cores that such ops run on. */
void dump_add_stubs(struct dump *dump);

#endif
