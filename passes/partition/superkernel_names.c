#include "passes/partition/superkernel_names.h"

#include <stdio.h>
#include <string.h>

uint32_t superkernel_name(struct module *module, uint32_t graph, uint32_t scope)
{
    return module_name_printf(module, "%.*s_%.*s", NAME(module, graph), NAME(module, scope));
}

uint32_t superkernel_part_name(struct module *module, uint32_t name, struct part_places places)
{
    return module_name_printf(module, "%.*s_split_%lld_%lld", NAME(module, name),
                              (long long)places.begin, (long long)places.end);
}

uint32_t superkernel_part_of(struct module *module, uint32_t name, struct part_places *places)
{
    struct arena arena = {NULL, 0};
    char *text = name_text(module, name, &arena), *split = NULL;
    unsigned begin, end;
    int size = 0;
    uint32_t base = NONE;
    for (char *next = strstr(text, "_split_"); next; next = strstr(next + 1, "_split_"))
        split = next;
    if (split && sscanf(split, "_split_%u_%u%n", &begin, &end, &size) == 2 && !split[size]) {
        *split = '\0';
        base = module_name(module, text);
        *places = (struct part_places){begin, end};
    }
    arena_free(&arena);
    return base;
}

/* ------------------------------------------------------------------ by the reference ---- */

struct ends {
    uint32_t first, last;
};

static struct ends ends_of(const uint32_t *ops, uint32_t count, const int64_t *position)
{
    struct ends ends = {ops[0], ops[0]};
    for (uint32_t i = 1; i < count; i++) {
        ends.first = position[ops[i]] < position[ends.first] ? ops[i] : ends.first;
        ends.last = position[ops[i]] > position[ends.last] ? ops[i] : ends.last;
    }
    return ends;
}

static uint32_t op_name(const struct graph *graph, uint32_t id)
{
    const struct op *op = &graph->ops.at[id];
    return op->results.count ? graph->values.at[op->results.first].name : op->type;
}

uint32_t superkernel_reference_name(struct module *module, const struct graph *graph,
                                    uint32_t scope, const struct part_places *places,
                                    const uint32_t *ops, uint32_t count, const int64_t *position)
{
    struct ends ends = ends_of(ops, count, position);
    if (places)
        scope = superkernel_part_name(module, scope, *places);
    return module_name_printf(module, "sk_%.*s_start_%.*s_end_%.*s", NAME(module, scope),
                              NAME(module, op_name(graph, ends.first)),
                              NAME(module, op_name(graph, ends.last)));
}

struct part_places superkernel_positions_around(const uint32_t *ops, uint32_t count,
                                                const int64_t *position)
{
    struct ends ends = ends_of(ops, count, position);
    return (struct part_places){position[ends.first] - 1, position[ends.last] + 1};
}

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
