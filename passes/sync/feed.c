/* Fed barriers (docs/device-model.md): cores that a call leaves out take part in the barriers of
 * its kernel. Which steps must stand at a call its program tells; that nothing then waits for ever
 * follows: all cores of a type come to the call, where `complement` waits for those that run it,
 * and no instruction of the entry stands between. */
#include "ir/sk_options.h"
#include "ir/syntax/locate.h"
#include "passes/sync/report.h"

#include <string.h>

/* --------------------------------------------------------------------------- workspace ---- */

/* The last step of an effect in a program, or NONE. */
static uint32_t last_of(const struct sync_track *track, enum instr_effect effect)
{
    for (uint32_t i = track->count; i-- > 0;)
        if (track->steps[i].effect == effect)
            return i;
    return NONE;
}

/* Each core type has counters of its own in the workspace, and clears these. */
static bool check_cleared(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    uint32_t clear = last_of(&checker->proof.tracks[core], EFFECT_CLEAR);
    struct sync_point feed = sync_point_all(checker, core, step);
    if (clear == NONE) {
        if (sync_report_step(checker, DIAG_sync_feed, core, step,
                             "nothing clears the workspace that this works with"))
            diag_help(checker->diags,
                      "write 'clear_workspace' at the begin of the program, and a barrier behind");
        return false;
    }
    struct sync_point cleared = sync_point_all(checker, core, clear);
    if (sync_is_done(&checker->proof, &cleared, &feed))
        return true;
    if (sync_report_step(checker, DIAG_sync_feed, core, step,
                         core == CORE_AIC ? "an aic may not have cleared the workspace yet"
                                          : "an aiv may not have cleared the workspace yet"))
        sync_explain_order(checker, &cleared, &feed);
    return false;
}

/* ------------------------------------------------------------------------------- steps ---- */

enum { PHASES = PHASE_complement + 1 };

static const char *const phase_texts[PHASES] = {
    [PHASE_begin] = "feed_sync begin",
    [PHASE_end] = "feed_sync end",
    [PHASE_complement] = "feed_sync complement",
};

/* A call, and how often each step stands beside it: the step of the last one, too. All that
 * belongs to the call are steps `first` .. `last`. */
struct fed_call {
    enum core_type core;
    uint32_t step, first, last;
    uint32_t count[PHASES], at[PHASES];
};

static bool is_call(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    return step < checker->proof.tracks[core].count &&
           sync_instr(&checker->proof, core, step)->op == INSTR_call;
}

static bool is_feed(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    return step < track->count && track->steps[step].effect == EFFECT_FEED;
}

/* Whether the step is the work of a call; its halves of the entry's barriers are steps beside. */
static bool is_work(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    return checker->proof.tracks[core].steps[step].effect == EFFECT_CALL;
}

static void take_step(const struct sync_checker *checker, struct fed_call *fed, uint32_t step)
{
    unsigned phase = sync_instr(&checker->proof, fed->core, step)->word;
    fed->count[phase]++;
    fed->at[phase] = step;
}

/* The steps directly beside a call: `begin` before it, the others behind it. */
static struct fed_call steps_at(const struct sync_checker *checker, enum core_type core,
                                uint32_t call)
{
    struct fed_call fed = {.core = core, .step = call};
    uint32_t first = call, last = call;
    uint32_t instr = checker->proof.tracks[core].steps[call].instr;
    while (first > 0 && checker->proof.tracks[core].steps[first - 1].instr == instr)
        first--;
    while (is_call(checker, core, last + 1) &&
           checker->proof.tracks[core].steps[last + 1].instr == instr)
        last++;
    while (first > 0 && is_feed(checker, core, first - 1) &&
           sync_instr(&checker->proof, core, first - 1)->word == PHASE_begin)
        take_step(checker, &fed, --first);
    while (is_feed(checker, core, last + 1) &&
           sync_instr(&checker->proof, core, last + 1)->word != PHASE_begin)
        take_step(checker, &fed, ++last);
    fed.first = first;
    fed.last = last;
    return fed;
}

