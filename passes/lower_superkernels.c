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
#include "passes/launch.h"
#include "passes/pass.h"

struct lowering {
    struct pass_context *context;
    struct module *module;
    const struct graph *graph;
    const uint32_t *kernel_index; /* kernel index + 1 by name id */
};

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
    uint32_t blocks = kernel_blocks(lowering->module, kernel);
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

static bool lower(struct lowering *lowering, const struct block *superkernel, const uint32_t *ops,
                  uint32_t count)
{
    struct module *module = lowering->module;
    struct launch launch;
    bool ok = true;
    for (uint32_t i = 0; i < count; i++)
        ok = check_kernel(lowering, &lowering->graph->ops.at[ops[i]]) && ok;
    const struct launch_ops launch_ops = {
        .module = module,
        .diags = lowering->context->diags,
        .graph = lowering->graph,
        .superkernel = superkernel,
        .ops = ops,
        .count = count,
        .kernel_index = lowering->kernel_index,
    };
    if (!ok || !launch_choose(&launch, &launch_ops))
        return false;
    struct slots slots = {NULL, 0, 0};
    struct entry *entry = module_add_entry(module, superkernel->name, launch.type);
    for (int core = 0; core < CORE_TYPES; core++)
        entry->programs[core].present = kernel_type_has(launch.type, core);
    for (uint32_t i = 0; i < count; i++)
        add_calls(lowering, entry, &lowering->graph->ops.at[ops[i]], &slots);
    for (int core = 0; core < CORE_TYPES; core++)
        entry->programs[core].loc = entry->programs[core].end_loc = NONE;
    struct range params = add_params(lowering, &slots);
    struct attr attrs[2] = {
        {W_block, NONE, {.kind = ATTR_INT, .i = launch.blocks}},
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
