/* What the parameter slots of launches hold: the memory of values, tables of listed operands,
 * tilings, words of events. Kernels only read slots and tables: their sums are compared after each
 * launch. */
#include "backend/device/arguments.h"
#include "ir/core/kernel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/core/kernel_args.h"
#include "ir/syntax/locate.h"

/* ------------------------------------------------------------------------------ memory ---- */

/* Memories that may have pages of their own (ir/support/guarded.h). */
enum { MOST_PAGED = 1024 };

static void *add_memory(struct device_run *run, const struct op *op, const char *what,
                        uint64_t size, bool pages)
{
    struct device_memory memory = {.op = op, .what = what};
    vec_reserve(&run->memories, 1);
    if (!guarded_init(&memory.guarded, size, pages))
        return NULL;
    vec_push(&run->memories, memory);
    return memory.guarded.at;
}

static bool find_damage(struct device_run *run, struct run_damage *damage)
{
    for (uint32_t i = 0; i < run->memories.count; i++) {
        struct device_memory *memory = &run->memories.at[i];
        int64_t first;
        uint64_t bytes = guarded_damage(&memory->guarded, &first);
        if (bytes == 0)
            continue;
        guarded_repair(&memory->guarded);
        *damage = (struct run_damage){run->graph,           memory->op, memory->what,
                                      memory->guarded.size, bytes,      first};
        return true;
    }
    return false;
}

/* Zeroed memory for launches of the run, which lasts as long as it; NULL where there is none. */
static void *device_run_memory(struct device_run *run, const struct op *op, const char *what,
                               uint64_t size)
{
    return add_memory(run, op, what, size, run->memories.count < MOST_PAGED);
}

/* Those of parameters, one of each graph, come last. */
void *device_run_table(struct device_run *run, const struct op *op, const char *what, uint64_t size)
{
    bool pages = (op ? run->memories.count : run->root->runs.count) < MOST_PAGED;
    void *table = add_memory(run, op, what, size, pages);
    if (!table)
        mem_exhausted();
    run->memories.at[run->memories.count - 1].is_table = true;
    return table;
}

void device_run_spoil(struct backend_run *base, unsigned char byte)
{
    struct device_run *root = (struct device_run *)base;
    for (uint32_t i = 0; i < root->runs.count; i++) {
        struct device_run *run = root->runs.at[i];
        for (uint32_t m = 0; m < run->memories.count; m++) {
            struct device_memory *memory = &run->memories.at[m];
            guarded_set_pattern(&memory->guarded, byte);
            if (memory->op && !memory->is_table)
                memset(memory->guarded.at, byte, memory->guarded.size);
        }
    }
}

bool device_run_damage(struct backend_run *base, struct run_damage *damage)
{
    struct device_run *run = (struct device_run *)base;
    for (uint32_t i = 0; i < run->runs.count; i++)
        if (find_damage(run->runs.at[i], damage))
            return true;
    return false;
}

static uint32_t value_type(const struct device_run *run, uint32_t form, uint32_t n)
{
    uint32_t value = run->graph->refs.at[run->graph->forms.at[form].values.first + n];
    return run->graph->values.at[value].type;
}

/* One word, and one for each tensor, each dimension and each address. */
static uint32_t table_words(const struct device_run *run, uint32_t form)
{
    uint32_t count = run->graph->forms.at[form].values.count, words = 1 + 2 * count;
    for (uint32_t n = 0; n < count; n++)
        words += run->module->types.at[value_type(run, form, n)].rank;
    return words;
}

/* The table of the list that graph.forms has at `form`, an operand of the op, without addresses.
 * It lasts as long as the run. Its types are static. */
static uint64_t *list_table(struct device_run *run, const struct op *op, uint32_t form)
{
    uint32_t count = run->graph->forms.at[form].values.count, words = table_words(run, form);
    uint64_t *table = device_run_table(run, op, "list", words * sizeof *table), *word = table;
    if (!table)
        mem_exhausted();
    *word++ = (uint64_t)(words - count) * sizeof *table;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t type = value_type(run, form, n), rank = run->module->types.at[type].rank;
        *word++ = (uint64_t)n << 32 | rank;
        if (rank)
            memcpy(word, type_dims(run->module, type), rank * sizeof *word);
        word += rank;
    }
    assert(word == table + (words - count));
    return table;
}

