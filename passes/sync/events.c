/* Events of a super kernel: notified when the op is complete, awaited before it starts, reset for
 * the next launch. */
#include "ir/event_sides.h"
#include "ir/syntax/locate.h"
#include "passes/sync/words.h"

/* ----------------------------------------------------------------------- sent events ---- */

/* The first part of the op that core 0 does not know to be complete at a point, or NULL. */
static const struct sync_point *open_part(const struct sync_word *word,
                                          const struct sync_point *point)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = sync_word_call(word, core);
        if (call->step != NONE && !sync_is_ended(&word->checker->proof, call, point))
            return call;
    }
    return NULL;
}

/* The first step of a program whose core 0 knows the op to be complete, or NONE. */
static uint32_t first_complete(const struct sync_word *word, enum core_type core)
{
    const struct sync_track *track = &word->checker->proof.tracks[core];
    for (uint32_t i = sync_word_call(word, core)->step + 1; i < track->count; i++)
        if (!open_part(word, &(struct sync_point){core, i, SYNC_CORE_ZERO}))
            return i;
    return NONE;
}

static void help_notify(const struct sync_word *word)
{
    enum core_type core = sync_word_main_core(word);
    const struct sync_point *call = sync_word_call(word, core),
                            *other = sync_word_call(word, 1 - core);
    uint32_t complete = first_complete(word, core);
    bool aic = core == CORE_AIC;
    if (complete != NONE) {
        bool waits = word->checker->proof.tracks[core].steps[complete].effect == EFFECT_AWAIT ||
                     word->checker->proof.tracks[core].steps[complete].effect == EFFECT_WAIT;
        sync_help(word->checker, sync_word_instr(word, "", "notify"),
                  waits ? SYNC_BEHIND : SYNC_BEFORE, core, complete);
    } else if (other->step == NONE) {
        sync_help(word->checker,
                  sync_word_instr(word, aic ? "arrive aic await aic " : "arrive aiv await aiv ",
                                  "notify"),
                  SYNC_BEHIND, core, call->step);
    } else {
        sync_help(word->checker, "arrive aiv await aiv set v2c", SYNC_BEHIND, 1 - core,
                  other->step);
        sync_help(word->checker, sync_word_instr(word, "arrive aic await aic wait v2c ", "notify"),
                  SYNC_BEHIND, core, call->step);
    }
}

/* The first in the graph that waits for the event. */
static void note_receiver(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    const struct graph *graph = checker->subject->graph;
    struct event_sides recvs = event_sides_find(graph, W_recv);
    uint32_t i = 0;
    while (i < recvs.count && recvs.at[i].event != word->slot->id)
        i++;
    if (i < recvs.count)
        diag_note(checker->diags, locate_event_side(checker->module, graph, &recvs.at[i], OP_RECV),
                  "this waits for '%.*s'", NAME(checker->module, word->slot->id));
    vec_free(&recvs);
}

static bool check_sent(const struct sync_word *word)
{
    const struct module *module = word->checker->module;
    if (!sync_is_used(word->words, word->number, USE_NOTIFY)) {
        if (sync_report_word(word, "does not notify event '%.*s', which this op sends",
                             NAME(module, word->slot->id))) {
            help_notify(word);
            note_receiver(word);
        }
        return false;
    }
    struct sync_point notify = sync_use_point(word->words, word->number, USE_NOTIFY);
    const struct sync_point *part = open_part(word, &notify);
    if (!part)
        return true;
    if (sync_report_word(word,
                         "notifies event '%.*s' before this op is sure to be complete on every %s",
                         NAME(module, word->slot->id), core_type_name(part->core))) {
        diag_note(word->checker->diags, sync_step_span(word->checker, notify.core, notify.step),
                  "it is notified at %s", sync_step_text(word->checker, notify.core, notify.step));
        if (sync_is_before(word->checker, &notify, part)) {
            sync_help_take_out(word->checker, &notify);
            help_notify(word);
        } else {
            sync_explain_order(word->checker, part, &notify);
        }
    }
    return false;
}

/* ------------------------------------------------------------------- received events ---- */

