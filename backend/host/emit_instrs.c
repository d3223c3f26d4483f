/* The statement of an instruction: the host's column of ir/instrs.def, and the pieces that it
 * names. */
#include "backend/host/emit_instrs.h"
#include "backend/emit/statement.h"
#include "ir/slots.h"
#include "ir/syntax/locate.h"

#include <assert.h>

/* An instruction of the program at hand. */
struct statement {
    struct emitter *emitter;
    enum core_type core;
    const struct instr *instr;
    uint32_t index;
    struct rows *next;
};

/* --------------------------------------------------------------------------- pieces ---- */

/* Where reports say that a core is. */
static void emit_site(const struct statement *s)
{
    text_printf(s->emitter->text, "&e%u_%s_sites[%u]", s->emitter->entry_id,
                core_type_name(s->core), s->index);
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

static void emit_call_row(const struct statement *s, uint32_t call)
{
    text_printf(s->emitter->text, "e%u_%s_calls[%u]", s->emitter->entry_id, core_type_name(s->core),
                call);
}

/* The function, and what is called: a row of the table; or one with the function of the core's
 * copy. */
static void emit_call(const struct statement *s)
{
    struct emitter *emitter = s->emitter;
    struct text *text = emitter->text;
    bool dynamic = kernel_is_dynamic(emitter->module, called_kernel(emitter, s->instr));
    bool copied = !dynamic && entry_copies(emitter->module, emitter->entry) > 1;
    uint32_t call = s->next->call++;
    if (copied) {
        text_string(text, "call = ");
        emit_call_row(s, call);
        text_printf(text, ";\n    call.fn = k%u_%s_copies[copy];\n    ",
                    called_id(emitter, s->instr), core_type_name(s->core));
    }
    text_printf(text, "skrt_call%s(core, &",
                dynamic           ? "_selected"
                : s->instr->early ? "_early"
                                  : "");
    if (copied)
        text_string(text, "call");
    else
        emit_call_row(s, call);
    if (!dynamic)
        emit_early(text, s->instr->early);
    text_string(text, ", ");
    emit_site(s);
    text_char(text, ')');
}

static void emit_select(const struct statement *s)
{
    bool copied = entry_copies(s->emitter->module, s->emitter->entry) > 1;
    text_printf(s->emitter->text, "&e%u_%s_selects[%u][%s]", s->emitter->entry_id,
                core_type_name(s->core), s->next->select++, copied ? "copy" : "0");
}

static bool has_workspace(const struct statement *s)
{
    struct emitter *emitter = s->emitter;
    if (emitter->workspace_slot != NONE)
        return true;
    if (diag_at(emitter->diags, DIAG_missing_attribute, locate_instr(emitter->module, s->instr),
                "'%s' needs a workspace, which the entry does not have",
                instr_info(s->instr->op)->name))
        diag_help(emitter->diags, "give the entry 'workspace = N' and 'args [sync_workspace]'");
    emitter->ok = false;
    return false;
}

static void emit_workspace(const struct statement *s)
{
    if (has_workspace(s))
        text_printf(s->emitter->text, "%u, %lld", s->emitter->workspace_slot,
                    (long long)s->emitter->workspace);
}

/* Feeding is for the call beside it. */
static void emit_feed(const struct statement *s)
{
    struct emitter *emitter = s->emitter;
    bool begin = s->instr->word == PHASE_begin;
    uint32_t call = s->next->call - !begin;
    if (!has_workspace(s))
        return;
    if (call >= emitter->calls) {
        diag_at(emitter->diags, DIAG_instr_operands, locate_instr(emitter->module, s->instr),
                "there is no call %s this", begin ? "behind" : "before");
        emitter->ok = false;
        return;
    }
    text_string(emitter->text, "&(struct skrt_feed){");
    emit_workspace(s);
    text_printf(emitter->text, ", %u, &", call);
    emit_call_row(s, call);
    text_char(emitter->text, '}');
}

/* The slot of the buffer for records. */
static void emit_records(const struct statement *s)
{
    text_unsigned(s->emitter->text, entry_profile_slot(s->emitter->entry));
}

/* The slot of the trace. */
static void emit_tracing(const struct statement *s)
{
    text_unsigned(s->emitter->text, entry_slot(s->emitter->entry, W_tracing));
}

static bool emit_piece(void *user, const char *name, size_t size)
{
    static const struct {
        const char *name;
        void (*emit)(const struct statement *s);
    } pieces[] = {
        {"site", emit_site},           {"call", emit_call}, {"select", emit_select},
        {"workspace", emit_workspace}, {"feed", emit_feed}, {"records", emit_records},
        {"tracing", emit_tracing},
    };
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        if (strlen(pieces[i].name) == size && memcmp(pieces[i].name, name, size) == 0) {
            pieces[i].emit(user);
            return true;
        }
    return false;
}

/* ----------------------------------------------------------------------- statements ---- */

/* The slot of an event, or of a lock: entries by themselves may name what they have no slot for. */
static bool find_slot(const struct statement *s, uint32_t *slot)
{
    struct emitter *emitter = s->emitter;
    *slot = instr_event_slot(&emitter->events, emitter->entry, s->instr);
    if (*slot != NONE)
        return true;
    diag_at(emitter->diags, DIAG_unknown_group, locate_instr(emitter->module, s->instr),
            "the entry has no slot for this event");
    emitter->ok = false;
    return false;
}

/* The slot of what a record is written to, or NONE. */
static uint32_t records_slot(const struct entry *entry, const struct instr *instr)
{
    return instr->op == INSTR_profile ? entry_profile_slot(entry) : entry_slot(entry, W_tracing);
}

void emit_instr(struct emitter *emitter, enum core_type core, const struct instr *instr,
                uint32_t index, struct rows *next)
{
    struct statement s = {emitter, core, instr, index, next};
    const struct instr_info *info = instr_info(instr->op);
    const char *template = info->host;
    assert(template);
    /* Nothing is recorded where there is no buffer for records. */
    if (info->place == PLACE_RECORD && records_slot(emitter->entry, instr) == NONE)
        template = "skrt_hint(core, $site)";
    text_string(emitter->text, "    ");
    struct instr plain = *instr;
    if (info->effect == EFFECT_EVENT && !find_slot(&s, &plain.number[0]))
        return;
    bool expanded = statement_expand(emitter->text, template, &plain, emit_piece, &s);
    assert(expanded);
    (void)expanded;
    text_string(emitter->text, ";\n");
}
