#include "backend/kernels/sample_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool op_fail(const struct op_check *check, const char *id, int tensor, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check->error->id = id;
    check->error->tensor = tensor;
    check->error->attribute = -1;
    vsnprintf(check->error->text, sizeof check->error->text, format, args);
    va_end(args);
    return false;
}

const struct skrt_attr *op_check_attr(const struct op_check *check, const char *name)
{
    for (unsigned i = 0; i < check->n_attrs; i++)
        if (strncmp(check->attrs[i].key, name, SKRT_ATTR_KEY) == 0)
            return &check->attrs[i];
    return NULL;
}

bool op_fail_attr(const struct op_check *check, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    check->error->id = "attribute";
    check->error->tensor = -1;
    check->error->attribute = (int)(op_check_attr(check, name) - check->attrs);
    vsnprintf(check->error->text, sizeof check->error->text, format, args);
    va_end(args);
    return false;
}

struct tensor_name op_tensor_name(const struct op_check *check, unsigned tensor)
{
    struct tensor_name name;
    const struct op_slot *slot = &check->type->slots[op_tensor_slot(check, tensor)];
    if (tensor >= check->operands && slot->presence == OP_LISTED)
        snprintf(name.text, sizeof name.text, "result %u", tensor - check->operands);
    else
        snprintf(name.text, sizeof name.text, "%s '%.80s'",
                 tensor < check->operands ? "operand" : "result", slot->name);
    return name;
}

const char *op_shape_id(const struct op_check *check, unsigned tensor)
{
    return tensor < check->operands ? "operand-shape" : "result-shape";
}

uint32_t op_tensor_slot(const struct op_check *check, unsigned tensor)
{
    uint32_t last = check->type->n_operands + check->type->n_results - 1;
    uint32_t slot = tensor < check->operands ? tensor : tensor + check->row->without_operands;
    return slot < last ? slot : last;
}
