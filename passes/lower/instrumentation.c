/* profile, trace, check-sync: records beside the instructions of entries, where options ask for
 * them (profiling, debug-op-exec-trace, debug-cross-core-sync-check).
 *
 * needs    super kernels with their entries
 * changes  programs, and slots of the entry after those of the ops:
 *            profile     `profile` at their begin and end, around calls, `notify` and `wait_event`;
 *                        two slots at the end of the entry
 *            trace       `trace` at their begin and end, around calls, `wait_event` and `select`;
 *                        a slot `tracing`
 *            check-sync  `count_arrive` and `count_set` before arrivals and releases,
 *                        `check_await` and `check_wait` after what waits for them; around calls
 *                        that start early, for what their kernels do; a slot `tracing`
 * keeps    all other instructions and their order
 *
 * An entry that has records of the kind is left alone.
 *
 * Why records are sound: they neither order cores nor are waited for, and what belongs to a call
 * stays with it, inside its records. Why no correct program fails a check: each core counts before
 * it arrives or releases, so a core that has passed its n-th wait finds that those it waited for
 * have counted n times. A core that finds less has passed by an arrival or release that was left
 * over: a kernel sets a flag more often than it waits for it.
 */
#include "passes/lower/insertion_points.h"
#include "passes/lower/visit.h"

static bool wants_profile(const struct sk_options *options)
{
    return options->of[SK_profiling].number;
}

static bool profile(struct superkernel *sk)
{
    records_add(sk, RECORDS_PROFILE);
    return true;
}

static bool trace(struct superkernel *sk)
{
    records_add(sk, RECORDS_TRACE);
    return true;
}

static bool check(struct superkernel *sk)
{
    records_add(sk, RECORDS_CHECK);
    return true;
}

bool pass_profile(struct pass_context *context)
{
    return superkernels_visit_if(context, wants_profile, profile);
}

bool pass_trace(struct pass_context *context)
{
    return superkernels_visit_if(context, sk_options_trace, trace);
}

bool pass_check_sync(struct pass_context *context)
{
    return superkernels_visit_if(context, sk_options_check, check);
}
