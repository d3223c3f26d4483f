/* The account of each scope: what was fused, what breaks it and why, and what the user could
 * change. */
#include "ir/analysis/hazards.h"
#include "ir/core/calls.h"
#include "ir/core/sk_options.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/partition/fusion_internal.h"

/* Why a part of a group could not be scheduled with the part before it: `blocked`, an op of it,
 * needs `cause`, which is outside, and which needs the part before by way of `root`. `needs` is the
 * edge; NULL where only streams are missing, on which one launch could run in parallel with the
 * cause. */
struct break_cause {
    uint32_t blocked, cause, root;
    const struct order_edge *needs;
};

static struct span op_span(const struct fusion *f, uint32_t op)
{
    return locate_op(f->module, &f->graph->ops.at[op], OP_TYPE_NAME, 0);
}

static const char *name_op(const struct fusion *f, uint32_t op)
{
    return op_text(f->module, f->graph, &f->graph->ops.at[op], &f->context->diags->arena);
}

static const char *stream_text(const struct fusion *f, uint32_t stream)
{
    if (stream == NONE)
        return "the default stream";
    return arena_printf(&f->context->diags->arena, "stream \"%.*s\"", NAME(f->module, stream));
}

/* How one op waits for another, as a clause after "it". */
static const char *edge_text(const struct fusion *f, const struct order_edge *edge)
{
    struct arena *arena = &f->context->diags->arena;
    const char *from = name_op(f, edge->from);
    switch (edge->kind) {
    case ORDER_DATA: return arena_printf(arena, "uses the result of %s", from);
    case ORDER_AFTER: return arena_printf(arena, "is to run after %s", from);
    case ORDER_STREAM:
        return arena_printf(arena, "follows %s on %s", from, stream_text(f, edge->name));
    case ORDER_EVENT:
        return arena_printf(arena, "waits for event '%.*s' of %s", NAME(f->module, edge->name),
                            from);
    case ORDER_MEMORY:
        return arena_printf(arena, "accesses '%.*s' after %s", NAME(f->module, edge->name), from);
    case ORDER_ADDRESS: return arena_printf(arena, "comes after %s", from);
    }
    return "";
}

/* The same of an edge of `op`, and what of memory makes the order matter, where it does. */
static const char *reason_text(const struct fusion *f, uint32_t op, const struct order_edge *edge)
{
    struct arena *arena = &f->context->diags->arena;
    const struct overlap *overlap = order_overlap(f->order, edge->from, op);
    if (!overlap)
        return edge_text(f, edge);
    return arena_printf(arena, "%s, and accesses %s, that op %s", edge_text(f, edge),
                        access_text(f->module, f->graph, &overlap->later, arena),
                        access_text(f->module, f->graph, &overlap->first, arena));
}

bool fusion_options(const struct fusion *f, const struct fusion_group *group,
                    struct sk_options *options)
{
    uint32_t name = group->options;
    if (f->context->sk_options && f->mode == FUSION_COLLECT)
        name = sk_options_override(f->module, name, f->context->sk_options);
    return sk_options_of(options, f->module, name);
}

bool fusion_is_per_op(const struct fusion *f, const struct fusion_group *group)
{
    struct sk_options options;
    return fusion_options(f, group, &options) &&
           options.of[SK_debug_per_op_max_core_num].number != 0;
}

const char *fusion_group_text(const struct fusion *f, uint32_t group)
{
    const struct fusion_group *g = &f->groups.at[group];
    if (g->scope != NONE)
        return arena_printf(&f->context->diags->arena, "scope '@%.*s'", NAME(f->module, g->scope));
    return arena_printf(&f->context->diags->arena, "super kernel '@%.*s'",
                        NAME(f->module, g->name));
}

static void group_field(const struct fusion *f, uint32_t group)
{
    const struct fusion_group *g = &f->groups.at[group];
    if (g->scope != NONE)
        diag_field(f->context->diags, "scope",
                   arena_printf(&f->context->diags->arena, "%.*s", NAME(f->module, g->scope)));
}

/* The label of the default stream is "". */
static void op_fields(const struct fusion *f, uint32_t op)
{
    struct diags *diags = f->context->diags;
    uint32_t stream = f->order->stream[op];
    diag_field(diags, "op", name_op(f, op));
    diag_field(diags, "stream",
               stream == NONE ? "" : arena_printf(&diags->arena, "%.*s", NAME(f->module, stream)));
}

