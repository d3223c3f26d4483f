/* partition-scopes: collects each scope's ops, over all its blocks and streams, into super kernels.
 *
 * needs    nothing
 * gives    no scopes: their ops stand in super kernels, one per scope where possible
 * changes  blocks; the text order of ops
 * keeps    ops, values, streams; the text satisfies the required order (ir/analysis/dep_graph.h)
 *
 * split-nonfusable: takes ops that cannot be fused out of super kernels, and cuts these there.
 *
 * needs    nothing
 * gives    super kernels of fusable ops only (passes/partition/fusable.h)
 * changes  as partition-scopes, and keeps the same
 *
 * Both are one schedule of scopes, and of super kernels that were made of scopes (schedule.h),
 * whose parts are merged (merge.c). A scope becomes several super kernels only where an op outside
 * needs a part of it, another part needs that op, and the op cannot run in parallel.
 * strict-scope-check decides between that, leaving the scope unfused (`bypass`), and an error
 * (`abort`). With debug-per-op-max-core-num each op is a super kernel of its own.
 */
#include "ir/core/sk_options.h"
#include "ir/shapes/gears.h"
#include "ir/support/parts.h"
#include "ir/syntax/locate.h"
#include "passes/partition/fused_report.h"
#include "passes/partition/fusion_internal.h"
#include "passes/partition/reference_cuts.h"
#include "passes/partition/superkernel_names.h"

static bool is_fused(const struct fusion *f, const struct op *op)
{
    enum fusable fusable = op_fusable(f->module, f->graph, op);
    bool given = graph_superkernel(f->graph, op->block) != NONE;
    bool all = f->mode == FUSION_COLLECT && (given || (!fusion_filters(f) && fusable != NOT_CALL));
    return fusable == FUSABLE || (all && fusable != NOT_PASSIVE);
}

/* Whether the super kernels of one scope are one group again: where ops are taken out of super
 * kernels, a scope that was in parts may be whole. Else they stay as they are. */
static bool rejoins(const struct fusion *f)
{
    const struct graph *graph = f->graph;
    bool rejoins = f->mode == FUSION_FILTER && !f->context->reference_partition;
    for (uint32_t i = 0; i < graph->ops.count && rejoins; i++)
        if (graph_superkernel(graph, graph->ops.at[i].block) != NONE &&
            !is_fused(f, &graph->ops.at[i]))
            return true;
    return false;
}

/* Blocks of one scope are one group; a super kernel is one of its own, or (`rejoin`) of the group
 * of its scope, if it has one. */
static void find_block_groups(struct fusion *f, uint32_t *of_block, bool rejoin)
{
    struct id_map of_scope = {NULL, 0, 0}; /* by name */
    vec_push(&f->groups, (struct fusion_group){.block = NONE, .scope = NONE, .options = NONE});
    for (uint32_t i = 0; i < f->graph->blocks.count; i++) {
        const struct block *block = &f->graph->blocks.at[i];
        if (block->kind != BLOCK_SCOPE && block->kind != BLOCK_SUPERKERNEL)
            continue;
        uint32_t scope = block->kind == BLOCK_SCOPE ? block->name
                                                    : attr_symbol(f->module, block->attrs, W_scope);
        bool joins = scope != NONE && (rejoin || block->kind == BLOCK_SCOPE);
        of_block[i] = joins ? id_map_find(&of_scope, scope) : NONE;
        if (of_block[i] == NONE) {
            of_block[i] = f->groups.count;
            vec_push(&f->groups, (struct fusion_group){.block = i,
                                                       .name = block->name,
                                                       .scope = scope,
                                                       .options = NONE,
                                                       .whole = of_block[i]});
        }
        if (joins)
            id_map_set(&of_scope, scope, of_block[i]);
        struct fusion_group *group = &f->groups.at[of_block[i]];
        const struct attr *options = attr_find(f->module, block->attrs, W_options);
        if (group->options == NONE && options) {
            group->options = attr_string(f->module, block->attrs, W_options);
            group->options_loc = options->loc;
        }
    }
    id_map_free(&of_scope);
}

