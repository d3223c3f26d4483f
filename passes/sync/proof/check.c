#include "passes/sync/proof/check.h"
#include "ir/analysis/hazards.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

/* ------------------------------------------------------------------------------ texts ---- */

static const char *sync_instr_text(const struct sync_checker *checker, enum core_type core,
                                   uint32_t step)
{
    return instr_text(checker->module, checker->entry, sync_instr(&checker->proof, core, step),
                      &checker->diags->arena);
}

static const char *flag_name(enum core_type sender)
{
    return sender == CORE_AIC ? "c2v" : "v2c";
}

static const char *arrive_text(enum core_type core)
{
    return core == CORE_AIC ? "arrive aic" : "arrive aiv";
}

const char *sync_await_text(enum core_type core)
{
    return core == CORE_AIC ? "await aic" : "await aiv";
}

/* What a call does besides its work, or NULL. */
static const char *early_text(const struct sync_checker *checker, enum core_type core,
                              uint32_t step)
{
    struct arena *arena = &checker->diags->arena;
    if (sync_instr(&checker->proof, core, step)->op != INSTR_call)
        return NULL;
    switch (checker->proof.tracks[core].steps[step].effect) {
    case EFFECT_AWAIT: return arena_printf(arena, "await %s", core_type_name(core));
    case EFFECT_ARRIVE: return arena_printf(arena, "arrive %s", core_type_name(core));
    case EFFECT_SET: return arena_printf(arena, "set %s", flag_name(core));
    case EFFECT_WAIT: return arena_printf(arena, "wait %s", flag_name(1 - core));
    default: return NULL;
    }
}

