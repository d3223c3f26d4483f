/* The words in memory that an entry shares with others: those of events, and the locks of dynamic
 * kernels. Core 0 of a program's type alone executes the instructions for them.
 *
 * Of an entry that is for a super kernel, three questions: what the programs do with each word
 * (`struct word_uses`); whether that is what the ops' events and locks demand (`check_sent`,
 * `check_received`, `check_lock`), which the proof answers for each word by itself; and whether an
 * event that is waited for can come at all, since its sender may wait for a later notification of
 * the same launch (`check_cycle`). For the last, ops outside are followed back along the graph's
 * order, each at most once, so all takes time in proportion to instructions and orders. Of an entry
 * that is for no super kernel, only the resets are checked. */
#include "ir/analysis/dep_graph.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/proof/check.h"

/* What the entry does with a word. */
enum use { USE_NOTIFY, USE_WAIT, USE_RESET, USES };

/* Of an event that several ops receive, the first one's slot has all uses. */
struct word_uses {
    struct sync_point of[USES];                             /* the first; step NONE: never */
    uint32_t first_wait[CORE_TYPES], last_wait[CORE_TYPES]; /* by program: steps, or NONE */
    uint32_t waits, receivers;                              /* how many */
};

/* The last notification of the launch in each program that an op outside waits for, itself or by
 * way of others; step NONE: none. Later ones know all that it does, so it counts for those before
 * it. One of the launch, too, starts after what it waits for, and notifies after that. */
struct outside {
    struct late {
        uint32_t step, op, event;
    } late[CORE_TYPES];
};

/* An op that is followed back, and the next of its edges. */
struct visit {
    uint32_t op, edge;
};

struct words {
    const struct sync_checker *checker;
    struct id_map index; /* by slot of the subject that has a word: its place in `uses` */
    VEC(struct word_uses) uses;
    /* By place of an event in the subject's list: the first slot of an op that sends it, and of one
     * that receives it. */
    struct id_map send_slots, recv_slots;
    /* Ops outside that were followed back: by op, the place in `outside`; those at work. None that
     * is before `first`, the super kernel's first op in the text, waits for it. */
    struct id_map followed;
    VEC(struct outside) outside;
    VEC(struct visit) open;
    uint32_t first;
};

/* One slot of an op. */
struct op_word {
    const struct words *words;
    const struct sync_checker *checker;
    const struct slot *slot;
    uint32_t place;  /* of the op */
    uint32_t number; /* of the slot in those of the subject; one more in the entry */
    uint32_t index;  /* among the op's slots of this kind: the place in its `send` or `recv` */
};

/* ------------------------------------------------------------------------------ uses ---- */

static enum use use_of(enum instr_op op)
{
    return op == INSTR_notify ? USE_NOTIFY : op == INSTR_wait_event ? USE_WAIT : USE_RESET;
}

static struct word_uses *uses_of(const struct words *words, uint32_t slot)
{
    return &words->uses.at[id_map_get(&words->index, slot)];
}

/* Whether the slot is the word of an event that crosses the super kernel's border. */
static bool is_outer(const struct sync_subject *subject, const struct slot *slot)
{
    const struct sync_event *event = sync_event(subject, slot->id);
    return slot->kind == SLOT_SEND ? event->leaves : event->sender != subject->block;
}

/* The slot that an instruction is for, or NONE: the lock of an op's dynamic kernel, or the word of
 * an event that crosses the super kernel's border. */
static uint32_t used_slot(const struct words *words, const struct instr *instr)
{
    const struct sync_subject *subject = words->checker->subject;
    if (instr->word) {
        uint32_t place = words->checker->called.place[instr->number[0]];
        uint32_t first = place == NONE ? 0 : subject->first_slot[place];
        uint32_t end = place == NONE ? 0 : subject->end_slot[place];
        while (first < end && subject->slots.at[first].kind != SLOT_LOCK)
            first++;
        return first < end ? first : NONE;
    }
    uint32_t event = id_map_find(&subject->events->index, instr->number[0]);
    if (event == NONE)
        return NONE;
    uint32_t slot =
        id_map_find(instr->op == INSTR_notify ? &words->send_slots : &words->recv_slots, event);
    return slot != NONE && is_outer(subject, &subject->slots.at[slot]) ? slot : NONE;
}

