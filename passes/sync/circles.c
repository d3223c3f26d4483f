/* Waits in the middle of a launch for what waits for a notification of the same launch: that must
 * not stand behind the wait. */
#include "ir/members.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/sync/words.h"

/* From a wait back over ops outside. */
struct search {
    const struct sync_word *word;
    struct vec_u32 open;
    struct id_map met; /* by op */
    uint32_t
        first; /* the text's place of the super kernel's first op: nobody before waits for it */
    uint32_t op, event; /* of the super kernel, which notifies too late; NONE: there is none */
};

static void meet(struct search *search, uint32_t op)
{
    const struct order *order = search->word->checker->subject->order;
    if (order->position[op] < search->first || id_map_find(&search->met, op) != NONE)
        return;
    id_map_set(&search->met, op, 1);
    vec_push(&search->open, op);
}

/* Whether the launch has waited before it notifies the event of the op at a place. */
static bool notifies_late(const struct search *search, uint32_t place, uint32_t event)
{
    const struct sync_word *word = search->word;
    const struct sync_subject *subject = word->checker->subject;
    const struct word_uses *uses = &word->words->uses[sync_word_slot(word)];
    for (uint32_t i = subject->first_slot[place]; i < subject->end_slot[place]; i++) {
        if (subject->slots.at[i].kind != SLOT_SEND || subject->slots.at[i].id != event ||
            !sync_is_used(word->words, i, USE_NOTIFY))
            continue;
        struct sync_point notify = sync_use_point(word->words, i, USE_NOTIFY);
        for (int core = 0; core < CORE_TYPES; core++) {
            struct sync_point wait = {(enum core_type)core, uses->first_wait[core], SYNC_CORE_ZERO};
            if (wait.step != NONE && sync_is_passed(&word->checker->proof, &wait, &notify))
                return true;
        }
    }
    return false;
}

static void follow(struct search *search, uint32_t op)
{
    const struct sync_subject *subject = search->word->checker->subject;
    const struct order *order = subject->order;
    for (uint32_t e = order->first[op]; e < order->first[op + 1] && search->op == NONE; e++) {
        const struct order_edge *edge = &order->edges[e];
        uint32_t place = members_place(subject->index, subject->ops, subject->count, edge->from);
        if (place == NONE)
            meet(search, edge->from);
        else if (edge->kind == ORDER_EVENT && notifies_late(search, place, edge->name)) {
            search->op = edge->from;
            search->event = edge->name;
        }
    }
}

bool sync_check_circle(const struct sync_word *word)
{
    const struct sync_checker *checker = word->checker;
    const struct sync_subject *subject = checker->subject;
    const struct order *order = subject->order;
    uint32_t op = subject->ops[word->place];
    struct search search = {.word = word, .first = UINT32_MAX, .op = NONE};
    for (uint32_t i = 0; i < subject->count; i++)
        if (order->position[subject->ops[i]] < search.first)
            search.first = order->position[subject->ops[i]];
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
        if (order->edges[e].kind == ORDER_EVENT && order->edges[e].name == word->slot->id)
            meet(&search, order->edges[e].from);
    while (search.open.count && search.op == NONE)
        follow(&search, search.open.at[--search.open.count]);
    vec_free(&search.open);
    id_map_free(&search.met);
    if (search.op == NONE)
        return true;
    if (sync_report_word(word,
                         "waits for event '%.*s' before it notifies '%.*s', for which its sender "
                         "waits",
                         NAME(checker->module, word->slot->id),
                         NAME(checker->module, search.event)))
        diag_note(checker->diags,
                  locate_op(checker->module, &subject->graph->ops.at[search.op], OP_TYPE_NAME, 0),
                  "put the 'notify' for this op before the 'wait_event'");
    return false;
}
