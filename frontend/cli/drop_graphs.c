#include "frontend/cli/drop_graphs.h"
#include "ir/gears.h"

#include <string.h>

/* Marks entries of super kernels with the mark of their graph, where that is `mark`. */
static void mark_entries(const struct module *module, const uint8_t *graphs, uint8_t mark,
                         uint8_t *entries)
{
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t b = 0; graphs[i] == mark && b < graph->blocks.count; b++) {
            const struct entry *entry = block_entry(module, &graph->blocks.at[b]);
            if (entry)
                entries[entry_id(module, entry)] = mark;
        }
    }
}

void graphs_drop(struct module *module, const uint8_t *gone)
{
    uint8_t *entries = mem_calloc(module->entries.count, 1);
    mark_entries(module, gone, 1, entries);
    mark_entries(module, gone, 0, entries);
    module_drop_entries(module, entries);
    mem_free(entries);
    module_drop_graphs(module, gone);
}

void graphs_keep_reached(struct module *module, const char *name)
{
    uint32_t id = intern_find(&module->names, name, strlen(name));
    const struct graph *graph = id == NONE ? NULL : module_find_graph(module, id);
    if (!graph)
        return;
    uint8_t *reached = mem_calloc(module->graphs.count, 1);
    reached[graph_id(module, graph)] = 1;
    graphs_mark_reached(module, reached);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        reached[i] = !reached[i];
    graphs_drop(module, reached);
    mem_free(reached);
}
