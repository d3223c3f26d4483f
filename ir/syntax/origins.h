/* Where the parts of a module come from: `_loc = "FILE:LINE"` on ops, blocks, graphs, parameters,
 * kernels, entries and targets. Diagnostics about such a part are about that place. */
#ifndef IR_SYNTAX_ORIGINS_H
#define IR_SYNTAX_ORIGINS_H

#include "ir/module.h"

/* Gives each diagnostic, and each of its notes, the origin of the part of the module that its
 * position is in. The text is the module's, which must outlive the printing. */
void origins_mark(const struct module *module, struct diags *diags);

/* Warns of each `_loc` of a part that is none. */
void origins_check(const struct module *module, struct diags *diags);

#endif
