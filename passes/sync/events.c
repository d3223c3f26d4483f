/* The words in memory that an entry shares with others: events, the locks of dynamic kernels, and the
 * workspace of fed barriers. Core 0 of a program's type alone executes the instructions of events. */
#include "ir/syntax/locate.h"
#include "passes/sync/report.h"

static const struct span no_span = {0, 0};

/* -------------------------------------------------------------------------- slot uses ---- */

/* What the entry does with a slot's word: steps, NONE for never, and the programs they stand in. */
enum use { USE_NOTIFY, USE_WAIT, USE_RESET, USE_COUNT };

struct word_uses {
    struct {
        uint32_t step;
        enum core_type core;
    } of[USE_COUNT];
};

struct sync_words {
    struct sync_checker *checker;
    struct word_uses *uses; /* by slot */
    uint32_t count;         /* slots, with slot 0 */
};

static enum use use_of(enum instr_op op)
{
    return op == INSTR_notify ? USE_NOTIFY : op == INSTR_wait_event ? USE_WAIT : USE_RESET;
}

static struct sync_point use_point(const struct sync_words *words, uint32_t slot, enum use use)
{
    return (struct sync_point){words->uses[slot].of[use].core, words->uses[slot].of[use].step,
                               SYNC_CORE_ZERO};
}

static bool is_used(const struct sync_words *words, uint32_t slot, enum use use)
{
    return words->uses[slot].of[use].step != NONE;
}

/* Whether the slot is the word of an event that crosses the super kernel's border. */
static bool is_outer(const struct sync_subject *subject, const struct slot *slot)
{
    const struct sync_event *event = sync_event(subject, slot->id);
    return slot->kind == SLOT_SEND ? event->leaves : event->sender != subject->block;
}

static bool may_use(const struct sync_subject *subject, const struct slot *slot, enum use use)
{
    switch (slot->kind) {
    case SLOT_SEND: return use == USE_NOTIFY && is_outer(subject, slot);
    case SLOT_RECV: return use != USE_NOTIFY && is_outer(subject, slot);
    case SLOT_LOCK: return use == USE_RESET;
    default: return false;
    }
}

static void report_wrong_slot(const struct sync_words *words, enum core_type core, uint32_t step,
                              uint32_t slot, enum use use)
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
    diag_note(checker->diags, no_span, "slot %u is event '%.*s', which an op here %s", slot,
              NAME(checker->module, is->id),
              !is_outer(subject, is)  ? "sends to another: that is an order, not memory"
              : is->kind == SLOT_SEND ? "sends: 'notify' is for it"
                                      : "receives: 'wait_event' and 'reset' are for it");
}

