/* Whether the host may write tables (backend/device/tables.h), or all can only read them. */
#ifndef BACKEND_DEVICE_TABLE_PAGES_H
#define BACKEND_DEVICE_TABLE_PAGES_H

#include "backend/device/run.h"

/* From now on tables can be written, or only be read. */
void table_pages_open(struct device_run *run);
void table_pages_close(struct device_run *run);

/* A word of a table, whose pages are opened for it where another stands there: whether one does. */
bool table_pages_put(struct device_run *run, uint64_t *word, uint64_t to);

#endif