static bool report_wrong_use(const struct words *words, enum core_type core, uint32_t step,
                             const struct instr *instr)
{
    const struct sync_checker *checker = words->checker;
    const struct sync_subject *subject = checker->subject;
    static const char *const wrong[USES] = {
        [USE_NOTIFY] = "no op sends this event to the outside",
        [USE_WAIT] = "no op receives this event from outside",
        [USE_RESET] = "no op receives this event from outside: it is not reset",
    };
    uint32_t event = id_map_find(&subject->events->index, instr->number[0]), at = NONE;
    if (!sync_report_step(checker, DIAG_sync_event, core, step,
                          instr->word ? "this is the lock of no dynamic kernel of an op"
                                      : wrong[use_of(instr->op)]) ||
        instr->word || event == NONE)
        return false;
    at = id_map_find(&words->send_slots, event);
    at = at == NONE ? id_map_find(&words->recv_slots, event) : at;
    if (at == NONE)
        return false;
    const struct slot *slot = &subject->slots.at[at];
    diag_help(checker->diags, "'%.*s' is an event that an op here %s",
              NAME(checker->module, slot->id),
              !is_outer(subject, slot)  ? "sends to another: that is an order, not memory"
              : slot->kind == SLOT_SEND ? "sends: 'notify' is for it"
                                        : "receives: 'wait_event' and 'reset' are for it");
    return false;
}

static bool report_again(const struct sync_checker *checker, enum use use,
                         const struct sync_point *first, const struct sync_point *again)
{
    static const char *const twice[USES] = {
        [USE_NOTIFY] = "the event is notified twice",
        [USE_WAIT] = "the event is waited for twice",
        [USE_RESET] = "the word is reset twice",
    };
    if (sync_report_step(checker, DIAG_sync_event, again->core, again->step, twice[use]))
        diag_note(checker->diags, sync_step_span(checker, first->core, first->step),
                  "the first time is %s", sync_step_text(checker, first->core, first->step));
    return false;
}

/* Takes in an instruction. An event may be waited for once for each op that receives it; one wait
 * may do for all. */
static bool add_use(struct words *words, enum core_type core, uint32_t step)
{
    const struct instr *instr = sync_instr(&words->checker->proof, core, step);
    const struct sync_point point = {core, step, SYNC_CORE_ZERO};
    enum use use = use_of(instr->op);
    uint32_t slot = used_slot(words, instr);
    if (slot == NONE)
        return report_wrong_use(words, core, step, instr);
    struct word_uses *uses = uses_of(words, slot);
    if (uses->of[use].step == NONE)
        uses->of[use] = point;
    else if (use != USE_WAIT || uses->waits == uses->receivers)
        return report_again(words->checker, use, &uses->of[use], &point);
    if (use != USE_WAIT)
        return true;
    uses->waits++;
    uses->last_wait[core] = step;
    if (uses->first_wait[core] == NONE)
        uses->first_wait[core] = step;
    return true;
}

/* Fills `index` and `uses`, from the subject's slots, most of which are those of tensors, and from
 * the programs. False, reported, where an instruction is for no op's word. */
static bool collect_uses(struct words *words)
{
    const struct sync_checker *checker = words->checker;
    const struct sync_subject *subject = checker->subject;
    const struct sync_point never = {CORE_AIC, NONE, SYNC_CORE_ZERO};
    const struct word_uses none = {
        .of = {never, never, never}, .first_wait = {NONE, NONE}, .last_wait = {NONE, NONE}};
    bool ok = true;
    for (uint32_t i = 0; i < subject->slots.count; i++) {
        enum slot_kind kind = subject->slots.at[i].kind;
        if (kind != SLOT_SEND && kind != SLOT_RECV && kind != SLOT_LOCK)
            continue;
        id_map_set(&words->index, i, words->uses.count);
        vec_push(&words->uses, none);
        if (kind == SLOT_LOCK)
            continue;
        uint32_t event = id_map_get(&subject->events->index, subject->slots.at[i].id);
        uint32_t *first =
            id_map_at(kind == SLOT_SEND ? &words->send_slots : &words->recv_slots, event);
        *first = *first == NONE ? i : *first;
        uses_of(words, *first)->receivers += kind == SLOT_RECV;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        for (uint32_t i = 0; i < track->count; i++)
            if (track->steps[i].effect == EFFECT_EVENT)
                ok = add_use(words, core, i) && ok;
    }
    return ok;
}

