/* The blocks and the text order that a schedule gives a graph. */
#define _GNU_SOURCE /* qsort_r */
#include "ir/core/sk_options.h"
#include "ir/support/ids.h"
#include "ir/syntax/locate.h"
#include "passes/partition/fusion_internal.h"
#include "passes/partition/superkernel_names.h"

#include <string.h>

struct rewrite {
    struct fusion *f;
    struct graph next;    /* blocks and body */
    uint32_t superkernel; /* open block of `next`, or NONE */
    uint32_t stream;      /* the same */
    uint32_t scope_none;  /* the same */
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
    block.parent = rewrite->scope_none != NONE ? rewrite->scope_none : rewrite->superkernel;
    uint32_t id = graph_add_block(&rewrite->next, &block);
    graph_add_item(&rewrite->next, ITEM_OPEN, id);
    return id;
}

static void close_scope_none(struct rewrite *rewrite)
{
    close_stream(rewrite);
    if (rewrite->scope_none != NONE)
        graph_add_item(&rewrite->next, ITEM_CLOSE, rewrite->scope_none);
    rewrite->scope_none = NONE;
}

/* Opens or closes the block of what runs in parallel with a super kernel. */
static void place_inside(struct rewrite *rewrite, bool inside)
{
    static const struct block none = {
        .kind = BLOCK_SCOPE_NONE, .name = NONE, .loc = NONE, .end_loc = NONE};
    if (inside == (rewrite->scope_none != NONE))
        return;
    close_scope_none(rewrite);
    if (inside)
        rewrite->scope_none = open_block(rewrite, &none);
}

/* Of an op's blocks only its stream remains, its super kernel, and `scope none` in that (`inside`).
 */
static void place_op(struct rewrite *rewrite, uint32_t op, bool inside)
{
    struct graph *graph = rewrite->f->graph;
    place_inside(rewrite, inside);
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
    graph->ops.at[op].block = rewrite->stream != NONE       ? rewrite->stream
                              : rewrite->scope_none != NONE ? rewrite->scope_none
                                                            : rewrite->superkernel;
}

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

static void close_superkernel(struct rewrite *rewrite)
{
    close_scope_none(rewrite);
    if (rewrite->superkernel != NONE)
        graph_add_item(&rewrite->next, ITEM_CLOSE, rewrite->superkernel);
    rewrite->superkernel = NONE;
}

static void place_segment(struct rewrite *rewrite, const struct segment *segment)
{
    struct fusion *f = rewrite->f;
    uint32_t same = fusion_same_superkernel(f, f->schedule.ops + segment->first, segment->count);
    close_stream(rewrite);
    struct block block = segment_block(f, segment, same);
    rewrite->superkernel = open_block(rewrite, &block);
    if (keeps_text(f, same))
        qsort_r(f->schedule.ops + segment->first, segment->count, sizeof *f->schedule.ops,
                compare_positions, f->order->position);
    for (uint32_t i = 0; i < segment->count; i++)
        place_op(rewrite, f->schedule.ops[segment->first + i], false);
    close_superkernel(rewrite);
}

/* ------------------------------------------------------------------------- components ---- */

/* Launches that run in parallel: segments that stand next to each other. */
struct component {
    const struct segment *segments;
    uint32_t count;
    uint32_t first, n_ops; /* places of the text */
    struct block *blocks;  /* by segment */
    uint32_t *opened;      /* by segment: its first block in the new graph, or NONE */
    uint32_t *segment_of;  /* by place: which is launched as one; NONE: an op alone */
    uint32_t *next;        /* by place: the segment of the next op that is launched with others */
};