static void help_wait(const struct sync_word *word)
{
    enum core_type core = sync_word_main_core(word);
    const struct sync_point *call = sync_word_call(word, core),
                            *other = sync_word_call(word, 1 - core);
    struct arena *arena = &word->checker->diags->arena;
    const char *group = core_type_name(core);
    sync_help(word->checker,
              arena_printf(arena, "%s arrive %s await %s%s",
                           sync_word_instr(word, "", "wait_event"), group, group,
                           other->step == NONE ? ""
                           : core == CORE_AIC  ? " set c2v"
                                               : " set v2c"),
              SYNC_BEFORE, core, call->step);
    if (other->step != NONE)
        sync_help(word->checker, core == CORE_AIC ? "wait c2v" : "wait v2c", SYNC_BEFORE, 1 - core,
                  other->step);
}

/* The first call of the op that a wait, the first of a program, is not known to be passed by; NULL
 * where there is none. */
static const struct sync_point *unwarned_call(const struct sync_word *word,
                                              const struct sync_point *wait)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = sync_word_call(word, core);
        if (call->step == NONE)
            continue;
        struct sync_point begin = sync_begin(&word->checker->proof, call);
        if (!sync_is_passed(&word->checker->proof, wait, &begin))
            return call;
    }
    return NULL;
}

/* The first wait for the event in a program, at step NONE where it has none. */
static struct sync_point first_wait(const struct sync_word *word, enum core_type core)
{
    const struct word_uses *uses = sync_word_uses(word->words, sync_word_slot(word));
    return (struct sync_point){core, uses->first_wait[core], SYNC_CORE_ZERO};
}

/* The wait that the op's main core has, or the other. */
static struct sync_point main_wait(const struct sync_word *word)
{
    enum core_type core = sync_word_main_core(word);
    struct sync_point wait = first_wait(word, core);
    return wait.step != NONE ? wait : first_wait(word, 1 - core);
}

/* Whether the op is called on some core before a point, in every run. */
static bool is_called_before(const struct sync_word *word, const struct sync_point *point)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = sync_word_call(word, (enum core_type)core);
        if (call->step != NONE && sync_is_before(word->checker, call, point))
            return true;
    }
    return false;
}

static bool check_waited(const struct sync_word *word)
{
    const struct module *module = word->checker->module;
    if (!sync_is_used(word->words, sync_word_slot(word), USE_WAIT)) {
        if (sync_report_word(word, "does not wait for event '%.*s', which this op receives",
                             NAME(module, word->slot->id)))
            help_wait(word);
        return false;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_point wait = first_wait(word, (enum core_type)core);
        if (wait.step != NONE && !unwarned_call(word, &wait))
            return true;
    }
    struct sync_point wait = main_wait(word);
    const struct sync_point *call = unwarned_call(word, &wait);
    if (sync_report_word(word,
                         "does not tell every %s that event '%.*s' has come before this op "
                         "starts there",
                         core_type_name(call->core), NAME(module, word->slot->id))) {
        diag_note(word->checker->diags, sync_step_span(word->checker, wait.core, wait.step),
                  "core 0 alone waits for it, at %s",
                  sync_step_text(word->checker, wait.core, wait.step));
        if (is_called_before(word, &wait)) {
            sync_help_take_out(word->checker, &wait);
            help_wait(word);
        } else {
            sync_help_order(word->checker, &wait, call);
        }
    }
    return false;
}

static bool check_reset(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    if (!sync_is_used(word->words, word->number, USE_RESET)) {
        struct sync_point wait = main_wait(word);
        if (sync_report_word(word,
                             "does not reset the word of event '%.*s', so that the next launch "
                             "would not wait for it",
                             NAME(checker->module, word->slot->id)))
            sync_help(checker, sync_word_instr(word, "", "reset"), SYNC_BEHIND, wait.core,
                      checker->proof.tracks[wait.core].count - 1);
        return false;
    }
    struct sync_point reset = sync_use_point(word->words, word->number, USE_RESET);
    const uint32_t *last = sync_event(checker->subject, word->slot->id)->last_wait;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_point wait = {core, last[core], SYNC_CORE_ZERO};
        if (last[core] == NONE || sync_is_passed(&checker->proof, &wait, &reset))
            continue;
        return sync_report_early_reset(checker, &wait, &reset);
    }
    return true;
}

