/* Graphs with gears, with numbers in place of the gears. */
#ifndef IR_VERIFY_GEAR_INSTANCE_H
#define IR_VERIFY_GEAR_INSTANCE_H

#include "ir/base/text.h"
#include "ir/module.h"

struct gear_verdict {
    bool fits;          /* nothing is wrong */
    bool silent;        /* and nothing at all is to be said */
    bool open;          /* what is wrong is a type that does not follow (DIAG_cannot_infer) */
    struct text reason; /* what is wrong */
    struct text help;   /* and what to do about it; mostly empty */
    struct span where;  /* the place of that, if there is one */
};

struct gear_instance {
    struct graph graph;
    struct gear_verdict made, verified; /* the second one of what is made right */
};

/* Makes a copy of the graph with these values, by gear, in their places; types that are not written
 * follow from them, and so do dimensions that are written as unknown. It is not made right where a
 * dimension becomes too large, or a type does not follow. The source and the path are those of
 * `diags`, which gets nothing. To be freed in any case. */
void gear_instance_make(struct gear_instance *instance, struct module *module,
                        const struct graph *graph, const int64_t *values,
                        const struct diags *diags);
/* What the verifier has against it: it had nothing before there were values, so what it finds, they
 * have done. A part (ir/base/part.h) may do it again. `superkernels`: as module_superkernels() has
 * them, or NULL. */
void gear_instance_verify(struct gear_instance *instance, const struct module *module,
                          const struct id_map *superkernels, const struct diags *diags);
/* What is wrong with it; NULL: it is right. */
const struct gear_verdict *gear_instance_fault(const struct gear_instance *instance);
/* Not of the graph, if that was taken. */
void gear_instance_free(struct gear_instance *instance);

#endif
