#include "passes/fusion/unfused.h"
#include "ir/syntax/locate.h"

static bool has_superkernel(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_SUPERKERNEL)
            return true;
    return false;
}

static bool is_bypassed(const struct fusion *f)
{
    for (uint32_t i = 0; i < f->groups.count; i++)
        if (f->groups.at[i].dissolved)
            return true;
    return false;
}

/* What can be fused, and is not, is a view: of others there would be a super kernel. */
static const char *reason_of(const struct fusion *f, uint32_t op)
{
    enum fusable fusable = op_fusable(f->module, f->graph, &f->graph->ops.at[op]);
    return fusable == FUSABLE ? "it is a view, which executes nothing" : fusable_reason(fusable);
}

static const char *advice_of(const struct fusion *f, uint32_t op)
{
    enum fusable fusable = op_fusable(f->module, f->graph, &f->graph->ops.at[op]);
    if (fusable == NOT_COLLECTIVE || fusable == NOT_SUPPORTED)
        return fusable_advice(fusable);
    return "a super kernel is made of ops that run kernels on AI cores: put such into the scope";
}

/* Each reason once, by its text. */
static void add_op(struct unfused *unfused, const struct fusion *f, uint32_t op)
{
    const char *reason = reason_of(f, op);
    for (uint32_t i = 0; i < unfused->ops.count; i++)
        if (unfused->ops.at[i].reason == reason)
            return;
    struct unfused_op found = {.reason = reason,
                               .advice = advice_of(f, op),
                               .group = fusion_group_text(f, f->member_of[op]),
                               .span =
                                   locate_op(f->module, &f->graph->ops.at[op], OP_TYPE_NAME, 0)};
    vec_push(&unfused->ops, found);
}

void unfused_look(struct unfused *unfused, const struct fusion *f)
{
    unfused->told |= has_superkernel(f->graph) || is_bypassed(f);
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

void unfused_free(struct unfused *unfused)
{
    vec_free(&unfused->ops);
}
