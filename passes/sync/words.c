#include "passes/sync/words.h"
#include "ir/syntax/locate.h"

/* -------------------------------------------------------------------------- slot uses ---- */

struct sync_point sync_use_point(const struct sync_words *words, uint32_t slot, enum sync_use use)
{
    const struct word_uses *uses = sync_word_uses(words, slot);
    return (struct sync_point){uses->of[use].core, uses->of[use].step, SYNC_CORE_ZERO};
}

bool sync_is_used(const struct sync_words *words, uint32_t slot, enum sync_use use)
{
    return sync_word_uses(words, slot)->of[use].step != NONE;
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

/* The event that is none for this use, or not at all. */
static const struct slot *event_slot(const struct sync_subject *subject, uint32_t name)
{
    uint32_t index = id_map_find(&subject->events->index, name);
    const struct sync_event *event = index == NONE ? NULL : &subject->events->list.at[index];
    uint32_t slot = !event ? NONE : event->send_slot != NONE ? event->send_slot : event->recv_slot;
    return slot == NONE ? NULL : &subject->slots.at[slot];
}

static void report_wrong_use(const struct sync_words *words, enum core_type core, uint32_t step,
                             const struct instr *instr)
{
    const struct sync_checker *checker = words->checker;
    const struct sync_subject *subject = checker->subject;
    enum sync_use use = sync_use_of(instr->op);
    const struct slot *is = instr->word ? NULL : event_slot(subject, instr->number[0]);
    const char *text = instr->word ? "this is the lock of no dynamic kernel of an op"
                       : use == USE_RESET
                           ? "no op receives this event from outside: it is not reset"
                       : use == USE_WAIT ? "no op receives this event from outside"
                                         : "no op sends this event to the outside";
    if (!sync_report_step(checker, DIAG_sync_event, core, step, text) || !is)
        return;
    diag_help(checker->diags, "'%.*s' is an event that an op here %s",
              NAME(checker->module, is->id),
              !sync_is_outer(subject, is) ? "sends to another: that is an order, not memory"
              : is->kind == SLOT_SEND     ? "sends: 'notify' is for it"
                                          : "receives: 'wait_event' and 'reset' are for it");
}

/* The slot that an instruction is for, or NONE. */
static uint32_t used_slot(const struct sync_checker *checker, const struct instr *instr)
{
    const struct sync_subject *subject = checker->subject;
    uint32_t slot = NONE;
    if (instr->word) {
        uint32_t place = checker->called.place[instr->number[0]];
        for (uint32_t i = place != NONE ? subject->first_slot[place] : NONE;
             i != NONE && i < subject->end_slot[place]; i++)
            if (subject->slots.at[i].kind == SLOT_LOCK)
                slot = i;
    } else {
        uint32_t event = id_map_find(&subject->events->index, instr->number[0]);
        if (event != NONE)
            slot = instr->op == INSTR_notify ? subject->events->list.at[event].send_slot
                                             : subject->events->list.at[event].recv_slot;
    }
    bool may = slot != NONE && may_use(subject, &subject->slots.at[slot], sync_use_of(instr->op));
    return may ? slot : NONE;
}

static bool report_twice(const struct sync_words *words, uint32_t slot, enum sync_use use,
                         enum core_type core, uint32_t step)
{
    const struct sync_checker *checker = words->checker;
    struct sync_point first = sync_use_point(words, slot, use);
    if (sync_report_step(checker, DIAG_sync_event, core, step,
                         use == USE_NOTIFY ? "the event is notified twice"
                         : use == USE_WAIT ? "the event is waited for twice"
                                           : "the word is reset twice"))
        diag_note(checker->diags, sync_step_span(checker, first.core, first.step),
                  "the first time is %s", sync_step_text(checker, first.core, first.step));
    return false;
}

static void add_wait(const struct sync_words *words, uint32_t slot, enum core_type core,
                     uint32_t step)
{
    const struct sync_subject *subject = words->checker->subject;
    struct word_uses *uses = sync_word_uses(words, slot);
    uses->waits++;
    if (uses->first_wait[core] == NONE)
        uses->first_wait[core] = step;
    sync_event(subject, subject->slots.at[slot].id)->last_wait[core] = step;
}

/* An event may be waited for once for each op that receives it; one wait may do for all. */
static bool add_use(struct sync_words *words, enum core_type core, uint32_t step)
{
    const struct instr *instr = sync_instr(&words->checker->proof, core, step);
    enum sync_use use = sync_use_of(instr->op);
    uint32_t slot = used_slot(words->checker, instr);
    if (slot == NONE) {
        report_wrong_use(words, core, step, instr);
        return false;
    }
    struct word_uses *uses = sync_word_uses(words, slot);
    bool first = !sync_is_used(words, slot, use);
    if (!first && (use != USE_WAIT || uses->waits == uses->receivers))
        return report_twice(words, slot, use, core, step);
    if (use == USE_WAIT)
        add_wait(words, slot, core, step);
    if (first) {
        uses->of[use].step = step;
        uses->of[use].core = core;
    }
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
    diag_field(checker->diags, "slot", arena_printf(arena, "%u", 1 + word->number));
    if (word->slot->id != NONE)
        diag_field(checker->diags, "event", name_text(checker->module, word->slot->id, arena));
    return true;
}

uint32_t sync_word_slot(const struct sync_word *word)
{
    return word->slot->kind == SLOT_RECV
               ? sync_event(word->checker->subject, word->slot->id)->recv_slot
               : word->number;
}

const char *sync_word_instr(const struct sync_word *word, const char *before, const char *name)
{
    return arena_printf(&word->checker->diags->arena, "%s%s %.*s", before, name,
                        NAME(word->checker->module, word->slot->id));
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
