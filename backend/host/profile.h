/* How time records get into a run's profile. */
#ifndef BACKEND_HOST_PROFILE_H
#define BACKEND_HOST_PROFILE_H

#include "backend/run.h"

void host_profile_free(struct run_profile *profile);

/* A buffer with room for `records`, as far as the limit allows, to be freed; `*size` is its bytes.
 * NULL where there is no memory for it. */
struct skrt_profile *host_profile_buffer(uint64_t records, uint64_t *size);

/* Begins a launch; its names are copied. */
void host_profile_begin(struct run_profile *profile, const char *name, const char *const *ops,
                        uint32_t n_ops);
/* Adds what the launch that was begun last has written. */
void host_profile_take(struct run_profile *profile, const struct skrt_profile *buffer);

#endif
