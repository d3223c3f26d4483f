/* lower-superkernels: makes the entry of each super kernel that has none.
 *
 * needs    super kernels, a kernel for every op
 * changes  entries are added; their programs hold the calls, in an order that satisfies the graph
 * keeps    graphs
 *
 * Kernel type, number of blocks and the layout of the parameters are those of the reference
 * compiler: docs/passes.md, "lower-superkernels".
 */
#include "ir/analysis/launch_order.h"
#include "ir/core/arch.h"
#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"
#include "ir/shapes/gears.h"
#include "ir/support/parts.h"
#include "ir/syntax/locate.h"
#include "passes/lower/launch.h"
#include "passes/lower/superkernel.h"
#include "passes/manager/pass.h"

/* A super kernel without an entry, and what it gets. */
struct lowered {
    uint32_t graph, block; /* ids */
    bool made;
    struct entry entry; /* without attributes */
    uint32_t blocks;    /* of the launch */
    bool dump;
};

struct lowering {
    struct diags *diags;
    const struct module *module;
    const struct graph *graph;
    struct outer_events events;
    struct group_namer namer;
    struct slots slots;      /* of the op at hand */
    const uint32_t *grouped; /* of the super kernel at hand, as members have it */
};

static const struct kernel *kernel_of(const struct lowering *lowering, const struct op *op)
{
    return module_kernel(lowering->module, op->kernel);
}

/* ------------------------------------------------------------------------ entries ---- */

/* The call of a kernel's part; which function that is of a dynamic kernel is chosen before it. */
static void add_call(const struct module *module, struct entry *entry, enum core_type core,
                     const struct kernel *kernel, uint32_t group)
{
    struct program *program = &entry->programs[core];
    struct instr instr = {.part = kernel_type_is_mixed(kernel->type) ? core : CORE_TYPES,
                          .loc = NONE,
                          .kernel = kernel->name};
    if (kernel_is_dynamic(module, kernel)) {
        instr.op = INSTR_select;
        vec_push(&program->instrs, instr);
    }
    instr.op = INSTR_call;
    instr.number[0] = group;
    instr.number[1] = kernel_blocks(module, kernel);
    vec_push(&program->instrs, instr);
}

/* The program whose core 0 acts for an op that has parts on both core types. */
static enum core_type main_core(const struct kernel *kernel)
{
    return kernel_type_has(kernel->type, CORE_AIC) ? CORE_AIC : CORE_AIV;
}

/* Adds an instruction for each word that the op of a group waits for, notifies or resets: those of
 * outer events, and the lock of a dynamic kernel, which the next launch needs closed. */
static void add_words(const struct lowering *lowering, struct entry *entry, uint32_t block,
                      enum core_type core, uint32_t group, enum instr_op op)
{
    for (uint32_t i = 0; i < lowering->slots.count; i++) {
        struct slot slot = lowering->slots.at[i];
        struct instr instr = instr_make(op, slot.kind == SLOT_LOCK);
        bool uses = false;
        if (slot.kind == SLOT_SEND)
            uses = op == INSTR_notify && outer_events_notifies(&lowering->events, slot.id);
        else if (slot.kind == SLOT_RECV)
            uses = op != INSTR_notify && outer_events_waits(&lowering->events, block, slot.id);
        else if (slot.kind == SLOT_LOCK)
            uses = op == INSTR_reset;
        instr.number[0] = instr.word ? group : slot.id;
        if (uses)
            vec_push(&entry->programs[core].instrs, instr);
    }
}

static void take_slots(struct lowering *lowering, const struct op *op)
{
    lowering->slots.count = 0;
    slots_add_op(&lowering->slots, lowering->module, lowering->graph, op, kernel_of(lowering, op));
}

