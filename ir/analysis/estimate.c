#include "ir/analysis/estimate.h"
#include "ir/analysis/launch_order.h"
#include "ir/core/arch.h"
#include "ir/core/kernel.h"
#include "ir/optypes/op_tensors.h"

#include <string.h>

/* ------------------------------------------------------------------------- one op ---- */

/* What is read, written or given, where the type's data says no other number. Floats, as rates
 * times sizes pass 64 bits. */
static bool moved_bytes(const struct op_call *call, double *bytes)
{
    struct op_fault fault;
    int64_t number;
    *bytes = 0;
    if (call->type->bytes.text) {
        bool known = op_shapes_number(call, &call->type->bytes, &number, &fault);
        *bytes = known ? (double)number : 0;
        return known;
    }
    for (uint32_t i = 0; i < call->n_tensors; i++) {
        const struct op_tensor *tensor = &call->tensors[i];
        const struct op_slot *slot = &call->type->slots[tensor->slot];
        double size = tensor->bits / 8.0;
        if (tensor->rank == RANK_UNKNOWN || tensor->bits == 0)
            return false;
        for (uint32_t d = 0; d < tensor->rank; d++) {
            if (tensor->dims[d] < 0)
                return false;
            size *= (double)tensor->dims[d];
        }
        /* A result that is an operand's memory is what is written there. */
        bool operand = tensor->slot < call->type->n_operands;
        unsigned times = operand ? (unsigned)slot->reads + slot->writes : slot->alias == NONE;
        *bytes += times * size;
    }
    return true;
}

/* The longer of computing, by all cores of the kernel, and moving; AI cores share the memory,
 * whatever of them is used. */
static struct op_estimate by_roofline(const struct module *module, const struct kernel *kernel,
                                      const struct op_call *call)
{
    const struct arch_rates *rates = arch_rates(module_arch(module));
    const struct op_estimate unknown = {ESTIMATE_UNKNOWN, 0};
    struct op_fault fault;
    double bytes;
    int64_t flops = 0; /* where the type's data says nothing of them */
    if (!rates ||
        (call->type->flops.text && !op_shapes_number(call, &call->type->flops, &flops, &fault)) ||
        !moved_bytes(call, &bytes))
        return unknown;
    /* Operations a core does in a cycle, on elements of the first operand's size: cubes twice as
     * many on each half of 16 bits. */
    unsigned bits = call->n_tensors ? call->tensors[0].bits : 0, narrow = bits < 4 ? 4 : bits;
    double rate = kernel_type_info(kernel->type)->aics
                      ? rates->cube_flops * (narrow < 16 ? 16.0 / narrow : 1)
                      : rates->vector_bytes * 8.0 / narrow;
    uint32_t blocks = kernel_blocks(module, kernel);
    uint32_t aics = module_cores(module, CORE_AIC), aivs = module_cores(module, CORE_AIV);
    uint32_t all = aics ? aics : (aivs + 1) / 2, cores = all && all < blocks ? all : blocks;
    double compute = (double)flops / (rate * blocks * rates->mhz);
    double move = bytes / (rates->hbm_bytes * cores * rates->mhz);
    return compute > move ? (struct op_estimate){ESTIMATE_FLOPS, compute}
                          : (struct op_estimate){ESTIMATE_BYTES, move};
}

struct op_estimate op_estimate(const struct module *module, const struct graph *graph,
                               const struct op *op)
{
    const struct kernel *kernel = module_kernel(module, op->kernel);
    const struct attr *time = attr_find(module, kernel->attrs, W_time);
    const struct op_type *type = op_type_find(module, op->type);
    struct op_estimate estimate = {ESTIMATE_UNKNOWN, 0};
    struct arena scratch = {NULL, 0};
    struct op_tensors tensors;
    if (time)
        return (struct op_estimate){
            ESTIMATE_TIME, time->value.kind == ATTR_INT ? (double)time->value.i : time->value.f};
    /* What links between devices move, HBM says nothing of. */
    if (!type || op_is_unchecked(module, op) || strcmp(type->family, "collective") == 0)
        return estimate;
    op_tensors_init(&tensors, module, graph, op, type, &scratch);
    if (tensors.misfit == OP_FITS)
        estimate = by_roofline(module, kernel, &tensors.call);
    arena_free(&scratch);
    return estimate;
}

