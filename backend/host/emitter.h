/* What the files that emit entries share. */
#ifndef BACKEND_HOST_EMITTER_H
#define BACKEND_HOST_EMITTER_H

#include "ir/base/text.h"
#include "ir/groups.h"
#include "ir/variants.h"

struct emitter {
    struct text *text;
    const struct module *module;
    struct diags *diags;
    const struct entry *entry;
    uint32_t entry_id;
    uint32_t calls;          /* of the program at hand */
    uint32_t workspace_slot; /* of fed barriers, or NONE; and its bytes */
    int64_t workspace;
    struct event_slots events; /* of the entry at hand */
    bool ok;
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

/* The next rows of a program's tables. */
struct rows {
    uint32_t call, select;
};

/* Appends the declarations of all kernels that entries call. */
void emit_kernels(struct emitter *emitter);

/* Appends the statement of an instruction of the entry at hand, `index` in the program of its core
 * type. */
void emit_instr(struct emitter *emitter, enum core_type core, const struct instr *instr,
                uint32_t index, struct rows *next);

#endif
