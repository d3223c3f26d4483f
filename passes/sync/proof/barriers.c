#include <assert.h>
#include <string.h>

#include "ir/core/sk_options.h"
#include "ir/syntax/locate.h"
#include "passes/sync/proof/check.h"

/* Whether the programs come to their end with all counters within bounds and at zero: the part of
 * the proof that does not ask what the calls are for. */

bool sync_check_blocked(const struct sync_checker *checker)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        if (track->next == track->count)
            continue;
        sync_report_deadlock(checker, core);
        ok = false;
    }
    return ok;
}

/* ------------------------------------------------------------------------------ flags ---- */

/* How many sets of a core are left when the other one has waited as often as it must have; where
 * one may be the sixteenth, that is reported. */
static bool check_overflow(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_track *receiver = &checker->proof.tracks[1 - core];
    uint32_t over = 0;
    for (uint32_t n = 0; n < track->sets.count; n++) {
        uint32_t passed = track->before[track->sets.at[n]].passed.own[1 - core];
        while (over < receiver->waits.count && receiver->waits.at[over] < passed)
            over++;
        if (n + 1 - over <= SYNC_FLAG_LIMIT)
            continue;
        sync_report_overflow(checker, core, n, over);
        return false;
    }
    return true;
}

static bool check_flags(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_proof *proof = &checker->proof;
    if (!check_overflow(checker, core))
        return false;
    if (proof->tracks[core].sets.count == proof->tracks[1 - core].waits.count)
        return true;
    sync_report_left_set(checker, core);
    return false;
}

/* --------------------------------------------------------------------------- arrivals ---- */

/* The barrier is complete for a core as often as all have arrived, so at most as often as it has
 * itself: its own program says how many completions it may have before it awaits them. */
static bool check_arrivals(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t awaited = 0;
    for (uint32_t n = 0; n < track->arrivals.count; n++) {
        while (awaited < track->awaits.count && track->awaits.at[awaited] < track->arrivals.at[n])
            awaited++;
        if (n + 1 - awaited <= SYNC_FLAG_LIMIT)
            continue;
        sync_report_ahead(checker, core, n, awaited);
        return false;
    }
    if (track->arrivals.count == track->awaits.count)
        return true;
    sync_report_unawaited(checker, core);
    return false;
}

bool sync_check_counts(const struct sync_checker *checker)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        ok = check_flags(checker, core) && ok;
        ok = check_arrivals(checker, core) && ok;
    }
    return ok;
}

/* ------------------------------------------------------------------------------ calls ---- */

/* What its kernel leaves on the pipes is drained directly behind the call: an arrival waits for one
 * pipe alone. Steps that feed the call stand between. */
static bool check_settled(const struct sync_checker *checker)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        for (uint32_t i = 0; i < track->count; i++) {
            if (track->steps[i].effect != EFFECT_CALL ||
                !attr_flag(
                    checker->module,
                    sync_kernel(checker, sync_instr(&checker->proof, core, i)->kernel)->attrs,
                    W_undrained))
                continue;
            uint32_t next = i + 1;
            while (next < track->count && track->steps[next].effect == EFFECT_FEED)
                next++;
            if (next < track->count && track->steps[next].effect == EFFECT_DRAIN)
                continue;
            if (sync_report_step(checker, DIAG_sync_undrained, core, i,
                                 "the kernel returns before its pipes are done"))
                sync_help(checker, "pipe_barrier", SYNC_BEHIND, core, next - 1);
            ok = false;
        }
    }
    return ok;
}

/* An await drains what was called before its own arrival. An early wait that awaits no barrier
 * waits for the other core type, and the core's own pipes may still be busy. */
bool sync_check_drained(const struct sync_checker *checker)
{
    bool ok = check_settled(checker);
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        uint32_t last = NONE;
        for (uint32_t i = 0; i < track->next; i++) {
            if (track->steps[i].effect != EFFECT_CALL)
                continue;
            if (last != NONE && track->before[i].drained <= last) {
                sync_report_undrained(checker, core, last, i);
                ok = false;
            }
            last = i;
        }
    }
    return ok;
}

/* What a call says that its sub-kernel does of the entry's barriers must be what it was built for:
 * it does that always, and nothing else. NULL if so. */
static const char *early_fault(unsigned built, unsigned early)
{
    if ((early & ~built) & EARLY_SET)
        return "the kernel was not built to arrive itself: its 'early_start' does not list 'set'";
    if ((early & ~built) & EARLY_WAIT_MIX)
        return "the kernel was not built to wait itself: its 'early_start' does not list 'wait'";
    if ((built & ~early) & EARLY_SET)
        return "the kernel arrives itself, but its call does not say 'early_set'";
    if (built & EARLY_WAIT_MIX && !(early & EARLY_WAIT_MIX))
        return "the kernel waits itself, but its call does not say 'early_wait'";
    return NULL;
}

bool sync_check_early(const struct sync_checker *checker)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < checker->proof.tracks[core].count; i++) {
            if (checker->proof.tracks[core].steps[i].effect != EFFECT_CALL)
                continue;
            const struct instr *call = sync_instr(&checker->proof, core, i);
            const struct kernel *kernel = sync_kernel(checker, call->kernel);
            const char *fault =
                early_fault(kernel_early_start(checker->module, kernel), call->early);
            if (!fault)
                continue;
            sync_report_step(checker, DIAG_sync_early, core, i, fault);
            ok = false;
        }
    return ok;
}

