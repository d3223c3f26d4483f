/* The ops that an entry's groups of arguments are for. */
#ifndef BACKEND_ASCEND_ENTRY_OPS_H
#define BACKEND_ASCEND_ENTRY_OPS_H

#include "ir/analyses.h"

struct entry_place {
    const struct graph *graph;
    uint32_t block;
};

/* The super kernels of a module, by their entries. The module must stay as it is. */
struct entry_finder {
    const struct module *module;
    struct id_map of_entry; /* by name: index in `at` */
    VEC(struct entry_place) at;
    struct analyses analyses;
};

void entry_finder_init(struct entry_finder *finder, const struct module *module);
void entry_finder_free(struct entry_finder *finder);

/* The super kernel of an entry, or NULL. */
const struct entry_place *entry_finder_at(const struct entry_finder *finder,
                                          const struct entry *entry);

/* Whether some call starts early. */
bool entry_starts_early(const struct entry *entry);

struct entry_ops {
    const struct graph *graph; /* NULL: the entry is for no super kernel */
    uint32_t *of;              /* by group: op id, or NONE */
    uint32_t count;
};

/* Of one of many entries; and of one alone. */
void entry_ops_find(struct entry_ops *ops, struct entry_finder *finder, const struct entry *entry);
void entry_ops_init(struct entry_ops *ops, const struct module *module, const struct entry *entry);
void entry_ops_free(struct entry_ops *ops);

/* The op of a group, or NULL. */
static inline const struct op *entry_op(const struct entry_ops *ops, uint32_t group)
{
    return group < ops->count && ops->of[group] != NONE ? &ops->graph->ops.at[ops->of[group]]
                                                        : NULL;
}

#endif
