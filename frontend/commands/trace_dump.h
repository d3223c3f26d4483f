/* Dumps of what entries leave in memory about themselves: traces (backend/runtime/skrt.h), and the
 * profiling areas of the NPU (docs/ascend.md). */
#ifndef FRONTEND_COMMANDS_TRACE_DUMP_H
#define FRONTEND_COMMANDS_TRACE_DUMP_H

#include "ir/base/text.h"
#include "ir/module.h"

struct trace_dump {
    const struct module *module; /* lowered; NULL: not known */
    const struct entry *entry;   /* whose dump it is where it does not say so; NULL: not known */
    const char *bytes;
    size_t size;
};

/* The entry of a name that may be cut off at 60 bytes, or NULL. */
const struct entry *trace_dump_entry(const struct module *module, const char *name, size_t size);

bool trace_dump_is_profile(const struct trace_dump *dump);
/* Appends a timeline; false where there are no records. */
bool trace_dump_profile(struct text *text, const struct trace_dump *dump, uint64_t mhz);

/* Appends where each core stood; false where there are no traces. */
bool trace_dump_cores(struct text *text, const struct trace_dump *dump);

#endif
