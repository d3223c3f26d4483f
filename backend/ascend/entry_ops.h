/* The ops that an entry's groups of arguments are for. */
#ifndef BACKEND_ASCEND_ENTRY_OPS_H
#define BACKEND_ASCEND_ENTRY_OPS_H

#include "ir/module.h"

struct entry_ops {
    const struct graph *graph; /* NULL: the entry is for no super kernel */
    uint32_t *of;              /* by group: op id, or NONE */
    uint32_t count;
};

void entry_ops_init(struct entry_ops *ops, const struct module *module, const struct entry *entry);
void entry_ops_free(struct entry_ops *ops);

/* The op of a group, or NULL. */
static inline const struct op *entry_op(const struct entry_ops *ops, uint32_t group)
{
    return group < ops->count && ops->of[group] != NONE ? &ops->graph->ops.at[ops->of[group]]
                                                        : NULL;
}

#endif
