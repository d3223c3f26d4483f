#include "passes/fusion/taken_symbols.h"

static void count_superkernels(struct vec_u32 *taken, const struct graph *graph, uint32_t by)
{
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL)
            taken->at[graph->blocks.at[b].name] += by;
}

void taken_symbols_init(struct vec_u32 *taken, const struct module *module)
{
    *taken = (struct vec_u32){NULL, 0, 0};
    for (uint32_t i = 0; i < module->names.count; i++)
        vec_push(taken, 0);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        taken->at[module->kernels.at[i].name]++;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        taken->at[module->graphs.at[i].name]++;
    for (uint32_t i = 0; i < module->entries.count; i++)
        taken->at[module->entries.at[i].name]++;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        count_superkernels(taken, &module->graphs.at[i], 1);
}

void taken_symbols_drop(struct vec_u32 *taken, const struct graph *graph)
{
    count_superkernels(taken, graph, UINT32_MAX);
}

bool taken_symbols_take(struct vec_u32 *taken, uint32_t name)
{
    while (taken->count <= name)
        vec_push(taken, 0);
    return !taken->at[name]++;
}

uint32_t taken_symbols_take_free(struct vec_u32 *taken, struct module *module, uint32_t wanted)
{
    uint32_t name = wanted;
    for (unsigned i = 1; !taken_symbols_take(taken, name); i++)
        name = module_name_printf(module, "%.*s.%u", NAME(module, wanted), i);
    return name;
}
