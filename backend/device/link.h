/* Links for this machine: kernels, and entries with the kernels that they call. */
#ifndef BACKEND_DEVICE_LINK_H
#define BACKEND_DEVICE_LINK_H

#include "backend/backend.h"
#include "backend/object/object.h"

/* Where a link goes. */
struct device_output {
    const char *path; /* a file; NULL: memory, */
    void *bytes;      /* which is freed by mem_free */
    size_t size;
};

/* For each kernel, by index, what the entries that call it need; 0 where none does. Copies from
 * `made` on are those before them again, modulo `made`: no core comes so far that it would call
 * them, for it has copy (its index) mod `split`, and a call runs on the first cores. */
struct kernel_copies {
    uint8_t *chosen; /* copies that they choose from */
    uint8_t *made;   /* that have code of their own: the first ones */
};

/* To be freed. */
struct kernel_copies device_kernel_copies(const struct module *module);
void kernel_copies_free(struct kernel_copies *copies);

/* The objects of entries, which call kernels by their symbols (backend/device/symbols.h) and have
 * the functions of stubs. */
struct device_entries {
    struct object_made *made; /* one that is made here, or NULL; */
    const char *files[3];     /* and those that tools have made, or NULL */
    /* In them the symbols of entries are the same, or that with their index behind it. */
    const char *prefix;
};

/* Links them with these kernels into one relocatable object whose only global symbols are the
 * entries. */
enum backend_status device_link_entries(const struct module *module,
                                        const struct backend_places *places,
                                        const struct device_entries *entries,
                                        struct device_output *output, struct diags *diags);

/* Links kernels and writes nothing, for what links of them would be refused for: those that no
 * entry calls, but an op outside of super kernels, so that whoever runs the graph launches them;
 * and, if `called`, those that entries call. */
enum backend_status device_link_check(const struct module *module,
                                      const struct backend_places *places, bool called,
                                      struct diags *diags);

/* Links the kernels that `used` marks (by kernel index), each function under its symbol, into one
 * relocatable object in which those are global: for launches of single ops. None of them is a
 * stub. */
enum backend_status device_link_kernels(const struct module *module,
                                        const struct backend_places *places, const uint8_t *used,
                                        struct device_output *output, struct diags *diags);

#endif