/* ---------------------------------------------------------------------------- causes ---- */

/* The edge of `op` from an op that was scheduled in [low, high), or NULL. */
static const struct order_edge *edge_between(const struct fusion *f, uint32_t op, uint32_t low,
                                             uint32_t high)
{
    for (uint32_t e = f->order->first[op]; e < f->order->first[op + 1]; e++) {
        uint32_t place = f->schedule.place[f->order->edges[e].from];
        if (place >= low && place < high)
            return &f->order->edges[e];
    }
    return NULL;
}

/* Where a segment begins, in the order of the schedule. */
static uint32_t begin_of(const struct fusion *f, const struct segment *segment)
{
    return f->schedule.place[f->schedule.ops[segment->first]];
}

/* An op that waits for something between the part and the one before it: else it would have been
 * scheduled with that, or joined, were there a stream. Its root is found by edges back from the
 * cause to the op that needs the part before (which ends at `last_end`) itself. */
static struct break_cause find_cause(const struct fusion *f, const struct segment *segment,
                                     uint32_t last_end)
{
    struct break_cause cause = {f->schedule.ops[segment->first], NONE, NONE, NULL};
    uint32_t begin = begin_of(f, segment);
    for (uint32_t i = 0; i < segment->count && cause.cause == NONE; i++) {
        uint32_t op = f->schedule.ops[segment->first + i];
        cause.needs = edge_between(f, op, last_end, begin);
        if (!cause.needs)
            continue;
        cause.blocked = op;
        cause.cause = cause.needs->from;
        for (const struct order_edge *edge = cause.needs; edge;
             edge = edge_between(f, cause.root, last_end, f->schedule.place[cause.root]))
            cause.root = edge->from;
    }
    if (cause.cause == NONE) { /* the last op before the segment that is not of its group */
        while (begin > 0 && f->group_of[f->text[begin]] == segment->group)
            begin--;
        cause.cause = cause.root = f->text[begin];
    }
    return cause;
}

static enum diag_id break_id(const struct fusion *f, uint32_t group, uint32_t root)
{
    if (f->member_of[root] == group)
        return DIAG_split_nonfusable;
    return f->group_of[root] != GROUP_NONE ? DIAG_split_scope : DIAG_split_outside;
}

/* What stands in the way, and what to do about it. */
static void explain_root(const struct fusion *f, uint32_t group, uint32_t root)
{
    struct diags *diags = f->context->diags;
    uint32_t member = f->member_of[root];
    enum fusable fusable = op_fusable(f->module, f->graph, &f->graph->ops.at[root]);
    if (member == group)
        diag_help(diags, "%s cannot be fused: %s; %s", name_op(f, root), fusable_reason(fusable),
                  fusable_advice(fusable));
    else if (f->group_of[root] != GROUP_NONE)
        diag_help(diags, "%s is of %s: put the two scopes into one, or order them",
                  name_op(f, root), fusion_group_text(f, member));
    else
        diag_help(diags, "%s is outside: move it into the scope, or before or after all of it",
                  name_op(f, root));
}

/* ---------------------------------------------------------------------------- breaks ---- */

static void report_break(const struct fusion *f, const struct segment *segment,
                         const struct break_cause *cause, uint32_t last_end)
{
    struct diags *diags = f->context->diags;
    uint32_t group = segment->group;
    bool differs = f->groups.at[group].whole != group; /* the reference has no cut here */
    if (!diags->remarks && !differs)
        return;
    if (!diag_at(
            diags, differs ? DIAG_partition_differs : break_id(f, group, cause->root),
            op_span(f, cause->blocked), "%s breaks before this op of %s%s%s%s",
            fusion_group_text(f, group), stream_text(f, f->order->stream[cause->blocked]),
            differs
                ? ", where the reference makes one launch that waits for an op in parallel with it"
                : "",
            cause->needs ? ": it " : "",
            cause->needs ? reason_text(f, cause->blocked, cause->needs) : ""))
        return;
    group_field(f, group);
    op_fields(f, cause->blocked);
    diag_field(diags, "cause", name_op(f, cause->cause));
    diag_field(diags, "root", name_op(f, cause->root));
    for (uint32_t e = f->order->first[cause->root]; e < f->order->first[cause->root + 1]; e++) {
        uint32_t from = f->order->edges[e].from;
        if (f->group_of[from] != group || f->schedule.place[from] >= last_end)
            continue;
        diag_note(diags, op_span(f, cause->root), "that needs the part before: this %s",
                  reason_text(f, cause->root, &f->order->edges[e]));
        break;
    }
    explain_root(f, group, cause->root);
}