/* Puts the addresses of the list's values into its table. Whether any was another. */
static bool list_fill(struct device_run *run, uint32_t form, uint64_t *table, void *const *values)
{
    struct range list = run->graph->forms.at[form].values;
    uint64_t *addresses = table + table[0] / sizeof *table;
    bool any = false;
    for (uint32_t n = 0; n < list.count; n++) {
        uint64_t to = (uintptr_t)values[run->graph->refs.at[list.first + n]];
        any |= addresses[n] != to;
        addresses[n] = to;
    }
    return any;
}

/* What is put one after the other; texts, which need no alignment, come last. */
struct packing {
    unsigned char *at;
    uint64_t used;
};

static uint64_t packed_size(const struct skrt_tiling *tiling)
{
    uint64_t size = sizeof *tiling + tiling->n_tensors * sizeof *tiling->tensors +
                    tiling->n_attrs * sizeof *tiling->attrs;
    for (uint32_t i = 0; i < tiling->n_tensors; i++)
        if (tiling->tensors[i].list)
            size += tiling->tensors[i].count * sizeof *tiling->tensors;
    for (uint32_t i = 0; i < tiling->n_attrs; i++) {
        const struct skrt_attr *attr = &tiling->attrs[i];
        size += attr->ints ? attr->count * sizeof *attr->ints : 0;
        size += attr->text ? strlen(attr->text) + 1 : 0;
    }
    return size;
}

static void *pack(struct packing *packing, const void *from, uint64_t size)
{
    unsigned char *at = packing->at + packing->used;
    if (size)
        memcpy(at, from, size);
    packing->used += size;
    return at;
}

static struct skrt_tensor *pack_tensors(struct packing *packing, const struct skrt_tiling *tiling)
{
    struct skrt_tensor *tensors =
        pack(packing, tiling->tensors, tiling->n_tensors * sizeof *tensors);
    for (uint32_t i = 0; i < tiling->n_tensors; i++)
        if (tensors[i].list)
            tensors[i].list = pack(packing, tensors[i].list, tensors[i].count * sizeof *tensors);
    return tensors;
}

static struct skrt_attr *pack_attrs(struct packing *packing, const struct skrt_tiling *tiling)
{
    struct skrt_attr *attrs = pack(packing, tiling->attrs, tiling->n_attrs * sizeof *attrs);
    for (uint32_t i = 0; i < tiling->n_attrs; i++)
        if (attrs[i].ints)
            attrs[i].ints = pack(packing, attrs[i].ints, attrs[i].count * sizeof *attrs[i].ints);
    for (uint32_t i = 0; i < tiling->n_attrs; i++)
        if (attrs[i].text)
            attrs[i].text = pack(packing, attrs[i].text, strlen(attrs[i].text) + 1);
    return attrs;
}

/* A table of the run with a copy of the tiling and of all that it refers
 * to: kernels can change none of it. */
static const struct skrt_tiling *tilings_table(struct device_run *run, const struct op *op,
                                               const struct skrt_tiling *tiling)
{
    uint64_t size = packed_size(tiling);
    struct packing packing = {device_run_table(run, op, "tiling", size), 0};
    struct skrt_tiling *table = pack(&packing, tiling, sizeof *tiling);
    table->tensors = pack_tensors(&packing, tiling);
    table->attrs = pack_attrs(&packing, tiling);
    assert(packing.used == size);
    return table;
}

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

void tables_sum(struct device_run *run)
{
    for (uint32_t i = 0; i < run->memories.count; i++)
        if (run->memories.at[i].is_table)
            run->memories.at[i].sum = guarded_sum(&run->memories.at[i].guarded);
}

