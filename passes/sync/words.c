#include "passes/sync/words.h"
#include "ir/syntax/locate.h"

/* -------------------------------------------------------------------------- slot uses ---- */

struct sync_point sync_use_point(const struct sync_words *words, uint32_t slot, enum sync_use use)
{
    return (struct sync_point){words->uses[slot].of[use].core, words->uses[slot].of[use].step,
                               SYNC_CORE_ZERO};
}

bool sync_is_used(const struct sync_words *words, uint32_t slot, enum sync_use use)
{
    return words->uses[slot].of[use].step != NONE;
}

bool sync_is_outer(const struct sync_subject *subject, const struct slot *slot)
{
    const struct sync_event *event = sync_event(subject, slot->id);
    return slot->kind == SLOT_SEND ? event->leaves : event->sender != subject->block;
}

static bool may_use(const struct sync_subject *subject, const struct slot *slot, enum sync_use use)
{
    switch (slot->kind) {
    case SLOT_SEND: return use == USE_NOTIFY && sync_is_outer(subject, slot);
    case SLOT_RECV: return use != USE_NOTIFY && sync_is_outer(subject, slot);
    case SLOT_LOCK: return use == USE_RESET;
    default: return false;
    }
}

static void report_wrong_slot(const struct sync_words *words, enum core_type core, uint32_t step,
                              uint32_t slot, enum sync_use use)
{
    const struct sync_checker *checker = words->checker;
    const struct sync_subject *subject = checker->subject;
    const struct slot *is = slot && slot < words->count ? &subject->slots.at[slot - 1] : NULL;
    bool event = is && (is->kind == SLOT_SEND || is->kind == SLOT_RECV);
    const char *text = use == USE_RESET  ? "the slot is no event that it waits for, and no lock"
                       : use == USE_WAIT ? "the slot is no event that an op receives from outside"
                                         : "the slot is no event that an op sends to outside";
    if (!sync_report_step(checker, DIAG_sync_event, core, step, text) || !event)
        return;
    diag_help(checker->diags, "slot %u is event '%.*s', which an op here %s", slot,
              NAME(checker->module, is->id),
              !sync_is_outer(subject, is) ? "sends to another: that is an order, not memory"
              : is->kind == SLOT_SEND     ? "sends: 'notify' is for it"
                                          : "receives: 'wait_event' and 'reset' are for it");
}

static bool add_use(struct sync_words *words, enum core_type core, uint32_t step)
{
    const struct sync_checker *checker = words->checker;
    const struct instr *instr = sync_instr(&checker->proof, core, step);
    const struct sync_subject *subject = checker->subject;
    uint32_t slot = instr->number[0];
    enum sync_use use = sync_use_of(instr->op);
    if (!slot || slot >= words->count || !may_use(subject, &subject->slots.at[slot - 1], use)) {
        report_wrong_slot(words, core, step, slot, use);
        return false;
    }
    if (sync_is_used(words, slot, use)) {
        struct sync_point first = sync_use_point(words, slot, use);
        if (sync_report_step(checker, DIAG_sync_event, core, step,
                             use == USE_NOTIFY ? "the event is notified twice"
                             : use == USE_WAIT ? "the event is waited for twice"
                                               : "the word is reset twice"))
            diag_note(checker->diags, sync_step_span(checker, first.core, first.step),
                      "the first time is %s", sync_step_text(checker, first.core, first.step));
        return false;
    }
    words->uses[slot].of[use].step = step;
    words->uses[slot].of[use].core = core;
    return true;
}

bool sync_words_collect(struct sync_words *words)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &words->checker->proof.tracks[core];
        for (uint32_t i = 0; i < track->count; i++)
            if (track->steps[i].effect == EFFECT_EVENT)
                ok = add_use(words, core, i) && ok;
    }
    return ok;
}

/* ------------------------------------------------------------------------------ words ---- */

static struct span word_span(const struct sync_word *word)
{
    enum op_part part = word->slot->kind == SLOT_SEND   ? OP_SEND
                        : word->slot->kind == SLOT_RECV ? OP_RECV
                                                        : OP_TYPE_NAME;
    return locate_op(word->checker->module, sync_op(word->checker->subject, word->place), part,
                     word->index);
}

const struct sync_point *sync_word_call(const struct sync_word *word, enum core_type core)
{
    return &word->checker->subject->placed[word->place].call[core];
}

enum core_type sync_word_main_core(const struct sync_word *word)
{
    return sync_word_call(word, CORE_AIC)->step != NONE ? CORE_AIC : CORE_AIV;
}

bool sync_report_word(const struct sync_word *word, const char *format, ...)
{
    const struct sync_checker *checker = word->checker;
    struct arena *arena = &checker->diags->arena;
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    if (!diag_at(checker->diags, DIAG_sync_event, word_span(word), "entry '@%.*s' %s",
                 NAME(checker->module, checker->entry->name), text))
        return false;
    diag_field(checker->diags, "entry", name_text(checker->module, checker->entry->name, arena));
    diag_field(checker->diags, "op", sync_op_text(checker, word->place));
    diag_field(checker->diags, "slot", arena_printf(arena, "%u", word->number));
    if (word->slot->id != NONE)
        diag_field(checker->diags, "event", name_text(checker->module, word->slot->id, arena));
    return true;
}

const char *sync_word_instr(const struct sync_word *word, const char *before, const char *name)
{
    return arena_printf(&word->checker->diags->arena, "%s%s %u", before, name, word->number);
}

bool sync_report_early_reset(const struct sync_checker *checker, const struct sync_point *wait,
                             const struct sync_point *reset)
{
    if (sync_report_step(checker, DIAG_sync_event, reset->core, reset->step,
                         "this may reset the event's word before it is waited for"))
        diag_note(checker->diags, sync_step_span(checker, wait->core, wait->step),
                  "put it behind %s, in the same program",
                  sync_step_text(checker, wait->core, wait->step));
    return false;
}
