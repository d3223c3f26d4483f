/* Which reported diagnostic holds which expectation. */
#ifndef FRONTEND_GOLDEN_GOLDEN_PARTNERS_H
#define FRONTEND_GOLDEN_GOLDEN_PARTNERS_H

#include "frontend/golden/golden.h"

/* Links as many expectations of the command as possible with reported diagnostics, one to one: the
 * outcome's partners, and the matches of the reported. Near-linear in their number where their
 * texts differ in some part, or are equal, or lines have few. */
void golden_find_partners(const struct golden *golden, uint32_t command,
                          struct golden_outcome *outcome);

#endif
