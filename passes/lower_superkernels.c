/* lower-superkernels: makes the entry of each super kernel that has none.
 *
 * needs    super kernels, a kernel for every op
 * changes  entries are added; their programs hold the calls, in an order that satisfies the graph
 * keeps    graphs
 *
 * Kernel type, number of blocks and the layout of the parameters are those of the reference
 * compiler: docs/passes.md, "lower-superkernels".
 */
#include "ir/locate.h"
#include "ir/members.h"
#include "ir/slots.h"
#include "passes/pass.h"

struct lowering {
    struct pass_context *context;
    struct module *module;
    const struct graph *graph;
    const uint32_t *kernel_index; /* kernel index + 1 by name id */
};

/* Most cores and blocks of any op of a super kernel. */
struct demand {
    uint32_t aics, aivs; /* most cores of a type that any op uses */
    uint32_t blocks;     /* most blocks of any op */
    bool cube, vector;   /* some op is of this type alone */
    bool mixed_1_1, mixed_1_2;
};

static void add_demand(struct demand *demand, enum kernel_type type, uint32_t block)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    uint32_t aics = info->aics * block, aivs = info->aivs * block;
    demand->aics = aics > demand->aics ? aics : demand->aics;
    demand->aivs = aivs > demand->aivs ? aivs : demand->aivs;
    demand->blocks = block > demand->blocks ? block : demand->blocks;
    demand->cube |= !info->aivs;
    demand->vector |= !info->aics;
    demand->mixed_1_1 |= info->aics && info->aivs == 1;
    demand->mixed_1_2 |= info->aics && info->aivs == 2;
}

/* The kernel type and block number of the launch. */
static enum kernel_type choose_type(const struct demand *demand, uint32_t *blocks)
{
    bool mixed = demand->mixed_1_1 || demand->mixed_1_2;
    *blocks = demand->blocks ? demand->blocks : 1; /* without ops, a launch of nothing */
    if (!mixed && !demand->cube)
        return KERNEL_mix_aiv_1_0;
    if (!mixed && !demand->vector)
        return KERNEL_mix_aic_1_0;
    if (demand->mixed_1_1 && !demand->mixed_1_2 && !demand->cube && !demand->vector)
        return KERNEL_mix_aic_1_1;
    *blocks = demand->aics;
    /* The reference takes 1:1 here also where a 1:2 kernel is called, half of whose vector part then
     * runs nowhere. */
    if (demand->aivs <= demand->aics && !demand->mixed_1_2)
        return KERNEL_mix_aic_1_1;
    if ((demand->aivs + 1) / 2 > *blocks)
        *blocks = (demand->aivs + 1) / 2;
    return KERNEL_mix_aic_1_2;
}

static const struct kernel *kernel_of(const struct lowering *lowering, const struct op *op)
{
    return &lowering->module->kernels.at[lowering->kernel_index[op->kernel] - 1];
}

/* --------------------------------------------------------------------- parameters ---- */

/* The list of an entry's `params`: the sync base address, then each op's slots. */
static struct range add_params(const struct lowering *lowering, const struct slots *slots)
{
    VEC(struct attr_value) values = {NULL, 0, 0};
    vec_push(&values, (struct attr_value){.kind = ATTR_WORD, .id = W_ffts});
    for (uint32_t i = 0; i < slots->count; i++)
        vec_push(&values, slot_value(lowering->module, lowering->graph, slots->at[i]));
    struct range range = module_add_values(lowering->module, values.at, values.count);
    vec_free(&values);
    return range;
}

/* ------------------------------------------------------------------------ entries ---- */

static void add_call(struct entry *entry, enum core_type core, const struct kernel *kernel,
                     uint32_t offset, uint32_t blocks)
{
    struct program *program = &entry->programs[core];
    uint8_t part = kernel_type_is_mixed(kernel->type) ? core : CORE_TYPES;
    vec_push(&program->instrs, (struct instr){.op = INSTR_call,
                                              .part = part,
                                              .loc = NONE,
                                              .kernel = kernel->name,
                                              .number = {offset, blocks}});
}

static void add_calls(const struct lowering *lowering, struct entry *entry, const struct op *op,
                      struct slots *slots)
{
    const struct kernel *kernel = kernel_of(lowering, op);
    uint32_t blocks = (uint32_t)attr_int(lowering->module, kernel->attrs, W_block, 1);
    uint32_t offset = 1 + slots->count; /* behind the sync base address */
    slots_add_op(slots, lowering->module, lowering->graph, op, kernel);
    for (int core = 0; core < CORE_TYPES; core++)
        if (kernel_type_has(kernel->type, core))
            add_call(entry, core, kernel, offset, blocks);
}

