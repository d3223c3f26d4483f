/* A table of launches from outside: the tasks of a model's streams, as JSON (docs/command-line.md,
 * "skirc check"), and the launches that they make. */
#ifndef FRONTEND_LAUNCHES_TASK_TABLE_H
#define FRONTEND_LAUNCHES_TASK_TABLE_H

#include "ir/base/diag.h"
#include "ir/base/intern.h"
#include "passes/launches/table.h"

enum task_kind { TASK_COMPUTE, TASK_OTHER, TASK_WAIT, TASK_NOTIFY, TASK_KINDS };

struct task {
    enum task_kind kind;
    struct span span;
    uint32_t id;            /* number of its name, or NONE */
    bool counted;           /* its name is a number */
    uint32_t stream, event; /* numbers; NONE: it has none */
    uint32_t group;         /* a scope, or a part of one that is cut; NONE: it is in none */
    enum block_shape shape;
    uint32_t blocks;
    bool sync_all;
};

/* Tasks of a stream stand in their order. */
struct task_table {
    struct device device;
    VEC(struct task) tasks;
    struct intern names, streams, events, scopes;
    uint32_t n_events;          /* each is sent once: other uses of its name are other events */
    struct vec_u32 event_names; /* by event: its name's number in `events` */
    struct vec_u32 senders;     /* by event: the task that sends it, or NONE */
    uint32_t n_groups;          /* scopes first, by their numbers */
};

/* The most that a table may have. */
enum { TASK_MAX = 1 << 20, TASK_MAX_BLOCKS = 1 << 16, TASK_MAX_STREAMS = 1 << 12 };

/* Of a source; what is wrong with it is reported, and false returned. To be freed in any case. */
bool task_table_read(struct task_table *table, const struct source *source, struct diags *diags);
void task_table_free(struct task_table *table);

#endif