/* What strict-scope-check says of a group that breaks. */
static enum sk_strict strictness(const struct fusion *f, const struct fusion_group *group)
{
    struct sk_options options;
    if (!fusion_options(f, group, &options))
        return SK_STRICT_unset;
    return (enum sk_strict)options.of[SK_strict_scope_check].number;
}

/* Applies strict-scope-check; `op` is where the scope breaks first, or an op of it that is left
 * out: then it is the `root` itself. */
static bool apply_strictness(struct fusion *f, uint32_t group, uint32_t op, uint32_t root)
{
    struct fusion_group *g = &f->groups.at[f->groups.at[group].whole];
    struct diags *diags = f->context->diags;
    enum sk_strict strict = g->dissolved ? SK_STRICT_unset : strictness(f, g);
    bool left_out = op == root;
    if (strict == SK_STRICT_bypass) {
        g->dissolved = true;
        if (diag_at(diags, DIAG_scope_bypassed, op_span(f, op),
                    "%s is left unfused, since %s (strict-scope-check=bypass)",
                    fusion_group_text(f, group),
                    left_out ? "this op cannot be fused" : "it would break here"))
            explain_root(f, group, root);
    } else if (strict == SK_STRICT_abort) {
        if (diag_at(diags, DIAG_scope_broken, op_span(f, op),
                    "%s %s, which strict-scope-check=abort forbids", fusion_group_text(f, group),
                    left_out ? "has an op that cannot be fused" : "breaks here"))
            explain_root(f, group, root);
        return false;
    }
    return true;
}

/* Why an op, or the super kernel that it is of, does not run in parallel with a super kernel of the
 * input, and what to do. What keeps both of them from it is named, as it does not help to leave out
 * one. */
static void advise_ring(const struct fusion *f, uint32_t group, const struct break_cause *cause)
{
    struct diags *diags = f->context->diags;
    uint32_t op = cause->cause, of = f->superkernel_of[op], other = f->member_of[op];
    uint32_t block = f->groups.at[group].block, root = f->member_of[cause->root];
    const uint32_t groups[3] = {group, other == group ? GROUP_NONE : other,
                                root == group || root == other ? GROUP_NONE : root};
    struct text obstacles = {NULL, 0, 0};
    for (int i = 0; i < 3; i++) {
        const struct fusion_group *g = &f->groups.at[groups[i]];
        if (groups[i] == GROUP_NONE)
            continue;
        if (attr_flag(f->module, f->graph->blocks.at[g->block].attrs, W_fixed_slots))
            text_printf(&obstacles, "%s'fixed_slots' of %s", obstacles.size ? " and " : "",
                        fusion_group_text(f, groups[i]));
        if (fusion_is_per_op(f, g))
            text_printf(&obstacles, "%s'%s' of %s", obstacles.size ? " and " : "",
                        sk_option_key(SK_debug_per_op_max_core_num),
                        fusion_group_text(f, groups[i]));
    }
    if (op_call_kind(&f->graph->ops.at[op]) != CALL_NONE)
        diag_help(
            diags,
            "an op that calls graphs does not run in parallel with a super kernel: make two of "
            "this one, before and after the op");
    else if (fusion_given_stream(f, block) ==
             (of == NONE ? f->order->stream[op] : fusion_given_stream(f, of)))
        diag_help(
            diags,
            "what runs in parallel with a super kernel is launched on another stream: move %s "
            "there, or make two super kernels of this one",
            of == NONE ? "the op" : fusion_group_text(f, other));
    else if (obstacles.size)
        diag_help(diags,
                  "nothing runs in parallel with what has %.*s: leave that out, or make two super "
                  "kernels of this one, before and after the op",
                  (int)obstacles.size, obstacles.at);
    else
        diag_help(diags, "make two super kernels of this one, before and after the op");
    text_free(&obstacles);
}

