/* Entries as objects that are made here: rows of data, tables of the kernels that they call. */
#include "backend/device/emitter.h"

#include "backend/device/link.h"
#include "ir/syntax/spelling.h"

/* A string literal. Trigraphs are off in GNU mode; octal escapes end after three digits. */
static void emit_literal(struct emitter *emitter, const char *bytes, size_t size)
{
    text_char(emitter->text, '"');
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            text_printf(emitter->text, "\\%03o", c);
        else
            text_char(emitter->text, (char)c);
    }
    text_char(emitter->text, '"');
}

/* What a call computes, for reports: the kernel's op type and the values of its slots. */
static void op_label(const struct emitter *emitter, const struct instr *instr, struct text *label)
{
    enum { MAX_LABEL = 200 };
    const struct module *module = emitter->module;
    const size_t begin = label->size;
    const struct kernel *kernel = called_kernel(emitter, instr);
    uint32_t type = attr_string(module, kernel->attrs, W_op);
    const struct intern_name *name = &module->names.names[type == NONE ? kernel->name : type];
    text_bytes(label, name->text, name->size);
    const struct attr *own = attr_find(module, kernel->attrs, W_params);
    const struct arg_group *group = &emitter->entry->groups.at[instr->number[0]];
    if (!own || group->args.count == 0)
        return;
    text_char(label, '(');
    for (uint32_t i = 0; i < own->value.count && label->size - begin < MAX_LABEL; i++) {
        if (i == group->args.count)
            break;
        const struct arg *arg = group_arg(emitter->entry, group, i);
        if (arg->kind != ARG_VALUE)
            continue;
        if (i)
            text_string(label, ", ");
        spell_value(label, module, arg->id);
    }
    text_string(label, label->size - begin < MAX_LABEL ? ")" : ", ...)");
}

/* ----------------------------------------------------------------------- tables ---- */

void emitter_site(const struct emitter *emitter, const struct instr *instr, struct text *text)
{
    spell_instr(text, emitter->module, emitter->entry, instr);
    text_char(text, '\0');
    if (instr->op == INSTR_call)
        op_label(emitter, instr, text);
}

/* One row per instruction: its spelling, and the op of a call. */
static void emit_sites(struct emitter *emitter, enum core_type core)
{
    const struct program *program = &emitter->entry->programs[core];
    struct text line = {NULL, 0, 0};
    text_printf(emitter->text, "static const struct skrt_site e%u_%s_sites[] = {\n",
                emitter->entry_id, core_type_name(core));
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        line.size = 0;
        emitter_site(emitter, &program->instrs.at[i], &line);
        size_t size = strlen(line.at);
        text_string(emitter->text, "    {");
        emit_literal(emitter, line.at, size);
        text_string(emitter->text, ", ");
        if (program->instrs.at[i].op == INSTR_call)
            emit_literal(emitter, line.at + size + 1, line.size - size - 1);
        else
            text_string(emitter->text, "0");
        text_string(emitter->text, "},\n");
    }
    text_string(emitter->text, "};\n");
    text_free(&line);
}

static void emit_calls(struct emitter *emitter, enum core_type core)
{
    const struct program *program = &emitter->entry->programs[core];
    text_printf(emitter->text, "static const struct skrt_call e%u_%s_calls[] = {\n",
                emitter->entry_id, core_type_name(core));
    emitter->calls = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_call)
            continue;
        emitter->calls++;
        const struct kernel *kernel = called_kernel(emitter, instr);
        const struct kernel_type_info *info = kernel_type_info(kernel->type);
        text_string(emitter->text, "    {");
        if (kernel_is_dynamic(emitter->module, kernel))
            text_string(emitter->text, "0");
        else
            text_printf(emitter->text, "k%u_%s", called_id(emitter, instr), core_type_name(core));
        text_printf(emitter->text, ", %u, %u, %u, %s},\n",
                    group_slot(emitter->entry, &emitter->entry->groups.at[instr->number[0]]),
                    instr->number[1], info->flat ? 1 : info->aivs, info->flat ? "true" : "false");
    }
    text_string(emitter->text, "};\n");
}

/* A select without a call, which verify-sync refuses, has no words. */
uint32_t emitter_select_slot(const struct emitter *emitter, const struct program *program,
                             const struct instr *select)
{
    const struct instr *end = program->instrs.at + program->instrs.count;
    for (const struct instr *instr = select + 1; instr < end; instr++)
        if (instr->op == INSTR_call && instr->kernel == select->kernel)
            return group_find_tiling(emitter->entry, &emitter->entry->groups.at[instr->number[0]]);
    return NONE;
}

uint32_t emitter_records_slot(const struct entry *entry, const struct instr *instr)
{
    return instr->op == INSTR_profile ? entry_profile_slot(entry) : entry_slot(entry, W_tracing);
}

/* One row per select, for each copy: the kernel's table, and where the words stand that it
 * reads. */
static void emit_selects(struct emitter *emitter, enum core_type core)
{
    const struct program *program = &emitter->entry->programs[core];
    uint32_t copies = entry_copies(emitter->module, emitter->entry);
    bool any = false;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_select)
            continue;
        if (!any)
            text_printf(emitter->text, "static const struct skrt_select e%u_%s_selects[][%u] = {\n",
                        emitter->entry_id, core_type_name(core), copies);
        text_string(emitter->text, "    {");
        for (uint32_t copy = 0; copy < copies; copy++)
            text_printf(emitter->text, "%s{k%u_%s_variants[%u], %u, %u}", copy ? ", " : "",
                        called_id(emitter, instr), core_type_name(core), copy,
                        kernel_variants(emitter->module, called_kernel(emitter, instr)),
                        emitter_select_slot(emitter, program, instr));
        text_string(emitter->text, "},\n");
        any = true;
    }
    if (any)
        text_string(emitter->text, "};\n");
}

void emitter_tables(struct emitter *emitter, enum core_type core)
{
    emit_sites(emitter, core);
    emit_calls(emitter, core);
    emit_selects(emitter, core);
}

/* ------------------------------------------------------------------ the entry at hand ---- */

static void find_workspace(struct emitter *emitter)
{
    const struct module *module = emitter->module;
    emitter->workspace = attr_int(module, emitter->entry->attrs, W_workspace, 0);
    emitter->workspace_slot =
        emitter->workspace > 0 ? entry_slot(emitter->entry, W_sync_workspace) : NONE;
}

void emitter_begin(struct emitter *emitter, uint32_t id)
{
    emitter->entry = &emitter->module->entries.at[id];
    emitter->entry_id = id;
    find_workspace(emitter);
    event_slots_take(&emitter->events, emitter->entry);
}

void emitter_end(struct emitter *emitter)
{
    event_slots_leave(&emitter->events, emitter->entry);
}

/* The kernels that entries call: their functions and, of dynamic kernels, the tables of
 * variants. */

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
