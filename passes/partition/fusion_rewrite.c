/* The super kernels that a schedule makes of segments, and their names. */
#define _GNU_SOURCE /* qsort_r */
#include "ir/support/ids.h"
#include "ir/core/sk_options.h"
#include "ir/syntax/locate.h"
#include "passes/partition/body_writer.h"
#include "passes/partition/fusion_internal.h"
#include "passes/partition/superkernel_names.h"

#include <string.h>

/* ------------------------------------------------------------------------ super kernels ---- */

static bool is_part(const struct fusion *f, const struct segment *segment)
{
    return f->schedule.groups[segment->group].segments > 1;
}

/* A part is called after the cuts of the reference around it, or what is before and after it. */
static uint32_t reference_name(struct fusion *f, const struct segment *segment, bool broken)
{
    const struct fusion_group *group = &f->groups.at[segment->group];
    const uint32_t *ops = f->schedule.ops + segment->first;
    struct part_places places = {group->begin, group->end};
    if (broken)
        places = superkernel_positions_around(ops, segment->count, f->position);
    return superkernel_reference_name(f->module, f->graph, group->scope,
                                      broken || group->is_cut ? &places : NULL, ops, segment->count,
                                      f->position);
}

/* A part is called after its places among the ops of the scope. */
static uint32_t own_name(struct fusion *f, const struct segment *segment)
{
    const struct fusion_group *group = &f->groups.at[segment->group];
    const uint32_t *ops = f->schedule.ops + segment->first;
    uint32_t base = f->graph->blocks.at[group->block].name;
    if (group->scope != NONE)
        base = superkernel_name(f->module, f->graph->name, group->scope);
    struct part_places places = {f->rank[ops[0]], f->rank[ops[segment->count - 1]]};
    return is_part(f, segment) || group->is_cut ? superkernel_part_name(f->module, base, places)
                                                : base;
}

/* Graph @a_b with scope @c and graph @a with scope @b_c would have the same name: a number sets
 * them apart. */
static uint32_t free_name(struct fusion *f, const struct segment *segment)
{
    bool theirs = f->position && f->groups.at[segment->group].scope != NONE;
    uint32_t wanted =
        theirs ? reference_name(f, segment, is_part(f, segment)) : own_name(f, segment);
    return taken_symbols_take_free(f->taken, f->module, wanted);
}

static struct range superkernel_attrs(struct fusion *f, const struct segment *segment)
{
    const struct fusion_group *group = &f->groups.at[segment->group];
    uint32_t options = group->options, stream = segment->stream, count = 0;
    struct attr attrs[3];
    if (!segment->component)
        stream = fusion_stream(f, f->schedule.ops + segment->first, segment->count);
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
        if (!f->order->passive[f->schedule.ops[segment->first + i]])
            return segment->group != GROUP_NONE;
    return false;
}

/* The super kernel of the input that a segment is, on its stream; NONE: it is another one. */
static uint32_t same_block(const struct fusion *f, const struct segment *segment)
{
    uint32_t same = fusion_same_superkernel(f, f->schedule.ops + segment->first, segment->count);
    bool moved =
        same != NONE && segment->component && fusion_given_stream(f, same) != segment->stream;
    return moved ? NONE : same;
}

/* Whether a super kernel of the input that stays is all that its scope has by now, and is called as
 * a part of that. */
static bool is_misnamed(struct fusion *f, const struct segment *segment, uint32_t same)
{
    const struct block *block = &f->graph->blocks.at[same];
    uint32_t scope = f->groups.at[segment->group].scope;
    struct part_places places;
    if (!f->rejoins || scope == NONE || !f->groups.at[segment->group].removed ||
        is_part(f, segment) || block_entry(f->module, block))
        return false;
    return f->position ? reference_name(f, segment, true) == block->name
                       : superkernel_part_of(f->module, block->name, &places) ==
                             superkernel_name(f->module, f->graph->name, scope);
}

/* The block that a segment becomes: one of the input, or a new one. */
static struct block segment_block(struct fusion *f, const struct segment *segment, uint32_t same)
{
    struct block block =
        f->graph->blocks.at[same != NONE ? same : f->groups.at[segment->group].block];
    if (same == NONE)
        block = (struct block){.kind = BLOCK_SUPERKERNEL,
                               .name = free_name(f, segment),
                               .loc = block.loc,
                               .end_loc = NONE,
                               .attrs = superkernel_attrs(f, segment)};
    else if (is_misnamed(f, segment, same))
        block.name = free_name(f, segment);
    return block;
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
        uint32_t same = executes(f, segment) ? same_block(f, segment) : NONE;
        if (same == NONE)
            continue;
        taken_symbols_take(f->taken, f->graph->blocks.at[same].name);
        kept[same] = 1;
    }
    bool ok = check_events(f, kept);
    mem_free(kept);
    return ok;
}

bool fusion_rewrite(struct fusion *f)
{
    const struct segments *segments = &f->schedule.segments;
    if (!check_kept(f))
        return false;
    struct body_launch *launches = mem_calloc(segments->count, sizeof *launches);
    struct body_op *text = mem_calloc(f->schedule.count, sizeof *text);
    for (uint32_t i = 0; i < segments->count; i++) {
        const struct segment *segment = &segments->at[i];
        uint32_t *ops = f->schedule.ops + segment->first, launch = NONE;
        launches[i] = (struct body_launch){.stream = segment->stream, .opened = NONE};
        if (executes(f, segment)) {
            uint32_t same = same_block(f, segment);
            launches[i].block = segment_block(f, segment, same);
            launch = i;
            /* The text of a super kernel with fixed slots has its order. */
            if (same != NONE &&
                attr_flag(f->module, f->graph->blocks.at[same].attrs, W_fixed_slots))
                qsort_r(ops, segment->count, sizeof *ops, compare_positions, f->order->position);
        }
        for (uint32_t k = 0; k < segment->count; k++) {
            bool alone = segment->component == 0;
            uint32_t place = alone ? segment->first + k : f->schedule.place[ops[k]];
            text[place] =
                (struct body_op){ops[k], launch, alone ? segment->first + 1 : segment->component};
        }
    }
    body_write(f->graph, f->order, launches, text);
    mem_free(launches);
    mem_free(text);
    return true;
}
