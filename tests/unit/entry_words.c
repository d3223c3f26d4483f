#include "entry_words.h"
#include "ir/event_sides.h"

unsigned entry_words_add(struct entry_words *words, const struct instr *instr)
{
    unsigned nr = words->first + words->count;
    if (nr >= SYNC_MAX_OPS)
        return NONE;
    words->at[words->count++] = (struct entry_word){instr->op, instr->number[0]};
    return nr;
}

/* ------------------------------------------------------------------------------- sides ---- */

/* Whether an event's side is an op of the super kernel. */
static bool is_inside(const struct graph_model *model, const struct event_side *side,
                      uint32_t superkernel)
{
    for (unsigned nr = 0; nr < model->count; nr++)
        if (model->id[nr] == side->op)
            return model->superkernel[nr] == superkernel;
    return false;
}

/* Whether the event has a side of this key that is not in the super kernel. */
static bool is_outer(const struct module *module, const struct graph *graph,
                     const struct graph_model *model, uint32_t superkernel, uint32_t event,
                     uint32_t key)
{
    struct event_sides sides = event_sides_find(module, graph, key);
    bool outer = false;
    for (uint32_t i = 0; i < sides.count; i++)
        outer =
            outer || (sides.at[i].event == event && !is_inside(model, &sides.at[i], superkernel));
    vec_free(&sides);
    return outer;
}

/* ------------------------------------------------------------------------------- words ---- */

/* The number of the only instruction of this kind for a slot, NONE for none or several. */
static unsigned find_word(const struct entry_words *words, enum instr_op op, uint32_t slot)
{
    unsigned found = NONE;
    for (unsigned i = 0; i < words->count; i++) {
        if (words->at[i].op != op || words->at[i].slot != slot)
            continue;
        if (found != NONE)
            return NONE;
        found = words->first + i;
    }
    return found;
}

static bool is_known(const struct sync_outcome *outcome, unsigned op, unsigned at)
{
    return op != NONE && at != NONE && (outcome->known[at] >> op & 1);
}

/* What is checked, and the words that were found well. */
struct check {
    const struct entry_words *words;
    const struct module *module;
    const struct graph *graph;
    const struct graph_model *model;
    uint32_t entry;
    const struct sync_outcome *outcome;
    unsigned used;
};

/* Whether a reset knows all waits for the event to be over, by whatever op of the super kernel. */
static bool resets_last(const struct check *check, uint32_t event, unsigned reset)
{
    for (unsigned nr = 0; nr < check->model->count; nr++) {
        const struct op *op = &check->graph->ops.at[check->model->id[nr]];
        const struct clauses *clauses = op_clauses(check->graph, op);
        if (check->model->superkernel[nr] != check->entry)
            continue;
        uint32_t slot =
            check->words->args[nr] + op->operands.count + op->results.count + clauses->send.count;
        for (uint32_t i = 0; i < clauses->recv.count; i++)
            if (check->graph->refs.at[clauses->recv.first + i] == event &&
                !is_known(check->outcome, find_word(check->words, INSTR_wait_event, slot + i),
                          reset))
                return false;
    }
    return true;
}

static bool recv_is_well(struct check *check, unsigned nr, uint32_t event, uint32_t slot)
{
    unsigned wait = find_word(check->words, INSTR_wait_event, slot);
    unsigned reset = find_word(check->words, INSTR_reset, slot);
    check->used += 2;
    return is_known(check->outcome, wait, nr) && reset != NONE && resets_last(check, event, reset);
}

static bool op_is_well(struct check *check, unsigned nr)
{
    const struct op *op = &check->graph->ops.at[check->model->id[nr]];
    const struct clauses *clauses = op_clauses(check->graph, op);
    uint32_t slot = check->words->args[nr] + op->operands.count + op->results.count;
    bool well = true;
    for (uint32_t i = 0; i < clauses->send.count; i++, slot++) {
        uint32_t event = check->graph->refs.at[clauses->send.first + i];
        if (!is_outer(check->module, check->graph, check->model, check->entry, event, W_recv))
            continue;
        check->used++;
        well = well && is_known(check->outcome, nr, find_word(check->words, INSTR_notify, slot));
    }
    for (uint32_t i = 0; i < clauses->recv.count; i++, slot++) {
        uint32_t event = check->graph->refs.at[clauses->recv.first + i];
        if (is_outer(check->module, check->graph, check->model, check->entry, event, W_send))
            well = recv_is_well(check, nr, event, slot) && well;
    }
    return well;
}

bool entry_words_well(const struct entry_words *words, const struct module *module,
                      const struct graph *graph, const struct graph_model *model, uint32_t entry,
                      const struct sync_outcome *outcome)
{
    struct check check = {words, module, graph, model, entry, outcome, 0};
    bool well = true;
    for (unsigned nr = 0; nr < model->count; nr++)
        if (model->superkernel[nr] == entry)
            well = op_is_well(&check, nr) && well;
    return well && check.used == words->count;
}
