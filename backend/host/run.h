/* Graphs on the virtual device. */
#ifndef BACKEND_HOST_RUN_H
#define BACKEND_HOST_RUN_H

#include "backend/host/build.h"
#include "backend/host/profile.h"
#include "backend/runtime/skrt.h"

/* A graph that is ready to run: its launches in an order that satisfies it. */
struct host_run;

enum host_mode {
    HOST_FUSED,   /* each super kernel is a launch, and each op outside of them */
    HOST_UNFUSED, /* each op is a launch of its own, which runs its kernel without any entry */
};

/* Compiles what the mode needs into `folder` and loads it. The module is lowered, and outlives the
 * result; the folder's files are needed no longer. NULL, with diagnostics and `*status`, on failure. */
struct host_run *host_run_open(const struct module *module, const struct graph *graph,
                               enum host_mode mode, const struct host_places *places,
                               const char *folder, struct diags *diags, enum host_status *status);
void host_run_close(struct host_run *run);

/* From now on launches of super kernels are checked for races: for orders that are not enforced.
 * False, with diagnostics, where an entry's calls are not those of its super kernel's ops. `*orders`
 * is how many orders are required within super kernels. */
bool host_run_check_races(struct host_run *run, uint32_t *orders);

/* From now on the time records of entries that make some are added to `profile`, which outlives the
 * run, but for launches that end by a timeout. */
void host_run_profile(struct host_run *run, struct host_profile *profile);

/* From now on barriers of kernels are over all cores of a launch, as on the NPU. */
void host_run_full_barriers(struct host_run *run);

uint32_t host_run_launches(const struct host_run *run);

/* Runs all launches up to one that does not end well; a race is no end, so its status may be that of
 * several launches. `values` has the storage of each value by its id. Adds the launches' wall time to
 * `*seconds`. On anything but SKRT_OK, `*report` has the launches' reports, to be freed. */
enum skrt_status host_run_execute(struct host_run *run, struct skrt_device *device,
                                  void *const *values, uint64_t timeout_ms, double *seconds,
                                  char **report);

#endif
