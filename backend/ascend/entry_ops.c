#include "backend/ascend/entry_ops.h"
#include "ir/analyses.h"
#include "ir/groups.h"

/* The super kernel that has the entry, or NONE. */
static uint32_t superkernel_of(const struct module *module, const struct graph *graph,
                               const struct entry *entry)
{
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL &&
            block_entry_name(module, &graph->blocks.at[b]) == entry->name)
            return b;
    return NONE;
}

/* Groups stand in the order that `grouped` says. */
static void find_ops(struct entry_ops *ops, const struct module *module, uint32_t block)
{
    struct analyses analyses = {0};
    const struct members *members = analyses_members(&analyses, module, ops->graph);
    uint32_t first = members->first[block], count = members->first[block + 1] - first;
    for (uint32_t i = 0; i < count && i < ops->count; i++)
        ops->of[i] = members->ops[first + members->grouped[first + i]];
    analyses_drop(&analyses);
}

void entry_ops_init(struct entry_ops *ops, const struct module *module, const struct entry *entry)
{
    *ops = (struct entry_ops){.count = entry_named_groups(entry)};
    ops->of = mem_calloc(ops->count + 1, sizeof *ops->of);
    for (uint32_t i = 0; i < ops->count; i++)
        ops->of[i] = NONE;
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        uint32_t block = superkernel_of(module, &module->graphs.at[g], entry);
        if (block == NONE)
            continue;
        ops->graph = &module->graphs.at[g];
        find_ops(ops, module, block);
        return;
    }
}

void entry_ops_free(struct entry_ops *ops)
{
    mem_free(ops->of);
}
