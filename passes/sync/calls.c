/* Whether the calls are those of the super kernel's ops, each once on each core type that its
 * kernel has a part for: told by the arguments that they pass, in whatever order they stand. */
#include "passes/sync/report.h"

static void place_calls(const struct sync_checker *checker, enum core_type core)
{
    const struct sync_subject *subject = checker->subject;
    const struct sync_track *track = &checker->proof.tracks[core];
    for (uint32_t i = 0; i < subject->count; i++)
        subject->placed[i].call[core] = (struct sync_point){core, NONE, SYNC_ALL_CORES};
    for (uint32_t i = 0; i < track->count; i++) {
        if (track->steps[i].effect != EFFECT_CALL)
            continue;
        const struct instr *call = sync_instr(&checker->proof, core, i);
        const struct kernel *kernel = sync_kernel(checker, call->kernel);
        uint32_t place = checker->called.place[call->number[0]];
        subject->placed[place].call[core] = (struct sync_point){
            core, i, sync_extent_of_call(&checker->proof, core, kernel, call->number[1])};
    }
}

/* A call runs as many blocks as the kernel was built for. */
static bool check_blocks(const struct sync_checker *checker, const struct sync_point *point)
{
    const struct instr *call = sync_instr(&checker->proof, point->core, point->step);
    const struct kernel *kernel = sync_kernel(checker, call->kernel);
    int64_t blocks = attr_int(checker->module, kernel->attrs, W_block, call->number[1]);
    if (call->number[1] == blocks)
        return true;
    if (sync_report_step(checker, DIAG_entry_calls, point->core, point->step,
                         "the kernel was built for another number of blocks"))
        diag_help(checker->diags, "write 'blocks %lld'", (long long)blocks);
    return false;
}

/* Where the arguments themselves are wrong, it is enough to say that. */
bool sync_check_calls(struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    const struct called_source source = {
        .diags = checker->grouped ? checker->diags : NULL,
        .module = checker->module,
        .graph = subject->graph,
        .superkernel = &subject->graph->blocks.at[subject->block],
        .entry = checker->entry,
        .ops = subject->ops,
        .count = subject->count,
        .grouped = subject->grouped,
        .names = subject->groups,
    };
    if (!called_find(&checker->called, &source))
        return false;
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++)
        place_calls(checker, (enum core_type)core);
    for (uint32_t i = 0; i < subject->count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            if (subject->placed[i].call[core].step != NONE)
                ok = check_blocks(checker, &subject->placed[i].call[core]) && ok;
    return ok;
}
