/* Symbols of objects that run on this machine: what functions of kernels, and entries, are called
 * in them. */
#ifndef BACKEND_DEVICE_LINK_H
#define BACKEND_DEVICE_LINK_H

#include "backend/linker/object.h"
#include "backend/target/backend.h"
#include "ir/core/module.h"
#include "ir/support/text.h"
#include "ir/support/tool.h"

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

/* The compilers of this machine, for what runs on it. */

/* A new folder for files of a build (ir/support/tool.h); false, with a diagnostic, where there
 * cannot be one. */
bool device_make_folder(struct tool_folder *folder, struct diags *diags);

/* Runs the compiler for C++ (tool_run_cxx), which is to write an object; what it says where it
 * fails is a diagnostic, as is that there is no object. */
enum backend_status device_run_cxx(const char *const *args, const char *object,
                                   struct diags *diags);

enum backend_status device_write(const struct text *text, const char *path, struct diags *diags);

/* Writes C source to `path` and compiles it, with skrt.h in reach, to an object. */
enum backend_status device_compile(const struct text *source, const char *path,
                                   const struct backend_places *places, const char *object,
                                   struct diags *diags);

/* Links for this machine: kernels, and entries with the kernels that they call. */

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

/* The objects of entries, which call kernels by their symbols (device_kernel_symbol) and have
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

/* Linked code in this process. */

/* Where linked code comes from, which outlives it. */
struct device_origin {
    const char *objects;                 /* for people: "'k.o' and 'l.o'" */
    void (*code_runs)(const char *what); /* as in struct run_options */
};

/* Zero-initialised is nothing. */
struct device_code {
    struct object_image *image;
    void *handle; /* of dlopen: for what an image cannot have, or NULL */
    struct device_origin origin;
};

/* Loads what was linked to memory; without a compiler, unless it needs the system's linker
 * (object_image_load). What it does not define is the runtime's, libc's or libm's. No files are
 * left behind. */
enum backend_status device_code_load(struct device_code *code, const struct device_output *linked,
                                     const struct device_origin *origin, struct diags *diags);
void device_code_unload(struct device_code *code);

/* The address of a global definition; NULL where there is none of that name. */
void *device_code_find(const struct device_code *code, const char *name);

#endif