/* ------------------------------------------------------------------------------ words ---- */

static const struct sync_point *call_of(const struct op_word *word, enum core_type core)
{
    return &word->checker->subject->placed[word->place].call[core];
}

static enum core_type main_core(const struct op_word *word)
{
    return call_of(word, CORE_AIC)->step != NONE ? CORE_AIC : CORE_AIV;
}

/* What the programs do with the word, or with that of the event that the op receives. */
static const struct word_uses *word_uses(const struct op_word *word)
{
    const struct sync_subject *subject = word->checker->subject;
    uint32_t slot = word->number;
    if (word->slot->kind == SLOT_RECV)
        slot = id_map_get(&word->words->recv_slots,
                          id_map_get(&subject->events->index, word->slot->id));
    return uses_of(word->words, slot);
}

/* Reports at the op's event; `format` follows the entry's name. */
static bool report_word(const struct op_word *word, const char *format, ...)
{
    const struct sync_checker *checker = word->checker;
    struct arena *arena = &checker->diags->arena;
    enum op_part part = word->slot->kind == SLOT_SEND   ? OP_SEND
                        : word->slot->kind == SLOT_RECV ? OP_RECV
                                                        : OP_TYPE_NAME;
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    if (!diag_at(
            checker->diags, DIAG_sync_event,
            locate_op(checker->module, sync_op(checker->subject, word->place), part, word->index),
            "entry '@%.*s' %s", NAME(checker->module, checker->entry->name), text))
        return false;
    diag_field(checker->diags, "entry", name_text(checker->module, checker->entry->name, arena));
    diag_field(checker->diags, "op", sync_op_text(checker, word->place));
    diag_field(checker->diags, "slot", arena_printf(arena, "%u", 1 + word->number));
    if (word->slot->id != NONE)
        diag_field(checker->diags, "event", name_text(checker->module, word->slot->id, arena));
    return true;
}

/* An instruction for the word's event, after others. */
static const char *event_instr(const struct op_word *word, const char *before, const char *name)
{
    return arena_printf(&word->checker->diags->arena, "%s%s%s %.*s", before, *before ? " " : "",
                        name, NAME(word->checker->module, word->slot->id));
}

static bool report_early_reset(const struct sync_checker *checker, const struct sync_point *wait,
                               const struct sync_point *reset)
{
    if (sync_report_step(checker, DIAG_sync_event, reset->core, reset->step,
                         "this may reset the event's word before it is waited for"))
        diag_note(checker->diags, sync_step_span(checker, wait->core, wait->step),
                  "put it behind %s, in the same program",
                  sync_step_text(checker, wait->core, wait->step));
    return false;
}

/* ----------------------------------------------------------------------- sent events ---- */

/* The first part of the op that core 0 does not know to be complete at a point, or NULL. */
static const struct sync_point *open_part(const struct op_word *word,
                                          const struct sync_point *point)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = call_of(word, core);
        if (call->step != NONE && !sync_is_ended(&word->checker->proof, call, point))
            return call;
    }
    return NULL;
}

/* At the first step of the main program whose core 0 knows the op to be complete; where there is
 * none, with a barrier. */
static void help_notify(const struct op_word *word)
{
    const struct sync_checker *checker = word->checker;
    enum core_type core = main_core(word);
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_text *texts = &sync_texts[core];
    const struct sync_point *call = call_of(word, core), *other = call_of(word, 1 - core);
    struct sync_point at = {core, call->step + 1, SYNC_CORE_ZERO};
    while (at.step < track->count && open_part(word, &at))
        at.step++;
    if (at.step < track->count) {
        unsigned effect = track->steps[at.step].effect;
        bool waits = effect == EFFECT_AWAIT || effect == EFFECT_WAIT;
        sync_help(checker, event_instr(word, "", "notify"), waits ? SYNC_BEHIND : SYNC_BEFORE, core,
                  at.step);
    } else if (other->step == NONE) {
        sync_help(checker, event_instr(word, texts->barrier, "notify"), SYNC_BEHIND, core,
                  call->step);
    } else {
        sync_help(checker, "arrive aiv await aiv set v2c", SYNC_BEHIND, 1 - core, other->step);
        sync_help(checker, event_instr(word, "arrive aic await aic wait v2c", "notify"),
                  SYNC_BEHIND, core, call->step);
    }
}

