/* The statement of an instruction: the host's column of ir/instrs.def, and the pieces that it
 * names. */
#include "backend/host/emit_instrs.h"
#include "backend/emit/statement.h"

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

static void emit_workspace(const struct statement *s)
{
    text_printf(s->emitter->text, "%u, %lld", s->emitter->workspace_slot,
                (long long)s->emitter->workspace);
}

/* Feeding is for the call beside it. */
static void emit_feed(const struct statement *s)
{
    struct text *text = s->emitter->text;
    uint32_t call = s->next->call - (s->instr->word != PHASE_begin);
    text_string(text, "&(struct skrt_feed){");
    emit_workspace(s);
    text_printf(text, ", %u, &", call);
    emit_call_row(s, call);
    text_char(text, '}');
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

void emit_instr(struct emitter *emitter, enum core_type core, const struct instr *instr,
                uint32_t index, struct rows *next)
{
    struct statement s = {emitter, core, instr, index, next};
    const struct instr_info *info = instr_info(instr->op);
    const char *template = info->host;
    assert(template);
    /* Nothing is recorded where there is no buffer for records. */
    if (info->place == PLACE_RECORD && emitter_records_slot(emitter->entry, instr) == NONE)
        template = "skrt_hint(core, $site)";
    text_string(emitter->text, "    ");
    struct instr plain = *instr;
    if (info->effect == EFFECT_EVENT)
        plain.number[0] = instr_event_slot(&emitter->events, emitter->entry, instr);
    bool expanded = statement_expand(emitter->text, template, &plain, emit_piece, &s);
    assert(expanded);
    (void)expanded;
    text_string(emitter->text, ";\n");
}
