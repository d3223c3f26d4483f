#include "backend/ascend/entry_ops.h"
#include "ir/groups.h"

static void add_blocks(struct entry_finder *finder, const struct graph *graph)
{
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL)
            continue;
        uint32_t name = block_entry_name(finder->module, block);
        if (id_map_find(&finder->of_entry, name) != NONE)
            continue;
        id_map_set(&finder->of_entry, name, finder->at.count);
        vec_push(&finder->at, (struct entry_place){graph, b});
    }
}

void entry_finder_init(struct entry_finder *finder, const struct module *module)
{
    *finder = (struct entry_finder){.module = module};
    for (uint32_t g = 0; g < module->graphs.count; g++)
        add_blocks(finder, &module->graphs.at[g]);
}

void entry_finder_free(struct entry_finder *finder)
{
    id_map_free(&finder->of_entry);
    vec_free(&finder->at);
    analyses_drop(&finder->analyses);
}

const struct entry_place *entry_finder_at(const struct entry_finder *finder,
                                          const struct entry *entry)
{
    uint32_t place = id_map_find(&finder->of_entry, entry->name);
    return place == NONE ? NULL : &finder->at.at[place];
}

bool entry_starts_early(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].early)
                return true;
    return false;
}

/* Groups stand in the order that `grouped` says. */
static void find_ops(struct entry_ops *ops, struct entry_finder *finder, uint32_t block)
{
    const struct members *members = analyses_members(&finder->analyses, finder->module, ops->graph);
    uint32_t first = members->first[block], count = members->first[block + 1] - first;
    for (uint32_t i = 0; i < count && i < ops->count; i++)
        ops->of[i] = members->ops[first + members->grouped[first + i]];
}

void entry_ops_find(struct entry_ops *ops, struct entry_finder *finder, const struct entry *entry)
{
    const struct entry_place *place = entry_finder_at(finder, entry);
    *ops = (struct entry_ops){.count = entry_named_groups(entry)};
    ops->of = mem_calloc(ops->count + 1, sizeof *ops->of);
    for (uint32_t i = 0; i < ops->count; i++)
        ops->of[i] = NONE;
    if (!place)
        return;
    ops->graph = place->graph;
    find_ops(ops, finder, place->block);
}

void entry_ops_init(struct entry_ops *ops, const struct module *module, const struct entry *entry)
{
    struct entry_finder finder;
    entry_finder_init(&finder, module);
    entry_ops_find(ops, &finder, entry);
    entry_finder_free(&finder);
}

void entry_ops_free(struct entry_ops *ops)
{
    mem_free(ops->of);
}