static void find_groups(struct fusion *f)
{
    const struct graph *graph = f->graph;
    uint32_t *of_block = mem_calloc(graph->blocks.count, sizeof *of_block);
    f->rejoins = rejoins(f);
    find_block_groups(f, of_block, f->rejoins);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        uint32_t block = f->superkernel_of[i] = graph_superkernel(graph, op->block);
        if (block != NONE && !fusion_ignores(f, i))
            f->sizes[block]++;
        if (block == NONE)
            block = graph_enclosing(graph, op->block, BLOCK_SCOPE);
        f->member_of[i] = f->group_of[i] = block == NONE ? GROUP_NONE : of_block[block];
        struct fusion_group *group = &f->groups.at[f->group_of[i]];
        if (f->group_of[i] == GROUP_NONE || is_fused(f, op))
            continue;
        f->group_of[i] = GROUP_NONE;
        group->removed = group->removed || !fusion_ignores(f, i);
    }
    mem_free(of_block);
}

/* Super kernels of the input that are groups of their own stay whole, if need be at the cost of
 * scopes; scopes that must stay whole, at the cost of others. A scope that would be left unfused
 * costs a launch for each op; one whose ops are launched alone costs nothing. */
static struct break_cost cost_of(const struct fusion *f, const struct fusion_group *group,
                                 uint32_t launched)
{
    struct break_cost cost = {BREAK_FREELY, 1, 1};
    struct sk_options options;
    bool known = fusion_options(f, group, &options);
    if (fusion_is_per_op(f, group))
        cost = (struct break_cost){BREAK_FREELY, 0, 0};
    if (known && options.of[SK_strict_scope_check].number == SK_STRICT_bypass)
        cost = (struct break_cost){BREAK_FREELY, launched > 0 ? launched - 1 : 0, 0};
    if (known && options.of[SK_strict_scope_check].number == SK_STRICT_abort)
        cost.rank = BREAK_STRICT;
    if (f->mode == FUSION_COLLECT && f->graph->blocks.at[group->block].kind == BLOCK_SUPERKERNEL)
        cost.rank = BREAK_FIXED;
    return cost;
}

/* Views that the schedule has left out of their scope are outside of it, if it has other ops. */
static void release_views(struct fusion *f)
{
    for (uint32_t i = 0; i < f->graph->ops.count; i++)
        if (f->order->passive[i] && f->group_of[i] == GROUP_NONE &&
            f->schedule.groups[f->member_of[i]].segments > 0 && !fusion_ignores(f, i))
            f->member_of[i] = GROUP_NONE;
}

static void schedule_groups(struct fusion *f)
{
    struct break_cost *costs = mem_calloc(f->groups.count, sizeof *costs);
    uint32_t *launched = mem_calloc(f->groups.count, sizeof *launched); /* ops, by group */
    for (uint32_t i = 0; i < f->graph->ops.count; i++)
        launched[f->group_of[i]] += !f->order->passive[i];
    for (uint32_t i = 1; i < f->groups.count; i++)
        costs[i] = cost_of(f, &f->groups.at[i], launched[i]);
    fusion_schedule(f, costs);
    mem_free(launched);
    mem_free(costs);
}

/* Positions of a group's members in the schedule, which name the parts of a scope. Passive ops do
 * not count: they leave the group when it is first collected. */
static void find_ranks(struct fusion *f)
{
    uint32_t *counts = mem_calloc(f->groups.count, sizeof *counts);
    for (uint32_t i = 0; i < f->schedule.count; i++) {
        uint32_t op = f->schedule.ops[i];
        if (!fusion_ignores(f, op))
            f->rank[op] = counts[f->groups.at[f->member_of[op]].whole]++;
    }
    mem_free(counts);
}

/* Takes the ops of groups out that are to be left unfused. Whether there are any. */
static bool dissolve(struct fusion *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        if (!f->groups.at[f->groups.at[f->group_of[i]].whole].dissolved)
            continue;
        f->group_of[i] = GROUP_NONE;
        any = true;
    }
    return any;
}

static bool is_cut(const struct fusion *f)
{
    return f->mode == FUSION_COLLECT && f->context->reference_partition;
}

/* Decides what is fused, by the schedule that there is, or by others. False where a scope must not
 * break. */
static bool decide(struct fusion *f)
{
    bool ok = fusion_report_removed(f);
    if (is_cut(f))
        ok = fusion_cut(f) && ok;
    bool changed = dissolve(f) || is_cut(f);
    do {
        if (changed) {
            schedule_free(&f->schedule);
            mem_free(f->text);
            schedule_groups(f);
        }
        release_views(f);
        changed = fusion_report_bypassed(f);
        if (changed)
            dissolve(f);
    } while (changed);
    return fusion_report_breaks(f) && ok;
}

