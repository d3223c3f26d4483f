/* Properties of modules: what stage of the pipeline they are at. */
#ifndef PASSES_MANAGER_PROPERTIES_H
#define PASSES_MANAGER_PROPERTIES_H

#include "ir/core/module.h"

/* What passes demand of a module and provide. Each is checked on the module itself, so a dump of
 * any stage is as good an input as the pass before it. */
enum property {
    PROPERTY_PARTITIONED = 1, /* no op is in a scope that waits to be partitioned */
    PROPERTY_BOUND = 2,       /* every op has a kernel */
    PROPERTY_LOWERED = 4,     /* every super kernel has its entry */
    PROPERTY_END = 8,
};

/* The properties that hold. */
unsigned module_properties(const struct module *module);
/* The same where those of `before` held, and nothing but entries has changed since. */
unsigned module_properties_of_entries(const struct module *module, unsigned before);

/* What a pass that needs this one property needs, and how to have it. */
const char *property_text(unsigned property);

/* The name of this one property. */
const char *property_name(unsigned property);

#endif
