/* Symbols of objects that run on this machine: what functions of kernels, and entries, are called
 * in them. */
#ifndef BACKEND_DEVICE_SYMBOLS_H
#define BACKEND_DEVICE_SYMBOLS_H

#include "ir/base/text.h"
#include "ir/module.h"

/* Appends the symbol of a kernel's part: what the kernel's function must be renamed to. `kernel` is
 * an index into module->kernels. */
void device_kernel_symbol(struct text *text, const struct module *module, uint32_t kernel,
                          enum core_type core);
/* The same for a copy of the part's code; copy 0 is the part itself. */
void device_copy_symbol(struct text *text, const struct module *module, uint32_t kernel,
                        enum core_type core, uint32_t copy);
/* The same for a function of a dynamic kernel, or a copy of it. Variants that share a function
 * share its name. */
void device_variant_symbol(struct text *text, const struct module *module, uint32_t kernel,
                           uint32_t variant, enum core_type core, uint32_t copy);
/* The same for an entry, which stays global: its name, or skir_entry_N (a remark says so) where
 * that is no name of an assembler or could be one of skirc's or the runtime's own. */
void device_entry_symbol(struct text *text, const struct module *module, const struct entry *entry);

/* The same for the table of a graph with gears: its name, or skir_gears_N. `graph` is an index into
 * module->graphs. */
void device_gears_symbol(struct text *text, const struct module *module, uint32_t graph);

#endif