/* Whether the kernel can be called from an entry; reports why not. */
static bool check_kernel(const struct lowering *lowering, const struct op *op)
{
    const struct module *module = lowering->module;
    const struct kernel *kernel = kernel_of(lowering, op);
    struct diags *diags = lowering->context->diags;
    if (attr_flag(module, kernel->attrs, W_dynamic)) {
        diag_at(diags, DIAG_unsupported, locate_op(module, op, OP_TYPE_NAME, 0),
                "'@%.*s' is a dynamic kernel, which cannot be fused yet",
                NAME(module, kernel->name));
        return false;
    }
    if (attr_find(module, kernel->attrs, W_block))
        return true;
    if (diag_at(diags, DIAG_missing_attribute, locate_name(module, kernel->loc),
                "the kernel '@%.*s' has no 'block'", NAME(module, kernel->name)))
        diag_note(diags, (struct span){0, 0},
                  "write block = N, the number of blocks that it was built for");
    return false;
}

/* A launch that the target has too few cores for: each op fits, but not all in one shape. */
static bool check_cores(const struct lowering *lowering, const struct block *superkernel,
                        enum kernel_type type, uint32_t blocks)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t need = blocks * (core == CORE_AIC ? info->aics : info->aivs);
        if (need <= module_cores(lowering->module, core))
            continue;
        diag_at(lowering->context->diags, DIAG_number_range,
                locate_name(lowering->module, superkernel->loc),
                "super kernel '@%.*s' needs %u cores of type %s (%u blocks of %s), but the target "
                "has %u",
                NAME(lowering->module, superkernel->name), need, core_type_name(core), blocks,
                info->name, module_cores(lowering->module, core));
        return false;
    }
    return true;
}

static bool lower(struct lowering *lowering, const struct block *superkernel, const uint32_t *ops,
                  uint32_t count)
{
    struct module *module = lowering->module;
    struct demand demand = {0};
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct op *op = &lowering->graph->ops.at[ops[i]];
        const struct kernel *kernel = kernel_of(lowering, op);
        ok = check_kernel(lowering, op) && ok;
        add_demand(&demand, kernel->type, (uint32_t)attr_int(module, kernel->attrs, W_block, 1));
    }
    uint32_t blocks;
    enum kernel_type type = choose_type(&demand, &blocks);
    if (!ok || !check_cores(lowering, superkernel, type, blocks))
        return false;
    struct slots slots = {NULL, 0, 0};
    struct entry *entry = module_add_entry(module, superkernel->name, type);
    for (int core = 0; core < CORE_TYPES; core++)
        entry->programs[core].present = kernel_type_has(type, core);
    for (uint32_t i = 0; i < count; i++)
        add_calls(lowering, entry, &lowering->graph->ops.at[ops[i]], &slots);
    for (int core = 0; core < CORE_TYPES; core++)
        entry->programs[core].loc = entry->programs[core].end_loc = NONE;
    struct range params = add_params(lowering, &slots);
    struct attr attrs[2] = {
        {W_block, NONE, {.kind = ATTR_INT, .i = blocks}},
        {W_params, NONE, {.kind = ATTR_LIST, .count = params.count, .first = params.first}},
    };
    entry->attrs = module_add_attrs(module, attrs, 2);
    vec_free(&slots);
    return true;
}

/* ----------------------------------------------------------------------- driving ---- */

/* Gears are part of the language, but no pass instantiates them yet. */
static bool check_gears(struct pass_context *context, const struct graph *graph)
{
    if (graph->gear_mode == GEARS_NONE)
        return true;
    if (diag_at(context->diags, DIAG_unsupported, locate_name(context->module, graph->loc),
                "graphs with gears cannot be compiled yet"))
        diag_note(context->diags, (struct span){0, 0},
                  "write a graph for each combination, with static shapes");
    return false;
}

static bool lower_graph(struct pass_context *context, const struct graph *graph,
                        const uint32_t *kernel_index, const uint32_t *entry_index)
{
    struct lowering lowering = {context, context->module, graph, kernel_index};
    struct members members;
    if (!check_gears(context, graph))
        return false;
    members_init(&members, context->module, graph);
    bool ok = true;
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind == BLOCK_SUPERKERNEL && !entry_index[block->name])
            ok = lower(&lowering, block, members.ops + members.first[b],
                       members.first[b + 1] - members.first[b]) &&
                 ok;
    }
    members_free(&members);
    return ok;
}

bool pass_lower_superkernels(struct pass_context *context)
{
    uint32_t *kernel_index = module_kernel_index(context->module);
    uint32_t *entry_index = module_entry_index(context->module);
    bool ok = true;
    for (uint32_t i = 0; i < context->module->graphs.count; i++)
        ok = lower_graph(context, &context->module->graphs.at[i], kernel_index, entry_index) && ok;
    free(kernel_index);
    free(entry_index);
    return ok;
}