/* One reset is for all that receive the event. */
static bool check_received(const struct sync_word *word)
{
    return check_waited(word) && sync_check_circle(word) &&
           (sync_word_slot(word) != word->number || check_reset(word));
}

/* ---------------------------------------------------------------------------- driving ---- */

static bool check_word(const struct sync_word *word)
{
    switch (word->slot->kind) {
    case SLOT_SEND: return !sync_is_outer(word->checker->subject, word->slot) || check_sent(word);
    case SLOT_RECV:
        return !sync_is_outer(word->checker->subject, word->slot) || check_received(word);
    case SLOT_LOCK: return sync_check_lock(word);
    default: return true;
    }
}

static bool check_words(const struct sync_words *words)
{
    const struct sync_subject *subject = words->checker->subject;
    bool ok = true;
    for (uint32_t place = 0; place < subject->count; place++) {
        struct sync_word word = {.checker = words->checker, .words = words, .place = place};
        for (uint32_t i = subject->first_slot[place]; i < subject->end_slot[place]; i++) {
            word.slot = &subject->slots.at[i];
            word.number = i;
            bool same = i > subject->first_slot[place] && word.slot[-1].kind == word.slot->kind;
            word.index = same ? word.index + 1 : 0;
            ok = check_word(&word) && ok;
        }
    }
    return ok;
}

/* Most slots are those of tensors. */
static void add_slots(struct sync_words *words)
{
    const struct slots *slots = &words->checker->subject->slots;
    for (uint32_t i = 0; i < slots->count; i++) {
        enum slot_kind kind = slots->at[i].kind;
        if (kind != SLOT_SEND && kind != SLOT_RECV && kind != SLOT_LOCK)
            continue;
        struct word_uses none = {.first_wait = {NONE, NONE}};
        for (int use = 0; use < USE_COUNT; use++)
            none.of[use].step = NONE;
        id_map_set(&words->index, i, words->uses.count);
        vec_push(&words->uses, none);
    }
}

/* Where the entry has the words of events: of each, the slot that has its uses. */
static void find_slots(const struct sync_words *words)
{
    const struct sync_subject *subject = words->checker->subject;
    for (uint32_t i = 0; i < subject->slots.count; i++) {
        enum slot_kind kind = subject->slots.at[i].kind;
        if (kind != SLOT_SEND && kind != SLOT_RECV)
            continue;
        struct sync_event *event = sync_event(subject, subject->slots.at[i].id);
        uint32_t *first = kind == SLOT_SEND ? &event->send_slot : &event->recv_slot;
        if (*first == NONE)
            *first = i;
        sync_word_uses(words, *first)->receivers += kind == SLOT_RECV;
    }
}

static void forget_slots(const struct sync_subject *subject)
{
    for (uint32_t i = 0; i < subject->slots.count; i++) {
        enum slot_kind kind = subject->slots.at[i].kind;
        if (kind != SLOT_SEND && kind != SLOT_RECV)
            continue;
        struct sync_event *event = sync_event(subject, subject->slots.at[i].id);
        event->send_slot = event->recv_slot = NONE;
        event->last_wait[CORE_AIC] = event->last_wait[CORE_AIV] = NONE;
    }
}

static bool check_subject_events(struct sync_checker *checker)
{
    struct sync_words words = {.checker = checker};
    add_slots(&words);
    find_slots(&words);
    words.circles = sync_circles_new(&words);
    bool ok = sync_words_collect(&words) && check_words(&words);
    forget_slots(checker->subject);
    sync_circles_free(words.circles);
    id_map_free(&words.index);
    vec_free(&words.uses);
    return ok;
}

bool sync_check_events(struct sync_checker *checker)
{
    return checker->subject ? check_subject_events(checker) : sync_check_own_events(checker);
}
