#include "ir/op_cores.h"
#include "ir/op_types.h"

/* GE's names of what runs ops elsewhere: the two of the AICPU, collectives, the runtime, image
 * processing, the host. */
static const char *const engines[] = {
    "aicpu_ascend_kernel", "aicpu_tf_kernel", "ops_kernel_info_hccl",
    "DNN_VM_RTS_OP_STORE", "dvpp_ops_kernel", "DNN_VM_HOST_CPU_OP_STORE",
};

static bool is_set(const struct module *module, const struct op *op, uint32_t key)
{
    const struct attr *attr = attr_find(module, op->attrs, key);
    return attr && (attr->value.kind == ATTR_INT || attr->value.kind == ATTR_BOOL) &&
           attr->value.i != 0;
}

/* 1 and 0: the engine has cores, or none; -1: nothing is said. */
static int engine_has_cores(const struct module *module, const struct op *op)
{
    uint32_t name = attr_string(module, op->attrs, W__ge_attr_op_kernel_lib_name);
    if (name == NONE)
        return -1;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        if (name_is(module, name, engines[i]))
            return 0;
    return 1;
}

bool op_has_no_cores(const struct module *module, const struct op *op)
{
    const struct op_type *type;
    if (op->attrs.count > 0) {
        if (is_set(module, op, W__hccl))
            return false;
        if (is_set(module, op, W_no_cores))
            return true;
        if (is_set(module, op, W_supportSuperKernel))
            return false;
        int engine = engine_has_cores(module, op);
        if (engine >= 0)
            return engine == 0;
    }
    type = op_type_find(module, op->type);
    return type && type->no_cores && !op_is_unchecked(module, op);
}