const char *sync_step_text(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    return instr_place_text(checker->numbers, core, checker->proof.tracks[core].steps[step].instr,
                            early_text(checker, core, step), &checker->diags->arena);
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

/* ------------------------------------------------------------------------------ parts ---- */

static void entry_field(const struct sync_checker *checker)
{
    diag_field(checker->diags, "entry",
               name_text(checker->module, checker->entry->name, &checker->diags->arena));
}

/* That of its instruction. */
static uint32_t step_number(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    return instr_number(checker->numbers, core, checker->proof.tracks[core].steps[step].instr);
}

/* A step as facts for tools. */
static void step_fields(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    struct diags *diags = checker->diags;
    diag_field(diags, "core", core_type_name(core));
    diag_field(diags, "instruction",
               arena_printf(&diags->arena, "%u", step_number(checker, core, step)));
    diag_field(diags, "text", sync_instr_text(checker, core, step));
}

bool sync_report_step(const struct sync_checker *checker, enum diag_id id, enum core_type core,
                      uint32_t step, const char *text)
{
    if (!diag_at(checker->diags, id, sync_step_span(checker, core, step), "entry '@%.*s', %s: %s",
                 NAME(checker->module, checker->entry->name), sync_step_text(checker, core, step),
                 text))
        return false;
    entry_field(checker);
    step_fields(checker, core, step);
    return true;
}

static void insert_field(const struct sync_checker *checker, const char *instrs,
                         enum sync_side side, enum core_type core, uint32_t step)
{
    struct diags *diags = checker->diags;
    uint32_t at = step_number(checker, core, step);
    if (side == SYNC_BEHIND &&
        !instr_is_added(checker->entry, core, checker->proof.tracks[core].steps[step].instr))
        at++;
    diag_listed(diags, "insert",
                arena_printf(&diags->arena, "%s %u: %s", core_type_name(core), at, instrs));
}

void sync_help(const struct sync_checker *checker, const char *instrs, enum sync_side side,
               enum core_type core, uint32_t step)
{
    diag_help(checker->diags, "write '%s' %s %s", instrs, side == SYNC_BEFORE ? "before" : "behind",
              sync_step_text(checker, core, step));
    insert_field(checker, instrs, side, core, step);
}

void sync_help_take_out(const struct sync_checker *checker, const struct sync_point *point)
{
    struct diags *diags = checker->diags;
    uint32_t at = step_number(checker, point->core, point->step);
    diag_help(diags, "take out %s", sync_step_text(checker, point->core, point->step));
    diag_listed(diags, "remove",
                arena_printf(&diags->arena, "%s %u: %s", core_type_name(point->core), at,
                             sync_instr_text(checker, point->core, point->step)));
}

bool sync_is_before(const struct sync_checker *checker, const struct sync_point *first,
                    const struct sync_point *point)
{
    if (first->core == point->core)
        return first->step < point->step;
    return checker->proof.tracks[point->core].before[point->step].passed.own[first->core] >
           first->step;
}

/* --------------------------------------------------------------------------- deadlocks ---- */

/* The n-th step, from 0, of an effect in a program, or NONE. */
static uint32_t find_step(const struct sync_track *track, enum instr_effect effect, uint32_t n)
{
    for (uint32_t i = 0; i < track->count; i++)
        if (track->steps[i].effect == effect && n-- == 0)
            return i;
    return NONE;
}

static bool is_blocked(const struct sync_track *track)
{
    return track->next < track->count;
}

static void explain_barrier(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t arrive = find_step(track, EFFECT_ARRIVE, track->awaits.count);
    const char *waits = sync_step_text(checker, core, track->next);
    if (arrive != NONE) {
        diag_note(checker->diags, sync_step_span(checker, core, arrive),
                  "%s waits for %s, which stands behind it in the same program", waits,
                  sync_step_text(checker, core, arrive));
        diag_help(checker->diags, "put that before it, or write another '%s' there",
                  arrive_text(core));
        return;
    }
    diag_help(checker->diags, "%s is 'await' number %u of the program, which has 'arrive' %u times",
              waits, track->awaits.count + 1, track->arrivals.count);
    sync_help(checker, arrive_text(core), SYNC_BEFORE, core, track->next);
}

/* What a wait waits for; returns whether that stands behind where the other program is blocked. */
static bool explain_flag(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_track *sender = &checker->proof.tracks[1 - core];
    const char *waits = sync_step_text(checker, core, track->next);
    const char *flag = flag_name(1 - core);
    uint32_t set = find_step(sender, EFFECT_SET, track->waits.count);
    if (set == NONE) {
        diag_help(checker->diags,
                  "%s is wait number %u for '%s', which the %s program sets %u times", waits,
                  track->waits.count + 1, flag, core_type_name(1 - core), sender->sets.count);
        diag_help(checker->diags,
                  "write 'set %s' in the %s program, behind what this waits for, or take it out",
                  flag, core_type_name(1 - core));
        return false;
    }
    diag_note(checker->diags, sync_step_span(checker, 1 - core, set),
              "%s waits for %s, which stands behind %s", waits,
              sync_step_text(checker, 1 - core, set),
              sync_step_text(checker, 1 - core, sender->next));
    return true;
}

/* What the part of a mixed kernel waits for. */
static bool explain_part(const struct sync_checker *checker, enum core_type core)
{
    uint32_t other = sync_other_part(&checker->proof, core);
    diag_note(checker->diags, sync_step_span(checker, 1 - core, other),
              "the parts of a mixed kernel run at the same time: %s waits for %s, which stands "
              "behind %s",
              sync_step_text(checker, core, checker->proof.tracks[core].next),
              sync_step_text(checker, 1 - core, other),
              sync_step_text(checker, 1 - core, checker->proof.tracks[1 - core].next));
    return true;
}

/* Why the core is blocked; returns whether the other one's block is the reason. */
static bool explain_block(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    if (track->steps[track->next].effect == EFFECT_WAIT)
        return explain_flag(checker, core);
    if (track->steps[track->next].effect == EFFECT_CALL)
        return explain_part(checker, core);
    explain_barrier(checker, core);
    return false;
}

void sync_report_deadlock(const struct sync_checker *checker, enum core_type core)
{
    if (!sync_report_step(checker, DIAG_sync_deadlock, core, checker->proof.tracks[core].next,
                          "this blocks for ever"))
        return;
    /* The cycle is told once, where the first of the two programs is reported. */
    bool by_other = explain_block(checker, core), first = core == CORE_AIC;
    if (first && by_other && is_blocked(&checker->proof.tracks[1 - core]) &&
        explain_block(checker, 1 - core))
        diag_help(checker->diags, "so each of the two waits for the other");
}

/* ------------------------------------------------------------------------------ flags ---- */

void sync_report_overflow(const struct sync_checker *checker, enum core_type core, uint32_t n,
                          uint32_t over)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_track *receiver = &checker->proof.tracks[1 - core];
    uint32_t must = n - SYNC_FLAG_LIMIT; /* the wait that must be over before */
    if (!sync_report_step(checker, DIAG_sync_overflow, core, track->sets.at[n],
                          "this may be the 16th release that nobody has waited for"))
        return;
    diag_help(checker->diags,
              "the flag is set %u times up to here, and the %s is sure to have waited %u times",
              n + 1, core_type_name(1 - core), over);
    if (must >= receiver->waits.count)
        return;
    diag_note(checker->diags, sync_step_span(checker, 1 - core, receiver->waits.at[must]),
              "let it wait until %s is over, by the other flag",
              sync_step_text(checker, 1 - core, receiver->waits.at[must]));
    sync_help(checker, core == CORE_AIC ? "set v2c" : "set c2v", SYNC_BEHIND, 1 - core,
              receiver->waits.at[must]);
    sync_help(checker, core == CORE_AIC ? "wait v2c" : "wait c2v", SYNC_BEFORE, core,
              track->sets.at[n]);
}

