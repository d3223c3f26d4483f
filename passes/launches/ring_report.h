/* What is said of launches in a ring: each of them waits, in the end, for a part of itself, so that
 * none of them can come before the others as a whole. */
#ifndef PASSES_LAUNCHES_RING_REPORT_H
#define PASSES_LAUNCHES_RING_REPORT_H

#include "ir/analyses.h"

/* The remarks `ring`, where remarks are kept: one for each ring of the module's graphs, in the
 * place of those that were said before. The graphs have events of all order between launches. */
void report_rings(struct diags *diags, const struct module *module, struct analyses *analyses);

#endif
