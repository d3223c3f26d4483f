/* What the passes have made: a text without what another one has. */
#ifndef FRONTEND_GOLDEN_GOLDEN_CHANGES_H
#define FRONTEND_GOLDEN_GOLDEN_CHANGES_H

#include "frontend/golden/golden_part.h"
#include "ir/base/text.h"

/* Appends the blocks of `new` (what stands between empty lines) that `old` has not. One that begins
 * with the same two words as one of `old` is shown as what differs: lines with '-' and '+', and
 * "..." for the others. Of those that only `old` has, the first line is shown, with a '-'. */
void golden_changes(struct text *out, struct part old, struct part new);

#endif
