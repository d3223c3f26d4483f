#include "ir/entry.h"
#include "ir/module.h"

bool entry_is_synchronised(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->early || effect_is_sync(instr_info((enum instr_op)instr->op)->effect))
                return true;
        }
    return false;
}

bool instr_awaits(const struct instr *instr, enum core_type core)
{
    return instr->op == INSTR_await ||
           (instr->early & (core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV)) != 0;
}

bool entry_has_barriers(const struct module *module, const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            const struct kernel *kernel =
                instr->op == INSTR_call ? module_kernel(module, instr->kernel) : NULL;
            if (instr_awaits(instr, (enum core_type)core) ||
                (kernel && attr_flag(module, kernel->attrs, W_sync_all)))
                return true;
        }
    return false;
}