/* The first in the graph that waits for the event. */
static void note_receiver(const struct op_word *word)
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

static bool check_sent(const struct op_word *word)
{
    const struct sync_checker *checker = word->checker;
    const struct sync_point *notify = &word_uses(word)->of[USE_NOTIFY];
    if (notify->step == NONE) {
        if (report_word(word, "does not notify event '%.*s', which this op sends",
                        NAME(checker->module, word->slot->id))) {
            help_notify(word);
            note_receiver(word);
        }
        return false;
    }
    const struct sync_point *part = open_part(word, notify);
    if (!part)
        return true;
    if (!report_word(word,
                     "notifies event '%.*s' before this op is sure to be complete on every %s",
                     NAME(checker->module, word->slot->id), core_type_name(part->core)))
        return false;
    diag_note(checker->diags, sync_step_span(checker, notify->core, notify->step),
              "it is notified at %s", sync_step_text(checker, notify->core, notify->step));
    if (sync_is_before(checker, notify, part)) {
        sync_help_take_out(checker, notify);
        help_notify(word);
    } else {
        sync_explain_order(checker, part, notify);
    }
    return false;
}

/* ------------------------------------------------------------------- received events ---- */

static void help_wait(const struct op_word *word)
{
    enum core_type core = main_core(word);
    const struct sync_text *texts = &sync_texts[core];
    const struct sync_point *call = call_of(word, core), *other = call_of(word, 1 - core);
    bool both = other->step != NONE;
    sync_help(word->checker,
              arena_printf(&word->checker->diags->arena, "%s %s%s%s",
                           event_instr(word, "", "wait_event"), texts->barrier, both ? " " : "",
                           both ? texts->set : ""),
              SYNC_BEFORE, core, call->step);
    if (both)
        sync_help(word->checker, sync_texts[1 - core].wait, SYNC_BEFORE, 1 - core, other->step);
}

/* The first call of the op that a wait, the first of a program, is not known to be passed by; NULL
 * where there is none. */
static const struct sync_point *unwarned_call(const struct op_word *word,
                                              const struct sync_point *wait)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = call_of(word, core);
        if (call->step == NONE)
            continue;
        struct sync_point begin = sync_begin(&word->checker->proof, call);
        if (!sync_is_passed(&word->checker->proof, wait, &begin))
            return call;
    }
    return NULL;
}

/* The first wait for the event in the op's main program, or else in the other. */
static struct sync_point main_wait(const struct op_word *word)
{
    const uint32_t *first = word_uses(word)->first_wait;
    enum core_type core = main_core(word);
    core = first[core] != NONE ? core : 1 - core;
    return (struct sync_point){core, first[core], SYNC_CORE_ZERO};
}

static bool check_waited(const struct op_word *word)
{
    const struct sync_checker *checker = word->checker;
    const struct word_uses *uses = word_uses(word);
    if (uses->waits == 0) {
        if (report_word(word, "does not wait for event '%.*s', which this op receives",
                        NAME(checker->module, word->slot->id)))
            help_wait(word);
        return false;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_point wait = {core, uses->first_wait[core], SYNC_CORE_ZERO};
        if (wait.step != NONE && !unwarned_call(word, &wait))
            return true;
    }
    struct sync_point wait = main_wait(word);
    const struct sync_point *call = unwarned_call(word, &wait);
    if (!report_word(word,
                     "does not tell every %s that event '%.*s' has come before this op starts "
                     "there",
                     core_type_name(call->core), NAME(checker->module, word->slot->id)))
        return false;
    diag_note(checker->diags, sync_step_span(checker, wait.core, wait.step),
              "core 0 alone waits for it, at %s", sync_step_text(checker, wait.core, wait.step));
    bool late = false;
    for (int core = 0; core < CORE_TYPES; core++)
        late |= call_of(word, core)->step != NONE &&
                sync_is_before(checker, call_of(word, core), &wait);
    if (late) {
        sync_help_take_out(checker, &wait);
        help_wait(word);
    } else {
        sync_help_order(checker, &wait, call);
    }
    return false;
}

