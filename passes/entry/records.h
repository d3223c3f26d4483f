/* What passes put beside the instructions of entries to watch them: time records, traces and
 * checks, by places that follow from the program. */
#ifndef PASSES_ENTRY_RECORDS_H
#define PASSES_ENTRY_RECORDS_H

#include "passes/entry/superkernel.h"

/* Kinds of records, one a pass. */
enum { RECORDS_PROFILE = 1, RECORDS_TRACE = 2, RECORDS_CHECK = 4 };

/* Has the super kernel's entry get records of a kind and the slots that they need, unless it has
 * any of them: for visitors of superkernels_visit. */
void records_add(struct superkernel *sk, unsigned kind);

/* Puts the records of these kinds into the programs of an entry that has none of them. */
void records_make(struct superkernel *sk, unsigned kinds);

/* Takes all out, so that a pass finds everything else where it was before, and returns the kinds.
 * 0, with nothing changed, where there are none, or no slots for them, or others than those that
 * records_make would put there. The entry's calls are those of its super kernel. */
unsigned records_take(struct superkernel *sk);

/* Checks of barriers and flags at other places stay in the programs: what the entry has of them and
 * of synchronisation, as a number, 0 where it has no checks; and, behind a visit, all checks made
 * anew where that has changed, since each has to fit what it checks. */
uint64_t records_checked(const struct superkernel *sk);
void records_recheck(struct superkernel *sk, uint64_t before);

#endif