static void add_op(struct lowering *lowering, struct entry *entry, uint32_t block,
                   const struct op *op, uint32_t group)
{
    const struct kernel *kernel = kernel_of(lowering, op);
    take_slots(lowering, op);
    enum core_type core = main_core(kernel);
    add_words(lowering, entry, block, core, group, INSTR_wait_event);
    for (int part = 0; part < CORE_TYPES; part++)
        if (kernel_type_has(kernel->type, part))
            add_call(lowering->module, entry, part, kernel, group);
    add_words(lowering, entry, block, core, group, INSTR_notify);
}

/* The word of an event is reset once, whatever number of ops waits for it. */
static void add_resets(struct lowering *lowering, struct entry *entry, uint32_t block,
                       const struct op *op, uint32_t group, struct id_map *reset)
{
    struct slots *slots = &lowering->slots;
    const struct kernel *kernel = kernel_of(lowering, op);
    uint32_t kept = 0;
    if (!op->clauses && !kernel_is_dynamic(lowering->module, kernel))
        return;
    take_slots(lowering, op);
    for (uint32_t i = 0; i < slots->count; i++) {
        struct slot slot = slots->at[i];
        if (slot.kind == SLOT_RECV && id_map_find(reset, slot.id) != NONE)
            continue;
        if (slot.kind == SLOT_RECV)
            id_map_set(reset, slot.id, group);
        slots->at[kept++] = slot;
    }
    slots->count = kept;
    add_words(lowering, entry, block, main_core(kernel), group, INSTR_reset);
}

/* The arguments of the ops, in the order of their groups, then the programs: each op in list order,
 * at last the words that were waited for are reset. */
static void add_ops(struct lowering *lowering, struct entry *entry, uint32_t block,
                    const uint32_t *ops, uint32_t count)
{
    const struct graph *graph = lowering->graph;
    uint32_t *group_of = mem_calloc(count, sizeof *group_of); /* by place in the list */
    struct id_map reset = {NULL, 0, 0}; /* by event: the group whose op resets it */
    group_namer_clear(&lowering->namer);
    for (uint32_t group = 0; group < count; group++) {
        uint32_t place = lowering->grouped[group];
        const struct op *op = &graph->ops.at[ops[place]];
        struct group_name name = group_name_of(&lowering->namer, graph, op);
        group_of[place] = group;
        take_slots(lowering, op);
        entry_add_group(entry, name.name, name.word, NONE);
        for (uint32_t i = 0; i < lowering->slots.count; i++)
            entry_add_arg(entry, slot_arg(entry, graph, lowering->slots.at[i]));
    }
    for (uint32_t i = 0; i < count; i++)
        add_op(lowering, entry, block, &graph->ops.at[ops[i]], group_of[i]);
    for (uint32_t i = 0; i < count; i++)
        add_resets(lowering, entry, block, &graph->ops.at[ops[i]], group_of[i], &reset);
    id_map_free(&reset);
    mem_free(group_of);
}

/* -------------------------------------------------------------------------- checks ---- */

/* The launch waits for what the first op would wait for, and sends what the last would send (the
 * reference's rule): nothing of the entry would run meanwhile. */
static bool check_events(const struct lowering *lowering, uint32_t block, const uint32_t *ops,
                         uint32_t count)
{
    const struct graph *graph = lowering->graph;
    for (int sends = 0; sends < 2 && count; sends++) {
        const struct op *op = &graph->ops.at[ops[sends ? count - 1 : 0]];
        const struct clauses *clauses = op_clauses(graph, op);
        struct range events = sends ? clauses->send : clauses->recv;
        for (uint32_t i = 0; i < events.count; i++) {
            uint32_t event = graph->refs.at[events.first + i];
            if (sends ? !outer_events_notifies(&lowering->events, event)
                      : !outer_events_waits(&lowering->events, block, event))
                continue;
            if (diag_at(lowering->diags, DIAG_event_place,
                        locate_op(lowering->module, op, sends ? OP_SEND : OP_RECV, i), "%s",
                        sends ? "the last op of a super kernel cannot send an event to the outside "
                                "of it"
                              : "the first op of a super kernel cannot wait for an event from "
                                "outside of it"))
                diag_help(lowering->diags,
                          "let the launch %s: write it into '%s' of the superkernel block, or run "
                          "insert-events",
                          sends ? "send" : "wait", sends ? "send" : "recv");
            return false;
        }
    }
    return true;
}

