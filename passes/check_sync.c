/* check-sync: checks of barriers and flags where they are used, where the option
 * debug-cross-core-sync-check asks for them.
 *
 * needs    super kernels with their entries
 * changes  programs: `count_arrive` and `count_set` before arrivals and releases, `check_await` and
 *          `check_wait` behind what waits for them; around calls that start early, for what their
 *          kernels do; a slot `tracing` behind those of the ops
 * keeps    all other instructions and their order
 *
 * An entry that has such checks is left alone.
 *
 * Why no correct program fails a check: each core counts before it arrives or releases, so who has
 * passed its n-th wait finds that those it waited for have counted n times. One that finds less has
 * passed by what somebody else left: a kernel that sets a flag more often than it waits for it.
 */
#include "passes/entry/records.h"
#include "passes/entry/visit.h"

static bool wants(const struct sk_options *options)
{
    return sk_options_check(options);
}

static bool check(struct superkernel *sk)
{
    records_add(sk, RECORDS_CHECK);
    return true;
}

bool pass_check_sync(struct pass_context *context)
{
    return superkernels_visit_if(context, wants, check);
}
