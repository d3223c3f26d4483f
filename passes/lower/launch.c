#include "passes/lower/launch.h"
#include "ir/core/kernel.h"

#include "ir/analysis/dep_graph.h"
#include "ir/core/sk_options.h"
#include "ir/syntax/locate.h"

/* The super kernel that a side is an op of, or NONE. */
static uint32_t place_of(const struct graph *graph, const struct event_side *side)
{
    return side->op == NONE ? NONE : graph_superkernel(graph, graph->ops.at[side->op].block);
}

void outer_events_init(struct outer_events *events, const struct graph *graph)
{
    struct id_map waiters = {NULL, 0, 0}; /* block, by event */
    struct event_sides sends = event_sides_find(graph, W_send);
    struct event_sides recvs = event_sides_find(graph, W_recv);
    *events = (struct outer_events){.shared = NONE};
    for (uint32_t i = 0; i < sends.count; i++)
        id_map_set(&events->sender, sends.at[i].event, place_of(graph, &sends.at[i]));
    for (uint32_t i = 0; i < sends.count; i++)
        id_map_set(&events->outside, sends.at[i].event, 1);
    for (uint32_t i = 0; i < recvs.count; i++)
        id_map_set(&events->outside, recvs.at[i].event, 0);
    for (uint32_t i = 0; i < recvs.count; i++) {
        uint32_t event = recvs.at[i].event, place = place_of(graph, &recvs.at[i]);
        if (place == id_map_find(&events->sender, event) && place != NONE)
            continue;
        id_map_set(&events->outside, event, 1);
        if (place == NONE)
            continue;
        uint32_t *waiter = id_map_at(&waiters, event);
        if (*waiter != NONE && *waiter != place)
            events->shared = event;
        *waiter = place;
    }
    id_map_free(&waiters);
    vec_free(&sends);
    vec_free(&recvs);
}

void outer_events_free(struct outer_events *events)
{
    id_map_free(&events->sender);
    id_map_free(&events->outside);
}

bool outer_events_waits(const struct outer_events *events, uint32_t block, uint32_t event)
{
    return id_map_find(&events->sender, event) != block;
}

bool outer_events_notifies(const struct outer_events *events, uint32_t event)
{
    return id_map_find(&events->outside, event) == 1;
}

/* Marks the names of all super kernels; false where there are none, or scopes. */
static bool mark_superkernels(const struct module *module, uint8_t *marked)
{
    bool any = false;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t b = 0; b < graph->blocks.count; b++) {
            if (graph->blocks.at[b].kind == BLOCK_SCOPE)
                return false;
            if (graph->blocks.at[b].kind != BLOCK_SUPERKERNEL)
                continue;
            marked[block_entry_name(module, &graph->blocks.at[b])] = 1;
            any = true;
        }
    }
    return any;
}

static void warn(struct pass_context *context, const struct entry *entry, const uint8_t *marked)
{
    const struct module *module = context->module;
    struct suggest suggest = name_suggest(module, entry->name);
    if (!diag_at(context->diags, DIAG_entry_unused, locate_name(module, entry->loc),
                 "no super kernel has the entry '@%.*s': nothing launches it",
                 NAME(module, entry->name)))
        return;
    suggest.before = "@";
    if (diag_wants_suggestion(context->diags))
        for (uint32_t name = 0; name < module->names.count; name++)
            if (marked[name] && module_find(module, SYMBOL_ENTRY, name) == NONE)
                name_offer(&suggest, module, name);
    diag_suggest(context->diags, &suggest);
}

void entries_warn_unused(struct pass_context *context)
{
    const struct module *module = context->module;
    for (uint32_t i = 0; i < context->diags->list.count; i++)
        if (context->diags->list.at[i].id == DIAG_entry_unused)
            return;
    uint8_t *marked = mem_calloc(module->names.count, 1);
    if (mark_superkernels(module, marked))
        for (uint32_t i = 0; i < module->entries.count; i++)
            if (!marked[module->entries.at[i].name])
                warn(context, &module->entries.at[i], marked);
    mem_free(marked);
}

/* Kernel type and number of blocks of a super kernel, by the rules of the reference compiler:
 * docs/passes.md, "lower-superkernels". */

/* Most cores and blocks of any op of a super kernel. */
struct demand {
    uint32_t aics, aivs; /* most cores of a type that any op uses */
    uint32_t blocks;     /* most blocks of any op */
    bool cube, vector;   /* some op is of this type alone */
    bool mixed_1_1, mixed_1_2;
};

static const struct op *op_at(const struct launch_ops *ops, uint32_t i)
{
    return &ops->graph->ops.at[ops->ops[i]];
}

static const struct kernel *kernel_at(const struct launch_ops *ops, uint32_t i)
{
    return module_kernel(ops->module, op_at(ops, i)->kernel);
}

