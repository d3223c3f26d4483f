/* The blocks and the text order that a schedule gives a graph. */
#define _GNU_SOURCE /* qsort_r */
#include "ir/base/ids.h"
#include "ir/sk_options.h"
#include "ir/syntax/locate.h"
#include "passes/fusion/fusion_internal.h"

#include <string.h>

struct rewrite {
    struct fusion *f;
    struct graph next;    /* blocks and body */
    uint32_t superkernel; /* open block of `next`, or NONE */
    uint32_t stream;      /* the same */
    uint32_t beside;      /* the same: a `scope none` */
};

static void close_stream(struct rewrite *rewrite)
{
    if (rewrite->stream != NONE)
        graph_add_item(&rewrite->next, ITEM_CLOSE, rewrite->stream);
    rewrite->stream = NONE;
}

static uint32_t open_block(struct rewrite *rewrite, const struct block *model)
{
    struct block block = *model;
    block.parent = rewrite->beside != NONE ? rewrite->beside : rewrite->superkernel;
    uint32_t id = graph_add_block(&rewrite->next, &block);
    graph_add_item(&rewrite->next, ITEM_OPEN, id);
    return id;
}

static void close_beside(struct rewrite *rewrite)
{
    close_stream(rewrite);
    if (rewrite->beside != NONE)
        graph_add_item(&rewrite->next, ITEM_CLOSE, rewrite->beside);
    rewrite->beside = NONE;
}

/* Opens or closes the block of what runs beside a super kernel. */
static void place_beside(struct rewrite *rewrite, bool beside)
{
    static const struct block none = {
        .kind = BLOCK_SCOPE_NONE, .name = NONE, .loc = NONE, .end_loc = NONE};
    if (beside == (rewrite->beside != NONE))
        return;
    close_beside(rewrite);
    if (beside)
        rewrite->beside = open_block(rewrite, &none);
}

/* Of an op's blocks only its stream remains, its super kernel, and that it is beside that. */
static void place_op(struct rewrite *rewrite, uint32_t op)
{
    struct graph *graph = rewrite->f->graph;
    place_beside(rewrite, rewrite->f->beside[op]);
    uint32_t label = rewrite->f->order->stream[op];
    uint32_t open = rewrite->stream == NONE ? NONE : rewrite->next.blocks.at[rewrite->stream].name;
    if (label != open) {
        close_stream(rewrite);
        if (label != NONE)
            rewrite->stream = open_block(
                rewrite,
                &graph->blocks.at[graph_enclosing(graph, graph->ops.at[op].block, BLOCK_STREAM)]);
    }
    graph_add_item(&rewrite->next, ITEM_OP, op);
    graph->ops.at[op].block = rewrite->stream != NONE   ? rewrite->stream
                              : rewrite->beside != NONE ? rewrite->beside
                                                        : rewrite->superkernel;
}

/* ------------------------------------------------------------------------ super kernels ---- */

/* False if the name was taken. */
static bool take_name(struct vec_u32 *taken, uint32_t name)
{
    while (taken->count <= name)
        vec_push(taken, 0);
    return !taken->at[name]++;
}

static uint32_t op_name(const struct fusion *f, uint32_t op)
{
    const struct op *o = &f->graph->ops.at[op];
    return o->results.count ? f->graph->values.at[o->results.first].name : o->type;
}

/* sk_SCOPE_start_FIRST_end_LAST, where a part of a scope is SCOPE_split_BEGIN_END: positions of
 * the cuts around it, or else of what is before its first and behind its last op. */
