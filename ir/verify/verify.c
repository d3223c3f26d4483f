#include "ir/verify/verify_internal.h"

static void verify_unique(struct verifier *verifier, const char *what, uint32_t name, uint32_t loc)
{
    const struct module *module = verifier->module;
    uint32_t before = NONE;
    if (!marks_set(verifier, name, loc, &before))
        return;
    if (diag_at(verifier->diags, DIAG_duplicate, locate_name(module, loc), "%s '%.*s' stands twice",
                what, NAME(module, name)) &&
        before != NONE)
        diag_note(verifier->diags, locate_name(module, before), "the first is here");
}

/* Kernels, graphs and entries have a name space each. */
static void verify_symbols(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    marks_clear(verifier);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        verify_unique(verifier, "the kernel", module->kernels.at[i].name,
                      module->kernels.at[i].loc);
    marks_clear(verifier);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        verify_unique(verifier, "the graph", module->graphs.at[i].name, module->graphs.at[i].loc);
    marks_clear(verifier);
    for (uint32_t i = 0; i < module->entries.count; i++)
        verify_unique(verifier, "the entry", module->entries.at[i].name, module->entries.at[i].loc);
    for (uint32_t i = 1; i < module->targets.count; i++)
        diag_at(verifier->diags, DIAG_duplicate, locate_name(module, module->targets.at[i].loc),
                "a module has at most one target");
}

bool verify_module(const struct module *module, struct diags *diags)
{
    struct verifier verifier = {.module = module,
                                .diags = diags,
                                .marks = mem_calloc(module->names.count, sizeof(struct mark))};
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    verify_symbols(&verifier);
    for (uint32_t i = 0; i < module->targets.count; i++)
        verify_attrs(&verifier, module->targets.at[i].attrs, OWNER_TARGET);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        verify_kernel(&verifier, &module->kernels.at[i]);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        verify_graph(&verifier, &module->graphs.at[i]);
    for (uint32_t i = 0; i < module->entries.count; i++)
        verify_entry(&verifier, &module->entries.at[i]);
    mem_free(verifier.marks);
    return diags->counts[SEVERITY_ERROR] == errors;
}
