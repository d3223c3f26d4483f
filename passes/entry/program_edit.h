/* Programs under construction: new instructions, and additions to what a program has. */
#ifndef PASSES_ENTRY_PROGRAM_EDIT_H
#define PASSES_ENTRY_PROGRAM_EDIT_H

#include "ir/module.h"

/* An instruction made by a pass, without operands but `word`. */
struct instr instr_make(enum instr_op op, uint8_t word);

/* Puts `instrs` in place of the program's, and takes them: `*instrs` is empty then. */
struct instrs {
    struct instr *at;
    uint32_t count, capacity;
};
void program_replace(struct program *program, struct instrs *instrs);

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
/* Appends what the program is with the additions. */
void program_edit_merge(const struct program_edit *edit, const struct program *program,
                        struct instrs *instrs);

static inline bool program_has(const struct program *program, uint32_t at, enum instr_op op)
{
    return at < program->instrs.count && program->instrs.at[at].op == op;
}

/* Whether it is a hint that stands ahead of its kernel's call (PLACE_AHEAD). */
static inline bool instr_is_ahead(const struct instr *instr)
{
    return instr_info(instr->op)->place == PLACE_AHEAD;
}

static inline bool program_has_ahead(const struct program *program, uint32_t at)
{
    return at < program->instrs.count && instr_is_ahead(&program->instrs.at[at]);
}

#endif