/* debug-per-op-max-core-num: each op is a super kernel of its own. Those of a segment stand in an
 * order that the graph allows. */
static void separate(struct fusion *f)
{
    struct segments segments = {NULL, 0, 0};
    bool *alone = mem_calloc(f->groups.count, sizeof *alone);
    for (uint32_t i = 1; i < f->groups.count; i++)
        alone[i] = fusion_is_per_op(f, &f->groups.at[i]);
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        const struct segment *segment = &f->schedule.segments.at[i];
        if (!alone[segment->group]) {
            vec_push(&segments, *segment);
            continue;
        }
        for (uint32_t k = 0; k < segment->count; k++)
            vec_push(&segments,
                     ((struct segment){
                         .group = segment->group, .first = segment->first + k, .count = 1}));
        f->schedule.groups[segment->group].segments += segment->count - 1;
    }
    vec_free(&f->schedule.segments);
    f->schedule.segments = segments;
    mem_free(alone);
}

/* --------------------------------------------------------------------- canonical text ---- */

/* Text whose super kernels are correct as they are does not change. A new schedule would find the
 * same launches, but not always the same order: events between other ops can replace what an op
 * that executes nothing passes on, and what follows a launch may no longer need it. */

/* Whether blocks are those that passes leave: super kernels, streams of a number other than 0 in
 * and around them, and `scope none` in them. */
static bool has_canonical_blocks(const struct graph *graph)
{
    bool any = false;
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        uint32_t around = graph_enclosing(graph, block->parent, BLOCK_SUPERKERNEL);
        any = any || block->kind == BLOCK_SUPERKERNEL;
        if (block->kind == BLOCK_SCOPE || (block->kind == BLOCK_SCOPE_NONE && around == NONE) ||
            (block->kind == BLOCK_STREAM &&
             (block->name == W_0 || graph_enclosing(graph, block->parent, BLOCK_STREAM) != NONE)) ||
            ((block->kind == BLOCK_SUPERKERNEL || block->kind == BLOCK_SUPERKERNEL_REST) &&
             block->parent != NONE))
            return false;
    }
    return any;
}

/* Whether there is nothing to be collected, taken out or taken apart. */
static bool is_collected(const struct fusion *f)
{
    uint8_t *launched = mem_calloc(f->graph->blocks.count, 1);
    bool ok = true;
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        if (f->superkernel_of[i] == NONE)
            continue;
        ok = ok && !fusion_ignores(f, i);
        launched[f->superkernel_of[i]] |= !f->order->passive[i];
    }
    for (uint32_t b = 0; b < f->graph->blocks.count; b++)
        ok = ok && (f->graph->blocks.at[b].kind != BLOCK_SUPERKERNEL || launched[b]);
    for (uint32_t i = 1; i < f->groups.count; i++)
        ok = ok && !f->groups.at[i].removed && !fusion_is_alone(f, i);
    mem_free(launched);
    return ok;
}

/* Whether ops come after those that they need, and launches of a stream one after another. */
static bool is_in_order(const struct fusion *f)
{
    const struct order *order = f->order;
    bool *begun = mem_calloc(f->graph->blocks.count, sizeof *begun);
    /* By block: the place of its last op that executes something. By stream + 1, 0 for the default
     * one: the last place of what runs there. */
    uint32_t *end = mem_calloc(f->graph->blocks.count, sizeof *end);
    struct id_map busy = {NULL, 0, 0};
    bool ok = true;
    for (uint32_t i = 0; i < order->n_ops; i++)
        if (f->superkernel_of[order->text[i]] != NONE && !order->passive[order->text[i]])
            end[f->superkernel_of[order->text[i]]] = i;
    for (uint32_t i = 0; i < order->n_ops && ok; i++) {
        uint32_t op = order->text[i], block = f->superkernel_of[op];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            ok = ok && order->position[order->edges[e].from] < i;
        if (order->passive[op] || (block != NONE && begun[block]))
            continue;
        if (block != NONE)
            begun[block] = true;
        uint32_t stream = block == NONE ? order->stream[op] : fusion_given_stream(f, block);
        uint32_t *last = id_map_at(&busy, stream == NONE ? 0 : stream + 1);
        ok = ok && (*last == NONE || *last < i);
        *last = block == NONE ? i : end[block];
    }
    mem_free(begun);
    mem_free(end);
    id_map_free(&busy);
    return ok;
}

