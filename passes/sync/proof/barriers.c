#include <assert.h>
#include <string.h>

#include "ir/core/kernel.h"
#include "ir/core/sk_options.h"
#include "ir/syntax/locate.h"
#include "passes/sync/proof/check.h"

/* Whether the programs come to their end with all counters within bounds and at zero: the part of
 * the proof that does not ask what the calls are for. */

/* --------------------------------------------------------------------------- deadlocks ---- */

/* The n-th step, from 0, of an effect in a program, or NONE. */
static uint32_t find_step(const struct sync_track *track, enum instr_effect effect, uint32_t n)
{
    for (uint32_t i = 0; i < track->count; i++)
        if (track->steps[i].effect == effect && n-- == 0)
            return i;
    return NONE;
}

/* A core awaits barriers that it has not arrived at itself. */
static void explain_barrier(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t arrive = find_step(track, EFFECT_ARRIVE, track->awaits.count);
    const char *waits = sync_step_text(checker, core, track->next);
    if (arrive == NONE) {
        diag_help(checker->diags,
                  "%s is 'await' number %u of the program, which has 'arrive' %u times", waits,
                  track->awaits.count + 1, track->arrivals.count);
        sync_help(checker, sync_texts[core].arrive, SYNC_BEFORE, core, track->next);
        return;
    }
    diag_note(checker->diags, sync_step_span(checker, core, arrive),
              "%s waits for %s, which stands behind it in the same program", waits,
              sync_step_text(checker, core, arrive));
    diag_help(checker->diags, "put that before it, or write another '%s' there",
              sync_texts[core].arrive);
}

/* Why the core is blocked; returns whether the other program's block is the reason. */
static bool explain_block(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_track *other = &checker->proof.tracks[1 - core];
    const struct sync_text *texts = &sync_texts[1 - core];
    const char *waits = sync_step_text(checker, core, track->next),
               *name = core_type_name(1 - core);
    bool part = track->steps[track->next].effect == EFFECT_CALL;
    uint32_t awaited = part ? sync_other_part(&checker->proof, core)
                            : find_step(other, EFFECT_SET, track->waits.count);
    if (track->steps[track->next].effect == EFFECT_AWAIT) {
        explain_barrier(checker, core);
        return false;
    }
    if (awaited == NONE) {
        diag_help(checker->diags,
                  "%s is wait number %u for '%s', which the %s program sets %u times", waits,
                  track->waits.count + 1, texts->flag, name, other->sets.count);
        diag_help(checker->diags,
                  "write '%s' in the %s program, behind what this waits for, or take it out",
                  texts->set, name);
        return false;
    }
    diag_note(checker->diags, sync_step_span(checker, 1 - core, awaited),
              "%s%s waits for %s, which stands behind %s",
              part ? "the parts of a mixed kernel run at the same time: " : "", waits,
              sync_step_text(checker, 1 - core, awaited),
              sync_step_text(checker, 1 - core, other->next));
    return true;
}

bool sync_check_blocked(const struct sync_checker *checker)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        const struct sync_track *other = &checker->proof.tracks[1 - core];
        if (track->next == track->count)
            continue;
        ok = false;
        if (!sync_report_step(checker, DIAG_sync_deadlock, core, track->next,
                              "this blocks for ever"))
            continue;
        /* The cycle is told once, where the first of the two programs is reported. */
        if (explain_block(checker, core) && core == CORE_AIC && other->next < other->count &&
            explain_block(checker, CORE_AIV))
            diag_help(checker->diags, "so each of the two waits for the other");
    }
    return ok;
}

/* ---------------------------------------------------------------------------- counters ---- */

/* At the n-th set of a core, from 0, `over` waits of the other one are sure to be over. */
static bool report_overflow(const struct sync_checker *checker, enum core_type core, uint32_t n,
                            uint32_t over)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_track *receiver = &checker->proof.tracks[1 - core];
    uint32_t must = n - SYNC_FLAG_LIMIT; /* the wait that must be over before */
    if (!sync_report_step(checker, DIAG_sync_overflow, core, track->sets.at[n],
                          "this may be the 16th release that nobody has waited for"))
        return false;
    diag_help(checker->diags,
              "the flag is set %u times up to here, and the %s is sure to have waited %u times",
              n + 1, core_type_name(1 - core), over);
    if (must >= receiver->waits.count)
        return false;
    diag_note(checker->diags, sync_step_span(checker, 1 - core, receiver->waits.at[must]),
              "let it wait until %s is over, by the other flag",
              sync_step_text(checker, 1 - core, receiver->waits.at[must]));
    sync_help(checker, sync_texts[1 - core].set, SYNC_BEHIND, 1 - core, receiver->waits.at[must]);
    sync_help(checker, sync_texts[core].wait, SYNC_BEFORE, core, track->sets.at[n]);
    return false;
}

