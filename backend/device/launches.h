/* The launches of a run: its super kernels, and ops without an entry. */
#ifndef BACKEND_DEVICE_LAUNCHES_H
#define BACKEND_DEVICE_LAUNCHES_H

#include "backend/device/run.h"

/* Makes all launches, in an order that satisfies the graph. What they run is loaded. False, with
 * diagnostics, where one cannot be made. */
bool launches_add(struct device_run *run);

#endif
