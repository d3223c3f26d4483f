/* What the parameter slots of launches hold, and the tables that kernels only read: lists, tilings.
 */
#ifndef BACKEND_DEVICE_ARGUMENTS_H
#define BACKEND_DEVICE_ARGUMENTS_H

#include "backend/device/run.h"

/* Appends the first argument of launches that have it: nothing is there on the host. */
void arguments_add_sync_base(struct device_run *run);

/* Appends the arguments of one op, as lower-superkernels lays them out; `number` is its place among
 * the launch's. False, with diagnostics, where one cannot be made. */
bool arguments_add_op(struct device_run *run, const struct op *op, uint32_t number);

/* Appends what stands behind the arguments of a super kernel's ops. */
bool arguments_add_entry(struct device_run *run, const struct entry *entry,
                         struct device_launch *launch);

/* Whether the entry's parameters are those of its super kernel's ops, as verify-sync has seen. */
bool arguments_hold(const struct device_run *run, const struct entry *entry,
                    const struct device_launch *launch);

/* The word of an event; there is one for each name, in a cache line of its own. */
uint64_t *arguments_event(struct device_run *run, uint32_t name);

/* The sums of tables whose contents are complete, once launches are made. */
void tables_sum(struct device_run *run);

/* Puts into the slots of all launches, and into lists, what the run's values have now. */
void tables_fill(struct device_run *run);

/* The first of a launch's slots and tables in which something else stands than was put there:
 * appends what it is, a line. False: there is none. */
bool tables_find_changed(const struct device_run *run, const struct device_launch *launch,
                         struct text *text);

#endif
