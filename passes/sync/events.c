#include "ir/event_sides.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/words.h"

/* The lock of a dynamic kernel: closed again when all cores have chosen their function. */

/* The first select of the op that may not be over everywhere at a point, or NONE. */
static enum core_type open_select(const struct sync_word *word, const struct sync_point *point)
{
    const struct sync_placed *placed = &word->checker->subject->placed[word->place];
    for (int core = 0; core < CORE_TYPES; core++) {
        if (placed->select[core] == NONE)
            continue;
        struct sync_point select = sync_point_all(word->checker, core, placed->select[core]);
        if (!sync_is_passed(&word->checker->proof, &select, point))
            return core;
    }
    return CORE_TYPES;
}

static void help_unlock(const struct sync_word *word)
{
    const struct sync_placed *placed = &word->checker->subject->placed[word->place];
    enum core_type core = sync_word_main_core(word);
    const char *group = core_type_name(core);
    const struct group_name *name = &word->checker->subject->groups[word->place];
    diag_help(
        word->checker->diags,
        "write 'reset lock %s' behind a barrier that all cores arrive at behind %s%s%s, so at the "
        "latest at the end, behind 'arrive %s await %s'",
        args_name_text(word->checker->module, name->name, name->word, &word->checker->diags->arena),
        sync_step_text(word->checker, core, placed->select[core]),
        placed->select[1 - core] == NONE ? "" : " and ",
        placed->select[1 - core] == NONE
            ? ""
            : sync_step_text(word->checker, 1 - core, placed->select[1 - core]),
        group, group);
}

/* Parts of the proof. */
static bool sync_check_lock(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    if (!sync_is_used(word->words, word->number, USE_RESET)) {
        if (sync_report_word(word, "does not reset the lock of this op's dynamic kernel"))
            help_unlock(word);
        return false;
    }
    struct sync_point reset = sync_use_point(word->words, word->number, USE_RESET);
    enum core_type open = open_select(word, &reset);
    if (open == CORE_TYPES)
        return true;
    if (sync_report_step(
            checker, DIAG_sync_event, reset.core, reset.step,
            open == CORE_AIC
                ? "this may reset the lock before every aic has selected the kernel"
                : "this may reset the lock before every aiv has selected the kernel")) {
        uint32_t select = checker->subject->placed[word->place].select[open];
        struct sync_point selects = sync_point_all(checker, open, select);
        diag_note(checker->diags, sync_step_span(checker, open, select), "they do at %s",
                  sync_step_text(checker, open, select));
        if (sync_is_before(checker, &reset, &selects)) {
            sync_help_take_out(checker, &reset);
            help_unlock(word);
        } else {
            sync_help_order(checker, &selects, &reset);
        }
    }
    return false;
}

/* Events of entries by themselves. */

/* Of an entry that is for no super kernel, nobody says what its words are for but its arguments. */
struct use_at {
    bool lock;
    uint32_t name, step; /* of an event, or the group of a lock */
    enum sync_use use;
    enum core_type core;
};

struct uses_at {
    struct use_at *at;
    uint32_t count, capacity;
};

static int compare_uses(const void *a, const void *b)
{
    const struct use_at *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock ? 1 : -1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->use != y->use)
        return x->use < y->use ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

static struct uses_at find_uses(const struct sync_checker *checker)
{
    struct uses_at uses = {NULL, 0, 0};
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        for (uint32_t i = 0; i < track->count; i++) {
            if (track->steps[i].effect != EFFECT_EVENT)
                continue;
            const struct instr *instr = sync_instr(&checker->proof, core, i);
            vec_push(&uses, (struct use_at){instr->word, instr->number[0], i,
                                            sync_use_of(instr->op), core});
        }
    }
    if (uses.count)
        qsort(uses.at, uses.count, sizeof *uses.at, compare_uses);
    return uses;
}

/* Each reset of a word comes behind the last wait of each program. */
static bool check_word_resets(const struct sync_checker *checker, const struct use_at *uses,
                              uint32_t count)
{
    const struct use_at *last[CORE_TYPES] = {NULL, NULL};
    for (uint32_t i = 0; i < count; i++) {
        if (uses[i].use == USE_WAIT)
            last[uses[i].core] = &uses[i];
        for (int core = 0; uses[i].use == USE_RESET && core < CORE_TYPES; core++) {
            if (!last[core])
                continue;
            struct sync_point wait = {last[core]->core, last[core]->step, SYNC_CORE_ZERO};
            struct sync_point reset = {uses[i].core, uses[i].step, SYNC_CORE_ZERO};
            if (!sync_is_passed(&checker->proof, &wait, &reset))
                return sync_report_early_reset(checker, &wait, &reset);
        }
    }
    return true;
}

/* The uses of one word, notifies first, then waits, then resets. */
static bool check_own_word(const struct sync_checker *checker, const struct event_slots *slots,
                       const struct use_at *uses, uint32_t count)
{
    if (count > 1 && uses[1].use == USE_NOTIFY) {
        if (sync_report_step(checker, DIAG_sync_event, uses[1].core, uses[1].step,
                             "the event is notified twice"))
            diag_note(checker->diags, sync_step_span(checker, uses[0].core, uses[0].step),
                      "the first time is %s", sync_step_text(checker, uses[0].core, uses[0].step));
        return false;
    }
    const struct use_at *last = &uses[count - 1];
    if (last->use == USE_WAIT && id_map_find(&slots->recvs, last->name) != NONE) {
        if (sync_report_step(checker, DIAG_sync_event, last->core, last->step,
                             "nothing resets the event's word, so the next launch would not wait "
                             "for it"))
            sync_help(checker,
                      arena_printf(&checker->diags->arena, "reset %.*s",
                                   NAME(checker->module, last->name)),
                      SYNC_BEHIND, last->core, checker->proof.tracks[last->core].count - 1);
        return false;
    }
    return check_word_resets(checker, uses, count);
}

/* Events of an entry that is for no super kernel. */
static bool sync_check_own_events(struct sync_checker *checker)
{
    struct uses_at uses = find_uses(checker);
    struct event_slots slots = {{NULL, 0, 0}, {NULL, 0, 0}};
    bool ok = true;
    event_slots_take(&slots, checker->entry);
    for (uint32_t i = 0, end; i < uses.count; i = end) {
        for (end = i + 1; end < uses.count && uses.at[end].name == uses.at[i].name &&
                          uses.at[end].lock == uses.at[i].lock;
             end++)
            ;
        ok = check_own_word(checker, &slots, uses.at + i, end - i) && ok;
    }
    event_slots_free(&slots);
    vec_free(&uses);
    return ok;
}

/* Events of a super kernel: notified when the op is complete, awaited before it starts, reset for
 * the next launch. */

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