/* What is to stand in a slot. */
static uint64_t word_of(const struct device_run *run, const struct device_argument *argument)
{
    assert(argument->slot.kind != SLOT_TENSOR || run->values[argument->slot.id]);
    return argument->slot.kind == SLOT_TENSOR ? (uintptr_t)run->values[argument->slot.id]
                                              : argument->word;
}

void tables_fill(struct device_run *run)
{
    for (uint32_t i = 0; i < run->arguments.count; i++) {
        const struct device_argument *argument = &run->arguments.at[i];
        run->params[i] = word_of(run, argument);
        if (argument->slot.kind != SLOT_LIST)
            continue;
        struct device_memory *memory = &run->memories.at[argument->memory];
        if (list_fill(run, argument->slot.id, (uint64_t *)(uintptr_t)argument->word, run->values))
            memory->sum = guarded_sum(&memory->guarded);
    }
}

/* ------------------------------------------------------------------------------ places ---- */

/* A slot by its number in the launch, for people. */
static void slot_text(const struct device_launch *launch, const struct device_argument *argument,
                      uint32_t slot, char *text, size_t size)
{
    bool own = argument->op != NONE;
    snprintf(text, size, "slot %u of the launch's arguments, which kernels only read%s%s", slot,
             own ? "; it is for " : "", own ? launch->ops[argument->op] : "");
}

bool tables_find_changed(const struct device_run *run, const struct device_launch *launch,
                         struct text *text)
{
    char place[1024];
    for (uint32_t i = 0; i < launch->count; i++) {
        const struct device_argument *argument = &run->arguments.at[launch->first + i];
        const struct device_memory *memory =
            argument->memory == NONE ? NULL : &run->memories.at[argument->memory];
        /* Records of time go where a launch that makes some is told to. */
        bool records = argument->slot.kind == SLOT_WORD && argument->slot.id == W_profiling;
        bool slot = !records && run->params[launch->first + i] != word_of(run, argument);
        if (!slot && (!memory || memory->sum == guarded_sum(&memory->guarded)))
            continue;
        slot_text(launch, argument, i, place, sizeof place);
        text_printf(text, "%s%s\n", slot ? "" : "the table in ", place);
        return true;
    }
    return false;
}

/* The launch that has an argument; their arguments follow one another. */
static const struct device_launch *launch_of(const struct device_run *run, uint32_t argument)
{
    uint32_t low = 0, high = run->launches.count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (run->launches.at[middle].first <= argument)
            low = middle;
        else
            high = middle;
    }
    return &run->launches.at[low];
}

static bool params_place(const struct device_run *run, const void *address, char *text, size_t size)
{
    const uint64_t *at = address;
    if (!run->params || at < run->params || at >= run->params + run->arguments.count)
        return false;
    uint32_t number = (uint32_t)(((uintptr_t)at - (uintptr_t)run->params) / sizeof *at);
    const struct device_launch *launch = launch_of(run, number);
    slot_text(launch, &run->arguments.at[number], number - launch->first, text, size);
    return true;
}

static bool memory_place(const struct device_run *run, const void *address, char *text, size_t size)
{
    for (uint32_t i = 0; i < run->memories.count; i++) {
        const struct device_memory *memory = &run->memories.at[i];
        int64_t offset = (const unsigned char *)address - memory->guarded.at;
        if (!guarded_is_near(&memory->guarded, address))
            continue;
        snprintf(text, size, "at byte %lld of a %s of %llu bytes%s", (long long)offset,
                 memory->what, (unsigned long long)memory->guarded.size,
                 memory->is_table ? ", which kernels only read" : "");
        return true;
    }
    return false;
}

/* Tables of parameters stand in the list of memories, too. */
bool device_run_place(const struct backend_run *base, const void *address, char *text, size_t size)
{
    const struct device_run *run = (const struct device_run *)base;
    for (uint32_t i = 0; i < run->runs.count; i++)
        if (params_place(run->runs.at[i], address, text, size) ||
            memory_place(run->runs.at[i], address, text, size))
            return true;
    return false;
}
