/* Reports of launches. */
#ifndef BACKEND_RUNTIME_REPORT_H
#define BACKEND_RUNTIME_REPORT_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* The text of a result: the cause, and what each core does or did. Needs the lock. malloc()ed; NULL
 * without memory. */
char *skrt_report_launch(const struct skrt_device *device);

#pragma GCC visibility pop

#endif
