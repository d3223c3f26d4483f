#include "backend/host/run.h"
#include "backend/host/ops.h"
#include "backend/host/race.h"
#include "backend/host/symbols.h"
#include "ir/members.h"
#include "ir/slots.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "ir/variants.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct span no_span = {0, 0};

/* What a parameter slot holds: the address of a tensor's storage, or a word that is known from the
 * start. */
struct argument {
    struct slot slot;
    uint64_t word;
};

/* The words of an op with a dynamic kernel, and what the host's tiling writes there. */
struct tiling_words {
    uint64_t key, blocks, lock;
    struct host_choice choice;
};

struct unit {
    struct skrt_launch launch; /* without params */
    uint32_t first, count;     /* of its arguments; the first is the sync base address */
    struct range sends;        /* in run.sends: events that it sends as a whole */
    uint32_t block;            /* the super kernel, or NONE */
    uint32_t profile_slot;     /* of its time records, or NONE */
    uint64_t records;          /* at most */
    const char **ops;          /* names of the super kernel's ops */
    uint32_t n_ops;
    struct range tilings; /* in run.tilings: those that its entry waits for */
};

struct host_run {
    const struct module *module;
    const struct graph *graph;
    struct diags *diags;
    struct arena arena; /* names, tilings */
    VEC(struct unit) units;
    VEC(struct argument) arguments;
    struct vec_u32 sends;               /* event names */
    VEC(struct tiling_words *) tilings; /* in the arena */
    uint64_t *words_of_events;          /* by name id; NULL while there is no event */
    VEC(void *) workspaces;
    void *entries, *kernels;      /* dlopen handles, or NULL */
    uint64_t *params;             /* room for the largest launch's */
    struct host_profile *profile; /* where records are collected, or NULL */
};

/* ------------------------------------------------------------------------ parameters ---- */

static const struct kernel *kernel_of(const struct host_run *run, const struct op *op)
{
    return module_kernel(run->module, op->kernel);
}

static bool refuse(struct host_run *run, const struct op *op, enum diag_id id, const char *text)
{
    diag_at(run->diags, id, locate_op(run->module, op, OP_TYPE_NAME, 0), "%s", text);
    return false;
}

static bool workspace_size(struct host_run *run, const struct op *op, uint64_t *size)
{
    const struct kernel *kernel = kernel_of(run, op);
    uint64_t per_element =
        (uint64_t)attr_int(run->module, kernel->attrs, W_workspace_per_element, 0);
    uint64_t elements = 0;
    *size = (uint64_t)attr_int(run->module, kernel->attrs, W_workspace, 0);
    if (per_element &&
        (op->results.count == 0 ||
         !type_elements(run->module, run->graph->values.at[op->results.first].type, &elements)))
        return false;
    return !__builtin_mul_overflow(elements, per_element, &elements) &&
           !__builtin_add_overflow(*size, elements, size) && *size >> 46 == 0;
}

static bool make_workspace(struct host_run *run, const struct op *op, uint64_t *address)
{
    uint64_t size;
    if (!workspace_size(run, op, &size))
        return refuse(run, op, DIAG_unsupported, "the size of this op's workspace is not known");
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        return refuse(run, op, DIAG_unsupported, "there is no memory for this op's workspace");
    vec_push(&run->workspaces, memory);
    *address = (uintptr_t)memory;
    return true;
}

static bool make_tiling(struct host_run *run, const struct op *op, uint64_t *address)
{
    char error[160];
    struct skrt_tiling *tiling = arena_alloc(&run->arena, sizeof *tiling);
    if (!host_tiling(run->module, run->graph, op, &run->arena, tiling, error, sizeof error))
        return refuse(run, op, DIAG_unsupported, error);
    *address = (uintptr_t)tiling;
    return true;
}

/* The word of an event; there is one for each name. */
static uint64_t *event_word(struct host_run *run, uint32_t name)
{
    if (!run->words_of_events)
        run->words_of_events = mem_calloc(run->module->names.count, sizeof *run->words_of_events);
    return &run->words_of_events[name];
}

