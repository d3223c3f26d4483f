/* limit-stream-fusion: enforces what a scope's `stream-fusion` allows.
 *
 * needs    super kernels
 * changes  nothing
 *
 * With stream-fusion=0, ops of different streams may follow one another in a super kernel only
 * where the graph orders the two; else fusing would order what the graph does not. In the list of a
 * super kernel nothing stands between neighbours, so an order between them is an edge of its own,
 * or leads over what runs beside the super kernel.
 */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/launch_order.h"
#include "ir/core/sk_options.h"
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/manager/pass.h"
#include "passes/partition/body_writer.h"

#include <string.h>

/* The pairs of neighbours in the super kernels of a scope that nothing orders. */
struct unordered {
    uint32_t from, to; /* the first */
    uint32_t more;     /* how many others there are */
    uint32_t next;     /* of these the first that comes behind */
    uint32_t block;
};

static struct unordered *scope_pairs(struct unordered *of_blocks, struct id_map *scopes,
                                     const struct module *module, const struct graph *graph,
                                     uint32_t block)
{
    uint32_t scope = attr_symbol(module, graph->blocks.at[block].attrs, W_scope);
    if (scope == NONE)
        return &of_blocks[block];
    if (id_map_find(scopes, scope) == NONE)
        id_map_set(scopes, scope, block);
    return &of_blocks[id_map_get(scopes, scope)];
}

/* The option of the command line by which streams may not run side by side, over what the scope
 * says; NULL: none. */
static const char *given_by(const struct pass_context *context)
{
    const char *all = context->sk_options, *compare = context->compare_options;
    if (!all || !sk_options_find(all, strlen(all), SK_stream_fusion))
        return NULL;
    return compare && sk_options_find(compare, strlen(compare), SK_stream_fusion) ? "--compare"
                                                                                  : "--sk-options";
}

/* What has to be changed: the options, with all that they have; or the first op. */
static void help(struct pass_context *context, const struct graph *graph,
                 const struct unordered *pairs)
{
    struct module *module = context->module;
    const struct op *from = &graph->ops.at[pairs->from];
    uint32_t own = attr_string(module, graph->blocks.at[pairs->block].attrs, W_options);
    const char *by = given_by(context), *order = "order each of them behind the one before by "
                                                 "'after'";
    if (from->results.count && pairs->more == 0)
        order = arena_printf(&context->diags->arena, "order the two: 'after (%s)' on this op",
                             args_name_text(module, graph->values.at[from->results.first].name,
                                            false, &context->diags->arena));
    uint32_t repaired = sk_options_override(module, own, "stream-fusion=1");
    if (by)
        diag_help(context->diags,
                  "'stream-fusion' of %s is 0, whatever the scope says: leave it out there, or 1; "
                  "or %s",
                  by, order);
    else
        diag_help(context->diags, "let streams run side by side: options = \"%.*s\"; or %s",
                  NAME(module, repaired), order);
}

static void report(struct pass_context *context, const struct graph *graph,
                   const struct unordered *pairs)
{
    const struct module *module = context->module;
    if (!diag_at(context->diags, DIAG_stream_fusion,
                 locate_op(module, &graph->ops.at[pairs->to], OP_TYPE_NAME, 0),
                 "this op and the one before it in its super kernel are of different streams, and "
                 "nothing orders them"))
        return;
    diag_note(context->diags, locate_op(module, &graph->ops.at[pairs->from], OP_TYPE_NAME, 0),
              "the one before it");
    if (pairs->more)
        diag_note(context->diags, locate_op(module, &graph->ops.at[pairs->next], OP_TYPE_NAME, 0),
                  pairs->more == 1 ? "so it is with one more, this"
                                   : "so it is with %u more, of which this is the first",
                  pairs->more);
    help(context, graph, pairs);
}

/* The order of launches with that of ops, made when it is asked for. */
struct launch_order {
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    bool nested; /* something runs in parallel with a super kernel */
    bool known;
    struct gates gates;
};

/* Whether an op follows another one of its super kernel by way of what runs in parallel with that:
 * by nodes after the first in the text. */
static bool follows_outside(struct launch_order *o, uint32_t from, uint32_t to)
{
    struct vec_u32 open = {NULL, 0, 0};
    struct id_map met = {NULL, 0, 0};
    uint32_t n_ops = o->order->n_ops, place = o->order->position[from];
    bool found = false;
    if (o->nested && !o->known)
        gates_init(&o->gates, o->module, o->graph, o->order);
    o->known = o->nested;
    vec_push(&open, to);
    while (o->nested && open.count && !found) {
        uint32_t node = open.at[--open.count];
        const struct order *all = &o->gates.order;
        for (uint32_t e = all->first[node]; e < all->first[node + 1]; e++) {
            uint32_t next = all->edges[e].from;
            found = found || next == from;
            if (id_map_find(&met, next) == NONE &&
                (next < n_ops ? o->order->position[next] : o->gates.members[next - n_ops].first) >=
                    place)
                vec_push(&open, next);
            id_map_set(&met, next, 1);
        }
    }
    vec_free(&open);
    id_map_free(&met);
    return found;
}

static void find_pairs(struct pass_context *context, const struct graph *graph,
                       struct unordered *of_blocks)
{
    const struct order *order = analyses_order(context->analyses, context->module, graph);
    const struct members *members = analyses_members(context->analyses, context->module, graph);
    struct id_map scopes = {NULL, 0, 0};
    struct launch_order launches = {
        .module = context->module, .graph = graph, .order = order, .nested = body_is_nested(graph)};
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL ||
            block_options(context->module, block)->of[SK_stream_fusion].number != 0)
            continue;
        for (uint32_t i = members->first[b]; i + 1 < members->first[b + 1]; i++)
            if (!order_follows(order, members->ops[i], members->ops[i + 1]) &&
                !follows_outside(&launches, members->ops[i], members->ops[i + 1])) {
                struct unordered *pairs =
                    scope_pairs(of_blocks, &scopes, context->module, graph, b);
                if (pairs->from == NONE)
                    *pairs = (struct unordered){members->ops[i], members->ops[i + 1], 0, NONE, b};
                else if (pairs->more++ == 0)
                    pairs->next = members->ops[i + 1];
            }
    }
    if (launches.known)
        gates_free(&launches.gates);
    id_map_free(&scopes);
}

/* One error for each scope: one option is what all of it needs. */
static bool check_graph(struct pass_context *context, const struct graph *graph)
{
    struct unordered *of_blocks = mem_realloc(NULL, graph->blocks.count, sizeof *of_blocks);
    bool ok = true;
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        of_blocks[b].from = NONE;
    find_pairs(context, graph, of_blocks);
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        if (of_blocks[b].from == NONE)
            continue;
        report(context, graph, &of_blocks[b]);
        ok = false;
    }
    mem_free(of_blocks);
    return ok;
}

bool pass_limit_stream_fusion(struct pass_context *context)
{
    bool ok = true;
    analyses_make_members(context->analyses, context->module);
    for (uint32_t i = 0; i < context->module->graphs.count; i++) {
        gears_tell_copy(context->diags, context->module, &context->module->graphs.at[i]);
        ok = check_graph(context, &context->module->graphs.at[i]) && ok;
    }
    gears_tell_copy(context->diags, context->module, NULL);
    return ok;
}
