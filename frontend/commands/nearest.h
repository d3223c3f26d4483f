/* Numbers that are near to one that cannot be taken. */
#ifndef FRONTEND_COMMANDS_NEAREST_H
#define FRONTEND_COMMANDS_NEAREST_H

#include "ir/base/arena.h"

/* "the nearest values are 2 and 4": the largest below and the smallest above, of one at least, none
 * of which is the number itself. In the arena. */
const char *nearest_text(struct arena *arena, const int64_t *numbers, uint32_t count,
                         int64_t number);

#endif
