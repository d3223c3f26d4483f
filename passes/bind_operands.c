/* Operands that are given by name, or left out (passes/bind_operands.h). */
#include "passes/bind_operands.h"
#include "ir/operands.h"
#include "ir/syntax/locate.h"

static bool unknown_label(struct diags *diags, const struct module *module,
                          const struct graph *graph, const struct op *op, uint32_t place,
                          uint32_t operands)
{
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint32_t label = op_operand(graph, op, place).label;
    if (!diag_at(diags, DIAG_operand_label, locate_op(module, op, OP_LABEL, place),
                 "no operand of %.*s that is not given yet is '%.*s'", NAME(module, op->type),
                 NAME(module, label)))
        return false;
    struct suggest suggest = name_suggest(module, label);
    for (uint32_t n = op_n_unlabelled(graph, op); n < operands; n++)
        name_offer(&suggest, module, kernel_tensor(module, kernel, n));
    diag_suggest(diags, &suggest);
    return false;
}

/* Whether each label is the name of one of the kernel's `operands` first tensors that no operand
 * without a label is. */
static bool labels_fit(struct diags *diags, const struct module *module, const struct graph *graph,
                       const struct op *op, uint32_t operands)
{
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint32_t unlabelled = op_n_unlabelled(graph, op);
    for (uint32_t place = unlabelled; place < op_n_places(graph, op); place++) {
        uint32_t n = unlabelled, label = op_operand(graph, op, place).label;
        while (n < operands && kernel_tensor(module, kernel, n) != label)
            n++;
        if (n >= operands)
            return unknown_label(diags, module, graph, op, place, operands);
    }
    return true;
}

/* Whether a parameter is a word that no op gives. */
static bool is_word(const char *param)
{
    switch (param[0]) {
    case 't': return strcmp(param, "tiling") == 0;
    case 'w': return strcmp(param, "workspace") == 0;
    default: return false;
    }
}

/* What an op gives for the n-th tensor of a sample kernel. */
static char tensor_presence(const struct library_kernel *sample, uint32_t n)
{
    for (uint32_t i = 0;; i++)
        if (!is_word(sample->params[i]) && n-- == 0)
            return sample->presences[i];
}

static bool left_out(struct diags *diags, const struct module *module, const struct op *op,
                     uint32_t param)
{
    diag_at(diags, DIAG_operand_count, locate_op(module, op, OP_TYPE_NAME, 0),
            "%.*s needs its operand '%.*s'", NAME(module, op->type), NAME(module, param));
    return false;
}

/* Makes operands that are left out `none`, or `[]`. What is not optional must be there; where no
 * operand has a label, their number is wrong, which is the library's to refuse. */
static bool fill_operands(struct diags *diags, const struct module *module, struct graph *graph,
                          uint32_t id, uint32_t operands, const struct library_kernel *sample)
{
    const struct op *op = &graph->ops.at[id];
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint32_t unlabelled = op_n_unlabelled(graph, op);
    bool labels = unlabelled < op_n_places(graph, op);
    for (uint32_t n = unlabelled; n < operands; n++) {
        uint32_t param = kernel_tensor(module, kernel, n);
        if (labels && op_find_label(graph, op, param) != NONE)
            continue;
        char presence = tensor_presence(sample, n);
        if (presence != PARAM_OPTIONAL && presence != PARAM_LISTED_OPTIONAL)
            return !labels || left_out(diags, module, op, param);
        op_add_absent(graph, id, labels ? param : NONE,
                      presence == PARAM_OPTIONAL ? OPERAND_NONE : OPERAND_LIST);
    }
    return true;
}

bool operands_complete(struct diags *diags, const struct module *module, struct graph *graph,
                       uint32_t id, const struct library_kernel *sample)
{
    const struct op *op = &graph->ops.at[id];
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint32_t results = op_tensor_results(module, graph, op);
    uint32_t operands = kernel_n_tensors(module, kernel);
    operands -= results < operands ? results : operands;
    if (op_has_forms(graph, op) && !labels_fit(diags, module, graph, op, operands))
        return false;
    if (!attr_find(module, op->attrs, W_address)) /* it counts the operands */
        while (op_n_given(graph, op, operands) < op_n_places(graph, op))
            op_drop_absent(graph, id);
    return op_n_places(graph, op) >= operands ||
           fill_operands(diags, module, graph, id, operands, sample);
}
