/* Whether the programs come to their end with all counters within bounds and at zero: the part of
 * the proof that does not ask what the calls are for. */
#include "passes/sync/report.h"

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