/* A super kernel of the input stays whole, but for ops to be left out. */
static bool check_whole(const struct fusion *f, const struct segment *segment,
                        const struct break_cause *cause)
{
    const struct fusion_group *group = &f->groups.at[segment->group];
    if (f->graph->blocks.at[group->block].kind != BLOCK_SUPERKERNEL || f->mode == FUSION_FILTER)
        return true;
    if (diag_at(f->context->diags, DIAG_cycle,
                locate_name(f->module, f->graph->blocks.at[group->block].loc),
                "an op outside needs a part of '@%.*s', and another part needs that op",
                NAME(f->module, f->graph->blocks.at[group->block].name))) {
        advise_ring(f, segment->group, cause);
        diag_note(f->context->diags, op_span(f, cause->cause), "it is this op");
    }
    return false;
}

/* Whether the op is of the group but left out, as it cannot be fused. */
static bool was_removed(const struct fusion *f, uint32_t group, uint32_t op)
{
    enum fusable fusable = op_fusable(f->module, f->graph, &f->graph->ops.at[op]);
    return (fusion_filters(f) || fusable == NOT_CALL) && f->member_of[op] == group &&
           f->group_of[op] != group && fusable != FUSABLE && !fusion_ignores(f, op);
}

bool fusion_report_removed(struct fusion *f)
{
    bool ok = true;
    for (uint32_t i = 0; i < f->order->n_ops; i++) {
        uint32_t op = f->order->text[i], group = f->member_of[op];
        if (!was_removed(f, group, op))
            continue;
        enum fusable fusable = op_fusable(f->module, f->graph, &f->graph->ops.at[op]);
        if (diag_at(f->context->diags, DIAG_not_fused, op_span(f, op),
                    "this op of %s is not fused: %s", fusion_group_text(f, group),
                    fusable_reason(fusable))) {
            group_field(f, group);
            op_fields(f, op);
            diag_help(f->context->diags, "%s", fusable_advice(fusable));
        }
        ok = apply_strictness(f, group, op, op) && ok;
    }
    return ok;
}

bool fusion_report_cut(struct fusion *f, uint32_t group, uint32_t op, uint32_t by)
{
    struct diags *diags = f->context->diags;
    if (diags->remarks) {
        diag_at(diags, break_id(f, group, by), op_span(f, op),
                "%s is cut before this op of %s, at %s on %s (--partition=reference)",
                fusion_group_text(f, group), stream_text(f, f->order->stream[op]), name_op(f, by),
                stream_text(f, f->order->stream[by]));
        group_field(f, group);
        op_fields(f, op);
        diag_field(diags, "cause", name_op(f, by));
        diag_field(diags, "root", name_op(f, by));
        explain_root(f, group, by);
    }
    return was_removed(f, group, by) || apply_strictness(f, group, op, by);
}

/* Whether a segment is a part of a group that is not its first, and the break was not there before,
 * between two super kernels of the input. `ends`, by group: where the part before it ends in the
 * schedule, in `last_end`, and now this one. */
static bool is_new_break(const struct fusion *f, const struct segment *segment, uint32_t *ends,
                         uint32_t *last_end)
{
    const uint32_t *ops = f->schedule.ops + segment->first;
    *last_end = ends[segment->group];
    ends[segment->group] = f->schedule.place[ops[segment->count - 1]] + 1;
    if (segment->group == GROUP_NONE || *last_end == 0)
        return false;
    uint32_t before = f->superkernel_of[f->text[*last_end - 1]], here = f->superkernel_of[ops[0]];
    return before == NONE || here == NONE || before == here;
}

bool fusion_report_bypassed(struct fusion *f)
{
    uint32_t *ends = mem_calloc(f->groups.count, sizeof *ends), last_end;
    bool any = false;
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        const struct segment *segment = &f->schedule.segments.at[i];
        uint32_t group = segment->group;
        if (!is_new_break(f, segment, ends, &last_end) ||
            strictness(f, &f->groups.at[group]) != SK_STRICT_bypass)
            continue;
        struct break_cause cause = find_cause(f, segment, last_end);
        if (was_removed(f, group, cause.root))
            continue;
        report_break(f, segment, &cause, last_end);
        apply_strictness(f, group, cause.blocked, cause.root);
        any = true;
    }
    mem_free(ends);
    return any;
}

