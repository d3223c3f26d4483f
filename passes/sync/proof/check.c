#include "passes/sync/proof/check.h"
#include "ir/analysis/hazards.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

/* ------------------------------------------------------------------------------ texts ---- */

const struct sync_text sync_texts[CORE_TYPES] = {
    [CORE_AIC] = {"arrive aic", "await aic", "arrive aic await aic", "set c2v", "c2v", "wait v2c"},
    [CORE_AIV] = {"arrive aiv", "await aiv", "arrive aiv await aiv", "set v2c", "v2c", "wait c2v"},
};

/* A call has steps besides its work, which are told as what they do. */
const char *sync_step_text(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    const struct sync_step *at = &checker->proof.tracks[core].steps[step];
    const char *part = NULL;
    if (sync_instr(&checker->proof, core, step)->op == INSTR_call)
        part = at->effect == EFFECT_AWAIT    ? sync_texts[core].await
               : at->effect == EFFECT_ARRIVE ? sync_texts[core].arrive
               : at->effect == EFFECT_SET    ? sync_texts[core].set
               : at->effect == EFFECT_WAIT   ? sync_texts[core].wait
                                             : NULL;
    return instr_place_text(checker->numbers, core, at->instr, part, &checker->diags->arena);
}

struct span sync_step_span(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    return locate_instr(checker->module, sync_instr(&checker->proof, core, step));
}

const char *sync_op_text(const struct sync_checker *checker, uint32_t place)
{
    return op_text(checker->module, checker->subject->graph, sync_op(checker->subject, place),
                   &checker->diags->arena);
}

static struct span op_span(const struct sync_checker *checker, uint32_t place)
{
    return locate_op(checker->module, sync_op(checker->subject, place), OP_TYPE_NAME, 0);
}

static void entry_field(const struct sync_checker *checker)
{
    diag_field(checker->diags, "entry",
               name_text(checker->module, checker->entry->name, &checker->diags->arena));
}

/* The number of a step's instruction, and its text. */
static uint32_t step_number(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    return instr_number(checker->numbers, core, checker->proof.tracks[core].steps[step].instr);
}

static const char *step_instr_text(const struct sync_checker *checker, enum core_type core,
                                   uint32_t step)
{
    return instr_text(checker->module, checker->entry, sync_instr(&checker->proof, core, step),
                      &checker->diags->arena);
}

bool sync_report_step(const struct sync_checker *checker, enum diag_id id, enum core_type core,
                      uint32_t step, const char *text)
{
    struct diags *diags = checker->diags;
    if (!diag_at(diags, id, sync_step_span(checker, core, step), "entry '@%.*s', %s: %s",
                 NAME(checker->module, checker->entry->name), sync_step_text(checker, core, step),
                 text))
        return false;
    entry_field(checker);
    diag_field(diags, "core", core_type_name(core));
    diag_field(diags, "instruction",
               arena_printf(&diags->arena, "%u", step_number(checker, core, step)));
    diag_field(diags, "text", step_instr_text(checker, core, step));
    return true;
}

void sync_help(const struct sync_checker *checker, const char *instrs, enum sync_side side,
               enum core_type core, uint32_t step)
{
    struct diags *diags = checker->diags;
    uint32_t at = step_number(checker, core, step);
    diag_help(diags, "write '%s' %s %s", instrs, side == SYNC_BEFORE ? "before" : "behind",
              sync_step_text(checker, core, step));
    if (side == SYNC_BEHIND &&
        !instr_is_added(checker->entry, core, checker->proof.tracks[core].steps[step].instr))
        at++;
    diag_listed(diags, "insert",
                arena_printf(&diags->arena, "%s %u: %s", core_type_name(core), at, instrs));
}

void sync_help_take_out(const struct sync_checker *checker, const struct sync_point *point)
{
    struct diags *diags = checker->diags;
    uint32_t at = step_number(checker, point->core, point->step);
    diag_help(diags, "take out %s", sync_step_text(checker, point->core, point->step));
    diag_listed(diags, "remove",
                arena_printf(&diags->arena, "%s %u: %s", core_type_name(point->core), at,
                             step_instr_text(checker, point->core, point->step)));
}

