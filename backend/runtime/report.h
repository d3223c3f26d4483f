/* Reports of launches. */
#ifndef BACKEND_RUNTIME_REPORT_H
#define BACKEND_RUNTIME_REPORT_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* Texts of results: the cause, and what each core does or did; of a launch that has ended, or of
 * all that the queue has. They need the lock. malloc()ed; NULL without memory. */
char *skrt_report_launch(const struct skrt_job *job, enum skrt_status status, const char *cause);
char *skrt_report_queue(const struct skrt_device *device);

#pragma GCC visibility pop

#endif
