/* partition-scopes: collects each scope's ops, over all its blocks and streams, into super kernels.
 *
 * needs    nothing
 * gives    no scopes: their ops stand in super kernels, one per scope where possible
 * changes  blocks; the text order of ops
 * keeps    ops, values, streams; the text satisfies the required order (ir/order.h)
 *
 * A scope becomes several super kernels only where an op outside needs a part of it and another
 * part needs that op. Contracting the super kernels of the result never makes a cycle: the text is
 * a schedule of them (passes/fusion/schedule.h).
 */
#include "passes/fusion/fusion.h"

bool pass_partition_scopes(struct pass_context *context)
{
    return fusion_run(context, FUSION_COLLECT);
}
