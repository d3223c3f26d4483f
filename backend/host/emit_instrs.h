/* The statements of an entry's instructions. */
#ifndef BACKEND_HOST_EMIT_INSTRS_H
#define BACKEND_HOST_EMIT_INSTRS_H

#include "backend/device/emitter.h"

/* The next rows of a program's tables. */
struct rows {
    uint32_t call, select;
};

/* Appends the statement of an instruction of the entry at hand, `index` in the program of its core
 * type. Rows can be made of the entry (backend/host/rows.h), so it has what it refers to. */
void emit_instr(struct emitter *emitter, enum core_type core, const struct instr *instr,
                uint32_t index, struct rows *next);

#endif
