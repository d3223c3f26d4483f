#include "backend/host/emit.h"
#include "backend/device/symbols.h"
#include "backend/host/emit_gears.h"
#include "backend/host/emit_instrs.h"
#include "backend/host/rows.h"
#include "ir/gears.h"
#include "ir/syntax/spelling.h"

#include <assert.h>
#include <string.h>

/* As many combinations as gears make, with a few super kernels each. */
enum { MAX_LOOK_BACK = 1000 };

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

/* ------------------------------------------------------------------------- sharing ---- */

static bool instr_equals(const struct instr *a, const struct instr *b)
{
    return a->op == b->op && a->part == b->part && a->word == b->word && a->early == b->early &&
           a->kernel == b->kernel && a->number[0] == b->number[0] && a->number[1] == b->number[1];
}

static bool program_equals(const struct program *a, const struct program *b)
{
    bool equal = a->present == b->present && a->instrs.count == b->instrs.count;
    for (uint32_t i = 0; equal && i < a->instrs.count; i++)
        equal = instr_equals(&a->instrs.at[i], &b->instrs.at[i]);
    return equal;
}

/* The first argument of an entry that is for an event. */
static uint32_t event_place(const struct entry *entry, uint32_t event)
{
    uint32_t i = 0;
    while ((entry->args.at[i].kind != ARG_SEND && entry->args.at[i].kind != ARG_RECV) ||
           entry->args.at[i].id != event)
        i++;
    return i;
}

/* Events that only order ops of the entry may have different names. */
static bool arg_equals(const struct entry *x, const struct arg *a, const struct entry *y,
                       const struct arg *b)
{
    if (a->kind == ARG_SEND || a->kind == ARG_RECV)
        return a->kind == b->kind && event_place(x, a->id) == event_place(y, b->id);
    if (a->kind != ARG_LIST)
        return a->kind == b->kind && a->id == b->id;
    return b->kind == ARG_LIST && a->count == b->count &&
           (a->count == 0 || memcmp(x->listed.at + a->id, y->listed.at + b->id,
                                    a->count * sizeof *x->listed.at) == 0);
}

static bool args_equal(const struct entry *a, const struct entry *b)
{
    bool equal = a->groups.count == b->groups.count && a->args.count == b->args.count &&
                 a->no_sync_base == b->no_sync_base;
    for (uint32_t i = 0; equal && i < a->groups.count; i++)
        equal = a->groups.at[i].name == b->groups.at[i].name &&
                a->groups.at[i].args.count == b->groups.at[i].args.count;
    for (uint32_t i = 0; equal && i < a->args.count; i++)
        equal = arg_equals(a, &a->args.at[i], b, &b->args.at[i]);
    return equal;
}

/* Whether two entries do the same, by all that their code and its reports are made of. */
static bool entry_equals(const struct module *module, const struct entry *a, const struct entry *b)
{
    bool equal =
        a->type == b->type && entry_copies(module, a) == entry_copies(module, b) &&
        attr_int(module, a->attrs, W_workspace, 0) == attr_int(module, b->attrs, W_workspace, 0) &&
        args_equal(a, b);
    for (int core = 0; equal && core < CORE_TYPES; core++)
        equal = program_equals(&a->programs[core], &b->programs[core]);
    return equal;
}

/* An entry before this one that does the same; NULL where there is none. Only combinations of gears
 * are looked at, whose number is limited. */
static const struct entry *find_equal(const struct emitter *emitter)
{
    const struct module *module = emitter->module;
    uint32_t first = emitter->entry_id > MAX_LOOK_BACK ? emitter->entry_id - MAX_LOOK_BACK : 0;
    for (uint32_t i = first; i < emitter->entry_id; i++)
        if (entry_equals(module, &module->entries.at[i], emitter->entry))
            return &module->entries.at[i];
    return NULL;
}

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

bool host_emit(struct text *text, const struct module *module, struct diags *diags)
{
    struct emitter emitter = {.text = text, .module = module, .diags = diags};
    if (!host_check_entries(module, diags))
        return false;
    bool shared = module_has_cases(module);
    text_string(text, "#include \"skrt.h\"\n\n");
    emitter_kernels(&emitter);
    for (uint32_t i = 0; i < module->entries.count; i++) {
        emitter_begin(&emitter, i);
        const struct entry *equal = shared ? find_equal(&emitter) : NULL;
        if (equal)
            emit_alias(&emitter, equal);
        else
            emit_entry(&emitter);
        emitter_end(&emitter);
    }
    emit_gears(text, module);
    event_slots_free(&emitter.events);
    return true;
}
