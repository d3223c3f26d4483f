#include "passes/entry/entry_change.h"
#include "passes/entry/superkernel.h"

/* The entry at hand, whose vectors may be the module's. */
static struct entry *entry_at_hand(struct superkernel *sk)
{
    struct entry_change *change = &sk->change;
    if (!change->in_part)
        return change->entry;
    if (!change->copied)
        change->copy = *change->entry;
    change->copied = true;
    sk->entry = &change->copy;
    return &change->copy;
}

static void own_groups(struct entry_change *change)
{
    struct entry *copy = &change->copy;
    if (!change->copied || change->own_groups)
        return;
    vec_own(&copy->groups);
    vec_own(&copy->args);
    vec_own(&copy->listed);
    change->own_groups = true;
}

struct entry *superkernel_own_entry(struct superkernel *sk)
{
    struct entry *entry = entry_at_hand(sk);
    own_groups(&sk->change);
    for (int core = 0; sk->change.copied && core < CORE_TYPES; core++) {
        if (!sk->change.own_program[core])
            vec_own(&entry->programs[core].instrs);
        sk->change.own_program[core] = true;
    }
    return entry;
}

void superkernel_replace(struct superkernel *sk, enum core_type core, struct instrs *instrs)
{
    struct program *program = &entry_at_hand(sk)->programs[core];
    if (sk->change.copied && !sk->change.own_program[core]) {
        program->instrs.at = NULL;
        program->instrs.count = program->instrs.capacity = 0;
        sk->change.own_program[core] = true;
    }
    program_replace(program, instrs);
}

void superkernel_edit(struct superkernel *sk, enum core_type core, struct program_edit *edit)
{
    struct instrs instrs = {NULL, 0, 0};
    if (edit->count) {
        program_edit_merge(edit, &sk->entry->programs[core], &instrs);
        superkernel_replace(sk, core, &instrs);
    }
    vec_free(edit);
}

void entry_change_take(struct entry_change *change)
{
    struct entry *entry = change->entry;
    if (!change->copied)
        return;
    if (change->own_groups) {
        vec_free(&entry->groups);
        vec_free(&entry->args);
        vec_free(&entry->listed);
    }
    for (int core = 0; core < CORE_TYPES; core++)
        if (change->own_program[core])
            vec_free(&entry->programs[core].instrs);
    *entry = change->copy;
}