static uint32_t reference_name(struct fusion *f, const struct segment *segment)
{
    const struct fusion_group *group = &f->groups.at[segment->group];
    const uint32_t *ops = f->schedule.ops + segment->first;
    uint32_t first = ops[0], last = ops[0], scope = group->scope;
    bool broken = f->schedule.groups[segment->group].segments > 1;
    for (uint32_t i = 1; i < segment->count; i++) {
        first = f->position[ops[i]] < f->position[first] ? ops[i] : first;
        last = f->position[ops[i]] > f->position[last] ? ops[i] : last;
    }
    int64_t begin = broken ? f->position[first] - 1 : group->begin;
    int64_t end = broken ? f->position[last] + 1 : group->end;
    if (broken || group->is_cut)
        scope = module_name_printf(f->module, "%.*s_split_%lld_%lld", NAME(f->module, scope),
                                   (long long)begin, (long long)end);
    return module_name_printf(f->module, "sk_%.*s_start_%.*s_end_%.*s", NAME(f->module, scope),
                              NAME(f->module, op_name(f, first)),
                              NAME(f->module, op_name(f, last)));
}

/* GRAPH_SCOPE; a part of a scope is GRAPH_SCOPE_split_BEGIN_END, by the positions of its first and
 * last op among the scope's ops. */
static uint32_t own_name(struct fusion *f, const struct segment *segment)
{
    struct module *module = f->module;
    const struct fusion_group *group = &f->groups.at[segment->group];
    uint32_t base = f->graph->blocks.at[group->block].name;
    if (group->scope != NONE)
        base = module_name_printf(module, "%.*s_%.*s", NAME(module, f->graph->name),
                                  NAME(module, group->scope));
    if (f->schedule.groups[segment->group].segments > 1 || group->is_cut)
        base = module_name_printf(module, "%.*s_split_%u_%u", NAME(module, base),
                                  f->rank[f->schedule.ops[segment->first]],
                                  f->rank[f->schedule.ops[segment->first + segment->count - 1]]);
    return base;
}

/* Graph @a_b with scope @c and graph @a with scope @b_c would have the same name: a number sets
 * them apart. */
static uint32_t superkernel_name(struct fusion *f, const struct segment *segment)
{
    struct module *module = f->module;
    bool theirs = f->position && f->groups.at[segment->group].scope != NONE;
    uint32_t base = theirs ? reference_name(f, segment) : own_name(f, segment), name = base;
    for (unsigned i = 1; !take_name(f->taken, name); i++)
        name = module_name_printf(module, "%.*s.%u", NAME(module, base), i);
    return name;
}

static struct range superkernel_attrs(struct fusion *f, const struct segment *segment)
{
    const struct fusion_group *group = &f->groups.at[segment->group];
    uint32_t options = group->options, stream, count = 0;
    struct attr attrs[3];
    fusion_stream(f, segment, f->schedule.ops + segment->first, &stream);
    if (f->context->sk_options && f->mode == FUSION_COLLECT)
        options = sk_options_override(f->module, options, f->context->sk_options);
    const uint32_t keys[3] = {W_scope, W_options, W_stream};
    static const enum attr_kind kinds[3] = {ATTR_SYMBOL, ATTR_STRING, ATTR_STRING};
    const uint32_t ids[3] = {group->scope, options, stream};
    /* Later passes report what is wrong with an option where it stands. */
    const uint32_t locs[3] = {NONE, options == group->options ? group->options_loc : NONE, NONE};
    for (int i = 0; i < 3; i++)
        if (ids[i] != NONE)
            attrs[count++] = (struct attr){keys[i], locs[i], {.kind = kinds[i], .id = ids[i]}};
    return module_add_attrs(f->module, attrs, count);
}

/* A segment that is a super kernel with fixed slots, whose text has its order. */
static bool keeps_text(const struct fusion *f, uint32_t same)
{
    return same != NONE && attr_flag(f->module, f->graph->blocks.at[same].attrs, W_fixed_slots);
}