/* Kernels with full barriers of their own (`sync_all`), which use what the entry synchronises with:
 * the barrier of a core type and, where a kernel has both parts, both flags (docs/device-model.md,
 * "Full barriers of kernels"). What of the entry's is outstanding at such a call would be met
 * by the kernel's instructions.
 *
 * The n-th wait takes the n-th set, so nothing is outstanding in any run if as many sets stand
 * before the sender's call as waits before the receiver's. */

/* The part of one mixed kernel, or a whole kernel, at its call. */
struct full_call {
    enum core_type core;
    uint32_t step;
};

static bool check_full_arrivals(const struct sync_checker *checker, struct full_call call)
{
    const struct sync_track *track = &checker->proof.tracks[call.core];
    uint32_t awaited = sync_steps_before(&track->awaits, call.step);
    if (awaited >= sync_steps_before(&track->arrivals, call.step))
        return true;
    uint32_t arrival = track->arrivals.at[awaited];
    if (!sync_report_step(checker, DIAG_sync_full_barrier, call.core, call.step,
                          "an arrival of the entry is outstanding here, and the kernel's own "
                          "barriers would take it for theirs"))
        return false;
    diag_note(checker->diags, sync_step_span(checker, call.core, arrival),
              "nothing awaits %s before the call", sync_step_text(checker, call.core, arrival));
    sync_help(checker, sync_await_text(call.core), SYNC_BEFORE, call.core, call.step);
    return false;
}

/* `sender` and `receiver` are the two parts of a kernel. */
static bool check_flag(const struct sync_checker *checker, struct full_call sender,
                       struct full_call receiver)
{
    const struct sync_track *sends = &checker->proof.tracks[sender.core];
    const struct sync_track *waits = &checker->proof.tracks[receiver.core];
    uint32_t over = sync_steps_before(&waits->waits, receiver.step);
    if (over >= sync_steps_before(&sends->sets, sender.step))
        return true;
    uint32_t set = sends->sets.at[over];
    bool c2v = sender.core == CORE_AIC;
    if (!sync_report_step(checker, DIAG_sync_full_barrier, receiver.core, receiver.step,
                          c2v ? "a release of 'c2v' is outstanding here, and the kernel's own full "
                                "barriers would take it for theirs"
                              : "a release of 'v2c' is outstanding here, and the kernel's own full "
                                "barriers would take it for theirs"))
        return false;
    diag_note(checker->diags, sync_step_span(checker, sender.core, set),
              "%s is waited for behind the call", sync_step_text(checker, sender.core, set));
    sync_help(checker, c2v ? "wait c2v" : "wait v2c", SYNC_BEFORE, receiver.core, receiver.step);
    if (over < waits->waits.count)
        diag_help(checker->diags, "and take it out at %s",
                  sync_step_text(checker, receiver.core, waits->waits.at[over]));
    return false;
}

/* The kernel's first barrier begins with a `set v2c`, which is one more. */
static bool check_room(const struct sync_checker *checker, struct full_call aiv)
{
    const struct sync_track *track = &checker->proof.tracks[CORE_AIV];
    const struct sync_track *receiver = &checker->proof.tracks[CORE_AIC];
    uint32_t passed = track->before[aiv.step].passed.own[CORE_AIC];
    uint32_t set = sync_steps_before(&track->sets, aiv.step);
    if (set - sync_steps_before(&receiver->waits, passed) < SYNC_FLAG_LIMIT)
        return true;
    if (sync_report_step(checker, DIAG_sync_overflow, CORE_AIV, aiv.step,
                         "the kernel's own full barrier may set 'v2c' for the 16th time before "
                         "any is waited for"))
        diag_help(checker->diags, "let the aiv wait for 'c2v' before the call, set behind a 'wait "
                                  "v2c'");
    return false;
}

static bool has_full_barriers(const struct sync_checker *checker, enum core_type core,
                              uint32_t step)
{
    const struct instr *call = sync_instr(&checker->proof, core, step);
    return attr_flag(checker->module, sync_kernel(checker, call->kernel)->attrs, W_sync_all);
}

static bool check_mixed(const struct sync_checker *checker, uint32_t aic_step, uint32_t aiv_step)
{
    struct full_call aic = {CORE_AIC, aic_step}, aiv = {CORE_AIV, aiv_step};
    bool ok = check_flag(checker, aic, aiv);
    ok = check_flag(checker, aiv, aic) && ok;
    return ok && check_room(checker, aiv);
}

bool sync_check_full_barriers(const struct sync_checker *checker)
{
    const struct sync_track *tracks = checker->proof.tracks;
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < tracks[core].count; i++)
            if (tracks[core].steps[i].effect == EFFECT_CALL && has_full_barriers(checker, core, i))
                ok = check_full_arrivals(checker, (struct full_call){core, i}) && ok;
    for (uint32_t i = 0; i < tracks[CORE_AIC].parts.count; i++) {
        uint32_t aic = tracks[CORE_AIC].parts.at[i], aiv = tracks[CORE_AIC].others[i];
        if (aiv != NONE && has_full_barriers(checker, CORE_AIC, aic))
            ok = check_mixed(checker, aic, aiv) && ok;
    }
    return ok;
}

/* Fed barriers (docs/device-model.md): cores that a call leaves out take part in the barriers of
 * its kernel. Which steps must stand at a call its program tells; that nothing then waits for ever
 * follows: all cores of a type come to the call, where `complement` waits for those that run it,
 * and no instruction of the entry stands between. */

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
