/* feed-sync-all: with the option feed-sync-all=1, idle cores take part in the full barriers that a
 * kernel does itself.
 *
 * needs    super kernels with their entries
 * changes  entries: the slot `sync_workspace` and the attribute `workspace`; programs: clearing it
 *          at the start, and the steps of feed_sync around calls
 * keeps    calls, synchronisation, and their order
 *
 * A kernel with `sync_all` was built to be launched alone, so its barriers are over all cores of
 * the launch. Called on fewer cores of a type than the super kernel has, it would wait for ever.
 * There `feed_sync begin`, the call and `feed_sync end` count its barriers in memory on the cores
 * that run it, and the others pass as many at `feed_sync complement`, until all have ended.
 *
 * The counters begin at zero: where a core type has such a call, each of its blocks clears its part
 * of the workspace at the start, and a barrier of that type follows. The two core types have
 * counters of their own, so nothing has to pass between them.
 *
 * Why it is sound: the barrier at the start is complete before anything else; it uses no flags, so
 * that those behind it match as before. What feed_sync waits for are cores in the call, which all
 * cores of the type come to in the same order, so nothing waits in a circle that did not before. It
 * orders nothing that the proof relies on.
 */
#include "ir/core/attr.h"
#include "ir/core/kernel.h"
#include "ir/syntax/locate.h"
#include "passes/lower/insertion_points.h"
#include "passes/lower/visit.h"

enum {
    UNIT = 512, /* the least that a block has of the workspace, in bytes */
    PER_OP = 128,
};

/* ------------------------------------------------------------------------- workspace ---- */

/* The least power of two of units for each block so that together they are more than the ops
 * need. */
static uint64_t workspace_size(uint64_t blocks, uint64_t ops)
{
    uint64_t size = UNIT;
    while (blocks * size <= ops * PER_OP)
        size *= 2;
    return blocks * size;
}

/* The slot of the workspace is behind those of the ops, before those of profiling. */
static void set_slot(struct superkernel *sk)
{
    if (entry_slot(sk->entry, W_sync_workspace) == NONE)
        entry_insert_words(superkernel_own_entry(sk), entry_named_groups(sk->entry),
                           W_sync_workspace, 1);
}

static void set_size(struct superkernel *sk, uint64_t blocks)
{
    struct attr size = {
        W_workspace, NONE, {.kind = ATTR_INT, .i = (int64_t)workspace_size(blocks, sk->count)}};
    if (!attr_find(sk->module, sk->entry->attrs, W_workspace))
        superkernel_own_entry(sk)->attrs = attrs_with(sk->module, sk->entry->attrs, size);
}

/* -------------------------------------------------------------------------- programs ---- */

static bool is_clearing(const struct program *program)
{
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program_has(program, i, INSTR_clear_workspace))
            return true;
    return false;
}

/* The barrier is split over the preloads at the start, as early-start splits barriers. */
static void add_start(struct program_edit *edit, const struct program *program, enum core_type core)
{
    uint32_t behind = 0;
    while (program_has_ahead(program, behind))
        behind++;
    program_edit_add(edit, 0, instr_make(INSTR_clear_workspace, 0));
    program_edit_add(edit, 0, instr_make(INSTR_arrive, (uint8_t)core));
    program_edit_add(edit, behind, instr_make(INSTR_await, (uint8_t)core));
}

/* Whether cores of the type are idle while the op runs (docs/device-model.md, "Calls"). */
static bool has_idle_cores(const struct superkernel *sk, uint32_t i, uint64_t blocks,
                           uint64_t called)
{
    if (kernel_type_info(superkernel_kernel(sk, i)->type)->flat)
        blocks *= kernel_type_info(sk->entry->type)->aivs;
    return called < blocks;
}

static void feed(struct superkernel *sk, enum core_type core, uint64_t blocks)
{
    const struct program *program = &sk->entry->programs[core];
    uint32_t *calls = superkernel_calls(sk, core);
    struct program_edit edit = {NULL, 0, 0};
    bool cleared = is_clearing(program);
    for (uint32_t i = 0; i < sk->count; i++) {
        if (calls[i] == NONE ||
            !attr_flag(sk->module, superkernel_kernel(sk, i)->attrs, W_sync_all) ||
            !has_idle_cores(sk, i, blocks, program->instrs.at[calls[i]].number[1]) ||
            call_site_has(program, calls[i], INSTR_feed_sync))
            continue;
        if (!cleared)
            add_start(&edit, program, core);
        cleared = true;
        program_edit_add(&edit, calls[i], instr_make(INSTR_feed_sync, PHASE_begin));
        program_edit_add(&edit, calls[i] + 1, instr_make(INSTR_feed_sync, PHASE_end));
        program_edit_add(&edit, calls[i] + 1, instr_make(INSTR_feed_sync, PHASE_complement));
    }
    superkernel_edit(sk, core, &edit);
    mem_free(calls);
}

/* On how many cores a dynamic kernel has its barriers, its tiling says at run time only. */
static bool refuse_dynamic(const struct superkernel *sk)
{
    for (uint32_t i = 0; i < sk->count; i++) {
        const struct kernel *kernel = superkernel_kernel(sk, i);
        if (!attr_flag(sk->module, kernel->attrs, W_sync_all) ||
            !kernel_is_dynamic(sk->module, kernel))
            continue;
        if (diag_at(sk->context->diags, DIAG_unsupported,
                    locate_op(sk->module, superkernel_op(sk, i), OP_TYPE_NAME, 0),
                    "feed-sync-all cannot match the full barriers of the dynamic kernel '@%.*s'",
                    NAME(sk->module, kernel->name)))
            diag_help(sk->context->diags,
                      "keep the op out of the super kernel, by 'scope none', or give it a kernel "
                      "that is not dynamic");
        return true;
    }
    return false;
}

static bool wants(const struct sk_options *options)
{
    return options->of[SK_feed_sync_all].number;
}

static bool visit(struct superkernel *sk)
{
    uint64_t blocks = (uint64_t)attr_int(sk->module, sk->entry->attrs, W_block, 1);
    if (refuse_dynamic(sk))
        return false;
    set_slot(sk);
    set_size(sk, blocks);
    for (int core = 0; core < CORE_TYPES; core++)
        if (sk->entry->programs[core].present)
            feed(sk, core, blocks);
    return true;
}

bool pass_feed_sync_all(struct pass_context *context)
{
    return superkernels_visit_if(context, wants, visit);
}