bool sync_is_before(const struct sync_checker *checker, const struct sync_point *first,
                    const struct sync_point *point)
{
    if (first->core == point->core)
        return first->step < point->step;
    return checker->proof.tracks[point->core].before[point->step].passed.own[first->core] >
           first->step;
}

/* ------------------------------------------------------------------------------ order ---- */

static const char *edge_text(const struct sync_checker *checker, const struct order_edge *edge)
{
    struct arena *arena = &checker->diags->arena;
    switch (edge->kind) {
    case ORDER_DATA: return "it uses the result of this op";
    case ORDER_AFTER: return "it is to run after this op";
    case ORDER_STREAM: return "it follows this op on their stream";
    case ORDER_EVENT:
        return arena_printf(arena, "it waits for event '%.*s' of this op",
                            NAME(checker->module, edge->name));
    case ORDER_MEMORY:
        return arena_printf(arena, "it accesses '%.*s' behind this op",
                            NAME(checker->module, edge->name));
    case ORDER_ADDRESS: break;
    }
    return "the graph orders it behind this op";
}

/* The same of an edge of the op `to`, and what of memory makes the order matter, where it does. */
static const char *reason_text(const struct sync_checker *checker, const struct order_edge *edge,
                               uint32_t to)
{
    struct arena *arena = &checker->diags->arena;
    const struct sync_subject *subject = checker->subject;
    const struct overlap *overlap = order_overlap(subject->order, edge->from, subject->ops[to]);
    if (!overlap)
        return edge_text(checker, edge);
    return arena_printf(arena, "%s, and accesses %s, this op %s", edge_text(checker, edge),
                        access_text(checker->module, subject->graph, &overlap->later, arena),
                        access_text(checker->module, subject->graph, &overlap->first, arena));
}

/* The first set behind `call`, if its wait is over before `later`, or NONE. */
static uint32_t find_flag(const struct sync_checker *checker, const struct sync_point *call,
                          const struct sync_point *later)
{
    const struct vec_u32 *sets = &checker->proof.tracks[call->core].sets;
    const struct vec_u32 *waits = &checker->proof.tracks[1 - call->core].waits;
    for (uint32_t n = 0; n < sets->count && n < waits->count; n++)
        if (sets->at[n] > call->step)
            return later->core == call->core || waits->at[n] < later->step ? sets->at[n] : NONE;
    return NONE;
}

static void tell_known(const struct sync_checker *checker, const struct sync_point *earlier,
                       const struct sync_point *later)
{
    const struct sync_state *state = &checker->proof.tracks[later->core].before[later->step];
    const char *part = core_type_name(earlier->core);
    struct diags *diags = checker->diags;
    struct span span = sync_step_span(checker, later->core, later->step);
    const char *starts = sync_step_text(checker, later->core, later->step);
    uint32_t all = state->done.all[earlier->core];
    if (sync_is_one_core(earlier, later))
        diag_note(diags, span, "%s is on the core that has called it, whose pipes are not drained",
                  starts);
    else if (earlier->step < state->done.own[earlier->core])
        diag_note(diags, span, "%s knows it of the %s of its own AI core only", starts, part);
    else if (earlier->step < state->passed.own[earlier->core])
        diag_note(diags, span, "%s knows that the %s has called it, not that it is complete",
                  starts, part);
    else if (all == 0)
        diag_note(diags, span, "%s knows nothing of the %ss", starts, part);
    else
        diag_note(diags, span, "%s knows of the %ss only what they did before %s", starts, part,
                  sync_step_text(checker, earlier->core, all));
}

