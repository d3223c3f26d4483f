/* The arguments of entries: groups of slots, and the numbers of slots, which follow from them. */
#ifndef IR_GROUPS_H
#define IR_GROUPS_H

#include "ir/module.h"

/* The alignment of an entry that does not say it, in bytes: the default of func-align. */
enum { ENTRY_ALIGN = 512 };

/* The number of the slot of an argument, by its index in entry->args: on chips with a sync base
 * they stand behind its slot. */
static inline uint32_t arg_slot(const struct entry *entry, uint32_t arg)
{
    return arg + !entry->no_sync_base;
}

/* How many slots the entry has, with that of the sync base. */
static inline uint32_t entry_slots(const struct entry *entry)
{
    return arg_slot(entry, entry->args.count);
}

/* The number of the first slot of a group; what an empty one would have, if it had any. */
static inline uint32_t group_slot(const struct entry *entry, const struct arg_group *group)
{
    return arg_slot(entry, group->args.first);
}

static inline const struct arg *group_arg(const struct entry *entry, const struct arg_group *group,
                                          uint32_t n)
{
    assert(n < group->args.count);
    return &entry->args.at[group->args.first + n];
}

/* How many groups have names: they are the first ones of a legal entry. */
uint32_t entry_named_groups(const struct entry *entry);

/* Begins a group at the end, and adds arguments to it. */
void entry_add_group(struct entry *entry, uint32_t name, bool word, uint32_t loc);
void entry_add_arg(struct entry *entry, struct arg arg);
/* Makes a group without a name of `count` times the word, before group `at` and behind all that
 * have names. */
void entry_insert_words(struct entry *entry, uint32_t at, uint32_t word, uint32_t count);

/* The first slot of a word, such as sync_workspace, in groups without names, or NONE. */
uint32_t entry_slot(const struct entry *entry, uint32_t word);

/* The slot of an entry that holds the address of the buffer for time records; the next one holds
 * the size in bytes. NONE where it has no such slots. */
uint32_t entry_profile_slot(const struct entry *entry);

/* The first of the three slots of a dynamic kernel in a group; NONE where they are not there. */
uint32_t group_find_tiling(const struct entry *entry, const struct arg_group *group);

/* The slots of the events of one entry, by name: the first that sends it, or receives it. Those of
 * one entry are taken and forgotten in turn. Zero-initialised is empty. */
struct event_slots {
    struct id_map sends, recvs;
};
void event_slots_take(struct event_slots *slots, const struct entry *entry);
void event_slots_leave(struct event_slots *slots, const struct entry *entry);
void event_slots_free(struct event_slots *slots);

/* The slot that an instruction of the effect EVENT is about, or NONE. */
uint32_t instr_event_slot(const struct event_slots *slots, const struct entry *entry,
                          const struct instr *instr);

#endif
