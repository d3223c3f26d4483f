#include "backend/host/emitter.h"
#include "ir/slots.h"
#include "ir/syntax/locate.h"

static void emit_unsupported(struct emitter *emitter, const struct instr *instr)
{
    diag_at(emitter->diags, DIAG_unsupported, locate_instr(emitter->module, instr),
            "the host target does not execute '%s' yet", instr_info(instr->op)->name);
    emitter->ok = false;
}

static void emit_early(struct text *text, unsigned early)
{
    static const struct {
        unsigned flag;
        const char *name;
    } flags[] = {
        {EARLY_WAIT_AIC, "SKRT_EARLY_WAIT_AIC"},
        {EARLY_WAIT_AIV, "SKRT_EARLY_WAIT_AIV"},
        {EARLY_SET, "SKRT_EARLY_SET"},
    };
    const char *separator = ", ";
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (!(early & flags[i].flag))
            continue;
        text_printf(text, "%s%s", separator, flags[i].name);
        separator = " | ";
    }
}

static void emit_call(struct emitter *emitter, enum core_type core, const struct instr *instr,
                      uint32_t call)
{
    struct text *text = emitter->text;
    const char *name = core_type_name(core), *early = instr->early ? "_early" : "";
    if (kernel_is_dynamic(emitter->module, called_kernel(emitter, instr))) {
        text_printf(text, "skrt_call_selected(core, &e%u_%s_calls[%u]", emitter->entry_id, name,
                    call);
        return;
    }
    if (entry_copies(emitter->module, emitter->entry) < 2) {
        text_printf(text, "skrt_call%s(core, &e%u_%s_calls[%u]", early, emitter->entry_id, name,
                    call);
    } else {
        text_printf(text, "call = e%u_%s_calls[%u];\n", emitter->entry_id, name, call);
        text_printf(text, "    call.fn = k%u_%s_copies[copy];\n",
                    called_id(emitter, instr), name);
        text_printf(text, "    skrt_call%s(core, &call", early);
    }
    emit_early(text, instr->early);
}

/* An entry without slots for it has no buffer for records. */
static void emit_profile(struct emitter *emitter, const struct instr *instr)
{
    static const char *const kinds[PROFILE_KINDS] = {[PROFILE_KERNEL] = "KERNEL",
                                                     [PROFILE_OP] = "OP",
                                                     [PROFILE_NOTIFY] = "NOTIFY",
                                                     [PROFILE_WAIT] = "WAIT"};
    uint32_t slot = entry_profile_slot(emitter->module, emitter->entry);
    if (slot == NONE)
        text_string(emitter->text, "skrt_hint(core");
    else
        text_printf(emitter->text, "skrt_profile(core, %u, %s, %u, SKRT_PROFILE_%s", slot,
                    instr->word == PHASE_begin ? "SKRT_BEGIN" : "SKRT_END", instr->number[0],
                    kinds[instr->number[1]]);
}

static bool has_workspace(struct emitter *emitter, const struct instr *instr)
{
    if (emitter->workspace_slot != NONE)
        return true;
    if (diag_at(emitter->diags, DIAG_missing_attribute, locate_instr(emitter->module, instr),
                "'%s' needs a workspace, which the entry does not have",
                instr_info(instr->op)->name))
        diag_note(emitter->diags, (struct span){0, 0},
                  "give the entry 'workspace = N' and the slot sync_workspace among 'params'");
    emitter->ok = false;
    return false;
}

/* `next_call` is the number of the call behind the instruction. */
static void emit_feed(struct emitter *emitter, enum core_type core, const struct instr *instr,
                      uint32_t next_call)
{
    static const char *const steps[] = {
        [PHASE_begin] = "BEGIN", [PHASE_end] = "END", [PHASE_complement] = "COMPLEMENT"};
    uint32_t call = next_call - (instr->word != PHASE_begin);
    if (!has_workspace(emitter, instr))
        return;
    if (call >= emitter->calls) {
        diag_at(emitter->diags, DIAG_instr_operands, locate_instr(emitter->module, instr),
                "there is no call %s this", instr->word == PHASE_begin ? "behind" : "before");
        emitter->ok = false;
        return;
    }
    text_printf(emitter->text,
                "skrt_feed_sync(core, SKRT_FEED_%s, &(struct skrt_feed){%u, %lld, %u, "
                "&e%u_%s_calls[%u]}",
                steps[instr->word], emitter->workspace_slot, (long long)emitter->workspace, call,
                emitter->entry_id, core_type_name(core), call);
}

static void emit_clear(struct emitter *emitter, const struct instr *instr)
{
    if (has_workspace(emitter, instr))
        text_printf(emitter->text, "skrt_clear_workspace(core, %u, %lld", emitter->workspace_slot,
                    (long long)emitter->workspace);
}

void emit_instr(struct emitter *emitter, enum core_type core, const struct instr *instr,
                uint32_t index, struct rows *next)
{
    struct text *text = emitter->text;
    const char *name = core_type_name(core);
    text_string(text, "    ");
    switch ((enum instr_op)instr->op) {
    case INSTR_call: emit_call(emitter, core, instr, next->call++); break;
    case INSTR_select:
        text_printf(text, "skrt_select(core, &e%u_%s_selects[%u][%s]", emitter->entry_id, name,
                    next->select++,
                    entry_copies(emitter->module, emitter->entry) > 1 ? "copy" : "0");
        break;
    case INSTR_arrive:
    case INSTR_await:
        text_printf(text, "skrt_%s(core, %s", instr_info(instr->op)->name,
                    instr->word == CORE_AIC ? "SKRT_AIC" : "SKRT_AIV");
        break;
    case INSTR_set:
    case INSTR_wait:
        text_printf(text, "skrt_%s_%s(core", instr_info(instr->op)->name,
                    instr->word == CORE_AIC ? "c2v" : "v2c");
        break;
    case INSTR_notify:
    case INSTR_wait_event:
    case INSTR_reset:
        text_printf(text, "skrt_%s(core, %u", instr_info(instr->op)->name, instr->number[0]);
        break;
    case INSTR_pipe_barrier: text_string(text, "skrt_pipe_barrier(core"); break;
    case INSTR_profile: emit_profile(emitter, instr); break;
    case INSTR_preload:
    case INSTR_preload_all:
    case INSTR_dcci: text_string(text, "skrt_hint(core"); break;
    case INSTR_clear_workspace: emit_clear(emitter, instr); break;
    case INSTR_feed_sync: emit_feed(emitter, core, instr, next->call); break;
    case INSTR_trace:
    case INSTR_COUNT: emit_unsupported(emitter, instr); return;
    }
    text_printf(text, ", &e%u_%s_sites[%u]);\n", emitter->entry_id, name, index);
}
