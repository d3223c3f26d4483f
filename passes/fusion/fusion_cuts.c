/* Parts of scopes as the reference compiler cuts them. */
#include "passes/fusion/fusion_internal.h"
#include "passes/fusion/reference_cuts.h"

static enum cut_role role_of(const struct fusion *f, uint32_t op)
{
    if (fusion_ignores(f, op))
        return CUT_IGNORED;
    return op_fusable(f->module, f->graph, &f->graph->ops.at[op]) == FUSABLE ? CUT_MEMBER
                                                                             : CUT_OTHER;
}

/* Ops of super kernels of the input are of no scope, and what is left unfused is of none. */
static void scopes_of(const struct fusion *f, uint32_t *scope_of, uint8_t *roles)
{
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        const struct fusion_group *group = &f->groups.at[f->member_of[i]];
        bool scoped = f->superkernel_of[i] == NONE && !group->dissolved;
        scope_of[i] = scoped ? f->member_of[i] : GROUP_NONE;
        roles[i] = (uint8_t)role_of(f, i);
    }
}

static bool report_cuts(struct fusion *f, const struct reference_cuts *cuts)
{
    uint8_t *told = mem_calloc(cuts->parts.count, 1);
    bool ok = true;
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        uint32_t op = f->order->text[i], part = cuts->part[op];
        if (part == NONE || told[part])
            continue;
        told[part] = 1;
        if (cuts->parts.at[part].cut_by != NONE)
            ok =
                fusion_report_cut(f, cuts->parts.at[part].scope, op, cuts->parts.at[part].cut_by) &&
                ok;
    }
    mem_free(told);
    return ok;
}

static void make_groups(struct fusion *f, const struct reference_cuts *cuts)
{
    uint32_t first = f->groups.count;
    for (uint32_t i = 0; i < cuts->parts.count; i++) {
        const struct reference_part *part = &cuts->parts.at[i];
        struct fusion_group group = f->groups.at[part->scope];
        group.is_cut = part->is_cut;
        group.begin = part->begin;
        group.end = part->end;
        vec_push(&f->groups, group);
    }
    for (uint32_t i = 0; i < f->graph->ops.count; i++)
        if (cuts->part[i] != NONE)
            f->group_of[i] = f->member_of[i] = first + cuts->part[i];
}

bool fusion_cut(struct fusion *f)
{
    uint32_t n = f->graph->ops.count, *scope_of = mem_calloc(n, sizeof *scope_of);
    uint8_t *roles = mem_calloc(n, 1);
    struct reference_cuts cuts;
    scopes_of(f, scope_of, roles);
    reference_cuts_init(&cuts, f->order, scope_of, f->groups.count, roles, f->graph->n_params);
    bool ok = report_cuts(f, &cuts);
    make_groups(f, &cuts);
    reference_cuts_free(&cuts);
    mem_free(scope_of);
    mem_free(roles);
    return ok;
}
