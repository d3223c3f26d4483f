/* The launches that the tasks of a table make: a scope is one, on the stream of its first task; a
 * task that computes and is in no scope is one by itself. */
#ifndef FRONTEND_LAUNCHES_TASK_ROWS_H
#define FRONTEND_LAUNCHES_TASK_ROWS_H

#include "frontend/launches/task_table.h"

struct task_rows {
    const struct task_table *table;
    struct launch_table launches; /* users of steps are tasks */
    struct vec_u32 tasks;         /* by row: its first task; NONE: it only passes events on */
    /* The tasks of group g in the order in which its launch comes to them are
     * order[first[g]] .. order[first[g + 1] - 1]. */
    uint32_t *first, *order;
};

/* False, reported, where tasks of a scope wait for each other, or another launch stands between
 * them on a stream. To be freed in any case. */
bool task_rows_init(struct task_rows *rows, const struct task_table *table, struct diags *diags);
void task_rows_free(struct task_rows *rows);

/* What the launch of a group takes, and how many of its tasks compute. */
struct group_launch {
    enum block_shape shape;
    uint32_t blocks, computes;
    bool sync_all;
};
struct group_launch task_rows_group(const struct task_rows *rows, uint32_t group);

#endif