/* Does the host's tiling of an op with a dynamic kernel. */
static bool make_choice(struct host_run *run, const struct op *op)
{
    struct tiling_words *words = arena_alloc(&run->arena, sizeof *words);
    *words = (struct tiling_words){0};
    vec_push(&run->tilings, words);
    return host_choose(run->module, run->graph, op, kernel_of(run, op), &words->choice, run->diags);
}

static bool add_argument(struct host_run *run, const struct op *op, struct slot slot)
{
    struct argument argument = {.slot = slot};
    switch (slot.kind) {
    case SLOT_TENSOR: break;
    case SLOT_WORD:
        if (!(slot.id == W_workspace ? make_workspace(run, op, &argument.word)
                                     : make_tiling(run, op, &argument.word)))
            return false;
        break;
    case SLOT_SEND:
    case SLOT_RECV: argument.word = (uintptr_t)event_word(run, slot.id); break;
    /* The op's latest tiling: the three slots stand in this order. */
    case SLOT_TILING_KEY:
        if (!make_choice(run, op))
            return false;
        argument.word = (uintptr_t)&run->tilings.at[run->tilings.count - 1]->key;
        break;
    case SLOT_BLOCK_NUM:
        argument.word = (uintptr_t)&run->tilings.at[run->tilings.count - 1]->blocks;
        break;
    case SLOT_LOCK:
        argument.word = (uintptr_t)&run->tilings.at[run->tilings.count - 1]->lock;
        break;
    }
    vec_push(&run->arguments, argument);
    return true;
}

/* The arguments of one op, as lower-superkernels lays them out. */
static bool add_op_arguments(struct host_run *run, const struct op *op)
{
    struct slots slots = {NULL, 0, 0};
    bool ok = true;
    slots_add_op(&slots, run->module, run->graph, op, kernel_of(run, op));
    for (uint32_t i = 0; ok && i < slots.count; i++)
        ok = add_argument(run, op, slots.at[i]);
    vec_free(&slots);
    return ok;
}

static struct unit *begin_unit(struct host_run *run, const char *name, enum kernel_type type,
                               uint32_t blocks)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    vec_push(&run->units,
             (struct unit){
                 .launch = {.name = name, .blocks = blocks, .aics = info->aics, .aivs = info->aivs},
                 .first = run->arguments.count,
                 .block = NONE,
                 .profile_slot = NONE,
                 .sends = {run->sends.count, 0},
                 .tilings = {run->tilings.count, 0}});
    vec_push(&run->arguments, (struct argument){.slot = {SLOT_WORD, W_ffts}});
    return &run->units.at[run->units.count - 1];
}

static void end_unit(struct host_run *run)
{
    struct unit *unit = &run->units.at[run->units.count - 1];
    unit->count = run->arguments.count - unit->first;
    unit->sends.count = run->sends.count - unit->sends.first;
    unit->tilings.count = run->tilings.count - unit->tilings.first;
}

/* --------------------------------------------------------------------------- launches ---- */

static void *find_symbol(struct host_run *run, void *handle, struct text *symbol)
{
    text_char(symbol, '\0');
    void *found = dlsym(handle, symbol->at);
    if (!found)
        diag_at(run->diags, DIAG_link, no_span, "the loaded object does not define '%s'",
                symbol->at);
    text_free(symbol);
    return found;
}

/* What a launch of one op runs: its kernel, or the variant of it that the host's tiling chose. */
struct single {
    const struct kernel *kernel;
    enum kernel_type type;
    uint32_t blocks;
    uint32_t variant; /* NONE: the kernel is not dynamic */
};

static bool find_single(struct host_run *run, const struct op *op, struct single *single)
{
    const struct kernel *kernel = kernel_of(run, op);
    *single = (struct single){kernel, kernel->type, kernel_blocks(run->module, kernel), NONE};
    if (!kernel_is_dynamic(run->module, kernel))
        return true;
    struct host_choice choice;
    if (!host_choose(run->module, run->graph, op, kernel, &choice, run->diags))
        return false;
    single->type = kernel_variant(run->module, kernel, choice.variant).type;
    single->blocks = choice.blocks;
    single->variant = choice.variant;
    return true;
}

