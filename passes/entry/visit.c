#include "passes/entry/visit.h"
#include "ir/syntax/locate.h"
#include "passes/entry/records.h"

/* Whether the entry calls the ops' kernels: a dump may have been edited. */
static bool calls_match(const struct superkernel *sk)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &sk->entry->programs[core];
        uint32_t wanted = 0, calls = 0;
        for (uint32_t i = 0; i < sk->count; i++)
            wanted += superkernel_has_part(sk, i, core);
        for (uint32_t i = 0; i < program->instrs.count; i++)
            calls += program->instrs.at[i].op == INSTR_call;
        if (calls == wanted)
            continue;
        diag_at(sk->context->diags, DIAG_entry_calls, locate_name(sk->module, sk->entry->loc),
                "entry '@%.*s' calls %u kernels on %s, but its super kernel has %u there",
                NAME(sk->module, sk->entry->name), calls, core_type_name(core), wanted);
        return false;
    }
    return true;
}

/* Records of `profile` stand between what passes recognise by its place. They are none of a pass's
 * business, and their places follow from the rest. */
static bool visit_one(struct superkernel *sk, bool (*visit)(struct superkernel *sk))
{
    bool taken = records_take(sk), ok = visit(sk);
    if (taken && ok)
        records_make(sk);
    return ok;
}

static bool visit_graph(struct superkernel *sk, bool (*visit)(struct superkernel *sk))
{
    struct analyses *analyses = sk->context->analyses;
    const struct members *members = analyses_members(analyses, sk->module, sk->graph);
    bool ok = true;
    sk->order = analyses_order(analyses, sk->module, sk->graph);
    sk->index = members->index;
    for (uint32_t b = 0; b < sk->graph->blocks.count; b++) {
        const struct block *block = &sk->graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL)
            continue;
        sk->block = block;
        sk->entry = block_entry(sk->module, block);
        sk->ops = members->ops + members->first[b];
        sk->count = members->first[b + 1] - members->first[b];
        sk->grouped = members->grouped + members->first[b];
        sk_options_of(&sk->options, sk->module, attr_string(sk->module, block->attrs, W_options));
        ok = calls_match(sk) && visit_one(sk, visit) && ok;
    }
    return ok;
}

bool superkernels_visit(struct pass_context *context, bool (*visit)(struct superkernel *sk))
{
    return superkernels_visit_with(context, visit, NULL);
}

bool superkernels_visit_with(struct pass_context *context, bool (*visit)(struct superkernel *sk),
                             void *user)
{
    struct module *module = context->module;
    struct superkernel sk = {.context = context, .module = module, .user = user};
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        sk.graph = &module->graphs.at[i];
        ok = visit_graph(&sk, visit) && ok;
    }
    return ok;
}