/* How many cores of the type the launch has, and how many of them the call leaves out. */
static uint32_t launched(const struct sync_checker *checker, enum core_type core)
{
    return checker->proof.blocks * checker->proof.per_block[core];
}

static uint32_t left_out(const struct sync_checker *checker, const struct fed_call *fed)
{
    const struct instr *call = sync_instr(&checker->proof, fed->core, fed->step);
    bool flat = kernel_type_info(sync_kernel(checker, call->kernel)->type)->flat;
    uint64_t runs =
        flat ? call->number[1] : (uint64_t)call->number[1] * checker->proof.per_block[fed->core];
    uint32_t all = launched(checker, fed->core);
    return runs < all ? all - (uint32_t)runs : 0;
}

/* ------------------------------------------------------------------------------ faults ---- */

static bool report_missing(const struct sync_checker *checker, const struct fed_call *fed,
                           enum phase phase)
{
    static const char *const why[PHASES] = {
        [PHASE_begin] = "the call is fed, but nothing begins to count its barriers",
        [PHASE_end] = "the call is fed, but its cores never say that they have ended: those that "
                      "it leaves out wait for ever",
        [PHASE_complement] =
            "the call is fed, but the cores that it leaves out take no part in its "
            "barriers: it waits for ever",
    };
    if (sync_report_step(checker, DIAG_sync_feed, fed->core, fed->step, why[phase]))
        sync_help(checker, phase_texts[phase], phase == PHASE_begin ? SYNC_BEFORE : SYNC_BEHIND,
                  fed->core, fed->step);
    return false;
}

static bool check_steps(const struct sync_checker *checker, const struct fed_call *fed)
{
    bool idle = left_out(checker, fed) > 0;
    for (unsigned phase = 0; phase < PHASES; phase++) {
        if (fed->count[phase] > 1) {
            sync_report_step(checker, DIAG_sync_feed, fed->core, fed->at[phase],
                             "the call has this twice");
            return false;
        }
        if (fed->count[phase] == 0 && (idle || phase != PHASE_complement))
            return report_missing(checker, fed, (enum phase)phase);
    }
    return true;
}

/* At the op, where there is one: an entry that a pass made has no positions. */
static bool report_idle(const struct sync_checker *checker, const struct fed_call *fed)
{
    const struct sync_subject *subject = checker->subject;
    const struct instr *call = sync_instr(&checker->proof, fed->core, fed->step);
    uint32_t all = launched(checker, fed->core), runs = all - left_out(checker, fed);
    uint32_t place = subject ? checker->called.place[call->number[0]] : NONE;
    if (place == NONE)
        return sync_report_step(checker, DIAG_sync_idle_cores, fed->core, fed->step,
                                "the kernel's full barriers are over all cores of the launch, of "
                                "which this call leaves some out: it waits for ever");
    const struct op *op = sync_op(subject, place);
    return diag_at(checker->diags, DIAG_sync_idle_cores,
                   locate_op(checker->module, op, OP_TYPE_NAME, 0),
                   "the kernel '@%.*s' has full barriers over all cores of the launch, but runs on "
                   "%u of the %u %ss of '@%.*s': it waits for ever",
                   NAME(checker->module, call->kernel), runs, all, core_type_name(fed->core),
                   NAME(checker->module, checker->entry->name));
}

/* A kernel with full barriers, some cores that its call leaves out, and nothing that feeds. */
static bool report_unfed(const struct sync_checker *checker, const struct fed_call *fed)
{
    if (!report_idle(checker, fed))
        return false;
    if (checker->subject)
        diag_help(checker->diags, "with the option feed-sync-all=1 of its scope, the other cores "
                                  "take part");
    else
        diag_help(checker->diags, "write 'feed_sync begin' before the call, and 'feed_sync end "
                                  "feed_sync complement' behind it");
    return false;
}

