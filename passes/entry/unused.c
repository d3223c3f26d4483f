#include "passes/entry/unused.h"
#include "ir/syntax/locate.h"

static bool warned_before(const struct diags *diags)
{
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].id == DIAG_entry_unused)
            return true;
    return false;
}

/* Marks the names of all super kernels; false where there are none, or scopes. */
static bool mark_superkernels(const struct module *module, uint8_t *marked)
{
    bool any = false;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t b = 0; b < graph->blocks.count; b++) {
            if (graph->blocks.at[b].kind == BLOCK_SCOPE)
                return false;
            if (graph->blocks.at[b].kind != BLOCK_SUPERKERNEL)
                continue;
            marked[block_entry_name(module, &graph->blocks.at[b])] = 1;
            any = true;
        }
    }
    return any;
}

static void warn(struct pass_context *context, const struct entry *entry, const uint8_t *marked)
{
    const struct module *module = context->module;
    struct suggest suggest = name_suggest(module, entry->name);
    if (!diag_at(context->diags, DIAG_entry_unused, locate_name(module, entry->loc),
                 "no super kernel has the entry '@%.*s': nothing launches it",
                 NAME(module, entry->name)))
        return;
    suggest.before = "@";
    if (diag_wants_suggestion(context->diags))
        for (uint32_t name = 0; name < module->names.count; name++)
            if (marked[name] && module_find(module, SYMBOL_ENTRY, name) == NONE)
                name_offer(&suggest, module, name);
    diag_suggest(context->diags, &suggest);
}

void entries_warn_unused(struct pass_context *context)
{
    const struct module *module = context->module;
    if (module->entries.count == 0 || warned_before(context->diags))
        return;
    uint8_t *marked = mem_calloc(module->names.count, 1);
    if (mark_superkernels(module, marked))
        for (uint32_t i = 0; i < module->entries.count; i++)
            if (!marked[module->entries.at[i].name])
                warn(context, &module->entries.at[i], marked);
    mem_free(marked);
}
