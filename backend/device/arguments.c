#include "backend/device/arguments.h"
#include "backend/device/lists.h"
#include "backend/device/tilings.h"
#include "ir/slots.h"
#include "ir/syntax/locate.h"

#include <assert.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------ ops ---- */

static bool refuse(struct device_run *run, const struct op *op, enum diag_id id, const char *text)
{
    diag_at(run->diags, id, locate_op(run->module, op, OP_TYPE_NAME, 0), "%s", text);
    return false;
}

static bool make_workspace(struct device_run *run, const struct op *op, uint64_t *address)
{
    uint64_t size;
    if (!kernel_workspace(run->module, device_run_kernel(run, op), run->graph, op, &size))
        return refuse(run, op, DIAG_unsupported, "the size of this op's workspace is not known");
    void *memory = device_run_memory(run, op, "workspace", size);
    if (!memory)
        return refuse(run, op, DIAG_unsupported, "there is no memory for this op's workspace");
    *address = (uintptr_t)memory;
    return true;
}

static bool make_tiling(struct device_run *run, const struct op *op, uint64_t *address)
{
    struct arena scratch = {NULL, 0};
    struct skrt_tiling tiling;
    char error[160];
    bool ok = device_tiling(run->module, run->graph, op, &scratch, &tiling, error, sizeof error) ||
              refuse(run, op, DIAG_unsupported, error);
    if (ok)
        *address = (uintptr_t)tilings_table(run, op, &tiling);
    arena_free(&scratch);
    return ok;
}

enum { CACHE_LINE = 64 };

/* A word that launches store: nothing else is in its cache line. */
static uint64_t *make_word(struct device_run *run)
{
    unsigned char *memory = arena_alloc(&run->arena, 2 * CACHE_LINE);
    uint64_t *word = (uint64_t *)(memory + CACHE_LINE - (uintptr_t)memory % CACHE_LINE);
    *word = 0;
    return word;
}

uint64_t *arguments_event(struct device_run *run, uint32_t name)
{
    if (!run->words_of_events)
        run->words_of_events = mem_calloc(run->module->names.count, sizeof *run->words_of_events);
    assert(name < run->module->names.count);
    if (!run->words_of_events[name])
        run->words_of_events[name] = make_word(run);
    return run->words_of_events[name];
}

/* Does the host's tiling of an op with a dynamic kernel. */
static bool make_choice(struct device_run *run, const struct op *op)
{
    struct device_tiling_words *words = arena_alloc(&run->arena, sizeof *words);
    struct device_choice choice;
    *words = (struct device_tiling_words){
        .given = device_run_table(run, op, "tiling key", 2 * sizeof *words->given),
        .lock = make_word(run)};
    vec_push(&run->tilings, words);
    if (!device_choose(run->module, run->graph, op, device_run_kernel(run, op), &choice,
                       run->diags))
        return false;
    words->given[0] = (uint64_t)choice.key;
    words->given[1] = choice.blocks;
    return true;
}

/* A table that was made for it is the last of the memories. */
static bool add_argument(struct device_run *run, const struct op *op, uint32_t number,
                         struct slot slot)
{
    struct device_argument argument = {.slot = slot, .op = number, .memory = NONE};
    uint32_t memories = run->memories.count;
    switch (slot.kind) {
    case SLOT_TENSOR:
    case SLOT_NONE: break;
    case SLOT_LIST: argument.word = (uintptr_t)list_table(run, op, slot.id); break;
    case SLOT_WORD:
        if (!(slot.id == W_workspace ? make_workspace(run, op, &argument.word)
                                     : make_tiling(run, op, &argument.word)))
            return false;
        break;
    case SLOT_SEND:
    case SLOT_RECV: argument.word = (uintptr_t)arguments_event(run, slot.id); break;
    /* The op's latest tiling: the three slots stand in this order. */
    case SLOT_TILING_KEY:
        if (!make_choice(run, op))
            return false;
        argument.word = (uintptr_t)&run->tilings.at[run->tilings.count - 1]->given[0];
        break;
    case SLOT_BLOCK_NUM:
        assert(run->tilings.count > 0);
        argument.word = (uintptr_t)&run->tilings.at[run->tilings.count - 1]->given[1];
        break;
    case SLOT_LOCK:
        assert(run->tilings.count > 0);
        argument.word = (uintptr_t)run->tilings.at[run->tilings.count - 1]->lock;
        break;
    }
    if (run->memories.count > memories && run->memories.at[memories].is_table)
        argument.memory = memories;
    vec_push(&run->arguments, argument);
    return true;
}