/* No set may be the sixteenth before the other core has waited, as often as it is sure to have; and
 * all are waited for in the end. */
static bool check_flags(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_track *receiver = &checker->proof.tracks[1 - core];
    uint32_t over = 0, waits = receiver->waits.count;
    for (uint32_t n = 0; n < track->sets.count; n++) {
        uint32_t passed = track->before[track->sets.at[n]].passed.own[1 - core];
        while (over < waits && receiver->waits.at[over] < passed)
            over++;
        if (n + 1 - over > SYNC_FLAG_LIMIT)
            return report_overflow(checker, core, n, over);
    }
    if (track->sets.count == waits)
        return true;
    if (!sync_report_step(checker, DIAG_sync_left_set, core, track->sets.at[waits],
                          "nothing waits for this release: the flag is left set"))
        return false;
    diag_help(checker->diags, "the flag is set %u times and waited for %u times", track->sets.count,
              waits);
    if (checker->proof.per_block[1 - core])
        diag_help(checker->diags,
                  "write '%s' in the %s program, before what relies on this, or take it out",
                  sync_texts[1 - core].wait, core_type_name(1 - core));
    else
        diag_help(checker->diags, "the launch has no %s that it could release",
                  core_type_name(1 - core));
    return false;
}

/* The barrier is complete for a core as often as all have arrived, so at most as often as it has
 * itself: its own program says how many completions it may have before it awaits them. */
static bool check_arrivals(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    const struct sync_text *texts = &sync_texts[core];
    uint32_t awaited = 0, arrivals = track->arrivals.count, awaits = track->awaits.count;
    for (uint32_t n = 0; n < arrivals; n++) {
        uint32_t arrival = track->arrivals.at[n];
        while (awaited < awaits && track->awaits.at[awaited] < arrival)
            awaited++;
        if (n + 1 - awaited <= SYNC_FLAG_LIMIT)
            continue;
        if (sync_report_step(checker, DIAG_sync_overflow, core, arrival,
                             "this may be the 16th barrier that the core has not awaited")) {
            diag_help(checker->diags, "it has arrived %u times up to here, and awaited %u of them",
                      n + 1, awaited);
            sync_help(checker, texts->await, SYNC_BEFORE, core, arrival);
        }
        return false;
    }
    if (arrivals == awaits)
        return true;
    if (sync_report_step(
            checker, DIAG_sync_left_set, core, track->arrivals.at[awaits],
            "nothing awaits this arrival: the next launch would take it for its own")) {
        diag_help(checker->diags, "the program has '%s' %u times and '%s' %u times", texts->arrive,
                  arrivals, texts->await, awaits);
        sync_help(checker, texts->await, SYNC_BEHIND, core, track->count - 1);
    }
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

/* The next step of a program, from `step`, that is the work of a call; its count: none. */
static uint32_t next_call(const struct sync_track *track, uint32_t step)
{
    while (step < track->count && track->steps[step].effect != EFFECT_CALL)
        step++;
    return step;
}

static bool call_has(const struct sync_checker *checker, enum core_type core, uint32_t step,
                     uint32_t word)
{
    uint32_t kernel = sync_instr(&checker->proof, core, step)->kernel;
    return attr_flag(checker->module, sync_kernel(checker, kernel)->attrs, word);
}

/* What an `undrained` kernel leaves on the pipes is drained directly after the call: an arrival
 * waits for one pipe alone. Steps that feed the call come between. */
static bool check_settled(const struct sync_checker *checker, enum core_type core, uint32_t call)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t next = call + 1;
    if (!call_has(checker, core, call, W_undrained))
        return true;
    while (next < track->count && track->steps[next].effect == EFFECT_FEED)
        next++;
    if (next < track->count && track->steps[next].effect == EFFECT_DRAIN)
        return true;
    if (sync_report_step(checker, DIAG_sync_undrained, core, call,
                         "the kernel returns before its pipes are done"))
        sync_help(checker, "pipe_barrier", SYNC_BEHIND, core, next - 1);
    return false;
}

/* Between two calls their core drains. An await drains what was called before its own arrival. An
 * early wait that awaits no barrier waits for the other core type, and the core's own pipes may
 * still be busy. */
