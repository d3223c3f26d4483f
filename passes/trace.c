/* trace: records in memory of where each core stands, where the option debug-op-exec-trace asks for
 * them.
 *
 * needs    super kernels with their entries
 * changes  programs: `trace` at their begin and end, around calls, `wait_event` and `select`; a
 *          slot `tracing` behind those of the ops
 * keeps    all other instructions and their order
 *
 * An entry that has such records is left alone. Why it is sound: as for profile.
 */
#include "passes/entry/records.h"
#include "passes/entry/visit.h"

static bool wants(const struct sk_options *options)
{
    return sk_options_trace(options);
}

static bool trace(struct superkernel *sk)
{
    records_add(sk, RECORDS_TRACE);
    return true;
}

bool pass_trace(struct pass_context *context)
{
    return superkernels_visit_if(context, wants, trace);
}