/* The function of a core type; NULL, reported, where the loaded object does not have it. */
static skrt_kernel_fn *single_function(struct host_run *run, const struct single *single,
                                       enum core_type core)
{
    uint32_t kernel = kernel_id(run->module, single->kernel);
    struct text symbol = {NULL, 0, 0};
    if (single->variant == NONE)
        host_kernel_symbol(&symbol, run->module, kernel, core);
    else
        host_variant_symbol(&symbol, run->module, kernel, single->variant, core, 0);
    return (skrt_kernel_fn *)find_symbol(run, run->kernels, &symbol);
}

/* One op without an entry: each core runs its part of the kernel. */
static bool add_op_unit(struct host_run *run, const struct op *op)
{
    struct single single;
    if (!find_single(run, op, &single))
        return false;
    const struct kernel_type_info *info = kernel_type_info(single.type);
    struct unit *unit =
        begin_unit(run, name_text(run->module, op->type, &run->arena), single.type, single.blocks);
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!kernel_type_has(single.type, core))
            continue;
        skrt_kernel_fn *fn = single_function(run, &single, core);
        if (!fn)
            return false;
        unit->launch.parts[core] =
            (struct skrt_call){fn, 1, single.blocks, info->flat ? 1 : info->aivs, info->flat};
    }
    const struct clauses *clauses = op_clauses(run->graph, op);
    for (uint32_t i = 0; i < clauses->send.count; i++)
        vec_push(&run->sends, run->graph->refs.at[clauses->send.first + i]);
    bool ok = add_op_arguments(run, op);
    end_unit(run);
    return ok;
}

/* The slots of time records, which stand behind those of all ops. */
static void add_profile_arguments(struct host_run *run, const struct entry *entry,
                                  struct unit *unit)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    unit->profile_slot = entry_profile_slot(run->module, entry);
    if (unit->profile_slot == NONE)
        return;
    vec_push(&run->arguments, (struct argument){.slot = {SLOT_WORD, W_profiling}});
    vec_push(&run->arguments, (struct argument){.slot = {SLOT_WORD, W_profiling}});
    for (int core = 0; core < CORE_TYPES; core++) {
        uint64_t cores = unit->launch.blocks * (core == CORE_AIC ? info->aics : info->aivs);
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].op == INSTR_profile)
                unit->records += cores;
    }
}

/* What stands behind the slots of the ops. */
static bool add_entry_arguments(struct host_run *run, const struct entry *entry)
{
    const struct attr *params = attr_find(run->module, entry->attrs, W_params);
    for (uint32_t i = 0; params && i < params->value.count; i++) {
        const struct attr_value *value = &run->module->attr_values.at[params->value.first + i];
        if (value->kind != ATTR_WORD || value->id != W_sync_workspace)
            continue;
        uint64_t size = (uint64_t)attr_int(run->module, entry->attrs, W_workspace, 0);
        void *memory = calloc(1, size ? size : 1);
        if (!memory) {
            diag_at(run->diags, DIAG_unsupported, locate_name(run->module, entry->loc),
                    "there is no memory for the workspace of entry '@%.*s'",
                    NAME(run->module, entry->name));
            return false;
        }
        vec_push(&run->workspaces, memory);
        vec_push(&run->arguments, (struct argument){.slot = {SLOT_WORD, W_sync_workspace},
                                                    .word = (uintptr_t)memory});
        break;
    }
    return true;
}

