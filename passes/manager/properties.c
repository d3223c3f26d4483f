#include "ir/analysis/block_rules.h"
#include "passes/lower/kernel_binding.h"
#include "passes/lower/short_calls.h"
#include "passes/manager/properties.h"

static bool is_partitioned(const struct module *module)
{
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t j = 0; j < module->graphs.at[i].blocks.count; j++)
            if (module->graphs.at[i].blocks.at[j].kind == BLOCK_SCOPE)
                return false;
    return true;
}

static bool is_bound(const struct module *module)
{
    return ops_are_bound(module) && entries_are_bound(module) && !ops_have_block_rules(module);
}

static bool is_lowered(const struct module *module)
{
    uint8_t *has_entry = mem_calloc(module->names.count, 1);
    for (uint32_t i = 0; i < module->entries.count; i++)
        has_entry[module->entries.at[i].name] = 1;
    bool lowered = true;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t j = 0; j < module->graphs.at[i].blocks.count; j++) {
            const struct block *block = &module->graphs.at[i].blocks.at[j];
            lowered = lowered && (block->kind != BLOCK_SUPERKERNEL ||
                                  has_entry[block_entry_name(module, block)]);
        }
    mem_free(has_entry);
    return lowered;
}

unsigned module_properties(const struct module *module)
{
    return (is_partitioned(module) ? PROPERTY_PARTITIONED : 0) |
           (is_bound(module) ? PROPERTY_BOUND : 0) | (is_lowered(module) ? PROPERTY_LOWERED : 0);
}

unsigned module_properties_of_entries(const struct module *module, unsigned before)
{
    bool bound = before & PROPERTY_BOUND ? entries_are_bound(module) : is_bound(module);
    return (before & PROPERTY_PARTITIONED) | (bound ? PROPERTY_BOUND : 0) |
           (is_lowered(module) ? PROPERTY_LOWERED : 0);
}

const char *property_name(unsigned property)
{
    switch (property) {
    case PROPERTY_PARTITIONED: return "partitioned";
    case PROPERTY_BOUND: return "bound";
    default: return "lowered";
    }
}

const char *property_text(unsigned property)
{
    switch (property) {
    case PROPERTY_PARTITIONED: return "a graph without scopes; run 'partition-scopes' first";
    case PROPERTY_BOUND: return "a kernel for every op; write 'via' or run 'bind-kernels' first";
    default: return "an entry for every super kernel; run 'lower-superkernels' first";
    }
}
