#include "passes/entry/program_edit.h"

void program_edit_add(struct program_edit *edit, uint32_t at, struct instr instr)
{
    vec_push(edit, (struct addition){at, instr});
}

void program_edit_apply(struct program_edit *edit, struct program *program)
{
    struct instrs next = {NULL, 0, 0};
    uint32_t added = 0;
    if (edit->count) {
        vec_reserve(&next, (uint64_t)program->instrs.count + edit->count);
        for (uint32_t i = 0; i <= program->instrs.count; i++) {
            for (; added < edit->count && edit->at[added].at == i; added++)
                vec_push(&next, edit->at[added].instr);
            if (i < program->instrs.count)
                vec_push(&next, program->instrs.at[i]);
        }
        program_replace(program, &next);
    }
    vec_free(edit);
}

uint32_t *superkernel_calls(const struct superkernel *sk, enum core_type core)
{
    const struct program *program = &sk->entry->programs[core];
    uint32_t *calls = mem_calloc(sk->count, sizeof *calls);
    uint32_t at = 0;
    for (uint32_t i = 0; i < sk->count; i++) {
        calls[i] = NONE;
        if (!superkernel_has_part(sk, i, core))
            continue;
        while (!program_has(program, at, INSTR_call))
            at++;
        calls[i] = at++;
    }
    return calls;
}

static bool is_record(const struct instr *instr)
{
    return instr->op == INSTR_profile || instr->op == INSTR_trace;
}

static bool belongs_before(const struct instr *instr)
{
    return is_record(instr) || (instr->op == INSTR_feed_sync && instr->word == PHASE_begin);
}

static bool belongs_behind(const struct instr *instr)
{
    return instr->op == INSTR_feed_sync && instr->word != PHASE_begin;
}

uint32_t call_begin(const struct program *program, uint32_t call)
{
    while (call > 0 && belongs_before(&program->instrs.at[call - 1]))
        call--;
    return call;
}

uint32_t call_end(const struct program *program, uint32_t call)
{
    uint32_t end = call + 1, at;
    while ((at = skip_records(program, end)) < program->instrs.count &&
           belongs_behind(&program->instrs.at[at]))
        end = at + 1;
    return end;
}

uint32_t skip_records(const struct program *program, uint32_t at)
{
    while (at < program->instrs.count && is_record(&program->instrs.at[at]))
        at++;
    return at;
}
