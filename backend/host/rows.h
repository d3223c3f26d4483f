/* Entries as rows of data (struct skrt_rows of skrt.h), before they stand in an object. */
#ifndef BACKEND_HOST_ROWS_H
#define BACKEND_HOST_ROWS_H

#include "backend/device/emitter.h"
#include "backend/runtime/skrt.h"
#include "ir/base/intern.h"

/* What the rows of all entries of a module refer to. */
struct row_tables {
    struct intern sites; /* by a row's `site`: the instruction, and behind a NUL the op of a call */
    VEC(struct row_part {
        uint32_t kernel; /* by index */
        enum core_type core;
    })
    parts;            /* by a row's kernel */
    uint32_t *places; /* in `parts`, from 1, by kernel and core type; 0: not yet */
};

void row_tables_init(struct row_tables *tables, const struct module *module);
void row_tables_free(struct row_tables *tables);

/* A row for each instruction. */
struct entry_rows {
    VEC(struct skrt_row) programs[CORE_TYPES];
};

/* Makes the rows of the entry that the emitter has at hand. False, with diagnostics, where an
 * instruction wants a slot that its entry does not have, or a call that is not beside it. */
bool entry_rows_make(struct entry_rows *rows, struct row_tables *tables, struct emitter *emitter);
void entry_rows_free(struct entry_rows *rows);

/* Remarks that an entry's symbol is not its name: who links the object must know. */
void entry_symbol_remark(const struct module *module, const struct entry *entry,
                         struct diags *diags);

/* Reports what the module's entries would be refused for, and these remarks. */
bool host_check_entries(const struct module *module, struct diags *diags);

#endif