static bool add_use(struct sync_words *words, enum core_type core, uint32_t step)
{
    const struct sync_checker *checker = words->checker;
    const struct instr *instr = sync_instr(&checker->proof, core, step);
    const struct sync_subject *subject = checker->subject;
    uint32_t slot = instr->number[0];
    enum use use = use_of(instr->op);
    if (!slot || slot >= words->count || !may_use(subject, &subject->slots.at[slot - 1], use)) {
        report_wrong_slot(words, core, step, slot, use);
        return false;
    }
    if (is_used(words, slot, use)) {
        struct sync_point first = use_point(words, slot, use);
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

static bool collect_uses(struct sync_words *words)
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

/* One slot of an op. */
struct sync_word {
    struct sync_checker *checker;
    const struct sync_words *words;
    const struct slot *slot;
    uint32_t place;  /* of the op */
    uint32_t number; /* of the slot in the entry */
    uint32_t index;  /* among the op's slots of this kind: the place in its `send` or `recv` */
};

static struct span word_span(const struct sync_word *word)
{
    enum op_part part = word->slot->kind == SLOT_SEND   ? OP_SEND
                        : word->slot->kind == SLOT_RECV ? OP_RECV
                                                        : OP_TYPE_NAME;
    return locate_op(word->checker->module, sync_op(word->checker->subject, word->place), part,
                     word->index);
}

static const struct sync_point *word_call(const struct sync_word *word, enum core_type core)
{
    return &word->checker->subject->placed[word->place].call[core];
}

/* The core type whose core 0 deals with the op's events: the cube's, if it has a part there. */
static enum core_type main_core(const struct sync_word *word)
{
    return word_call(word, CORE_AIC)->step != NONE ? CORE_AIC : CORE_AIV;
}

static bool report_word(const struct sync_word *word, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports at the op's event; `format` follows the entry's name. */
static bool report_word(const struct sync_word *word, const char *format, ...)
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

static const char *instr_on(const struct sync_word *word, const char *before, const char *name)
{
    return arena_printf(&word->checker->diags->arena, "%s%s %u", before, name, word->number);
}

/* ----------------------------------------------------------------------- sent events ---- */

/* The first part of the op that core 0 does not know to be complete at a point, or NULL. */
static const struct sync_point *open_part(const struct sync_word *word,
                                          const struct sync_point *point)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = word_call(word, core);
        if (call->step != NONE && !sync_is_done(&word->checker->proof, call, point))
            return call;
    }
    return NULL;
}

/* The first step of a program whose core 0 knows the op to be complete, or NONE. */
static uint32_t first_complete(const struct sync_word *word, enum core_type core)
{
    const struct sync_track *track = &word->checker->proof.tracks[core];
    for (uint32_t i = word_call(word, core)->step + 1; i < track->count; i++)
        if (!open_part(word, &(struct sync_point){core, i, SYNC_CORE_ZERO}))
            return i;
    return NONE;
}

static void help_notify(const struct sync_word *word)
{
    enum core_type core = main_core(word);
    const struct sync_point *call = word_call(word, core), *other = word_call(word, 1 - core);
    uint32_t complete = first_complete(word, core);
    bool aic = core == CORE_AIC;
    if (complete != NONE) {
        bool waits = word->checker->proof.tracks[core].steps[complete].effect == EFFECT_AWAIT ||
                     word->checker->proof.tracks[core].steps[complete].effect == EFFECT_WAIT;
        sync_help(word->checker, instr_on(word, "", "notify"), waits ? SYNC_BEHIND : SYNC_BEFORE,
                  core, complete);
    } else if (other->step == NONE) {
        sync_help(word->checker,
                  instr_on(word, aic ? "arrive aic await aic " : "arrive aiv await aiv ", "notify"),
                  SYNC_BEHIND, core, call->step);
    } else {
        sync_help(word->checker, "arrive aiv await aiv set v2c", SYNC_BEHIND, 1 - core,
                  other->step);
        sync_help(word->checker, instr_on(word, "arrive aic await aic wait v2c ", "notify"),
                  SYNC_BEHIND, core, call->step);
    }
}

static bool check_sent(const struct sync_word *word)
{
    const struct module *module = word->checker->module;
    if (!is_used(word->words, word->number, USE_NOTIFY)) {
        if (report_word(word, "does not notify event '%.*s', which this op sends",
                        NAME(module, word->slot->id)))
            help_notify(word);
        return false;
    }
    struct sync_point notify = use_point(word->words, word->number, USE_NOTIFY);
    const struct sync_point *part = open_part(word, &notify);
    if (!part)
        return true;
    if (report_word(word, "notifies event '%.*s' before this op is sure to be complete on every %s",
                    NAME(module, word->slot->id), core_type_name(part->core))) {
        diag_note(word->checker->diags, sync_step_span(word->checker, notify.core, notify.step),
                  "it is notified at %s", sync_step_text(word->checker, notify.core, notify.step));
        sync_explain_order(word->checker, part, &notify);
    }
    return false;
}

/* ------------------------------------------------------------------- received events ---- */

static void help_wait(const struct sync_word *word)
{
    enum core_type core = main_core(word);
    const struct sync_point *call = word_call(word, core), *other = word_call(word, 1 - core);
    struct arena *arena = &word->checker->diags->arena;
    const char *group = core_type_name(core);
    sync_help(word->checker,
              arena_printf(arena, "wait_event %u arrive %s await %s%s", word->number, group, group,
                           other->step == NONE ? ""
                           : core == CORE_AIC  ? " set c2v"
                                               : " set v2c"),
              SYNC_BEFORE, core, call->step);
    if (other->step != NONE)
        sync_help(word->checker, core == CORE_AIC ? "wait c2v" : "wait v2c", SYNC_BEFORE, 1 - core,
                  other->step);
}

static bool check_waited(const struct sync_word *word)
{
    const struct module *module = word->checker->module;
    if (!is_used(word->words, word->number, USE_WAIT)) {
        if (report_word(word, "does not wait for event '%.*s', which this op receives",
                        NAME(module, word->slot->id)))
            help_wait(word);
        return false;
    }
    struct sync_point wait = use_point(word->words, word->number, USE_WAIT);
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = word_call(word, core);
        if (call->step == NONE || sync_is_passed(&word->checker->proof, &wait, call))
            continue;
        if (report_word(word,
                        "does not tell every %s that event '%.*s' has come before this op "
                        "starts there",
                        core_type_name(core), NAME(module, word->slot->id))) {
            diag_note(word->checker->diags, sync_step_span(word->checker, wait.core, wait.step),
                      "core 0 alone waits for it, at %s",
                      sync_step_text(word->checker, wait.core, wait.step));
            sync_help_order(word->checker, &wait, call);
        }
        return false;
    }
    return true;
}

