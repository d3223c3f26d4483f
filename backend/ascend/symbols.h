/* What functions of kernels and entries are called in the source, and so in the object; and events
 * by the host. */
#ifndef BACKEND_ASCEND_SYMBOLS_H
#define BACKEND_ASCEND_SYMBOLS_H

#include "ir/core/kernel.h"
#include "ir/support/text.h"

/* A kernel's function keeps its name, by which people know it, where it is one of C. Where objects
 * have functions of one name, those of the first kernel's object keep it. */
struct symbols {
    const struct module *module;
    struct id_map functions; /* by name: the first kernel that has it */
    struct id_map objects;   /* by path as it is written: the first kernel that has it */
    struct arena arena;
};

void symbols_init(struct symbols *symbols, const struct module *module);
void symbols_free(struct symbols *symbols);

/* The first kernel, by index, with the object of a kernel: both are one input of a link. A kernel
 * without an object is its own. */
uint32_t symbols_owner(const struct symbols *symbols, const struct kernel *kernel);

/* Symbols live as long as `symbols`. */

/* Of a function of a kernel, by its name id, or of a copy of its code; copy 0 is the function
 * itself. */
const char *symbols_function(struct symbols *symbols, const struct kernel *kernel,
                             uint32_t function, uint32_t copy);
/* The name under which the host knows an entry: its own, where it is one of C. */
const char *symbols_entry(struct symbols *symbols, const struct entry *entry);
/* The part of an entry for a core type, by which the host loads it. Parts of launches that may have
 * both have a name of their own. */
const char *symbols_part(struct symbols *symbols, const struct entry *entry, enum core_type core);

/* Whether an event's name is a number to the host: one up to 2^63 - 1, as decimals are written. */
bool event_number(const struct intern_name *name, uint64_t *number);

#endif
