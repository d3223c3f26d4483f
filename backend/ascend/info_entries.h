/* JSON of all entries of a module, and of the tables of its gears. */
#ifndef BACKEND_ASCEND_INFO_ENTRIES_H
#define BACKEND_ASCEND_INFO_ENTRIES_H

#include "backend/ascend/info_json.h"

/* Appends a value for each entry of the job's module, in a list where there are several. Of a
 * module with gears it is an object of that list, `entries`, and `gears`, a table for each graph
 * with them: which dimensions choose, what GE's options for them are, and what each combination
 * launches. */
typedef void info_entry(struct info_json *out, const struct launch_info *info);
enum backend_status info_entries_write(const struct emission_job *job, info_entry *put,
                                       const void *user);

#endif
