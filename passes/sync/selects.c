/* Dynamic kernels, whose function is selected before it is called. */
#include "passes/sync/report.h"

/* One program, as it is followed. */
struct selection {
    struct sync_checker *checker;
    enum core_type core;
    struct id_map pending; /* the step of a select that no call has used yet, by kernel */
};

static uint32_t *pending_of(struct selection *selection, uint32_t kernel)
{
    return id_map_at(&selection->pending, kernel);
}

static bool is_dynamic(const struct selection *selection, uint32_t kernel)
{
    const struct sync_checker *checker = selection->checker;
    const struct kernel *of = module_find_kernel(checker->module, kernel);
    return of && attr_flag(checker->module, of->attrs, W_dynamic);
}

static bool report(const struct selection *selection, uint32_t step, const char *text)
{
    return sync_report_step(selection->checker, DIAG_sync_select, selection->core, step, text);
}

static bool visit_select(struct selection *selection, uint32_t step)
{
    uint32_t kernel = sync_instr(&selection->checker->proof, selection->core, step)->kernel;
    if (!is_dynamic(selection, kernel)) {
        report(selection, step, "the kernel is not a dynamic one, which has nothing to select");
        return false;
    }
    if (*pending_of(selection, kernel) != NONE) {
        if (report(selection, step, "the kernel is selected twice for one call"))
            diag_help(selection->checker->diags,
                      "each op has a tiling key of its own: select behind the call before");
        return false;
    }
    *pending_of(selection, kernel) = step;
    return true;
}

/* The place of the op that is called at a step. */
static uint32_t called_place(const struct selection *selection, uint32_t step)
{
    const struct sync_checker *checker = selection->checker;
    return checker->called.place[sync_instr(&checker->proof, selection->core, step)->number[0]];
}

static bool visit_call(struct selection *selection, uint32_t step)
{
    uint32_t kernel = sync_instr(&selection->checker->proof, selection->core, step)->kernel;
    if (!is_dynamic(selection, kernel))
        return true;
    uint32_t select = *pending_of(selection, kernel);
    *pending_of(selection, kernel) = NONE;
    if (select != NONE) {
        if (selection->checker->subject)
            selection->checker->subject->placed[called_place(selection, step)]
                .select[selection->core] = select;
        return true;
    }
    if (report(selection, step, "the dynamic kernel is not selected before this call")) {
        const struct instr *call = sync_instr(&selection->checker->proof, selection->core, step);
        bool mixed = call->part != CORE_TYPES;
        sync_help(selection->checker,
                  arena_printf(&selection->checker->diags->arena, "select @%.*s%s%s",
                               NAME(selection->checker->module, kernel), mixed ? "." : "",
                               mixed ? core_type_name(selection->core) : ""),
                  SYNC_BEFORE, selection->core, step);
    }
    return false;
}

/* Selects that no call has used. */
static bool check_left(struct selection *selection)
{
    const struct sync_track *track = &selection->checker->proof.tracks[selection->core];
    bool ok = true;
    for (uint32_t i = 0; i < track->count; i++) {
        const struct instr *instr = sync_instr(&selection->checker->proof, selection->core, i);
        if (track->steps[i].effect != EFFECT_SELECT || !is_dynamic(selection, instr->kernel) ||
            *pending_of(selection, instr->kernel) != i)
            continue;
        report(selection, i, "no call of the kernel follows this");
        ok = false;
    }
    return ok;
}

static bool check_selects_of(struct selection *selection)
{
    const struct sync_track *track = &selection->checker->proof.tracks[selection->core];
    bool ok = true;
    for (uint32_t i = 0; i < track->count; i++) {
        if (track->steps[i].effect == EFFECT_SELECT)
            ok = visit_select(selection, i) && ok;
        else if (track->steps[i].effect == EFFECT_CALL)
            ok = visit_call(selection, i) && ok;
    }
    return check_left(selection) && ok;
}

bool sync_check_selects(struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    bool ok = true;
    for (uint32_t i = 0; subject && i < subject->count; i++)
        subject->placed[i].select[CORE_AIC] = subject->placed[i].select[CORE_AIV] = NONE;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct selection selection = {.checker = checker, .core = core};
        ok = check_selects_of(&selection) && ok;
        id_map_free(&selection.pending);
    }
    return ok;
}
