#include "ir/stub_kernels.h"
#include "ir/op_types.h"

#include <string.h>

/* What runs on cubes: families of the op data, and parts of the names of other types. */
static const struct {
    const char *family, *part;
    enum kernel_type type;
} rules[] = {
    {"attention", "Attention", KERNEL_mix_aic_1_2},
    {"matrix", "MatMul", KERNEL_aic_only},
    {"", "Matmul", KERNEL_aic_only},
    {"", "matmul", KERNEL_aic_only},
    {"", "Gemm", KERNEL_aic_only},
    {"", "Conv", KERNEL_aic_only},
};

static enum kernel_type kernel_type_of(const struct module *module, uint32_t op_type)
{
    struct arena scratch = {NULL, 0};
    const struct op_type *known = op_type_find(module, op_type);
    const char *text = name_text(module, op_type, &scratch);
    enum kernel_type type = KERNEL_aiv_only;
    for (size_t i = sizeof rules / sizeof rules[0]; i-- > 0;)
        if ((known && strcmp(known->family, rules[i].family) == 0) || strstr(text, rules[i].part))
            type = rules[i].type;
    arena_free(&scratch);
    return type;
}

uint32_t stub_kernel_declare(struct module *module, uint32_t op_type)
{
    /* A type may be the empty word, a kernel's name may not. */
    uint32_t base = module->names.names[op_type].size ? op_type : module_name(module, "op");
    uint32_t name = module_free_symbol(module, base, ".");
    enum kernel_type type = kernel_type_of(module, op_type);
    uint32_t blocks = module_blocks(module, type);
    const struct attr attrs[] = {
        {W_op, NONE, {.kind = ATTR_STRING, .id = op_type}},
        {W_block, NONE, {.kind = ATTR_INT, .i = blocks ? blocks : 1}},
        {W_stub, NONE, {.kind = ATTR_BOOL, .i = 1}},
    };
    struct range range = module_add_attrs(module, attrs, sizeof attrs / sizeof attrs[0]);
    struct kernel *kernel = module_add_kernel(module, name, type);
    kernel->attrs = range;
    kernel->loc = NONE;
    return name;
}
