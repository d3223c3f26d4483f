/* Gears and dimensions that are not written as they are here. */
#ifndef IR_SYNTAX_SLIP_GEARS_H
#define IR_SYNTAX_SLIP_GEARS_H

#include "ir/syntax/slips.h"

/* Says how gears are written, if the token stands in them or in their place. */
bool slip_help_gears(const struct slip *slip);
/* Says what a dimension may be, if the token stands in a shape. */
bool slip_help_dims(const struct slip *slip);

#endif
