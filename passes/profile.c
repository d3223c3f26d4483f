/* profile: time records around the whole kernel, each op, each notify and wait, where the option
 * profiling asks for them.
 *
 * needs    super kernels with their entries
 * changes  programs: `profile` at their begin and end, around calls, `notify` and `wait_event`; two
 *          more parameters at the end of the entry
 * keeps    all other instructions and their order; the slots of all other parameters
 *
 * An entry that has records is left alone. Why it is sound: records neither order cores nor are waited
 * for, and nothing that must stand beside another is torn apart: what belongs to a call stands around
 * its record.
 */
#include "ir/locate.h"
#include "ir/slots.h"
#include "passes/program_edit.h"

#include <string.h>

enum { PROFILE_SLOTS = 2 }; /* the address of the buffer for records, and its size in bytes */

static struct instr record(enum phase phase, uint32_t index, enum profile_kind kind)
{
    struct instr instr = instr_make(INSTR_profile, (uint8_t)phase);
    instr.number[0] = index;
    instr.number[1] = (uint32_t)kind;
    return instr;
}

static bool is_profiled(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].op == INSTR_profile)
                return true;
    return false;
}

/* ----------------------------------------------------------------------- parameters ---- */

static struct attr *find_params(const struct superkernel *sk)
{
    for (uint32_t i = 0; i < sk->entry->attrs.count; i++) {
        struct attr *attr = &sk->module->attrs.at[sk->entry->attrs.first + i];
        if (attr->key == W_params)
            return attr;
    }
    return NULL;
}

static bool add_params(const struct superkernel *sk)
{
    struct attr *params = find_params(sk);
    if (!params) {
        diag_at(sk->context->diags, DIAG_missing_attribute, locate_name(sk->module, sk->entry->loc),
                "the entry has no 'params' behind which those of profiling could stand");
        return false;
    }
    uint32_t count = params->value.count;
    struct attr_value *values = mem_calloc((size_t)count + PROFILE_SLOTS, sizeof *values);
    if (count)
        memcpy(values, sk->module->attr_values.at + params->value.first, count * sizeof *values);
    for (uint32_t i = 0; i < PROFILE_SLOTS; i++)
        values[count + i] = (struct attr_value){.kind = ATTR_WORD, .id = W_profiling};
    struct range range = module_add_values(sk->module, values, count + PROFILE_SLOTS);
    params->value.first = range.first;
    params->value.count = range.count;
    free(values);
    return true;
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

static bool profile(struct superkernel *sk)
{
    if (!sk->options.of[SK_profiling].number || is_profiled(sk->entry))
        return true;
    if (!add_params(sk))
        return false;
    struct vec_u32 slot_ops = ops_of_slots(sk);
    for (int core = 0; core < CORE_TYPES; core++)
        if (sk->entry->programs[core].present)
            profile_program(&slot_ops, sk, (enum core_type)core);
    vec_free(&slot_ops);
    return true;
}

bool pass_profile(struct pass_context *context)
{
    return superkernels_visit(context, profile);
}
