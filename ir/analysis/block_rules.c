#include "ir/analysis/block_rules.h"
#include "ir/core/kernel.h"
#include "ir/core/operands.h"
#include "ir/optypes/op_rules.h"
#include "ir/optypes/op_tensors.h"

#include <stdio.h>
#include <string.h>

/* An expression that was read, and the type whose names it has. */
struct block_rule {
    const struct module *module;
    struct arena arena;
    const struct op_type *type;
    struct op_rule rule;
};

bool op_has_block_rule(const struct module *module, const struct op *op)
{
    const struct kernel *kernel =
        op->kernel == NONE ? NULL : module_find_kernel(module, op->kernel);
    return kernel && kernel_block_rule(module, kernel) != NONE;
}

bool ops_have_block_rules(const struct module *module)
{
    uint32_t kernel = 0;
    while (kernel < module->kernels.count &&
           kernel_block_rule(module, &module->kernels.at[kernel]) == NONE)
        kernel++;
    if (kernel == module->kernels.count)
        return false;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t j = 0; j < module->graphs.at[i].ops.count; j++)
            if (op_has_block_rule(module, &module->graphs.at[i].ops.at[j]))
                return true;
    return false;
}

/* -------------------------------------------------------------------------- reading ---- */

static bool fail(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(char *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error, MAX_BLOCK_RULE_ERROR, format, args);
    va_end(args);
    return false;
}

/* The type that a kernel is for, with data; NULL. */
static const struct op_type *known_type(const struct module *module, const struct kernel *kernel)
{
    uint32_t op_type = attr_string(module, kernel->attrs, W_op);
    return op_type == NONE ? NULL : op_type_find(module, op_type);
}

/* A type with the tensors of a kernel's parameters, as an op gives them; without one, all as
 * operands. */
static const struct op_type *type_of_params(struct arena *arena, const struct module *module,
                                            const struct kernel *kernel, const struct graph *graph,
                                            const struct op *op)
{
    uint32_t tensors = kernel_n_tensors(module, kernel), count = tensors == NONE ? 0 : tensors;
    uint32_t results = op ? op_tensor_results(module, graph, op) : 0;
    struct op_type *type = arena_alloc(arena, sizeof *type);
    struct op_slot *slots = arena_alloc(arena, (count + 1) * sizeof *slots);
    const char *name = name_text(module, kernel->name, arena);
    *type = (struct op_type){.name = name, .real = name, .slots = slots};
    type->n_results = results < count ? results : count;
    type->n_operands = count - type->n_results;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t param = kernel_tensor(module, kernel, i);
        slots[i] = (struct op_slot){.name = name_text(module, param, arena), .alias = NONE};
        if (!op || i >= type->n_operands)
            continue;
        /* What is not given is optional. */
        uint32_t place = op_param_place(graph, op, i, param);
        enum operand_kind kind = place == NONE ? OPERAND_NONE : op_operand(graph, op, place).kind;
        slots[i].presence = kind == OPERAND_NONE   ? OP_OPTIONAL
                            : kind == OPERAND_LIST ? OP_LISTED
                                                   : OP_REQUIRED;
    }
    return type;
}

/* The variables of a type are those that its rules bind, read again in their order. */
static bool read_rule(struct block_rule *block, const struct kernel *kernel, char *error)
{
    const struct op_type *type = block->type;
    struct rule_variables variables = {.count = 0};
    uint32_t name = kernel_block_rule(block->module, kernel);
    const char *text = name_text(block->module, name, &block->arena);
    bool ok = true;
    if (strlen(text) != block->module->names.names[name].size)
        return fail(error, "there is a byte 0 in it");
    if (type->n_operands + type->n_results > MAX_OP_SLOTS)
        return fail(error, "a kernel with more than %d tensors has a number there", MAX_OP_SLOTS);
    for (uint32_t i = 0; ok && i < type->n_shape; i++)
        ok = op_rule_parse(&block->arena, type, type->shape[i].text, RULE_FOR_SHAPES, &variables,
                           &block->rule, error, MAX_BLOCK_RULE_ERROR);
    return ok && op_rule_parse(&block->arena, type, text, RULE_FOR_NUMBER, &variables, &block->rule,
                               error, MAX_BLOCK_RULE_ERROR);
}

