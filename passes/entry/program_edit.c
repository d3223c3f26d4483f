#include "passes/entry/program_edit.h"

#include <assert.h>

struct instr instr_make(enum instr_op op, uint8_t word)
{
    return (struct instr){
        .op = (uint8_t)op, .part = CORE_TYPES, .word = word, .loc = NONE, .kernel = NONE};
}

void program_replace(struct program *program, struct instrs *instrs)
{
    vec_free(&program->instrs);
    program->instrs.at = instrs->at;
    program->instrs.count = instrs->count;
    program->instrs.capacity = instrs->capacity;
    *instrs = (struct instrs){NULL, 0, 0};
}

void program_edit_add(struct program_edit *edit, uint32_t at, struct instr instr)
{
    assert(edit->count == 0 || edit->at[edit->count - 1].at <= at);
    vec_push(edit, (struct addition){at, instr});
}

void program_edit_merge(const struct program_edit *edit, const struct program *program,
                        struct instrs *instrs)
{
    uint32_t added = 0;
    assert(edit->count == 0 || edit->at[edit->count - 1].at <= program->instrs.count);
    vec_reserve(instrs, (uint64_t)program->instrs.count + edit->count);
    for (uint32_t i = 0; i <= program->instrs.count; i++) {
        for (; added < edit->count && edit->at[added].at == i; added++)
            vec_push(instrs, edit->at[added].instr);
        if (i < program->instrs.count)
            vec_push(instrs, program->instrs.at[i]);
    }
}
