/* The words in memory that an entry shares with others: those of events, and the locks of dynamic
 * kernels. Core 0 of a program's type alone executes the instructions for them. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/launch_order.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/proof/check.h"

/* What the entry does with a slot's word: steps, NONE for never, and the programs they stand in. */
enum sync_use { USE_NOTIFY, USE_WAIT, USE_RESET, USE_COUNT };

/* Of an event that several ops receive, the first one's slot has all uses. */
struct word_uses {
    struct {
        uint32_t step;
        enum core_type core;
    } of[USE_COUNT];                 /* the first */
    uint32_t first_wait[CORE_TYPES]; /* by program: steps, or NONE */
    uint32_t waits, receivers;       /* how many */
};

/* What ops outside wait for. */
struct sync_circles;

struct sync_words {
    struct sync_checker *checker;
    struct id_map index; /* by slot of the subject that has a word: its place in `uses` */
    VEC(struct word_uses) uses;
    struct sync_circles *circles;
};

static inline enum sync_use sync_use_of(enum instr_op op)
{
    return op == INSTR_notify ? USE_NOTIFY : op == INSTR_wait_event ? USE_WAIT : USE_RESET;
}

static inline struct word_uses *sync_word_uses(const struct sync_words *words, uint32_t slot)
{
    return &words->uses.at[id_map_get(&words->index, slot)];
}

/* One slot of an op. */
struct sync_word {
    struct sync_checker *checker;
    const struct sync_words *words;
    const struct slot *slot;
    uint32_t place;  /* of the op */
    uint32_t number; /* of the slot in those of the subject; one more in the entry */
    uint32_t index;  /* among the op's slots of this kind: the place in its `send` or `recv` */
};

/* -------------------------------------------------------------------------- slot uses ---- */

static struct sync_point sync_use_point(const struct sync_words *words, uint32_t slot,
                                        enum sync_use use)
{
    const struct word_uses *uses = sync_word_uses(words, slot);
    return (struct sync_point){uses->of[use].core, uses->of[use].step, SYNC_CORE_ZERO};
}

static bool sync_is_used(const struct sync_words *words, uint32_t slot, enum sync_use use)
{
    return sync_word_uses(words, slot)->of[use].step != NONE;
}

/* Whether the slot is the word of an event that crosses the super kernel's border. */
static bool sync_is_outer(const struct sync_subject *subject, const struct slot *slot)
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

/* Fills `uses`, from the programs. False, reported, where an instruction is for no op's word. */
static bool sync_words_collect(struct sync_words *words)
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

static const struct sync_point *sync_word_call(const struct sync_word *word, enum core_type core)
{
    return &word->checker->subject->placed[word->place].call[core];
}

static enum core_type sync_word_main_core(const struct sync_word *word)
{
    return sync_word_call(word, CORE_AIC)->step != NONE ? CORE_AIC : CORE_AIV;
}

/* Reports at the op's event; `format` follows the entry's name. */
static bool sync_report_word(const struct sync_word *word, const char *format, ...)
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

static uint32_t sync_word_slot(const struct sync_word *word)
{
    return word->slot->kind == SLOT_RECV
               ? sync_event(word->checker->subject, word->slot->id)->recv_slot
               : word->number;
}

static const char *sync_word_instr(const struct sync_word *word, const char *before,
                                   const char *name)
{
    return arena_printf(&word->checker->diags->arena, "%s%s %.*s", before, name,
                        NAME(word->checker->module, word->slot->id));
}

static bool sync_report_early_reset(const struct sync_checker *checker,
                                    const struct sync_point *wait, const struct sync_point *reset)
{
    if (sync_report_step(checker, DIAG_sync_event, reset->core, reset->step,
                         "this may reset the event's word before it is waited for"))
        diag_note(checker->diags, sync_step_span(checker, wait->core, wait->step),
                  "put it behind %s, in the same program",
                  sync_step_text(checker, wait->core, wait->step));
    return false;
}

/* Waits in the middle of a launch for what waits for a notification of the same launch: that must
 * not follow the wait. */

/* The last notification of a launch in a program, or step NONE: later ones know all that it does,
 * so that it stands for those before it. */
struct late {
    uint32_t step, op, event;
};

/* What an op waits for, itself or by way of others: one of the launch, too, starts after what it
 * waits for, and notifies after that. */
struct outside {
    struct late late[CORE_TYPES]; /* by program */
};

/* An op that is followed back, and the next of its edges. */
struct step {
    uint32_t op, edge;
};

/* Each op is followed once for all waits. */
struct sync_circles {
    const struct sync_words *words;
    struct id_map index; /* by op: where it is in `at` */
    VEC(struct outside) at;
    VEC(struct step) open;
    /* The text's place of the super kernel's first op: nobody before waits for it. */
    uint32_t first;
};

/* To be freed by sync_circles_free. */
static struct sync_circles *sync_circles_new(const struct sync_words *words)
{
    const struct sync_subject *subject = words->checker->subject;
    struct sync_circles *circles = mem_calloc(1, sizeof *circles);
    circles->words = words;
    circles->first = UINT32_MAX;
    for (uint32_t i = 0; i < subject->count; i++)
        if (subject->order->position[subject->ops[i]] < circles->first)
            circles->first = subject->order->position[subject->ops[i]];
    return circles;
}

