/* Kernels with full barriers of their own (`sync_all`), which use what the entry synchronises with:
 * the barrier of a core type and, where a kernel has both parts, both flags (docs/device-model.md,
 * "Full barriers of kernels"). What of the entry's is outstanding at such a call would be met
 * by the kernel's instructions.
 *
 * The n-th wait takes the n-th set, so nothing is outstanding in any run if as many sets stand
 * before the sender's call as waits before the receiver's. */
#include "passes/sync/report.h"

#include <assert.h>

/* The part of one mixed kernel, or a whole kernel, at its call. */
struct full_call {
    enum core_type core;
    uint32_t step;
};

static bool check_arrivals(const struct sync_checker *checker, struct full_call call)
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
                ok = check_arrivals(checker, (struct full_call){core, i}) && ok;
    for (uint32_t i = 0; i < tracks[CORE_AIC].parts.count; i++) {
        uint32_t aic = tracks[CORE_AIC].parts.at[i], aiv = tracks[CORE_AIC].others[i];
        if (aiv != NONE && has_full_barriers(checker, CORE_AIC, aic))
            ok = check_mixed(checker, aic, aiv) && ok;
    }
    return ok;
}