/* Whether the entry's parameters are those of its super kernel's ops: a dump may have been edited. */
static bool check_params(struct host_run *run, const struct entry *entry, const struct unit *unit)
{
    const struct module *module = run->module;
    const struct attr *params = attr_find(module, entry->attrs, W_params);
    uint32_t count = params ? params->value.count : 0;
    if (count != unit->count) {
        diag_at(run->diags, DIAG_entry_calls, locate_name(module, entry->loc),
                "entry '@%.*s' has %u parameters, but its super kernel's ops take %u",
                NAME(module, entry->name), count, unit->count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct attr_value *value = &module->attr_values.at[params->value.first + i];
        struct text text = {NULL, 0, 0};
        if (slot_is_named(module, run->graph, run->arguments.at[unit->first + i].slot, value))
            continue;
        spell_slot(&text, module, run->graph, run->arguments.at[unit->first + i].slot);
        diag_at(run->diags, DIAG_entry_calls, locate_name(module, entry->loc),
                "slot %u of entry '@%.*s' must be %.*s, which its super kernel's op takes there", i,
                NAME(module, entry->name), (int)text.size, text.at);
        text_free(&text);
        return false;
    }
    return true;
}

static bool add_superkernel_unit(struct host_run *run, const struct members *members, uint32_t id)
{
    const struct module *module = run->module;
    const struct block *block = &run->graph->blocks.at[id];
    const struct entry *entry = module_entry(module, block->name);
    uint32_t blocks = (uint32_t)attr_int(module, entry->attrs, W_block, 1);
    struct unit *unit =
        begin_unit(run, name_text(module, block->name, &run->arena), entry->type, blocks);
    struct text symbol = {NULL, 0, 0};
    unit->block = id;
    host_entry_symbol(&symbol, module, entry);
    unit->launch.entry = (skrt_entry_fn *)find_symbol(run, run->entries, &symbol);
    if (!unit->launch.entry)
        return false;
    unit->n_ops = members->first[id + 1] - members->first[id];
    unit->ops = arena_alloc(&run->arena, (unit->n_ops + 1) * sizeof *unit->ops);
    for (uint32_t i = 0; i < unit->n_ops; i++) {
        const struct op *op = &run->graph->ops.at[members->ops[members->first[id] + i]];
        unit->ops[i] = op_call_text(module, run->graph, op, &run->arena);
        if (!add_op_arguments(run, op))
            return false;
    }
    if (!add_entry_arguments(run, entry))
        return false;
    add_profile_arguments(run, entry, unit);
    const struct attr *sends = attr_find(module, block->attrs, W_send);
    for (uint32_t i = 0; sends && i < sends->value.count; i++)
        vec_push(&run->sends, module->attr_values.at[sends->value.first + i].id);
    end_unit(run);
    return check_params(run, entry, &run->units.at[run->units.count - 1]);
}

/* All launches in text order, which satisfies the graph behind partition-scopes. */
static bool add_units(struct host_run *run, enum host_mode mode)
{
    struct members members;
    members_init(&members, run->module, run->graph);
    uint32_t open = NONE;
    bool ok = true;
    for (uint32_t i = 0; ok && i < run->graph->body.count; i++) {
        uint32_t id = item_id(run->graph->body.at[i]);
        enum item_kind kind = item_kind(run->graph->body.at[i]);
        if (kind == ITEM_OP) {
            if (mode == HOST_UNFUSED || open == NONE)
                ok = add_op_unit(run, &run->graph->ops.at[id]);
        } else if (run->graph->blocks.at[id].kind == BLOCK_SUPERKERNEL) {
            open = kind == ITEM_OPEN ? id : NONE;
            if (open != NONE && mode == HOST_FUSED)
                ok = add_superkernel_unit(run, &members, id);
        }
    }
    members_free(&members);
    return ok;
}

/* ---------------------------------------------------------------------------- loading ---- */

static void *load(struct host_run *run, const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        diag_at(run->diags, DIAG_link, no_span, "cannot load what was compiled: %s", dlerror());
    return handle;
}

/* Kernels of ops that are launched on their own. */
static uint8_t *single_kernels(struct host_run *run, enum host_mode mode, bool *any)
{
    uint8_t *used = mem_calloc(run->module->kernels.count, 1);
    *any = false;
    for (uint32_t i = 0; i < run->graph->ops.count; i++) {
        const struct op *op = &run->graph->ops.at[i];
        if (mode == HOST_FUSED && graph_enclosing(run->graph, op->block, BLOCK_SUPERKERNEL) != NONE)
            continue;
        used[kernel_of(run, op) - run->module->kernels.at] = 1;
        *any = true;
    }
    return used;
}

static enum host_status load_kernels(struct host_run *run, enum host_mode mode,
                                     const struct host_places *places, const char *folder)
{
    bool any;
    uint8_t *used = single_kernels(run, mode, &any);
    const char *object = arena_printf(&run->arena, "%s/kernels-%d.o", folder, mode);
    const char *shared = arena_printf(&run->arena, "%s/kernels-%d.so", folder, mode);
    enum host_status status = HOST_OK;
    if (any)
        status = host_link_kernels(run->module, places, used, object, run->diags);
    if (any && status == HOST_OK)
        status = host_make_shared(object, shared, run->diags);
    if (any && status == HOST_OK && !(run->kernels = load(run, shared)))
        status = HOST_INPUT;
    mem_free(used);
    return status;
}

static enum host_status load_entries(struct host_run *run, const struct host_places *places,
                                     const char *folder)
{
    const char *object = arena_printf(&run->arena, "%s/entries.o", folder);
    const char *shared = arena_printf(&run->arena, "%s/entries.so", folder);
    if (run->module->entries.count == 0)
        return HOST_OK;
    enum host_status status = host_compile(run->module, places, object, run->diags);
    if (status == HOST_OK)
        status = host_make_shared(object, shared, run->diags);
    if (status == HOST_OK && !(run->entries = load(run, shared)))
        status = HOST_INPUT;
    return status;
}

struct host_run *host_run_open(const struct module *module, const struct graph *graph,
                               enum host_mode mode, const struct host_places *places,
                               const char *folder, struct diags *diags, enum host_status *status)
{
    struct host_run *run = mem_calloc(1, sizeof *run);
    run->module = module;
    run->graph = graph;
    run->diags = diags;
    *status = load_kernels(run, mode, places, folder);
    if (*status == HOST_OK && mode == HOST_FUSED)
        *status = load_entries(run, places, folder);
    if (*status == HOST_OK && !add_units(run, mode))
        *status = HOST_INPUT;
    if (*status == HOST_OK) {
        run->params = mem_calloc(run->arguments.count, sizeof *run->params);
        return run;
    }
    host_run_close(run);
    return NULL;
}

void host_run_close(struct host_run *run)
{
    if (!run)
        return;
    for (uint32_t i = 0; i < run->workspaces.count; i++)
        free(run->workspaces.at[i]);
    if (run->entries)
        dlclose(run->entries);
    if (run->kernels)
        dlclose(run->kernels);
    vec_free(&run->workspaces);
    vec_free(&run->units);
    vec_free(&run->arguments);
    vec_free(&run->sends);
    vec_free(&run->tilings);
    mem_free(run->words_of_events);
    arena_free(&run->arena);
    mem_free(run->params);
    mem_free(run);
}

/* ------------------------------------------------------------------------ race checks ---- */

static bool check_races_of(struct host_run *run, const struct members *members,
                           const struct order *order, struct unit *unit)
{
    const struct entry *entry = module_entry(run->module, run->graph->blocks.at[unit->block].name);
    uint32_t first = members->first[unit->block];
    const struct host_race_source source = {
        .module = run->module,
        .graph = run->graph,
        .order = order,
        .entry = entry,
        .ops = members->ops + first,
        .count = members->first[unit->block + 1] - first,
        .index = members->index,
    };
    struct skrt_race_check *check = arena_alloc(&run->arena, sizeof *check);
    unit->launch.race = check;
    if (host_race_check(&source, &run->arena, check))
        return true;
    diag_at(run->diags, DIAG_entry_calls, locate_name(run->module, entry->loc),
            "entry '@%.*s' does not call the kernels of its super kernel's ops in their order: its "
            "races cannot be told",
            NAME(run->module, entry->name));
    return false;
}

bool host_run_check_races(struct host_run *run, uint32_t *orders)
{
    struct members members;
    struct order order;
    bool ok = true;
    order_init(&order, run->module, run->graph);
    members_init(&members, run->module, run->graph);
    *orders = 0;
    for (uint32_t i = 0; i < run->units.count; i++) {
        struct unit *unit = &run->units.at[i];
        if (unit->block == NONE)
            continue;
        ok = check_races_of(run, &members, &order, unit) && ok;
        *orders += unit->launch.race->n_orders;
    }
    members_free(&members);
    order_free(&order);
    return ok;
}

/* -------------------------------------------------------------------------- executing ---- */

/* Adds a report to others, which are all kept. */
static void add_report(char **reports, char *report)
{
    if (*reports && report) {
        size_t size = strlen(*reports), more = strlen(report) + 1;
        *reports = mem_realloc(*reports, size + more, 1);
        memcpy(*reports + size, report, more);
        free(report);
    } else if (report) {
        *reports = report;
    }
}

void host_run_full_barriers(struct host_run *run)
{
    for (uint32_t i = 0; i < run->units.count; i++)
        run->units.at[i].launch.full_barriers = true;
}

uint32_t host_run_launches(const struct host_run *run)
{
    return run->units.count;
}

void host_run_profile(struct host_run *run, struct host_profile *profile)
{
    run->profile = profile;
}

/* Sets the slots of time records, and makes their buffer, where they are wanted. */
static struct skrt_profile *begin_profile(struct host_run *run, const struct unit *unit)
{
    if (!run->profile || unit->profile_slot == NONE)
        return NULL;
    uint64_t *slots = run->params + unit->profile_slot;
    struct skrt_profile *buffer = host_profile_buffer(unit->records, &slots[1]);
    slots[0] = (uintptr_t)buffer;
    if (buffer)
        host_profile_begin(run->profile, unit->launch.name, unit->ops, unit->n_ops);
    return buffer;
}

/* After a timeout cores may still write. */
static void end_profile(struct host_run *run, struct skrt_profile *buffer, enum skrt_status status)
{
    if (!buffer || status == SKRT_TIMEOUT)
        return;
    host_profile_take(run->profile, buffer);
    free(buffer);
}

/* What the host does before a launch whose entry waits for tilings. */
static void open_locks(struct host_run *run, const struct unit *unit)
{
    for (uint32_t i = 0; i < unit->tilings.count; i++) {
        struct tiling_words *words = run->tilings.at[unit->tilings.first + i];
        words->key = (uint64_t)words->choice.key;
        words->blocks = words->choice.blocks;
        words->lock = unit->launch.entry != NULL;
    }
}

/* Whether the entry has cleared all locks: the next launch would not wait for its own tiling. A
 * report says which is left. */
static bool locks_cleared(const struct host_run *run, const struct unit *unit, char **report)
{
    for (uint32_t i = 0; i < unit->tilings.count; i++) {
        const struct tiling_words *words = run->tilings.at[unit->tilings.first + i];
        if (!words->lock)
            continue;
        struct text text = {NULL, 0, 0};
        text_printf(&text,
                    "%s: launch %s has not reset the lock of its dynamic op %u, counted from 0\n",
                    skrt_status_text(SKRT_LEFT_SET), unit->launch.name, i);
        *report = mem_calloc(text.size + 1, 1);
        memcpy(*report, text.at, text.size);
        text_free(&text);
        return false;
    }
    return true;
}

enum skrt_status host_run_execute(struct host_run *run, struct skrt_device *device,
                                  void *const *values, uint64_t timeout_ms, double *seconds,
                                  char **report)
{
    enum skrt_status outcome = SKRT_OK;
    *report = NULL;
    for (uint32_t i = 0; i < run->units.count; i++) {
        const struct unit *unit = &run->units.at[i];
        struct skrt_launch launch = unit->launch;
        struct skrt_result result;
        for (uint32_t j = 0; j < unit->count; j++) {
            const struct argument *argument = &run->arguments.at[unit->first + j];
            run->params[j] = argument->slot.kind == SLOT_TENSOR
                                 ? (uintptr_t)values[argument->slot.id]
                                 : argument->word;
        }
        launch.params = run->params;
        launch.n_params = unit->count;
        launch.timeout_ms = timeout_ms;
        struct skrt_profile *buffer = begin_profile(run, unit);
        open_locks(run, unit);
        enum skrt_status status = skrt_launch(device, &launch, &result);
        end_profile(run, buffer, status);
        *seconds += result.seconds;
        if (status == SKRT_OK && !locks_cleared(run, unit, &result.report))
            status = SKRT_LEFT_SET;
        add_report(report, result.report);
        outcome = status == SKRT_OK ? outcome : status;
        if (status != SKRT_OK && status != SKRT_RACE)
            return status;
        for (uint32_t j = 0; j < unit->sends.count; j++)
            *event_word(run, run->sends.at[unit->sends.first + j]) = 1;
    }
    return outcome;
}