bool fusion_report_breaks(struct fusion *f)
{
    uint32_t *ends = mem_calloc(f->groups.count, sizeof *ends), last_end;
    bool ok = true;
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        const struct segment *segment = &f->schedule.segments.at[i];
        if (!is_new_break(f, segment, ends, &last_end))
            continue;
        struct break_cause cause = find_cause(f, segment, last_end);
        ok = check_whole(f, segment, &cause) && ok;
        report_break(f, segment, &cause, last_end);
        if (!was_removed(f, segment->group, cause.root))
            ok = apply_strictness(f, segment->group, cause.blocked, cause.root) && ok;
    }
    mem_free(ends);
    return ok;
}

/* -------------------------------------------------------------------- breaks no more ---- */

/* A scope from which ops were left out does not break any more before an op of its first part, nor
 * anywhere if it has no other. */
void fusion_report_repaired(const struct fusion *f)
{
    struct diags *diags = f->context->diags;
    struct id_map op_at = {NULL, 0, 0};
    if (!f->rejoins)
        return;
    uint8_t *met = mem_calloc(f->groups.count, 1), *later = mem_calloc(f->order->n_ops, 1);
    for (uint32_t i = 0; i < f->schedule.segments.count; i++) {
        const struct segment *segment = &f->schedule.segments.at[i];
        for (uint32_t k = 0; k < segment->count; k++)
            later[f->schedule.ops[segment->first + k]] = met[segment->group];
        met[segment->group] = 1;
    }
    for (uint32_t op = 0; op < f->order->n_ops; op++) {
        uint32_t group = f->member_of[op];
        bool whole = f->schedule.groups[group].segments < 2;
        bool in_first = f->group_of[op] == group && !later[op];
        if (group != GROUP_NONE && f->groups.at[group].removed && (whole || in_first) &&
            op_span(f, op).end)
            id_map_set(&op_at, op_span(f, op).begin, op);
    }
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        bool breaks = diag->id == DIAG_split_scope || diag->id == DIAG_split_outside;
        if (breaks && !diag->taken_back && id_map_find(&op_at, diag->span.begin) != NONE)
            diags_take_back_one(diags, i);
    }
    id_map_free(&op_at);
    mem_free(met);
    mem_free(later);
}

/* ------------------------------------------------------------------- nothing is fused ---- */

/* Each reason once, by its text. What can be fused, and is not, is a view: of others there would be
 * a super kernel. */
static void add_op(struct unfused *unfused, const struct fusion *f, uint32_t op)
{
    enum fusable fusable = op_fusable(f->module, f->graph, &f->graph->ops.at[op]);
    struct unfused_op found = {
        .reason = fusable_reason(fusable),
        .advice =
            "a super kernel is made of ops that run kernels on AI cores: put such into the scope",
        .group = fusion_group_text(f, f->member_of[op]),
        .span = op_span(f, op)};
    if (fusable == FUSABLE)
        found.reason = "it is a view, which executes nothing";
    if (fusable == NOT_COLLECTIVE || fusable == NOT_SUPPORTED)
        found.advice = fusable_advice(fusable);
    for (uint32_t i = 0; i < unfused->ops.count; i++)
        if (unfused->ops.at[i].reason == found.reason)
            return;
    vec_push(&unfused->ops, found);
}

void unfused_look(struct unfused *unfused, const struct fusion *f)
{
    for (uint32_t i = 0; i < f->graph->blocks.count; i++)
        unfused->told |= f->graph->blocks.at[i].kind == BLOCK_SUPERKERNEL;
    for (uint32_t i = 0; i < f->groups.count; i++)
        unfused->told |= f->groups.at[i].dissolved;
    for (uint32_t i = 0; !unfused->told && f->groups.count > 1 && i < f->graph->ops.count; i++)
        if (f->member_of[i] != GROUP_NONE)
            add_op(unfused, f, i);
}

void unfused_report(struct unfused *unfused, struct diags *diags)
{
    if (unfused->told || unfused->ops.count == 0)
        return;
    const struct unfused_op *first = unfused->ops.at;
    if (!diag_at(diags, DIAG_nothing_to_fuse, first->span,
                 "nothing is fused: this op of %s cannot be: %s", first->group, first->reason))
        return;
    diag_help(diags, "%s", first->advice);
    for (uint32_t i = 1; i < unfused->ops.count; i++) {
        const struct unfused_op *op = &unfused->ops.at[i];
        diag_note(diags, op->span, "nor can this one of %s: %s", op->group, op->reason);
        if (op->advice != op[-1].advice)
            diag_help(diags, "%s", op->advice);
    }
}