/* The first entry that has waited for an event resets it: another one might then wait for ever. */
static bool check_shared(const struct lowering *lowering)
{
    uint32_t event = lowering->events.shared;
    if (event == NONE)
        return true;
    if (diag_at(
            lowering->diags, DIAG_event_place, locate_name(lowering->module, lowering->graph->loc),
            "ops of several super kernels wait for event '%.*s'", NAME(lowering->module, event)))
        diag_help(lowering->diags,
                  "give each super kernel an event of its own, or run insert-events");
    return false;
}

/* Whether the kernel can be called from an entry; reports why not. */
static bool check_kernel(const struct lowering *lowering, const struct op *op)
{
    const struct module *module = lowering->module;
    const struct kernel *kernel = kernel_of(lowering, op);
    struct diags *diags = lowering->diags;
    if (kernel_is_dynamic(module, kernel) || attr_find(module, kernel->attrs, W_block))
        return true;
    if (diag_at(diags, DIAG_missing_attribute, locate_name(module, kernel->loc),
                "the kernel '@%.*s' has no 'block'", NAME(module, kernel->name)))
        diag_help(diags, "write block = N, the number of blocks that it was built for");
    return false;
}

/* Makes the entry, but for its attributes, which are the module's. */
static bool lower(struct lowering *lowering, struct lowered *lowered, const uint32_t *ops,
                  uint32_t count)
{
    const struct module *module = lowering->module;
    struct entry *entry = &lowered->entry;
    struct launch launch;
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct op *op = &lowering->graph->ops.at[ops[i]];
        lowered->dump |= kernel_writes_dump(module, kernel_of(lowering, op));
        ok = check_kernel(lowering, op) && ok;
    }
    ok = check_events(lowering, lowered->block, ops, count) && ok;
    const struct launch_ops of = {
        .module = module,
        .diags = lowering->diags,
        .graph = lowering->graph,
        .superkernel = &lowering->graph->blocks.at[lowered->block],
        .ops = ops,
        .count = count,
    };
    if (!ok || !launch_choose(&launch, &of))
        return false;
    *entry = entry_make(of.superkernel->name, launch.type);
    entry_number_slots(module, entry);
    for (int core = 0; core < CORE_TYPES; core++)
        entry->programs[core].present = kernel_type_has(launch.type, core);
    add_ops(lowering, entry, lowered->block, ops, count);
    for (int core = 0; core < CORE_TYPES; core++)
        entry->programs[core].loc = entry->programs[core].end_loc = NONE;
    /* A dump goes behind the workspace, which has a slot for it. */
    if (lowered->dump)
        entry_insert_words(entry, entry_named_groups(entry), W_sync_workspace, 1);
    lowered->blocks = launch.blocks;
    lowered->made = true;
    return true;
}

/* ------------------------------------------------------------------------- graphs ---- */

/* All super kernels that have no entry, in the order of graphs. */
struct work {
    struct pass_context *context;
    VEC(struct lowered) lowered;
    uint32_t *first; /* per graph, in `lowered`; one more for the end */
    bool failed;     /* atomic */
};

static bool lower_graph(struct lowering *lowering, const struct members *members,
                        struct lowered *lowered, uint32_t count)
{
    const struct graph *graph = lowering->graph;
    if (graph->gear_mode != GEARS_NONE && !graph->cases.count) { /* entries are static */
        if (diag_at(lowering->diags, DIAG_unsupported, locate_name(lowering->module, graph->loc),
                    "the gears of this graph have no values"))
            diag_help(lowering->diags, "run expand-gears first, or give them values: --bind %.*s=N",
                      NAME(lowering->module, graph->gears.at[0].name));
        return false;
    }
    outer_events_init(&lowering->events, graph);
    bool ok = check_shared(lowering);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = lowered[i].block, first = members->first[block];
        lowering->grouped = members->grouped + first;
        ok =
            lower(lowering, &lowered[i], members->ops + first, members->first[block + 1] - first) &&
            ok;
    }
    outer_events_free(&lowering->events);
    return ok;
}