static void component_init(struct component *n, struct fusion *f, uint32_t segment)
{
    const struct segments *all = &f->schedule.segments;
    *n = (struct component){.segments = all->at + segment, .first = all->at[segment].first};
    for (uint32_t i = segment; i < all->count && all->at[i].component == n->segments[0].component;
         i++) {
        n->count++;
        n->n_ops += all->at[i].count;
    }
    n->blocks = mem_calloc(n->count, sizeof *n->blocks);
    n->opened = mem_calloc(n->count, sizeof *n->opened);
    n->segment_of = mem_calloc(n->n_ops, sizeof *n->segment_of);
    n->next = mem_calloc(n->n_ops, sizeof *n->next);
    for (uint32_t i = 0; i < n->count; i++) {
        const uint32_t *ops = f->schedule.ops + n->segments[i].first;
        bool launched = executes(f, &n->segments[i]);
        n->opened[i] = NONE;
        if (launched)
            n->blocks[i] = segment_block(f, &n->segments[i], same_block(f, &n->segments[i]));
        for (uint32_t k = 0; k < n->segments[i].count; k++)
            n->segment_of[f->schedule.place[ops[k]] - n->first] = launched ? i : NONE;
    }
    for (uint32_t i = n->n_ops, next = NONE; i-- > 0;) {
        next = n->segment_of[i] != NONE ? n->segment_of[i] : next;
        n->next[i] = next;
    }
}

static void component_free(struct component *n)
{
    mem_free(n->blocks);
    mem_free(n->opened);
    mem_free(n->segment_of);
    mem_free(n->next);
}

static void open_launch(struct rewrite *rewrite, struct component *n, uint32_t segment)
{
    struct block rest = {.kind = BLOCK_SUPERKERNEL_REST,
                         .name = NONE,
                         .whole = n->opened[segment],
                         .loc = n->blocks[segment].loc,
                         .end_loc = NONE};
    close_superkernel(rewrite);
    rewrite->superkernel =
        open_block(rewrite, n->opened[segment] == NONE ? &n->blocks[segment] : &rest);
    if (n->opened[segment] == NONE)
        n->opened[segment] = rewrite->superkernel;
}

/* Whether an op that is launched alone stands in `scope none` in the open launch: that goes on
 * after it, and is on another stream. */
static bool stands_inside(const struct fusion *f, const struct component *n, uint32_t place,
                          uint32_t open)
{
    uint32_t op = f->text[n->first + place];
    return open != NONE && n->next[place] == open &&
           (f->order->passive[op] || f->order->stream[op] != n->segments[open].stream);
}

/* Each launch stands in as many blocks as it takes for the text to have the order of the ops. */
static void place_component(struct rewrite *rewrite, uint32_t segment)
{
    struct fusion *f = rewrite->f;
    struct component n;
    uint32_t open = NONE;
    component_init(&n, f, segment);
    close_stream(rewrite);
    for (uint32_t i = 0; i < n.n_ops; i++) {
        uint32_t of = n.segment_of[i];
        bool inside = of == NONE && stands_inside(f, &n, i, open);
        if (of != NONE && of != open)
            open_launch(rewrite, &n, of);
        else if (of == NONE && !inside)
            close_superkernel(rewrite);
        open = of != NONE ? of : inside ? open : NONE;
        place_op(rewrite, f->text[n.first + i], inside);
    }
    close_superkernel(rewrite);
    component_free(&n);
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
    struct rewrite rewrite = {.f = f, .superkernel = NONE, .scope_none = NONE, .stream = NONE};
    if (!check_kept(f))
        return false;
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        const struct segment *segment = &f->schedule.segments.at[i];
        bool goes_on = i > 0 && segment[-1].component == segment->component;
        if (segment->component && goes_on)
            continue;
        if (segment->component)
            place_component(&rewrite, i);
        else if (executes(f, segment))
            place_segment(&rewrite, segment);
        else
            for (uint32_t n = 0; n < segment->count; n++)
                place_op(&rewrite, f->schedule.ops[segment->first + n], false);
    }
    close_stream(&rewrite);
    vec_free(&f->graph->blocks);
    vec_free(&f->graph->body);
    memcpy(&f->graph->blocks, &rewrite.next.blocks, sizeof rewrite.next.blocks);
    memcpy(&f->graph->body, &rewrite.next.body, sizeof rewrite.next.body);
    return true;
}