void sync_report_left_set(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t waits = checker->proof.tracks[1 - core].waits.count;
    if (!sync_report_step(checker, DIAG_sync_left_set, core, track->sets.at[waits],
                          "nothing waits for this release: the flag is left set"))
        return;
    diag_help(checker->diags, "the flag is set %u times and waited for %u times", track->sets.count,
              waits);
    if (checker->proof.per_block[1 - core])
        diag_help(checker->diags,
                  "write 'wait %s' in the %s program, before what relies on this, or take it out",
                  flag_name(core), core_type_name(1 - core));
    else
        diag_help(checker->diags, "the launch has no %s that it could release",
                  core_type_name(1 - core));
}

void sync_report_ahead(const struct sync_checker *checker, enum core_type core, uint32_t n,
                       uint32_t awaited)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    if (!sync_report_step(checker, DIAG_sync_overflow, core, track->arrivals.at[n],
                          "this may be the 16th barrier that the core has not awaited"))
        return;
    diag_help(checker->diags, "it has arrived %u times up to here, and awaited %u of them", n + 1,
              awaited);
    sync_help(checker, sync_await_text(core), SYNC_BEFORE, core, track->arrivals.at[n]);
}

void sync_report_unawaited(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t arrival = track->arrivals.at[track->awaits.count], last = track->count - 1;
    if (!sync_report_step(checker, DIAG_sync_left_set, core, arrival,
                          "nothing awaits this arrival: the next launch would take it for its own"))
        return;
    diag_help(checker->diags, "the program has '%s' %u times and '%s' %u times", arrive_text(core),
              track->arrivals.count, sync_await_text(core), track->awaits.count);
    sync_help(checker, sync_await_text(core), SYNC_BEHIND, core, last);
}

void sync_report_undrained(const struct sync_checker *checker, enum core_type core, uint32_t last,
                           uint32_t call)
{
    if (!sync_report_step(checker, DIAG_sync_undrained, core, call,
                          "the call before it may still use the core's memory"))
        return;
    diag_note(checker->diags, sync_step_span(checker, core, last),
              "put a 'pipe_barrier', or an 'arrive' and its 'await', after '%s'",
              sync_instr_text(checker, core, last));
    insert_field(checker, "pipe_barrier", SYNC_BEFORE, core, call);
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

/* A set passes on what was called before it only when that is sure to be complete. */
static void help_drain(const struct sync_checker *checker, enum core_type core, uint32_t set)
{
    diag_help(checker->diags, "put a 'pipe_barrier' before the set, %s",
              sync_step_text(checker, core, set));
    insert_field(checker, "pipe_barrier", SYNC_BEFORE, core, set);
}

void sync_help_order(const struct sync_checker *checker, const struct sync_point *earlier,
                     const struct sync_point *later)
{
    static const char *const barrier[] = {"arrive aic await aic", "arrive aiv await aiv"};
    static const char *const release[] = {"arrive aic await aic set c2v",
                                          "arrive aiv await aiv set v2c"};
    uint32_t set = find_flag(checker, earlier, later);
    if (sync_is_one_core(earlier, later))
        sync_help(checker, "pipe_barrier", SYNC_BEHIND, earlier->core, earlier->step);
    else if (set != NONE && sync_is_passed(&checker->proof, earlier, later))
        help_drain(checker, earlier->core, set);
    else if (earlier->core == later->core)
        sync_help(checker, barrier[earlier->core], SYNC_BEHIND, earlier->core, earlier->step);
    else if (set != NONE)
        sync_help(checker, barrier[earlier->core], SYNC_BEFORE, earlier->core, set);
    else {
        sync_help(checker, release[earlier->core], SYNC_BEHIND, earlier->core, earlier->step);
        sync_help(checker, earlier->core == CORE_AIC ? "wait c2v" : "wait v2c", SYNC_BEFORE,
                  later->core, later->step);
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
static bool report_early_order(const struct sync_checker *checker, const struct order_edge *edge,
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
        return false;
    entry_field(checker);
    diag_note(diags, op_span(checker, from), "%s", edge_text(checker, edge));
    diag_help(diags, "let the kernel declare it, or put 'arrive %s await %s' between the calls",
              core_type_name(earlier->core), core_type_name(earlier->core));
    return true;
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
