/* Bounds on what launches can hold: who can be left out when the ways in which launches come
 * together are tried.
 *
 * A launch is *harmless* where even if the other streams hold the most that they ever hold until it
 * has ended, everybody finds cores for one more block. No state that hangs has a harmless launch in
 * it: it has ended before, or does not start. */
#ifndef PASSES_LAUNCHES_BOUNDS_H
#define PASSES_LAUNCHES_BOUNDS_H

#include "passes/launches/queue.h"

struct bounds;

/* Of a queue without circles. */
struct bounds *bounds_new(const struct queue *queue);
void bounds_free(struct bounds *bounds);

/* The part that begins at this stop has changed, or is new. */
void bounds_change(struct bounds *bounds, uint32_t stream, uint32_t first);

/* Whether the stream's launch at these positions is harmless from here on. */
bool bounds_harmless(const struct bounds *bounds, const uint32_t *positions, uint32_t stream);

#endif
