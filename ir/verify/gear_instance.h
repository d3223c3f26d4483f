/* Graphs with gears, with numbers in place of the gears. */
#ifndef IR_VERIFY_GEAR_INSTANCE_H
#define IR_VERIFY_GEAR_INSTANCE_H

#include "ir/module.h"

/* Makes a copy of the graph with these values, by gear, in their places; types that are not written
 * follow from them. False where a dimension becomes too large, or the verifier has something
 * against the copy: it had nothing before there were values, so what it finds, they have done. Then
 * `reason` is appended why, and `where` becomes the place of it, if there is one. The source and
 * the path are those of `diags`, which gets nothing. The copy is to be freed in any case. */
bool gear_instance_make(struct module *module, const struct graph *graph, const int64_t *values,
                        const struct diags *diags, struct graph *instance, struct text *reason,
                        struct span *where);

#endif
