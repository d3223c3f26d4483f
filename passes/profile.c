/* profile: time records around the whole kernel, each op, each notify and wait, where the option
 * profiling asks for them.
 *
 * needs    super kernels with their entries
 * changes  programs: `profile` at their begin and end, around calls, `notify` and `wait_event`; two
 *          more slots at the end of the entry
 * keeps    all other instructions and their order; the slots of all others
 *
 * An entry that has records is left alone. Why it is sound: records neither order cores nor are
 * waited for, and nothing that must stand beside another is torn apart: what belongs to a call
 * stands around its record.
 */
#include "passes/entry/records.h"
#include "passes/entry/visit.h"

static bool wants(const struct sk_options *options)
{
    return options->of[SK_profiling].number;
}

static bool profile(struct superkernel *sk)
{
    records_add(sk, RECORDS_PROFILE);
    return true;
}

bool pass_profile(struct pass_context *context)
{
    return superkernels_visit_if(context, wants, profile);
}