void sync_help_order(const struct sync_checker *checker, const struct sync_point *earlier,
                     const struct sync_point *later)
{
    const struct sync_text *texts = &sync_texts[earlier->core];
    uint32_t set = find_flag(checker, earlier, later);
    if (sync_is_one_core(earlier, later))
        sync_help(checker, "pipe_barrier", SYNC_BEHIND, earlier->core, earlier->step);
    else if (set != NONE && sync_is_passed(&checker->proof, earlier, later))
        /* The set passes on what was called before it only when that is sure to be complete. */
        sync_help(checker, "pipe_barrier", SYNC_BEFORE, earlier->core, set);
    else if (earlier->core == later->core)
        sync_help(checker, texts->barrier, SYNC_BEHIND, earlier->core, earlier->step);
    else if (set != NONE)
        sync_help(checker, texts->barrier, SYNC_BEFORE, earlier->core, set);
    else {
        sync_help(checker,
                  arena_printf(&checker->diags->arena, "%s %s", texts->barrier, texts->set),
                  SYNC_BEHIND, earlier->core, earlier->step);
        sync_help(checker, sync_texts[later->core].wait, SYNC_BEFORE, later->core, later->step);
    }
}

void sync_explain_order(const struct sync_checker *checker, const struct sync_point *earlier,
                        const struct sync_point *later)
{
    tell_known(checker, earlier, later);
    sync_help_order(checker, earlier, later);
}

/* The order holds but for what the kernel of an op does not vouch for: that of the later op, which
 * may read before it waits, or of the earlier one, which may still read when it has arrived. */
static void report_early_order(const struct sync_checker *checker, const struct order_edge *edge,
                               uint32_t from, uint32_t to, const struct sync_point *earlier,
                               const struct sync_point *later)
{
    struct diags *diags = checker->diags;
    struct sync_point begin = sync_begin(&checker->proof, later);
    bool late = order_is_from_start(checker->subject->order, edge, checker->subject->ops[to]) &&
                !sync_is_done(&checker->proof, earlier, &begin);
    uint32_t name = sync_op(checker->subject, late ? to : from)->kernel;
    if (!diag_at(diags, DIAG_sync_order, op_span(checker, to),
                 late ? "entry '@%.*s' orders this op behind another by its kernel's own wait, but "
                        "'@%.*s' may read before that: its 'early_start' does not list "
                        "'reads_late'"
                      : "entry '@%.*s' orders this op behind another by the arrival of that one's "
                        "kernel, but '@%.*s' may read behind that: its 'early_start' does not list "
                        "'reads_done'",
                 NAME(checker->module, checker->entry->name), NAME(checker->module, name)))
        return;
    entry_field(checker);
    diag_note(diags, op_span(checker, from), "%s", edge_text(checker, edge));
    diag_help(diags, "let the kernel declare it, or put '%s' between the calls",
              sync_texts[earlier->core].barrier);
}

void sync_report_order(const struct sync_checker *checker, const struct order_edge *edge,
                       uint32_t from, uint32_t to, enum core_type part, enum core_type core)
{
    struct diags *diags = checker->diags;
    const struct sync_point *earlier = &checker->subject->placed[from].call[part];
    const struct sync_point *later = &checker->subject->placed[to].call[core];
    if (sync_is_done(&checker->proof, earlier, later)) {
        report_early_order(checker, edge, from, to, earlier, later);
        return;
    }
    if (!diag_at(diags, DIAG_sync_order, op_span(checker, to),
                 "entry '@%.*s' does not enforce that the %.*s is complete on every %s before this "
                 "op starts on an %s",
                 NAME(checker->module, checker->entry->name),
                 NAME(checker->module, sync_op(checker->subject, from)->type), core_type_name(part),
                 core_type_name(core)))
        return;
    entry_field(checker);
    diag_field(diags, "from", sync_op_text(checker, from));
    diag_field(diags, "to", sync_op_text(checker, to));
    diag_field(diags, "from_call", sync_step_text(checker, part, earlier->step));
    diag_field(diags, "to_call", sync_step_text(checker, core, later->step));
    diag_note(diags, op_span(checker, from), "%s", reason_text(checker, edge, to));
    diag_note(diags, sync_step_span(checker, part, earlier->step), "it is called at %s",
              sync_step_text(checker, part, earlier->step));
    if (part != core || earlier->step < later->step)
        sync_explain_order(checker, earlier, later);
    else
        diag_help(diags, "the same program calls this op before, at %s: exchange the two",
                  sync_step_text(checker, core, later->step));
}
