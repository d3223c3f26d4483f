/* What the parameter slots of launches hold. */
#ifndef BACKEND_HOST_ARGUMENTS_H
#define BACKEND_HOST_ARGUMENTS_H

#include "backend/host/run.h"

/* Appends the arguments of one op, as lower-superkernels lays them out. False, with diagnostics,
 * where one cannot be made. */
bool arguments_add_op(struct host_run *run, const struct op *op);

/* Appends what stands behind the arguments of a super kernel's ops. */
bool arguments_add_entry(struct host_run *run, const struct entry *entry,
                         struct host_launch *launch);

/* Whether the entry's parameters are those of its super kernel's ops, as verify-sync has seen. */
bool arguments_hold(const struct host_run *run, const struct entry *entry,
                    const struct host_launch *launch);

/* The word of an event; there is one for each name. */
uint64_t *arguments_event(struct host_run *run, uint32_t name);

#endif