bool block_rule_check(const struct module *module, const struct kernel *kernel,
                      char error[MAX_BLOCK_RULE_ERROR])
{
    struct block_rule block = {.module = module, .type = known_type(module, kernel)};
    if (!block.type)
        block.type = type_of_params(&block.arena, module, kernel, NULL, NULL);
    bool ok = read_rule(&block, kernel, error);
    arena_free(&block.arena);
    return ok;
}

/* -------------------------------------------------------------- what is not known ---- */

/* Whether a dimension of a slot's tensors is not known; says which. */
static bool has_open_dim(const struct block_rule *block, const struct op_call *call, uint32_t slot,
                         char *error)
{
    const char *name = block->type->slots[slot].name;
    for (uint32_t i = 0; i < call->n_tensors; i++) {
        const struct op_tensor *tensor = &call->tensors[i];
        if (tensor->slot != slot)
            continue;
        if (tensor->rank == RANK_UNKNOWN)
            return !fail(error, "the dimensions of '%s' are not known", name);
        for (uint32_t d = 0; d < tensor->rank; d++) {
            int64_t dim = tensor->dims[d];
            if (dim == DIM_UNKNOWN)
                return !fail(error, "dimension %u of '%s' is not known", d, name);
            if (dim < 0)
                return !fail(error, "dimension %u of '%s' is '%.*s', which has no value", d, name,
                             NAME(block->module, dim_gear(dim)));
        }
    }
    return false;
}

static bool mentions(const struct rule *rule, int64_t variable)
{
    if (rule->kind == RULE_VARIABLE)
        return rule->number == variable;
    for (uint32_t i = 0; i < rule->n_args; i++)
        if (mentions(rule->args[i], variable))
            return true;
    return false;
}

/* Whether something that an expression is about is not known; says what. Variables are dimensions
 * of the operands whose rules bind them. */
static bool rule_is_open(const struct block_rule *block, const struct op_call *call,
                         const struct rule *rule, char *error)
{
    const struct op_type *type = block->type;
    if (rule->kind == RULE_SLOT)
        return has_open_dim(block, call, (uint32_t)rule->number, error);
    for (uint32_t i = 0; rule->kind == RULE_VARIABLE && i < type->n_shape; i++)
        if (type->shape[i].slot < type->n_operands &&
            mentions(type->shape[i].value, rule->number) &&
            has_open_dim(block, call, type->shape[i].slot, error))
            return true;
    for (uint32_t i = 0; i < rule->n_args; i++)
        if (rule_is_open(block, call, rule->args[i], error))
            return true;
    return false;
}

/* ------------------------------------------------------------------------ numbers ---- */

static bool eval_rule(struct block_rule *block, const struct graph *graph, const struct op *op,
                      int64_t *number, char *error)
{
    struct op_tensors tensors;
    struct op_fault fault = {.text = ""};
    op_tensors_init(&tensors, block->module, graph, op, block->type, &block->arena);
    if (tensors.misfit != OP_FITS)
        return fail(error, tensors.misfit == OP_UNTOLD
                               ? "the type of an operand or result is not known"
                               : "the operands and results are not those of the kernel");
    if (op_shapes_number(&tensors.call, &block->rule, number, &fault))
        return true;
    if (fault.text[0])
        return fail(error, "%s", fault.text);
    return !rule_is_open(block, &tensors.call, block->rule.value, error) &&
           fail(error, "it is no number, or one that is too large");
}

bool block_rule_number(const struct module *module, const struct graph *graph, const struct op *op,
                       int64_t *number, char error[MAX_BLOCK_RULE_ERROR])
{
    const struct kernel *kernel = module_kernel(module, op->kernel);
    struct block_rule block = {.module = module, .type = known_type(module, kernel)};
    if (!block.type)
        block.type = type_of_params(&block.arena, module, kernel, graph, op);
    bool ok = read_rule(&block, kernel, error) && eval_rule(&block, graph, op, number, error);
    arena_free(&block.arena);
    return ok;
}
