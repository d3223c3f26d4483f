/* Entries as AscendC: one C++ source for the device compiler. */
#ifndef BACKEND_ASCEND_ASCENDC_H
#define BACKEND_ASCEND_ASCENDC_H

#include "ir/core/module.h"
#include "ir/support/text.h"

/* Where an instruction's statement is: it begins in this line of the source, from 1, and goes
 * up to the next one's. */
struct source_line {
    uint32_t line;
    uint32_t entry; /* index in module->entries */
    enum core_type core;
    uint32_t instr; /* index in the program */
};

/* In the order of lines. */
struct source_lines {
    struct source_line *at;
    uint32_t count, capacity;
    uint32_t in_source; /* of the text that they are lines of */
};

/* Appends the source of all entries of a lowered module. `lines` may be NULL. Returns false, with
 * diagnostics, where an entry has what the target does not. */
bool ascendc_emit(struct text *text, const struct module *module, struct source_lines *lines,
                  struct diags *diags);

#endif