bool arguments_add_op(struct device_run *run, const struct op *op, uint32_t number)
{
    struct slots slots = {NULL, 0, 0};
    bool ok = true;
    slots_add_op(&slots, run->module, run->graph, op, device_run_kernel(run, op));
    for (uint32_t i = 0; ok && i < slots.count; i++)
        ok = add_argument(run, op, number, slots.at[i]);
    vec_free(&slots);
    return ok;
}

/* -------------------------------------------------------------------------- entries ---- */

static void add_word(struct device_run *run, uint32_t name, const void *word)
{
    vec_push(&run->arguments,
             (struct device_argument){
                 .slot = {SLOT_WORD, name}, .op = NONE, .memory = NONE, .word = (uintptr_t)word});
}

void arguments_add_sync_base(struct device_run *run)
{
    add_word(run, W_ffts, NULL);
}

/* How many a core makes at an instruction: those that may block have a begin and an end. */
static unsigned records_of(enum instr_op op)
{
    switch (op) {
    case INSTR_profile: return 1;
    case INSTR_await:
    case INSTR_wait:
    case INSTR_select:
    case INSTR_feed_sync: return 2;
    default: return 0;
    }
}

/* The slots of time records, which stand behind those of all ops. */
static void add_profile(struct device_run *run, const struct entry *entry,
                        struct device_launch *launch)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    launch->profile_slot = entry_profile_slot(entry);
    if (launch->profile_slot == NONE)
        return;
    add_word(run, W_profiling, NULL);
    add_word(run, W_profiling, NULL);
    for (int core = 0; core < CORE_TYPES; core++) {
        uint64_t cores = launch->skrt.blocks * (core == CORE_AIC ? info->aics : info->aivs);
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            launch->records += cores * records_of(entry->programs[core].instrs.at[i].op);
    }
}

/* The workspace of fed barriers. */
static bool add_workspace(struct device_run *run, const struct entry *entry)
{
    if (entry_slot(entry, W_sync_workspace) == NONE)
        return true;
    uint64_t size = (uint64_t)attr_int(run->module, entry->attrs, W_workspace, 0);
    void *memory = device_run_memory(run, NULL, "workspace of fed barriers", size);
    if (!memory) {
        diag_at(run->diags, DIAG_unsupported, locate_name(run->module, entry->loc),
                "there is no memory for the workspace of entry '@%.*s'",
                NAME(run->module, entry->name));
        return false;
    }
    add_word(run, W_sync_workspace, memory);
    return true;
}

/* The lines of its cores' traces. */
static bool add_trace(struct device_run *run, const struct entry *entry,
                      struct device_launch *launch)
{
    if (entry_slot(entry, W_tracing) == NONE)
        return true;
    launch->trace_lines = launch->skrt.blocks * ((uint32_t)launch->skrt.aics + launch->skrt.aivs);
    launch->trace =
        device_run_memory(run, NULL, "trace", launch->trace_lines * sizeof *launch->trace);
    if (!launch->trace) {
        diag_at(run->diags, DIAG_unsupported, locate_name(run->module, entry->loc),
                "there is no memory for the trace of entry '@%.*s'",
                NAME(run->module, entry->name));
        return false;
    }
    add_word(run, W_tracing, launch->trace);
    return true;
}

bool arguments_add_entry(struct device_run *run, const struct entry *entry,
                         struct device_launch *launch)
{
    if (!add_workspace(run, entry) || !add_trace(run, entry, launch))
        return false;
    add_profile(run, entry, launch);
    return true;
}

bool arguments_hold(const struct device_run *run, const struct entry *entry,
                    const struct device_launch *launch)
{
    if (entry_slots(entry) != launch->count)
        return false;
    for (uint32_t i = 0; i < entry->args.count; i++)
        if (!slot_is_arg(entry, run->graph,
                         run->arguments.at[launch->first + arg_slot(entry, i)].slot,
                         &entry->args.at[i]))
            return false;
    return true;
}
