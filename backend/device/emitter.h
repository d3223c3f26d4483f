/* C for the virtual device: what entries call and execute, as declarations and tables (skrt.h). */
#ifndef BACKEND_DEVICE_EMITTER_H
#define BACKEND_DEVICE_EMITTER_H

#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"
#include "ir/support/text.h"

struct emitter {
    struct text *text;
    const struct module *module;
    struct diags *diags;
    const struct entry *entry;
    uint32_t entry_id;
    uint32_t calls;          /* of the program whose tables were last */
    uint32_t workspace_slot; /* of fed barriers, or NONE; and its bytes */
    int64_t workspace;
    struct event_slots events; /* of the entry at hand */
};

/* The copies of kernels' code that an entry chooses from. */
static inline uint8_t entry_copies(const struct module *module, const struct entry *entry)
{
    return (uint8_t)attr_int(module, entry->attrs, W_split, 1);
}

static inline const struct kernel *called_kernel(const struct emitter *emitter,
                                                 const struct instr *instr)
{
    return module_kernel(emitter->module, instr->kernel);
}

static inline uint32_t called_id(const struct emitter *emitter, const struct instr *instr)
{
    return kernel_id(emitter->module, called_kernel(emitter, instr));
}

/* Appends the declarations of all kernels that entries call: k<KERNEL>_<CORE TYPE>, k..._copies
 * where there are copies, k..._variants of a dynamic kernel; and the functions of stubs. */
void emitter_kernels(struct emitter *emitter);

/* Entry `id` is the one at hand, until the end of it. */
void emitter_begin(struct emitter *emitter, uint32_t id);
void emitter_end(struct emitter *emitter);

/* Appends where reports say that a core is: the spelling of an instruction of the entry at hand, a
 * NUL, and of a call the op that it is for. */
void emitter_site(const struct emitter *emitter, const struct instr *instr, struct text *text);

/* Where the words stand that a select of the program reads: those of its kernel's next call. */
uint32_t emitter_select_slot(const struct emitter *emitter, const struct program *program,
                             const struct instr *select);

/* The slot of what a record is written to; NONE: it is not. */
uint32_t emitter_records_slot(const struct entry *entry, const struct instr *instr);

/* Appends the tables of the program of a core type, which has instructions, and counts its calls:
 * e<ENTRY>_<CORE TYPE>_sites by instruction, ..._calls by call, ..._selects by select and copy, if
 * there are any. */
void emitter_tables(struct emitter *emitter, enum core_type core);

#endif
