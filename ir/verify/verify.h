/* What a module must satisfy beyond the grammar. */
#ifndef IR_VERIFY_VERIFY_H
#define IR_VERIFY_VERIFY_H

#include "ir/module.h"

/* Reports everything that is wrong, each with its position where there is one. Returns whether
 * nothing is. */
bool verify_module(const struct module *module, struct diags *diags);

#endif
