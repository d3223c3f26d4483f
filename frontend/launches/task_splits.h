/* What to change of the scopes of a table so that no launches hang. */
#ifndef FRONTEND_LAUNCHES_TASK_SPLITS_H
#define FRONTEND_LAUNCHES_TASK_SPLITS_H

#include "frontend/launches/task_rows.h"
#include "passes/launches/describe.h"
#include "passes/launches/mend.h"

enum split_action { BEFORE_NODE, EXCLUDE_NODE };

struct split {
    uint32_t task;
    enum split_action action;
    const char *reason; /* of a few words, and what is in the way, or NULL: another task */
    uint32_t other;     /* or NONE */
};

struct task_splits {
    VEC(struct split) at;
    enum verdict verdict;      /* with the splits */
    struct launch_lines state; /* where it is not LAUNCHES_SAFE: what was found */
    uint64_t tried;            /* states */
};

/* Changes the groups of the table's tasks, as the splits say. False where the table is refused,
 * which is reported. */
bool task_splits_find(struct task_splits *splits, struct task_table *table, struct diags *diags);
void task_splits_free(struct task_splits *splits);

/* What launches of a table are called: by their scope or task. */
struct launch_names task_launch_names(const struct task_rows *rows);

/* The answer as JSON. */
void task_splits_print(struct text *text, const struct task_splits *splits,
                       const struct task_table *table);

#endif
