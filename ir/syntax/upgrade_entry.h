/* Entries of the old form, whose slots stood in one list, `params = [ffts, ...]`, and were named by
 * their numbers: made into groups. */
#ifndef IR_SYNTAX_UPGRADE_ENTRY_H
#define IR_SYNTAX_UPGRADE_ENTRY_H

#include "ir/module.h"

/* Of an entry as it was read: calls have a slot's number in place of their group, and events are
 * named by what may be a slot's number. The groups stand at `loc` for comments. */
void upgrade_entry(struct module *module, struct entry *entry, uint32_t loc);

#endif
