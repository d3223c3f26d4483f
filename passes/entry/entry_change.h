/* Changes of the entry of a super kernel that is visited (passes/entry/visit.h). A part
 * (ir/base/part.h) works on a copy of what it changes, so that nothing has happened where it is
 * left; the module's entry is as the copy is when all parts are done. */
#ifndef PASSES_ENTRY_ENTRY_CHANGE_H
#define PASSES_ENTRY_ENTRY_CHANGE_H

#include "passes/entry/program_edit.h"

struct superkernel;

struct entry_change {
    struct entry *entry; /* the module's */
    bool in_part;
    bool copied;     /* `copy` is another one than the module's, and sk->entry */
    bool own_groups; /* of the copy, with their arguments; else they are the module's entry's */
    bool own_program[CORE_TYPES];
    struct entry copy;
};

/* The entry, of which anything may be changed. Until its next change, it is sk->entry. */
struct entry *superkernel_own_entry(struct superkernel *sk);

/* Puts `instrs` in place of a program's, and takes them: `*instrs` is empty then. */
void superkernel_replace(struct superkernel *sk, enum core_type core, struct instrs *instrs);

/* Makes the additions to a program, and forgets them. */
void superkernel_edit(struct superkernel *sk, enum core_type core, struct program_edit *edit);

/* What was changed in a part becomes the module's; to be called when all parts are done. */
void entry_change_take(struct entry_change *change);

#endif