static void lower_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct work *work = user;
    struct module *module = work->context->module;
    struct lowering lowering = {.diags = diags, .module = module, .namer = {.module = module}};
    bool ok = true;
    for (uint32_t i = first; i < end; i++) {
        uint32_t count = work->first[i + 1] - work->first[i];
        lowering.graph = &module->graphs.at[i];
        gears_tell_copy(diags, module, lowering.graph);
        ok = lower_graph(&lowering,
                         analyses_members(work->context->analyses, module, lowering.graph),
                         count ? &work->lowered.at[work->first[i]] : NULL, count) &&
             ok;
    }
    gears_tell_copy(diags, module, NULL);
    group_namer_free(&lowering.namer);
    vec_free(&lowering.slots);
    if (!ok)
        __atomic_store_n(&work->failed, true, __ATOMIC_RELAXED);
}

static uint64_t lower_weight(const void *user, uint32_t item)
{
    const struct work *work = user;
    uint32_t missing = work->first[item + 1] - work->first[item];
    return missing ? 3 * (uint64_t)work->context->module->graphs.at[item].ops.count : 1;
}

/* Of super kernels of one name, the first gets the entry. */
static void find_work(struct work *work)
{
    const struct module *module = work->context->module;
    struct id_map seen = {NULL, 0, 0};
    work->first = mem_calloc((size_t)module->graphs.count + 1, sizeof *work->first);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t b = 0; b < graph->blocks.count; b++) {
            const struct block *block = &graph->blocks.at[b];
            if (block->kind != BLOCK_SUPERKERNEL || block_entry(module, block) ||
                id_map_find(&seen, block->name) != NONE)
                continue;
            id_map_set(&seen, block->name, i);
            vec_push(&work->lowered, (struct lowered){.graph = i, .block = b});
        }
        work->first[i + 1] = work->lowered.count;
    }
    id_map_free(&seen);
}

/* ----------------------------------------------------------------------- driving ---- */

static void add_entry(struct module *module, struct lowered *lowered)
{
    const struct block *superkernel = &module->graphs.at[lowered->graph].blocks.at[lowered->block];
    struct attr attrs[3] = {{W_block, NONE, {.kind = ATTR_INT, .i = lowered->blocks}}};
    uint32_t count = 1;
    uint32_t align = block_options(module, superkernel)->of[SK_func_align].number;
    if (align != ENTRY_ALIGN)
        attrs[count++] = (struct attr){W_align, NONE, {.kind = ATTR_INT, .i = align}};
    if (lowered->dump)
        attrs[count++] = (struct attr){W_dump, NONE, {.kind = ATTR_BOOL, .i = 1}};
    lowered->entry.attrs = module_add_attrs(module, attrs, count);
    module_take_entry(module, &lowered->entry);
}

bool pass_lower_superkernels(struct pass_context *context)
{
    struct module *module = context->module;
    struct work work = {.context = context};
    entries_warn_unused(context);
    analyses_make_members(context->analyses, module);
    find_work(&work);
    parts_run(&(struct parts){.threads = module->threads,
                              .count = module->graphs.count,
                              .weight = lower_weight,
                              .work = lower_part,
                              .user = &work},
              context->diags);
    for (uint32_t i = 0; i < work.lowered.count; i++)
        if (work.lowered.at[i].made)
            add_entry(module, &work.lowered.at[i]);
    vec_free(&work.lowered);
    mem_free(work.first);
    return !work.failed;
}
