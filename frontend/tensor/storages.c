#include "frontend/tensor/storages.h"
#include "ir/calls.h"

#include <stdlib.h>

/* The graph, and all that it calls, by index. */
static void find_run(const struct module *module, uint32_t main_graph, struct vec_u32 *run)
{
    uint8_t *seen = mem_calloc(module->graphs.count, 1);
    struct callee callee;
    vec_push(run, main_graph);
    seen[main_graph] = 1;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct graph *graph = &module->graphs.at[run->at[i]];
        for (uint32_t op = 0; op < graph->ops.count; op++)
            for (uint32_t n = 0; op_callee(module, &graph->ops.at[op], n, &callee); n++)
                if (!seen[callee.graph]++)
                    vec_push(run, callee.graph);
                else
                    seen[callee.graph] = 1;
    }
    mem_free(seen);
}

void storages_mark_run(const struct module *module, const struct graph *graph, uint8_t *run)
{
    struct vec_u32 found = {NULL, 0, 0};
    find_run(module, graph_id(module, graph), &found);
    for (uint32_t i = 0; i < found.count; i++)
        run[found.at[i]] = 1;
    vec_free(&found);
}

bool storages_init(struct storages *storages, const struct backend_runner *runner,
                   const struct module *module, const struct graph *graph, unsigned copies,
                   struct diags *diags)
{
    uint32_t count = module->graphs.count;
    struct vec_u32 run = {NULL, 0, 0};
    bool ok = true;
    *storages = (struct storages){.at = mem_calloc(count, sizeof *storages->at),
                                  .values = mem_calloc(count, sizeof *storages->values),
                                  .count = count,
                                  .main_graph = graph_id(module, graph)};
    find_run(module, storages->main_graph, &run);
    for (uint32_t i = 0; ok && i < run.count; i++) {
        struct storage *storage = &storages->at[run.at[i]];
        ok = storage_init(storage, runner, module, &module->graphs.at[run.at[i]], copies, diags);
        storages->values[run.at[i]] = storage->data;
    }
    vec_free(&run);
    return ok;
}

void storages_free(struct storages *storages)
{
    for (uint32_t i = 0; i < storages->count; i++)
        storage_free(&storages->at[i]);
    mem_free(storages->at);
    mem_free(storages->values);
    *storages = (struct storages){0};
}

/* The first byte of a value is 0. */
static void place_text(const struct storage *storage, uint32_t id, int64_t offset, char *text,
                       size_t size)
{
    int64_t bytes = (int64_t)storage->guarded[id].size;
    int64_t away = offset < 0 ? -offset : offset < bytes ? offset : offset - bytes;
    snprintf(text, size, "%lld byte%s %s '%%%.*s'", (long long)away, away == 1 ? "" : "s",
             offset < 0       ? "before"
             : offset < bytes ? "into"
                              : "behind the end of",
             NAME(storage->module, storage->graph->values.at[id].name));
}

bool storages_place(const void *context, const void *address, char *text, size_t size)
{
    const struct storages *storages = context;
    for (uint32_t graph = 0; graph < storages->count; graph++) {
        const struct storage *storage = &storages->at[graph];
        for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++) {
            const struct guarded *guarded = &storage->guarded[i];
            if (!guarded_is_near(guarded, address))
                continue;
            place_text(storage, i, (const unsigned char *)address - guarded->at, text, size);
            return true;
        }
    }
    return false;
}

void storages_copy_given(struct storages *to, const struct storages *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (from->at[i].graph)
            storage_copy_given(&to->at[i], &from->at[i]);
}
