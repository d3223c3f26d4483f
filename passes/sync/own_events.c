/* Events of entries by themselves. */
#include "passes/sync/words.h"

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
static bool check_word(const struct sync_checker *checker, const struct event_slots *slots,
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

bool sync_check_own_events(struct sync_checker *checker)
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
        ok = check_word(checker, &slots, uses.at + i, end - i) && ok;
    }
    event_slots_free(&slots);
    vec_free(&uses);
    return ok;
}