static bool check_reset(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    struct sync_point wait = use_point(word->words, word->number, USE_WAIT);
    if (!is_used(word->words, word->number, USE_RESET)) {
        if (report_word(word,
                        "does not reset the word of event '%.*s', so that the next launch "
                        "would not wait for it",
                        NAME(checker->module, word->slot->id)))
            sync_help(checker, instr_on(word, "", "reset"), SYNC_BEHIND, wait.core,
                      checker->proof.tracks[wait.core].count - 1);
        return false;
    }
    struct sync_point reset = use_point(word->words, word->number, USE_RESET);
    const uint32_t *last = sync_event(checker->subject, word->slot->id)->last_wait;
    for (int core = 0; core < CORE_TYPES; core++) {
        wait = (struct sync_point){core, last[core], SYNC_CORE_ZERO};
        if (last[core] == NONE || sync_is_passed(&checker->proof, &wait, &reset))
            continue;
        if (sync_report_step(checker, DIAG_sync_event, reset.core, reset.step,
                             "this may reset the event's word before it is waited for"))
            diag_note(checker->diags, sync_step_span(checker, core, wait.step),
                      "put it behind %s, in the same program",
                      sync_step_text(checker, core, wait.step));
        return false;
    }
    return true;
}

static bool check_received(const struct sync_word *word)
{
    return check_waited(word) && check_reset(word);
}

/* The same event may be received by several ops: no reset may come before any of the waits. */
static void mark_wait(const struct sync_word *word, bool mark)
{
    uint32_t *last = sync_event(word->checker->subject, word->slot->id)->last_wait;
    if (!is_used(word->words, word->number, USE_WAIT))
        return;
    struct sync_point wait = use_point(word->words, word->number, USE_WAIT);
    if (!mark)
        last[wait.core] = NONE;
    else if (last[wait.core] == NONE || last[wait.core] < wait.step)
        last[wait.core] = wait.step;
}

/* ------------------------------------------------------------------------------ locks ---- */

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
    enum core_type core = main_core(word);
    const char *group = core_type_name(core);
    diag_note(word->checker->diags, no_span,
              "write 'reset %u' behind a barrier that all cores arrive at behind %s%s%s, so at the "
              "latest at the end, behind 'arrive %s await %s'",
              word->number, sync_step_text(word->checker, core, placed->select[core]),
              placed->select[1 - core] == NONE ? "" : " and ",
              placed->select[1 - core] == NONE
                  ? ""
                  : sync_step_text(word->checker, 1 - core, placed->select[1 - core]),
              group, group);
}

static bool check_lock(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    if (!is_used(word->words, word->number, USE_RESET)) {
        if (report_word(word, "does not reset the lock of this op's dynamic kernel, slot %u",
                        word->number))
            help_unlock(word);
        return false;
    }
    struct sync_point reset = use_point(word->words, word->number, USE_RESET);
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
        sync_help_order(checker, &selects, &reset);
    }
    return false;
}

/* ---------------------------------------------------------------------------- driving ---- */

static bool check_word(const struct sync_word *word)
{
    switch (word->slot->kind) {
    case SLOT_SEND: return !is_outer(word->checker->subject, word->slot) || check_sent(word);
    case SLOT_RECV: return !is_outer(word->checker->subject, word->slot) || check_received(word);
    case SLOT_LOCK: return check_lock(word);
    default: return true;
    }
}

enum visit { VISIT_MARK, VISIT_CHECK, VISIT_UNMARK };

static bool visit_words(const struct sync_words *words, enum visit visit)
{
    const struct sync_subject *subject = words->checker->subject;
    bool ok = true;
    for (uint32_t place = 0; place < subject->count; place++) {
        struct sync_word word = {.checker = words->checker, .words = words, .place = place};
        for (uint32_t i = subject->first_slot[place]; i < subject->first_slot[place + 1]; i++) {
            word.slot = &subject->slots.at[i];
            word.number = i + 1; /* slot 0 is the sync base address */
            bool same = i > subject->first_slot[place] && word.slot[-1].kind == word.slot->kind;
            word.index = same ? word.index + 1 : 0;
            if (visit == VISIT_CHECK)
                ok = check_word(&word) && ok;
            else if (word.slot->kind == SLOT_RECV)
                mark_wait(&word, visit == VISIT_MARK);
        }
    }
    return ok;
}

