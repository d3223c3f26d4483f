#include "passes/entry/records.h"
#include "passes/entry/call_site.h"

#include <string.h>

static struct instr record(enum phase phase, uint32_t index, enum profile_kind kind)
{
    struct instr instr = instr_make(INSTR_profile, (uint8_t)phase);
    instr.number[0] = index;
    instr.number[1] = (uint32_t)kind;
    return instr;
}

/* ------------------------------------------------------------------------- programs ---- */

/* The place of the op that an event belongs to; 0 where an edited dump has one that belongs to
 * none. */
static uint32_t op_of_event(const struct superkernel *sk, const struct superkernel_events *events,
                            const struct instr *instr, uint32_t next)
{
    uint32_t op = superkernel_word_owner(sk, events, instr, next);
    return op < sk->count ? superkernel_place(sk, op) : 0;
}

static void add_around(struct program_edit *edit, uint32_t at, uint32_t index,
                       enum profile_kind kind)
{
    program_edit_add(edit, at, record(PHASE_begin, index, kind));
    program_edit_add(edit, at + 1, record(PHASE_end, index, kind));
}

/* The op of the program's next call, sk->count behind the last one. */
static uint32_t next_op(const struct superkernel *sk, const uint32_t *calls, uint32_t op)
{
    while (op < sk->count && calls[op] == NONE)
        op++;
    return op;
}

static void profile_program(const struct superkernel_events *events, const struct superkernel *sk,
                            enum core_type core)
{
    struct program *program = &sk->entry->programs[core];
    struct program_edit edit = {NULL, 0, 0};
    uint32_t *calls = superkernel_calls(sk, core), op = next_op(sk, calls, 0);
    program_edit_add(&edit, 0, record(PHASE_begin, 0, PROFILE_KERNEL));
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op == INSTR_notify)
            add_around(&edit, i, op_of_event(sk, events, instr, op), PROFILE_NOTIFY);
        if (instr->op == INSTR_wait_event)
            add_around(&edit, i, op_of_event(sk, events, instr, op), PROFILE_WAIT);
        if (instr->op != INSTR_call)
            continue;
        add_around(&edit, i, superkernel_place(sk, op), PROFILE_OP);
        op = next_op(sk, calls, op + 1);
    }
    program_edit_add(&edit, program->instrs.count, record(PHASE_end, 0, PROFILE_KERNEL));
    program_edit_apply(&edit, program);
    mem_free(calls);
}

void records_make(struct superkernel *sk)
{
    struct superkernel_events events = superkernel_events(sk);
    for (int core = 0; core < CORE_TYPES; core++)
        if (sk->entry->programs[core].present)
            profile_program(&events, sk, (enum core_type)core);
    superkernel_events_free(&events);
}

/* ----------------------------------------------------------------------- taking out ---- */

bool records_present(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].op == INSTR_profile)
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
    if (entry_profile_slot(sk->entry) == NONE || !records_present(sk->entry))
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
