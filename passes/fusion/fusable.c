#include "passes/fusion/fusable.h"
#include "ir/calls.h"
#include "ir/memories.h"
#include "ir/order.h"

#include <string.h>

bool op_is_collective(const struct module *module, const struct op *op)
{
    static const char *const types[] = {"AllReduce",     "ReduceScatter", "AllGather",
                                        "AlltoAll",      "HcomAllReduce", "HcomReduceScatter",
                                        "HcomAllGather", "HcomAllToAll",  "HcomAllToAllV"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (name_is(module, op->type, types[i]))
            return true;
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

enum fusable op_fusable(const struct module *module, const struct graph *graph, const struct op *op)
{
    if (op_is_view(module, graph, op))
        return FUSABLE;
    if (op_is_passive(module, graph, op))
        return NOT_PASSIVE;
    if (op_call_kind(op) != CALL_NONE)
        return NOT_CALL;
    if (op->attrs.count == 0)
        return op_is_collective(module, op) ? NOT_COLLECTIVE : FUSABLE;
    if (scalar(module, op, W_supportSuperKernel, 1) == 0)
        return NOT_SUPPORTED;
    if (scalar(module, op, W_local_memory_size, 0) > 0)
        return NOT_SIMT;
    if (op_is_collective(module, op) && !scalar(module, op, W__hccl, 0))
        return NOT_COLLECTIVE;
    return FUSABLE;
}

const char *fusable_reason(enum fusable fusable)
{
    switch (fusable) {
    case NOT_SUPPORTED: return "its kernel does not support it (supportSuperKernel = 0)";
    case NOT_COLLECTIVE: return "it is a collective that is not marked as fusable (_hccl)";
    case NOT_SIMT: return "it is a SIMT kernel (local_memory_size > 0)";
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
    default: return "move it out of the scope, or to where nothing of the scope follows it";
    }
}