static int compare_positions(const void *a, const void *b, void *position)
{
    const uint32_t *place = position;
    uint32_t x = place[*(const uint32_t *)a], y = place[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

/* Whether an op of the segment executes something: else there is nothing to launch. */
static bool executes(const struct fusion *f, const struct segment *segment)
{
    for (uint32_t i = 0; i < segment->count; i++)
        if (!f->order->passive[f->schedule.ops[segment->first + i]] &&
            !f->beside[f->schedule.ops[segment->first + i]])
            return segment->group != GROUP_NONE;
    return false;
}

static void place_segment(struct rewrite *rewrite, const struct segment *segment)
{
    struct fusion *f = rewrite->f;
    uint32_t same = fusion_same_superkernel(f, f->schedule.ops + segment->first, segment->count);
    struct block block =
        f->graph->blocks.at[same != NONE ? same : f->groups.at[segment->group].block];
    close_stream(rewrite);
    if (same == NONE)
        block = (struct block){.kind = BLOCK_SUPERKERNEL,
                               .name = superkernel_name(f, segment),
                               .loc = block.loc,
                               .end_loc = NONE,
                               .attrs = superkernel_attrs(f, segment)};
    fusion_report_fused(f, segment, block.name);
    rewrite->superkernel = open_block(rewrite, &block);
    if (keeps_text(f, same))
        qsort_r(f->schedule.ops + segment->first, segment->count, sizeof *f->schedule.ops,
                compare_positions, f->order->position);
    for (uint32_t i = 0; i < segment->count; i++)
        place_op(rewrite, f->schedule.ops[segment->first + i]);
    close_stream(rewrite);
    graph_add_item(&rewrite->next, ITEM_CLOSE, rewrite->superkernel);
    rewrite->superkernel = NONE;
}

/* Events of a launch would be lost with it. */
static bool check_events(const struct fusion *f, const uint8_t *kept)
{
    bool ok = true;
    for (uint32_t b = 0; b < f->graph->blocks.count; b++) {
        const struct block *block = &f->graph->blocks.at[b];
        bool fixed = attr_flag(f->module, block->attrs, W_fixed_slots);
        if (kept[b] || !(fixed || block_has_events(block)))
            continue;
        ok = false;
        if (fixed)
            diag_at(f->context->diags, DIAG_unsupported, locate_name(f->module, block->loc),
                    "'@%.*s' has fixed slots, so that it must stay as it is",
                    NAME(f->module, block->name));
        else if (diag_at(
                     f->context->diags, DIAG_unsupported, locate_name(f->module, block->loc),
                     "'@%.*s' sends or receives events as a whole, so that it must stay as it is",
                     NAME(f->module, block->name)))
            diag_help(f->context->diags, "give its 'send' and 'recv' to ops of it");
    }
    return ok;
}

/* New super kernels must not take the names of those that stay, and those with events must. */
static bool check_kept(const struct fusion *f)
{
    uint8_t *kept = mem_calloc(f->graph->blocks.count, 1);
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        const struct segment *segment = &f->schedule.segments.at[i];
        const uint32_t *ops = f->schedule.ops + segment->first;
        uint32_t same =
            executes(f, segment) ? fusion_same_superkernel(f, ops, segment->count) : NONE;
        if (same == NONE)
            continue;
        take_name(f->taken, f->graph->blocks.at[same].name);
        kept[same] = 1;
    }
    bool ok = check_events(f, kept);
    mem_free(kept);
    return ok;
}

bool fusion_rewrite(struct fusion *f)
{
    struct rewrite rewrite = {.f = f, .superkernel = NONE, .beside = NONE, .stream = NONE};
    if (!check_kept(f))
        return false;
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        const struct segment *segment = &f->schedule.segments.at[i];
        if (executes(f, segment))
            place_segment(&rewrite, segment);
        else
            for (uint32_t n = 0; n < segment->count; n++)
                place_op(&rewrite, f->schedule.ops[segment->first + n]);
    }
    close_stream(&rewrite);
    vec_free(&f->graph->blocks);
    vec_free(&f->graph->body);
    memcpy(&f->graph->blocks, &rewrite.next.blocks, sizeof rewrite.next.blocks);
    memcpy(&f->graph->body, &rewrite.next.body, sizeof rewrite.next.body);
    return true;
}
