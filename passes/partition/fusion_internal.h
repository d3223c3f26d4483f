/* A graph whose scopes become super kernels. */
#ifndef PASSES_PARTITION_FUSION_INTERNAL_H
#define PASSES_PARTITION_FUSION_INTERNAL_H

#include "ir/core/sk_options.h"
#include "passes/partition/fusable.h"
#include "passes/partition/fusion.h"
#include "passes/partition/schedule.h"

enum fusion_mode {
    FUSION_COLLECT, /* all ops of a scope */
    FUSION_FILTER,  /* only those that can be fused (passes/partition/fusable.h) */
};

/* The ops of one scope, or of one super kernel of the input that belongs to no scope. */
struct fusion_group {
    uint32_t block;   /* one of its blocks: scope or super kernel */
    uint32_t name;    /* of that */
    uint32_t scope;   /* name id, or NONE for a super kernel without scope */
    uint32_t options; /* name id of the options that any of its blocks gives, or NONE */
    uint32_t options_loc;
    uint32_t whole; /* the group of all of the scope, where this is a part; else itself */
    bool removed;   /* some ops of its blocks are not to be fused */
    bool dissolved; /* strict-scope-check = bypass: left unfused */
    bool is_cut;    /* a part, between two positions (passes/partition/reference_cuts.h) */
    int64_t begin, end;
};

/* The first op that could not be fused for a reason. */
struct unfused_op {
    const char *reason, *advice, *group; /* static, static, of the diagnostics */
    struct span span;
};

struct fusion {
    struct pass_context *context;
    struct module *module;
    struct graph *graph;
    enum fusion_mode mode;
    const struct order *order;
    VEC(struct fusion_group) groups; /* element 0 is GROUP_NONE */
    uint32_t *group_of;              /* per op: its group if it is to be fused */
    uint32_t *member_of;             /* per op: the group of its block */
    uint32_t *superkernel_of;        /* per op: its super kernel's block in the input, or NONE */
    uint32_t *sizes; /* by block of the input: ops of a super kernel, but for passive ones */
    uint32_t *rank;  /* per op with a group: its index among the scope's members in the schedule */
    int64_t *position; /* per op, in the reference's order; NULL: nobody asks */
    struct schedule schedule;
    uint32_t *text;        /* ops in the order that the text gets: by `place` of the schedule */
    struct vec_u32 *taken; /* by name id: a super kernel has it */
    bool is_canonical;     /* nothing is to be done to the graph */
    bool rejoins;          /* the super kernels of a scope are one group again */
};

/* Whether the pass takes out what cannot be fused. */
static inline bool fusion_filters(const struct fusion *fusion)
{
    return fusion->mode == FUSION_FILTER || fusion->context->reference_partition;
}

/* Whether an op executes nothing and is of no group, without a cut: a passive one, but no view. */
static inline bool fusion_ignores(const struct fusion *fusion, uint32_t op)
{
    return op_fusable(fusion->module, fusion->graph, &fusion->graph->ops.at[op]) == NOT_PASSIVE;
}

/* The stream that a super kernel of the input says. */
static inline uint32_t fusion_given_stream(const struct fusion *fusion, uint32_t block)
{
    return stream_label(
        attr_string(fusion->module, fusion->graph->blocks.at[block].attrs, W_stream));
}

/* merge.c */

/* Schedules the groups, by what it costs to break each, merges their parts as far as they can be
 * one launch, and finds the order of the text. Where groups break, the parts of the reference's
 * cuts are tried, too: there are never more launches than with these, where they can run. */
void fusion_schedule(struct fusion *fusion, const struct break_cost *costs);

/* Whether nothing may run in parallel with the group: its slots are a contract, or each of its ops
 * becomes a super kernel of its own. */
bool fusion_is_alone(const struct fusion *fusion, uint32_t group);

/* The super kernel of the input that has just these ops of the schedule, or NONE. */
uint32_t fusion_same_superkernel(const struct fusion *fusion, const uint32_t *ops, uint32_t count);
/* The stream that a super kernel of these ops is launched on, if nothing runs in parallel. */
uint32_t fusion_stream(const struct fusion *fusion, const uint32_t *ops, uint32_t count);

/* reference_cuts.c */

/* Makes a group of each part of a scope between two cuts of the reference. Says where they are;
 * marks groups that are to be dissolved. False where a scope must not break. */
bool fusion_cut(struct fusion *fusion);
/* Adds a group for each part between the reference's cuts; its ops are then of that. Super kernels
 * of the input are not cut. Returns, by group, which one it is a part of, else itself; to be freed.
 */
uint32_t *fusion_cut_groups(struct fusion *fusion, const struct break_cost *costs);

/* fusion_report.c */

/* The options of a group; false where they are wrong. Those of the command line are for scopes; in
 * super kernels that were made of them they are written down. */
bool fusion_options(const struct fusion *fusion, const struct fusion_group *group,
                    struct sk_options *options);
/* Whether each of its ops becomes a super kernel of its own: debug-per-op-max-core-num. */
bool fusion_is_per_op(const struct fusion *fusion, const struct fusion_group *group);

/* "scope '@s'", for messages, in the arena of the diagnostics. */
const char *fusion_group_text(const struct fusion *fusion, uint32_t group);
/* Says which ops of scopes are left out. Marks groups that are to be dissolved for it; false where
 * nothing may be left out. */
bool fusion_report_removed(struct fusion *fusion);
/* Marks groups that are to be dissolved since they break, and says so. Whether there are any. */
bool fusion_report_bypassed(struct fusion *fusion);
/* Says why each scope is in parts. False where a scope must not break. */
bool fusion_report_breaks(struct fusion *fusion);
/* Takes back what was said of breaks, by the pass that made super kernels of scopes, that are none
 * any more, since ops are left out. */
void fusion_report_repaired(const struct fusion *fusion);
/* Says why a scope is cut before `op`: at the op `by`, which is of its stream. What comes of it for
 * the scope is as for breaks. */
bool fusion_report_cut(struct fusion *fusion, uint32_t group, uint32_t op, uint32_t by);
/* Of all graphs of a module: why nothing is fused where scopes have ops. */
struct unfused {
    bool told; /* there is a super kernel, or a scope that is said to be bypassed */
    VEC(struct unfused_op) ops;
};
/* Looks at a graph that has its new blocks. */
void unfused_look(struct unfused *unfused, const struct fusion *fusion);
/* Warns where nothing is fused and something was to be. */
void unfused_report(struct unfused *unfused, struct diags *diags);

/* fusion_rewrite.c */

/* Replaces the graph's blocks and body by those of the schedule. False after an error: a super
 * kernel that must stay does not. */
bool fusion_rewrite(struct fusion *fusion);

#endif