/* ------------------------------------------------------------------- by what ops need ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static struct demand demand_of(const struct launch_ops *ops)
{
    struct demand demand = {0};
    for (uint32_t i = 0; i < ops->count; i++) {
        const struct kernel_type_info *info = kernel_type_info(kernel_at(ops, i)->type);
        uint32_t blocks = kernel_blocks(ops->module, kernel_at(ops, i));
        demand.aics = larger(info->aics * blocks, demand.aics);
        demand.aivs = larger(info->aivs * blocks, demand.aivs);
        demand.blocks = larger(blocks, demand.blocks);
        demand.cube |= !info->aivs;
        demand.vector |= !info->aics;
        demand.mixed_1_1 |= info->aics && info->aivs == 1;
        demand.mixed_1_2 |= info->aics && info->aivs == 2;
    }
    return demand;
}

static struct launch launch_of_demand(const struct demand *demand)
{
    bool mixed = demand->mixed_1_1 || demand->mixed_1_2;
    uint32_t blocks = demand->blocks ? demand->blocks : 1; /* without ops, a launch of nothing */
    if (!mixed && !demand->cube)
        return (struct launch){KERNEL_mix_aiv_1_0, blocks};
    if (!mixed && !demand->vector)
        return (struct launch){KERNEL_mix_aic_1_0, blocks};
    if (demand->mixed_1_1 && !demand->mixed_1_2 && !demand->cube && !demand->vector)
        return (struct launch){KERNEL_mix_aic_1_1, blocks};
    /* The reference takes 1:1 here also where a 1:2 kernel is called, half of whose vector part
     * then runs nowhere. */
    if (demand->aivs <= demand->aics && !demand->mixed_1_2)
        return (struct launch){KERNEL_mix_aic_1_1, demand->aics};
    uint32_t halves = (demand->aivs + 1) / 2;
    return (struct launch){KERNEL_mix_aic_1_2, larger(halves, demand->aics)};
}

struct launch launch_of_needs(const struct launch_ops *ops)
{
    struct demand demand = demand_of(ops);
    return launch_of_demand(&demand);
}

/* A launch that the target has too few cores for: each op fits, but not all in one shape. */
static bool check_cores(const struct launch_ops *ops, struct launch launch)
{
    const struct kernel_type_info *info = kernel_type_info(launch.type);
    const struct block *superkernel = ops->superkernel;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t need = launch.blocks * (core == CORE_AIC ? info->aics : info->aivs);
        if (need <= module_cores(ops->module, core))
            continue;
        diag_at(ops->diags, DIAG_number_range, locate_name(ops->module, superkernel->loc),
                "super kernel '@%.*s' needs %u cores of type %s (%u blocks of %s), but the target "
                "has %u",
                NAME(ops->module, superkernel->name), need, core_type_name(core), launch.blocks,
                info->name, module_cores(ops->module, core));
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- by what options say ---- */

/* debug-aic-num and debug-aiv-num. */
struct numbers {
    uint32_t of[CORE_TYPES];
};

static const enum sk_option number_options[CORE_TYPES] = {SK_debug_aic_num, SK_debug_aiv_num};

static const char *number_key(int core)
{
    return sk_option_key(number_options[core]);
}

static struct span number_span(const struct launch_ops *ops, int core)
{
    return locate_option(ops->module, ops->superkernel, number_options[core]);
}

static bool check_target(const struct launch_ops *ops, const struct numbers *numbers)
{
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t cores = module_cores(ops->module, core);
        if (numbers->of[core] <= cores)
            continue;
        ok = false;
        if (diag_at(ops->diags, DIAG_core_numbers, number_span(ops, core),
                    "%s=%u, but the target has %u cores of type %s", number_key(core),
                    numbers->of[core], cores, core_type_name((enum core_type)core)))
            diag_help(ops->diags, "write %s=%u or less", number_key(core), cores);
    }
    return ok;
}

/* Suggests those of two numbers that the target allows; 0 stands for none. */
static void note_choices(const struct launch_ops *ops, int core, uint32_t a, uint32_t b)
{
    uint32_t cores = module_cores(ops->module, core);
    const char *key = number_key(core);
    b = b > cores ? 0 : b;
    if (a > cores) {
        a = b;
        b = 0;
    }
    if (a && b)
        diag_help(ops->diags, "write %s=%u or %s=%u", key, a, key, b);
    else if (a)
        diag_help(ops->diags, "write %s=%u", key, a);
}

/* The launch that has these numbers of cores. */
static bool launch_of_numbers(struct launch *launch, const struct launch_ops *ops,
                              const struct numbers *numbers)
{
    uint32_t aics = numbers->of[CORE_AIC], aivs = numbers->of[CORE_AIV];
    *launch = (struct launch){KERNEL_mix_aic_1_1, aics};
    if (aivs == 0)
        launch->type = KERNEL_mix_aic_1_0;
    else if (aics == 0)
        *launch = (struct launch){KERNEL_mix_aiv_1_0, aivs};
    else if (aivs == 2 * aics)
        launch->type = KERNEL_mix_aic_1_2;
    else if (aivs != aics) {
        if (diag_at(ops->diags, DIAG_core_numbers, number_span(ops, CORE_AIV),
                    "%s=%u and %s=%u: every AIC has one AIV or two", number_key(CORE_AIC), aics,
                    number_key(CORE_AIV), aivs))
            note_choices(ops, CORE_AIV, aics, 2 * aics);
        return false;
    }
    return true;
}

