#include "backend/host/emit.h"
#include "backend/device/symbols.h"
#include "backend/host/emit_gears.h"
#include "backend/host/emit_instrs.h"
#include "backend/host/rows.h"
#include "ir/syntax/spelling.h"

#include <assert.h>
#include <string.h>

/* ----------------------------------------------------------------------- programs ---- */

static void emit_program(struct emitter *emitter, enum core_type core)
{
    const struct program *program = &emitter->entry->programs[core];
    struct rows next = {0, 0};
    emitter_tables(emitter, core);
    text_printf(emitter->text, "static void e%u_%s(skrt_core *core)\n{\n", emitter->entry_id,
                core_type_name(core));
    if (entry_copies(emitter->module, emitter->entry) > 1)
        text_printf(emitter->text,
                    "    const uint32_t copy = skrt_core_index(core) %% %u;\n"
                    "    struct skrt_call call;\n",
                    entry_copies(emitter->module, emitter->entry));
    for (uint32_t i = 0; i < program->instrs.count; i++)
        emit_instr(emitter, core, &program->instrs.at[i], i, &next);
    assert(next.call == emitter->calls);
    text_string(emitter->text, "}\n\n");
}

/* ------------------------------------------------------------------------- entries ---- */

/* A second name for the code of another entry. */
static void emit_alias(struct emitter *emitter, const struct entry *entry)
{
    struct text name = {NULL, 0, 0}, other = {NULL, 0, 0};
    device_entry_symbol(&name, emitter->module, emitter->entry);
    device_entry_symbol(&other, emitter->module, entry);
    text_printf(emitter->text,
                "\n/* entry %u */\n\nextern skrt_entry_fn e%u __asm__(\"%.*s\")\n"
                "    __attribute__((alias(\"%.*s\")));\n",
                emitter->entry_id, emitter->entry_id, (int)name.size, name.at, (int)other.size,
                other.at);
    text_free(&name);
    text_free(&other);
}

static void emit_entry(struct emitter *emitter)
{
    const struct entry *entry = emitter->entry;
    struct text *text = emitter->text;
    struct text name = {NULL, 0, 0};
    /* Empty arrays are no C; programs without instructions have neither sites nor a function. */
    bool has[CORE_TYPES];
    text_printf(text, "\n/* entry %u : %s */\n\n", emitter->entry_id,
                kernel_type_info(entry->type)->name);
    for (int core = 0; core < CORE_TYPES; core++) {
        has[core] = entry->programs[core].instrs.count > 0;
        if (has[core])
            emit_program(emitter, core);
    }
    device_entry_symbol(&name, emitter->module, entry);
    text_printf(text, "extern skrt_entry_fn e%u __asm__(\"%.*s\");\n", emitter->entry_id,
                (int)name.size, name.at);
    text_printf(text, "void e%u(skrt_core *core)\n{\n", emitter->entry_id);
    text_string(text, "    switch (skrt_core_type(core)) {\n");
    for (int core = 0; core < CORE_TYPES; core++)
        if (has[core])
            text_printf(text, "    case %s: e%u_%s(core); break;\n",
                        core == CORE_AIC ? "SKRT_AIC" : "SKRT_AIV", emitter->entry_id,
                        core_type_name(core));
    text_string(text, "    default: break;\n    }\n}\n");
    text_free(&name);
}

static void emit_entries(struct emitter *emitter, const struct module_rows *rows)
{
    text_string(emitter->text, "#include \"skrt.h\"\n\n");
    emitter_kernels(emitter);
    for (uint32_t i = 0; i < rows->count; i++) {
        emitter_begin(emitter, i);
        if (rows->equal[i] != i)
            emit_alias(emitter, &emitter->module->entries.at[rows->equal[i]]);
        else
            emit_entry(emitter);
        emitter_end(emitter);
    }
}

bool host_emit(struct text *text, const struct module *module, struct diags *diags)
{
    struct emitter emitter = {.text = text, .module = module, .diags = diags};
    struct module_rows rows;
    bool ok = module_rows_make(&rows, module, diags);
    if (ok) {
        emit_entries(&emitter, &rows);
        emit_gears(text, module);
    }
    event_slots_free(&emitter.events);
    module_rows_free(&rows);
    return ok;
}
