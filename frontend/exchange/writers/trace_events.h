/* Time records in Chrome's trace-event format, for trace viewers. */
#ifndef FRONTEND_EXCHANGE_WRITERS_TRACE_EVENTS_H
#define FRONTEND_EXCHANGE_WRITERS_TRACE_EVENTS_H

#include "backend/run.h"
#include "ir/base/text.h"

/* Appends JSON: a row per core, and on it the beginnings and ends of launches, ops and events;
 * `steady`: only what is the same in every run, which these are not. */
void trace_events_write(struct text *text, const struct run_profile *profile, bool steady);

#endif
