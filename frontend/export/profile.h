/* Time records as tables, and in the trace-event format of Chrome. */
#ifndef FRONTEND_EXPORT_PROFILE_H
#define FRONTEND_EXPORT_PROFILE_H

#include "backend/target/run.h"
#include "ir/support/json.h"

/* The core types, as the language has them. */
extern const char *const profile_core_names[SKRT_CORE_TYPES];

/* Time records, added up: a row for each op, and for each place where cores were blocked, on each
 * core type. */

struct profile_row {
    const char *name;   /* of the op, or of where cores were blocked */
    const char *launch; /* that it is in; NULL for an op that is one */
    enum skrt_core_type type;
    bool blocked;
    uint32_t cores; /* with a record of it */
    uint32_t times; /* of all cores */
    /* Nanoseconds, without the time in which the core was blocked inside of it: on all cores
     * together, and on the one with the most. */
    uint64_t all, longest;
};

/* Zero-initialised is nothing to be freed. */
struct profile_table {
    struct profile_row *rows; /* those of ops, then the blocked ones; the longest time first */
    uint32_t count, n_ops;
    bool steady; /* only what is the same in every run: the rows of ops, by name, without times */
    uint64_t working, blocked; /* nanoseconds on all cores */
    struct arena arena;
};

void profile_table_make(struct profile_table *table, const struct run_profile *profile,
                        bool steady);
void profile_table_free(struct profile_table *table);

/* The part that a row has of all time that cores worked, or were blocked. */
double profile_row_share(const struct profile_table *table, const struct profile_row *row);
/* The row of the same name and core type; NULL: there is none. */
const struct profile_row *profile_table_find(const struct profile_table *table,
                                             const struct profile_row *row);

/* Members of an open object: the rows as the lists "ops" and "blocked". */
void profile_table_json(struct json *json, const struct profile_table *table);

/* Appends JSON: a row per core, and on it the beginnings and ends of launches, ops and events;
 * `steady`: only what is the same in every run, which these are not. */
void trace_events_write(struct text *text, const struct run_profile *profile, bool steady);

#endif
