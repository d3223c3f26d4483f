/* What kernels are given and only read: the slots of arguments, lists, tilings. It is looked at
 * after each launch. */
#ifndef BACKEND_DEVICE_TABLES_H
#define BACKEND_DEVICE_TABLES_H

#include "backend/device/run.h"

/* The sums of tables whose contents are complete, once launches are made. */
void tables_sum(struct device_run *run);

/* Puts into the slots of all launches, and into lists, what the run's values have now. */
void tables_fill(struct device_run *run);

/* The first of a launch's slots and tables in which something else stands than was put there:
 * appends what it is, a line. False: there is none. */
bool tables_find_changed(const struct device_run *run, const struct device_launch *launch,
                         struct text *text);

#endif
