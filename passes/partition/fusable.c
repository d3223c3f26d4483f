#include "ir/analysis/dep_graph.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/optypes/op_types.h"
#include "passes/partition/fusable.h"

#include <string.h>

/* Types of collectives, with and without "Hcom" before; Send without it is an event. */
static const char *const collectives[] = {
    "AllReduce",      "AllGather", "AllGatherV", "AlltoAll", "ReduceScatter",
    "ReduceScatterV", "AlltoAllV", "AlltoAllVC", "AllToAll", "AllToAllV",
    "AllToAllVC",     "Broadcast", "Reduce",     "Send",     "Receive",
};

bool op_is_collective(const struct module *module, const struct op *op)
{
    const struct intern_name *name = &module->names.names[op->type];
    bool prefixed = name->size > 4 && memcmp(name->text, "Hcom", 4) == 0;
    const char *text = name->text + (prefixed ? 4 : 0);
    size_t size = name->size - (prefixed ? 4 : 0);
    for (size_t i = 0; i < sizeof collectives / sizeof collectives[0]; i++)
        if (strlen(collectives[i]) == size && memcmp(collectives[i], text, size) == 0)
            return prefixed || strcmp(collectives[i], "Send") != 0;
    return false;
}

/* Integers and flags alike: dumps write 1, people write true. */
static int64_t scalar(const struct module *module, const struct op *op, uint32_t key,
                      int64_t absent)
{
    const struct attr *attr = attr_find(module, op->attrs, key);
    if (!attr || (attr->value.kind != ATTR_INT && attr->value.kind != ATTR_BOOL))
        return absent;
    return attr->value.i;
}

bool op_is_marked_collective(const struct module *module, const struct op *op)
{
    return op->attrs.count > 0 && scalar(module, op, W__hccl, 0) != 0;
}

/* Its tiling is computed outside of the graph, too late for the launch. */
static bool is_tiled_late(const struct module *module, const struct op *op)
{
    return scalar(module, op, W_aicpu_tiling, 0) && !scalar(module, op, W__tiling_sink_op, 0) &&
           !scalar(module, op, W__op_ensure_reuse_binary, 0);
}

/* An op that `_hccl` does not mark. */
static enum fusable unmarked_fusable(const struct module *module, const struct op *op)
{
    int64_t supported = scalar(module, op, W_supportSuperKernel, -1);
    if (supported == 0)
        return NOT_SUPPORTED;
    if (scalar(module, op, W_local_memory_size, 0) > 0)
        return NOT_SIMT;
    if (is_tiled_late(module, op))
        return NOT_TILED;
    if (supported < 0 && op_is_collective(module, op))
        return NOT_COLLECTIVE;
    return op_has_no_cores(module, op) ? NOT_ON_CORES : FUSABLE;
}

enum fusable op_fusable(const struct module *module, const struct graph *graph, const struct op *op)
{
    if (op_is_view(module, graph, op))
        return FUSABLE;
    if (op_is_passive(module, graph, op))
        return NOT_PASSIVE;
    if (op_call_kind(op) != CALL_NONE)
        return NOT_CALL;
    if (op->attrs.count == 0)
        return unmarked_fusable(module, op);
    return op_is_marked_collective(module, op) ? FUSABLE : unmarked_fusable(module, op);
}

const char *fusable_reason(enum fusable fusable)
{
    switch (fusable) {
    case NOT_SUPPORTED: return "its kernel does not support it (supportSuperKernel = 0)";
    case NOT_COLLECTIVE: return "it is a collective that is not marked as fusable (_hccl)";
    case NOT_SIMT: return "it is a SIMT kernel (local_memory_size > 0)";
    case NOT_TILED: return "its tiling is computed on the AICPU (aicpu_tiling)";
    case NOT_ON_CORES: return "its kernel runs on no AI cores";
    case NOT_CALL: return "it calls graphs";
    case NOT_PASSIVE: return "it executes nothing";
    case FUSABLE: break;
    }
    return "it can be fused";
}

const char *fusable_advice(enum fusable fusable)
{
    switch (fusable) {
    case NOT_SUPPORTED: return "rebuild the kernel with super kernel support, or move the op away";
    case NOT_COLLECTIVE: return "set _hccl = true if its kernel runs on AI cores";
    case NOT_TILED:
        return "have the tiling computed with the graph (_tiling_sink_op), or one binary for all "
               "shapes (_op_ensure_reuse_binary)";
    default: return "move it out of the scope, or to where nothing of the scope follows it";
    }
}
