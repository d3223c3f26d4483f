/* split-nonfusable: takes ops that cannot be fused out of super kernels, and cuts these there.
 *
 * needs    nothing
 * gives    super kernels of fusable ops only (passes/fusion/fusable.h)
 * changes  blocks; the text order of ops
 * keeps    ops, values, streams; the text satisfies the required order (ir/order.h)
 *
 * What strict-scope-check says decides between the cut, leaving the scope unfused (`bypass`), and
 * an error (`abort`). With debug-per-op-max-core-num each op is a super kernel of its own.
 */
#include "passes/fusion/fusion.h"

bool pass_split_nonfusable(struct pass_context *context)
{
    return fusion_run(context, FUSION_FILTER);
}