static bool check_subject_events(struct sync_checker *checker)
{
    struct sync_words words = {.checker = checker, .count = checker->subject->slots.count + 1};
    words.uses = mem_calloc(words.count, sizeof *words.uses);
    for (uint32_t slot = 0; slot < words.count; slot++)
        for (int use = 0; use < USE_COUNT; use++)
            words.uses[slot].of[use].step = NONE;
    bool ok = collect_uses(&words);
    if (ok) {
        visit_words(&words, VISIT_MARK);
        ok = visit_words(&words, VISIT_CHECK);
        visit_words(&words, VISIT_UNMARK);
    }
    mem_free(words.uses);
    return ok;
}

/* ------------------------------------------------------------------- entries by themselves ---- */

/* Of an entry that is for no super kernel, nobody says what its slots are for but its `params`. */
struct use_at {
    uint32_t slot, step;
    enum use use;
    enum core_type core;
};

struct uses_at {
    struct use_at *at;
    uint32_t count, capacity;
};

static int compare_uses(const void *a, const void *b)
{
    const struct use_at *x = a, *y = b;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
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
            vec_push(&uses, (struct use_at){instr->number[0], i, use_of(instr->op), core});
        }
    }
    if (uses.count)
        qsort(uses.at, uses.count, sizeof *uses.at, compare_uses);
    return uses;
}

/* Whether `params` says that the slot is a received event. */
static bool is_received_slot(const struct sync_checker *checker, uint32_t slot)
{
    const struct module *module = checker->module;
    const struct attr *params = attr_find(module, checker->entry->attrs, W_params);
    if (!params || params->value.kind != ATTR_LIST || slot >= params->value.count)
        return false;
    const struct attr_value *value = &module->attr_values.at[params->value.first + slot];
    return value->kind == ATTR_DICT && value->count == 1 &&
           module->attrs.at[value->first].key == W_recv;
}

static bool report_early_reset(const struct sync_checker *checker, const struct use_at *wait,
                               const struct use_at *reset)
{
    if (sync_report_step(checker, DIAG_sync_event, reset->core, reset->step,
                         "this may reset the event's word before it is waited for"))
        diag_note(checker->diags, sync_step_span(checker, wait->core, wait->step),
                  "put it behind %s, in the same program",
                  sync_step_text(checker, wait->core, wait->step));
    return false;
}

/* Each reset of a slot comes behind the last wait of each program. */
static bool check_slot_resets(const struct sync_checker *checker, const struct use_at *uses,
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
                return report_early_reset(checker, last[core], &uses[i]);
        }
    }
    return true;
}

/* The uses of one slot, notifies first, then waits, then resets. */
static bool check_slot(const struct sync_checker *checker, const struct use_at *uses,
                       uint32_t count)
{
    if (count > 1 && uses[1].use == USE_NOTIFY) {
        if (sync_report_step(checker, DIAG_sync_event, uses[1].core, uses[1].step,
                             "the event is notified twice"))
            diag_note(checker->diags, sync_step_span(checker, uses[0].core, uses[0].step),
                      "the first time is %s", sync_step_text(checker, uses[0].core, uses[0].step));
        return false;
    }
    const struct use_at *last = &uses[count - 1];
    if (last->use == USE_WAIT && is_received_slot(checker, last->slot)) {
        if (sync_report_step(checker, DIAG_sync_event, last->core, last->step,
                             "nothing resets the event's word, so the next launch would not wait "
                             "for it"))
            sync_help(checker, arena_printf(&checker->diags->arena, "reset %u", last->slot),
                      SYNC_BEHIND, last->core, checker->proof.tracks[last->core].count - 1);
        return false;
    }
    return check_slot_resets(checker, uses, count);
}

static bool check_own_events(struct sync_checker *checker)
{
    struct uses_at uses = find_uses(checker);
    bool ok = true;
    for (uint32_t i = 0, end; i < uses.count; i = end) {
        for (end = i + 1; end < uses.count && uses.at[end].slot == uses.at[i].slot; end++)
            ;
        ok = check_slot(checker, uses.at + i, end - i) && ok;
    }
    vec_free(&uses);
    return ok;
}

bool sync_check_events(struct sync_checker *checker)
{
    return checker->subject ? check_subject_events(checker) : check_own_events(checker);
}
