/* What a module must satisfy beyond the grammar. */
#ifndef IR_VERIFY_VERIFY_H
#define IR_VERIFY_VERIFY_H

#include "ir/module.h"

/* Reports everything that is wrong, each with its position where there is one. Returns whether
 * nothing is. */
bool verify_module(const struct module *module, struct diags *diags);

/* Whether ops of every type may have the attribute, as it means something to skir itself
 * (ir/attr_keys.def). */
bool attr_is_of_any_op(uint32_t key);

#endif
