/* limit-stream-fusion: enforces what a scope's `stream-fusion` allows.
 *
 * needs    super kernels
 * changes  nothing
 *
 * With stream-fusion=0, ops of different streams may follow one another in a super kernel only
 * where the graph orders the two; else fusing would order what the graph does not. In the list of a
 * super kernel nothing stands between neighbours, so an order between them is an edge of its own.
 */
#include "ir/members.h"
#include "ir/order.h"
#include "ir/sk_options.h"
#include "ir/syntax/locate.h"
#include "passes/pass.h"

static bool allows_streams(const struct module *module, const struct block *superkernel)
{
    struct sk_options options;
    sk_options_of(&options, module, attr_string(module, superkernel->attrs, W_options));
    return options.of[SK_stream_fusion].number != 0;
}

static bool check_pair(struct pass_context *context, const struct graph *graph,
                       const struct order *order, uint32_t from, uint32_t to)
{
    const struct module *module = context->module;
    if (order_follows(order, from, to))
        return true;
    if (diag_at(context->diags, DIAG_stream_fusion,
                locate_op(module, &graph->ops.at[to], OP_TYPE_NAME, 0),
                "this op and the one before it in its super kernel are of different streams, and "
                "nothing orders them")) {
        diag_note(context->diags, locate_op(module, &graph->ops.at[from], OP_TYPE_NAME, 0),
                  "the one before it");
        diag_help(context->diags,
                  "let streams run side by side: options = \"stream-fusion=1\"; or order the two "
                  "by 'after'");
    }
    return false;
}

static bool check_graph(struct pass_context *context, const struct graph *graph)
{
    const struct order *order = analyses_order(context->analyses, context->module, graph);
    const struct members *members = analyses_members(context->analyses, context->module, graph);
    bool ok = true;
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        if (graph->blocks.at[b].kind != BLOCK_SUPERKERNEL ||
            allows_streams(context->module, &graph->blocks.at[b]))
            continue;
        for (uint32_t i = members->first[b]; i + 1 < members->first[b + 1]; i++)
            ok = check_pair(context, graph, order, members->ops[i], members->ops[i + 1]) && ok;
    }
    return ok;
}

bool pass_limit_stream_fusion(struct pass_context *context)
{
    bool ok = true;
    for (uint32_t i = 0; i < context->module->graphs.count; i++)
        ok = check_graph(context, &context->module->graphs.at[i]) && ok;
    return ok;
}