static bool is_fed(const struct fed_call *fed)
{
    return fed->count[PHASE_begin] || fed->count[PHASE_end] || fed->count[PHASE_complement];
}

/* Whether this is the vector part of a mixed kernel whose cube part is not fed either, at which it
 * is told. */
static bool is_told_by_aics(const struct sync_checker *checker, const struct fed_call *fed)
{
    const struct sync_track *tracks = checker->proof.tracks;
    if (fed->core == CORE_AIC)
        return false;
    uint32_t part = sync_steps_before(&tracks[CORE_AIV].parts, fed->step);
    if (part >= tracks[CORE_AIV].parts.count || tracks[CORE_AIV].parts.at[part] != fed->step ||
        tracks[CORE_AIV].others[part] == NONE)
        return false;
    struct fed_call cube = steps_at(checker, CORE_AIC, tracks[CORE_AIV].others[part]);
    return !is_fed(&cube);
}

static bool check_call(const struct sync_checker *checker, const struct fed_call *fed)
{
    const struct instr *call = sync_instr(&checker->proof, fed->core, fed->step);
    if (is_fed(fed))
        return check_steps(checker, fed);
    if (!attr_flag(checker->module, sync_kernel(checker, call->kernel)->attrs, W_sync_all) ||
        left_out(checker, fed) == 0)
        return true;
    return is_told_by_aics(checker, fed) ? false : report_unfed(checker, fed);
}

static bool report_apart(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    bool begin = sync_instr(&checker->proof, core, step)->word == PHASE_begin;
    sync_report_step(checker, DIAG_sync_feed, core, step,
                     begin ? "there is no call directly behind this"
                           : "there is no call directly before this");
    return false;
}

/* All steps of a program are directly beside calls. */
static bool check_program(const struct sync_checker *checker, enum core_type core, bool *fed)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint8_t *taken = mem_calloc(track->count, 1);
    bool ok = true;
    for (uint32_t i = 0; i < track->count; i++) {
        if (!is_call(checker, core, i) || !is_work(checker, core, i))
            continue;
        struct fed_call call = steps_at(checker, core, i);
        ok = check_call(checker, &call) && ok;
        *fed |= is_fed(&call);
        memset(taken + call.first, 1, call.last + 1 - call.first);
    }
    for (uint32_t i = 0; i < track->count; i++)
        if (is_feed(checker, core, i) && !taken[i])
            ok = report_apart(checker, core, i);
    mem_free(taken);
    return ok;
}

/* What holds for the first feeding step of a program, holds for the others. */
static bool check_workspace(const struct sync_checker *checker, enum core_type core)
{
    for (uint32_t i = 0; i < checker->proof.tracks[core].count; i++)
        if (is_feed(checker, core, i))
            return check_cleared(checker, core, i);
    return true;
}

/* A kernel is compiled to be fed where the option says so. */
static void warn_option(const struct sync_checker *checker)
{
    struct sk_options options;
    const struct block *block = &checker->subject->graph->blocks.at[checker->subject->block];
    sk_options_of(&options, checker->module, attr_string(checker->module, block->attrs, W_options));
    if (options.of[SK_feed_sync_all].number)
        return;
    if (diag_at(checker->diags, DIAG_feed_option, locate_name(checker->module, checker->entry->loc),
                "entry '@%.*s' feeds barriers of kernels, but feed-sync-all=0 says that they are "
                "compiled without",
                NAME(checker->module, checker->entry->name)))
        diag_help(checker->diags, "give the scope the option feed-sync-all=1");
}

bool sync_check_feed(const struct sync_checker *checker)
{
    bool ok = true, fed = false;
    for (int core = 0; core < CORE_TYPES; core++) {
        bool beside = check_program(checker, core, &fed);
        ok = check_workspace(checker, core) && beside && ok;
    }
    if (ok && fed && checker->subject)
        warn_option(checker);
    return ok;
}
