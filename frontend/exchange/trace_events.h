/* Time records as a file for trace viewers. */
#ifndef FRONTEND_EXCHANGE_TRACE_EVENTS_H
#define FRONTEND_EXCHANGE_TRACE_EVENTS_H

#include "backend/host/profile.h"
#include "frontend/cli/command.h"

/* Writes Chrome's trace-event format (JSON) to `path` ("-": the invocation's output stream): a row per
 * core, and on it the beginnings and ends of launches, ops and events. */
enum exit_status profile_write(const struct invocation *invocation,
                               const struct host_profile *profile, const char *path);

#endif
