/* preload-data: brings the parameters of ops into the data cache before they are called.
 *
 * needs    super kernels with their entries
 * changes  programs of entries that have no such preloads yet
 * keeps    all other instructions and their order
 *
 * They stand where preload-code puts those of code, one op ahead, and behind them: the parameters
 * of op n + 1 come before op n, those of the first op with them.
 *
 * They are hints: they bring in what does not change during a launch, and order nothing.
 */
#include "passes/entry/ahead.h"
#include "passes/entry/program_edit.h"
#include "passes/entry/visit.h"

static uint32_t behind_preloads(const struct program *program, uint32_t at)
{
    while (program_has(program, at, INSTR_preload) || program_has(program, at, INSTR_preload_all))
        at++;
    return at;
}

static void preload(struct superkernel *sk, enum core_type core)
{
    const struct program *program = &sk->entry->programs[core];
    struct program_edit edit = {NULL, 0, 0};
    struct ahead calls;
    ahead_init(&calls, sk, core);
    for (uint32_t i = 0; i < calls.at.count; i++) {
        struct instr instr = instr_make(INSTR_preload_data, 0);
        instr.number[0] = program->instrs.at[calls.at.at[i]].number[0];
        program_edit_add(&edit, behind_preloads(program, ahead_place(&calls, i)), instr);
    }
    superkernel_edit(sk, core, &edit);
    ahead_free(&calls);
}

static bool has_preloads(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (program_has(&entry->programs[core], i, INSTR_preload_data))
                return true;
    return false;
}

static bool wants(const struct sk_options *options)
{
    return options->of[SK_preload_data].number != SK_PRELOAD_DATA_none;
}

static bool visit(struct superkernel *sk)
{
    if (has_preloads(sk->entry))
        return true;
    for (int core = 0; core < CORE_TYPES; core++)
        if (sk->entry->programs[core].present)
            preload(sk, (enum core_type)core);
    return true;
}

bool pass_preload_data(struct pass_context *context)
{
    return superkernels_visit_if(context, wants, visit);
}
