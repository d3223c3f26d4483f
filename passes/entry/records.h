/* The records that the pass `profile` makes, by places that follow from the program. */
#ifndef PASSES_ENTRY_RECORDS_H
#define PASSES_ENTRY_RECORDS_H

#include "passes/entry/superkernel.h"

/* Puts the records of all ops and events into the programs of an entry that has none. */
void records_make(struct superkernel *sk);

/* Whether an entry has records of any kind. */
bool records_present(const struct entry *entry);

/* Takes them out, so that a pass finds everything else where it was before. False, with nothing
 * changed, where there are none, or no slots for them, or others than those that records_make would
 * put there. The entry's calls are those of its super kernel. */
bool records_take(struct superkernel *sk);

#endif
