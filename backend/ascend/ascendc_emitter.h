/* What the files that write AscendC share. */
#ifndef BACKEND_ASCEND_ASCENDC_EMITTER_H
#define BACKEND_ASCEND_ASCENDC_EMITTER_H

#include "backend/ascend/ascendc.h"
#include "backend/ascend/source_map.h"
#include "backend/ascend/symbols.h"
#include "ir/core/arch.h"
#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"

struct ascendc {
    struct text *text;
    const struct module *module;
    struct diags *diags;
    struct source_lines *lines; /* `line` is an offset in the text until all is written */
    struct symbols symbols;
    struct entry_finder finder;
    enum arch arch;
    bool ok;

    /* The entry at hand. */
    const struct entry *entry;
    uint32_t entry_id;
    struct entry_ops ops;
    struct event_slots events;
    uint32_t workspace; /* slot, or NONE */
    uint32_t records;   /* slot of the profiling area, or NONE */
    uint32_t tracing;   /* slot of the trace, or NONE */
    /* Of the program at hand: from a `set` to the call in the other program that waits early for
     * it. Only of a chip on which kernels wait for flags by other primitives than entries. */
    struct id_map early_sets;
};

/* The copies of kernels' code that an entry chooses from. */
static inline uint32_t ascendc_copies(const struct ascendc *out, const struct entry *entry)
{
    return (uint32_t)attr_int(out->module, entry->attrs, W_split, 1);
}

static inline const struct kernel *ascendc_kernel(const struct ascendc *out,
                                                  const struct instr *instr)
{
    return module_kernel(out->module, instr->kernel);
}

/* Appends the declarations of the functions of all kernels that entries call, and the functions
 * that choose among copies of their code and variants. */
void ascendc_kernels(struct ascendc *out);

/* Finds early_sets of a program. */
void ascendc_find_early_sets(struct ascendc *out, enum core_type core);

/* Appends the statement of an instruction of the entry at hand. */
void ascendc_instr(struct ascendc *out, enum core_type core, uint32_t index);

#endif