/* ----------------------------------------------------------------------------- graphs ---- */

static void fusion_init(struct fusion *f)
{
    uint32_t n = f->graph->ops.count;
    f->order = analyses_order(f->context->analyses, f->module, f->graph);
    f->group_of = mem_calloc(n, sizeof *f->group_of);
    f->member_of = mem_calloc(n, sizeof *f->member_of);
    f->superkernel_of = mem_calloc(n, sizeof *f->superkernel_of);
    f->rank = mem_calloc(n, sizeof *f->rank);
    f->sizes = mem_calloc(f->graph->blocks.count, sizeof *f->sizes);
    find_groups(f);
    f->is_canonical = has_canonical_blocks(f->graph) && is_collected(f) && is_in_order(f);
    if (!f->is_canonical && !is_cut(f))
        schedule_groups(f);
}

static void fusion_free(struct fusion *f)
{
    schedule_free(&f->schedule);
    mem_free(f->text);
    vec_free(&f->groups);
    mem_free(f->group_of);
    mem_free(f->member_of);
    mem_free(f->superkernel_of);
    mem_free(f->rank);
    mem_free(f->position);
    mem_free(f->sizes);
}

/* All graphs: schedules are found in parts, and then written one after another. */
struct fusions {
    struct pass_context *context;
    enum fusion_mode mode;
    struct fusion *at; /* by graph */
    struct vec_u32 taken;
    struct unfused unfused;
};

static void schedule_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct fusions *all = user;
    struct module *module = all->context->module;
    (void)diags; /* there is nothing to say yet */
    for (uint32_t i = first; i < end; i++) {
        struct fusion f = {.context = all->context,
                           .module = module,
                           .graph = &module->graphs.at[i],
                           .mode = all->mode,
                           .taken = &all->taken};
        fusion_init(&f);
        all->at[i] = f;
    }
}

static uint64_t schedule_weight(const void *user, uint32_t item)
{
    const struct fusions *all = user;
    return 3 * (uint64_t)all->context->module->graphs.at[item].ops.count;
}

static bool write_one(struct fusions *all, struct fusion *f)
{
    if (f->is_canonical) {
        unfused_look(&all->unfused, f);
        return true;
    }
    if (f->mode == FUSION_FILTER) /* what it takes apart loses its name; collecting keeps all */
        taken_symbols_drop(&all->taken, f->graph);
    if (!decide(f))
        return false;
    fusion_report_repaired(f);
    if (f->mode == FUSION_FILTER)
        separate(f);
    find_ranks(f);
    if (all->context->reference_names)
        f->position = reference_positions(f->order, f->graph->n_params);
    bool ok = fusion_rewrite(f);
    unfused_look(&all->unfused, f);
    return ok;
}

static bool run(struct pass_context *context, enum fusion_mode mode)
{
    const struct module *module = context->module;
    uint32_t count = module->graphs.count;
    struct fusions all = {.context = context, .mode = mode};
    bool ok = true;
    fusion_free_passive(context);
    all.at = mem_calloc(count, sizeof *all.at);
    taken_symbols_init(&all.taken, module);
    analyses_make_orders(context->analyses, module);
    parts_run(&(struct parts){.threads = module->threads,
                              .count = count,
                              .weight = schedule_weight,
                              .work = schedule_part,
                              .user = &all},
              context->diags);
    for (uint32_t i = 0; i < count; i++) {
        gears_tell_copy(context->diags, module, all.at[i].graph);
        bool written = write_one(&all, &all.at[i]);
        if (written && mode == FUSION_FILTER) /* nothing is left to be taken out */
            report_fused(context->diags, module, all.at[i].graph, all.at[i].order);
        ok = ok && written;
        fusion_free(&all.at[i]);
    }
    gears_tell_copy(context->diags, module, NULL);
    diags_settle(context->diags);
    if (ok)
        unfused_report(&all.unfused, context->diags);
    vec_free(&all.unfused.ops);
    vec_free(&all.taken);
    mem_free(all.at);
    return ok;
}

bool pass_partition_scopes(struct pass_context *context)
{
    return run(context, FUSION_COLLECT);
}

bool pass_split_nonfusable(struct pass_context *context)
{
    return run(context, FUSION_FILTER);
}
