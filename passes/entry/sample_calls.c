#include "passes/entry/sample_calls.h"
#include "ir/base/suggest.h"
#include "ir/syntax/locate.h"

static bool is_undeclared(const struct module *module, const struct instr *instr)
{
    return instr->kernel != NONE && !module_find_kernel(module, instr->kernel);
}

void undeclared_find(struct id_map *undeclared, const struct module *module)
{
    for (uint32_t e = 0; e < module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[e].programs[core];
            for (uint32_t i = 0; i < program->instrs.count; i++)
                if (is_undeclared(module, &program->instrs.at[i]))
                    id_map_set(undeclared, program->instrs.at[i].kernel, 1);
        }
}

uint32_t entry_called_blocks(const struct entry *entry, uint32_t name)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->op == INSTR_call && instr->kernel == name)
                return instr->number[1];
        }
    return 0;
}

/* --------------------------------------------------------------------------- writing ---- */

static bool report_unknown(struct pass_context *context, const struct sample_uses *uses,
                           const struct entry *entry, const struct instr *instr)
{
    const struct module *module = context->module;
    struct suggest suggest = name_suggest(module, instr->kernel);
    if (!diag_at(context->diags, DIAG_unknown_kernel, locate_instr(module, instr),
                 "the kernel '@%.*s' is not declared, and no op here runs a sample kernel of that "
                 "name",
                 NAME(module, instr->kernel)))
        return false;
    suggest.before = "@";
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->at[i].entry == entry->name)
            name_offer(&suggest, module, uses->at[i].sample);
    diag_suggest(context->diags, &suggest);
    return false;
}

/* The kernel that an op of the entry got; NONE: none of them got one of that name. */
static uint32_t find_kernel(const struct sample_uses *uses, const struct entry *entry,
                            uint32_t sample)
{
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->at[i].entry == entry->name && uses->at[i].sample == sample)
            return uses->at[i].kernel;
    return NONE;
}

static bool write_instr(struct pass_context *context, const struct sample_uses *uses,
                        const struct entry *entry, struct instr *instr)
{
    uint32_t kernel = find_kernel(uses, entry, instr->kernel);
    if (kernel == NONE)
        return !is_undeclared(context->module, instr) ||
               report_unknown(context, uses, entry, instr);
    instr->kernel = kernel;
    return true;
}

bool sample_calls_write(struct pass_context *context, const struct id_map *undeclared,
                        const struct sample_uses *uses)
{
    struct module *module = context->module;
    bool ok = true;
    for (uint32_t e = 0; e < module->entries.count; e++) {
        struct entry *entry = &module->entries.at[e];
        for (int core = 0; core < CORE_TYPES; core++)
            for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
                struct instr *instr = &entry->programs[core].instrs.at[i];
                if (instr->kernel != NONE && id_map_find(undeclared, instr->kernel) != NONE)
                    ok = write_instr(context, uses, entry, instr) && ok;
            }
    }
    return ok;
}