/* One reset is for all that receive the event, at the first of them. */
static bool check_reset(const struct op_word *word)
{
    const struct sync_checker *checker = word->checker;
    const struct word_uses *uses = word_uses(word);
    const struct sync_point *reset = &uses->of[USE_RESET];
    if (uses != uses_of(word->words, word->number))
        return true;
    if (reset->step == NONE) {
        struct sync_point wait = main_wait(word);
        if (report_word(word,
                        "does not reset the word of event '%.*s', so that the next launch would "
                        "not wait for it",
                        NAME(checker->module, word->slot->id)))
            sync_help(checker, event_instr(word, "", "reset"), SYNC_BEHIND, wait.core,
                      checker->proof.tracks[wait.core].count - 1);
        return false;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_point wait = {core, uses->last_wait[core], SYNC_CORE_ZERO};
        if (wait.step != NONE && !sync_is_passed(&checker->proof, &wait, reset))
            return report_early_reset(checker, &wait, reset);
    }
    return true;
}

/* ---------------------------------------------------------------------------- cycles ---- */

static struct outside *outside_of(const struct words *words, uint32_t op)
{
    return &words->outside.at[id_map_get(&words->followed, op)];
}

static void note_late(struct late *known, const struct late *late)
{
    if (late->step != NONE && (known->step == NONE || late->step > known->step))
        *known = *late;
}

/* Whether the op is one to be followed, and has not been. */
static bool begin_visit(struct words *words, uint32_t op)
{
    const struct order *order = words->checker->subject->order;
    if (order->position[op] < words->first || id_map_find(&words->followed, op) != NONE)
        return false;
    id_map_set(&words->followed, op, words->outside.count);
    vec_push(&words->outside, (struct outside){{{NONE, NONE, NONE}, {NONE, NONE, NONE}}});
    vec_push(&words->open, (struct visit){op, order->first[op]});
    return true;
}

/* Gives an op what it waits for by an edge, whose other end has been followed: the launch's
 * notifications of its event, and what that end waits for. */
static void take_edge(struct words *words, uint32_t op, const struct order_edge *edge)
{
    const struct sync_subject *subject = words->checker->subject;
    struct outside *outside = outside_of(words, op);
    uint32_t place = members_place(subject->index, subject->ops, subject->count, edge->from);
    bool sent = place != NONE && edge->kind == ORDER_EVENT;
    for (uint32_t i = sent ? subject->first_slot[place] : 0; sent && i < subject->end_slot[place];
         i++) {
        if (subject->slots.at[i].kind != SLOT_SEND || subject->slots.at[i].id != edge->name)
            continue;
        struct sync_point notify = uses_of(words, i)->of[USE_NOTIFY];
        note_late(&outside->late[notify.core], &(struct late){notify.step, edge->from, edge->name});
    }
    for (int core = 0; core < CORE_TYPES; core++)
        if (id_map_find(&words->followed, edge->from) != NONE)
            note_late(&outside->late[core], &outside_of(words, edge->from)->late[core]);
}

/* From an op outside back over all others, each once. The order has no cycles, which others
 * report. */
static void follow_back(struct words *words, uint32_t op)
{
    const struct order *order = words->checker->subject->order;
    begin_visit(words, op);
    while (words->open.count) {
        struct visit *visit = &words->open.at[words->open.count - 1];
        if (visit->edge == order->first[visit->op + 1]) {
            words->open.count--;
            continue;
        }
        const struct order_edge *edge = &order->edges[visit->edge];
        if (begin_visit(words, edge->from))
            continue;
        take_edge(words, visit->op, edge);
        visit->edge++;
    }
}

/* The notification that the event's sender waits for and that follows a wait for it, or NULL. */
static const struct late *late_of(const struct op_word *word, uint32_t sender)
{
    const struct word_uses *uses = word_uses(word);
    if (id_map_find(&word->words->followed, sender) == NONE)
        return NULL;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct late *late = &outside_of(word->words, sender)->late[core];
        struct sync_point notify = {core, late->step, SYNC_CORE_ZERO};
        for (int waits = 0; waits < CORE_TYPES && late->step != NONE; waits++) {
            struct sync_point wait = {waits, uses->first_wait[waits], SYNC_CORE_ZERO};
            if (wait.step != NONE && sync_is_passed(&word->checker->proof, &wait, &notify))
                return late;
        }
    }
    return NULL;
}

