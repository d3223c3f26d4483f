/* Entries as rows of data (struct skrt_rows of skrt.h), before they stand in an object. */
#ifndef BACKEND_HOST_ROWS_H
#define BACKEND_HOST_ROWS_H

#include "backend/device/emitter.h"
#include "backend/runtime/skrt.h"
#include "ir/support/intern.h"

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

/* A row for each instruction, and what the entry says beside them. */
struct entry_rows {
    VEC(struct skrt_row) programs[CORE_TYPES];
    uint64_t workspace; /* of fed barriers, in bytes */
    uint32_t copies;    /* of kernels that it chooses from */
};

struct module_rows {
    struct row_tables tables;
    uint32_t count;
    struct entry_rows *entries; /* by index */
    uint32_t *equal;            /* by index: the first entry that does the same; may be itself */
};

/* Makes the rows of all entries, and remarks those whose symbol is not their name: who links the
 * object must know. False, with diagnostics, where an instruction wants a slot that its entry does
 * not have, or a call that is not beside it. To be freed in any case. */
bool module_rows_make(struct module_rows *rows, const struct module *module, struct diags *diags);
void module_rows_free(struct module_rows *rows);

#endif