static void sync_circles_free(struct sync_circles *circles)
{
    if (!circles)
        return;
    id_map_free(&circles->index);
    vec_free(&circles->at);
    vec_free(&circles->open);
    mem_free(circles);
}

static void note_late(struct outside *outside, enum core_type core, const struct late *late)
{
    struct late *known = &outside->late[core];
    if (late->step != NONE && (known->step == NONE || late->step > known->step))
        *known = *late;
}

/* The launch's notifications of the event of the op at a place. */
static void note_notified(const struct sync_circles *circles, struct outside *outside,
                          uint32_t place, uint32_t event)
{
    const struct sync_words *words = circles->words;
    const struct sync_subject *subject = words->checker->subject;
    for (uint32_t i = subject->first_slot[place]; i < subject->end_slot[place]; i++) {
        if (subject->slots.at[i].kind != SLOT_SEND || subject->slots.at[i].id != event ||
            !sync_is_used(words, i, USE_NOTIFY))
            continue;
        struct sync_point notify = sync_use_point(words, i, USE_NOTIFY);
        note_late(outside, notify.core, &(struct late){notify.step, subject->ops[place], event});
    }
}

static struct outside *outside_of(const struct sync_circles *circles, uint32_t op)
{
    return &circles->at.at[id_map_get(&circles->index, op)];
}

/* Whether the op is one to be followed, and has not been. */
static bool begin(struct sync_circles *circles, uint32_t op)
{
    const struct order *order = circles->words->checker->subject->order;
    if (order->position[op] < circles->first || id_map_find(&circles->index, op) != NONE)
        return false;
    id_map_set(&circles->index, op, circles->at.count);
    vec_push(&circles->at, (struct outside){{{NONE, NONE, NONE}, {NONE, NONE, NONE}}});
    vec_push(&circles->open, (struct step){op, order->first[op]});
    return true;
}

/* Takes in what the edge leads to; false where that has to be followed before. */
static bool follow_edge(struct sync_circles *circles, uint32_t op, const struct order_edge *edge)
{
    const struct sync_subject *subject = circles->words->checker->subject;
    uint32_t place = members_place(subject->index, subject->ops, subject->count, edge->from);
    if (begin(circles, edge->from))
        return false;
    if (place != NONE && edge->kind == ORDER_EVENT)
        note_notified(circles, outside_of(circles, op), place, edge->name);
    for (int core = 0; core < CORE_TYPES; core++)
        if (id_map_find(&circles->index, edge->from) != NONE)
            note_late(outside_of(circles, op), (enum core_type)core,
                      &outside_of(circles, edge->from)->late[core]);
    return true;
}

/* From an op outside back over all others. The order has no circles, which others report. */
static void follow(struct sync_circles *circles, uint32_t op)
{
    const struct order *order = circles->words->checker->subject->order;
    begin(circles, op);
    while (circles->open.count) {
        struct step *last = &circles->open.at[circles->open.count - 1];
        if (last->edge == order->first[last->op + 1])
            circles->open.count--;
        else if (follow_edge(circles, last->op, &order->edges[last->edge]))
            circles->open.at[circles->open.count - 1].edge++;
    }
}

/* The notification that the event's sender waits for and that follows the wait, or NULL. */
static const struct late *late_of(const struct sync_word *word, uint32_t sender)
{
    const struct sync_circles *circles = word->words->circles;
    const struct word_uses *uses = sync_word_uses(word->words, sync_word_slot(word));
    if (id_map_find(&circles->index, sender) == NONE)
        return NULL;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct late *late = &outside_of(circles, sender)->late[core];
        struct sync_point notify = {(enum core_type)core, late->step, SYNC_CORE_ZERO};
        for (int waits = 0; waits < CORE_TYPES && late->step != NONE; waits++) {
            struct sync_point wait = {(enum core_type)waits, uses->first_wait[waits],
                                      SYNC_CORE_ZERO};
            if (wait.step != NONE && sync_is_passed(&word->checker->proof, &wait, &notify))
                return late;
        }
    }
    return NULL;
}

static bool sync_check_circle(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    const struct sync_subject *subject = checker->subject;
    const struct order *order = subject->order;
    uint32_t op = subject->ops[word->place];
    const struct late *late = NULL;
    for (uint32_t e = order->first[op]; e < order->first[op + 1] && !late; e++) {
        if (order->edges[e].kind != ORDER_EVENT || order->edges[e].name != word->slot->id)
            continue;
        follow(word->words->circles, order->edges[e].from);
        late = late_of(word, order->edges[e].from);
    }
    if (!late)
        return true;
    if (sync_report_word(word,
                         "waits for event '%.*s' before it notifies '%.*s', for which its sender "
                         "waits",
                         NAME(checker->module, word->slot->id), NAME(checker->module, late->event)))
        diag_note(checker->diags,
                  locate_op(checker->module, &subject->graph->ops.at[late->op], OP_TYPE_NAME, 0),
                  "put the 'notify' for this op before the 'wait_event'");
    return false;
}

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
