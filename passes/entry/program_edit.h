/* Additions to the programs of an entry: where the calls of a super kernel's ops stand, and
 * instructions to be put beside them. */
#ifndef PASSES_ENTRY_PROGRAM_EDIT_H
#define PASSES_ENTRY_PROGRAM_EDIT_H

#include "passes/entry/superkernel.h"

/* Instructions to be inserted, in the order of their places. Zero-initialised when empty. */
struct program_edit {
    struct addition {
        uint32_t at; /* before the instruction of this index; those of one place stand in turn */
        struct instr instr;
    } * at;
    uint32_t count, capacity;
};

/* `at` is not below that of the addition before. */
void program_edit_add(struct program_edit *edit, uint32_t at, struct instr instr);
/* Makes the additions, and forgets them. */
void program_edit_apply(struct program_edit *edit, struct program *program);

/* For each op, the index of its call in the program of a core type, NONE where it has no part there.
 * To be freed. */
uint32_t *superkernel_calls(const struct superkernel *sk, enum core_type core);

/* What belongs to a call directly: the steps of feed_sync around it, and records (profile, trace).
 * The first index of that, and the one behind the last. */
uint32_t call_begin(const struct program *program, uint32_t call);
uint32_t call_end(const struct program *program, uint32_t call);

/* The next index, from `at`, of what is no record. */
uint32_t skip_records(const struct program *program, uint32_t at);

static inline bool program_has(const struct program *program, uint32_t at, enum instr_op op)
{
    return at < program->instrs.count && program->instrs.at[at].op == op;
}

/* What debug-dcci-all puts behind an op: a drain, and the cache maintenance. */
static inline bool program_has_dcci_pair(const struct program *program, uint32_t at)
{
    return program_has(program, at, INSTR_pipe_barrier) && program_has(program, at + 1, INSTR_dcci);
}

#endif