bool sync_check_drained(const struct sync_checker *checker)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        uint32_t last = NONE;
        for (uint32_t i = next_call(track, 0); i < track->count; i = next_call(track, i + 1)) {
            ok = check_settled(checker, core, i) && ok;
            if (i >= track->next)
                continue;
            if (last != NONE && track->before[i].drained <= last) {
                if (sync_report_step(checker, DIAG_sync_undrained, core, i,
                                     "the call before it may still use the core's memory")) {
                    diag_note(checker->diags, sync_step_span(checker, core, last),
                              "it is not drained: a 'pipe_barrier' after it does that, or an "
                              "'arrive' and its 'await'");
                    sync_help(checker, "pipe_barrier", SYNC_BEFORE, core, i);
                }
                ok = false;
            }
            last = i;
        }
    }
    return ok;
}

/* What a call says that its sub-kernel does of the entry's barriers must be what it was built for:
 * it does that always, and nothing else. */
bool sync_check_early(const struct sync_checker *checker)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_track *track = &checker->proof.tracks[core];
        for (uint32_t i = next_call(track, 0); i < track->count; i = next_call(track, i + 1)) {
            const struct instr *call = sync_instr(&checker->proof, core, i);
            unsigned early = call->early;
            unsigned built =
                kernel_early_start(checker->module, sync_kernel(checker, call->kernel));
            const char *fault = NULL;
            if ((early & ~built) & EARLY_SET)
                fault = "the kernel was not built to arrive itself: its 'early_start' does not "
                        "list 'set'";
            else if ((early & ~built) & EARLY_WAIT_MIX)
                fault = "the kernel was not built to wait itself: its 'early_start' does not list "
                        "'wait'";
            else if ((built & ~early) & EARLY_SET)
                fault = "the kernel arrives itself, but its call does not say 'early_set'";
            else if (built & EARLY_WAIT_MIX && !(early & EARLY_WAIT_MIX))
                fault = "the kernel waits itself, but its call does not say 'early_wait'";
            else
                continue;
            sync_report_step(checker, DIAG_sync_early, core, i, fault);
            ok = false;
        }
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

static bool check_full_arrivals(const struct sync_checker *checker, enum core_type core,
                                uint32_t call)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t awaited = sync_steps_before(&track->awaits, call);
    if (awaited >= sync_steps_before(&track->arrivals, call))
        return true;
    uint32_t arrival = track->arrivals.at[awaited];
    if (!sync_report_step(checker, DIAG_sync_full_barrier, core, call,
                          "an arrival of the entry is outstanding here, and the kernel's own "
                          "barriers would take it for theirs"))
        return false;
    diag_note(checker->diags, sync_step_span(checker, core, arrival),
              "nothing awaits %s before the call", sync_step_text(checker, core, arrival));
    sync_help(checker, sync_texts[core].await, SYNC_BEFORE, core, call);
    return false;
}

/* The flags of `sender` at the two parts of a kernel, by core type. */
static bool check_full_flag(const struct sync_checker *checker, enum core_type sender,
                            const uint32_t *call)
{
    enum core_type receiver = 1 - sender;
    const struct vec_u32 *sets = &checker->proof.tracks[sender].sets;
    const struct vec_u32 *waits = &checker->proof.tracks[receiver].waits;
    uint32_t over = sync_steps_before(waits, call[receiver]);
    if (over >= sync_steps_before(sets, call[sender]))
        return true;
    if (!sync_report_step(
            checker, DIAG_sync_full_barrier, receiver, call[receiver],
            arena_printf(&checker->diags->arena,
                         "a release of '%s' is outstanding here, and the kernel's own full "
                         "barriers would take it for theirs",
                         sync_texts[sender].flag)))
        return false;
    diag_note(checker->diags, sync_step_span(checker, sender, sets->at[over]),
              "%s is waited for behind the call", sync_step_text(checker, sender, sets->at[over]));
    sync_help(checker, sync_texts[receiver].wait, SYNC_BEFORE, receiver, call[receiver]);
    if (over < waits->count)
        diag_help(checker->diags, "and take it out at %s",
                  sync_step_text(checker, receiver, waits->at[over]));
    return false;
}