/* Whether no sender of the event waits for what the launch does after its wait. */
static bool check_cycle(struct words *words, const struct op_word *word)
{
    const struct sync_checker *checker = word->checker;
    const struct graph *graph = checker->subject->graph;
    const struct order *order = checker->subject->order;
    uint32_t op = checker->subject->ops[word->place];
    const struct late *late = NULL;
    for (uint32_t e = order->first[op]; e < order->first[op + 1] && !late; e++) {
        if (order->edges[e].kind != ORDER_EVENT || order->edges[e].name != word->slot->id)
            continue;
        follow_back(words, order->edges[e].from);
        late = late_of(word, order->edges[e].from);
    }
    if (late &&
        report_word(word,
                    "waits for event '%.*s' before it notifies '%.*s', for which its "
                    "sender waits",
                    NAME(checker->module, word->slot->id), NAME(checker->module, late->event)))
        diag_note(checker->diags,
                  locate_op(checker->module, &graph->ops.at[late->op], OP_TYPE_NAME, 0),
                  "put the 'notify' for this op before the 'wait_event'");
    return !late;
}

/* ----------------------------------------------------------------------------- locks ---- */

static void help_unlock(const struct op_word *word)
{
    const struct sync_checker *checker = word->checker;
    const uint32_t *select = checker->subject->placed[word->place].select;
    const struct group_name *name = &checker->subject->groups[word->place];
    enum core_type core = main_core(word);
    bool both = select[1 - core] != NONE;
    diag_help(checker->diags,
              "write 'reset lock %s' behind a barrier that all cores arrive at behind %s%s%s, so "
              "at the latest at the end, behind '%s'",
              args_name_text(checker->module, name->name, name->word, &checker->diags->arena),
              sync_step_text(checker, core, select[core]), both ? " and " : "",
              both ? sync_step_text(checker, 1 - core, select[1 - core]) : "",
              sync_texts[core].barrier);
}

/* The lock of a dynamic kernel is closed again when all cores have chosen their function. */
static bool check_lock(const struct op_word *word)
{
    const struct sync_checker *checker = word->checker;
    const uint32_t *select = checker->subject->placed[word->place].select;
    const struct sync_point *reset = &word_uses(word)->of[USE_RESET];
    if (reset->step == NONE) {
        if (report_word(word, "does not reset the lock of this op's dynamic kernel"))
            help_unlock(word);
        return false;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        if (select[core] == NONE)
            continue;
        struct sync_point selects = sync_point_all(checker, core, select[core]);
        if (sync_is_passed(&checker->proof, &selects, reset))
            continue;
        if (!sync_report_step(
                checker, DIAG_sync_event, reset->core, reset->step,
                core == CORE_AIC
                    ? "this may reset the lock before every aic has selected the kernel"
                    : "this may reset the lock before every aiv has selected the kernel"))
            return false;
        diag_note(checker->diags, sync_step_span(checker, core, select[core]), "they do at %s",
                  sync_step_text(checker, core, select[core]));
        if (sync_is_before(checker, reset, &selects)) {
            sync_help_take_out(checker, reset);
            help_unlock(word);
        } else {
            sync_help_order(checker, &selects, reset);
        }
        return false;
    }
    return true;
}

/* ------------------------------------------------------------- entries by themselves ---- */

/* Of an entry that is for no super kernel, its arguments alone say what its words are for. */
struct use_at {
    bool lock;
    uint32_t name; /* of an event, or the group of a lock */
    enum use use;
    struct sync_point point;
};

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_uses(const void *first, const void *second)
{
    const struct use_at *a = first, *b = second;
    int by = compare(a->lock, b->lock);
    by = by ? by : compare(a->name, b->name);
    by = by ? by : compare(a->use, b->use);
    by = by ? by : compare(a->point.core, b->point.core);
    return by ? by : compare(a->point.step, b->point.step);
}

static bool receives(const struct entry *entry, uint32_t event)
{
    for (uint32_t i = 0; i < entry->args.count; i++)
        if (entry->args.at[i].kind == ARG_RECV && entry->args.at[i].id == event)
            return true;
    return false;
}

