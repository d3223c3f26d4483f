/* The kernels that entries call: their functions and, of dynamic kernels, the tables of
 * variants. */
#include "backend/device/emitter.h"
#include "backend/device/link.h"
#include "backend/device/symbols.h"
#include "ir/kernels.h"

/* The function of one copy of a kernel: that of a stub stands here and does nothing. */
static void emit_function(struct emitter *emitter, uint32_t kernel, enum core_type core,
                          uint32_t copy)
{
    struct text *text = emitter->text;
    struct text name = {NULL, 0, 0};
    text_printf(&name, "k%u_%s", kernel, core_type_name(core));
    if (copy)
        text_printf(&name, "_split%u", copy);
    text_printf(text, "extern skrt_kernel_fn %.*s __asm__(\"", (int)name.size, name.at);
    device_copy_symbol(text, emitter->module, kernel, core, copy);
    text_string(text, "\");\n");
    if (kernel_is_stub(emitter->module, &emitter->module->kernels.at[kernel]))
        text_printf(text, "void %.*s(skrt_core *core, uint64_t args) {}\n", (int)name.size,
                    name.at);
    text_free(&name);
}

/* A kernel's function for a core type, and a list of its copies where there are any: those past
 * `made` are these again. */
static void emit_kernel(struct emitter *emitter, uint32_t kernel, enum core_type core,
                        uint32_t copies, uint32_t made)
{
    struct text *text = emitter->text;
    const char *name = core_type_name(core);
    for (uint32_t copy = 0; copy < made; copy++)
        emit_function(emitter, kernel, core, copy);
    if (copies < 2)
        return;
    text_printf(text, "static skrt_kernel_fn *const k%u_%s_copies[] = {k%u_%s", kernel, name,
                kernel, name);
    for (uint32_t copy = 1; copy < copies; copy++)
        if (copy % made)
            text_printf(text, ", k%u_%s_split%u", kernel, name, copy % made);
        else
            text_printf(text, ", k%u_%s", kernel, name);
    text_string(text, "};\n");
}

/* The functions of one copy of a dynamic kernel, and the row of its table. */
static void emit_variants_of_copy(struct emitter *emitter, uint32_t kernel, enum core_type core,
                                  uint32_t copy, struct text *table)
{
    const struct module *module = emitter->module;
    const struct kernel *of = &module->kernels.at[kernel];
    const char *name = core_type_name(core);
    for (uint32_t i = 0; i < kernel_variants(module, of); i++) {
        struct variant variant = kernel_variant(module, of, i);
        const struct kernel_type_info *info = kernel_type_info(variant.type);
        text_printf(table, "        {%lld, ", (long long)variant.key);
        if (kernel_type_has(variant.type, core)) {
            text_printf(emitter->text, "extern skrt_kernel_fn k%u_%s_v%u_%u __asm__(\"", kernel,
                        name, i, copy);
            device_variant_symbol(emitter->text, module, kernel, i, core, copy);
            text_string(emitter->text, "\");\n");
            text_printf(table, "k%u_%s_v%u_%u", kernel, name, i, copy);
        } else {
            text_string(table, "0");
        }
        text_printf(table, ", %u, %s},\n", info->flat ? 1 : info->aivs,
                    info->flat ? "true" : "false");
    }
}

/* A dynamic kernel for a core type: for each copy, the table that a select looks in. */
static void emit_variants(struct emitter *emitter, uint32_t kernel, enum core_type core,
                          uint32_t copies)
{
    const struct kernel *of = &emitter->module->kernels.at[kernel];
    struct text table = {NULL, 0, 0};
    for (uint32_t copy = 0; copy < copies; copy++) {
        text_string(&table, "    {\n");
        emit_variants_of_copy(emitter, kernel, core, copy, &table);
        text_string(&table, "    },\n");
    }
    text_printf(emitter->text,
                "static const struct skrt_variant k%u_%s_variants[][%u] = {\n%.*s};\n", kernel,
                core_type_name(core), kernel_variants(emitter->module, of), (int)table.size,
                table.at);
    text_free(&table);
}

void emitter_kernels(struct emitter *emitter)
{
    const struct module *module = emitter->module;
    struct kernel_copies copies = device_kernel_copies(module);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        for (int core = 0; core < CORE_TYPES; core++) {
            if (!copies.chosen[i] || !kernel_type_has(module->kernels.at[i].type, core))
                continue;
            if (kernel_is_dynamic(module, &module->kernels.at[i]))
                emit_variants(emitter, i, core, copies.chosen[i]);
            else
                emit_kernel(emitter, i, core, copies.chosen[i], copies.made[i]);
        }
    kernel_copies_free(&copies);
}
