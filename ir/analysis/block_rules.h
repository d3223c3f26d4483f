/* Kernels whose number of blocks depends on the shapes of the op that runs them: `block` is an
 * expression in the language of docs/op-types.md. */
#ifndef IR_ANALYSIS_BLOCK_RULES_H
#define IR_ANALYSIS_BLOCK_RULES_H

#include "ir/core/module.h"

enum { MAX_BLOCK_RULE_ERROR = 256 };

/* The text of a kernel's expression (a name id); NONE where `block` is a number, or absent. */
static inline uint32_t kernel_block_rule(const struct module *module, const struct kernel *kernel)
{
    return attr_string(module, kernel->attrs, W_block);
}

/* Whether an op runs a kernel that has one; whether any op does. */
bool op_has_block_rule(const struct module *module, const struct op *op);
bool ops_have_block_rules(const struct module *module);

/* Whether the expression of a kernel that has one is right; else `error` says what is wrong. Its
 * names are those of the op type that the kernel says, and of its rules; where there is no data of
 * that, the tensors of `params`. */
bool block_rule_check(const struct module *module, const struct kernel *kernel,
                      char error[MAX_BLOCK_RULE_ERROR]);

/* What it is for an op that runs the kernel. False where it is nothing, as `error` says then: a
 * dimension is not known, or the op does not fit. */
bool block_rule_number(const struct module *module, const struct graph *graph, const struct op *op,
                       int64_t *number, char error[MAX_BLOCK_RULE_ERROR]);

#endif