/* The uses of one word, notifies first, then waits, then resets. */
static bool check_own_word(const struct sync_checker *checker, const struct use_at *uses,
                           uint32_t count)
{
    const struct use_at *last = &uses[count - 1];
    const struct sync_point *waits[CORE_TYPES] = {NULL, NULL}; /* the last of each program */
    if (count > 1 && uses[1].use == USE_NOTIFY)
        return report_again(checker, USE_NOTIFY, &uses[0].point, &uses[1].point);
    if (last->use == USE_WAIT && receives(checker->entry, last->name)) {
        enum core_type core = last->point.core;
        if (sync_report_step(checker, DIAG_sync_event, core, last->point.step,
                             "nothing resets the event's word, so the next launch would not wait "
                             "for it"))
            sync_help(checker,
                      arena_printf(&checker->diags->arena, "reset %.*s",
                                   NAME(checker->module, last->name)),
                      SYNC_BEHIND, core, checker->proof.tracks[core].count - 1);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (uses[i].use == USE_WAIT)
            waits[uses[i].point.core] = &uses[i].point;
        for (int core = 0; uses[i].use == USE_RESET && core < CORE_TYPES; core++)
            if (waits[core] && !sync_is_passed(&checker->proof, waits[core], &uses[i].point))
                return report_early_reset(checker, waits[core], &uses[i].point);
    }
    return true;
}

static bool check_own_events(const struct sync_checker *checker)
{
    VEC(struct use_at) uses = {NULL, 0, 0};
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        for (uint32_t i = 0; i < track->count; i++) {
            const struct instr *instr = sync_instr(&checker->proof, core, i);
            if (track->steps[i].effect == EFFECT_EVENT)
                vec_push(&uses, ((struct use_at){instr->word,
                                                 instr->number[0],
                                                 use_of(instr->op),
                                                 {core, i, SYNC_CORE_ZERO}}));
        }
    }
    if (uses.count)
        qsort(uses.at, uses.count, sizeof *uses.at, compare_uses);
    for (uint32_t i = 0, end; i < uses.count; i = end) {
        for (end = i + 1; end < uses.count && uses.at[end].name == uses.at[i].name &&
                          uses.at[end].lock == uses.at[i].lock;
             end++)
            ;
        ok = check_own_word(checker, uses.at + i, end - i) && ok;
    }
    vec_free(&uses);
    return ok;
}

/* ---------------------------------------------------------------------------- driving ---- */

/* Events between ops of the super kernel are orders, not words. */
static bool check_word(struct words *words, const struct op_word *word)
{
    if (word->slot->kind == SLOT_LOCK)
        return check_lock(word);
    if (word->slot->kind != SLOT_SEND && word->slot->kind != SLOT_RECV)
        return true;
    if (!is_outer(word->checker->subject, word->slot))
        return true;
    if (word->slot->kind == SLOT_SEND)
        return check_sent(word);
    return check_waited(word) && check_cycle(words, word) && check_reset(word);
}

bool sync_check_events(struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    struct words words = {.checker = checker, .first = UINT32_MAX};
    if (!subject)
        return check_own_events(checker);
    for (uint32_t i = 0; i < subject->count; i++)
        if (subject->order->position[subject->ops[i]] < words.first)
            words.first = subject->order->position[subject->ops[i]];
    bool collected = collect_uses(&words), ok = collected;
    for (uint32_t place = 0; collected && place < subject->count; place++) {
        struct op_word word = {.words = &words, .checker = checker, .place = place};
        for (uint32_t i = subject->first_slot[place]; i < subject->end_slot[place]; i++) {
            word.slot = &subject->slots.at[i];
            word.number = i;
            bool same = i > subject->first_slot[place] && word.slot[-1].kind == word.slot->kind;
            word.index = same ? word.index + 1 : 0;
            ok = check_word(&words, &word) && ok;
        }
    }
    id_map_free(&words.index);
    vec_free(&words.uses);
    id_map_free(&words.send_slots);
    id_map_free(&words.recv_slots);
    id_map_free(&words.followed);
    vec_free(&words.outside);
    vec_free(&words.open);
    return ok;
}