/* The kernel's first barrier begins with a `set v2c`, which is one more. */
static bool check_room(const struct sync_checker *checker, uint32_t aiv)
{
    const struct sync_track *track = &checker->proof.tracks[CORE_AIV];
    uint32_t passed = track->before[aiv].passed.own[CORE_AIC];
    uint32_t over = sync_steps_before(&checker->proof.tracks[CORE_AIC].waits, passed);
    if (sync_steps_before(&track->sets, aiv) - over < SYNC_FLAG_LIMIT)
        return true;
    if (sync_report_step(checker, DIAG_sync_overflow, CORE_AIV, aiv,
                         "the kernel's own full barrier may set 'v2c' for the 16th time before "
                         "any is waited for"))
        diag_help(checker->diags, "let the aiv wait for 'c2v' before the call, set behind a 'wait "
                                  "v2c'");
    return false;
}

bool sync_check_full_barriers(const struct sync_checker *checker)
{
    const struct sync_track *tracks = checker->proof.tracks;
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = next_call(&tracks[core], 0); i < tracks[core].count;
             i = next_call(&tracks[core], i + 1))
            if (call_has(checker, core, i, W_sync_all))
                ok = check_full_arrivals(checker, core, i) && ok;
    for (uint32_t i = 0; i < tracks[CORE_AIC].parts.count; i++) {
        uint32_t call[CORE_TYPES] = {tracks[CORE_AIC].parts.at[i], tracks[CORE_AIC].others[i]};
        if (call[CORE_AIV] == NONE || !call_has(checker, CORE_AIC, call[CORE_AIC], W_sync_all))
            continue;
        bool c2v = check_full_flag(checker, CORE_AIC, call);
        bool v2c = check_full_flag(checker, CORE_AIV, call);
        ok = c2v && v2c && check_room(checker, call[CORE_AIV]) && ok;
    }
    return ok;
}

/* Fed barriers (docs/device-model.md): cores that a call leaves out take part in the barriers of
 * its kernel. Which steps must stand at a call its program tells; that nothing then waits for ever
 * follows: all cores of a type come to the call, where `complement` waits for those that run it,
 * and no instruction of the entry stands between. */

/* Each core type has counters of its own in the workspace, and clears these. What holds for the
 * first feeding step of a program, holds for the others. */
static bool check_workspace(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint32_t step = 0, clear = track->count;
    while (step < track->count && track->steps[step].effect != EFFECT_FEED)
        step++;
    while (clear > 0 && track->steps[clear - 1].effect != EFFECT_CLEAR)
        clear--;
    if (step == track->count)
        return true;
    if (clear == 0) {
        if (sync_report_step(checker, DIAG_sync_feed, core, step,
                             "nothing clears the workspace that this works with"))
            diag_help(checker->diags,
                      "write 'clear_workspace' at the begin of the program, and a barrier behind");
        return false;
    }
    struct sync_point feed = sync_point_all(checker, core, step);
    struct sync_point cleared = sync_point_all(checker, core, clear - 1);
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

static bool is_feed(const struct sync_checker *checker, enum core_type core, uint32_t step)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    return step < track->count && track->steps[step].effect == EFFECT_FEED;
}

static void take_step(const struct sync_checker *checker, struct fed_call *fed, uint32_t step)
{
    unsigned phase = sync_instr(&checker->proof, fed->core, step)->word;
    fed->count[phase]++;
    fed->at[phase] = step;
}

/* The steps directly beside a call: `begin` before it, the others after it. */
static struct fed_call steps_at(const struct sync_checker *checker, enum core_type core,
                                uint32_t call)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    struct fed_call fed = {.core = core, .step = call, .first = call, .last = call};
    uint32_t instr = track->steps[call].instr;
    while (fed.first > 0 && track->steps[fed.first - 1].instr == instr)
        fed.first--;
    while (fed.last + 1 < track->count && track->steps[fed.last + 1].instr == instr)
        fed.last++;
    while (fed.first > 0 && is_feed(checker, core, fed.first - 1) &&
           sync_instr(&checker->proof, core, fed.first - 1)->word == PHASE_begin)
        take_step(checker, &fed, --fed.first);
    while (is_feed(checker, core, fed.last + 1) &&
           sync_instr(&checker->proof, core, fed.last + 1)->word != PHASE_begin)
        take_step(checker, &fed, ++fed.last);
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

