/* The launches of a run: its super kernels, and ops without an entry. */
#ifndef BACKEND_HOST_LAUNCHES_H
#define BACKEND_HOST_LAUNCHES_H

#include "backend/host/run.h"

/* Makes all launches, in an order that satisfies the graph. What they run is loaded. False, with
 * diagnostics, where one cannot be made. */
bool launches_add(struct host_run *run);

#endif
