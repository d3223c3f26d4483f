/* The tables that listed operands are in memory (docs/sample-kernels.md, "Lists"). */
#ifndef BACKEND_DEVICE_LISTS_H
#define BACKEND_DEVICE_LISTS_H

#include "backend/device/run.h"

/* The table of the list that graph.forms has at `form`, an operand of the op, without addresses.
 * It lasts as long as the run. Its types are static. */
uint64_t *list_table(struct device_run *run, const struct op *op, uint32_t form);

/* Puts the addresses of the list's values into its table. Whether any was another. */
bool list_fill(struct device_run *run, uint32_t form, uint64_t *table, void *const *values);

#endif
