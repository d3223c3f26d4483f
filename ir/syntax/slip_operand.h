/* Numbers in the place of operands. */
#ifndef IR_SYNTAX_SLIP_OPERAND_H
#define IR_SYNTAX_SLIP_OPERAND_H

#include "ir/syntax/slips.h"

/* Says how a number is given to the op in whose parentheses the token stands: as an attribute, or
 * as a constant. False where it is no number there. */
bool slip_help_operand(const struct slip *slip);

#endif
