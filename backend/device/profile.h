/* How time records get into a run's profile. */
#ifndef BACKEND_DEVICE_PROFILE_H
#define BACKEND_DEVICE_PROFILE_H

#include "backend/run.h"

void device_profile_free(struct run_profile *profile);

/* A buffer with room for `records`, and some more for each of `cores` that kernels may cause, as
 * far as the limit allows, to be freed; `*size` is its bytes. NULL where there is no memory. */
struct skrt_profile *device_profile_buffer(uint64_t records, uint64_t cores, uint64_t *size);

/* Nanoseconds since this was called first: the run has begun. */
uint64_t device_profile_now(struct run_profile *profile);
/* Adds what a launch has written, that began at a time of that clock. Its names are copied, that of
 * the stream too; those of a stream are added in their order. */
void device_profile_add(struct run_profile *profile, const struct run_profile_launch *launch,
                        const char *stream, const struct skrt_profile *buffer, uint64_t begin);

#endif