/* "NUMBERS, but the op T TEXT"; help is to follow. */
static bool report_op(const struct launch_ops *ops, uint32_t i, int core, const char *numbers,
                      const char *text)
{
    const struct op *op = op_at(ops, i);
    if (!diag_at(ops->diags, DIAG_core_numbers, number_span(ops, core), "%s, but the op %.*s %s",
                 numbers, NAME(ops->module, op->type), text))
        return false;
    diag_note(ops->diags, locate_op(ops->module, op, OP_TYPE_NAME, 0), "the op is here");
    return true;
}

static bool check_op(const struct launch_ops *ops, const struct numbers *numbers,
                     struct launch launch, uint32_t i)
{
    struct arena *arena = &ops->diags->arena;
    const struct kernel *kernel = kernel_at(ops, i);
    const struct kernel_type_info *info = kernel_type_info(kernel->type);
    uint32_t blocks = kernel_blocks(ops->module, kernel), aics = numbers->of[CORE_AIC];
    const uint32_t needs[CORE_TYPES] = {info->aics * blocks, info->aivs * blocks};
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t others = numbers->of[1 - core];
        if (!needs[core] || numbers->of[core])
            continue;
        if (!report_op(ops, i, 1 - core,
                       arena_printf(arena, "%s=%u without %s launches no core of type %s",
                                    number_key(1 - core), others, number_key(core),
                                    core_type_name(core)),
                       "has a part there"))
            return false;
        if (core == CORE_AIV)
            note_choices(ops, core, others, 2 * others);
        else
            note_choices(ops, core, others, others % 2 == 0 ? others / 2 : 0);
        return false;
    }
    /* A 1:2 kernel in a 1:1 launch: half of its vector part would run nowhere. */
    if (!info->flat && info->aivs > kernel_type_info(launch.type)->aivs) {
        if (report_op(ops, i, CORE_AIV,
                      arena_printf(arena, "%s=%u gives each of %u AICs one AIV",
                                   number_key(CORE_AIV), numbers->of[CORE_AIV], aics),
                      "needs two"))
            note_choices(ops, CORE_AIV, 2 * aics, 0);
        return false;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        if (needs[core] <= numbers->of[core])
            continue;
        if (report_op(ops, i, core,
                      arena_printf(arena, "%s=%u", number_key(core), numbers->of[core]),
                      arena_printf(arena, "needs %u cores of type %s", needs[core],
                                   core_type_name(core))))
            diag_help(ops->diags, "write %s=%u or more", number_key(core), needs[core]);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------- by what there is ---- */

/* As many cores as the target has, of both types where it can: in pairs, unless it has two AIVs for
 * each AIC, or the op's kernel needs them. */
static struct launch launch_of_target(const struct module *module, bool mixed_1_2)
{
    uint32_t aics = module_cores(module, CORE_AIC), aivs = module_cores(module, CORE_AIV);
    uint32_t halves = aivs / 2, fewer = aics < aivs ? aics : aivs;
    if (aics == 0)
        return (struct launch){KERNEL_mix_aiv_1_0, aivs};
    if (aivs == 0)
        return (struct launch){KERNEL_mix_aic_1_0, aics};
    if (halves >= aics || (mixed_1_2 && halves > 0))
        return (struct launch){KERNEL_mix_aic_1_2, halves < aics ? halves : aics};
    return (struct launch){KERNEL_mix_aic_1_1, fewer};
}

bool launch_choose(struct launch *launch, const struct launch_ops *ops)
{
    const struct sk_options *options = block_options(ops->module, ops->superkernel);
    struct numbers numbers;
    bool ok = true;
    for (int core = 0; core < CORE_TYPES; core++)
        numbers.of[core] = (uint32_t)options->of[number_options[core]].number;
    if (numbers.of[CORE_AIC] || numbers.of[CORE_AIV]) {
        ok = check_target(ops, &numbers) && launch_of_numbers(launch, ops, &numbers);
        for (uint32_t i = 0; ok && i < ops->count; i++)
            ok = check_op(ops, &numbers, *launch, i);
        return ok;
    }
    struct demand demand = demand_of(ops);
    *launch = launch_of_demand(&demand);
    if (options->of[SK_debug_per_op_max_core_num].number) {
        struct launch most = launch_of_target(ops->module, demand.mixed_1_2);
        const struct kernel_type_info *info = kernel_type_info(most.type);
        if (info->aics * most.blocks >= demand.aics && info->aivs * most.blocks >= demand.aivs)
            *launch = most;
    }
    return check_cores(ops, *launch);
}