double estimate_launch(const struct module *module)
{
    const struct arch_rates *rates = arch_rates(module_arch(module));
    return rates ? rates->launch_ns / 1e3 : 0;
}

/* ------------------------------------------------------------------------- graphs ---- */

/* A graph at work. */
struct timing {
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    struct graph_estimate *estimate;
    double *ends;               /* by op: within its super kernel */
    double (*busy)[CORE_TYPES]; /* by block: until when a super kernel's cores of a type are */
};

static uint32_t superkernel_of(const struct timing *timing, uint32_t op)
{
    return graph_superkernel(timing->graph, timing->graph->ops.at[op].block);
}

/* An op begins when what it has to follow in its super kernel has ended, and its cores have. */
static double begin_of(const struct timing *timing, uint32_t op, uint32_t block,
                       const struct kernel *kernel)
{
    double begin = 0;
    for (uint32_t i = timing->order->first[op]; i < timing->order->first[op + 1]; i++) {
        uint32_t from = timing->order->edges[i].from;
        if (superkernel_of(timing, from) == block && timing->ends[from] > begin)
            begin = timing->ends[from];
    }
    for (int core = 0; kernel && core < CORE_TYPES; core++)
        if (kernel_type_has(kernel->type, (enum core_type)core) &&
            timing->busy[block][core] > begin)
            begin = timing->busy[block][core];
    return begin;
}

static void add_member(struct timing *timing, uint32_t op, uint32_t block,
                       const struct kernel *kernel, double us)
{
    double launch = estimate_launch(timing->module), end;
    end = timing->ends[op] = begin_of(timing, op, block, kernel) + us;
    if (!kernel)
        return;
    for (int core = 0; core < CORE_TYPES; core++)
        if (kernel_type_has(kernel->type, (enum core_type)core))
            timing->busy[block][core] = end;
    timing->estimate->alone[block] += launch + us;
    if (timing->estimate->blocks[block] < launch + end)
        timing->estimate->blocks[block] = launch + end;
}

static void add_op(struct timing *timing, uint32_t op)
{
    struct graph_estimate *estimate = timing->estimate;
    uint32_t block = superkernel_of(timing, op), name = timing->graph->ops.at[op].kernel;
    const struct kernel *kernel = name == NONE ? NULL : module_kernel(timing->module, name);
    double us = 0;
    if (kernel) {
        estimate->ops[op] = op_estimate(timing->module, timing->graph, &timing->graph->ops.at[op]);
        us = estimate->ops[op].us;
        estimate->unknown += estimate->ops[op].by == ESTIMATE_UNKNOWN;
        estimate->unfused += estimate_launch(timing->module) + us;
    }
    if (block != NONE)
        add_member(timing, op, block, kernel, us);
    else if (kernel)
        estimate->fused += estimate_launch(timing->module) + us;
}

void graph_estimate_init(struct graph_estimate *estimate, struct analyses *analyses,
                         const struct module *module, const struct graph *graph)
{
    uint32_t n_ops = graph->ops.count, n_blocks = graph->blocks.count;
    struct timing timing = {.module = module, .graph = graph, .estimate = estimate};
    struct order_cycle cycle;
    *estimate = (struct graph_estimate){.ops = mem_calloc(n_ops + 1, sizeof *estimate->ops),
                                        .blocks = mem_calloc(n_blocks + 1, sizeof(double)),
                                        .alone = mem_calloc(n_blocks + 1, sizeof(double))};
    timing.order = analyses_order(analyses, module, graph);
    timing.ends = mem_calloc(n_ops + 1, sizeof *timing.ends);
    timing.busy = mem_calloc(n_blocks + 1, sizeof *timing.busy);
    uint32_t *sorted = mem_realloc(NULL, n_ops + 1, sizeof *sorted);
    bool ok = order_sort(timing.order, sorted, &cycle);
    assert(ok); /* the verifier refuses circles */
    (void)ok;
    for (uint32_t i = 0; i < n_ops; i++)
        add_op(&timing, sorted[i]);
    for (uint32_t i = 0; i < n_blocks; i++)
        estimate->fused += estimate->blocks[i];
    mem_free(sorted);
    mem_free(timing.ends);
    mem_free(timing.busy);
}

void graph_estimate_free(struct graph_estimate *estimate)
{
    mem_free(estimate->ops);
    mem_free(estimate->blocks);
    mem_free(estimate->alone);
}