static bool check_steps(const struct sync_checker *checker, const struct fed_call *fed)
{
    static const char *const why[PHASES] = {
        [PHASE_begin] = "the call is fed, but nothing begins to count its barriers",
        [PHASE_end] = "the call is fed, but its cores never say that they have ended: those that "
                      "it leaves out wait for ever",
        [PHASE_complement] =
            "the call is fed, but the cores that it leaves out take no part in its "
            "barriers: it waits for ever",
    };
    bool idle = left_out(checker, fed) > 0;
    for (unsigned phase = 0; phase < PHASES; phase++) {
        if (fed->count[phase] > 1) {
            sync_report_step(checker, DIAG_sync_feed, fed->core, fed->at[phase],
                             "the call has this twice");
            return false;
        }
        if (fed->count[phase] || (!idle && phase == PHASE_complement))
            continue;
        if (sync_report_step(checker, DIAG_sync_feed, fed->core, fed->step, why[phase]))
            sync_help(checker, phase_texts[phase], phase == PHASE_begin ? SYNC_BEFORE : SYNC_BEHIND,
                      fed->core, fed->step);
        return false;
    }
    return true;
}

/* A kernel with full barriers, some cores that its call leaves out, and nothing that feeds. It is
 * reported at the op, where there is one: an entry that a pass made has no positions. */
static void report_unfed(const struct sync_checker *checker, const struct fed_call *fed)
{
    const struct sync_subject *subject = checker->subject;
    const struct instr *call = sync_instr(&checker->proof, fed->core, fed->step);
    uint32_t all = launched(checker, fed->core), runs = all - left_out(checker, fed);
    uint32_t place = subject ? checker->called.place[call->number[0]] : NONE;
    bool told =
        place == NONE
            ? sync_report_step(checker, DIAG_sync_idle_cores, fed->core, fed->step,
                               "the kernel's full barriers are over all cores of the launch, of "
                               "which this call leaves some out: it waits for ever")
            : diag_at(checker->diags, DIAG_sync_idle_cores,
                      locate_op(checker->module, sync_op(subject, place), OP_TYPE_NAME, 0),
                      "the kernel '@%.*s' has full barriers over all cores of the launch, but runs "
                      "on %u of the %u %ss of '@%.*s': it waits for ever",
                      NAME(checker->module, call->kernel), runs, all, core_type_name(fed->core),
                      NAME(checker->module, checker->entry->name));
    if (told && subject)
        diag_help(checker->diags, "with the option feed-sync-all=1 of its scope, the other cores "
                                  "take part");
    else if (told)
        diag_help(checker->diags, "write 'feed_sync begin' before the call, and 'feed_sync end "
                                  "feed_sync complement' behind it");
}

static bool is_fed(const struct fed_call *fed)
{
    return fed->count[PHASE_begin] || fed->count[PHASE_end] || fed->count[PHASE_complement];
}

/* Whether this is the vector part of a mixed kernel whose cube part is not fed either, at which it
 * is told. */
static bool is_told_by_aics(const struct sync_checker *checker, const struct fed_call *fed)
{
    const struct sync_track *track = &checker->proof.tracks[CORE_AIV];
    if (fed->core == CORE_AIC)
        return false;
    uint32_t part = sync_steps_before(&track->parts, fed->step);
    if (part >= track->parts.count || track->parts.at[part] != fed->step ||
        track->others[part] == NONE)
        return false;
    struct fed_call cube = steps_at(checker, CORE_AIC, track->others[part]);
    return !is_fed(&cube);
}

/* All steps of a program are directly beside calls, and each call has those that it needs. */
static bool check_program(const struct sync_checker *checker, enum core_type core, bool *fed)
{
    const struct sync_track *track = &checker->proof.tracks[core];
    uint8_t *taken = mem_calloc(track->count, 1);
    bool ok = true;
    for (uint32_t i = next_call(track, 0); i < track->count; i = next_call(track, i + 1)) {
        struct fed_call call = steps_at(checker, core, i);
        if (is_fed(&call)) {
            ok = check_steps(checker, &call) && ok;
            *fed = true;
        } else if (call_has(checker, core, i, W_sync_all) && left_out(checker, &call)) {
            ok = false;
            if (!is_told_by_aics(checker, &call))
                report_unfed(checker, &call);
        }
        memset(taken + call.first, 1, call.last + 1 - call.first);
    }
    for (uint32_t i = 0; i < track->count; i++) {
        if (!is_feed(checker, core, i) || taken[i])
            continue;
        bool begin = sync_instr(&checker->proof, core, i)->word == PHASE_begin;
        sync_report_step(checker, DIAG_sync_feed, core, i,
                         begin ? "there is no call directly behind this"
                               : "there is no call directly before this");
        ok = false;
    }
    mem_free(taken);
    return ok;
}

/* A kernel is compiled to be fed where the option says so. */
static void warn_option(const struct sync_checker *checker)
{
    const struct block *block = &checker->subject->graph->blocks.at[checker->subject->block];
    if (block_options(checker->module, block)->of[SK_feed_sync_all].number)
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
