#include "ir/members.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/words.h"

/* Waits in the middle of a launch for what waits for a notification of the same launch: that must
 * not stand behind the wait. */

/* The last notification of a launch in a program, or step NONE: later ones know all that it does,
 * so that it stands for those before it. */
struct late {
    uint32_t step, op, event;
};

/* What an op waits for, itself or by way of others: one of the launch, too, starts behind what it
 * waits for, and notifies behind that. */
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

struct sync_circles *sync_circles_new(const struct sync_words *words)
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

void sync_circles_free(struct sync_circles *circles)
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

/* The notification that the event's sender waits for and that stands behind the wait, or NULL. */
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

bool sync_check_circle(const struct sync_word *word)
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
