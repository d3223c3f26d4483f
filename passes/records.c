#include "passes/records.h"
#include "ir/slots.h"

#include <string.h>

static struct instr record(enum phase phase, uint32_t index, enum profile_kind kind)
{
    struct instr instr = instr_make(INSTR_profile, (uint8_t)phase);
    instr.number[0] = index;
    instr.number[1] = (uint32_t)kind;
    return instr;
}

/* The op whose parameters each slot is among; NONE for slot 0, the sync base address. */
static struct vec_u32 ops_of_slots(const struct superkernel *sk)
{
    struct vec_u32 ops = {NULL, 0, 0};
    struct slots slots = {NULL, 0, 0};
    vec_push(&ops, NONE);
    for (uint32_t i = 0; i < sk->count; i++) {
        slots.count = 0;
        slots_add_op(&slots, sk->module, sk->graph, superkernel_op(sk, i),
                     superkernel_kernel(sk, i));
        for (uint32_t n = 0; n < slots.count; n++)
            vec_push(&ops, i);
    }
    vec_free(&slots);
    return ops;
}

/* ------------------------------------------------------------------------- programs ---- */

/* The op that an event belongs to; 0 where an edited dump has one that belongs to none. */
static uint32_t op_of_event(const struct vec_u32 *slot_ops, const struct instr *instr)
{
    uint32_t slot = instr->number[0];
    uint32_t op = slot < slot_ops->count ? slot_ops->at[slot] : NONE;
    return op == NONE ? 0 : op;
}

static void add_around(struct program_edit *edit, uint32_t at, uint32_t index,
                       enum profile_kind kind)
{
    program_edit_add(edit, at, record(PHASE_begin, index, kind));
    program_edit_add(edit, at + 1, record(PHASE_end, index, kind));
}

static void profile_program(const struct vec_u32 *slot_ops, const struct superkernel *sk,
                            enum core_type core)
{
    struct program *program = &sk->entry->programs[core];
    struct program_edit edit = {NULL, 0, 0};
    uint32_t *calls = superkernel_calls(sk, core), op = 0;
    program_edit_add(&edit, 0, record(PHASE_begin, 0, PROFILE_KERNEL));
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op == INSTR_notify)
            add_around(&edit, i, op_of_event(slot_ops, instr), PROFILE_NOTIFY);
        if (instr->op == INSTR_wait_event)
            add_around(&edit, i, op_of_event(slot_ops, instr), PROFILE_WAIT);
        if (instr->op != INSTR_call)
            continue;
        while (calls[op] != i)
            op++;
        add_around(&edit, i, op, PROFILE_OP);
    }
    program_edit_add(&edit, program->instrs.count, record(PHASE_end, 0, PROFILE_KERNEL));
    program_edit_apply(&edit, program);
    free(calls);
}

void records_make(struct superkernel *sk)
{
    struct vec_u32 slot_ops = ops_of_slots(sk);
    for (int core = 0; core < CORE_TYPES; core++)
        if (sk->entry->programs[core].present)
            profile_program(&slot_ops, sk, (enum core_type)core);
    vec_free(&slot_ops);
}

/* ----------------------------------------------------------------------- taking out ---- */

static bool has_records(const struct program *program)
{
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op == INSTR_profile)
            return true;
    return false;
}

static struct program without_records(const struct program *program)
{
    struct program rest = *program;
    memset(&rest.instrs, 0, sizeof rest.instrs);
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op != INSTR_profile)
            vec_push(&rest.instrs, program->instrs.at[i]);
    return rest;
}

/* Positions do not count. All but records are the same anyway. */
static bool same_programs(const struct program *a, const struct program *b)
{
    bool same = a->instrs.count == b->instrs.count;
    for (uint32_t i = 0; same && i < a->instrs.count; i++) {
        const struct instr *x = &a->instrs.at[i], *y = &b->instrs.at[i];
        same = x->op == y->op && x->word == y->word && x->number[0] == y->number[0] &&
               x->number[1] == y->number[1];
    }
    return same;
}

static void take_records(struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        struct program rest = without_records(&entry->programs[core]);
        vec_free(&entry->programs[core].instrs);
        entry->programs[core] = rest;
    }
}

bool records_take(struct superkernel *sk)
{
    struct program *programs = sk->entry->programs, old[CORE_TYPES];
    if (entry_profile_slot(sk->module, sk->entry) == NONE ||
        (!has_records(&programs[CORE_AIC]) && !has_records(&programs[CORE_AIV])))
        return false;
    for (int core = 0; core < CORE_TYPES; core++) {
        old[core] = programs[core];
        programs[core] = without_records(&old[core]);
    }
    records_make(sk);
    bool same = same_programs(&programs[CORE_AIC], &old[CORE_AIC]) &&
                same_programs(&programs[CORE_AIV], &old[CORE_AIV]);
    for (int core = 0; core < CORE_TYPES; core++) {
        struct program made = programs[core];
        programs[core] = old[core];
        vec_free(&made.instrs);
    }
    if (same)
        take_records(sk->entry);
    return same;
}
